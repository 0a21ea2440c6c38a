"""Make the fixed tables that the kernels of move prediction share; nothing here is learned."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import IntArray
from tengen.learners.move_prediction import pattern_kernels, patterns
from tengen.learners.move_prediction.family_kernels import MARKS

_MARK_SEED = 20131
"""The seed of the keys of marks: dictionaries depend on it, so it never changes."""


@lru_cache(maxsize=1)
def _mark_keys() -> IntArray:
    """Return the keys of marks: offset, mark, orientation."""
    base = patterns.random_keys(_MARK_SEED, 6)
    halves = [pattern_kernels.spread_keys(np.ascontiguousarray(base[:, k : k + 3])) for k in (0, 3)]
    return np.ascontiguousarray(np.concatenate(halves, axis=1)[:, :MARKS])


@dataclass(frozen=True)
class Tables:
    """The tables for one size of board, in the order in which kernels take them."""

    empty: IntArray
    hash_keys: IntArray
    ring_of: IntArray
    marks: IntArray

    @classmethod
    def of(cls, rows: int, cols: int) -> Tables:
        """Return the tables for boards of this size."""
        return cls(
            patterns.empty_rings(rows, cols), patterns.hash_keys(), patterns.ring_of(), _mark_keys()
        )


@dataclass(frozen=True)
class Dictionary:
    """The known patterns: `keys[k]` is feature number `first + k`."""

    keys: IntArray
    table: IntArray
    values: NDArray[np.int32]

    @classmethod
    def of(cls, keys: IntArray, first: int) -> Dictionary:
        """Build the hash table for distinct keys numbered from `first`."""
        size = 1 << max(4, int(np.ceil(np.log2(max(len(keys), 1) * 2.2))))
        table, values = np.zeros(size, np.int64), np.zeros(size, np.int32)
        numbers = np.arange(first, first + len(keys), dtype=np.int32)
        pattern_kernels.store_all(table, values, np.ascontiguousarray(keys), numbers)
        return cls(keys, table, values)
