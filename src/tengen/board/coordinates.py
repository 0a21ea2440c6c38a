"""Convert between the ways to name a place on the board; the only module that does.

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

import numpy as np
from numpy.typing import NDArray

from tengen.errors import TengenError

Point = int
"""Index on the bordered one-dimensional board; 0 is a pass, -1 a resignation."""

PASS: Point = 0
RESIGN: Point = -1

GTP_LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
SGF_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def point_of(row: int, col: int, cols: int) -> Point:
    """Return the point at (row, column) of a board with so many columns.

    >>> point_of(0, 0, 9), point_of(8, 8, 9)
    (11, 99)
    """
    return (row + 1) * (cols + 1) + col + 1


def row_col(point: Point, cols: int) -> tuple[int, int]:
    """Return (row, column) of a point that is on the board.

    >>> row_col(99, 9)
    (8, 8)
    """
    row, col = divmod(point - 1, cols + 1)
    return row - 1, col


def index_of(point: Point, rows: int, cols: int) -> int:
    """Return the row-major index of a point, rows * columns for a pass."""
    if point == PASS:
        return rows * cols
    row, col = row_col(point, cols)
    return row * cols + col


def point_at(index: int, rows: int, cols: int) -> Point:
    """Return the point with this row-major index; rows * columns is a pass."""
    if index == rows * cols:
        return PASS
    return point_of(index // cols, index % cols, cols)


def indices_of(points: NDArray[np.integer], rows: int, cols: int) -> NDArray[np.int64]:
    """Return the row-major indices of many points, rows * columns for passes.

    >>> indices_of(np.array([11, 99, 0]), 9, 9).tolist()
    [0, 80, 81]
    """
    row, col = np.divmod(np.asarray(points, np.int64) - 1, cols + 1)
    return np.where(np.asarray(points) == PASS, rows * cols, (row - 1) * cols + col)


def points_at(indices: NDArray[np.integer], rows: int, cols: int) -> NDArray[np.int64]:
    """Return the points with these row-major indices; rows * columns is a pass.

    >>> points_at(np.array([0, 80, 81]), 9, 9).tolist()
    [11, 99, 0]
    """
    row, col = np.divmod(np.asarray(indices, np.int64), cols)
    return np.where(row == rows, PASS, (row + 1) * (cols + 1) + col + 1)


def parse_gtp(vertex: str, rows: int, cols: int) -> Point:
    """Return the point a GTP vertex names, in either case of letters.

    >>> parse_gtp("j9", 9, 9), parse_gtp("PASS", 9, 9)
    (19, 0)

    Raises
    ------
    TengenError
        If the text is no vertex of this board.
    """
    text = vertex.strip().upper()
    if text == "PASS":
        return PASS
    if text == "RESIGN":
        return RESIGN
    col = GTP_LETTERS.find(text[:1]) if text else -1
    digits = text[1:]
    if col >= 0 and digits.isascii() and digits.isdigit() and len(digits) <= 2:
        row = rows - int(digits)
        if 0 <= row < rows and col < cols:
            return point_of(row, col, cols)
    raise TengenError(f"{vertex!r} is no vertex of a {rows}x{cols} board")


def format_gtp(point: Point, rows: int, cols: int) -> str:
    """Return the GTP vertex of a point.

    >>> format_gtp(19, 9, 9), format_gtp(0, 9, 9)
    ('J9', 'pass')
    """
    if point == PASS:
        return "pass"
    if point == RESIGN:
        return "resign"
    row, col = row_col(point, cols)
    return f"{GTP_LETTERS[col]}{rows - row}"


def parse_sgf(text: str, rows: int, cols: int) -> Point:
    """Return the point an SGF value names; empty is a pass, and `tt` where it is off the board.

    Raises
    ------
    TengenError
        If the text is no point of this board.
    """
    if text == "" or (text == "tt" and rows <= 19 and cols <= 19):
        return PASS
    if len(text) == 2:
        col, row = SGF_LETTERS.find(text[0]), SGF_LETTERS.find(text[1])
        if 0 <= row < rows and 0 <= col < cols:
            return point_of(row, col, cols)
    raise TengenError(f"{text!r} is no SGF point of a {rows}x{cols} board")


def format_sgf(point: Point, rows: int, cols: int) -> str:
    """Return the SGF value of a point; a pass is empty."""
    if point == PASS:
        return ""
    row, col = row_col(point, cols)
    return SGF_LETTERS[col] + SGF_LETTERS[row]
