"""Stack what a side sees of a position into planes of zeros and ones, for networks and agents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, Float32Array, IntArray

PLANES = ("own", "enemy", "empty", "last", "legal", "black")
"""What each plane marks; `last` is the last move, `black` is all ones where the side is Black."""


def stack_planes(
    grids: NDArray[np.int8],
    colours: IntArray,
    last: IntArray,
    legal: BoolArray,
) -> Float32Array:
    """Return games x PLANES x rows x columns of zeros and ones.

    Given the stones of each game, the side that looks, the raw point of the last move (0 or less
    for none) and the row-major mask of legal moves, pass last.
    """
    games, rows, cols = grids.shape
    side = colours[:, None, None]
    out = np.zeros((games, len(PLANES), rows, cols), np.float32)
    out[:, 0], out[:, 1], out[:, 2] = grids == side, grids == 3 - side, grids == 0
    played = np.flatnonzero(last > 0)
    row, col = np.divmod(last[played] - 1, cols + 1)
    out[played, 3, row - 1, col] = 1
    out[:, 4] = legal[:, :-1].reshape(grids.shape)
    out[:, 5] = side == 1
    return out
