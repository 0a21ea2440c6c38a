"""Inputs of positions, the network's output and learning step, and the values of all moves.

A *cell* is a row-major index. Every position is read in the *orientation* whose stones, written
cell by cell, come first, so that all eight symmetric positions have the same inputs. Positions are
evaluated for the *friendly* side, the one that has just moved. Inputs are sparse: lists of the
indices that are not zero, with their values. Those of feature B are the same for every position,
unless only stones have them.

A move that captures nothing changes little: it adds one stone, joins own blocks, takes a liberty
from enemy blocks, and is one more stone near the blocks within distance 3. So `rate_moves` computes
the hidden sums of the position before the move, once per orientation, and adds only the inputs that
differ. Moves that capture are evaluated from scratch.
"""

# mypy: ignore-errors
from __future__ import annotations

from collections import namedtuple

import numpy as np

from tengen.arrays import FloatArray, IntArray, UInt64Array
from tengen.board.kernels import (
    below,
    copy_row,
    copy_state,
    in_atari,
    is_legal,
    near,
    place,
    uniform,
)
from tengen.board.layout_kernels import (
    BLACK,
    BORDER,
    COLOUR,
    COLS,
    EMPTY,
    HASH,
    HEAD,
    NEXT,
    PRISONERS_B,
    PRISONERS_W,
    SCALARS,
    SIZE,
    TURN,
)
from tengen.jit import kernel

# Tables of a board size.
#   cells    bordered point of each cell
#   cell_of  cell of each bordered point, -1 on the border
#   turned   [orientation, cell] -> cell; also the place in the key that decides the orientation
#   spread   [cell, OWN | BESIDE | CLOSE, word] bits of the cell, of those at distance 1, and of
#            those at Manhattan distance 1 to 3
Tables = namedtuple("Tables", "cells cell_of turned spread")
OWN, BESIDE, CLOSE = range(3)

# Where the inputs are.
#   slots        [fact] FIRST input (-1 for a feature that is left out), WIDTH in inputs per cell,
#                whether it is BINARY, and the number LEAST that a binary feature starts with
#   fixed_index  inputs of feature B, active in every position; fixed_value: their values
#   edge_index   [cell, input] those inputs where only stones have them; edge_value: their values
Layout = namedtuple("Layout", "slots fixed_index fixed_value edge_index edge_value")
FIRST, WIDTH, BINARY, LEAST = range(4)

# Facts about a block, the first columns of `Scratch.blocks` and `Scratch.moves`.
LIBERTIES, STONES, FRIENDS, ENEMIES = range(4)
N_FACTS = BLOCK = 4  # the head of a block
MOVE, CELL, FACING = 4, 5, 6  # a move, its cell, its orientation (-1: it captures)

# The weights: w1 (inputs, hidden), b1 (hidden), w2 (hidden, 1), b2 (1).
Net = namedtuple("Net", "w1 b1 w2 b2")

# Scratch space; only `moves` and `values` remain valid after a call.
#   after    a position to try moves on; keys: keys of the orientations
#   masks    3 x words: empty, black, white cells
#   blocks   facts and head of each block; spread: its bits as in Tables; one row more for scratch
#   index    inputs of a position, value: their values
#   units    rows of hidden units, see below; bits: the rows from POWERS as whole numbers
#   base     [orientation] hidden sums of the position before the move; known: which are computed
#   shift    [orientation, block, 0 near or 1 beside] what a new stone there changes in the sums
#   shifted  the same places: 0 not computed yet, 1 computed, 2 nothing changes
#   moves    facts of the block that each candidate makes, and the candidate; values: their values
#   hidden   their hidden units
Scratch = namedtuple(
    "Scratch",
    "after keys masks blocks spread index value units bits base known shift shifted moves values "
    "hidden",
)
FIXED, SUMS, ACTIVITY, SLOPES, POWERS = range(5)

# One opening, with plies as the first axis: inputs and their number, the side that moved, hashes of
# the positions before each ply and at the end (for superko); for the gradient of each ply, as of
# when it was learned: hidden activity, second layer, slope of the output.
Memory = namedtuple("Memory", "index value count side hashes activity w2 slope")

STEPS = 5  # inputs per number of a binary feature; scalars are divided by this
CUT = 10  # scalars are cut off here

_FRIEND_CODE, _ENEMY_CODE = np.uint64(2), np.uint64(1)


# ----- Orientation -----


@kernel
def _position_keys(s: IntArray, friend: int, tables: Tables, keys: UInt64Array) -> None:
    """Write each orientation's key: two bits per cell, friendly 2, enemy 1, first cell highest."""
    for k in range(keys.shape[0]):
        for w in range(keys.shape[1]):
            keys[k, w] = 0
    for cell in range(tables.cells.shape[0]):
        c = s[COLOUR, tables.cells[cell]]
        if c == EMPTY:
            continue
        code = _FRIEND_CODE if c == friend else _ENEMY_CODE
        for k in range(keys.shape[0]):
            place = tables.turned[k, cell]
            keys[k, place >> 5] |= code << np.uint64(62 - 2 * (place & 31))


@kernel
def _best_orientation(keys: UInt64Array, turned: IntArray, cell: int) -> int:
    """Return the orientation with the largest key, with a friendly stone on `cell` (-1: none)."""
    best = 0
    for k in range(1, keys.shape[0]):
        for w in range(keys.shape[1]):
            mine, theirs = keys[k, w], keys[best, w]
            if cell >= 0:
                place, best_place = turned[k, cell], turned[best, cell]
                if place >> 5 == w:
                    mine |= _FRIEND_CODE << np.uint64(62 - 2 * (place & 31))
                if best_place >> 5 == w:
                    theirs |= _FRIEND_CODE << np.uint64(62 - 2 * (best_place & 31))
            if mine != theirs:
                if mine > theirs:
                    best = k
                break
    return best


# ----- Features -----


@kernel
def _count_bits(x: int) -> int:
    """Count the bits that are set in a 64-bit word."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def _count_around(
    spread: UInt64Array, row: int, colour: int, masks: UInt64Array, facts: IntArray, i: int
) -> None:
    """Write to `facts[i]` the liberties, friends and enemies of the block in spread[row]."""
    liberties = friends = enemies = 0
    for w in range(masks.shape[1]):
        others = ~spread[row, OWN, w]
        liberties += _count_bits(spread[row, BESIDE, w] & masks[EMPTY, w] & others)
        friends += _count_bits(spread[row, CLOSE, w] & masks[colour, w] & others)
        enemies += _count_bits(spread[row, CLOSE, w] & masks[3 - colour, w])
    facts[i, LIBERTIES], facts[i, FRIENDS], facts[i, ENEMIES] = liberties, friends, enemies


@kernel
def _survey(
    s: IntArray, tables: Tables, masks: UInt64Array, blocks: IntArray, spread: UInt64Array
) -> int:
    """List the blocks with their facts and bits; return how many there are."""
    words = masks.shape[1]
    for colour in range(3):
        for w in range(words):
            masks[colour, w] = 0
    for cell in range(tables.cells.shape[0]):
        masks[s[COLOUR, tables.cells[cell]], cell >> 6] |= tables.spread[cell, OWN, cell >> 6]
    n = 0
    for first in range(tables.cells.shape[0]):
        head = tables.cells[first]
        if s[COLOUR, head] == EMPTY or s[HEAD, head] != head:
            continue
        for k in range(3):
            for w in range(words):
                spread[n, k, w] = 0
        x = head
        while True:
            cell = tables.cell_of[x]
            for k in range(3):
                for w in range(words):
                    spread[n, k, w] |= tables.spread[cell, k, w]
            x = s[NEXT, x]
            if x == head:
                break
        _count_around(spread, n, s[COLOUR, head], masks, blocks, n)
        blocks[n, STONES], blocks[n, BLOCK] = s[SIZE, head], head
        n += 1
    return n


@kernel
def _put_stone(
    layout: Layout, cells: int, facts: IntArray, row: int, cell: int, side: float, index: IntArray,
    value: FloatArray, n: int,
) -> int:  # fmt: skip
    """Add the inputs of a stone whose block has the facts of `row`; return how many there are."""
    index[n], value[n] = cell, 1.0
    index[n + 1], value[n + 1] = cells + cell, side
    n += 2
    for k in range(layout.edge_index.shape[1]):
        index[n], value[n] = layout.edge_index[cell, k], layout.edge_value[cell, k]
        n += 1
    slots = layout.slots
    for k in range(N_FACTS):
        first, number = slots[k, FIRST] + cell * slots[k, WIDTH], facts[row, k]
        if slots[k, FIRST] < 0:
            continue
        if slots[k, BINARY]:
            index[n], value[n] = first + min(number - slots[k, LEAST], STEPS - 1), 1.0
            n += 1
        elif number > 0:
            index[n], value[n] = first, min(number, CUT) / STEPS
            n += 1
    return n


@kernel
def _list_inputs(
    s: IntArray, friend: int, komi: float, turned: IntArray, cell_of: IntArray, layout: Layout,
    blocks: IntArray, count: int, index: IntArray, value: FloatArray,
) -> int:  # fmt: skip
    """List the inputs of a surveyed position that are not zero, without B; return how many.

    Feature E counts friends and enemies from the stone's own view; A gives the stone's side.
    """
    cells = turned.shape[0]
    # Prisoners and komi, which the stones do not show.
    lead = s[SCALARS, PRISONERS_B] - s[SCALARS, PRISONERS_W] - komi
    index[0], value[0] = 2 * cells, (lead if friend == BLACK else -lead) / 10.0
    n = 1
    for b in range(count):
        head = x = blocks[b, BLOCK]
        side = 1.0 if s[COLOUR, head] == friend else -1.0
        while True:
            n = _put_stone(layout, cells, blocks, b, turned[cell_of[x]], side, index, value, n)
            x = s[NEXT, x]
            if x == head:
                break
    return n


# ----- Network -----


@kernel
def _sigmoid(x: float) -> float:
    """Squash a number to between 0 and 1."""
    return 1.0 / (1.0 + np.exp(-x))


@kernel
def _constant_sums(net: Net, layout: Layout, sums: FloatArray) -> None:
    """Write the hidden sums that all positions have in common: biases and feature B."""
    copy_row(net.b1, sums)
    _add_inputs(net.w1, layout.fixed_index, layout.fixed_value, layout.fixed_index.shape[0], sums)


@kernel
def _add_inputs(
    w1: FloatArray, index: IntArray, value: FloatArray, n: int, sums: FloatArray
) -> None:
    """Add the first `n` listed inputs, weighted, to the sums of the hidden layer."""
    for j in range(n):
        i, v = index[j], value[j]
        for h in range(sums.shape[0]):
            sums[h] += v * w1[i, h]


@kernel
def _finish_forward(net: Net, sums: FloatArray, activity: FloatArray) -> float:
    """Turn the hidden layer's sums into its activity; return the output."""
    for h in range(sums.shape[0]):
        activity[h] = _sigmoid(sums[h])
    x = net.b2[0]
    for h in range(sums.shape[0]):
        x += activity[h] * net.w2[h, 0]
    return _sigmoid(x)


@kernel
def evaluate(
    s: IntArray, friend: int, komi: float, net: Net, tables: Tables, layout: Layout,
    scratch: Scratch, index: IntArray, value: FloatArray,
) -> tuple[float, int]:  # fmt: skip
    """Return the network's output from `friend`'s view, and the number of inputs listed."""
    _position_keys(s, friend, tables, scratch.keys)
    turned = tables.turned[_best_orientation(scratch.keys, tables.turned, -1)]
    blocks = _survey(s, tables, scratch.masks, scratch.blocks, scratch.spread)
    n = _list_inputs(
        s, friend, komi, turned, tables.cell_of, layout, scratch.blocks, blocks, index, value
    )
    sums = scratch.units[SUMS]
    _constant_sums(net, layout, sums)
    _add_inputs(net.w1, index, value, n, sums)
    return _finish_forward(net, sums, scratch.units[ACTIVITY]), n


@kernel
def _step_inputs(
    w1: FloatArray, index: IntArray, value: FloatArray, n: int, slopes: FloatArray, rate: float
) -> None:
    """Move the weights of the first `n` listed inputs along the slopes of the hidden sums."""
    for j in range(n):
        i, v = index[j], rate * value[j]
        for h in range(slopes.shape[0]):
            w1[i, h] += v * slopes[h]


@kernel
def learn(
    memory: Memory, ply: int, target: float, net: Net, layout: Layout, scratch: Scratch,
    rate: float, trace: float,
) -> None:  # fmt: skip
    """Move the weights so that the prediction after `ply` comes closer to `target` (Black's view).

    Uses the gradient at the current weights. With `trace` > 0 earlier plies are updated too, with
    the gradients stored when they were learned, weighted by trace ** age.
    """
    hidden = net.b1.shape[0]
    sums, slopes = scratch.units[SUMS], scratch.units[SLOPES]
    _constant_sums(net, layout, sums)
    _add_inputs(net.w1, memory.index[ply], memory.value[ply], memory.count[ply], sums)
    output = _finish_forward(net, sums, memory.activity[ply])
    memory.slope[ply] = output * (1.0 - output)
    for h in range(hidden):
        memory.w2[ply, h] = net.w2[h, 0]
    error = target - (output if memory.side[ply] == BLACK else 1.0 - output)
    weight = 1.0
    for t in range(ply, -1, -1):
        sign = 1.0 if memory.side[t] == BLACK else -1.0
        at_output, step = sign * error * memory.slope[t], rate * weight
        for h in range(hidden):
            a = memory.activity[t, h]
            slopes[h] = at_output * memory.w2[t, h] * a * (1.0 - a)
            net.w2[h, 0] += step * a * at_output
            net.b1[h] += step * slopes[h]
        net.b2[0] += step * at_output
        _step_inputs(net.w1, memory.index[t], memory.value[t], memory.count[t], slopes, step)
        fixed = layout.fixed_index.shape[0]
        _step_inputs(net.w1, layout.fixed_index, layout.fixed_value, fixed, slopes, step)
        weight *= trace
        if weight == 0.0:
            break


@kernel
def after_ply(
    s: IntArray, ply: int, memory: Memory, komi: float, net: Net, tables: Tables, layout: Layout,
    scratch: Scratch, rate: float, trace: float,
) -> None:  # fmt: skip
    """Store the position after `ply` and learn at the previous one; call after every ply."""
    side = memory.side[ply]
    index, value = memory.index[ply], memory.value[ply]
    output, n = evaluate(s, side, komi, net, tables, layout, scratch, index, value)
    memory.count[ply] = n
    memory.hashes[ply + 1] = s[SCALARS, HASH]
    if ply > 0:
        target = output if side == BLACK else 1.0 - output
        learn(memory, ply - 1, target, net, layout, scratch, rate, trace)


# ----- All moves of a position -----

# For exponentials in vector code: log2(e), log(2) in two parts, and 1.5 * 2 ** 52.
_LOG2E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_SHIFTER = 6755399441055744.0


@kernel
def _change_block(
    s: IntArray, blocks: IntArray, b: int, facts: IntArray, row: int, turned: IntArray,
    cell_of: IntArray, slots: IntArray, w1: FloatArray, sums: FloatArray, line: int,
) -> None:  # fmt: skip
    """Replace the facts of all stones of block `b` by `facts[row]` in one line of hidden sums."""
    head = x = blocks[b, BLOCK]
    while True:
        cell = turned[cell_of[x]]
        for k in range(N_FACTS):
            old, new = blocks[b, k], facts[row, k]
            first = slots[k, FIRST] + cell * slots[k, WIDTH]
            if slots[k, FIRST] < 0 or old == new:
                continue
            if slots[k, BINARY]:
                before = first + min(old - slots[k, LEAST], STEPS - 1)
                after = first + min(new - slots[k, LEAST], STEPS - 1)
                if before != after:
                    for h in range(sums.shape[1]):
                        sums[line, h] += w1[after, h] - w1[before, h]
            else:
                d = (min(new, CUT) - min(old, CUT)) / STEPS
                if d != 0.0:
                    for h in range(sums.shape[1]):
                        sums[line, h] += d * w1[first, h]
        x = s[NEXT, x]
        if x == head:
            break


@kernel
def _block_shift(
    s: IntArray, b: int, colour: int, touches: int, blocks: IntArray, spare: int, turned: IntArray,
    cell_of: IntArray, slots: IntArray, w1: FloatArray, sums: FloatArray,
) -> int:  # fmt: skip
    """Compute how a new stone near block `b`, not joined to it, shifts the sums; 2 for no shift."""
    for h in range(sums.shape[1]):
        sums[touches, h] = 0.0
    for k in range(N_FACTS):
        blocks[spare, k] = blocks[b, k]
    if s[COLOUR, blocks[b, BLOCK]] == colour:
        blocks[spare, FRIENDS] += 1
    else:
        blocks[spare, LIBERTIES] -= touches
        blocks[spare, ENEMIES] += 1
    _change_block(s, blocks, b, blocks, spare, turned, cell_of, slots, w1, sums, touches)
    for h in range(sums.shape[1]):
        if sums[touches, h] != 0.0:
            return 1
    return 2


@kernel
def _join_facts(
    count: int, moves: IntArray, s: IntArray, colour: int, n: int, blocks: IntArray,
    spread: UInt64Array, masks: UInt64Array, cell_spread: UInt64Array,
) -> None:  # fmt: skip
    """Write the facts of the block that each quiet move makes; row `n` of `spread` is scratch."""
    words = masks.shape[1]
    for i in range(count):
        if moves[i, FACING] < 0:
            continue
        c = moves[i, CELL]
        bit = np.uint64(1) << np.uint64(c & 63)
        for k in range(3):
            for w in range(words):
                spread[n, k, w] = cell_spread[c, k, w]
        moves[i, STONES] = 1
        for b in range(n):
            if spread[b, BESIDE, c >> 6] & bit and s[COLOUR, blocks[b, BLOCK]] == colour:
                moves[i, STONES] += blocks[b, STONES]
                for k in range(3):
                    for w in range(words):
                        spread[n, k, w] |= spread[b, k, w]
        _count_around(spread, n, colour, masks, moves, i)


@kernel
def _sum_quiet(
    count: int, s: IntArray, colour: int, n: int, w1: FloatArray, tables: Tables, layout: Layout,
    scratch: Scratch,
) -> None:  # fmt: skip
    """Write the hidden sums after each quiet move by adding only the inputs that it changes."""
    moves, hidden, blocks, spread = scratch.moves, scratch.hidden, scratch.blocks, scratch.spread
    base, shift, shifted = scratch.base, scratch.shift, scratch.shifted
    index, value, turned, cell_of = scratch.index, scratch.value, tables.turned, tables.cell_of
    units, slots = hidden.shape[1], layout.slots
    for i in range(count):
        o = moves[i, FACING]
        if o < 0:
            continue
        c = moves[i, CELL]
        word, bit = c >> 6, np.uint64(1) << np.uint64(c & 63)
        inputs = _put_stone(layout, turned.shape[1], moves, i, turned[o, c], 1.0, index, value, 0)
        first, second = index[0], index[1]
        for h in range(units):
            hidden[i, h] = base[o, h] + w1[first, h] + w1[second, h]
        for j in range(2, inputs):
            row, v = index[j], value[j]
            for h in range(units):
                hidden[i, h] += v * w1[row, h]
        for b in range(n):
            if not spread[b, CLOSE, word] & bit:
                continue
            touches = 1 if spread[b, BESIDE, word] & bit else 0
            if touches == 1 and s[COLOUR, blocks[b, BLOCK]] == colour:
                _change_block(s, blocks, b, moves, i, turned[o], cell_of, slots, w1, hidden, i)
                continue
            if shifted[o, b, touches] == 0:
                shifted[o, b, touches] = _block_shift(
                    s, b, colour, touches, blocks, n, turned[o], cell_of, slots, w1, shift[o, b]
                )
            if shifted[o, b, touches] == 1:
                for h in range(units):
                    hidden[i, h] += shift[o, b, touches, h]


@kernel
def _squash(moves: int, hidden: FloatArray, powers: FloatArray, bits: IntArray) -> None:
    """Replace sums by sigmoids, accurate to about the last digit, in loops that vectorise.

    exp(x) is 2 ** k times a polynomial in x - k log 2. `bits` is the memory of `powers` from row
    POWERS: adding `_SHIFTER` to a number leaves its nearest whole number in the last bits.
    """
    units = hidden.shape[1]
    for i in range(moves):
        for h in range(units):
            x = min(max(-hidden[i, h], -700.0), 700.0)
            powers[POWERS + 1, h] = x
            powers[POWERS, h] = x * _LOG2E + _SHIFTER
        for h in range(units):
            k = powers[POWERS, h] - _SHIFTER
            r = (powers[POWERS + 1, h] - k * _LN2_HIGH) - k * _LN2_LOW
            y = 1.0 / 6227020800.0
            y = y * r + 1.0 / 479001600.0
            y = y * r + 1.0 / 39916800.0
            y = y * r + 1.0 / 3628800.0
            y = y * r + 1.0 / 362880.0
            y = y * r + 1.0 / 40320.0
            y = y * r + 1.0 / 5040.0
            y = y * r + 1.0 / 720.0
            y = y * r + 1.0 / 120.0
            y = y * r + 1.0 / 24.0
            y = y * r + 1.0 / 6.0
            y = y * r + 0.5
            y = y * r + 1.0
            powers[POWERS + 1, h] = y * r + 1.0
        for h in range(units):
            bits[0, h] = (bits[0, h] + 1023) << 52
        for h in range(units):
            hidden[i, h] = 1.0 / (1.0 + powers[POWERS + 1, h] * powers[POWERS, h])


@kernel
def _captures(s: IntArray, p: int, colour: int) -> bool:
    """Return whether a legal move captures something."""
    width = s[SCALARS, COLS] + 1
    for k in range(4):
        q = near(p, k, width)
        c = s[COLOUR, q]
        if c != EMPTY and c != BORDER and c != colour and in_atari(s, s[HEAD, q]):
            return True
    return False


@kernel
def _list_moves(
    s: IntArray, colour: int, cells: IntArray, turned: IntArray, keys: UInt64Array,
    hashes: IntArray, count: int, after: IntArray, moves: IntArray,
) -> int:  # fmt: skip
    """List the legal moves with their orientations, -1 for those that capture; return how many."""
    n = 0
    for c in range(cells.shape[0]):
        p = cells[c]
        if s[COLOUR, p] != EMPTY or not is_legal(s, p, colour):
            continue
        facing = -1
        if _captures(s, p, colour):
            copy_state(s, after)
            place(after, p, colour)
            repeated = False
            for t in range(count):
                repeated = repeated or hashes[t] == after[SCALARS, HASH]
            if repeated:
                continue
        else:
            facing = _best_orientation(keys, turned, c)
        moves[n, MOVE], moves[n, CELL], moves[n, FACING] = p, c, facing
        n += 1
    return n


@kernel
def rate_moves(
    s: IntArray, net: Net, komi: float, tables: Tables, layout: Layout, hashes: IntArray,
    count: int, scratch: Scratch,
) -> int:  # fmt: skip
    """Rate every move but the pass into `scratch.moves` and `.values`; return how many there are.

    The first `count` hashes are those of earlier positions, which must not be repeated.
    """
    colour = s[SCALARS, TURN]
    moves, values, hidden = scratch.moves, scratch.values, scratch.hidden
    blocks, index, value = scratch.blocks, scratch.index, scratch.value
    turned, cell_of = tables.turned, tables.cell_of
    _position_keys(s, colour, tables, scratch.keys)
    n_moves = _list_moves(
        s, colour, tables.cells, turned, scratch.keys, hashes, count, scratch.after, moves
    )
    # Captures first: they use the same scratch space.
    for i in range(n_moves):
        if moves[i, FACING] < 0:
            copy_state(s, scratch.after)
            place(scratch.after, moves[i, MOVE], colour)
            values[i], _ = evaluate(
                scratch.after, colour, komi, net, tables, layout, scratch, index, value
            )
    n = _survey(s, tables, scratch.masks, blocks, scratch.spread)
    fixed = scratch.units[FIXED]
    _constant_sums(net, layout, fixed)
    for o in range(scratch.known.shape[0]):
        scratch.known[o] = False
        for b in range(n):
            scratch.shifted[o, b, 0] = scratch.shifted[o, b, 1] = 0
    for i in range(n_moves):
        o = moves[i, FACING]
        if o >= 0 and not scratch.known[o]:
            scratch.known[o] = True
            inputs = _list_inputs(
                s, colour, komi, turned[o], cell_of, layout, blocks, n, index, value
            )
            copy_row(fixed, scratch.base[o])
            _add_inputs(net.w1, index, value, inputs, scratch.base[o])
    _join_facts(n_moves, moves, s, colour, n, blocks, scratch.spread, scratch.masks, tables.spread)
    _sum_quiet(n_moves, s, colour, n, net.w1, tables, layout, scratch)
    _squash(n_moves, hidden, scratch.units, scratch.bits)
    for i in range(n_moves):
        if moves[i, FACING] >= 0:
            x = net.b2[0]
            for h in range(hidden.shape[1]):
                x += hidden[i, h] * net.w2[h, 0]
            values[i] = _sigmoid(x)
    return n_moves


# ----- Choosing -----


@kernel
def pick(
    values: FloatArray, count: int, explore: float, temperature: float, rng: UInt64Array
) -> int:
    """Return the best of `count` candidates, or with probability `explore` draw one by softmax."""
    best = 0
    for i in range(1, count):
        if values[i] > values[best]:
            best = i
    if explore <= 0 or uniform(rng) >= explore:
        return best
    total = 0.0
    for i in range(count):
        total += np.exp((values[i] - values[best]) / temperature)
    left = uniform(rng) * total
    for i in range(count):
        left -= np.exp((values[i] - values[best]) / temperature)
        if left < 0:
            return i
    return count - 1


@kernel
def draw(rng: UInt64Array, count: int) -> int:
    """Return a random integer from 0 to `count` - 1."""
    return below(rng, count)
