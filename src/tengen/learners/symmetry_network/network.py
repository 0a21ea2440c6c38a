"""The internal symmetry network (Blair 2008) by its definition: inputs, outputs, targets, gradient.

Everything is float64 NumPy and easy to check; `kernels` and `game_kernels` compute the same fast.

    H = tanh(B_H + V_HI I)                    hidden units, from the inputs of 3x3 neighbours
    O = sigmoid(B_O + V_OI I + V_OH H)        outputs, from the inputs and hidden units of the same

Hidden units off the board are zero. tanh is odd, so signs pass through it; that is why the hidden
units cannot be rectified.

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
white stone, nobody's point (the paper's "atari"), black stone, black's point. Values are White's;
`c` is the reward per captured enemy stone and `s` per own stone left at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray
from tengen.learners.symmetry_network.tying import (
    ELEMENTS,
    SPATIAL,
    SQUARE,
    WITH_COLOURS,
    Irreducible,
    Representation,
    T,
    Tying,
    bias_tying,
    kernel_tying,
    odd,
    permuted,
    swapped_pair,
    transform,
    untied,
)

INPUTS = 14
CATEGORIES = 6
EMPTY_POINT, OFF_BOARD = 12, 13
BY_EYES, BY_LIBERTIES = 0, 1

OUTPUTS = (
    "territory",  # Z+: an empty point becomes White's
    "white_lives",  # Zo: a white stone avoids capture
    "black_dies",  # Zb: White captures a black stone
    "white_eye",  # Aw: an empty point becomes White's eye
    "black_eye",  # Ab: an empty point becomes Black's eye
    "black_eye_by_capture",  # Ao: a white stone is captured and leaves Black an eye
    "white_eye_by_capture",  # Abk: a black stone is captured and leaves White an eye
)

# Output biases before training: few eyes, stones mostly live. With 0.5 for a stone's life an own
# stone would be worth less than nothing to its owner, and an untrained network would only pass.
INITIAL_BIASES = (0.0, 1.0, -1.0, -2.0, -2.0, -2.0, -2.0)

PAPER_MIXTURE = {"T": 4, "S": 2, "D": 2, "F": 2}

CLASSES = ("white_point", "white_stone", "nobody", "black_stone", "black_point")

_Number = Fraction | int


# ----- The cell -----


@dataclass(frozen=True)
class Architecture:
    """What a cell consists of; the default is the paper's network of 714 weights."""

    mixture: dict[str, int] = field(default_factory=lambda: dict(PAPER_MIXTURE))
    """Number of hidden units per type."""
    colour: bool = False
    """Whether White's weights are tied to Black's as well."""
    tied: bool = True
    """False gives a plain convolution of the same size."""

    @cached_property
    def cell(self) -> Representation:
        """Return how the hidden units transform; with colours, every second one is odd."""
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
        """Return the number of hidden units of a cell."""
        return self.cell.size

    @cached_property
    def parts(self) -> dict[str, Tying]:
        """Return the tying of every kernel, then of every bias, in the order of the free vector."""
        inputs, outputs = self._inputs(), self._outputs()
        return {
            "OI": self._of_inputs(self._kernel(outputs, inputs)),
            "HI": self._of_inputs(self._kernel(self.cell, inputs)),
            "OH": self._kernel(outputs, self.cell),
            "BH": self._bias(self.cell),
            "BO": self._bias(outputs),
        }

    @property
    def slices(self) -> dict[str, slice]:
        """Return the position of each part in the free vector."""
        out, start = {}, 0
        for name, tying in self.parts.items():
            out[name] = slice(start, start + tying.free)
            start += tying.free
        return out

    @property
    def weights(self) -> int:
        """Return the number of free parameters without biases."""
        return sum(t.free for name, t in self.parts.items() if not name.startswith("B"))

    @property
    def biases(self) -> int:
        """Return the number of free biases."""
        return self.size - self.weights

    @property
    def size(self) -> int:
        """Return the length of the free vector."""
        return sum(t.free for t in self.parts.values())

    @property
    def connections(self) -> int:
        """Return the number of weights of a cell that can differ from zero."""
        return sum(t.connections for name, t in self.parts.items() if not name.startswith("B"))

    def expand(self, free: FloatArray) -> dict[str, FloatArray]:
        """Return the dense weights of every part."""
        return {name: self.parts[name].expand(free[at]) for name, at in self.slices.items()}

    def collect(self, gradients: dict[str, FloatArray]) -> FloatArray:
        """Return the gradient of the free vector from that of the dense weights."""
        out = np.zeros(self.size)
        for name, at in self.slices.items():
            out[at] = self.parts[name].collect(gradients[name])
        return out

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

    def _inputs(self) -> Representation:
        """Return how the inputs transform: not at all, or white and black exchanged."""
        if not self.colour:
            return Representation.trivial(INPUTS)
        # The pair (white Ck, black Ck) is not adjacent among the inputs; see `_of_inputs`.
        return Representation((swapped_pair(),) * CATEGORIES + (T, T))

    def _outputs(self) -> Representation:
        """Return how the outputs' net inputs transform; with colours Z+ is odd, Zo becomes -Zb."""
        if not self.colour:
            return Representation.trivial(len(OUTPUTS))
        return Representation((odd(T), swapped_pair(-1), swapped_pair(), swapped_pair()))

    def _kernel(self, out: Representation, source: Representation) -> Tying:
        if not self.tied:
            return untied((len(SQUARE), out.size, source.size))
        return kernel_tying(out, source, SQUARE, self._generators)

    def _bias(self, out: Representation) -> Tying:
        return bias_tying(out, self._generators) if self.tied else untied((out.size,))

    @property
    def _generators(self) -> tuple[str, ...]:
        return WITH_COLOURS if self.colour else SPATIAL

    def _of_inputs(self, tying: Tying) -> Tying:
        """Return a kernel's tying with the pairs of `_inputs` at the real input numbers."""
        if not (self.colour and self.tied):
            return tying
        pairs = [i for k in range(CATEGORIES) for i in (k, CATEGORIES + k)]
        order = np.array([*pairs, EMPTY_POINT, OFF_BOARD])
        k, i, j = np.unravel_index(tying.where, tying.shape)
        where = np.ravel_multi_index((k, i, order[j]), tying.shape)
        return Tying(tying.shape, tying.free, where.astype(np.int64), tying.source, tying.sign)


# ----- Evaluation and gradient -----


def forward(
    architecture: Architecture, free: FloatArray, symbols: NDArray[np.integer]
) -> tuple[FloatArray, FloatArray]:
    """Return the outputs (rows, columns, 7) and hidden units for a board of input numbers."""
    dense = architecture.expand(free)
    inputs = _one_hot(symbols)
    hidden = np.tanh(_convolve(dense["HI"], inputs) + dense["BH"])
    net = _convolve(dense["OI"], inputs) + dense["BO"] + _convolve(dense["OH"], _framed(hidden))
    return 1 / (1 + np.exp(-net)), hidden


def gradient(
    architecture: Architecture,
    free: FloatArray,
    symbols: NDArray[np.integer],
    errors: FloatArray,
) -> FloatArray:
    """Return d/d free of sum(errors * net input of outputs); errors has shape (rows, columns, 7).

    For cross entropy under a sigmoid, errors = target - output gives the direction of descent.
    """
    inputs = _one_hot(symbols)
    _, hidden = forward(architecture, free, symbols)
    back = _transposed(architecture.expand(free)["OH"], errors) * (1 - hidden**2)
    return architecture.collect(
        {
            "OI": _outer(errors, inputs),
            "OH": _outer(errors, _framed(hidden)),
            "BO": errors.sum((0, 1)),
            "HI": _outer(back, inputs),
            "BH": back.sum((0, 1)),
        }
    )


def equivariance_error(
    architecture: Architecture, free: FloatArray, *, size: int = 9, seed: int = 0
) -> float:
    """Return the largest difference between turning a random board and turning the answer."""
    rng = np.random.default_rng(seed)
    symbols = rng.integers(0, OFF_BOARD, (size, size))
    outputs, hidden = forward(architecture, free, symbols)
    trivial = Representation.trivial(outputs.shape[-1])
    worst = 0.0
    for word in ELEMENTS:
        turned, turned_hidden = forward(architecture, free, permuted(symbols.tolist(), word))
        for found, expected in (
            (turned, transform(outputs, word, trivial)),
            (turned_hidden, transform(hidden, word, architecture.cell)),
        ):
            worst = max(worst, float(np.abs(found - expected).max()))
    return worst


def _one_hot(symbols: NDArray[np.integer]) -> FloatArray:
    """Return the inputs with a frame: (rows + 2, columns + 2, inputs)."""
    return np.asarray(np.eye(INPUTS)[np.pad(symbols, 1, constant_values=OFF_BOARD)])


def _framed(inside: FloatArray) -> FloatArray:
    """Return a field with a frame of zeros."""
    return np.pad(inside, ((1, 1), (1, 1), (0, 0)))


def _convolve(kernel: FloatArray, framed: FloatArray) -> FloatArray:
    """Return the sum over offsets of kernel[offset] @ field(cell + offset) for every cell."""
    rows, cols = framed.shape[0] - 2, framed.shape[1] - 2
    out = np.zeros((rows, cols, kernel.shape[1]))
    for k, (a, b) in enumerate(SQUARE):
        out += framed[1 - b : 1 - b + rows, 1 + a : 1 + a + cols] @ kernel[k].T
    return out


def _outer(errors: FloatArray, framed: FloatArray) -> FloatArray:
    """Return the gradient of a kernel from the errors above it and the field below."""
    rows, cols = errors.shape[:2]
    return np.array(
        [
            np.einsum("rco,rci->oi", errors, framed[1 - b : 1 - b + rows, 1 + a : 1 + a + cols])
            for a, b in SQUARE
        ]
    )


def _transposed(kernel: FloatArray, errors: FloatArray) -> FloatArray:
    """Return the errors of the field below a kernel."""
    rows, cols = errors.shape[:2]
    out = np.zeros((rows + 2, cols + 2, kernel.shape[2]))
    for k, (a, b) in enumerate(SQUARE):
        out[1 - b : 1 - b + rows, 1 + a : 1 + a + cols] += errors @ kernel[k]
    return out[1:-1, 1:-1]


# ----- Values and targets -----


def target(output: int, final: str, c: _Number) -> Fraction:
    """Return table IV's target of an output for a final class.

    The two blanks of the paper's table are filled so that the way back to its rewards (tables I and
    III) stays linear.
    """
    column = CLASSES.index(final)
    c = Fraction(c)
    two = 2 + c
    rows: tuple[tuple[_Number, ...], ...] = (
        (1, 1, Fraction(1, 2), 0, 0),
        (1, 1, 1 / two, 0, 0),
        (1, 1, (1 + c) / two, 0, 0),
        (1, 0, 0, 0, 0),
        (0, 0, 0, 0, 1),
        (0, 0, c / two, 0, 1),
        (1, 0, c / two, 0, 0),
    )
    return Fraction(rows[output][column])


def target_table(c: float) -> FloatArray:
    """Return table IV as an array (7 outputs, 5 classes)."""
    exact = Fraction(c).limit_denominator(10**6)
    return np.array([[float(target(o, name, exact)) for name in CLASSES] for o in range(7)])


def value_table(c: float, s: float) -> FloatArray:
    """Return a vertex's value as a linear function of its outputs: (3 states, 9).

    Value = (1 - s) R0 + s R1, where R0 and R1 are the rewards for s = 0 and s = 1. The states are
    ordered as the board's colours: empty, black, white. Columns: the seven outputs, a zero, the
    constant.
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
