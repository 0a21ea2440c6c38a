"""Draw a grid of stones as text and as SVG; read such text back. Know nothing of rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from tengen.board.coordinates import GTP_LETTERS
from tengen.errors import TengenError

STONES = ".XO"
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
        cells = [marks.get(r * cols + c, STONES[grid[r, c]]) for c in range(cols)]
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

    def x(c: int) -> float:
        return margin + c * cell

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" font-family="sans-serif">',
        f'<rect width="{width:g}" height="{height:g}" rx="4" fill="#e3b878"/>',
        '<g stroke="#5a3d12" stroke-width="1">',
    ]
    for r in range(rows):
        out.append(f'<line x1="{x(0):g}" y1="{x(r):g}" x2="{x(cols - 1):g}" y2="{x(r):g}"/>')
    for c in range(cols):
        out.append(f'<line x1="{x(c):g}" y1="{x(0):g}" x2="{x(c):g}" y2="{x(rows - 1):g}"/>')
    out.append("</g>")
    for r, c in star_points(rows, cols):
        out.append(f'<circle cx="{x(c):g}" cy="{x(r):g}" r="{cell / 9:.1f}" fill="#5a3d12"/>')
    for r in range(rows):
        for c in range(cols):
            stone, index = int(grid[r, c]), r * cols + c
            if stone:
                fill = "#111" if stone == 1 else "#fafafa"
                opacity = ' opacity="0.45"' if index in faint else ""
                out.append(
                    f'<circle cx="{x(c):g}" cy="{x(r):g}" r="{cell * 0.47:.1f}" fill="{fill}" '
                    f'stroke="#222" stroke-width="0.8"{opacity}/>'
                )
            if shades is not None and abs(float(shades[index])) > 0.05:
                value, half = float(shades[index]), cell * 0.28
                fill = "#000" if value > 0 else "#fff"
                out.append(
                    f'<rect x="{x(c) - half:.1f}" y="{x(r) - half:.1f}" width="{2 * half:.1f}" '
                    f'height="{2 * half:.1f}" fill="{fill}" stroke="#888" stroke-width="0.4" '
                    f'opacity="{min(abs(value), 1) * 0.8:.2f}"/>'
                )
            if last == index:
                ink = "#d2401f" if shades is not None else "#fafafa" if stone == 1 else "#111"
                out.append(
                    f'<circle cx="{x(c):g}" cy="{x(r):g}" r="{cell * 0.22:.1f}" fill="none" '
                    f'stroke="{ink}" stroke-width="1.6"/>'
                )
            if labels and index in labels:
                # A disc of its own, so that it can be read on stones, shades and lines alike.
                out.append(
                    f'<circle cx="{x(c):g}" cy="{x(r):g}" r="{cell * 0.34:.1f}" fill="#fbeccb" '
                    f'stroke="#5a3d12" stroke-width="0.8"/>'
                    f'<text x="{x(c):g}" y="{x(r) + cell * 0.15:.1f}" fill="#111" '
                    f'font-size="{cell * 0.42:.1f}" font-weight="bold" text-anchor="middle">'
                    f"{escape(labels[index])}</text>"
                )
    if coordinates:
        style = f'font-size="{cell * 0.38:.1f}" text-anchor="middle" fill="#5a3d12"'
        for c in range(cols):
            for y in (margin * 0.45, height - margin * 0.2):
                out.append(f'<text x="{x(c):g}" y="{y:.1f}" {style}>{GTP_LETTERS[c]}</text>')
        for r in range(rows):
            for where in (margin * 0.3, width - margin * 0.3):
                y = x(r) + cell * 0.13
                out.append(f'<text x="{where:.1f}" y="{y:.1f}" {style}>{rows - r}</text>')
    out.append("</svg>")
    return "\n".join(out)
