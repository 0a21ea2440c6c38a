"""Draw a grid of stones as text and as SVG; read such text back. Know nothing of rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from tengen.board.coordinates import GTP_LETTERS
from tengen.errors import TengenError

_STONES = ".XO"
"""Text of EMPTY, BLACK and WHITE."""

_READ = {".": 0, "+": 0, "X": 1, "x": 1, "#": 1, "O": 2, "o": 2}


def parse_ascii(picture: str) -> NDArray[np.int8]:
    """Return the grid of a picture made of `.`, `X` and `O`, spaces ignored.

    Lines may carry row numbers at either end and the letters of the columns above or below.

    Raises
    ------
    TengenError
        If a line has a foreign character or another length than the first.
    """
    rows: list[list[int]] = []
    for number, line in enumerate(picture.strip("\n").splitlines(), 1):
        text = line.strip().strip("0123456789").replace(" ", "")
        if not text or (text.isalpha() and text == GTP_LETTERS[: len(text)]):
            continue
        bad = next((mark for mark in text if mark not in _READ), None)
        if bad is not None:
            raise TengenError(f"line {number} of the picture has {bad!r}; only . X O are stones")
        row = [_READ[mark] for mark in text]
        if rows and len(row) != len(rows[0]):
            raise TengenError(
                f"line {number} of the picture has {len(row)} points, the first {len(rows[0])}"
            )
        rows.append(row)
    if not rows:
        raise TengenError("the picture has no points")
    return np.array(rows, np.int8)


def format_ascii(
    grid: NDArray[np.int8], marks: Mapping[int, str] | None = None, *, coordinates: bool = True
) -> str:
    """Return the grid as text; `marks` puts one character over row-major indices."""
    rows, cols = grid.shape
    marks = marks or {}
    header = "   " + " ".join(GTP_LETTERS[:cols])
    lines = [header] if coordinates else []
    for r in range(rows):
        cells = [marks.get(r * cols + c, _STONES[grid[r, c]]) for c in range(cols)]
        text = " ".join(cells) if coordinates else "".join(cells)
        lines.append(f"{rows - r:2} {text} {rows - r}" if coordinates else text)
    if coordinates:
        lines.append(header)
    return "\n".join(lines)


def star_points(rows: int, cols: int) -> list[tuple[int, int]]:
    """Return the points a wooden board marks with dots, as (row, column)."""

    def lines(n: int) -> list[int]:
        if n < 7:
            return [n // 2] if n % 2 and n > 2 else []
        edge = 3 if n >= 13 else 2
        return [edge, n // 2, n - 1 - edge] if n % 2 else [edge, n - 1 - edge]

    across, down = lines(cols), lines(rows)
    points = [(r, c) for r in down for c in across]
    if len(across) == 3 and len(down) == 3 and (rows < 15 or cols < 15):
        middle = (down[1], across[1])
        points = [
            (r, c) for r, c in points if (r, c) == middle or (r != down[1] and c != across[1])
        ]
    return points


def format_svg(
    grid: NDArray[np.int8],
    *,
    last: int | None = None,
    labels: Mapping[int, str] | None = None,
    shades: Sequence[float] | NDArray[np.floating] | None = None,
    dead: Sequence[int] = (),
    coordinates: bool = True,
    cell: int = 24,
) -> str:
    """Return a self-contained SVG picture of the grid.

    Parameters
    ----------
    last
        Row-major index of the last move, marked with a ring.
    labels
        Short texts over row-major indices.
    shades
        One number a point from -1 (White's) to +1 (Black's), drawn as translucent squares.
    dead
        Row-major indices of stones to draw faint.
    """
    rows, cols = grid.shape
    margin = cell if coordinates else cell * 0.75
    width, height = (cols - 1) * cell + 2 * margin, (rows - 1) * cell + 2 * margin
    faint = set(dead)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" font-family="sans-serif">',
        f'<rect width="{width:g}" height="{height:g}" rx="4" fill="#e3b878"/>',
        *_lines(rows, cols, cell, margin),
    ]
    for index, stone in enumerate(grid.ravel().tolist()):
        centre = (margin + index % cols * cell, margin + index // cols * cell)
        if stone:
            out.append(_stone(centre, cell, stone, index in faint))
        if shades is not None and abs(float(shades[index])) > 0.05:
            out.append(_shade(centre, cell, float(shades[index])))
        if last == index:
            ink = "#d2401f" if shades is not None else "#fafafa" if stone == 1 else "#111"
            out.append(_circle(centre, cell * 0.22, f'fill="none" stroke="{ink}"', 1.6))
        if labels and index in labels:
            out.append(_label(centre, cell, labels[index]))
    if coordinates:
        out += _edges(rows, cols, cell, (width, height))
    out.append("</svg>")
    return "\n".join(out)


_Place = tuple[float, float]
"""Distances from the left and from the top."""


def _lines(rows: int, cols: int, cell: float, margin: float) -> list[str]:
    """Draw the lines of the board and its dots."""

    def x(c: int) -> float:
        return margin + c * cell

    out = ['<g stroke="#5a3d12" stroke-width="1">']
    for r in range(rows):
        out.append(f'<line x1="{x(0):g}" y1="{x(r):g}" x2="{x(cols - 1):g}" y2="{x(r):g}"/>')
    for c in range(cols):
        out.append(f'<line x1="{x(c):g}" y1="{x(0):g}" x2="{x(c):g}" y2="{x(rows - 1):g}"/>')
    out.append("</g>")
    for r, c in star_points(rows, cols):
        out.append(f'<circle cx="{x(c):g}" cy="{x(r):g}" r="{cell / 9:.1f}" fill="#5a3d12"/>')
    return out


def _circle(centre: _Place, radius: float, look: str, line: float, more: str = "") -> str:
    x, y = centre
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:.1f}" {look} stroke-width="{line}"{more}/>'


def _stone(centre: _Place, cell: float, stone: int, faint: bool) -> str:
    fill = "#111" if stone == 1 else "#fafafa"
    look, more = f'fill="{fill}" stroke="#222"', ' opacity="0.45"' if faint else ""
    return _circle(centre, cell * 0.47, look, 0.8, more)


def _shade(centre: _Place, cell: float, value: float) -> str:
    """Draw whose a point is as a translucent square."""
    half, fill = cell * 0.28, "#000" if value > 0 else "#fff"
    return (
        f'<rect x="{centre[0] - half:.1f}" y="{centre[1] - half:.1f}" width="{2 * half:.1f}" '
        f'height="{2 * half:.1f}" fill="{fill}" stroke="#888" stroke-width="0.4" '
        f'opacity="{min(abs(value), 1) * 0.8:.2f}"/>'
    )


def _label(centre: _Place, cell: float, text: str) -> str:
    """Write on a disc, so that it can be read on stones, shades and lines alike."""
    disc = _circle(centre, cell * 0.34, 'fill="#fbeccb" stroke="#5a3d12"', 0.8)
    return (
        f'{disc}<text x="{centre[0]:g}" y="{centre[1] + cell * 0.15:.1f}" fill="#111" '
        f'font-size="{cell * 0.42:.1f}" font-weight="bold" text-anchor="middle">'
        f"{escape(text)}</text>"
    )


def _edges(rows: int, cols: int, cell: float, size: _Place) -> list[str]:
    """Write letters and numbers at the edges, whose margin is one cell."""
    style = f'font-size="{cell * 0.38:.1f}" text-anchor="middle" fill="#5a3d12"'
    out = []
    for c in range(cols):
        for y in (cell * 0.45, size[1] - cell * 0.2):
            out.append(f'<text x="{cell + c * cell:g}" y="{y:.1f}" {style}>{GTP_LETTERS[c]}</text>')
    for r in range(rows):
        for x in (cell * 0.3, size[0] - cell * 0.3):
            y = cell + r * cell + cell * 0.13
            out.append(f'<text x="{x:.1f}" y="{y:.1f}" {style}>{rows - r}</text>')
    return out
