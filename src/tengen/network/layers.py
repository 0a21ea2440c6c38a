"""The network, described once: what it computes from which weights.

PyTorch, the ONNX file and the processor's engine provide the operations of `Layers`; the engine has
its own `lift`, `tower` and `head` instead of single convolutions. The shapes of all tensors and the
count of operations follow from running the layers on sizes alone.

A *field* is a feature that comes in `order` *orientations*; map = field * order + orientation. With
order 8, one orientation per symmetry of the square (the regular representation), the network
commutes with all symmetries of the board: turning the board turns every map and moves the
values of orientation `r` to orientation `g r`. A convolution preserves this if its kernel depends
only on the orientation of the input relative to the output:

    kernel[out r, in q](x)  =  free[r^-1 q](r^-1 x)

so that 8 x 8 kernels follow from 8 free ones. The first layer reads plain planes, which have no
orientation: its eight kernels are one free kernel, turned. With order 1 nothing is tied, and the
same layers are a plain residual network.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np

from tengen.arrays import Float32Array, IntArray
from tengen.board.coordinates import compose, inverse, transform
from tengen.network.inputs import N_PLANES
from tengen.network.settings import LIFTING_SIZE, Design

T = TypeVar("T")

VALUES = 3  # outputs of the last layer: the winner's logit, the score, the logarithm of its spread
WINNER = 0


class Outputs(NamedTuple, Generic[T]):
    """Raw outputs of the last layers, before conversion to points and probabilities."""

    points: T  # logits of playing at each point, one map per move output
    passing: T  # logits of passing, one per move output
    owner: T  # logits of owning each point, one map
    values: T  # `VALUES` numbers per position


class Layers(Generic[T]):
    """The layers in terms of a few operations on `T`, the array type of a backend."""

    # Operations that a backend provides; names are those of weights.
    convolve: Callable[[T, str, int, int], T]  # x, name, fields, size: by a tied kernel
    norm: Callable[[T, str], T]  # each field over all its orientations, then clip below at zero
    add: Callable[[T, T], T]  # maps to maps
    merge: Callable[[T], T]  # the mean over orientations: one map per field
    relu: Callable[[T], T]
    add_to_maps: Callable[[T, T, int], T]  # one number per field to all points of its `order` maps
    pool: Callable[[T], T]  # mean, mean scaled by the board's size, and maximum of each map
    linear: Callable[[T, str, int], T]  # x, name, outputs: of the whole board, with a bias
    points: Callable[[T, str, int], T]  # x, name, outputs: of the maps at each point, with a bias

    def __init__(self, design: Design) -> None:
        self.design = design

    def run(self, planes: Any) -> Outputs[T]:
        """Compute the outputs for input planes."""
        design = self.design
        x = self.tower(self.lift(planes))
        moves = self.head(x, "move_fields")
        whole = self.pool(moves)
        bias = self.linear(whole, "move_bias", design.head_fields)
        moves = self.relu(self.add_to_maps(moves, bias, 1))
        points = self.points(moves, "move", design.move_outputs)
        passing = self.linear(whole, "pass_move", design.move_outputs)
        values = self.head(x, "value_fields")
        owner = self.points(values, "owner", 1)
        hidden = self.relu(self.linear(self.pool(values), "value_hidden", design.value_hidden))
        return Outputs(points, passing, owner, self.linear(hidden, "value", VALUES))

    def lift(self, planes: Any) -> T:
        """Convolve planes into fields by free kernels, each turned into all orientations."""
        return self.convolve(planes, "lift", self.design.fields, LIFTING_SIZE)

    def tower(self, x: T) -> T:
        """Run all residual blocks and the final norm."""
        for i in range(self.design.blocks):
            x = self.block(x, f"blocks.{i}", pools=self.design.pools(i))
        return self.norm(x, "norm")

    def block(self, x: T, name: str, *, pools: bool) -> T:
        """Run a residual block; some blocks add features pooled over the whole board."""
        fields = self.design.fields
        y = self.convolve(self.norm(x, f"{name}.norm1"), f"{name}.conv1", fields, 3)
        if pools:
            whole = self.linear(self.pool(self.merge(y)), f"{name}.pool", fields)
            y = self.add_to_maps(y, whole, self.design.order)
        return self.add(x, self.convolve(self.norm(y, f"{name}.norm2"), f"{name}.conv2", fields, 3))

    def head(self, x: T, name: str) -> T:
        """Run the first layer of an output: one map per field."""
        return self.merge(self.relu(self.convolve(x, name, self.design.head_fields, 1)))


@dataclass(frozen=True)
class Weight:
    """One tensor of a network."""

    shape: tuple[int, ...]
    start: Literal["normal", "uniform", "zero", "one"]  # how it is drawn before training
    inputs: int = 1  # fan-in: numbers summed per output
    tied: bool = False  # whether it is a free kernel, to be laid out in all orientations
    learned: bool = True  # false for the statistics of a norm


class _Size(NamedTuple):
    """How many fields an array has, and in how many orientations each."""

    fields: int
    order: int = 1


class _Sizes(Layers[_Size]):
    """Collects the weights and counts the operations of the layers."""

    def __init__(self, design: Design) -> None:
        super().__init__(design)
        self.weights: dict[str, Weight] = {}
        self.products = 0  # multiplications per point in convolutions

    def convolve(self, x: _Size, name: str, fields: int, size: int) -> _Size:
        # A block starts as the identity: only its skip connection contributes.
        start: Any = "zero" if name.endswith(".conv2") else "normal"
        inputs, order = x.fields * x.order * size**2, self.design.order
        orientations = () if name == "lift" else (order,)
        shape = (fields, x.fields, *orientations, size, size)
        self.weights[f"{name}.weight"] = Weight(shape, start, inputs, tied=True)
        self.products += inputs * fields * order
        return _Size(fields, order)

    def norm(self, x: _Size, name: str) -> _Size:
        starts: dict[str, Any] = {"gain": "one", "bias": "zero", "mean": "zero", "variance": "one"}
        for part, start in starts.items():
            learned = part in ("gain", "bias")
            self.weights[f"{name}.{part}"] = Weight((x.fields,), start, learned=learned)
        return x

    def relu(self, x: _Size) -> _Size:
        return x

    def add(self, x: _Size, y: _Size) -> _Size:
        assert x == y
        return x

    def add_to_maps(self, x: _Size, whole: _Size, order: int = 1) -> _Size:
        assert x == _Size(whole.fields, order)
        return x

    def merge(self, x: _Size) -> _Size:
        return _Size(x.fields)

    def pool(self, x: _Size) -> _Size:
        assert x.order == 1
        return _Size(3 * x.fields)

    def linear(self, x: _Size, name: str, outputs: int, *kernel: int) -> _Size:
        shape = (outputs, x.fields, *kernel)
        self.weights[f"{name}.weight"] = Weight(shape, "uniform", x.fields)
        self.weights[f"{name}.bias"] = Weight((outputs,), "uniform", x.fields)
        return _Size(outputs)

    def points(self, x: _Size, name: str, outputs: int) -> _Size:
        return self.linear(x, name, outputs, 1, 1)


@cache
def _sizes_of(design: Design) -> _Sizes:
    sizes = _Sizes(design)
    sizes.run(_Size(N_PLANES))
    return sizes


def weights_of(design: Design) -> dict[str, Weight]:
    """Return every tensor of a design by name, in the order in which the layers use them."""
    return _sizes_of(design).weights


def operations(design: Design, rows: int = 19, cols: int = 19) -> int:
    """Count multiplications and additions in the convolutions for one position."""
    return 2 * rows * cols * _sizes_of(design).products


@cache
def tied_places(shape: tuple[int, ...], order: int) -> IntArray:
    """Return the entry of a free kernel ([order x] side x side) at each place of the full one.

    Row r has the kernels from all orientations of the input to orientation r of the output.
    """
    free = np.arange(math.prod(shape)).reshape(-1, *shape[-2:])
    rows = []
    for r in range(order):
        relative = [0] if len(free) == 1 else [compose(q, inverse(r)) for q in range(order)]
        rows.append(np.concatenate([transform(free[h], r).ravel() for h in relative]))
    return np.stack(rows)


def lay_out(free: Float32Array, order: int) -> Float32Array:
    """Turn a free kernel (out x in [x order] x side x side) into the kernel between all maps."""
    fields_out, fields_in, *shape = free.shape
    laid = free.reshape(fields_out, fields_in, -1)[:, :, tied_places(tuple(shape), order)]
    laid = laid.reshape(fields_out, fields_in, order, -1).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(laid.reshape(fields_out * order, -1, *shape[-2:]))
