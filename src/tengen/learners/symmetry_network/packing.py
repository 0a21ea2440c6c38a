"""Lay free numbers out as the fast kernels want them, and gradients back; know no game.

The kernels take a `Net` of float32 arrays that hold every copy of every weight. `Packing` knows
which free number stands where, for every architecture of at most 12 units a layer; layers of fewer
are filled up with zeros. The arrays of a Net lie one after the other in one flat array.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import Float32Array, FloatArray, IntArray
from tengen.errors import SpecError
from tengen.learners.symmetry_network.evaluation_kernels import (
    CELL,
    FIRST_OUT,
    HIDDEN,
    OUT,
    REACH,
    Net,
)
from tengen.learners.symmetry_network.features import (
    EXCHANGED_OUTPUTS,
    EXCHANGED_SIGNS,
    INPUTS,
    OUTPUTS,
    exchanged_inputs,
)
from tengen.learners.symmetry_network.network import Architecture

SIZE = 9 * INPUTS * CELL + CELL + HIDDEN * REACH
"""Length of all arrays of a Net together for the paper's shape."""

MUTE = -20.0
"""Net input of the outputs that an architecture of one output lacks: no likelihood at all."""


class Packing:
    """The way between an architecture's free numbers and the kernels' arrays."""

    def __init__(self, architecture: Architecture) -> None:
        sizes = [layer.size for layer in architecture.layers]
        if max(sizes) > HIDDEN:
            raise SpecError(f"the fast kernels take at most {HIDDEN} hidden units, not {sizes}")
        if architecture.steps and len(sizes) > 1:
            raise SpecError("the fast kernels take stacked layers or recurrent steps, not both")
        self.architecture = architecture
        self.again = np.zeros(len(sizes) - 1 + architecture.steps, np.int64)
        self.again[: architecture.steps] = 1
        self.places = _places(architecture.inputs, len(self.again))
        self.size = sum(part.size for part in self.places.values())
        self._other, self._other_sign = self._exchange()
        where, source, sign = [], [], []
        for name, at in architecture.slices.items():
            tying = architecture.parts[name]
            for place in self._copies(name, tying.shape):
                where.append(place.reshape(-1)[tying.where])
                source.append(tying.source + at.start)
                sign.append(tying.sign)
        self.where = np.concatenate(where)
        self.source = np.concatenate(source)
        self.sign = np.concatenate(sign)
        self.fixed = np.zeros(self.size)
        if architecture.single:
            self.fixed[self.places["bias"][FIRST_OUT + 3 : FIRST_OUT + 7]] = MUTE

    def flat(self, free: FloatArray) -> Float32Array:
        """Return all weights in one array of length `size`."""
        values = self.sign * free[self.source]
        dense = np.bincount(self.where, weights=values, minlength=self.size) + self.fixed
        return dense.astype(np.float32)

    def net(self, free: FloatArray) -> Net:
        """Return the kernels' arrays for these free numbers."""
        return self.split(self.flat(free))

    def split(self, flat: Float32Array) -> Net:
        """Return a flat array as the arrays of a Net, sharing its memory."""
        return split(flat, self.again)

    def collect(self, flat: NDArray[np.floating]) -> FloatArray:
        """Return the gradient of the free numbers: the signed sum over their copies."""
        values = self.sign * flat.astype(np.float64)[self.where]
        size = self.architecture.size
        return np.bincount(self.source, weights=values, minlength=size).astype(np.float64)

    def exchanged(self, flat: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the weights that judge a board as `flat` judges it with the colours exchanged.

        Twice gives the same again; it is its own transpose, so that gradients go back likewise.
        """
        return np.asarray(flat[self._other] * self._other_sign)

    def _copies(self, name: str, shape: tuple[int, ...]) -> list[IntArray]:
        """Return where the dense weights of a part stand, once per copy, each of their shape."""
        p, hidden = self.places, self.architecture.layers[0].size
        outs = [0, 1, 2] if self.architecture.single else [0]
        if name == "HI":
            return [p["table"][:, :, :hidden].transpose(0, 2, 1)]
        if name == "OI":
            return [
                p["table"][:, :, FIRST_OUT + k : FIRST_OUT + k + shape[1]].transpose(0, 2, 1)
                for k in outs
            ]
        if name == "OH":
            return [p["oh"][: shape[2], :, k : k + shape[1]].transpose(1, 2, 0) for k in outs]
        if name == "BO":
            return [p["bias"][FIRST_OUT + k : FIRST_OUT + k + shape[0]] for k in outs]
        if name == "HH":
            part = p["deep"][:, : shape[0], : shape[2], : shape[1]]
            return list(part.transpose(0, 1, 3, 2))
        if name == "B0":
            return [p["bias"][: shape[0]]]
        k = int(name[1:]) - 1
        if name[0] == "B":
            return [p["inner"][k, : shape[0]]]
        return [p["deep"][k, :, : shape[2], : shape[1]].transpose(0, 2, 1)]

    def _exchange(self) -> tuple[IntArray, Float32Array]:
        """Return where each number comes from when the colours are exchanged, and its sign."""
        p, inputs = self.places, exchanged_inputs(self.architecture.categories)
        outs, sign = np.arange(OUT), np.ones(OUT, np.float32)
        outs[: len(OUTPUTS)], sign[: len(OUTPUTS)] = EXCHANGED_OUTPUTS, EXCHANGED_SIGNS
        cell = np.concatenate([np.arange(FIRST_OUT), FIRST_OUT + outs])
        moved = {
            "table": p["table"][:, inputs][:, :, cell],
            "bias": p["bias"][cell],
            "oh": p["oh"][:, :, outs],
            "deep": p["deep"],
            "inner": p["inner"],
        }
        signs = np.ones(self.size, np.float32)
        for part in (p["table"][:, :, FIRST_OUT:], p["bias"][FIRST_OUT:], p["oh"]):
            signs[part] = sign
        return np.concatenate([part.reshape(-1) for part in moved.values()]), signs


def split(flat: Float32Array, again: IntArray | None = None) -> Net:
    """Return a flat array as the arrays of a Net, sharing its memory; `again` as in a Net."""
    again = np.zeros(0, np.int64) if again is None else again
    layers = len(again)
    table = len(flat) - SIZE + 9 * INPUTS * CELL - layers * HIDDEN * (9 * HIDDEN + 1)
    ends = np.cumsum([table, CELL, HIDDEN * REACH, layers * 9 * HIDDEN * HIDDEN]).tolist()
    return Net(
        flat[: ends[0]].reshape(-1, CELL),
        flat[ends[0] : ends[1]],
        flat[ends[1] : ends[2]],
        flat[ends[2] : ends[3]].reshape(layers, 9, HIDDEN, HIDDEN),
        flat[ends[3] :].reshape(layers, HIDDEN),
        again,
    )


def _places(inputs: int, layers: int) -> dict[str, IntArray]:
    """Return the place in the flat array of everything that a Net holds, array by array."""
    shapes: dict[str, tuple[int, ...]] = {
        "table": (9, inputs, CELL),
        "bias": (CELL,),
        "oh": (HIDDEN, 9, OUT),
        "deep": (layers, 9, HIDDEN, HIDDEN),
        "inner": (layers, HIDDEN),
    }
    out, start = {}, 0
    for name, shape in shapes.items():
        size = int(np.prod(shape))
        out[name] = np.arange(start, start + size, dtype=np.int64).reshape(shape)
        start += size
    return out
