"""What an experiment returns: text, tables, plots, pictures and comparisons with a paper.

`Findings` are plain data. They are stored as JSON in the run's folder; `rendering` shows them as
text, Markdown or HTML.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from tengen.errors import TengenError
from tengen.lab.verdicts import Comparison, show

_Numbers = Sequence[float]


@dataclass(frozen=True)
class Table:
    """Rows under named columns; `shade` colours cells by numbers from 0 to 1."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[int | str]]
    note: str = ""
    shade: Sequence[Sequence[float | None]] | None = None


@dataclass(frozen=True)
class Line:
    """One line of a plot, with a band from `low` to `high` where there are intervals."""

    name: str
    x: _Numbers
    y: _Numbers
    low: _Numbers | None = None
    high: _Numbers | None = None
    style: str = ""
    """Format string of matplotlib; by default points are marked where they are few."""


@dataclass(frozen=True)
class Rule:
    """A horizontal line across a plot."""

    name: str
    y: float


@dataclass(frozen=True)
class Plot:
    """Lines over a common axis."""

    title: str
    x: str
    y: str
    lines: Sequence[Line]
    rules: Sequence[Rule] = ()
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
    data: dict[str, Any] = field(default_factory=dict)
    """The numbers behind it, for programs that read `--json`."""

    def json(self) -> dict[str, Any]:
        """Return it as plain data.

        Raises
        ------
        ValueError
            If a number is not finite, or a value is not plain data.
        """
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self), allow_nan=False))
        return plain

    @classmethod
    def from_json(cls, value: object, name: str = "result") -> Findings:
        """Build it from plain data; `name` begins an error message.

        Raises
        ------
        TengenError
            If the data does not describe a result.
        """
        from pydantic import TypeAdapter, ValidationError

        try:
            return TypeAdapter(cls).validate_python(value)
        except ValidationError:
            raise TengenError(
                f"{name}: not a result of a step; remove it to run the step again"
            ) from None


# ----- Builders -----


def percent(rate: float, interval: Sequence[float] | None = None) -> str:
    """Format a rate with its interval.

    >>> percent(0.5, (0.4, 0.6))
    '50.0 % [40, 60]'
    """
    return show(rate, interval, "%")


def table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    note: str = "",
    shade: Sequence[Sequence[float | None]] | None = None,
) -> Table:
    """Return a table; cells become text."""
    cells = [[cell if isinstance(cell, int | str) else str(cell) for cell in row] for row in rows]
    return Table(title, list(columns), cells, note, shade)


def line(name: str, x: _Numbers, y: _Numbers, intervals: Sequence[_Numbers] | None = None) -> Line:
    """Return one line of a plot, with a band where there are intervals."""
    if intervals is None:
        return Line(name, list(x), list(y))
    low, high = [end[0] for end in intervals], [end[1] for end in intervals]
    return Line(name, list(x), list(y), low, high)


def dots(title: str, x: str, rows: Sequence[tuple[str, float, float, float]]) -> Dots:
    """Return points with intervals from (name, value, low, high)."""
    return Dots(title, x, [Dot(*row) for row in rows])
