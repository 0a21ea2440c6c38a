"""Tables and figures of a report, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_Numbers = Sequence[float]


@dataclass(frozen=True)
class Table:
    """Rows under named columns; `shade` colours cells by numbers from 0 to 1."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: str = ""
    shade: Sequence[Sequence[float | None]] | None = None
    key: str = ""  # names it in pages that take it from the rows


@dataclass(frozen=True)
class Line:
    """One line of a plot, with a band from `low` to `high` where there are intervals."""

    name: str
    x: _Numbers
    y: _Numbers
    low: _Numbers | None = None
    high: _Numbers | None = None


@dataclass(frozen=True)
class Plot:
    """Lines over a common axis; `rules` are horizontal lines across it, by name."""

    title: str
    x: str
    y: str
    lines: Sequence[Line]
    rules: dict[str, float] = field(default_factory=dict)
    bottom: float | None = None
    top: float | None = None
    log: bool = False


@dataclass(frozen=True)
class Series:
    """One set of bars of a bar chart."""

    name: str
    values: _Numbers
    intervals: Sequence[_Numbers] | None = None


@dataclass(frozen=True)
class Bars:
    """A bar chart: every series has one bar per name."""

    title: str
    y: str
    names: Sequence[str]
    series: Sequence[Series]


@dataclass(frozen=True)
class Dot:
    """A value with its interval."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Dots:
    """Values with intervals, one per row, the first on top."""

    title: str
    x: str
    rows: Sequence[Dot]


@dataclass(frozen=True)
class Picture:
    """A finished drawing; a wide one takes the full width of the page."""

    title: str
    svg: str
    wide: bool = False


Figure = Plot | Bars | Dots | Picture


def line(name: str, x: _Numbers, y: _Numbers, intervals: Sequence[_Numbers] | None = None) -> Line:
    """Return one line of a plot, with a band where there are intervals."""
    ends = [] if intervals is None else [list(end) for end in zip(*intervals, strict=True)]
    return Line(name, list(x), list(y), *ends)
