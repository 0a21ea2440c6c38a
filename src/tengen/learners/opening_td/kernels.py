"""Inputs of positions, the network's output and gradient, and the values of all moves.

A *cell* is a row-major index. An *orientation* is one of the symmetries of the board; every
position is read in the orientation whose stones, written cell by cell, come first (see
`best_orientation`), so that all eight symmetric positions give the same inputs. Positions are
after-states: they are evaluated for the *friendly* side, the one that has just moved.

Inputs are sparse: `extract` lists the indices that are not zero with their values, and everything
after that takes time in proportion to the length of this list. The inputs of feature B are the same
for every position; their share of the first layer is kept in one vector, see `constant_sums`.

A move that captures nothing changes little: it adds one stone, joins own blocks next to it, takes a
liberty from enemy blocks next to it, and is one more stone near the blocks within distance 3. So
`rate_moves` keeps the hidden sums of the position before the move, once per orientation, and adds
only the inputs that differ. What changes for a block that is not joined is the same for every
candidate near it, or beside it, and computed once (`_block_shift`). Moves that capture are rare in
openings and are evaluated from scratch. Quiet moves go through one step after the other, each step
a kernel that loops over the moves on plain arrays: passing whole tuples of arrays per move would
spend more time on reference counts than on arithmetic.
"""

# mypy: ignore-errors
from __future__ import annotations

from collections import namedtuple

import numpy as np

from tengen.board.kernels import copy_row, copy_state, in_atari, is_legal, near, place
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
    WHITE,
)
from tengen.jit import hot_kernel, inner_kernel, kernel

# Tables of a board size.
#   cells    bordered point of each cell
#   cell_of  cell of each bordered point, -1 on the border
#   turned   [orientation, cell] -> cell
#   rank     [orientation, cell] -> place in the key that decides the orientation
#   beside   [cell, word] bits of the cells at distance 1
#   close    [cell, word] bits of the cells at Manhattan distance 1 to 3
Geometry = namedtuple("Geometry", "cells cell_of turned rank beside close")

# Where each feature's inputs are.
#   slots        see the constants below; -1 for a feature that is left out
#   fixed_index  inputs of feature B, active in every position
#   fixed_value  their values
Layout = namedtuple("Layout", "slots fixed_index fixed_value")

# Entries of Layout.slots: first input of each feature, and whether it is binary.
A_OCCUPIED, A_FRIENDLY, A_HIDDEN, C_FIRST, C_BINARY, D_FIRST, D_BINARY, E_FIRST, E_BINARY = range(9)
N_SLOTS = 9

# The weights: w1 (inputs, hidden), b1 (hidden), w2 (hidden, 1), b2 (1).
Net = namedtuple("Net", "w1 b1 w2 b2")

STEPS = 5
"""Inputs per number of a binary feature; scalars are divided by this."""
CUT = 10
"""Scalars are cut off here."""

_FRIEND_CODE, _ENEMY_CODE = np.uint64(2), np.uint64(1)


@inner_kernel
def count_bits(x):
    """Count the bits that are set in a 64-bit word."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


# ----- Orientation -----


@kernel
def position_keys(s, friend, geometry, keys):
    """Write each orientation's key: two bits a cell, friendly 2, enemy 1, first cell highest."""
    keys[:, :] = 0
    for cell in range(geometry.cells.shape[0]):
        c = s[COLOUR, geometry.cells[cell]]
        if c == EMPTY:
            continue
        code = _FRIEND_CODE if c == friend else _ENEMY_CODE
        for k in range(keys.shape[0]):
            place = geometry.rank[k, cell]
            keys[k, place >> 5] |= code << np.uint64(62 - 2 * (place & 31))


@kernel
def best_orientation(keys):
    """Return the orientation with the largest key; the first of equal ones (same stones then)."""
    best = 0
    for k in range(1, keys.shape[0]):
        for w in range(keys.shape[1]):
            if keys[k, w] != keys[best, w]:
                if keys[k, w] > keys[best, w]:
                    best = k
                break
    return best


@inner_kernel
def orientation_after(keys, rank, cell):
    """Return the best orientation once a friendly stone is on `cell` and nothing is captured."""
    best = 0
    best_place = rank[0, cell]
    for k in range(1, keys.shape[0]):
        place = rank[k, cell]
        for w in range(keys.shape[1]):
            mine, theirs = keys[k, w], keys[best, w]
            if place >> 5 == w:
                mine |= _FRIEND_CODE << np.uint64(62 - 2 * (place & 31))
            if best_place >> 5 == w:
                theirs |= _FRIEND_CODE << np.uint64(62 - 2 * (best_place & 31))
            if mine != theirs:
                if mine > theirs:
                    best, best_place = k, place
                break
    return best


# ----- Features -----


@inner_kernel
def colour_masks(s, geometry, masks):
    """Write bit masks of the cells: masks[EMPTY], masks[BLACK], masks[WHITE]."""
    masks[:, :] = 0
    for cell in range(geometry.cells.shape[0]):
        masks[s[COLOUR, geometry.cells[cell]], cell >> 6] |= np.uint64(1) << np.uint64(cell & 63)


@inner_kernel
def block_facts(s, head, geometry, masks, scratch):
    """Return liberties, stones, and stones of the own and the other colour close to a block.

    `scratch` (3 x words) is left with the block's own cells, cells beside it and cells close to it.
    """
    scratch[:, :] = 0
    words = scratch.shape[1]
    x = head
    while True:
        cell = geometry.cell_of[x]
        scratch[0, cell >> 6] |= np.uint64(1) << np.uint64(cell & 63)
        for w in range(words):
            scratch[1, w] |= geometry.beside[cell, w]
            scratch[2, w] |= geometry.close[cell, w]
        x = s[NEXT, x]
        if x == head:
            break
    own = s[COLOUR, head]
    liberties = friends = enemies = 0
    for w in range(words):
        liberties += count_bits(scratch[1, w] & masks[EMPTY, w])
        friends += count_bits(scratch[2, w] & masks[own, w] & ~scratch[0, w])
        enemies += count_bits(scratch[2, w] & masks[3 - own, w])
    return liberties, s[SIZE, head], friends, enemies


@hot_kernel
def put(first, binary, nodes, cell, step, number, index, value, n):
    """Add the input that says `number` (already step `step` of a binary feature); return how many.

    `nodes` is how many scalar inputs the feature has for each cell.
    """
    if binary:
        index[n] = first + cell * nodes * STEPS + min(step, STEPS - 1)
        value[n] = 1.0
        return n + 1
    if number > 0:
        index[n] = first + cell * nodes
        value[n] = min(number, CUT) / STEPS
        return n + 1
    return n


@inner_kernel
def put_block(s, head, friend, facts, turned, geometry, layout, index, value, n):
    """Add the inputs of all stones of a block; return how many inputs there are then."""
    slots = layout.slots
    liberties, size, friends, enemies = facts
    side = 1.0 if s[COLOUR, head] == friend else -1.0
    x = head
    while True:
        cell = turned[geometry.cell_of[x]]
        index[n], value[n] = slots[A_OCCUPIED] + cell, 1.0
        index[n + 1], value[n + 1] = slots[A_FRIENDLY] + cell, side
        n += 2
        if slots[C_FIRST] >= 0:
            n = put(
                slots[C_FIRST], slots[C_BINARY], 1, cell, liberties - 1, liberties, index, value, n
            )
        if slots[D_FIRST] >= 0:
            n = put(slots[D_FIRST], slots[D_BINARY], 1, cell, size - 1, size, index, value, n)
        if slots[E_FIRST] >= 0:
            first, binary = slots[E_FIRST], slots[E_BINARY]
            n = put(first, binary, 2, cell, friends, friends, index, value, n)
            second = first + (STEPS if binary else 1)
            n = put(second, binary, 2, cell, enemies, enemies, index, value, n)
        x = s[NEXT, x]
        if x == head:
            break
    return n


@inner_kernel
def hidden_score(s, friend, komi):
    """Return what the board does not show, prisoners and komi, as the friendly side's input."""
    lead = s[SCALARS, PRISONERS_B] - s[SCALARS, PRISONERS_W] - komi
    return (lead if friend == BLACK else -lead) / 10.0


@kernel
def extract(s, friend, komi, orientation, geometry, layout, masks, scratch, index, value):
    """List the inputs of a position that are not zero, feature B left out; return how many.

    Friends and enemies of feature E are counted from the stone's own view, as the paper's "nearby
    friendly stones can help a block" suggests; A says whose stone it is.
    """
    colour_masks(s, geometry, masks)
    index[0], value[0] = layout.slots[A_HIDDEN], hidden_score(s, friend, komi)
    n = 1
    turned = geometry.turned[orientation]
    for cell in range(geometry.cells.shape[0]):
        p = geometry.cells[cell]
        c = s[COLOUR, p]
        if (c == BLACK or c == WHITE) and s[HEAD, p] == p:
            facts = block_facts(s, p, geometry, masks, scratch)
            n = put_block(s, p, friend, facts, turned, geometry, layout, index, value, n)
    return n


# ----- Network -----


@inner_kernel
def _sigmoid(x):
    """Squash a number to between 0 and 1."""
    return 1.0 / (1.0 + np.exp(-x))


@kernel
def constant_sums(net, layout, sums):
    """Write what reaches the hidden layer from every position: biases and feature B."""
    copy_row(net.b1, sums)
    for j in range(layout.fixed_index.shape[0]):
        i, v = layout.fixed_index[j], layout.fixed_value[j]
        for h in range(sums.shape[0]):
            sums[h] += v * net.w1[i, h]


@inner_kernel
def add_inputs(net, index, value, n, sums):
    """Add the first `n` listed inputs, weighted, to the sums of the hidden layer."""
    hidden = sums.shape[0]
    for j in range(n):
        i, v = index[j], value[j]
        for h in range(hidden):
            sums[h] += v * net.w1[i, h]


@inner_kernel
def finish_forward(net, sums, activity):
    """Turn the hidden layer's sums into its activity; return the output."""
    for h in range(sums.shape[0]):
        activity[h] = _sigmoid(sums[h])
    x = net.b2[0]
    for h in range(sums.shape[0]):
        x += activity[h] * net.w2[h, 0]
    return _sigmoid(x)


@inner_kernel
def step_weights(net, layout, index, value, n, activity, w2, error, slopes, rate):
    """Move all weights by `rate` along the gradient of one position.

    `error` is the one at the output's sum; the second layer's weights for the way back are `w2`.
    """
    hidden = activity.shape[0]
    for h in range(hidden):
        slopes[h] = error * w2[h, 0] * activity[h] * (1.0 - activity[h])
    for h in range(hidden):
        net.w2[h, 0] += rate * activity[h] * error
        net.b1[h] += rate * slopes[h]
    net.b2[0] += rate * error
    for j in range(n):
        i, v = index[j], rate * value[j]
        for h in range(hidden):
            net.w1[i, h] += v * slopes[h]
    for j in range(layout.fixed_index.shape[0]):
        i, v = layout.fixed_index[j], rate * layout.fixed_value[j]
        for h in range(hidden):
            net.w1[i, h] += v * slopes[h]


# ----- All moves of a position -----

# Scratch space; nothing in it outlives a call.
#   after     a position to try moves on
#   keys      keys of the orientations; other_keys: the same for a position after a capture
#   masks     3 x words: empty, black, white cells
#   scratch   3 x words
#   index     inputs of a position, value: their values
#   fixed     hidden sums of every position under the weights of the moment
#   base      [orientation] hidden sums of the position before the move; known: which are computed
#   sums, activity           of one position
#   values, moves, chances   of the candidates
#   cell, facing, joint, hidden   of the candidates: cell, orientation (-1: it captures), facts of
#                                 the block it makes, hidden layer's sums
#   slopes                   gradient at the hidden sums
#   head, facts, spread      of each block: head; liberties, stones, friends, enemies; own, beside,
#                            close cells
#   shift     [orientation, block, 0 near or 1 beside] what a new stone there changes in the sums
#   shifted   the same places: 0 not computed yet, 1 computed, 2 nothing changes
#   powers, power_bits   for `_squash`: two rows, the same memory as numbers and as whole numbers
Room = namedtuple(
    "Room",
    "after keys other_keys masks scratch index value fixed base known sums activity values "
    "moves chances slopes head facts spread shift shifted cell facing "
    "joint hidden powers power_bits",
)

# For exponentials in vector code: log2(e), log(2) in two parts, and 1.5 * 2 ** 52.
_LOG2E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_SHIFTER = 6755399441055744.0


@kernel
def evaluate(s, friend, komi, orientation, net, geometry, layout, room):
    """Return the network's output for a position from `friend`'s view, and the number of inputs.

    Needs `room.fixed` to be up to date; leaves inputs and activity in the room.
    """
    n = extract(
        s,
        friend,
        komi,
        orientation,
        geometry,
        layout,
        room.masks,
        room.scratch,
        room.index,
        room.value,
    )
    copy_row(room.fixed, room.sums)
    add_inputs(net, room.index, room.value, n, room.sums)
    return finish_forward(net, room.sums, room.activity), n


@kernel
def _survey(s, geometry, room):
    """List the blocks with their facts and cells; return how many there are."""
    colour_masks(s, geometry, room.masks)
    blocks = 0
    for cell in range(geometry.cells.shape[0]):
        p = geometry.cells[cell]
        c = s[COLOUR, p]
        if (c == BLACK or c == WHITE) and s[HEAD, p] == p:
            room.head[blocks] = p
            facts = block_facts(s, p, geometry, room.masks, room.scratch)
            for i in range(4):
                room.facts[blocks, i] = facts[i]
            room.spread[blocks] = room.scratch
            blocks += 1
    return blocks


@kernel
def _prepare_base(s, friend, komi, orientation, blocks, net, geometry, layout, room):
    """Compute the hidden sums of the position before the move in one orientation."""
    room.index[0], room.value[0] = layout.slots[A_HIDDEN], hidden_score(s, friend, komi)
    n = 1
    turned = geometry.turned[orientation]
    for b in range(blocks):
        f = room.facts[b]
        facts = (f[0], f[1], f[2], f[3])
        n = put_block(
            s, room.head[b], friend, facts, turned, geometry, layout, room.index, room.value, n
        )
    sums = room.base[orientation]
    copy_row(room.fixed, sums)
    add_inputs(net, room.index, room.value, n, sums)
    room.known[orientation] = True


@kernel
def _change_number(w1, first, binary, cell, step, old, new, sums, row):
    """Replace one number of a cell; `step` is the number that a binary feature starts with.

    `first` is the input of cell 0 and `cell` the distance in inputs of this cell from there.
    """
    if binary:
        a, b = min(old - step, STEPS - 1), min(new - step, STEPS - 1)
        if a != b:
            for h in range(sums.shape[1]):
                sums[row, h] += w1[first + cell + b, h] - w1[first + cell + a, h]
    else:
        d = (min(new, CUT) - min(old, CUT)) / STEPS
        if d != 0.0:
            for h in range(sums.shape[1]):
                sums[row, h] += d * w1[first + cell, h]


@kernel
def _change_block(s, head, old, new, orientation, turned, cell_of, slots, w1, sums, row):
    """Replace the facts of all stones of a block in one row of hidden sums."""
    c_width = STEPS if slots[C_BINARY] else 1
    d_width = STEPS if slots[D_BINARY] else 1
    e_width = STEPS if slots[E_BINARY] else 1
    x = head
    while True:
        cell = turned[orientation, cell_of[x]]
        if slots[C_FIRST] >= 0 and old[0] != new[0]:
            first, binary = slots[C_FIRST], slots[C_BINARY]
            _change_number(w1, first, binary, cell * c_width, 1, old[0], new[0], sums, row)
        if slots[D_FIRST] >= 0 and old[1] != new[1]:
            first, binary = slots[D_FIRST], slots[D_BINARY]
            _change_number(w1, first, binary, cell * d_width, 1, old[1], new[1], sums, row)
        if slots[E_FIRST] >= 0:
            first, binary, at = slots[E_FIRST], slots[E_BINARY], 2 * cell * e_width
            if old[2] != new[2]:
                _change_number(w1, first, binary, at, 0, old[2], new[2], sums, row)
            if old[3] != new[3]:
                _change_number(w1, first, binary, at + e_width, 0, old[3], new[3], sums, row)
        x = s[NEXT, x]
        if x == head:
            break


@kernel
def _block_shift(
    s, b, colour, touches, orientation, head, facts, turned, cell_of, slots, w1, shift
):
    """Compute what a new stone of `colour` near or beside block `b`, not joined to it, changes.

    Returns 1, or 2 if that is nothing.
    """
    sums = shift[orientation, b]
    sums[touches] = 0.0
    old = (facts[b, 0], facts[b, 1], facts[b, 2], facts[b, 3])
    if s[COLOUR, head[b]] == colour:
        new = (old[0], old[1], old[2] + 1, old[3])
    else:
        new = (old[0] - touches, old[1], old[2], old[3] + 1)
    _change_block(
        s, head[b], old, new, orientation, turned, cell_of, slots, w1, sums, touches
    )  # fmt: skip
    for h in range(sums.shape[1]):
        if sums[touches, h] != 0.0:
            return 1
    return 2


@kernel
def _join_facts(moves, cell, facing, s, colour, blocks, head, facts, spread, masks, beside, close,
                joint):  # fmt: skip
    """Write the facts of the block that each quiet move makes, with all that it joins.

    A block is joined when it has this colour and the move is beside it.
    """
    words = masks.shape[1]
    joined = np.empty(4, np.int64)
    for i in range(moves):
        if facing[i] < 0:
            continue
        c = cell[i]
        word, bit = c >> 6, np.uint64(1) << np.uint64(c & 63)
        count, size = 0, 1
        for b in range(blocks):
            if spread[b, 1, word] & bit and s[COLOUR, head[b]] == colour:
                joined[count] = b
                count += 1
                size += facts[b, 1]
        liberties = friends = enemies = 0
        for w in range(words):
            own = bit if w == word else np.uint64(0)
            around, near_by = beside[c, w], close[c, w]
            for j in range(count):
                b = joined[j]
                own |= spread[b, 0, w]
                around |= spread[b, 1, w]
                near_by |= spread[b, 2, w]
            liberties += count_bits(around & masks[EMPTY, w] & ~own)
            friends += count_bits(near_by & masks[colour, w] & ~own)
            enemies += count_bits(near_by & masks[3 - colour, w])
        joint[i, 0], joint[i, 1], joint[i, 2], joint[i, 3] = liberties, size, friends, enemies


@inner_kernel
def _stone_inputs(facts, row, cell, slots, index, value):
    """List the inputs of one friendly stone; return how many."""
    index[0], value[0] = slots[A_OCCUPIED] + cell, 1.0
    index[1], value[1] = slots[A_FRIENDLY] + cell, 1.0
    n = 2
    liberties, size = facts[row, 0], facts[row, 1]
    if slots[C_FIRST] >= 0:
        first, binary = slots[C_FIRST], slots[C_BINARY]
        n = put(first, binary, 1, cell, liberties - 1, liberties, index, value, n)
    if slots[D_FIRST] >= 0:
        n = put(slots[D_FIRST], slots[D_BINARY], 1, cell, size - 1, size, index, value, n)
    if slots[E_FIRST] >= 0:
        first, binary = slots[E_FIRST], slots[E_BINARY]
        friends, enemies = facts[row, 2], facts[row, 3]
        n = put(first, binary, 2, cell, friends, friends, index, value, n)
        second = first + (STEPS if binary else 1)
        n = put(second, binary, 2, cell, enemies, enemies, index, value, n)
    return n


@kernel
def _sum_quiet(moves, cell, facing, joint, hidden, s, colour, blocks, head, facts, spread, base,
               shift, shifted, index, value, turned, cell_of, slots, w1):  # fmt: skip
    """Write the hidden layer's sums after each quiet move, from what it changes."""
    units = hidden.shape[1]
    for i in range(moves):
        o = facing[i]
        if o < 0:
            continue
        c = cell[i]
        word, bit = c >> 6, np.uint64(1) << np.uint64(c & 63)
        n = _stone_inputs(joint, i, turned[o, c], slots, index, value)
        first, second = index[0], index[1]
        for h in range(units):
            hidden[i, h] = base[o, h] + w1[first, h] + w1[second, h]
        for j in range(2, n):
            row, v = index[j], value[j]
            for h in range(units):
                hidden[i, h] += v * w1[row, h]
        for b in range(blocks):
            if not spread[b, 2, word] & bit:
                continue
            touches = 1 if spread[b, 1, word] & bit else 0
            if touches == 1 and s[COLOUR, head[b]] == colour:
                old = (facts[b, 0], facts[b, 1], facts[b, 2], facts[b, 3])
                new = (joint[i, 0], joint[i, 1], joint[i, 2], joint[i, 3])
                _change_block(s, head[b], old, new, o, turned, cell_of, slots, w1, hidden, i)
                continue
            if shifted[o, b, touches] == 0:
                shifted[o, b, touches] = _block_shift(
                    s, b, colour, touches, o, head, facts, turned, cell_of, slots, w1, shift
                )  # fmt: skip
            if shifted[o, b, touches] == 1:
                for h in range(units):
                    hidden[i, h] += shift[o, b, touches, h]


@kernel
def _squash(moves, hidden, powers, bits):
    """Replace sums by sigmoids, right to about the last digit, in loops that become vector code.

    exp(x) is 2 ** k times a polynomial in x - k log 2. `powers` and `bits` are two rows of the same
    memory: adding `_SHIFTER` to a number leaves its nearest whole number in the last bits.
    """
    units = hidden.shape[1]
    for i in range(moves):
        for h in range(units):
            x = min(max(-hidden[i, h], -700.0), 700.0)
            powers[1, h] = x
            powers[0, h] = x * _LOG2E + _SHIFTER
        for h in range(units):
            k = powers[0, h] - _SHIFTER
            r = (powers[1, h] - k * _LN2_HIGH) - k * _LN2_LOW
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
            powers[1, h] = y * r + 1.0
        for h in range(units):
            bits[0, h] = (bits[0, h] + 1023) << 52
        for h in range(units):
            hidden[i, h] = 1.0 / (1.0 + powers[1, h] * powers[0, h])


@kernel
def _value_quiet(moves, facing, hidden, w2, b2, values):
    """Turn the hidden layer's activity after each quiet move into the output."""
    for i in range(moves):
        if facing[i] < 0:
            continue
        x = b2[0]
        for h in range(w2.shape[0]):
            x += hidden[i, h] * w2[h, 0]
        values[i] = 1.0 / (1.0 + np.exp(-x))


@hot_kernel
def captures(s, p, colour):
    """Return whether a legal move captures something."""
    width = s[SCALARS, COLS] + 1
    for k in range(4):
        q = near(p, k, width)
        c = s[COLOUR, q]
        if c != EMPTY and c != BORDER and c != colour and in_atari(s, s[HEAD, q]):
            return True
    return False


@inner_kernel
def repeats(s, p, colour, hashes, count, after):
    """Play a move in `after`; return whether the position occurred before."""
    copy_state(s, after)
    place(after, p, colour)
    for t in range(count):
        if hashes[t] == after[SCALARS, HASH]:
            return True
    return False


@kernel
def _list_moves(s, colour, cells, rank, keys, hashes, count, after, moves, cell, facing):
    """List the legal moves with their orientations, -1 for those that capture; return how many."""
    n = 0
    for c in range(cells.shape[0]):
        p = cells[c]
        if s[COLOUR, p] != EMPTY or not is_legal(s, p, colour):
            continue
        if captures(s, p, colour):
            if repeats(s, p, colour, hashes, count, after):
                continue
            facing[n] = -1
        else:
            facing[n] = orientation_after(keys, rank, c)
        moves[n], cell[n] = p, c
        n += 1
    return n


@kernel
def rate_moves(s, net, komi, geometry, layout, hashes, count, room):
    """Rate every move of the side to move; return how many there are. Passing is no candidate.

    The first `count` hashes are those of earlier positions, which may not come again.
    """
    colour = s[SCALARS, TURN]
    position_keys(s, colour, geometry, room.keys)
    constant_sums(net, layout, room.fixed)
    moves = _list_moves(
        s, colour, geometry.cells, geometry.rank, room.keys, hashes, count, room.after, room.moves,
        room.cell, room.facing,
    )  # fmt: skip
    # Captures first: they use the same scratch space as `_survey`.
    for i in range(moves):
        if room.facing[i] < 0:
            copy_state(s, room.after)
            place(room.after, room.moves[i], colour)
            position_keys(room.after, colour, geometry, room.other_keys)
            orientation = best_orientation(room.other_keys)
            v, _ = evaluate(room.after, colour, komi, orientation, net, geometry, layout, room)
            room.values[i] = v
    blocks = _survey(s, geometry, room)
    room.known[:] = False
    room.shifted[:, :blocks] = 0
    for i in range(moves):
        o = room.facing[i]
        if o >= 0 and not room.known[o]:
            _prepare_base(s, colour, komi, o, blocks, net, geometry, layout, room)
    _join_facts(
        moves, room.cell, room.facing, s, colour, blocks, room.head, room.facts, room.spread,
        room.masks, geometry.beside, geometry.close, room.joint,
    )  # fmt: skip
    _sum_quiet(
        moves, room.cell, room.facing, room.joint, room.hidden, s, colour, blocks, room.head,
        room.facts, room.spread, room.base, room.shift, room.shifted, room.index, room.value,
        geometry.turned, geometry.cell_of, layout.slots, net.w1,
    )  # fmt: skip
    _squash(moves, room.hidden, room.powers, room.power_bits)
    _value_quiet(moves, room.facing, room.hidden, net.w2, net.b2, room.values)
    return moves
