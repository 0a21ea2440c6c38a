"""Hold the symmetry group of the board and the ways numbers inside a cell turn with it; know no Go.

A cell is [a, b], a counted to the east and b to the north. The group of the square has two
generators, r[a, b] = [-b, a] (a quarter turn) and s[a, b] = [-a, b] (the mirror), and eight
elements. It acts on a field of numbers over the cells by moving cells and by mixing the numbers
inside each:
(gX)(cell) = rho(g) X(g cell). `rho` is a representation; it splits into irreducible ones, of which
this group has five, named by the paper (Blair 2008):

    T trivial      r +, s +        S symmetrical  r -, s +        D diagonal  r -, s -
    C chiral       r +, s -        F faithful, a pair: r(F1, F2) = (-F2, F1), s(F1, F2) = (-F1, F2)

A third generator x, exchanging the colours, moves no cell and may be added (`colour`): it splits
each type in an even and an odd one. All constraints need only the generators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
    """One way in which one number (or a pair of them) turns under the generators."""

    name: str
    matrices: Mapping[str, _Matrix]

    @property
    def size(self) -> int:
        """Return how many numbers turn together."""
        return len(self.matrices["r"])

    def of(self, generator: str) -> IntArray:
        """Return the matrix of a generator; colours are left alone unless said otherwise."""
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
    """Return two numbers that the mirror and the turn leave alone and the colours exchange."""
    one = ((1, 0), (0, 1))
    return Irreducible(name, {"r": one, "s": one, "x": ((0, sign), (sign, 0))})


@dataclass(frozen=True)
class Representation:
    """How all numbers of a cell turn: a sum of irreducible types, side by side."""

    blocks: tuple[Irreducible, ...]

    @classmethod
    def mixture(cls, **counts: int) -> Representation:
        """Return so many of each named type, in the order T, S, D, C, F.

        >>> Representation.mixture(T=4, S=2, D=2, F=2).size
        12
        """
        return cls(tuple(TYPES[name] for name in TYPES for _ in range(counts.get(name, 0))))

    @classmethod
    def trivial(cls, size: int) -> Representation:
        """Return `size` numbers that do not turn, such as the colours of stones."""
        return cls((T,) * size)

    @property
    def size(self) -> int:
        """Return how many numbers a cell has."""
        return sum(block.size for block in self.blocks)

    @property
    def starts(self) -> list[int]:
        """Return the place of each block among the numbers."""
        return [0, *np.cumsum([block.size for block in self.blocks]).tolist()]

    @property
    def counts(self) -> dict[str, int]:
        """Return how many blocks there are of each name."""
        names = [block.name for block in self.blocks]
        return {name: names.count(name) for name in dict.fromkeys(names)}

    def matrix(self, generator: str) -> IntArray:
        """Return the matrix of a generator on all numbers of a cell."""
        out = np.zeros((self.size, self.size), dtype=np.int64)
        for start, block in zip(self.starts, self.blocks, strict=False):
            out[start : start + block.size, start : start + block.size] = block.of(generator)
        return out


def move(generator: str, offset: Offset) -> Offset:
    """Return where a generator moves an offset (or a cell counted from the centre)."""
    (a, b), (c, d) = _GENERATORS[generator]
    return a * offset[0] + b * offset[1], c * offset[0] + d * offset[1]


def transform(field: FloatArray, word: str, representation: Representation) -> FloatArray:
    """Apply a word of generators to a field of shape (rows, columns, numbers): a square board.

    (gX)(cell) = rho(g) X(g cell), one generator after the other.
    """
    for generator in word:
        if generator == "r":
            # X(r[a, b]) = X([-b, a]): what lay a quarter turn further comes here.
            field = np.rot90(field, k=-1, axes=(0, 1))
        elif generator == "s":
            field = field[:, ::-1]
        field = field @ representation.matrix(generator).T
    return np.ascontiguousarray(field)


def permuted(image: Sequence[Sequence[int]], word: str) -> IntArray:
    """Apply a word to a board of plain symbols, which turn but do not change."""
    out = np.asarray(image, dtype=np.int64)
    for generator in word:
        out = np.rot90(out, k=-1) if generator == "r" else out[:, ::-1]
    return np.ascontiguousarray(out)
