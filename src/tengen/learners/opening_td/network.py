"""The tables, weights and scratch arrays that the kernels work with.

The paper's network has one hidden layer of sigmoid units and one sigmoid output: the score of the
side that has just moved.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, FloatArray
from tengen.board import Board
from tengen.board.coordinates import elements, permutation, point_at
from tengen.board.kernels import new_state
from tengen.learners.opening_td import kernels
from tengen.learners.opening_td.kernels import STEPS
from tengen.learners.opening_td.settings import QUANTITIES, TDSettings

_EDGE_STEPS = 4
"""Scalar distances to the edge are divided by this; binary ones end at this."""


@cache
def layout_of(settings: TDSettings) -> kernels.Layout:
    """Return where each feature's inputs are."""
    rows, cols = settings.shape
    slots = np.full((kernels.N_FACTS, 4), -1, np.int64)
    offset = 2 * rows * cols + 1
    fixed: list[tuple[int, float]] = []
    for feature in settings.features[1:]:
        binary, width = settings.binary[feature], settings.nodes(feature)
        if feature == "B":
            fixed = _edge_inputs(rows, cols, offset, binary)
        elif feature == "E":
            second = offset + width // 2
            slots[kernels.FRIENDS] = offset, width, binary, 0
            slots[kernels.ENEMIES] = second, width, binary, 0
        else:
            fact = kernels.LIBERTIES if feature == "C" else kernels.STONES
            slots[fact] = offset, width, binary, 1
        offset += rows * cols * width
    index = np.array([i for i, _ in fixed], np.int64)
    return kernels.Layout(slots, index, np.array([v for _, v in fixed], np.float64))


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
def tables_of(rows: int, cols: int) -> kernels.Tables:
    """Return the tables of a board size."""
    cells = rows * cols
    points = np.array([point_at(i, rows, cols) for i in range(cells)], np.int64)
    cell_of = np.full((rows + 2) * (cols + 1) + 1, -1, np.int64)
    cell_of[points] = np.arange(cells)
    turned = np.array([permutation(rows, cols, e)[:-1] for e in elements(rows, cols)], np.int64)
    row, col = np.divmod(np.arange(cells), cols)
    distance = abs(row[:, None] - row) + abs(col[:, None] - col)
    close = (distance >= 1) & (distance <= 3)
    spread = np.stack([_bits(part) for part in (distance == 0, distance == 1, close)], axis=1)
    return kernels.Tables(points, cell_of, turned, spread)


def _bits(table: BoolArray) -> NDArray[np.uint64]:
    """Pack rows of booleans into words of 64 bits, the first column lowest."""
    padded = np.pad(table, ((0, 0), (0, -table.shape[1] % 64)))
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def make_net(settings: TDSettings) -> kernels.Net:
    """Return a network with weights drawn uniformly from within 1 / sqrt(fan-in)."""
    rng = np.random.default_rng([settings.seed, 2003])
    inputs, hidden = settings.n_inputs, settings.hidden

    def draw(fan_in: int, *shape: int) -> FloatArray:
        bound = 1 / math.sqrt(fan_in)
        return rng.uniform(-bound, bound, shape)

    return kernels.Net(
        draw(inputs, inputs, hidden), draw(inputs, hidden), draw(hidden, hidden, 1), draw(hidden, 1)
    )


def _most_active(settings: TDSettings, stones: int) -> int:
    """Return the largest number of active inputs of so many stones, without feature B."""
    return 1 + stones * (2 + sum(QUANTITIES[f] for f in settings.features[1:] if f != "B"))


def make_room(settings: TDSettings) -> kernels.Room:
    """Allocate the kernels' scratch space."""
    (rows, cols), hidden = settings.shape, settings.hidden
    cells, tables = rows * cols, tables_of(rows, cols)
    orientations, words = len(tables.turned), tables.spread.shape[2]
    active = _most_active(settings, cells)
    units = np.zeros((kernels.POWERS + 2, hidden))
    return kernels.Room(
        after=new_state(rows, cols),
        keys=np.zeros((orientations, (cells + 31) // 32), np.uint64),
        masks=np.zeros((3, words), np.uint64),
        blocks=np.zeros((cells + 1, kernels.BLOCK + 1), np.int64),
        spread=np.zeros((cells + 1, 3, words), np.uint64),
        index=np.zeros(active, np.int64),
        value=np.zeros(active),
        units=units,
        bits=units[kernels.POWERS :].view(np.int64),
        base=np.zeros((orientations, hidden)),
        known=np.zeros(orientations, np.bool_),
        shift=np.zeros((orientations, cells, 2, hidden)),
        shifted=np.zeros((orientations, cells, 2), np.int64),
        moves=np.zeros((cells, kernels.FACING + 1), np.int64),
        values=np.zeros(cells),
        hidden=np.zeros((cells, hidden)),
    )


def make_memory(settings: TDSettings) -> kernels.Memory:
    """Allocate the memory of one opening."""
    plies, hidden = settings.opening_plies, settings.hidden
    active = _most_active(settings, min(plies, math.prod(settings.shape)))
    return kernels.Memory(
        index=np.zeros((plies, active), np.int64),
        value=np.zeros((plies, active)),
        count=np.zeros(plies, np.int64),
        side=np.zeros(plies, np.int64),
        hashes=np.zeros(plies + 1, np.int64),
        activity=np.zeros((plies, hidden)),
        w2=np.zeros((plies, hidden)),
        slope=np.zeros(plies),
    )


def dense_inputs(board: Board, settings: TDSettings, *, friend: int, komi: float) -> FloatArray:
    """Return the whole input vector of a position from `friend`'s view, in its own orientation."""
    tables, layout, room = tables_of(*settings.shape), layout_of(settings), make_room(settings)
    work = make_net(settings), tables, layout, room, room.index, room.value
    _, n = kernels.evaluate(board.state, friend, komi, *work)
    inputs = np.zeros(settings.n_inputs)
    inputs[room.index[:n]] = room.value[:n]
    inputs[layout.fixed_index] = layout.fixed_value
    return inputs
