"""The symmetries of the square inside a cell, and the weights that they leave free.

A symmetry g acts on a field X of numbers per cell by (gX)(cell) = rho(g) X(g cell). The group has
two generators: r, a quarter turn that maps the offset [a, b] to [-b, a], and s, a mirror that maps
it to [-a, b]. How numbers transform is a representation rho. It splits into irreducible ones, of
which this group has five, with the names of the paper (Blair 2008):

    T trivial      r +, s +        S symmetrical  r -, s +        D diagonal  r -, s -
    C chiral       r +, s -        F faithful, a pair: r(F1, F2) = (-F2, F1), s(F1, F2) = (-F1, F2)

An optional third generator x exchanges the colours. It moves no cell and splits each type into an
even and an odd one.

A kernel V maps the numbers of neighbouring cells to those of a cell: out(cell) = sum over offsets
of V(offset) in(cell + offset). It commutes with every generator g exactly when

    V(g offset) = rho_out(g)^-1 V(offset) rho_in(g)        for every offset,

a system of linear equations whose null space is the set of allowed kernels. `solve` finds it by
exact elimination for each pair of irreducible types; `Tying` combines the solutions for a cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from tengen.arrays import FloatArray, IntArray

Offset = tuple[int, int]
"""A step [a, b] from a cell to another: a to the east, b to the north."""

_Matrix = tuple[tuple[int, ...], ...]
"""A small square matrix of integers."""


# How each generator moves an offset: 2x2 matrices on the column (a, b). `x` exchanges colours only.
_GENERATORS: dict[str, _Matrix] = {
    "r": ((0, -1), (1, 0)),
    "s": ((-1, 0), (0, 1)),
    "x": ((1, 0), (0, 1)),
}

# The eight elements as words in the generators, applied from left to right.
ELEMENTS: tuple[str, ...] = ("", "r", "rr", "rrr", "s", "sr", "srr", "srrr")

# The cell itself, its four sides, its four diagonals: the paper's M is the first five.
SIDES: tuple[Offset, ...] = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1))
SQUARE: tuple[Offset, ...] = (*SIDES, (1, 1), (-1, 1), (-1, -1), (1, -1))


@dataclass(frozen=True)
class Irreducible:
    """How one number, or a pair of numbers, transforms under the generators."""

    name: str
    matrices: Mapping[str, _Matrix]

    @property
    def size(self) -> int:
        """Return how many numbers transform together."""
        return len(self.matrices["r"])

    def of(self, generator: str) -> IntArray:
        """Return the matrix of a generator; by default exchanging colours changes nothing."""
        if generator not in self.matrices:
            return np.eye(self.size, dtype=np.int64)
        return np.array(self.matrices[generator], dtype=np.int64)


T = Irreducible("T", {"r": ((1,),), "s": ((1,),)})
S = Irreducible("S", {"r": ((-1,),), "s": ((1,),)})
D = Irreducible("D", {"r": ((-1,),), "s": ((-1,),)})
C = Irreducible("C", {"r": ((1,),), "s": ((-1,),)})
F = Irreducible("F", {"r": ((0, -1), (1, 0)), "s": ((-1, 0), (0, 1))})
TYPES: dict[str, Irreducible] = {kind.name: kind for kind in (T, S, D, C, F)}


def odd(kind: Irreducible) -> Irreducible:
    """Return the type whose numbers change sign when the colours are exchanged."""
    minus = tuple(tuple(int(v) for v in row) for row in -np.eye(kind.size, dtype=np.int64))
    return Irreducible(f"{kind.name}-", {**kind.matrices, "x": minus})


def swapped_pair(sign: int = 1, name: str = "P") -> Irreducible:
    """Return two numbers that swap when the colours are exchanged and are otherwise fixed."""
    one = ((1, 0), (0, 1))
    return Irreducible(name, {"r": one, "s": one, "x": ((0, sign), (sign, 0))})


@dataclass(frozen=True)
class Representation:
    """How all numbers of a cell transform: a direct sum of irreducible types."""

    blocks: tuple[Irreducible, ...]

    @classmethod
    def mixture(cls, **counts: int) -> Representation:
        """Return the given number of each type, in the order T, S, D, C, F.

        >>> Representation.mixture(T=4, S=2, D=2, F=2).size
        12
        """
        return cls(tuple(TYPES[name] for name in TYPES for _ in range(counts.get(name, 0))))

    @classmethod
    def trivial(cls, size: int) -> Representation:
        """Return `size` invariant numbers, such as the colours of stones."""
        return cls((T,) * size)

    @property
    def size(self) -> int:
        """Return the number of components."""
        return sum(block.size for block in self.blocks)

    @property
    def starts(self) -> list[int]:
        """Return the index of the first component of each block."""
        return [0, *np.cumsum([block.size for block in self.blocks]).tolist()]

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of blocks by name."""
        names = [block.name for block in self.blocks]
        return {name: names.count(name) for name in dict.fromkeys(names)}

    def matrix(self, generator: str) -> IntArray:
        """Return the matrix of a generator on a whole cell."""
        out = np.zeros((self.size, self.size), dtype=np.int64)
        for start, block in zip(self.starts, self.blocks, strict=False):
            out[start : start + block.size, start : start + block.size] = block.of(generator)
        return out


def move(generator: str, offset: Offset) -> Offset:
    """Return the image of an offset (or of a cell relative to the centre)."""
    (a, b), (c, d) = _GENERATORS[generator]
    return a * offset[0] + b * offset[1], c * offset[0] + d * offset[1]


def transform(field: FloatArray, word: str, representation: Representation) -> FloatArray:
    """Apply a word of generators to a field of shape (size, size, components).

    (gX)(cell) = rho(g) X(g cell), one generator after the other.
    """
    for generator in word:
        if generator == "r":
            # X(r[a, b]) = X([-b, a]).
            field = np.rot90(field, k=-1, axes=(0, 1))
        elif generator == "s":
            field = field[:, ::-1]
        field = field @ representation.matrix(generator).T
    return np.ascontiguousarray(field)


def permuted(image: Sequence[Sequence[int]], word: str) -> IntArray:
    """Apply a word of generators to a board of invariant symbols."""
    out = np.asarray(image, dtype=np.int64)
    for generator in word:
        out = np.rot90(out, k=-1) if generator == "r" else out[:, ::-1]
    return np.ascontiguousarray(out)


# ----- Weights that commute with the symmetries -----

SPATIAL = ("r", "s")
WITH_COLOURS = ("r", "s", "x")


@dataclass(frozen=True)
class Tying:
    """A linear map from free parameters to weights: dense[where] += sign * free[source].

    `shape` is (offsets, out, in) for kernels and (out,) for biases.
    """

    shape: tuple[int, ...]
    free: int
    where: IntArray
    source: IntArray
    sign: FloatArray

    def expand(self, free: FloatArray) -> FloatArray:
        """Return the dense weights of these free parameters."""
        dense = np.zeros(int(np.prod(self.shape)))
        np.add.at(dense, self.where, self.sign * free[self.source])
        return dense.reshape(self.shape)

    def collect(self, gradient: FloatArray) -> FloatArray:
        """Return the gradient of the free parameters: the signed sum over their copies."""
        flat = np.asarray(gradient, dtype=np.float64).reshape(-1)
        out = np.zeros(self.free)
        np.add.at(out, self.source, self.sign * flat[self.where])
        return out

    @property
    def connections(self) -> int:
        """Return the number of dense weights that can differ from zero."""
        return len(np.unique(self.where))


def kernel_tying(
    out: Representation,
    source: Representation,
    offsets: tuple[Offset, ...] = SQUARE,
    generators: tuple[str, ...] = SPATIAL,
) -> Tying:
    """Return the tying of kernels from `source` to `out` over these offsets."""
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
    """Return the tying of biases: rho(g) B = B, a kernel from one trivial number."""
    kernel = kernel_tying(out, Representation.trivial(1), ((0, 0),), generators)
    return Tying((out.size,), kernel.free, kernel.where, kernel.source, kernel.sign)


def untied(shape: tuple[int, ...]) -> Tying:
    """Return the tying of a plain convolution, for comparison: every weight is free."""
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

    The basis comes from the reduced row echelon form, so most of its entries are zero.
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
    """Solve for matrices given as bytes, so that equal types share a cached result."""
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
    # Eliminate backwards from the last unknown, so that early ones (centre, east) stay free.
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
