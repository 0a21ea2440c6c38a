"""Bring a position into one standard frame: of its mirror images and colour swaps the least.

A judgement made in the standard frame and carried back is the same, turned, for every turned
position, whatever the order in which things were looked at. Positions that look the same after a
turn have several ways into the frame; numbers carried back are averaged over them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray
from tengen.board.symmetry import N_SYMMETRIES, inverse, transform

Grid = NDArray[np.int8]
_SWAP = np.array([0, 2, 1], np.int8)


@dataclass(frozen=True)
class Frame:
    """A position in its standard frame and the turns (element, swapped) that lead there."""

    grid: Grid
    ways: tuple[tuple[int, bool], ...]

    def back(self, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """Carry an array over the points of the frame back to the position it was made of."""
        return np.ascontiguousarray(transform(values, inverse(self.ways[0][0])))

    def even_out(self, values: FloatArray) -> FloatArray:
        """Average an array over the turns that leave the frame's position as it is."""
        if len(self.ways) == 1:
            return values
        there = self.ways[0][0]
        turned = [
            transform(transform(values, inverse(e)), there).astype(np.float64) for e, _ in self.ways
        ]
        mean: FloatArray = np.mean(turned, axis=0)
        return mean

    @property
    def swapped(self) -> bool:
        """Tell whether Black and White change places in the frame."""
        return self.ways[0][1]


def standard_frame(grid: Grid) -> Frame:
    """Return the standard frame of a position.

    >>> a = np.array([[0, 1, 0], [0, 2, 0], [0, 0, 0]], np.int8)
    >>> b = np.array([[0, 0, 0], [2, 1, 0], [0, 0, 0]], np.int8)
    >>> bool((standard_frame(a).grid == standard_frame(b).grid).all())
    True
    """
    best: tuple[tuple[int, ...], bytes] | None = None
    ways: list[tuple[int, bool]] = []
    kept: Grid = grid
    for swapped in (False, True):
        coloured = _SWAP[grid] if swapped else grid
        for element in range(N_SYMMETRIES):
            turned = np.ascontiguousarray(transform(coloured, element)).astype(np.int8, copy=False)
            key = (turned.shape, turned.tobytes())
            if best is None or key < best:
                best, ways, kept = key, [], turned
            if key == best:
                ways.append((element, swapped))
    return Frame(kept, tuple(ways))
