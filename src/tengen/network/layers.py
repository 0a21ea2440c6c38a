"""The network, described once: what it reads of a position, what it computes from which weights.

A position is packed, a byte per point (see `inputs_kernels`), and laid out as planes. PyTorch, the
ONNX file and the processor's engine provide the operations of `Layers`; the engine has its own
`lift`, `tower` and `head` instead of single convolutions. The shapes of all tensors and the count
of operations follow from running the layers on sizes alone.

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, Float32Array, IntArray
from tengen.board import PASS, Board, index_of
from tengen.board import layout_kernels as layout
from tengen.board.coordinates import compose, inverse, transform
from tengen.network.inputs_kernels import (
    CATCHES_BIT,
    ENEMY,
    HISTORY,
    KO_BIT,
    LADDER,
    LIBERTIES,
    NOWHERE,
    OWN,
    TAKES,
    encode,
)
from tengen.network.settings import LIFTING_SIZE, Design

# ----- What it reads -----

POINT_PLANES = (
    "own stone", "enemy stone", "board", "one liberty", "two liberties", "three liberties",
    "lost in a ladder", "may not be played", "one liberty after", "two liberties after",
    "takes stones", "catches in a ladder", "ko",
)  # fmt: skip
"""Planes that follow from the byte of a point."""
KOMI_SCALE = 10.0  # points of komi that make a plane of ones
# Constant planes, each with a function that computes it from `Positions` (NumPy or PyTorch).
BOARD_PLANES: dict[str, Callable[[Any], Any]] = {
    "komi for the side to move": lambda positions: positions.komi / KOMI_SCALE,
    "territory is counted": lambda positions: positions.territory,
    "the last move was a pass": lambda positions: positions.passed,
}
PLANES = (*POINT_PLANES, *(f"move {n + 1} ago" for n in range(HISTORY)), *BOARD_PLANES)
N_PLANES = len(PLANES)
FIRST_BOARD_PLANE = N_PLANES - len(BOARD_PLANES)
KOMI_PLANE, TERRITORY_PLANE = FIRST_BOARD_PLANE, FIRST_BOARD_PLANE + 1


def _point_planes(code: int) -> list[bool]:
    colour, liberties = code & 3, code >> LIBERTIES & 3
    stone, empty = colour in (OWN, ENEMY), colour == 0
    legal = empty and liberties > 0
    return [
        colour == OWN, colour == ENEMY, True,
        stone and liberties == 0, stone and liberties == 1, stone and liberties == 2,
        stone and bool(code & LADDER),
        empty and not legal, legal and liberties == 1, legal and liberties == 2,
        legal and bool(code & TAKES), legal and bool(code & CATCHES_BIT),
        empty and bool(code & KO_BIT),
    ]  # fmt: skip


TABLE: Float32Array = np.array([_point_planes(code) for code in range(128)], np.float32)
"""Row `code` holds the planes of a point with that byte."""


@dataclass(frozen=True)
class Positions:
    """Packed inputs of the network for some positions of one board size."""

    rows: int
    cols: int
    codes: NDArray[np.uint8]  # positions x points: a byte per point
    history: NDArray[np.int16]  # positions x HISTORY: the last moves, latest first, or NOWHERE
    passed: BoolArray  # whether the last move was a pass
    komi: Float32Array  # points the side to move receives, or pays; see `Board.white_bonus`
    territory: BoolArray

    def __len__(self) -> int:
        return len(self.codes)

    def part(self, cut: slice) -> Positions:
        """Return some of the positions, in their order."""
        arrays: Any = self.codes, self.history, self.passed, self.komi, self.territory
        return Positions(self.rows, self.cols, *(array[cut] for array in arrays))

    def facts(self) -> Float32Array:
        """Return the numbers of the constant planes: positions x BOARD_PLANES."""
        return np.stack([fact(self) for fact in BOARD_PLANES.values()], 1).astype(np.float32)

    def planes(self) -> Float32Array:
        """Return positions x planes x rows x columns, as the network reads them."""
        points = self.rows * self.cols
        out = np.empty((len(self), points, N_PLANES), np.float32)
        out[..., : len(POINT_PLANES)] = TABLE[self.codes]
        places = np.arange(points)
        moves = slice(len(POINT_PLANES), FIRST_BOARD_PLANE)
        out[..., moves] = self.history[:, None, :] == places[None, :, None]
        out[..., FIRST_BOARD_PLANE:] = self.facts()[:, None, :]
        grid = out.reshape(len(self), self.rows, self.cols, N_PLANES)
        return np.ascontiguousarray(grid.transpose(0, 3, 1, 2))


def pack_boards(boards: Sequence[Board], *, ladders: bool = True) -> Positions:
    """Pack boards of one size, each seen from its side to move."""
    rows, cols = boards[0].rows, boards[0].cols
    codes = np.empty((len(boards), rows * cols), np.uint8)
    history = np.full((len(boards), HISTORY), NOWHERE, np.int16)
    passed = np.zeros(len(boards), np.bool_)
    for i, board in enumerate(boards):
        encode(board.state, board.turn, ladders, codes[i])
        for ago, (_, point) in enumerate(reversed(board.moves[-HISTORY:])):
            if point != PASS:
                history[i, ago] = index_of(point, rows, cols)
        passed[i] = bool(board.moves) and board.moves[-1][1] == PASS
    komi = np.array([(1 if b.turn == layout.WHITE else -1) * b.white_bonus for b in boards])
    territory = np.array([b.rules.scoring == "territory" for b in boards], np.bool_)
    return Positions(rows, cols, codes, history, passed, komi.astype(np.float32), territory)


# ----- What it computes -----

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
