"""The network, described once: what it computes from which weights.

PyTorch and the ONNX file provide the operations of `SeparateLayers`, the processor's engine those
of `Layers`, which leave it the whole tower; the shapes of all tensors and the count of operations
follow from running the layers on sizes alone. A new layer is one more call in `Layers.run` or
`SeparateLayers.block`.

A map belongs to a field and an orientation (see `group`): map = field * order + orientation. With
`order` 8 the network commutes with all symmetries of the board; with order 1 every map is a field
of its own, nothing is tied, and the same layers are a plain residual network.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np

from tengen.arrays import Float32Array, IntArray
from tengen.learners.network.group import ORIENTATIONS, group_places, lifting_places
from tengen.learners.network.inputs import N_PLANES
from tengen.learners.network.settings import LIFTING_SIZE, Design

T = TypeVar("T")

VALUES = 3
"""Outputs of the last layer: the winner's logit, the score, the logarithm of its spread."""
WINNER = 0


class Outputs(NamedTuple, Generic[T]):
    """What the last layers give, before it is turned into points and chances."""

    points: T
    """Logits of playing at each point, one map per move output."""
    passing: T
    """Logits of passing, one per move output."""
    owner: T
    """Logits of owning each point, one map."""
    values: T
    """`VALUES` numbers per position."""


class Layers(ABC, Generic[T]):
    """The layers in terms of a few operations on `T`, an engine's kind of array."""

    def __init__(self, design: Design) -> None:
        self.design = design

    def run(self, planes: Any) -> Outputs[T]:
        """Compute the outputs for input planes."""
        design = self.design
        x = self.lift(planes, "lift", design.fields, LIFTING_SIZE)
        x = self.tower(x)
        moves = self.head(x, "move_fields")
        whole = self.pool(moves)
        bias = self.linear(whole, "move_bias", design.head_fields)
        points = self.points(self.relu(self.add_to_maps(moves, bias)), "move", design.move_outputs)
        passing = self.linear(whole, "pass_move", design.move_outputs)
        values = self.head(x, "value_fields")
        owner = self.points(values, "owner", 1)
        hidden = self.relu(self.linear(self.pool(values), "value_hidden", design.value_hidden))
        return Outputs(points, passing, owner, self.linear(hidden, "value", VALUES))

    @abstractmethod
    def lift(self, planes: Any, name: str, fields: int, size: int) -> T:
        """Convolve planes into fields by free kernels, each turned into all orientations."""

    @abstractmethod
    def tower(self, x: T) -> T:
        """Run all residual blocks and the norm behind them."""

    @abstractmethod
    def head(self, x: T, name: str) -> T:
        """Run the first layer of an output: one map per field."""

    @abstractmethod
    def relu(self, x: T) -> T:
        """Clip below at zero."""

    @abstractmethod
    def add_to_maps(self, x: T, whole: T) -> T:
        """Add one number per map to all its points."""

    @abstractmethod
    def pool(self, x: T) -> T:
        """Return mean, mean scaled by the board's size, and maximum of each map."""

    @abstractmethod
    def linear(self, x: T, name: str, outputs: int) -> T:
        """Multiply numbers of the whole board by a matrix and add a bias."""

    @abstractmethod
    def points(self, x: T, name: str, outputs: int) -> T:
        """Combine the maps at each point, with a bias."""


class SeparateLayers(Layers[T]):
    """The residual blocks one operation at a time."""

    def tower(self, x: T) -> T:
        """Run all residual blocks and the norm behind them."""
        for i in range(self.design.blocks):
            x = self.block(x, f"blocks.{i}", pools=self.design.pools(i))
        return self.norm(x, "norm")

    def block(self, x: T, name: str, *, pools: bool) -> T:
        """Return a residual block's sum; some blocks add what the whole board shows."""
        fields = self.design.fields
        y = self.convolve(self.norm(x, f"{name}.norm1"), f"{name}.conv1", fields, 3)
        if pools:
            whole = self.linear(self.pool(self.merge(y)), f"{name}.pool", fields)
            y = self.add_to_maps(y, self.orient(whole))
        return self.add(x, self.convolve(self.norm(y, f"{name}.norm2"), f"{name}.conv2", fields, 3))

    def head(self, x: T, name: str) -> T:
        """Run the first layer of an output: one map per field."""
        return self.merge(self.relu(self.convolve(x, name, self.design.head_fields, 1)))

    @abstractmethod
    def convolve(self, x: T, name: str, fields: int, size: int) -> T:
        """Convolve fields into fields by a tied kernel."""

    @abstractmethod
    def norm(self, x: T, name: str) -> T:
        """Normalise each field over all its orientations, then clip below at zero."""

    @abstractmethod
    def add(self, x: T, y: T) -> T:
        """Add maps to maps."""

    @abstractmethod
    def orient(self, whole: T) -> T:
        """Repeat one number per field for each of the field's orientations."""

    @abstractmethod
    def merge(self, x: T) -> T:
        """Average over orientations: one map per field, which turns as the board turns."""


@dataclass(frozen=True)
class Weight:
    """One tensor of a network."""

    shape: tuple[int, ...]
    start: Literal["normal", "uniform", "zero", "one"]
    """How it is drawn before training."""
    inputs: int = 1
    """Numbers that one output adds up."""
    tied: bool = False
    """Whether it is a kernel that follows in all orientations from one."""
    learned: bool = True
    """False for the statistics of a norm."""


@dataclass(frozen=True)
class _Size:
    """How many fields an array has, and in how many orientations each."""

    fields: int
    order: int = 1


class _Sizes(SeparateLayers[_Size]):
    """Collects the weights and counts the operations of the layers."""

    def __init__(self, design: Design) -> None:
        super().__init__(design)
        self.weights: dict[str, Weight] = {}
        self.products = 0
        """Multiplications per point in convolutions."""

    def lift(self, planes: Any, name: str, fields: int, size: int) -> _Size:
        self.weights[f"{name}.weight"] = Weight(
            (fields, N_PLANES, size, size), "normal", N_PLANES * size**2, tied=True
        )
        self.products += N_PLANES * size**2 * fields * self.design.order
        return _Size(fields, self.design.order)

    def convolve(self, x: _Size, name: str, fields: int, size: int) -> _Size:
        # A block begins as nothing but the way around it.
        start: Any = "zero" if name.endswith(".conv2") else "normal"
        inputs = x.fields * x.order * size**2
        shape = (fields, x.fields, x.order, size, size)
        self.weights[f"{name}.weight"] = Weight(shape, start, inputs, tied=True)
        self.products += inputs * fields * x.order
        return _Size(fields, x.order)

    def norm(self, x: _Size, name: str) -> _Size:
        shape = (x.fields,)
        self.weights[f"{name}.gain"] = Weight(shape, "one")
        self.weights[f"{name}.bias"] = Weight(shape, "zero")
        self.weights[f"{name}.mean"] = Weight(shape, "zero", learned=False)
        self.weights[f"{name}.variance"] = Weight(shape, "one", learned=False)
        return x

    def relu(self, x: _Size) -> _Size:
        return x

    def add(self, x: _Size, y: _Size) -> _Size:
        assert x == y
        return x

    def add_to_maps(self, x: _Size, whole: _Size) -> _Size:
        assert x == whole
        return x

    def orient(self, whole: _Size) -> _Size:
        return _Size(whole.fields, self.design.order)

    def merge(self, x: _Size) -> _Size:
        return _Size(x.fields)

    def pool(self, x: _Size) -> _Size:
        assert x.order == 1
        return _Size(3 * x.fields)

    def linear(self, x: _Size, name: str, outputs: int) -> _Size:
        self.weights[f"{name}.weight"] = Weight((outputs, x.fields), "uniform", x.fields)
        self.weights[f"{name}.bias"] = Weight((outputs,), "uniform", x.fields)
        return _Size(outputs)

    def points(self, x: _Size, name: str, outputs: int) -> _Size:
        self.weights[f"{name}.weight"] = Weight((outputs, x.fields, 1, 1), "uniform", x.fields)
        self.weights[f"{name}.bias"] = Weight((outputs,), "uniform", x.fields)
        return _Size(outputs)


@cache
def weights_of(design: Design) -> dict[str, Weight]:
    """Return every tensor of a design by name, in the order in which the layers use them."""
    sizes = _Sizes(design)
    sizes.run(None)
    return sizes.weights


def operations(design: Design, rows: int = 19, cols: int = 19) -> int:
    """Count multiplications and additions in the convolutions for one position."""
    sizes = _Sizes(design)
    sizes.run(None)
    return 2 * rows * cols * sizes.products


def tied_places(shape: Sequence[int], order: int) -> IntArray:
    """Return which entry of a free kernel ([order x] side x side) stands where, per orientation."""
    if len(shape) == 3 and order == ORIENTATIONS:
        return group_places(shape[-1])
    return lifting_places(shape[-1])[:order]


def lay_out(free: Float32Array, order: int) -> Float32Array:
    """Turn a free kernel (out x in [x order] x side x side) into the kernel between all maps."""
    fields_out, fields_in, *shape = free.shape
    laid = free.reshape(fields_out, fields_in, -1)[:, :, tied_places(shape, order)]
    laid = laid.reshape(fields_out, fields_in, order, -1).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(laid.reshape(fields_out * order, -1, *shape[-2:]))
