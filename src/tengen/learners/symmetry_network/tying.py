"""Derive which weights of a kernel may be chosen freely when it must commute with the symmetries.

A kernel V sends the numbers of neighbouring cells to those of a cell: out(cell) = sum over offsets
of V(offset) in(cell + offset). It commutes with every generator g exactly when

    V(g offset) = rho_out(g)^-1 V(offset) rho_in(g)        for every offset,

a system of linear equations whose null space is the set of allowed kernels. No case is typed in:
`solve` finds the null space of each pair of irreducible types by exact elimination, and `Tying`
lays these side by side for whole cells. Nothing here knows what the numbers mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from tengen.arrays import FloatArray, IntArray
from tengen.learners.symmetry_network.representations import (
    SQUARE,
    Irreducible,
    Offset,
    Representation,
    move,
)

SPATIAL = ("r", "s")
WITH_COLOURS = ("r", "s", "x")


@dataclass(frozen=True)
class Tying:
    """A linear map from free numbers to all weights: dense[where] += sign * free[source].

    `shape` is that of the dense weights, (offsets, out, in) for kernels and (out,) for biases.
    """

    shape: tuple[int, ...]
    free: int
    where: IntArray
    source: IntArray
    sign: FloatArray

    def expand(self, free: FloatArray) -> FloatArray:
        """Return the dense weights that these free numbers stand for."""
        dense = np.zeros(int(np.prod(self.shape)))
        np.add.at(dense, self.where, self.sign * free[self.source])
        return dense.reshape(self.shape)

    def collect(self, gradient: FloatArray) -> FloatArray:
        """Return the gradient of the free numbers: the signed sum over their copies."""
        flat = np.asarray(gradient, dtype=np.float64).reshape(-1)
        out = np.zeros(self.free)
        np.add.at(out, self.source, self.sign * flat[self.where])
        return out

    @property
    def connections(self) -> int:
        """Return how many dense weights can differ from zero."""
        return len(np.unique(self.where))


def kernel_tying(
    out: Representation,
    source: Representation,
    offsets: tuple[Offset, ...] = SQUARE,
    generators: tuple[str, ...] = SPATIAL,
) -> Tying:
    """Return the tying of kernels from `source` numbers to `out` numbers over these offsets."""
    shape = (len(offsets), out.size, source.size)
    where: list[int] = []
    which: list[int] = []
    signs: list[float] = []
    free = 0
    for row, target in zip(out.starts, out.blocks, strict=False):
        for col, origin in zip(source.starts, source.blocks, strict=False):
            for pattern in solve(target, origin, offsets, generators):
                for k, i, j in zip(*np.nonzero(pattern), strict=True):
                    where.append(int(np.ravel_multi_index((k, row + i, col + j), shape)))
                    which.append(free)
                    signs.append(float(pattern[k, i, j]))
                free += 1
    return Tying(shape, free, np.array(where, np.int64), np.array(which, np.int64), np.array(signs))


def bias_tying(out: Representation, generators: tuple[str, ...] = SPATIAL) -> Tying:
    """Return the tying of biases: rho(g) B = B, which is a kernel from one trivial number."""
    kernel = kernel_tying(out, Representation.trivial(1), ((0, 0),), generators)
    return Tying((out.size,), kernel.free, kernel.where, kernel.source, kernel.sign)


def untied(shape: tuple[int, ...]) -> Tying:
    """Return the tying that ties nothing: a plain convolution, for comparison."""
    size = int(np.prod(shape))
    every = np.arange(size, dtype=np.int64)
    return Tying(shape, size, every, every, np.ones(size))


def solve(
    out: Irreducible,
    source: Irreducible,
    offsets: tuple[Offset, ...] = SQUARE,
    generators: tuple[str, ...] = SPATIAL,
) -> tuple[FloatArray, ...]:
    """Return a basis of the allowed kernels between two types, each (offsets, out, in).

    The basis comes from reduced row echelon form, so its entries are small and mostly zero.
    """
    key = tuple(
        (out.of(g).tobytes(), source.of(g).tobytes(), out.size, source.size) for g in generators
    )
    return _solve(key, offsets, generators)


@cache
def _solve(
    key: tuple[tuple[bytes, bytes, int, int], ...],
    offsets: tuple[Offset, ...],
    generators: tuple[str, ...],
) -> tuple[FloatArray, ...]:
    """Solve for matrices given as bytes, so that equal types share the work."""
    rows: list[list[int]] = []
    size_out, size_in = key[0][2], key[0][3]
    shape = (len(offsets), size_out, size_in)
    for generator, (out_bytes, in_bytes, _, _) in zip(generators, key, strict=True):
        rho_out = np.frombuffer(out_bytes, np.int64).reshape(size_out, size_out)
        rho_in = np.frombuffer(in_bytes, np.int64).reshape(size_in, size_in)
        for k, offset in enumerate(offsets):
            moved = offsets.index(move(generator, offset))
            # rho_out V(g offset) - V(offset) rho_in = 0, one equation per entry.
            for i in range(size_out):
                for j in range(size_in):
                    row = np.zeros(shape, np.int64)
                    row[moved, :, j] += rho_out[i, :]
                    row[k, i, :] -= rho_in[:, j]
                    rows.append(row.reshape(-1).tolist())
    return tuple(vector.reshape(shape) for vector in null_space(rows, int(np.prod(shape))))


def null_space(rows: list[list[int]], unknowns: int) -> list[FloatArray]:
    """Return a basis of the solutions of `rows @ x = 0`, by exact rational elimination.

    >>> null_space([[1, 1, 0]], 3)
    [array([ 1., -1.,  0.]), array([0., 0., 1.])]
    """
    # Eliminate from the last unknown backwards, so that early ones (the centre, east) stay free.
    matrix = [[Fraction(value) for value in row[::-1]] for row in rows]
    pivots: list[int] = []
    rank = 0
    for column in range(unknowns):
        pivot = next((r for r in range(rank, len(matrix)) if matrix[r][column] != 0), None)
        if pivot is None:
            continue
        matrix[rank], matrix[pivot] = matrix[pivot], matrix[rank]
        lead = matrix[rank][column]
        matrix[rank] = [value / lead for value in matrix[rank]]
        for r, row in enumerate(matrix):
            if r != rank and row[column] != 0:
                factor = row[column]
                matrix[r] = [
                    value - factor * own for value, own in zip(row, matrix[rank], strict=True)
                ]
        pivots.append(column)
        rank += 1
    basis = []
    for free in range(unknowns - 1, -1, -1):
        if free in pivots:
            continue
        vector = [Fraction(0)] * unknowns
        vector[free] = Fraction(1)
        for row_index, column in enumerate(pivots):
            vector[column] = -matrix[row_index][free]
        basis.append(np.array([float(v) for v in vector[::-1]]) + 0.0)
    return basis
