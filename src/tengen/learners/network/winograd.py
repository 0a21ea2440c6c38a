"""Make the matrices of Winograd's convolutions: fewer products for the same result; no kernels.

A tile of m x m outputs of a 3 x 3 convolution is computed from a tile of (m + 2) x (m + 2) inputs
with (m + 2)^2 products a pair of maps instead of 9 m^2:

    output = A^T [ (G kernel G^T) * (B^T input B) ] A

(Toom and Cook's interpolation at small points and at infinity, as Winograd applied it.)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import Float32Array

KERNEL = 3
_POINTS = (0, 1, -1, 2, -2)
TILES = (3, 4)
"""Sizes of output tiles there are."""


@dataclass(frozen=True)
class Winograd:
    """The matrices for output tiles of one size."""

    tile: int
    output: Float32Array
    """A^T: tile x (tile + 2)."""
    kernel: Float32Array
    """G: (tile + 2) x 3."""
    input: Float32Array
    """B^T: (tile + 2) x (tile + 2)."""


@cache
def winograd(tile: int) -> Winograd:
    """Return the matrices for output tiles of this size."""
    n = tile + KERNEL - 1
    points = [Fraction(p) for p in _POINTS[: n - 1]]

    def powers(count: int) -> list[list[Fraction]]:
        """Evaluate polynomials of `count` coefficients at the points and at infinity."""
        finite = [[p**i for i in range(count)] for p in points]
        return [*finite, [Fraction(i == count - 1) for i in range(count)]]

    # Evaluating a product of polynomials at n places and interpolating gives the full product;
    # a convolution's transpose turns that into the correlation that networks mean.
    whole = np.array(powers(n), dtype=object)
    inverse = _inverse(whole)
    scale = [_weight(points, i) for i in range(n - 1)] + [Fraction(1)]
    output = np.array(powers(tile), dtype=object).T
    kernel = np.array(powers(KERNEL), dtype=object)
    kernel = np.array([[v / s for v in row] for row, s in zip(kernel, scale, strict=True)])
    data = np.array([[v * scale[i] for i, v in enumerate(row)] for row in inverse]).T
    found = (np.ascontiguousarray(m.astype(np.float32)) for m in (output, kernel, data))
    return Winograd(tile, *found)


def _weight(points: list[Fraction], i: int) -> Fraction:
    """Return the product of a point's distances to the others, which keeps B^T integral."""
    product = Fraction(1)
    for j, other in enumerate(points):
        if j != i:
            product *= points[i] - other
    return product


def _inverse(matrix: NDArray[np.object_]) -> list[list[Fraction]]:
    """Invert a small matrix of fractions exactly."""
    n = len(matrix)
    rows = [[*map(Fraction, matrix[i]), *(Fraction(i == j) for j in range(n))] for i in range(n)]
    for i in range(n):
        pivot = next(r for r in range(i, n) if rows[r][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for r in range(n):
            if r != i and rows[r][i] != 0:
                rows[r] = [v - rows[r][i] * w for v, w in zip(rows[r], rows[i], strict=True)]
    return [row[n:] for row in rows]


def transformed(kernel: Float32Array, tile: int) -> Float32Array:
    """Return a kernel (out x in x 3 x 3) as (tile + 2)^2 matrices of in x out."""
    g = winograd(tile).kernel.astype(np.float64)
    wide = np.einsum("ai,oxij,bj->abxo", g, kernel.astype(np.float64), g)
    n = tile + KERNEL - 1
    return np.ascontiguousarray(wide.reshape(n * n, *wide.shape[2:]), np.float32)


def best_tile(rows: int, cols: int) -> int:
    """Return the size of tiles that needs the fewest products on a board of this size.

    >>> best_tile(19, 19), best_tile(9, 9), best_tile(13, 13)
    (4, 3, 4)
    """

    def products(tile: int) -> int:
        tiles = -(-rows // tile) * -(-cols // tile)
        return int(tiles * (tile + KERNEL - 1) ** 2)

    return min(TILES, key=products)
