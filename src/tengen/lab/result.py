"""What an experiment returns, as plain data: text, tables, figures, comparisons with a paper."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from tengen.lab.verdicts import Comparison

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
    kind: Literal["lines"] = "lines"


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
    kind: Literal["bars"] = "bars"


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
    kind: Literal["dots"] = "dots"


@dataclass(frozen=True)
class Picture:
    """A finished drawing; a wide one takes the full width of the page."""

    title: str
    svg: str
    wide: bool = False
    kind: Literal["svg"] = "svg"


Figure = Plot | Bars | Dots | Picture


@dataclass(frozen=True)
class Findings:
    """What an experiment found."""

    text: str = ""
    points: Sequence[str] = ()
    points_title: str = ""
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    comparisons: Sequence[Comparison] = ()
    data: dict[str, Any] = field(default_factory=dict)  # the numbers behind it, for `--json`

    def json(self) -> dict[str, Any]:
        """Return it as plain data; raise `ValueError` if a number is not finite."""
        return json.loads(json.dumps(asdict(self), allow_nan=False))  # type: ignore[no-any-return]


def line(name: str, x: _Numbers, y: _Numbers, intervals: Sequence[_Numbers] | None = None) -> Line:
    """Return one line of a plot, with a band where there are intervals."""
    ends = [] if intervals is None else [list(end) for end in zip(*intervals, strict=True)]
    return Line(name, list(x), list(y), *ends)
