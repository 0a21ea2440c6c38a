"""The paper's network and its inputs in NumPy, and the arrays that the kernels work with.

One hidden layer of sigmoid units and one sigmoid output: the score of the side that has just moved.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, FloatArray
from tengen.board import BLACK, EMPTY, Board
from tengen.board.coordinates import point_at
from tengen.board.kernels import new_state
from tengen.board.symmetry import elements, permutation
from tengen.learners.opening_td import game_kernels, kernels
from tengen.learners.opening_td.kernels import STEPS
from tengen.learners.opening_td.settings import QUANTITIES, FeatureSet

_EDGE_STEPS = 4
"""Scalar distances to the edge are divided by this; binary ones end at this."""

# ----- Inputs -----


@cache
def layout_of(chosen: FeatureSet, rows: int, cols: int) -> kernels.Layout:
    """Return where each feature's inputs are."""
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
    """List the inputs of feature B, the same in every position: vertical edge, then horizontal."""
    inputs = []
    for cell in range(rows * cols):
        row, col = divmod(cell, cols)
        for side, distance in enumerate((min(col, cols - 1 - col), min(row, rows - 1 - row))):
            if binary:
                node = (2 * cell + side) * STEPS + min(distance, _EDGE_STEPS)
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
    """Return the largest number of active inputs of a position, without feature B."""
    each = 2 + sum(QUANTITIES[f] for f in chosen.features[1:] if f != "B")
    return 1 + rows * cols * each


def dense_inputs(board: Board, chosen: FeatureSet, *, friend: int, komi: float) -> FloatArray:
    """Return the whole input vector of a position from `friend`'s view, in its own orientation."""
    tables, layout = geometry(board.rows, board.cols), layout_of(chosen, board.rows, board.cols)
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


# ----- Network -----


def make_net(inputs: int, hidden: int, seed: int) -> kernels.Net:
    """Return a network with weights drawn uniformly from within 1 / sqrt(fan-in)."""
    rng = np.random.default_rng([seed, 2003])

    def draw(fan_in: int, *shape: int) -> FloatArray:
        bound = 1 / math.sqrt(fan_in)
        return rng.uniform(-bound, bound, shape)

    return kernels.Net(
        draw(inputs, inputs, hidden),
        draw(inputs, hidden),
        draw(hidden, hidden, 1),
        draw(hidden, 1),
    )


def predict(net: kernels.Net, inputs: FloatArray) -> FloatArray:
    """Return the output for one dense input vector, as an array of length 1."""
    activity = _sigmoid(inputs @ net.w1 + net.b1)
    return _sigmoid(activity @ net.w2 + net.b2)


def gradient(net: kernels.Net, inputs: FloatArray, error: FloatArray) -> kernels.Net:
    """Return the gradient of `error @ predict(net, inputs)` by all weights.

    With error = target - prediction this is the direction in which TD moves the weights.
    """
    activity = _sigmoid(inputs @ net.w1 + net.b1)
    outputs = _sigmoid(activity @ net.w2 + net.b2)
    at_outputs = error * outputs * (1 - outputs)
    at_hidden = (net.w2 @ at_outputs) * activity * (1 - activity)
    return kernels.Net(
        np.outer(inputs, at_hidden), at_hidden, np.outer(activity, at_outputs), at_outputs
    )


def make_room(chosen: FeatureSet, rows: int, cols: int, hidden: int) -> kernels.Room:
    """Allocate the kernels' scratch space."""
    cells, words = rows * cols, geometry(rows, cols).beside.shape[1]
    orientations = len(geometry(rows, cols).turned)
    active = most_active(chosen, rows, cols)
    powers = np.zeros((2, hidden))
    return kernels.Room(
        after=new_state(rows, cols),
        keys=np.zeros((orientations, (cells + 31) // 32), np.uint64),
        other_keys=np.zeros((orientations, (cells + 31) // 32), np.uint64),
        masks=np.zeros((3, words), np.uint64),
        scratch=np.zeros((3, words), np.uint64),
        index=np.zeros(active, np.int64),
        value=np.zeros(active),
        fixed=np.zeros(hidden),
        base=np.zeros((orientations, hidden)),
        known=np.zeros(orientations, np.bool_),
        sums=np.zeros(hidden),
        activity=np.zeros(hidden),
        values=np.zeros(cells),
        moves=np.zeros(cells, np.int64),
        chances=np.zeros(cells),
        slopes=np.zeros(hidden),
        head=np.zeros(cells, np.int64),
        facts=np.zeros((cells, 4), np.int64),
        spread=np.zeros((cells, 3, words), np.uint64),
        shift=np.zeros((orientations, cells, 2, hidden)),
        shifted=np.zeros((orientations, cells, 2), np.int64),
        cell=np.zeros(cells, np.int64),
        facing=np.zeros(cells, np.int64),
        joint=np.zeros((cells, 4), np.int64),
        hidden=np.zeros((cells, hidden)),
        powers=powers,
        power_bits=powers.view(np.int64),
    )


def make_memory(
    chosen: FeatureSet, rows: int, cols: int, hidden: int, plies: int
) -> game_kernels.Memory:
    """Allocate the memory of one opening."""
    active = min(most_active(chosen, rows, cols), 1 + 6 * plies)
    return game_kernels.Memory(
        np.zeros((plies, active), np.int64),
        np.zeros((plies, active)),
        np.zeros(plies, np.int64),
        np.full(plies, BLACK, np.int64),
        np.zeros((plies, hidden)),
        np.zeros(plies),
        np.zeros((plies, hidden, 1)),
        np.zeros(plies),
        np.full(plies, EMPTY, np.int64),
        np.zeros(plies),
        np.zeros(plies),
        np.zeros(plies + 1, np.int64),
    )


def _sigmoid(x: FloatArray) -> FloatArray:
    """Squash numbers to between 0 and 1."""
    return np.asarray(1.0 / (1.0 + np.exp(-x)), np.float64)
