"""Turn and mirror boards: the eight symmetries of the square as a group of permutations.

Element k = 4 * mirrored + quarter_turns: first mirror left to right if asked, then turn
anticlockwise by quarter turns. Rectangles have only the four elements that keep their shape.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import IntArray
from tengen.board.coordinates import point_at

N_SYMMETRIES = 8


def elements(rows: int, cols: int) -> tuple[int, ...]:
    """Return the symmetries that map a board of this shape onto itself.

    >>> elements(9, 9), elements(9, 13)
    ((0, 1, 2, 3, 4, 5, 6, 7), (0, 2, 4, 6))
    """
    return tuple(range(8)) if rows == cols else (0, 2, 4, 6)


def transform(grid: NDArray[np.generic], element: int) -> NDArray[np.generic]:
    """Return the grid (rows x columns) turned by a symmetry."""
    turned = np.fliplr(grid) if element >= 4 else grid
    return np.rot90(turned, element % 4)


@cache
def permutation(rows: int, cols: int, element: int) -> IntArray:
    """Return where each index goes: the stone at index i stands at permutation[i] afterwards.

    The last entry is the pass, which stays.
    """
    source = transform(np.arange(rows * cols).reshape(rows, cols), element).ravel()
    target = np.empty(rows * cols + 1, np.int64)
    target[source] = np.arange(rows * cols)
    target[-1] = rows * cols
    target.setflags(write=False)
    return target


@cache
def point_permutation(rows: int, cols: int, element: int) -> IntArray:
    """Return where each bordered point goes; border points and the pass go to 0."""
    indices = permutation(rows, cols, element)
    out = np.zeros((rows + 2) * (cols + 1) + 1, np.int64)
    for index in range(rows * cols):
        out[point_at(index, rows, cols)] = point_at(int(indices[index]), rows, cols)
    out.setflags(write=False)
    return out


@cache
def compose(first: int, second: int) -> int:
    """Return the element that does `first`, then `second`."""
    a, b = permutation(3, 3, first), permutation(3, 3, second)
    both = b[a]
    return next(k for k in range(8) if np.array_equal(permutation(3, 3, k), both))


@cache
def inverse(element: int) -> int:
    """Return the element that undoes this one."""
    return next(k for k in range(8) if compose(element, k) == 0)
