"""Unconditional life, eyes, atari and ladders.

Plain functions on grids (rows x columns of EMPTY, BLACK, WHITE); points are (row, column) pairs
from the top left. The kernels below them also work on states, see tactics_kernels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tengen.arrays import BoolArray, IntArray
from tengen.board import tactics_kernels as k
from tengen.board.layout_kernels import BLACK, BORDER, EMPTY, WHITE
from tengen.errors import TengenError

Place = tuple[int, int]


class Safe(NamedTuple):
    """A colour's unconditionally living stones and the points of their eyes."""

    stones: BoolArray
    points: BoolArray


class Eyes(NamedTuple):
    """The one-point eyes of a colour, real and false."""

    real: BoolArray
    false: BoolArray


def _line(grid: npt.ArrayLike) -> tuple[IntArray, int, int]:
    """Return the bordered line of a grid, its rows and columns."""
    stones = np.asarray(grid)
    if stones.ndim != 2 or stones.size == 0:
        raise TengenError(f"a grid has rows and columns, not the shape {stones.shape}")
    rows, cols = stones.shape
    bordered = np.full((rows + 2, cols + 1), BORDER, np.int64)
    bordered[1 : rows + 1, 1:] = stones
    return np.append(bordered.ravel(), BORDER), rows, cols


def _grid(line: IntArray, rows: int, cols: int) -> IntArray:
    """Return the grid inside a bordered line."""
    return line[:-1].reshape(rows + 2, cols + 1)[1 : rows + 1, 1:]


def _point(place: Place, rows: int, cols: int) -> int:
    row, col = place
    if not (0 <= row < rows and 0 <= col < cols):
        raise TengenError(f"row {row}, column {col} is not on a board of {rows}x{cols}")
    return (row + 1) * (cols + 1) + col + 1


def _place(point: int, cols: int) -> Place | None:
    return None if point == 0 else (point // (cols + 1) - 1, point % (cols + 1) - 1)


def _check_colour(colour: int) -> None:
    if colour not in (BLACK, WHITE):
        raise TengenError(f"colour {colour!r} is neither BLACK ({BLACK}) nor WHITE ({WHITE})")


def unconditional(grid: npt.ArrayLike, colour: int) -> Safe:
    """Return what a colour keeps even if it passes for ever (Benson 1976).

    Finds no life that needs an answer: most living groups of a real game are not marked.

    >>> grid = [[0, 1, 0, 1, 2], [1, 1, 1, 1, 2], [2, 2, 2, 2, 2]]
    >>> safe = unconditional(grid, 1)
    >>> int(safe.stones.sum()), int(safe.points.sum())
    (6, 2)
    """
    _check_colour(colour)
    line, rows, cols = _line(grid)
    out = np.zeros_like(line)
    k.benson(line, cols + 1, colour, out)
    found = _grid(out, rows, cols)
    return Safe(found == 1, found == 2)


def eyes(grid: npt.ArrayLike, colour: int) -> Eyes:
    """Return the one-point eyes of a colour, real and false by the diagonal rule.

    The rule looks at eight neighbours only: it can take an eye for false that a ring of stones
    makes real, and does not see that an eye belongs to a dead group.
    """
    _check_colour(colour)
    line, rows, cols = _line(grid)
    out = np.zeros_like(line)
    k.eye_map(line, cols + 1, out)
    found = _grid(out, rows, cols)
    return Eyes(found == colour, found == -colour)


def is_eye(grid: npt.ArrayLike, point: Place, colour: int) -> bool:
    """Return whether an empty point is a real eye of a colour by the diagonal rule."""
    _check_colour(colour)
    line, rows, cols = _line(grid)
    return bool(k.real_eye_owner(line, _point(point, rows, cols), cols + 1) == colour)


def in_atari(grid: npt.ArrayLike) -> BoolArray:
    """Return the stones whose block has exactly one liberty."""
    line, rows, cols = _line(grid)
    out = np.zeros_like(line)
    k.atari_mask(line, cols + 1, k.safety_scratch(line.shape[0]), out)
    found: BoolArray = _grid(out, rows, cols) == 1
    return found


def ladder(grid: npt.ArrayLike, point: Place) -> Place | None:
    """Return the atari by which the enemy, to move, captures the block at a point in a ladder.

    None if it cannot be captured by atari after atari: a block of three liberties, a ladder broken
    by a stone in its way, or one too long to read. Nets and threats elsewhere are ignored.
    """
    return _read(grid, point, True)


def ladder_escape(grid: npt.ArrayLike, point: Place) -> Place | None:
    """Return a move that saves the block in atari at a point from the ladder, None if lost."""
    return _read(grid, point, False)


def _read(grid: npt.ArrayLike, point: Place, attacking: bool) -> Place | None:
    line, rows, cols = _line(grid)
    p = _point(point, rows, cols)
    if line[p] == EMPTY:
        raise TengenError(f"row {point[0]}, column {point[1]} holds no stone to chase")
    reads = np.zeros(1, np.int64)
    scratch = k.safety_scratch(line.shape[0])
    return _place(int(k.read_ladder(line, p, cols + 1, attacking, 0, reads, scratch)), cols)
