"""Draw plots from plain data as SVG text that can stand inside a page, in light and in dark.

Colours are written as the page's CSS variables, so that one drawing serves both.
"""

from __future__ import annotations

import io
import re
from typing import Any

from tengen.lab.content import Bars, Dots, Plot

INK = "#7a7a7b"
"""Stands for the page's soft ink until the drawing is done."""
COLOURS = ("#2f7ed1", "#d9821b", "#3a9d51", "#a855c1", "#c03921", "#17a2a1", "#8d6e61")
"""Stand for the page's --c1 to --c7."""


def draw(figure: Plot | Bars | Dots) -> str:
    """Return the SVG of a plot."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    settings: Any = {
        "svg.hashsalt": "tengen",
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "font.size": 11,
    }
    with matplotlib.rc_context(settings):
        height = 0.7 + 0.27 * len(figure.rows) if isinstance(figure, Dots) else 3.1
        sheet, axes = pyplot.subplots(figsize=(5.4, height))
        if isinstance(figure, Plot):
            _lines(axes, figure)
        elif isinstance(figure, Bars):
            _bars(axes, figure)
        else:
            _dots(axes, figure)
        for name in ("top", "right"):
            axes.spines[name].set_visible(False)
        for item in (axes.xaxis, axes.yaxis):
            item.label.set_color(INK)
        axes.tick_params(colors=INK, which="both")
        for spine in axes.spines.values():
            spine.set_color(INK)
        sheet.tight_layout()
        out = io.StringIO()
        # A fixed date, so that the same data gives the same page.
        sheet.savefig(out, format="svg", transparent=True, metadata={"Date": None})
        pyplot.close(sheet)
    return _for_page(out.getvalue())


def _lines(axes: Any, figure: Plot) -> None:
    for number, line in enumerate(figure.lines):
        colour = COLOURS[number % len(COLOURS)]
        style = line.style or ("-o" if len(line.x) < 40 else "-")
        axes.plot(line.x, line.y, style, color=colour, label=line.name, markersize=3)
        if line.low is not None and line.high is not None:
            axes.fill_between(line.x, line.low, line.high, color=colour, alpha=0.16, linewidth=0)
    for rule in figure.rules:
        axes.axhline(rule.y, linestyle="--", linewidth=1, color=INK, label=rule.name)
    if figure.log:
        axes.set_yscale("log")
    axes.set_xlabel(figure.x)
    axes.set_ylabel(figure.y)
    if figure.bottom is not None or figure.top is not None:
        axes.set_ylim(figure.bottom, figure.top)
    if len(figure.lines) + len(figure.rules) > 1:
        axes.legend(frameon=False, labelcolor=INK, fontsize=9)


def _bars(axes: Any, figure: Bars) -> None:
    import numpy as np

    width = 0.8 / max(len(figure.series), 1)
    for number, entry in enumerate(figure.series):
        at = np.arange(len(figure.names)) + (number - (len(figure.series) - 1) / 2) * width
        values = np.array(entry.values, np.float64)
        error = None
        if entry.intervals is not None:
            ends = np.array(entry.intervals, np.float64)
            error = np.clip(np.array([values - ends[:, 0], ends[:, 1] - values]), 0, None)
        axes.bar(
            at, values, width * 0.92, yerr=error, color=COLOURS[number % len(COLOURS)],
            label=entry.name, ecolor=INK, error_kw={"elinewidth": 1},
        )  # fmt: skip
    axes.axhline(0, color=INK, linewidth=0.8)
    axes.set_xticks(range(len(figure.names)), figure.names)
    axes.set_ylabel(figure.y)
    if len(figure.series) > 1:
        axes.legend(frameon=False, labelcolor=INK, fontsize=9)


def _dots(axes: Any, figure: Dots) -> None:
    rows = figure.rows[::-1]
    for level, row in enumerate(rows):
        axes.plot([row.low, row.high], [level, level], color=COLOURS[0], alpha=0.45, lw=3)
        axes.plot([row.value], [level], "o", color=COLOURS[0], markersize=6)
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xlabel(figure.x)
    axes.grid(axis="x", color=INK, alpha=0.25, linewidth=0.6)


def _for_page(text: str) -> str:
    """Cut off what is before the drawing, and let the page choose its colours."""
    text = re.sub(r"^.*?(?=<svg)", "", text, count=1, flags=re.S)
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.S)
    # Alone in a file it has no page to ask, and keeps its own.
    text = text.replace(INK, f"var(--soft, {INK})")
    for number, colour in enumerate(COLOURS, 1):
        text = text.replace(colour, f"var(--c{number}, {colour})")
    # The page says how wide it is.
    return re.sub(r'(<svg[^>]*?) width="[\d.]+pt" height="[\d.]+pt"|(<svg[^>]*?)\s+width="[^"]*"',
                  _keep, text, count=1)  # fmt: skip


def _keep(found: re.Match[str]) -> str:
    return str(found.group(1) or found.group(2))
