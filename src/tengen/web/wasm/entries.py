"""What the page may call: kernels, with addresses and sizes instead of arrays.

Each entry is compiled for the browser by `build`, which reads its annotations: an address of
numbers of some type, an integer, or a float. Entries only lay arrays over memory and call kernels.
A position is at `s`, with `n` points (see `board.layout_kernels`); its table of earlier positions
has `slots` entries.
"""

# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NewType

import numba
import numpy as np

import tengen.board.kernels as board
import tengen.network.engine_kernels as layers
import tengen.network.forward_kernels as forward
import tengen.players.tree_kernels as tree
from tengen.board import playout_kernels, tactics_kernels
from tengen.board.counting_kernels import careful_kinds, plain_kinds
from tengen.board.layout_kernels import COLOUR, COLS, FIELDS, HASH, ROWS, SCALARS, SUICIDE, TURN
from tengen.board.playouts import shape_table
from tengen.network.inputs_kernels import HISTORY
from tengen.network.inputs_kernels import encode as encode_position

Int = NewType("Int", int)
Float = NewType("Float", float)
# Addresses of numbers.
I64 = NewType("I64", int)
I32 = NewType("I32", int)
I16 = NewType("I16", int)
I8 = NewType("I8", int)
U8 = NewType("U8", int)
F32 = NewType("F32", int)
F64 = NewType("F64", int)

ENTRIES: dict[str, Callable[..., Any]] = {}
"""All entries by name."""

_SHAPES = shape_table()


def _entry(function: Callable[..., Any]) -> Callable[..., Any]:
    ENTRIES[function.__name__] = function
    return function


# ----- Rules -----


@_entry
def clear(s: I64, n: Int, rows: Int, cols: Int, suicide: Int) -> None:
    """Make the empty position of this size, Black to move."""
    state = numba.carray(s, (FIELDS, n))
    board.clear(state, rows, cols)
    state[SCALARS, SUICIDE] = suicide


@_entry
def place(s: I64, n: Int, p: Int, colour: Int) -> Int:
    """Put a stone on an empty point before the first move; return the stones captured."""
    return board.place(numba.carray(s, (FIELDS, n)), p, colour)


@_entry
def give_turn(s: I64, n: Int, colour: Int) -> None:
    """Let a side move; if it was the other one's turn, that one passed."""
    board.give_turn(numba.carray(s, (FIELDS, n)), colour)


@_entry
def remember(s: I64, n: Int, table: I64, slots: Int, ko_rule: Int) -> Int:
    """Remember the position for superko; return whether it is new."""
    state = numba.carray(s, (FIELDS, n))
    key = board.history_key(state[SCALARS, board.HASH], state[SCALARS, TURN], ko_rule)
    return board.remember(numba.carray(table, slots), key)


@_entry
def regrow(table: I64, slots: Int, larger: I64, more: Int) -> None:
    """Move all positions to a larger table, which is empty."""
    board.regrow(numba.carray(table, slots), numba.carray(larger, more))


@_entry
def verdict(s: I64, n: Int, table: I64, slots: Int, ko_rule: Int, p: Int, colour: Int) -> Int:
    """Return 0 if a move is allowed, else the reason why not."""
    state, known = numba.carray(s, (FIELDS, n)), numba.carray(table, slots)
    return board.verdict(state, known, ko_rule, p, colour)


@_entry
def legal(s: I64, n: Int, table: I64, slots: Int, ko_rule: Int, colour: Int, out: U8) -> None:
    """Write 1 for every point where a side may play, row by row, the pass last."""
    state, known = numba.carray(s, (FIELDS, n)), numba.carray(table, slots)
    size = state[SCALARS, board.ROWS] * state[SCALARS, board.COLS]
    board.allowed_mask(state, known, ko_rule, colour, numba.carray(out, size + 1))


@_entry
def push(s: I64, n: Int, table: I64, slots: Int, ko_rule: Int, p: Int, colour: Int) -> Int:
    """Play a move on an empty point, or pass; return whether it was played."""
    state, known = numba.carray(s, (FIELDS, n)), numba.carray(table, slots)
    played, _ = board.push(state, known, ko_rule, p, colour)
    return played


@_entry
def grid(s: I64, n: Int, out: I8) -> None:
    """Write the stones, row by row from the top left."""
    state = numba.carray(s, (FIELDS, n))
    size = state[SCALARS, board.ROWS] * state[SCALARS, board.COLS]
    board.to_grid(state, numba.carray(out, size))


@_entry
def liberties(s: I64, n: Int, p: Int, out: I64) -> Int:
    """Write the liberties of the block at a stone, and return how many it has."""
    return board.block_liberties(numba.carray(s, (FIELDS, n)), p, numba.carray(out, n))


# ----- Life and death -----


@_entry
def is_own_eye(s: I64, n: Int, p: Int, colour: Int) -> Int:
    """Return whether an empty point is an eye of one point that is not plainly false."""
    return tactics_kernels.is_own_eye(numba.carray(s, (FIELDS, n)), p, colour)


@_entry
def find_safe(s: I64, n: Int, colour: Int, out: I64) -> None:
    """Mark what a colour keeps even if it always passes: 1 its stones, 2 the points of its eyes."""
    state = numba.carray(s, (FIELDS, n))
    tactics_kernels.benson(state[COLOUR], state[SCALARS, COLS] + 1, colour, numba.carray(out, n))


@_entry
def run_playouts(s: I64, n: Int, count: Int, scores: I32, owners: I32) -> None:
    """Run heavy playouts, seeded by the position; add Black's points less White's to `owners`."""
    state = numba.carray(s, (FIELDS, n))
    points = state[SCALARS, ROWS] * state[SCALARS, COLS]
    seed = (state[SCALARS, HASH] >> 1) & 0x7FFFFFFFFFFFFFFF
    playout_kernels.run_chunk(
        state, _SHAPES, True, 0, count, seed, 3 * points, numba.carray(scores, count),
        numba.carray(owners, points),
    )  # fmt: skip


# ----- Counting -----


@_entry
def area_score(s: I64, n: Int) -> Int:
    """Return Black's area minus White's, every stone alive, komi not included."""
    return board.area_score(numba.carray(s, (FIELDS, n)))


@_entry
def count_points(grid: I8, dead: U8, rows: Int, cols: Int, careful: Int, kinds: I8) -> None:
    """Write what every point counts for (see `board.counting_kernels`)."""
    stones, lost = numba.carray(grid, (rows, cols)), numba.carray(dead, (rows, cols))
    found = numba.carray(kinds, (rows, cols))
    if careful:
        careful_kinds(stones, lost, found)
    else:
        plain_kinds(stones, lost, found)


# ----- The network -----


@_entry
def encode(s: I64, n: Int, mover: Int, ladders: Int, out: U8) -> None:
    """Write a byte per point, row by row, as the network reads them."""
    state = numba.carray(s, (FIELDS, n))
    size = state[SCALARS, board.ROWS] * state[SCALARS, board.COLS]
    encode_position(state, mover, ladders != 0, numba.carray(out, size))


@_entry
def lift(
    codes: U8, history: I16, facts: F32, n_facts: Int, table: F32, places: Int, moves: F32,
    constants: F32, count: Int, rows: Int, cols: Int, maps: Int, found: I64, out: F32,
) -> None:  # fmt: skip
    """Run the first layer of the network on positions; `found` has room for a number per place."""
    points = rows * cols
    layers.lift(
        numba.carray(codes, (count, points)), numba.carray(history, (count, HISTORY)),
        numba.carray(facts, (count, n_facts)), numba.carray(table, (128, places, maps)),
        numba.carray(moves, (HISTORY, places, maps)),
        numba.carray(constants, (n_facts, points, maps)), rows, cols, numba.carray(found, places),
        numba.carray(out, (count, points, maps)),
    )  # fmt: skip


@_entry
def scratch_size(plan: I64, count: Int, rows: Int, cols: Int, maps: Int, tile: Int) -> Int:
    """Return how many numbers of scratch space `evaluate` needs."""
    return forward.scratch_size(numba.carray(plan, forward.PLAN), count, rows, cols, maps, tile)


@_entry
def evaluate(
    x: F32, count: Int, rows: Int, cols: Int, maps: Int, plan: I64, weights: F32, size: Int,
    tile: Int, larger: Float, scratch: F32, room: Int, logits: F32, owner: F32, values: F32,
) -> None:  # fmt: skip
    """Run all other layers; write logits of moves, owners and three values per position."""
    shape = numba.carray(plan, forward.PLAN)
    points = rows * cols
    forward.evaluate(
        numba.carray(x, (count, rows, cols, maps)), shape, numba.carray(weights, size), tile,
        np.float32(larger), numba.carray(scratch, room),
        (
            numba.carray(logits, (shape[forward.MOVE_OUTPUTS], count, points + 1)),
            numba.carray(owner, (count, points)), numba.carray(values, (count, forward.VALUES)),
        ),
    )  # fmt: skip


# ----- Search: the tree of `players.network_tree` -----


@_entry
def descend(
    evaluated: U8, over: U8, turn: I8, first: I32, count: I32, opened: I32, explored: F32,
    visits: I64, waiting: I32, sums: F64, parent: I32, move: I32, nodes: Int, edge_move: I32,
    edge_prior: F32, edge_child: I32, edges: Int, used: Int, path: I32,
) -> Int:  # fmt: skip
    """Walk to a position to evaluate, or one that is over; return the length of the path."""
    return tree.descend(
        (
            numba.carray(evaluated, nodes), numba.carray(over, nodes), numba.carray(turn, nodes),
            numba.carray(parent, nodes), numba.carray(move, nodes), numba.carray(first, nodes),
            numba.carray(count, nodes), numba.carray(opened, nodes), numba.carray(explored, nodes),
            numba.carray(visits, nodes), numba.carray(waiting, nodes),
            numba.carray(sums, (nodes, 4)),
        ),
        (
            numba.carray(edge_move, edges), numba.carray(edge_prior, edges),
            numba.carray(edge_child, edges),
        ),
        used, numba.carray(path, nodes),
    )  # fmt: skip


@_entry
def store_evaluation(
    node: Int, ends: Int, terms: F64, owners: F64, points: Int, moves: I64, priors: F64,
    n_moves: Int, used: Int, first: I32, count: I32, own: F64, ownership: I8, evaluated: U8,
    over: U8, nodes: Int, edge_move: I32, edge_prior: F32, edge_child: I32, edges: Int,
) -> None:  # fmt: skip
    """Store an evaluated position, its moves as edges from number `used` on."""
    tree.store_evaluation(
        node, ends,
        (
            numba.carray(terms, 4), numba.carray(owners, points), numba.carray(moves, n_moves),
            numba.carray(priors, n_moves),
        ),
        used,
        (
            numba.carray(evaluated, nodes), numba.carray(over, nodes), numba.carray(first, nodes),
            numba.carray(count, nodes), numba.carray(own, (nodes, 4)),
            numba.carray(ownership, (nodes, points)),
        ),
        (
            numba.carray(edge_move, edges), numba.carray(edge_prior, edges),
            numba.carray(edge_child, edges),
        ),
    )  # fmt: skip


@_entry
def back_up(
    path: I32, length: Int, waiting: I32, visits: I64, sums: F64, own: F64, nodes: Int
) -> None:
    """Add the value of the last node of a path to all its nodes."""
    tree.back_up(
        numba.carray(path, length), numba.carray(waiting, nodes), numba.carray(visits, nodes),
        numba.carray(sums, (nodes, 4)), numba.carray(own, (nodes, 4)),
    )  # fmt: skip


@_entry
def keep_likely(
    s: I64, n: Int, order: I64, length: Int, priors: F64, points: Int, moves: I64, chances: F64
) -> Int:
    """Write the likeliest moves that fill no own eye, and the pass; return how many."""
    return tree.keep_likely(
        numba.carray(s, (FIELDS, n)), numba.carray(order, length),
        numba.carray(priors, points + 1), numba.carray(moves, length + 1),
        numba.carray(chances, length + 1),
    )  # fmt: skip
