"""Offer hashed patterns of stones to learners; know nothing of what is learned from them.

A pattern is what stands on a template around a point: own stones, enemy stones, empty points, the
edge. Patterns that differ only by rotation, reflection, or by swapping colours together with the
side to move share one 64-bit hash. The kernels are in `pattern_kernels`; here are their tables,
made once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from tengen.arrays import IntArray
from tengen.learners.move_prediction import pattern_kernels as kernels
from tengen.learners.move_prediction.pattern_kernels import RING_LIMITS, RINGS, SPAN

if TYPE_CHECKING:
    from tengen.board import Board


_KEY_SEED = 20070401
"""The seed of the key table: hashes in model files depend on it, so it never changes."""


def random_keys(seed: int, kinds: int) -> IntArray:
    """Return random words of 64 bits, one per offset and kind of point."""
    generator = np.random.Generator(np.random.PCG64(seed))
    high, size = np.iinfo(np.int64).max, (SPAN * SPAN, kinds)
    return generator.integers(-high - 1, high, size=size, dtype=np.int64, endpoint=True)


@lru_cache(maxsize=1)
def base_keys() -> IntArray:
    """Return the random keys, one per offset and (own, enemy, border), before orientations."""
    return random_keys(_KEY_SEED, 3)


@lru_cache(maxsize=1)
def hash_keys() -> IntArray:
    """Return the key table of the kernels: offset, (own, enemy, border), orientation."""
    keys: IntArray = kernels.spread_keys(base_keys())
    return keys


@lru_cache(maxsize=1)
def ring_of() -> IntArray:
    """Return the ring of every offset."""
    rings: IntArray = kernels.ring_table(np.array(RING_LIMITS, np.int64))
    return rings


@lru_cache(maxsize=16)
def empty_rings(rows: int, cols: int) -> IntArray:
    """Return the rings of an empty board; callers copy it and do not write to it."""
    rings: IntArray = kernels.empty_rings(rows, cols, hash_keys(), ring_of())
    rings.flags.writeable = False
    return rings


def template_size(ring: int) -> int:
    """Count the points of a template, its centre included.

    >>> [template_size(ring) for ring in range(7)]
    [5, 9, 13, 21, 29, 37, 49]
    """
    return int(np.count_nonzero((ring_of() >= 0) & (ring_of() <= ring))) + 1


class PatternHasher:
    """Follow one game and know the hash of every pattern on its board.

    It keeps the hashes incrementally; `hashes` is cheap at any time. It trusts its caller to play
    legal moves.
    """

    def __init__(self, rows: int = 19, cols: int | None = None) -> None:
        from tengen.board.kernels import new_state

        cols = rows if cols is None else cols
        self.rows, self.cols = rows, cols
        self.state: IntArray = new_state(rows, cols)
        self.rings: IntArray = empty_rings(rows, cols).copy()
        self._before = np.zeros(self.state.shape[1], np.int64)

    @classmethod
    def of(cls, board: Board) -> PatternHasher:
        """Start from the position on `board`, which is left alone."""
        hasher = cls(board.rows, board.cols)
        hasher.state = np.array(board.state, dtype=np.int64)
        empty = empty_rings(board.rows, board.cols)
        kernels.rings_of_state(hasher.state, hasher.rings, empty, hash_keys(), ring_of())
        return hasher

    def play(self, point: int, colour: int) -> int:
        """Play a legal move or a pass; return the stones captured."""
        return int(
            kernels.play_with_rings(
                self.state, self.rings, hash_keys(), ring_of(), self._before, point, colour
            )
        )

    def hashes(self, row: int, col: int, mover: int) -> IntArray:
        """Return the canonical hashes at a point for the side `mover`, one per ring (template)."""
        out = np.zeros(RINGS, np.int64)
        kernels.pattern_hashes(self.rings, mover, row * self.cols + col, out)
        return out
