"""Draw what learners have learned as SVG text: kernels as heat maps, patterns as corners of boards.

Also turns a game into the frames that the page steps through. Nothing here learns or measures.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import PASS, Board, index_of
from tengen.lab.content import Replay

_LEVELS = 6
"""Shades of each sign in a heat map."""
OWN, ENEMY, EMPTY, OUTSIDE, UNKNOWN = "X", "O", ".", "#", "?"
"""What a cell of a pattern may be; UNKNOWN lies outside the template."""


def kernel_sheet(
    kernels: FloatArray,
    offsets: Sequence[tuple[int, int]],
    rows: Sequence[str],
    cols: Sequence[str],
) -> str:
    """Draw kernels (offsets, rows, columns) as a sheet of small maps, 3x3 cells each.

    Offsets count to the east and to the north. Red is positive, blue negative; every row has its
    own scale, since layers differ in size.
    """
    cell, gap, left, top = 5, 5, 74, 62
    step = 3 * cell + gap
    width, height = left + step * len(cols) + 4, top + step * len(rows) + 4
    strokes: dict[tuple[int, int], list[str]] = {}
    for i in range(len(rows)):
        scale = float(np.abs(kernels[:, i]).max()) or 1.0
        for j in range(len(cols)):
            for k, (east, north) in enumerate(offsets):
                share = float(kernels[k, i, j]) / scale
                level = min(int(abs(share) * _LEVELS + 0.999), _LEVELS)
                if level == 0:
                    continue
                x = left + j * step + (1 + east) * cell
                y = top + i * step + (1 - north) * cell
                key = (1 if share > 0 else -1, level)
                strokes.setdefault(key, []).append(f"M{x} {y}h{cell}v{cell}h-{cell}z")
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, sans-serif" font-size="8.5">',
        '<g fill="none" stroke="var(--line)" stroke-width=".6">',
    ]
    frames = [
        f"M{left + j * step} {top + i * step}h{3 * cell}v{3 * cell}h-{3 * cell}z"
        for i in range(len(rows))
        for j in range(len(cols))
    ]
    out += [f'<path d="{"".join(frames)}"/>', "</g>"]
    for (sign, level), paths in sorted(strokes.items()):
        fill = "var(--hot)" if sign > 0 else "var(--cold)"
        opacity = level / _LEVELS
        out.append(f'<path fill="{fill}" fill-opacity="{opacity:.2f}" d="{"".join(paths)}"/>')
    out.append('<g fill="var(--soft)">')
    for i, name in enumerate(rows):
        at = top + i * step + 1.5 * cell + 3
        out.append(f'<text x="{left - 5}" y="{at:g}" text-anchor="end">{name}</text>')
    for j, name in enumerate(cols):
        at = left + j * step + 1.5 * cell + 3
        out.append(f'<text transform="translate({at:g} {top - 5}) rotate(-60)">{name}</text>')
    return "".join([*out, "</g></svg>"])


def pattern(cells: Sequence[str], *, cell: int = 15) -> str:
    """Draw a pattern given as lines of cells; the middle is the move, own stones are black.

    >>> "<svg" in pattern(["...", ".X.", "###"])
    True
    """
    n = len(cells)
    half = cell / 2
    size = n * cell
    inside = [(r, c) for r in range(n) for c in range(n) if cells[r][c] not in (OUTSIDE, UNKNOWN)]
    known = set(inside)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" '
        f'width="{size}" height="{size}">',
        '<path fill="#e3b878" d="'
        + "".join(f"M{c * cell} {r * cell}h{cell}v{cell}h-{cell}z" for r, c in inside)
        + '"/>',
    ]
    lines = []
    for r, c in inside:
        x, y = c * cell + half, r * cell + half
        for dr, dc in ((0, 1), (0, -1), (1, 0), (-1, 0)):
            other = (r + dr, c + dc)
            beyond = not (0 <= other[0] < n and 0 <= other[1] < n)
            if beyond or other in known or cells[other[0]][other[1]] == UNKNOWN:
                lines.append(f"M{x:g} {y:g}l{dc * half:g} {dr * half:g}")
    out.append(f'<path stroke="#5a3d12" stroke-width="1" d="{"".join(lines)}"/>')
    for r, c in inside:
        x, y, what = c * cell + half, r * cell + half, cells[r][c]
        if (r, c) == (n // 2, n // 2):
            out.append(
                f'<circle cx="{x:g}" cy="{y:g}" r="{cell * 0.4:g}" fill="#c0392b" opacity=".85"/>'
            )
        elif what in (OWN, ENEMY):
            fill = "#111" if what == OWN else "#fafafa"
            out.append(
                f'<circle cx="{x:g}" cy="{y:g}" r="{cell * 0.46:g}" fill="{fill}" '
                'stroke="#222" stroke-width=".7"/>'
            )
    return "".join([*out, "</svg>"])


def replay(
    title: str,
    moves: Sequence[tuple[int, int]],
    rows: int,
    cols: int,
    *,
    ownership: Sequence[FloatArray] = (),
    values: Sequence[float] = (),
    words: str = "",
) -> Replay:
    """Turn a game into frames for the page: the stones after every ply, the last move marked.

    `ownership` (one map a frame, +1 Black's to -1 White's) and `values` (Black's expected score)
    are shown with them.
    """
    board = Board(rows, cols)
    frames = ["".join(map(str, board.grid().ravel().tolist()))]
    last = [-1]
    for colour, point in moves:
        board.play(board.answer(point), colour)
        frames.append("".join(map(str, board.grid().ravel().tolist())))
        last.append(-1 if point == PASS else index_of(point, rows, cols))
    owners = ["".join(chr(65 + round(12 * (float(v) + 1))) for v in np.ravel(o)) for o in ownership]
    return Replay(
        title,
        rows,
        cols,
        frames,
        last,
        colours=[colour for colour, _ in moves],
        owners=owners,
        values=[round(float(v), 1) for v in values],
        words=words,
    )
