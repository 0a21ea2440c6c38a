"""Draw the seven maps of a position as one SVG picture."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray
from tengen.board.drawing import format_svg
from tengen.learners.symmetry_network.network import OUTPUTS

TITLES: dict[str, str] = dict(
    zip(
        OUTPUTS,
        (
            "empty point: White's",
            "white stone: lives",
            "black stone: captured",
            "empty point: White's eye",
            "empty point: Black's eye",
            "white stone: dies, Black's eye",
            "black stone: dies, White's eye",
        ),
        strict=True,
    )
)

# Likelihoods from 0 through 1/2 to 1, in red, green and blue.
_SCALE = np.array([[44, 100, 180], [250, 245, 200], [205, 40, 35]], float)
_CELL, _TITLE, _GAP, _COLUMNS = 24, 22, 12, 4


def colour_of(likelihood: float) -> str:
    """Return the colour of a likelihood: blue for 0, pale for 1/2, red for 1.

    >>> colour_of(0), colour_of(0.5), colour_of(1)
    ('#2c64b4', '#faf5c8', '#cd2823')
    """
    at = min(max(likelihood, 0.0), 1.0) * 2
    low = min(int(at), 1)
    rgb = _SCALE[low] + (at - low) * (_SCALE[low + 1] - _SCALE[low])
    return "#" + "".join(f"{round(v):02x}" for v in rgb)


def format_maps(
    grid: NDArray[np.int8],
    maps: Mapping[str, FloatArray],
    *,
    last: int | None = None,
    title: str = "",
) -> str:
    """Return the position and its maps side by side, a square a point where a map speaks.

    `maps` are those of `SymmetryNetwork.heat_maps`; nan is left bare. Numbers are in percent.
    """
    rows, cols = grid.shape
    margin = _CELL * 0.75
    wide, high = (cols - 1) * _CELL + 2 * margin, (rows - 1) * _CELL + 2 * margin
    panels: list[tuple[str, FloatArray | None]] = [(title or "position", None)]
    panels += [(TITLES.get(name, name), values) for name, values in maps.items()]
    lines = math.ceil(len(panels) / _COLUMNS)
    width = _COLUMNS * (wide + _GAP) + _GAP
    height = lines * (high + _TITLE + _GAP) + _GAP
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" font-family="sans-serif">',
        f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>',
    ]
    for i, (name, values) in enumerate(panels):
        x = _GAP + i % _COLUMNS * (wide + _GAP)
        y = _GAP + i // _COLUMNS * (high + _TITLE + _GAP)
        board = format_svg(grid, last=last, coordinates=False, cell=_CELL)
        out.append(f'<g transform="translate({x:g} {y:g})">')
        out.append(f'<text x="2" y="{_TITLE - 7}" font-size="13">{escape(name)}</text>')
        out.append(f'<g transform="translate(0 {_TITLE})">{board}')
        if values is not None:
            out += _squares(values, margin)
        out.append("</g></g>")
    return "\n".join([*out, "</svg>\n"])


def _squares(values: FloatArray, margin: float) -> list[str]:
    """Return the squares of one map."""
    half = _CELL * 0.4
    out = []
    for (r, c), value in np.ndenumerate(values):
        if not math.isnan(value):
            x, y = margin + c * _CELL, margin + r * _CELL
            out.append(
                f'<rect x="{x - half:g}" y="{y - half:g}" width="{2 * half:g}" '
                f'height="{2 * half:g}" rx="3" fill="{colour_of(value)}" opacity="0.88"/>'
                f'<text x="{x:g}" y="{y + 3.2:g}" font-size="9" text-anchor="middle" '
                f'fill="{"#111" if 0.15 < value < 0.85 else "#fff"}">{100 * value:.0f}</text>'
            )
    return out
