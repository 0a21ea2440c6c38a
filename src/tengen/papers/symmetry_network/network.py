"""Definition of the internal symmetry network (Blair 2008): symmetries, weights, outputs.

A symmetry g acts on a field X of numbers per cell by (gX)(cell) = rho(g) X(g cell). The group has
two generators: r, a quarter turn that maps the offset [a, b] to [-b, a], and s, a mirror that maps
it to [-a, b]. How numbers transform is a representation rho. It splits into irreducible ones, of
which this group has five, with the names of the paper:

    T trivial      r +, s +        S symmetrical  r -, s +        D diagonal  r -, s -
    C chiral       r +, s -        F faithful, a pair: r(F1, F2) = (-F2, F1), s(F1, F2) = (-F1, F2)

An optional third generator x exchanges the colours. It moves no cell and splits each type into an
even and an odd one.

A kernel V maps the numbers of neighbouring cells to those of a cell: out(cell) = sum over offsets
of V(offset) in(cell + offset). It commutes with every generator g exactly when

    V(g offset) = rho_out(g)^-1 V(offset) rho_in(g)        for every offset.

This module uses float64 NumPy and is easy to check; `kernels` is the fast implementation.

    H = tanh(B_H + V_HI I)                    hidden units, from the inputs of 3x3 neighbours
    O = sigmoid(B_O + V_OI I + V_OH H)        outputs, from the inputs and hidden units of the same

Hidden units off the board are zero. tanh is odd, so signs pass through it. A recurrent network adds
V_HH H' over the four sides and the cell itself, where H' are the hidden units of the previous
position, at first zero.

Inputs are one-hot: 0 to 5 a white stone whose block has category C1 to C6, 6 to 11 a black one, 12
an empty point, 13 off the board. In the paper a block's category comes from the outputs of the
position one move earlier, summed over the block's liberties: `eyes` = sum of the probabilities of
an own eye, `openings` = sum of the probabilities of own territory minus `eyes`.

    eyes < e1:        C1 openings < o1    C2 o1 <= openings < o2    C3 openings >= o2
    e1 <= eyes < e2:  C4 openings < o1    C5 openings >= o1
    eyes >= e2:       C6

The paper's table of thresholds is lost; (e1, e2, o1, o2) = (0.5, 1.5, 0.5, 1.5) rounds to whole
eyes. Alternatively a category is the number of liberties, 1 to 6 or more.

A vertex is empty, white or black (its state) and ends in one of five classes: white's empty point,
white stone, neutral point (the paper's "atari"), black stone, black's point. Values are White's;
`c` is the reward per captured enemy stone and `s` per own stone left at the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray, IntArray

Offset = tuple[int, int]  # a step [a, b] between cells: a to the east, b to the north
_Matrix = tuple[tuple[int, ...], ...]

# How each generator moves an offset: 2x2 matrices on the column (a, b). `x` exchanges colours only.
_GENERATORS: dict[str, _Matrix] = {
    "r": ((0, -1), (1, 0)),
    "s": ((-1, 0), (0, 1)),
    "x": ((1, 0), (0, 1)),
}
_SPATIAL, _WITH_COLOURS = "rs", "rsx"

# The eight elements as words in the generators, applied from left to right.
ELEMENTS: tuple[str, ...] = ("", "r", "rr", "rrr", "s", "sr", "srr", "srrr")

# The cell itself, its four sides, its four diagonals: the paper's M is the first five.
SIDES: tuple[Offset, ...] = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1))
SQUARE: tuple[Offset, ...] = (*SIDES, (1, 1), (-1, 1), (-1, -1), (1, -1))

INPUTS = 14
CATEGORIES = 6
EMPTY_POINT, OFF_BOARD = 12, 13
BY_EYES, BY_LIBERTIES = 0, 1

OUTPUTS = (
    "territory",  # Z+: an empty point becomes White's
    "white_lives",  # Zo: a white stone lives
    "black_dies",  # Zb: a black stone is captured
    "white_eye",  # Aw: an empty point becomes White's eye
    "black_eye",  # Ab: an empty point becomes Black's eye
    "black_eye_by_capture",  # Ao: a white stone dies and leaves Black an eye
    "white_eye_by_capture",  # Abk: a black stone dies and leaves White an eye
)

# Output biases before training: few eyes, stones mostly live. If stones lived with probability 0.5,
# they would have negative value for their owner, and an untrained network would only pass.
INITIAL_BIASES = (0.0, 1.0, -1.0, -2.0, -2.0, -2.0, -2.0)

PAPER_MIXTURE = {"T": 4, "S": 2, "D": 2, "F": 2}

CLASSES = ("white_point", "white_stone", "nobody", "black_stone", "black_point")


# ----- Symmetries of a cell -----


@dataclass(frozen=True)
class Irreducible:
    """How one number, or a pair of numbers, transforms under the generators; named uniquely."""

    name: str
    matrices: Mapping[str, _Matrix] = field(compare=False)

    @property
    def size(self) -> int:
        """Number of components."""
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
    minus = ((-1,),) if kind.size == 1 else ((-1, 0), (0, -1))
    return Irreducible(f"{kind.name}-", {**kind.matrices, "x": minus})


def swapped_pair(sign: int = 1) -> Irreducible:
    """Return two numbers that swap when the colours are exchanged and are otherwise fixed."""
    one = ((1, 0), (0, 1))
    return Irreducible(f"P{sign:+d}", {"r": one, "s": one, "x": ((0, sign), (sign, 0))})


@dataclass(frozen=True)
class Representation:
    """How all numbers of a cell transform: a direct sum of irreducible types."""

    blocks: tuple[Irreducible, ...]

    @classmethod
    def mixture(cls, **counts: int) -> Representation:
        """Return the given number of each type, in the order T, S, D, C, F."""
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
        return dict(Counter(block.name for block in self.blocks))

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
    """Apply a word of generators to a field of shape (size, size, components), one by one."""
    for generator in word:
        if generator == "r":  # X(r[a, b]) = X([-b, a])
            field = np.rot90(field, k=-1, axes=(0, 1))
        elif generator == "s":
            field = field[:, ::-1]
        field = field @ representation.matrix(generator).T
    return np.ascontiguousarray(field)


# ----- Weights that commute with the symmetries -----


@cache
def solve(
    out: Irreducible,
    source: Irreducible,
    offsets: tuple[Offset, ...] = SQUARE,
    generators: str = _SPATIAL,
) -> tuple[FloatArray, ...]:
    """Return a basis of the allowed kernels between two types, each (offsets, out, in).

    Every matrix has one entry, 1 or -1, per row and column, so the constraint makes some weights
    equal or opposite: a kernel is such a set, unless a weight would be its own opposite.
    """
    shape = (len(offsets), out.size, source.size)
    basis: list[FloatArray] = []
    seen = np.zeros(shape)
    for first in np.ndindex(shape):
        if seen[first]:
            continue
        pattern, todo, possible = np.zeros(shape), [first], True
        pattern[first] = 1
        while todo:
            k, i, j = todo.pop()
            for generator in generators:
                row, col = out.of(generator)[i], source.of(generator)[j]
                moved = offsets.index(move(generator, offsets[k]))
                twin = moved, int(np.flatnonzero(row)[0]), int(np.flatnonzero(col)[0])
                value = pattern[k, i, j] * row.sum() * col.sum()
                if pattern[twin] == 0:
                    pattern[twin] = value
                    todo.append(twin)
                possible = possible and pattern[twin] == value
        seen += np.abs(pattern)
        if possible:
            basis.append(pattern)
    return tuple(basis)


@dataclass(frozen=True)
class Tying:
    """A linear map from free parameters to weights: dense[where] += sign * free[source]."""

    shape: tuple[int, ...]  # (offsets, out, in) of a kernel, (out,) of biases
    free: int
    where: IntArray
    source: IntArray
    sign: FloatArray

    def expand(self, free: FloatArray) -> FloatArray:
        """Return the dense weights of these free parameters."""
        values, size = self.sign * free[self.source], int(np.prod(self.shape))
        return np.bincount(self.where, values, size).astype(np.float64).reshape(self.shape)

    def collect(self, gradient: FloatArray) -> FloatArray:
        """Return the gradient of the free parameters: the signed sum over their copies."""
        values = self.sign * gradient.reshape(-1).astype(np.float64)[self.where]
        return np.bincount(self.source, values, self.free).astype(np.float64)

    @property
    def connections(self) -> int:
        """Return the number of dense weights that can differ from zero."""
        return len(np.unique(self.where))


def kernel_tying(
    out: Representation,
    source: Representation,
    offsets: tuple[Offset, ...] = SQUARE,
    generators: str = _SPATIAL,
) -> Tying:
    """Return the tying of kernels from `source` to `out` over these offsets."""
    shape = (len(offsets), out.size, source.size)
    copies: list[tuple[int, int, float]] = []
    free = 0
    for row, target in zip(out.starts, out.blocks, strict=False):
        for col, origin in zip(source.starts, source.blocks, strict=False):
            for pattern in solve(target, origin, offsets, generators):
                for k, i, j in zip(*np.nonzero(pattern), strict=True):
                    place = int(np.ravel_multi_index((k, row + i, col + j), shape))
                    copies.append((place, free, float(pattern[k, i, j])))
                free += 1
    where, which, signs = np.array(copies).reshape(-1, 3).T
    return Tying(shape, free, where.astype(np.int64), which.astype(np.int64), signs)


def bias_tying(out: Representation, generators: str = _SPATIAL) -> Tying:
    """Return the tying of biases: rho(g) B = B, a kernel from one trivial number."""
    kernel = kernel_tying(out, Representation.trivial(1), ((0, 0),), generators)
    return Tying((out.size,), kernel.free, kernel.where, kernel.source, kernel.sign)


def untied(shape: tuple[int, ...]) -> Tying:
    """Return the tying of a plain convolution, for comparison: every weight is free."""
    size = int(np.prod(shape))
    every = np.arange(size, dtype=np.int64)
    return Tying(shape, size, every, every, np.ones(size))


# ----- The cell -----


@dataclass(frozen=True)
class Architecture:
    """What a cell consists of; the default is the paper's network of 714 weights."""

    mixture: dict[str, int] = field(default_factory=lambda: dict(PAPER_MIXTURE))
    colour: bool = False  # whether White's weights are tied to Black's as well
    tied: bool = True  # False gives a plain convolution of the same size
    recurrent: bool = False  # whether hidden units see those of the previous position

    @cached_property
    def cell(self) -> Representation:
        """How the hidden units transform; with colours, every second one is odd."""
        plain = Representation.mixture(**self.mixture)
        if not self.colour:
            return plain
        blocks: list[Irreducible] = []
        for block in plain.blocks:
            before = sum(b.name.rstrip("-") == block.name for b in blocks)
            blocks.append(odd(block) if before % 2 else block)
        return Representation(tuple(blocks))

    @property
    def hidden(self) -> int:
        """Number of hidden units of a cell."""
        return self.cell.size

    @cached_property
    def parts(self) -> dict[str, Tying]:
        """The tying of every kernel, then of every bias, in the order of the free vector."""
        inputs, outputs = Representation.trivial(INPUTS), Representation.trivial(len(OUTPUTS))
        if self.colour:
            # White and black inputs are exchanged; their pairs are not adjacent, see `_of_inputs`.
            inputs = Representation((swapped_pair(),) * CATEGORIES + (T, T))
            # Of the outputs Z+ is odd, Zo becomes -Zb.
            outputs = Representation((odd(T), swapped_pair(-1), swapped_pair(), swapped_pair()))
        past = {"HH": self._kernel(self.cell, self.cell, SIDES)} if self.recurrent else {}
        return {
            "OI": self._of_inputs(self._kernel(outputs, inputs)),
            "HI": self._of_inputs(self._kernel(self.cell, inputs)),
            "OH": self._kernel(outputs, self.cell),
            **past,
            "BH": self._bias(self.cell),
            "BO": self._bias(outputs),
        }

    @property
    def slices(self) -> dict[str, slice]:
        """The position of each part in the free vector."""
        ends = accumulate(tying.free for tying in self.parts.values())
        sizes = zip(self.parts.items(), ends, strict=True)
        return {name: slice(end - tying.free, end) for (name, tying), end in sizes}

    @property
    def weights(self) -> int:
        """Number of free parameters without biases."""
        return sum(t.free for name, t in self.parts.items() if not name.startswith("B"))

    @property
    def size(self) -> int:
        """Length of the free vector."""
        return sum(t.free for t in self.parts.values())

    @property
    def connections(self) -> int:
        """Number of weights of a cell that can differ from zero."""
        return sum(t.connections for name, t in self.parts.items() if not name.startswith("B"))

    def expand(self, free: FloatArray) -> dict[str, FloatArray]:
        """Return the dense weights of every part."""
        return {name: self.parts[name].expand(free[at]) for name, at in self.slices.items()}

    def initial(self, seed: int, scale: float = 0.3) -> FloatArray:
        """Draw random weights to the hidden units; outputs depend only on their biases at first."""
        rng = np.random.default_rng(seed)
        free = np.zeros(self.size)
        at = self.slices["HI"]
        free[at] = rng.uniform(-scale, scale, at.stop - at.start)
        at, tying = self.slices["BO"], self.parts["BO"]
        numbers = np.zeros(tying.free)
        np.add.at(numbers, tying.source, tying.sign**2)
        free[at] = tying.collect(np.array(INITIAL_BIASES)) / np.maximum(numbers, 1)
        return free

    def _kernel(
        self, out: Representation, source: Representation, offsets: tuple[Offset, ...] = SQUARE
    ) -> Tying:
        if not self.tied:
            return untied((len(offsets), out.size, source.size))
        return kernel_tying(out, source, offsets, self._generators)

    def _bias(self, out: Representation) -> Tying:
        return bias_tying(out, self._generators) if self.tied else untied((out.size,))

    @property
    def _generators(self) -> str:
        return _WITH_COLOURS if self.colour else _SPATIAL

    def _of_inputs(self, tying: Tying) -> Tying:
        """Return a kernel's tying with the pairs of inputs moved to their actual numbers."""
        if not (self.colour and self.tied):
            return tying
        pairs = [i for k in range(CATEGORIES) for i in (k, CATEGORIES + k)]
        order = np.array([*pairs, EMPTY_POINT, OFF_BOARD])
        k, i, j = np.unravel_index(tying.where, tying.shape)
        where = np.ravel_multi_index((k, i, order[j]), tying.shape)
        return Tying(tying.shape, tying.free, where.astype(np.int64), tying.source, tying.sign)


# ----- Evaluation -----


def forward(
    architecture: Architecture,
    free: FloatArray,
    symbols: NDArray[np.integer],
    past: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the outputs (rows, columns, 7) and hidden units for a board of input numbers.

    `past` are the hidden units of the previous position, for recurrent networks.
    """
    dense = architecture.expand(free)
    inputs = np.eye(INPUTS)[np.pad(symbols, 1, constant_values=OFF_BOARD)]
    net = _convolve(dense["HI"], inputs) + dense["BH"]
    if past is not None:
        net += _convolve(dense["HH"], np.pad(past, ((1, 1), (1, 1), (0, 0))))
    hidden = np.tanh(net)
    framed = np.pad(hidden, ((1, 1), (1, 1), (0, 0)))
    net = _convolve(dense["OI"], inputs) + dense["BO"] + _convolve(dense["OH"], framed)
    return 1 / (1 + np.exp(-net)), hidden


def equivariance_error(
    architecture: Architecture, free: FloatArray, *, size: int = 9, seed: int = 0
) -> float:
    """Return the largest difference between transforming a random board and its outputs."""
    rng = np.random.default_rng(seed)
    symbols = rng.integers(0, OFF_BOARD, (size, size))
    outputs, hidden = forward(architecture, free, symbols)
    past = hidden if architecture.recurrent else None
    outputs, hidden = forward(architecture, free, symbols, past)
    trivial = Representation.trivial(outputs.shape[-1])
    worst = 0.0
    for word in ELEMENTS:
        board = transform(symbols[..., None].astype(float), word, Representation.trivial(1))
        turned_past = None if past is None else transform(past, word, architecture.cell)
        turned_board = board[..., 0].astype(np.int64)
        turned, turned_hidden = forward(architecture, free, turned_board, turned_past)
        for found, expected in (
            (turned, transform(outputs, word, trivial)),
            (turned_hidden, transform(hidden, word, architecture.cell)),
        ):
            worst = max(worst, float(np.abs(found - expected).max()))
    return worst


def _convolve(kernel: FloatArray, framed: FloatArray) -> FloatArray:
    """Return the sum over offsets of kernel[offset] @ field(cell + offset) for every cell.

    A kernel of five offsets is over `SIDES`, with which `SQUARE` begins.
    """
    rows, cols = framed.shape[0] - 2, framed.shape[1] - 2
    out = np.zeros((rows, cols, kernel.shape[1]))
    for k, (a, b) in enumerate(SQUARE[: len(kernel)]):
        out += framed[1 - b : 1 - b + rows, 1 + a : 1 + a + cols] @ kernel[k].T
    return out


# ----- Values and targets -----


def targets(c: Fraction) -> list[list[Fraction]]:
    """Return table IV: the targets of the seven outputs for the five final classes.

    Entries that the paper leaves blank are chosen so that rewards are linear in the outputs.
    """
    two = 2 + c
    rows = (
        (1, 1, Fraction(1, 2), 0, 0),
        (1, 1, 1 / two, 0, 0),
        (1, 1, (1 + c) / two, 0, 0),
        (1, 0, 0, 0, 0),
        (0, 0, 0, 0, 1),
        (0, 0, c / two, 0, 1),
        (1, 0, c / two, 0, 0),
    )
    return [[Fraction(value) for value in row] for row in rows]


def target_table(c: float) -> FloatArray:
    """Return table IV as an array (7 outputs, 5 classes)."""
    return np.array(targets(Fraction(c).limit_denominator(10**6)), np.float64)


def value_table(c: float, s: float) -> FloatArray:
    """Return a vertex's value, linear in its outputs: (empty, black, white) x 9.

    Value = (1 - s) R0 + s R1, where R0 and R1 are the rewards for s = 0 and s = 1. Columns: the
    seven outputs, a zero, the constant.
    """
    out = np.zeros((3, 9))
    out[0, [0, 3, 4, 8]] = 2 * s, 1 - s, -(1 - s), -s
    out[1, [2, 6, 8]] = s * (2 + c) + (1 - s) * c, 1 - s, -s
    out[2, [1, 5, 8]] = s * (2 + c) + (1 - s) * c, -(1 - s), -s * (1 + c) - (1 - s) * c
    return out


def area_table() -> FloatArray:
    """Return a vertex's value in area as `value_table` does: 2 Z - 1 in every state."""
    out = np.zeros((3, 9))
    for state, z in enumerate((0, 2, 1)):
        out[state, z], out[state, 8] = 2, -1
    return out
