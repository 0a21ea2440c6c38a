"""Build what a step's result may hold: tables, plots, pictures, games; draw and measure nothing.

All of it is plain data, kept as JSON beside the run, from which the page and `results.md` are made.
A result may have `text`, `points` (a list of sentences), `tables`, `figures`, `comparisons` (see
`verdicts`), `replays`, `costs` (papers' costs) and `beyond` (what goes beyond the paper).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tengen.lab.verdicts import show

Table = dict[str, Any]
Figure = dict[str, Any]


def percent(rate: float, interval: Sequence[float] | None = None) -> str:
    """Write a rate with its interval.

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
    """Return a table; `shade` colours cells by numbers from 0 to 1."""
    out: Table = {
        "title": title,
        "columns": list(columns),
        "rows": [[cell if isinstance(cell, int | str) else str(cell) for cell in r] for r in rows],
        "note": note,
    }
    if shade is not None:
        out["shade"] = [list(row) for row in shade]
    return out


def line(
    name: str,
    x: Sequence[float],
    y: Sequence[float],
    intervals: Sequence[Sequence[float]] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Return one line of a plot, with a band where there are intervals."""
    out: dict[str, Any] = {"name": name, "x": list(x), "y": list(y), **options}
    if intervals is not None:
        out["low"] = [low for low, _ in intervals]
        out["high"] = [high for _, high in intervals]
    return out


def plot(title: str, x: str, y: str, lines: Sequence[dict[str, Any]], **options: Any) -> Figure:
    """Return a plot of lines; `rules` are level lines (name, y), `log` a logarithmic scale."""
    return {"title": title, "kind": "lines", "x": x, "y": y, "lines": list(lines), **options}


def bars(
    title: str,
    y: str,
    names: Sequence[str],
    series: Sequence[dict[str, Any]],
) -> Figure:
    """Return a bar chart: every series has a name, values and perhaps intervals."""
    return {"title": title, "kind": "bars", "y": y, "names": list(names), "series": list(series)}


def dots(title: str, x: str, rows: Sequence[tuple[str, float, float, float]]) -> Figure:
    """Return points with intervals, one a row, the first on top."""
    return {
        "title": title,
        "kind": "dots",
        "x": x,
        "rows": [{"name": n, "value": v, "low": a, "high": b} for n, v, a, b in rows],
    }


def picture(title: str, svg: str, *, wide: bool = False) -> Figure:
    """Return a ready picture."""
    return {"title": title, "kind": "svg", "svg": svg, "wide": wide}
