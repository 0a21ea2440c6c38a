"""Say how the eight symmetries of the square act on kernels; know no network and no PyTorch.

A *field* is a feature that comes in eight *orientations*, one for each element of the group: the
regular representation. Turning the board turns every map and moves what orientation `r` said to
orientation `g r`. A convolution keeps this if its kernel depends only on how output and input lie
towards each other:

    kernel[out r, in q](x)  =  free[r^-1 q](r^-1 x)

so that 8 x 8 kernels follow from 8 free ones. The first layer reads plain planes, which have no
orientation: its eight kernels are one free kernel, turned. Both are written here as lists of
places: entry i of the laid-out kernel is entry `places[i]` of the free one.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from tengen.arrays import Float32Array, IntArray
from tengen.board.symmetry import N_SYMMETRIES, compose, inverse, transform

ORIENTATIONS = N_SYMMETRIES


@cache
def lifting_places(size: int) -> IntArray:
    """Return, per orientation, which entry of a free size x size kernel stands where.

    >>> lifting_places(3).shape
    (8, 9)
    """
    free = np.arange(size * size).reshape(size, size)
    return np.stack([transform(free, r).ravel() for r in range(ORIENTATIONS)])


@cache
def group_places(size: int) -> IntArray:
    """Return, per output orientation, which entry of a free 8 x size x size kernel stands where.

    Row r holds the kernels that orientation r of the output reads from the eight orientations q of
    the input, one after the other.

    >>> group_places(3).shape
    (8, 72)
    """
    free = np.arange(ORIENTATIONS * size * size).reshape(ORIENTATIONS, size, size)
    rows = []
    for r in range(ORIENTATIONS):
        relative = [compose(q, inverse(r)) for q in range(ORIENTATIONS)]
        rows.append(np.concatenate([transform(free[h], r).ravel() for h in relative]))
    return np.stack(rows)


def spreading(places: IntArray, entries: int) -> Float32Array:
    """Return the 0/1 matrix (entries x all places) that lays out a free kernel by a product.

    A matrix product and its gradient are what a GPU does best; gathering entry by entry is several
    times slower.
    """
    matrix = np.zeros((entries, places.size), np.float32)
    matrix[places.ravel(), np.arange(places.size)] = 1.0
    return matrix
