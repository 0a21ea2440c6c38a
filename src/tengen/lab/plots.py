"""Draw plots from plain data as SVG text that can stand inside a page, in light and in dark."""

from __future__ import annotations

import io
import re
from typing import Any

INK = "#7a7a7a"
"""A grey that can be read on white and on black."""
COLOURS = ("#2f7ed8", "#d9822b", "#3a9d5d", "#a855c7", "#c0392b", "#17a2a2", "#8d6e63")


def draw(figure: dict[str, Any]) -> str:
    """Return the SVG of a line plot.

    `figure` has `title`, `x`, `y` (names of the axes) and `lines`: name, x, y, and optionally low
    and high, the ends of an interval.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with matplotlib.rc_context({"svg.hashsalt": "tengen", "svg.fonttype": "none"}):
        sheet, axes = pyplot.subplots(figsize=(6.4, 3.4))
        for number, line in enumerate(figure["lines"]):
            colour = COLOURS[number % len(COLOURS)]
            style = line.get("style", "-o" if len(line["x"]) < 40 else "-")
            axes.plot(line["x"], line["y"], style, color=colour, label=line["name"], markersize=3)
            if "low" in line:
                axes.fill_between(line["x"], line["low"], line["high"], color=colour, alpha=0.18)
        axes.set_xlabel(figure.get("x", ""))
        axes.set_ylabel(figure.get("y", ""))
        for name in ("top", "right"):
            axes.spines[name].set_visible(False)
        for item in (axes.xaxis, axes.yaxis):
            item.label.set_color(INK)
        axes.tick_params(colors=INK)
        for spine in axes.spines.values():
            spine.set_color(INK)
        if len(figure["lines"]) > 1:
            axes.legend(frameon=False, labelcolor=INK, fontsize=8)
        sheet.tight_layout()
        out = io.StringIO()
        # A fixed date, so that the same data gives the same page.
        sheet.savefig(out, format="svg", transparent=True, metadata={"Date": None})
        pyplot.close(sheet)
    text = out.getvalue()
    return re.sub(r"^.*?(?=<svg)", "", text, count=1, flags=re.S)
