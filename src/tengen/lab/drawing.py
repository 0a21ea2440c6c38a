"""SVG drawings for the report: plots, kernels as heat maps, and patterns.

Colours are the page's CSS variables, so that one drawing serves light and dark mode.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from tengen.arrays import FloatArray
from tengen.extras import import_extra
from tengen.lab.result import Bars, Dots, Figure, Picture, Plot

INK = "#7a7a7b"
COLOURS = ("#2f7ed1", "#d9821b", "#3a9d51", "#a855c1", "#c03921", "#17a2a1", "#8d6e61")
"""Placeholders for the page's grey and its --c1 to --c7 until the drawing is finished."""
_STYLE: Any = {
    "svg.hashsalt": "tengen", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 11,
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": INK,
    "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK, "legend.frameon": False,
    "legend.labelcolor": INK, "legend.fontsize": 9,
}  # fmt: skip


def draw(figure: Figure) -> str:
    """Return the SVG of a figure."""
    if isinstance(figure, Picture):
        return figure.svg
    matplotlib = import_extra("matplotlib", "lab")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    with matplotlib.rc_context(_STYLE):
        height = 0.7 + 0.27 * len(figure.rows) if isinstance(figure, Dots) else 3.1
        sheet, axes = pyplot.subplots(figsize=(5.4, height))
        kinds: dict[type, Any] = {Plot: _lines, Bars: _bars, Dots: _dots}
        kinds[type(figure)](axes, figure)
        sheet.tight_layout()
        out = io.StringIO()
        # A fixed date, so that the same data gives the same page.
        sheet.savefig(out, format="svg", transparent=True, metadata={"Date": None})
        pyplot.close(sheet)
    return _for_page(out.getvalue())


def _lines(axes: Any, figure: Plot) -> None:
    for number, line in enumerate(figure.lines):
        colour = COLOURS[number % len(COLOURS)]
        style = "-o" if len(line.x) < 40 else "-"  # points are marked where they are few
        axes.plot(line.x, line.y, style, color=colour, label=line.name, markersize=3)
        if line.low is not None and line.high is not None:
            axes.fill_between(line.x, line.low, line.high, color=colour, alpha=0.16, linewidth=0)
    for name, y in figure.rules.items():
        axes.axhline(y, linestyle="--", linewidth=1, color=INK, label=name)
    if figure.log:
        axes.set_yscale("log")
    axes.set_xlabel(figure.x)
    axes.set_ylabel(figure.y)
    if figure.bottom is not None or figure.top is not None:
        axes.set_ylim(figure.bottom, figure.top)
    if (names := len(figure.lines) + len(figure.rules)) > 4:  # they would cover the lines
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=3)
    elif names > 1:
        axes.legend()


def _bars(axes: Any, figure: Bars) -> None:
    width = 0.8 / max(len(figure.series), 1)
    for number, entry in enumerate(figure.series):
        at = np.arange(len(figure.names)) + (number - (len(figure.series) - 1) / 2) * width
        values = np.array(entry.values, np.float64)
        low, high = np.transpose(entry.intervals) if entry.intervals else (values, values)
        # Lists, because Matplotlib takes an array of one value for a number.
        error = (
            np.clip([values - low, high - values], 0, None).tolist() if entry.intervals else None
        )
        axes.bar(
            at, values, width * 0.92, yerr=error, color=COLOURS[number % len(COLOURS)],
            label=entry.name, ecolor=INK, error_kw={"elinewidth": 1},
        )  # fmt: skip
    axes.axhline(0, color=INK, linewidth=0.8)
    axes.set_xticks(range(len(figure.names)), figure.names)
    axes.set_ylabel(figure.y)
    if len(figure.series) > 1:
        axes.legend()


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
    """Remove what precedes the drawing and let the page choose its colours."""
    text = re.sub(r"^.*?(?=<svg)", "", text, count=1, flags=re.S)
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.S)
    # The second colour is used outside a page.
    text = text.replace(INK, f"var(--soft, {INK})")
    for number, colour in enumerate(COLOURS, 1):
        text = text.replace(colour, f"var(--c{number}, {colour})")
    # The page sets the width.
    return re.sub(r'(<svg[^>]*?) width="[\d.]+pt" height="[\d.]+pt"', r"\1", text, count=1)


# ----- Kernels and patterns -----

_LEVELS = 6  # shades of each sign in a heat map
OWN, ENEMY, EMPTY, OUTSIDE, UNKNOWN = "X", "O", ".", "#", "?"
"""Cells of a pattern; UNKNOWN lies outside the template."""


def kernel_sheet(
    kernels: FloatArray,
    offsets: Sequence[tuple[int, int]],
    rows: Sequence[str],
    cols: Sequence[str],
) -> str:
    """Draw kernels (offsets east and north, rows, columns) as a sheet of maps of 3x3 cells.

    Red is positive, blue negative; every row has its own scale, since layers differ in size.
    """
    cell, gap, left, top = 5, 5, 74, 62
    step = 3 * cell + gap
    width, height = left + step * len(cols) + 4, top + step * len(rows) + 4
    frames = []
    strokes: dict[tuple[int, int], list[str]] = {}
    for i, j in product(range(len(rows)), range(len(cols))):
        scale = float(np.abs(kernels[:, i]).max()) or 1.0
        x, y = left + j * step, top + i * step
        frames.append(f"M{x} {y}h{3 * cell}v{3 * cell}h-{3 * cell}z")
        for share, (east, north) in zip(kernels[:, i, j] / scale, offsets, strict=True):
            level = min(int(abs(share) * _LEVELS + 0.999), _LEVELS)
            path = f"M{x + (1 + east) * cell} {y + (1 - north) * cell}h{cell}v{cell}h-{cell}z"
            if level:
                strokes.setdefault((1 if share > 0 else -1, level), []).append(path)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, sans-serif" font-size="8.5">',
        '<g fill="none" stroke="var(--line)" stroke-width=".6">',
        f'<path d="{"".join(frames)}"/></g>',
    ]
    for (sign, level), paths in sorted(strokes.items()):
        look = f'fill="var(--{"hot" if sign > 0 else "cold"})" fill-opacity="{level / _LEVELS:.2f}"'
        out.append(f'<path {look} d="{"".join(paths)}"/>')
    out.append('<g fill="var(--soft)">')
    for i, name in enumerate(rows):
        at = top + i * step + 1.5 * cell + 3
        out.append(f'<text x="{left - 5}" y="{at:g}" text-anchor="end">{name}</text>')
    for j, name in enumerate(cols):
        at = left + j * step + 1.5 * cell + 3
        out.append(f'<text transform="translate({at:g} {top - 5}) rotate(-60)">{name}</text>')
    return "".join([*out, "</g></svg>"])


def pattern(cells: Sequence[str], *, cell: int = 15) -> str:
    """Draw a pattern given as lines of cells; the centre is the move, own stones are black.

    >>> "<svg" in pattern(["...", ".X.", "###"])
    True
    """
    n, half, size = len(cells), cell / 2, len(cells) * cell
    inside = [(r, c) for r in range(n) for c in range(n) if cells[r][c] not in (OUTSIDE, UNKNOWN)]
    wood, lines, stones = [], [], []
    for r, c in inside:
        x, y, what = c * cell + half, r * cell + half, cells[r][c]
        wood.append(f"M{c * cell} {r * cell}h{cell}v{cell}h-{cell}z")
        for dr, dc in ((0, 1), (0, -1), (1, 0), (-1, 0)):
            row, col = r + dr, c + dc
            if not (0 <= row < n and 0 <= col < n) or cells[row][col] != OUTSIDE:
                lines.append(f"M{x:g} {y:g}l{dc * half:g} {dr * half:g}")
        circle = f'<circle cx="{x:g}" cy="{y:g}"'
        if (r, c) == (n // 2, n // 2):
            stones.append(f'{circle} r="{cell * 0.4:g}" fill="#c0392b" opacity=".85"/>')
        elif what in (OWN, ENEMY):
            look = f'fill="{"#111" if what == OWN else "#fafafa"}" stroke="#222" stroke-width=".7"'
            stones.append(f'{circle} r="{cell * 0.46:g}" {look}/>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" width="{size}" '
        f'height="{size}"><path fill="#e3b878" d="{"".join(wood)}"/>'
        f'<path stroke="#5a3d12" stroke-width="1" d="{"".join(lines)}"/>{"".join(stones)}</svg>'
    )
