"""Symmetries of points and corners on a board of each shape."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache

import numpy as np

from tengen.arrays import IntArray
from tengen.board import PASS, Board, Point, point_at
from tengen.board.coordinates import point_from
from tengen.board.kernels import ZOBRIST
from tengen.board.layout_kernels import BLACK, COLOUR, WHITE
from tengen.board.symmetry import elements, inverse, point_permutation
from tengen.errors import TengenError
from tengen.explorer.kernels import NOWHERE

CORNERS = ("top left", "top right", "bottom left", "bottom right")


@dataclass(frozen=True)
class Geometry:
    """The tables of one board shape that positions are folded with."""

    rows: int
    cols: int
    turned: IntArray
    """turned[t, p]: where symmetry t takes point p."""
    back: IntArray
    """back[t, p]: where symmetry t takes p from."""
    corners: IntArray
    """Number of each point's corner, see CORNERS; NOWHERE on middle lines and for a pass."""
    into: IntArray
    """into[q]: the symmetries that take corner q to the first corner."""
    salts: IntArray
    """What tells keys of this shape's boards, and of its corners, from all others."""


@dataclass(frozen=True)
class Folded:
    """A position as in the index, and the symmetries that lead there."""

    key: int
    turns: tuple[int, ...]
    """Rows of `Geometry.turned`; several where the position is symmetric itself."""


@cache
def geometry(rows: int, cols: int) -> Geometry:
    """Return the tables for boards of this shape. A corner is a quarter without middle lines."""
    turns = elements(rows, cols)
    turned = np.array([point_permutation(rows, cols, t) for t in turns])
    back = np.array([point_permutation(rows, cols, inverse(t)) for t in turns])
    corners = np.full(turned.shape[1], NOWHERE, np.int64)
    for row in range(rows):
        for col in range(cols):
            up, down = row < rows // 2, row >= rows - rows // 2
            left, right = col < cols // 2, col >= cols - cols // 2
            if (up or down) and (left or right):
                corners[point_at(row * cols + col, rows, cols)] = 2 * down + right
    ends = [0, cols - 1, (rows - 1) * cols, rows * cols - 1]  # the outermost points
    first = point_at(0, rows, cols)
    into = [np.flatnonzero(turned[:, point_at(end, rows, cols)] == first) for end in ends]
    salts = [
        int.from_bytes(hashlib.blake2b(f"{rows}x{cols} {what}".encode(), digest_size=8).digest())
        for what in ("board", "corner")
    ]
    return Geometry(
        rows, cols, turned, back, corners, np.array(into), np.array(salts, np.uint64).view(np.int64)
    )


def corner_of(board: Board) -> int:
    """Return the corner that holds all moves of a board; the top right one without any.

    Raises `TengenError` if moves lie in several corners or on middle lines.
    """
    tables = geometry(board.rows, board.cols)
    played = [point for _, point in board.moves if point]
    found = {int(tables.corners[point]) for point in played}
    if NOWHERE in found:
        outside = next(p for p in played if tables.corners[p] == NOWHERE)
        raise TengenError(f"{outside} is in no corner: corners end before the middle lines")
    if len(found) > 1:
        raise TengenError("the moves lie in several corners; say `pass` for a move elsewhere")
    return found.pop() if found else CORNERS.index("top right")


def fold(board: Board, corner: int | None = None) -> Folded:
    """Find a position's key, seen by the side to move: of the whole board or of one corner."""
    tables = geometry(board.rows, board.cols)
    stones = board.state[COLOUR]
    points = np.flatnonzero((stones == BLACK) | (stones == WHITE))
    turns = np.arange(len(tables.turned))
    if corner is not None:
        points = points[tables.corners[points] == corner]
        turns = tables.into[corner]
    seen = np.where(stones[points] == board.turn, 1, 2)
    hashes = [
        int(np.bitwise_xor.reduce(ZOBRIST[seen, tables.turned[turn, points]], initial=0))
        for turn in turns
    ]
    least = min(hashes)
    salt = int(tables.salts[0 if corner is None else 1])
    chosen = [int(t) for t, h in zip(turns, hashes, strict=True) if h == least]
    return Folded(least ^ salt, tuple(chosen))


def unfold(board: Board, folded: Folded, move: int) -> list[Point]:
    """Return the points on the board that a folded move stands for, top right first.

    There are several where the position is symmetric: games that differ so are counted together.
    """
    tables = geometry(board.rows, board.cols)
    points = {int(tables.back[turn, move]) for turn in folded.turns}
    if PASS in points:
        return [PASS]
    found = [point_from(point, board.rows, board.cols) for point in points]
    return sorted(found, key=lambda p: (p.row - p.col, p.row))
