"""Compute an internal symmetry network and its gradient plainly: any mixture, depth, recurrence.

This is the definition, in float64 and easy to read; the kernels are fast for the paper's shape. An
`Architecture` says which numbers a cell has; its free numbers lie in one vector, weights first,
biases last.

    H1 = tanh(B1 + V_HI I),  H2 = tanh(B2 + V_21 H1), ...   stacked layers, 3x3 neighbours
    H <- tanh(B1 + V_HI I + V_HH H)                         recurrent, `steps` times, 5 neighbours
    O = sigmoid(B_O + V_OI I + V_OH H_last)

Hidden units off the board are zero. tanh is odd, which lets signs pass through it; that is why
the hidden units may not be rectified.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray
from tengen.learners.symmetry_network import features
from tengen.learners.symmetry_network.representations import (
    ELEMENTS,
    SIDES,
    SQUARE,
    Offset,
    Representation,
    permuted,
    transform,
)
from tengen.learners.symmetry_network.tying import (
    SPATIAL,
    WITH_COLOURS,
    Tying,
    bias_tying,
    kernel_tying,
    untied,
)

_PAPER_MIXTURE = {"T": 4, "S": 2, "D": 2, "C": 0, "F": 2}


@dataclass(frozen=True)
class Architecture:
    """Say what a cell consists of; the default is the paper's network of 714 weights."""

    mixtures: tuple[dict[str, int], ...] = field(default_factory=lambda: (dict(_PAPER_MIXTURE),))
    steps: int = 0  # recurrent updates after the first
    colour: bool = False  # tie White's weights to Black's as well
    tied: bool = True  # False: a plain convolution of the same size
    categories: int = features.CATEGORIES  # of stones; the inputs are twice as many and two
    single: bool = False  # one output a point instead of seven: who gets it

    @property
    def hidden(self) -> int:
        """Return the number of hidden units of a cell, all layers together."""
        return sum(layer.size for layer in self.layers)

    @property
    def inputs(self) -> int:
        """Return the number of inputs of a cell."""
        return 2 * self.categories + 2

    @cached_property
    def layers(self) -> tuple[Representation, ...]:
        """Return how the hidden units of each layer turn."""
        return tuple(features.hidden_type(mix, colour=self.colour) for mix in self.mixtures)

    @cached_property
    def parts(self) -> dict[str, Tying]:
        """Return the tying of every kernel, then of every bias, in the order of the free vector."""
        inputs = features.input_type(colour=self.colour, categories=self.categories)
        outputs = features.output_type(colour=self.colour, single=self.single)
        order = features.input_order(colour=self.colour, categories=self.categories)
        last = self.layers[-1]
        kernels = {
            "OI": _reorder(self._kernel(outputs, inputs, SQUARE), order),
            "HI": _reorder(self._kernel(self.layers[0], inputs, SQUARE), order),
            "OH": self._kernel(outputs, last, SQUARE),
        }
        for i in range(1, len(self.layers)):
            kernels[f"H{i}"] = self._kernel(self.layers[i], self.layers[i - 1], SQUARE)
        if self.steps:
            kernels["HH"] = self._kernel(self.layers[0], self.layers[0], SIDES)
        biases = {f"B{i}": self._bias(layer) for i, layer in enumerate(self.layers)}
        return {**kernels, **biases, "BO": self._bias(outputs)}

    @property
    def slices(self) -> dict[str, slice]:
        """Return where each part lies in the free vector."""
        out, start = {}, 0
        for name, tying in self.parts.items():
            out[name] = slice(start, start + tying.free)
            start += tying.free
        return out

    @property
    def weights(self) -> int:
        """Return the number of free numbers without biases."""
        return sum(t.free for name, t in self.parts.items() if not name.startswith("B"))

    @property
    def biases(self) -> int:
        """Return the number of free biases."""
        return self.size - self.weights

    @property
    def size(self) -> int:
        """Return the length of the free vector."""
        return sum(t.free for t in self.parts.values())

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
        """Draw hidden weights at random; outputs start from their biases alone, a linear player."""
        rng = np.random.default_rng(seed)
        free = np.zeros(self.size)
        for name, at in self.slices.items():
            if name[0] == "H":
                free[at] = rng.uniform(-scale, scale, at.stop - at.start)
        at, tying = self.slices["BO"], self.parts["BO"]
        copies = tying.collect(np.array(features.INITIAL_BIASES)[: tying.shape[0]])
        numbers = np.zeros(tying.free)
        np.add.at(numbers, tying.source, tying.sign**2)
        free[at] = copies / np.maximum(numbers, 1)
        return free

    def _kernel(
        self, out: Representation, src: Representation, offsets: tuple[Offset, ...]
    ) -> Tying:
        """Return the tying of one kernel."""
        if not self.tied:
            return untied((len(offsets), out.size, src.size))
        return kernel_tying(out, src, offsets, WITH_COLOURS if self.colour else SPATIAL)

    def _bias(self, out: Representation) -> Tying:
        """Return the tying of one bias."""
        if not self.tied:
            return untied((out.size,))
        return bias_tying(out, WITH_COLOURS if self.colour else SPATIAL)


def forward(
    architecture: Architecture, free: FloatArray, symbols: NDArray[np.integer]
) -> tuple[FloatArray, list[FloatArray]]:
    """Return the outputs (rows, columns, 7) and all hidden fields for a board of input numbers."""
    dense = architecture.expand(free)
    inputs = _one_hot(symbols, architecture.inputs)
    first = _convolve(dense["HI"], inputs, SQUARE) + dense["B0"]
    hidden = [np.tanh(first)]
    for _ in range(architecture.steps):
        hidden.append(np.tanh(first + _convolve(dense["HH"], _ring(hidden[-1]), SIDES)))
    for i in range(1, len(architecture.layers)):
        net = _convolve(dense[f"H{i}"], _ring(hidden[-1]), SQUARE) + dense[f"B{i}"]
        hidden.append(np.tanh(net))
    net = _convolve(dense["OI"], inputs, SQUARE) + dense["BO"]
    net += _convolve(dense["OH"], _ring(hidden[-1]), SQUARE)
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
    dense = architecture.expand(free)
    inputs = _one_hot(symbols, architecture.inputs)
    _, hidden = forward(architecture, free, symbols)
    grads = {name: np.zeros(tying.shape) for name, tying in architecture.parts.items()}
    grads["BO"] += errors.sum((0, 1))
    grads["OI"] += _outer(errors, inputs, SQUARE)
    grads["OH"] += _outer(errors, _ring(hidden[-1]), SQUARE)
    back = _transposed(dense["OH"], errors, SQUARE)
    for i in range(len(architecture.layers) - 1, 0, -1):
        back = back * (1 - hidden[architecture.steps + i] ** 2)
        below = hidden[architecture.steps + i - 1]
        grads[f"B{i}"] += back.sum((0, 1))
        grads[f"H{i}"] += _outer(back, _ring(below), SQUARE)
        back = _transposed(dense[f"H{i}"], back, SQUARE)
    for k in range(architecture.steps, -1, -1):
        back = back * (1 - hidden[k] ** 2)
        grads["B0"] += back.sum((0, 1))
        grads["HI"] += _outer(back, inputs, SQUARE)
        if k:
            grads["HH"] += _outer(back, _ring(hidden[k - 1]), SIDES)
            back = _transposed(dense["HH"], back, SIDES)
    return architecture.collect(grads)


def equivariance_error(
    architecture: Architecture, free: FloatArray, *, size: int = 9, seed: int = 0
) -> float:
    """Return the largest difference between turning a random board and turning the answer."""
    rng = np.random.default_rng(seed)
    symbols = rng.integers(0, features.OFF_BOARD, (size, size))
    outputs, hidden = forward(architecture, free, symbols)
    trivial = Representation.trivial(outputs.shape[-1])
    layers = (architecture.layers[0],) * (architecture.steps + 1) + architecture.layers[1:]
    worst = 0.0
    for word in ELEMENTS:
        turned, turned_hidden = forward(architecture, free, permuted(symbols.tolist(), word))
        worst = max(worst, float(np.abs(turned - transform(outputs, word, trivial)).max()))
        for layer, plain, other in zip(layers, hidden, turned_hidden, strict=True):
            worst = max(worst, float(np.abs(other - transform(plain, word, layer)).max()))
    return worst


def _one_hot(symbols: NDArray[np.integer], inputs: int = features.INPUTS) -> FloatArray:
    """Return the inputs with their ring: (rows + 2, columns + 2, inputs)."""
    framed = np.pad(symbols, 1, constant_values=features.OFF_BOARD)
    return np.asarray(np.eye(inputs)[framed])


def _convolve(kernel: FloatArray, framed: FloatArray, offsets: tuple[Offset, ...]) -> FloatArray:
    """Return the sum over offsets of kernel[offset] @ field(cell + offset) for every cell."""
    rows, cols = framed.shape[0] - 2, framed.shape[1] - 2
    out = np.zeros((rows, cols, kernel.shape[1]))
    for k, (a, b) in enumerate(offsets):
        out += framed[1 - b : 1 - b + rows, 1 + a : 1 + a + cols] @ kernel[k].T
    return out


def _ring(inside: FloatArray) -> FloatArray:
    """Return a field with a ring of zeros."""
    return np.pad(inside, ((1, 1), (1, 1), (0, 0)))


def _outer(errors: FloatArray, framed: FloatArray, offsets: tuple[Offset, ...]) -> FloatArray:
    """Return the gradient of a kernel from the errors above it and the field below."""
    rows, cols = errors.shape[:2]
    return np.array(
        [
            np.einsum("rco,rci->oi", errors, framed[1 - b : 1 - b + rows, 1 + a : 1 + a + cols])
            for a, b in offsets
        ]
    )


def _transposed(kernel: FloatArray, errors: FloatArray, offsets: tuple[Offset, ...]) -> FloatArray:
    """Return the errors of the field below a kernel."""
    rows, cols = errors.shape[:2]
    out = np.zeros((rows + 2, cols + 2, kernel.shape[2]))
    for k, (a, b) in enumerate(offsets):
        out[1 - b : 1 - b + rows, 1 + a : 1 + a + cols] += errors @ kernel[k]
    return out[1:-1, 1:-1]


def _reorder(tying: Tying, order: list[int]) -> Tying:
    """Return a kernel's tying with its source numbers put where the inputs really lie."""
    if order == list(range(len(order))) or tying.free == int(np.prod(tying.shape)):
        return tying
    k, i, j = np.unravel_index(tying.where, tying.shape)
    where = np.ravel_multi_index((k, i, np.array(order)[j]), tying.shape)
    return Tying(tying.shape, tying.free, where.astype(np.int64), tying.source, tying.sign)
