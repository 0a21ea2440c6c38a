"""Colours, coordinate systems with all conversions between them, symmetries of the board.

Callers give a place as a GTP vertex, as (row, column) or as a `Point`, which converts to all of
them; `Board.point` makes one from any of them. Kernels and arrays of points use the plain number of
the first column (a raw point); arrays over the board are ordered by the second.

Corners and pass of a 9x9 board (rows and columns count from the top left):

| place        | point (bordered) | index (row-major) | (row, column) | SGF  | GTP  |
|--------------|------------------|-------------------|---------------|------|------|
| top left     | 11               | 0                 | (0, 0)        | aa   | A9   |
| top right    | 19               | 8                 | (0, 8)        | ia   | J9   |
| bottom left  | 91               | 72                | (8, 0)        | ai   | A1   |
| bottom right | 99               | 80                | (8, 8)        | ii   | J1   |
| pass         | 0                | 81                | none          | ""   | pass |

SGF also writes a pass as `tt` on boards up to 19x19. GTP leaves out the letter I.
"""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import IntArray
from tengen.board import layout_kernels as layout
from tengen.errors import IllegalMoveError, TengenError

Colour = int
"""BLACK = 1 or WHITE = 2; EMPTY = 0 and BORDER = 3 on the board itself."""

Side: TypeAlias = Colour | str
"""A side as callers give it: BLACK, WHITE, "B" or "W"."""

EMPTY, BLACK, WHITE, BORDER = layout.EMPTY, layout.BLACK, layout.WHITE, layout.BORDER
COLOUR_NAMES = {BLACK: "Black", WHITE: "White"}
_SIDES = {"B": BLACK, "b": BLACK, "W": WHITE, "w": WHITE}

GTP_LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
_SGF_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Point(int):
    """A point of a board of one size, PASS or RESIGN; as an int it is the raw point of kernels.

    >>> point = Point("F5", 9)
    >>> point.row, point.col, point.index, point.sgf, int(point)
    (4, 5, 41, 'fe', 56)
    """

    rows: int
    cols: int

    def __new__(cls, name: str, rows: int, cols: int | None = None) -> Point:
        """Return the point that a GTP vertex names; the same object for the same place."""
        return parse_gtp(name, rows, rows if cols is None else cols)

    @property
    def row(self) -> int:
        """The row, from 0 at the top; a pass has none."""
        return row_col(self._on_board(), self.cols)[0]

    @property
    def col(self) -> int:
        """The column, from 0 on the left; a pass has none."""
        return row_col(self._on_board(), self.cols)[1]

    @property
    def index(self) -> int:
        """The place in row-major arrays over the board; a pass has none."""
        return index_of(self._on_board(), self.rows, self.cols)

    @property
    def sgf(self) -> str:
        """The point in SGF notation."""
        return format_sgf(self, self.rows, self.cols)

    @property
    def name(self) -> str:
        """The GTP vertex."""
        return format_gtp(self, self.rows, self.cols)

    def _on_board(self) -> int:
        if self <= 0:
            raise TengenError(f"a {'pass' if self == 0 else 'resignation'} is no place on a board")
        return self

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        if self <= 0:
            return "PASS" if self == 0 else "RESIGN"
        return f"Point({self.name!r}, {self.rows}, {self.cols})"

    def __reduce__(self) -> tuple[object, tuple[int, int, int]]:
        return point_from, (int(self), self.rows, self.cols)


def _make(raw: int, rows: int, cols: int) -> Point:
    point = int.__new__(Point, raw)
    point.rows, point.cols = rows, cols
    return point


PASS = _make(0, 0, 0)
RESIGN = _make(-1, 0, 0)

Move: TypeAlias = Point | str | tuple[int, int]
"""A move as callers give it: a point or PASS, a GTP vertex such as "D4", or (row, column)."""


@cache
def places(rows: int, cols: int) -> tuple[Point | None, ...]:
    """Return the points of a board by their raw numbers: PASS first, None on the border."""
    found: list[Point | None] = [None] * ((rows + 2) * (cols + 1) + 1)
    found[0] = PASS
    for index in range(rows * cols):
        raw = point_at(index, rows, cols)
        found[raw] = _make(raw, rows, cols)
    return tuple(found)


def point_from(raw: int, rows: int, cols: int) -> Point:
    """Return the point that has this raw number."""
    if raw == RESIGN:
        return RESIGN
    table = places(rows, cols) if raw else (PASS,)
    found = table[raw] if 0 <= raw < len(table) else None
    if found is None:
        raise TengenError(f"{int(raw)} is no raw point of a {rows}x{cols} board")
    return found


def point_of_move(move: Move, rows: int, cols: int) -> Point:
    """Return the point of a GTP vertex, (row, column) or point; plain numbers are refused."""
    if isinstance(move, Point):
        if move is PASS or (move.rows, move.cols) == (rows, cols):
            return move
        size = "" if move is RESIGN else f" of a {move.rows}x{move.cols} board"
        raise IllegalMoveError(f"{move}{size} is no place of this {rows}x{cols} board")
    if isinstance(move, str):
        try:
            return point_of_move(Point(move, rows, cols), rows, cols)
        except TengenError as mistake:
            raise IllegalMoveError(str(mistake)) from None
    if isinstance(move, tuple) and len(move) == 2 and all(_is_whole(part) for part in move):
        row, col = (int(part) for part in move)
        if 0 <= row < rows and 0 <= col < cols:
            return point_from(point_of(row, col, cols), rows, cols)
        raise IllegalMoveError(f"(row, column) {(row, col)} is not on the {rows}x{cols} board")
    shown = f"the plain number {move}" if _is_whole(move) else repr(move)
    raise IllegalMoveError(
        f"{shown} names no move: give a GTP vertex such as 'D4', (row, column), a Point or PASS"
    )


def _is_whole(number: object) -> bool:
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)


def colour_of(value: object) -> Colour:
    """Return a side's colour after checking it; bools are refused."""
    if _is_whole(value) and value in (BLACK, WHITE):
        return int(value)
    if isinstance(value, str) and value in _SIDES:
        return _SIDES[value]
    raise IllegalMoveError(f"{value!r} is no colour: give BLACK (1), WHITE (2), 'B' or 'W'")


def count_of(what: str, value: object, most: int | None = None) -> int:
    """Return a whole number from 0 to `most` after checking it; `what` begins the message."""
    if _is_whole(value) and value >= 0 and (most is None or value <= most):  # type: ignore[operator]
        return int(value)  # type: ignore[call-overload, no-any-return]
    room = "0 or more" if most is None else f"from 0 to {most}"
    raise TengenError(f"{what} {value!r}: give a whole number, {room}")


def board_size(rows: object, cols: object = None) -> tuple[int, int]:
    """Return the (rows, columns) of a board after checking them; a square for rows alone."""
    cols = rows if cols is None else cols
    if not (_is_whole(rows) and _is_whole(cols)):
        raise TengenError(f"a board of {rows!r}x{cols!r}: give whole numbers")
    size = int(rows), int(cols)  # type: ignore[call-overload]
    if not all(2 <= lines <= layout.MAX_SIZE for lines in size):
        raise TengenError(f"a board of {rows}x{cols} is not between 2x2 and 25x25")
    return size


def point_of(row: int, col: int, cols: int) -> int:
    """Return the raw point at (row, column) of a board with `cols` columns."""
    return (row + 1) * (cols + 1) + col + 1


def row_col(point: int, cols: int) -> tuple[int, int]:
    """Return (row, column) of a point that is on the board."""
    row, col = divmod(point - 1, cols + 1)
    return row - 1, col


def index_of(point: int, rows: int, cols: int) -> int:
    """Return the row-major index of a point, rows * columns for a pass."""
    if point == PASS:
        return rows * cols
    row, col = row_col(point, cols)
    return row * cols + col


def point_at(index: int, rows: int, cols: int) -> int:
    """Return the raw point with this row-major index; rows * columns is a pass."""
    return PASS if index == rows * cols else point_of(index // cols, index % cols, cols)


def indices_of(points: NDArray[np.integer], rows: int, cols: int) -> IntArray:
    """Return the row-major indices of many points, rows * columns for passes."""
    row, col = np.divmod(np.asarray(points, np.int64) - 1, cols + 1)
    return np.where(np.asarray(points) == PASS, rows * cols, (row - 1) * cols + col)


def points_at(indices: NDArray[np.integer], rows: int, cols: int) -> IntArray:
    """Return the points with these row-major indices; rows * columns is a pass."""
    row, col = np.divmod(np.asarray(indices, np.int64), cols)
    return np.where(row == rows, PASS, (row + 1) * (cols + 1) + col + 1)


def parse_gtp(vertex: str, rows: int, cols: int) -> Point:
    """Return the point a GTP vertex names, in upper or lower case."""
    text = vertex.strip().upper()
    if text in ("PASS", "RESIGN"):
        return PASS if text == "PASS" else RESIGN
    col = GTP_LETTERS.find(text[:1]) if text else -1
    digits = text[1:]
    if col >= 0 and digits.isascii() and digits.isdigit() and len(digits) <= 2:
        row = rows - int(digits)
        if 0 <= row < rows and col < cols:
            return point_from(point_of(row, col, cols), rows, cols)
    raise TengenError(f"{vertex!r} is no vertex of a {rows}x{cols} board")


def format_gtp(point: int, rows: int, cols: int) -> str:
    """Return the GTP vertex of a point."""
    if point <= PASS:
        return "pass" if point == PASS else "resign"
    row, col = row_col(point, cols)
    return f"{GTP_LETTERS[col]}{rows - row}"


def parse_sgf(text: str, rows: int, cols: int) -> Point:
    """Return the point an SGF value names; empty is a pass, and `tt` where it is off the board."""
    if text == "" or (text == "tt" and rows <= 19 and cols <= 19):
        return PASS
    if len(text) == 2:
        col, row = _SGF_LETTERS.find(text[0]), _SGF_LETTERS.find(text[1])
        if 0 <= row < rows and 0 <= col < cols:
            return point_from(point_of(row, col, cols), rows, cols)
    raise TengenError(f"{text!r} is no SGF point of a {rows}x{cols} board")


def format_sgf(point: int, rows: int, cols: int) -> str:
    """Return the SGF value of a point; a pass is empty."""
    if point == PASS:
        return ""
    row, col = row_col(point, cols)
    return _SGF_LETTERS[col] + _SGF_LETTERS[row]


# ----- Symmetries: the eight of the square as a group of permutations -----
#
# Element k = 4 * mirrored + quarter_turns: mirror left to right if mirrored, then turn
# anticlockwise by quarter turns. Rectangles have only the four elements that keep their shape.

N_SYMMETRIES = 8


def elements(rows: int, cols: int) -> tuple[int, ...]:
    """Return the symmetries that map a board of this shape onto itself."""
    return tuple(range(8)) if rows == cols else (0, 2, 4, 6)


def transform(grid: NDArray[np.generic], element: int) -> NDArray[np.generic]:
    """Return the grid (rows x columns) turned by a symmetry."""
    turned = np.fliplr(grid) if element >= 4 else grid
    return np.rot90(turned, element % 4)


@cache
def permutation(rows: int, cols: int, element: int) -> IntArray:
    """Return where each index goes, pass included: the stone at i moves to permutation[i]."""
    source = transform(np.arange(rows * cols).reshape(rows, cols), element).ravel()
    target = np.empty(rows * cols + 1, np.int64)
    target[source] = np.arange(rows * cols)
    target[-1] = rows * cols
    target.setflags(write=False)
    return target


@cache
def point_permutation(rows: int, cols: int, element: int) -> IntArray:
    """Return where each bordered point goes; border points and the pass go to 0."""
    indices = permutation(rows, cols, element)[:-1]
    out = np.zeros((rows + 2) * (cols + 1) + 1, np.int64)
    out[points_at(np.arange(rows * cols), rows, cols)] = points_at(indices, rows, cols)
    out.setflags(write=False)
    return out


@cache
def compose(first: int, second: int) -> int:
    """Return the element that does `first`, then `second`."""
    both = permutation(3, 3, second)[permutation(3, 3, first)]
    return next(k for k in range(8) if np.array_equal(permutation(3, 3, k), both))


@cache
def inverse(element: int) -> int:
    """Return the element that undoes this one."""
    return next(k for k in range(8) if compose(element, k) == 0)
