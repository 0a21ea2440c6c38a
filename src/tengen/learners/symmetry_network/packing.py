"""Lay free numbers out as the fast kernels want them, and gradients back; know no game.

The kernels take a `Net` of three float32 arrays that hold every copy of every weight. `Packing`
knows which free number stands where, for any architecture of the paper's shape: one hidden layer of
12 units, not recurrent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tengen.errors import SpecError
from tengen.learners.symmetry_network.features import INPUTS, OUTPUTS
from tengen.learners.symmetry_network.network import Architecture

if TYPE_CHECKING:
    from tengen.learners.symmetry_network.evaluation_kernels import Net

FloatArray = NDArray[np.float64]
FlatArray = NDArray[np.float32]

# The kernels' own numbers, repeated here so that packing needs no compiler; a test compares them.
HIDDEN, OUT, CELL, FIRST_OUT = 12, 8, 24, 16
REACH = 9 * OUT

TABLE = 9 * INPUTS * CELL
SIZE = TABLE + CELL + HIDDEN * REACH
"""Length of all three arrays of a Net together."""


class Packing:
    """The way between an architecture's free numbers and the kernels' arrays."""

    def __init__(self, architecture: Architecture) -> None:
        if architecture.hidden != HIDDEN or len(architecture.layers) != 1 or architecture.steps:
            raise SpecError(
                f"the fast kernels take one hidden layer of {HIDDEN} units, not "
                f"{[layer.size for layer in architecture.layers]} with {architecture.steps} steps"
            )
        self.architecture = architecture
        where, source, sign = [], [], []
        for name, at in architecture.slices.items():
            tying = architecture.parts[name]
            where.append(_places(name)[tying.where])
            source.append(tying.source + at.start)
            sign.append(tying.sign)
        self.where = np.concatenate(where)
        self.source = np.concatenate(source)
        self.sign = np.concatenate(sign)

    def flat(self, free: FloatArray) -> FlatArray:
        """Return all weights in one array of length SIZE."""
        values = self.sign * free[self.source]
        return np.bincount(self.where, weights=values, minlength=SIZE).astype(np.float32)

    def net(self, free: FloatArray) -> Net:
        """Return the kernels' arrays for these free numbers."""
        return split(self.flat(free))

    def collect(self, flat: NDArray[np.floating]) -> FloatArray:
        """Return the gradient of the free numbers: the signed sum over their copies."""
        values = self.sign * flat.astype(np.float64)[self.where]
        size = self.architecture.size
        return np.bincount(self.source, weights=values, minlength=size).astype(np.float64)


def split(flat: FlatArray) -> Net:
    """Return a flat array as the three arrays of a Net, sharing its memory."""
    from tengen.learners.symmetry_network.evaluation_kernels import Net

    table = flat[:TABLE].reshape(9 * INPUTS, CELL)
    return Net(table, flat[TABLE : TABLE + CELL], flat[TABLE + CELL :])


def _places(name: str) -> NDArray[np.int64]:
    """Return the place in the flat array of every dense weight of a part, in its own order."""
    outputs = len(OUTPUTS)
    if name in ("HI", "OI"):
        units, first = (HIDDEN, 0) if name == "HI" else (outputs, FIRST_OUT)
        k, o, i = np.meshgrid(np.arange(9), np.arange(units), np.arange(INPUTS), indexing="ij")
        return ((k * INPUTS + i) * CELL + first + o).reshape(-1)
    if name == "OH":
        k, o, j = np.meshgrid(np.arange(9), np.arange(outputs), np.arange(HIDDEN), indexing="ij")
        return (TABLE + CELL + (j * 9 + k) * OUT + o).reshape(-1)
    first = 0 if name == "B0" else FIRST_OUT
    return TABLE + first + np.arange(HIDDEN if name == "B0" else outputs)
