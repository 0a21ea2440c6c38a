"""Lay out the paper's features A to E as inputs of a network; know no network.

A is the stones (and, once, prisoners and komi), B the distances to the edges, C the liberties of a
stone's block, D its size, E the stones near it. B to E are scalar or binary each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, FloatArray
from tengen.board import Board
from tengen.board.coordinates import point_at
from tengen.board.symmetry import elements, permutation
from tengen.errors import TengenError
from tengen.learners.opening_td import kernels

_FEATURES = "BCDE"
"""The features that may be added to A."""

_QUANTITIES = {"B": 2, "C": 1, "D": 1, "E": 2}
"""How many numbers each feature says of an intersection."""

ENCODINGS: dict[str, dict[str, bool]] = {
    "scalar": dict.fromkeys(_FEATURES, False),
    "binary": dict.fromkeys(_FEATURES, True),
    # The paper's own suggestion, which it did not try.
    "mixed": {"B": False, "C": True, "D": True, "E": False},
}
"""Which features are binary under each name."""

_EDGE_STEPS = 4
"""Scalar distances to the edge are divided by this; binary ones end at this."""

SETS = tuple("A" + "".join(c) for n in range(5) for c in combinations(_FEATURES, n))
"""The sixteen players of the paper, by their features."""


@dataclass(frozen=True)
class FeatureSet:
    """A selection of features and how each is encoded.

    >>> FeatureSet("ABCDE", "binary").n_inputs(9, 9)
    2593
    >>> FeatureSet("ABCDE", "mixed").n_inputs(9, 9)
    1297
    """

    features: str = "ABCDE"
    encoding: str = "binary"

    def __post_init__(self) -> None:
        letters = self.features
        if (
            "".join(sorted(set(letters))) != letters
            or letters[:1] != "A"
            or set(letters) - set("ABCDE")
        ):
            raise TengenError(
                f"features {letters!r} are not A followed by some of B, C, D, E in order"
            )
        if self.encoding not in ENCODINGS:
            raise TengenError(f"encoding {self.encoding!r} is none of {', '.join(ENCODINGS)}")

    def binary(self) -> Mapping[str, bool]:
        """Tell which features are binary."""
        return ENCODINGS[self.encoding]

    def nodes(self, feature: str) -> int:
        """Return how many inputs a feature has for each intersection."""
        return _QUANTITIES[feature] * (kernels.STEPS if self.binary()[feature] else 1)

    def n_inputs(self, rows: int, cols: int) -> int:
        """Return the length of the input vector."""
        nodes = sum(self.nodes(f) for f in self.features[1:])
        return 1 + rows * cols * (2 + nodes)

    def layout(self, rows: int, cols: int) -> kernels.Layout:
        """Say where each feature's inputs are, for the kernels."""
        return _layout(self, rows, cols)


@cache
def _layout(chosen: FeatureSet, rows: int, cols: int) -> kernels.Layout:
    cells = rows * cols
    slots = np.full(kernels.N_SLOTS, -1, np.int64)
    slots[kernels.A_OCCUPIED], slots[kernels.A_FRIENDLY], slots[kernels.A_HIDDEN] = (
        0,
        cells,
        2 * cells,
    )
    place = {
        "C": (kernels.C_FIRST, kernels.C_BINARY),
        "D": (kernels.D_FIRST, kernels.D_BINARY),
        "E": (kernels.E_FIRST, kernels.E_BINARY),
    }
    offset = 2 * cells + 1
    fixed: list[tuple[int, float]] = []
    for feature in chosen.features[1:]:
        binary = chosen.binary()[feature]
        if feature == "B":
            fixed = _edge_inputs(rows, cols, offset, binary)
        else:
            first, kind = place[feature]
            slots[first], slots[kind] = offset, binary
        offset += cells * chosen.nodes(feature)
    index = np.array([i for i, _ in fixed], np.int64)
    value = np.array([v for _, v in fixed], np.float64)
    return kernels.Layout(slots, index, value)


def _edge_inputs(rows: int, cols: int, offset: int, binary: bool) -> list[tuple[int, float]]:
    """List the inputs of feature B, which no stone changes: vertical edge, then horizontal."""
    inputs = []
    for cell in range(rows * cols):
        row, col = divmod(cell, cols)
        for side, distance in enumerate((min(col, cols - 1 - col), min(row, rows - 1 - row))):
            if binary:
                node = (2 * cell + side) * kernels.STEPS + min(distance, _EDGE_STEPS)
                inputs.append((offset + node, 1.0))
            elif distance:
                inputs.append((offset + 2 * cell + side, distance / _EDGE_STEPS))
    return inputs


@cache
def geometry(rows: int, cols: int) -> kernels.Geometry:
    """Return the tables of a board size."""
    cells = rows * cols
    points = np.array([point_at(i, rows, cols) for i in range(cells)], np.int64)
    cell_of = np.full((rows + 2) * (cols + 1) + 1, -1, np.int64)
    cell_of[points] = np.arange(cells)
    turned = np.array([permutation(rows, cols, e)[:-1] for e in elements(rows, cols)], np.int64)
    row, col = np.divmod(np.arange(cells), cols)
    distance = abs(row[:, None] - row) + abs(col[:, None] - col)
    return kernels.Geometry(
        points,
        cell_of,
        turned,
        turned.copy(),
        _bits(distance == 1),
        _bits((distance >= 1) & (distance <= 3)),
    )


def _bits(table: BoolArray) -> NDArray[np.uint64]:
    """Pack rows of booleans into words of 64 bits, the first column lowest."""
    words = (table.shape[1] + 63) // 64
    padded = np.zeros((table.shape[0], words * 64), np.uint64)
    padded[:, : table.shape[1]] = table
    shifts = np.arange(64, dtype=np.uint64)
    packed: NDArray[np.uint64] = np.bitwise_or.reduce(
        padded.reshape(-1, words, 64) << shifts, axis=2
    )
    return packed


def most_active(chosen: FeatureSet, rows: int, cols: int) -> int:
    """Return how many inputs of a position can be active at most, feature B left out."""
    each = 2 + sum(_QUANTITIES[f] for f in chosen.features[1:] if f != "B")
    return 1 + rows * cols * each


def dense_inputs(board: Board, chosen: FeatureSet, *, friend: int, komi: float) -> FloatArray:
    """Return the whole input vector of a position as `friend` sees it, in its own orientation."""
    tables, layout = geometry(board.rows, board.cols), chosen.layout(board.rows, board.cols)
    words = tables.beside.shape[1]
    keys = np.zeros((len(tables.turned), (board.rows * board.cols + 31) // 32), np.uint64)
    kernels.position_keys(board.state, friend, tables, keys)
    orientation = kernels.best_orientation(keys)
    room = most_active(chosen, board.rows, board.cols)
    index, value = np.zeros(room, np.int64), np.zeros(room)
    masks, scratch = np.zeros((3, words), np.uint64), np.zeros((3, words), np.uint64)
    n = kernels.extract(
        board.state, friend, komi, orientation, tables, layout, masks, scratch, index, value
    )
    inputs = np.zeros(chosen.n_inputs(board.rows, board.cols))
    inputs[index[:n]] = value[:n]
    inputs[layout.fixed_index] = layout.fixed_value
    return inputs
