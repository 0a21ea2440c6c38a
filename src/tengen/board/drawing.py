"""Draw boards as text and as SVG: stones, marks, heat maps, ownership; parse such text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from tengen.board.coordinates import GTP_LETTERS
from tengen.errors import TengenError

_STONES = ".XO"  # EMPTY, BLACK and WHITE

Numbers = Sequence[float] | NDArray[np.floating]
"""One number per point, row-major."""

_READ = {".": 0, "+": 0, "X": 1, "x": 1, "#": 1, "O": 2, "o": 2}


def parse_ascii(picture: str) -> NDArray[np.int8]:
    """Return the grid of a picture made of `.`, `X` and `O`, spaces ignored.

    Lines may carry row numbers at either end and the letters of the columns above or below.
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


def format_ascii(grid: NDArray[np.int8], marks: Mapping[int, str] | None = None) -> str:
    """Return the grid as text; `marks` maps row-major indices to characters."""
    rows, cols = grid.shape
    marks = marks or {}
    header = "   " + " ".join(GTP_LETTERS[:cols])
    lines = [header]
    for r in range(rows):
        cells = (marks.get(r * cols + c, _STONES[grid[r, c]]) for c in range(cols))
        lines.append(f"{rows - r:2} {' '.join(cells)} {rows - r}")
    return "\n".join([*lines, header])


def star_points(rows: int, cols: int) -> list[tuple[int, int]]:
    """Return the star points of a board, as (row, column)."""

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


@dataclass(frozen=True)
class Mark:
    """A short text on a point; the larger its weight (0 to 1), the darker its disc."""

    text: str
    weight: float | None = None


def format_svg(
    grid: NDArray[np.int8],
    *,
    last: int | None = None,
    marks: Mapping[int, str | Mark] | None = None,
    heat: Numbers | None = None,
    ownership: Numbers | None = None,
    dead: Sequence[int] = (),
    coordinates: bool = True,
    cell: int = 24,
) -> str:
    """Return a self-contained SVG picture of the grid, as `Board.svg` does; points are indices."""
    rows, cols = grid.shape
    for name, numbers in {"heat": heat, "ownership": ownership}.items():
        if numbers is not None and len(numbers) != grid.size:
            raise TengenError(f"{name}: {len(numbers)} numbers for {grid.size} points")
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
            look = f'fill="{"#111" if stone == 1 else "#fafafa"}" stroke="#222"'
            look += ' opacity="0.45"' if index in faint else ""
            out.append(_circle(centre, cell * 0.47, look, 0.8))
        if ownership is not None and abs(value := float(ownership[index])) > 0.05:
            # A stone is covered only where it is likely to die, and then not as a whole.
            owner, fill = (1, "#000") if value > 0 else (2, "#fff")
            if stone != owner:
                half = cell * (0.22 if stone else 0.28)
                out.append(_square(centre, half, fill, min(abs(value), 1) * 0.8))
        if heat is not None and (value := float(heat[index])) >= 0.02:
            out.append(_square(centre, cell * 0.36, "#d11f2f", min(value, 1) * 0.9))
        if last == index:
            ink = "#d2401f" if ownership is not None else "#fafafa" if stone == 1 else "#111"
            out.append(_circle(centre, cell * 0.22, f'fill="none" stroke="{ink}"', 1.6))
        if marks and index in marks:
            out.append(_mark(centre, cell, marks[index]))
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

    ends = [(0, r, cols - 1, r) for r in range(rows)] + [(c, 0, c, rows - 1) for c in range(cols)]
    out = ['<g stroke="#5a3d12" stroke-width="1">']
    for a, b, c, d in ends:
        out.append(f'<line x1="{x(a):g}" y1="{x(b):g}" x2="{x(c):g}" y2="{x(d):g}"/>')
    out.append("</g>")
    for r, c in star_points(rows, cols):
        out.append(f'<circle cx="{x(c):g}" cy="{x(r):g}" r="{cell / 9:.1f}" fill="#5a3d12"/>')
    return out


def _circle(centre: _Place, radius: float, look: str, line: float) -> str:
    x, y = centre
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:.1f}" {look} stroke-width="{line}"/>'


def _square(centre: _Place, half: float, fill: str, opacity: float) -> str:
    """Draw a translucent square, twice `half` wide."""
    return (
        f'<rect x="{centre[0] - half:.1f}" y="{centre[1] - half:.1f}" width="{2 * half:.1f}" '
        f'height="{2 * half:.1f}" fill="{fill}" stroke="#888" stroke-width="0.4" '
        f'opacity="{opacity:.2f}"/>'
    )


def _mark(centre: _Place, cell: float, mark: str | Mark) -> str:
    """Write on a disc, readable on stones, squares and lines alike."""
    text, weight = (mark.text, mark.weight) if isinstance(mark, Mark) else (mark, None)
    fill, ink = "#fbeccb", "#111"
    if weight is not None:
        depth = 0.25 + 0.75 * weight
        tones = [round(230 + (tone - 230) * depth) for tone in (21, 101, 192)]
        fill, ink = f"rgb({','.join(map(str, tones))})", "#fff" if depth > 0.6 else "#0d2f57"
    disc = _circle(centre, cell * 0.36, f'fill="{fill}" stroke="#5a3d12"', 0.8)
    return (
        f'{disc}<text x="{centre[0]:g}" y="{centre[1] + cell * 0.15:.1f}" fill="{ink}" '
        f'font-size="{cell * 0.42:.1f}" font-weight="bold" text-anchor="middle">'
        f"{escape(text)}</text>"
    )


def _edges(rows: int, cols: int, cell: float, size: _Place) -> list[str]:
    """Write letters and numbers at the edges, whose margin is one cell."""
    style = f'font-size="{cell * 0.38:.1f}" text-anchor="middle" fill="#5a3d12"'
    across = [(cell + c * cell, GTP_LETTERS[c]) for c in range(cols)]
    down = [(cell * 1.13 + r * cell, str(rows - r)) for r in range(rows)]
    heights, sides = (cell * 0.45, size[1] - cell * 0.2), (cell * 0.3, size[0] - cell * 0.3)
    places = [(x, y, text) for x, text in across for y in heights]
    places += [(x, y, text) for y, text in down for x in sides]
    return [f'<text x="{x:.1f}" y="{y:.1f}" {style}>{text}</text>' for x, y, text in places]
