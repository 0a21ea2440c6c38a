"""Rate all moves of a position by what each changes; know neither exploration nor learning.

A move that captures nothing leaves most stones as they were: it adds one stone, joins own blocks
next to it, takes a liberty from enemy blocks next to it, and is one stone more near the blocks
within distance 3. So the hidden layer's sums are kept for the position before the move, once for
each orientation that is needed, and each candidate adds only the inputs that differ. What a block
that is not joined changes is the same for every candidate near it, or beside it, so this too is
computed once (`_block_shift`). Moves that capture are rare in openings and are rated from scratch.

All quiet moves go through one step after the other, each step a kernel with a loop over the moves
on plain arrays: a call for every move that hands on whole rooms spends more time counting
references to their arrays than computing.
"""

# mypy: ignore-errors
from __future__ import annotations

from collections import namedtuple

import numpy as np

from tengen.board.kernels import in_atari, is_legal, near, place
from tengen.board.layout_kernels import (
    BLACK,
    BORDER,
    COLOUR,
    COLS,
    EMPTY,
    HASH,
    HEAD,
    NEXT,
    SCALARS,
    TURN,
    WHITE,
)
from tengen.jit import hot_kernel, inner_kernel, kernel
from tengen.learners.opening_td.kernels import (
    A_FRIENDLY,
    A_HIDDEN,
    A_OCCUPIED,
    C_BINARY,
    C_FIRST,
    CUT,
    D_BINARY,
    D_FIRST,
    E_BINARY,
    E_FIRST,
    STEPS,
    add_inputs,
    best_orientation,
    block_facts,
    colour_masks,
    constant_sums,
    count_bits,
    extract,
    finish_forward,
    hidden_score,
    orientation_after,
    position_keys,
    put,
    put_block,
)

# Room to work in; nothing in it outlives a call.
#   after     a position to try moves on
#   keys      keys of the orientations; other_keys: the same for a position after a capture
#   masks     3 x words: empty, black, white cells
#   scratch   3 x words
#   index     inputs of a position, value: their values
#   fixed     hidden sums of every position under the weights of the moment
#   base      [orientation] hidden sums of the position before the move; known: which are computed
#   sums, activity, output   of one position
#   values, moves, chances   of the candidates
#   cell, facing, joint, hidden   of the candidates: cell, orientation (-1: it captures), facts of
#                                 the block it makes, hidden layer's sums
#   error, slopes            at the outputs and at the hidden sums
#   head, facts, spread      of each block: head; liberties, stones, friends, enemies; own, beside,
#                            close cells
#   shift     [orientation, block, 0 near or 1 beside] what a new stone there changes in the sums
#   shifted   the same places: 0 not computed yet, 1 computed, 2 nothing changes
#   powers, power_bits   for `_squash`: two rows, the same memory as numbers and as whole numbers
Room = namedtuple(
    "Room",
    "after keys other_keys masks scratch index value fixed base known sums activity output values "
    "moves chances error slopes head facts spread shift shifted cell facing "
    "joint hidden powers power_bits",
)

# For exponentials in vector code: log2(e), log(2) in two parts, and 1.5 * 2 ** 52.
_LOG2E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_SHIFTER = 6755399441055744.0


@kernel
def evaluate(s, friend, komi, orientation, net, geometry, layout, room):
    """Return the network's mean output for a position seen by `friend`, and the inputs' number.

    Needs `room.fixed` to be up to date; leaves inputs, activity and outputs in the room.
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
    room.sums[:] = room.fixed
    add_inputs(net, room.index, room.value, n, room.sums)
    return finish_forward(net, room.sums, room.activity, room.output), n


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
    sums[:] = room.fixed
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
def _value_quiet(moves, facing, hidden, w2, b2, output, values):
    """Turn the hidden layer's activity after each quiet move into the mean output."""
    units, outputs = w2.shape
    for i in range(moves):
        if facing[i] < 0:
            continue
        output[:] = b2
        for h in range(units):
            for m in range(outputs):
                output[m] += hidden[i, h] * w2[h, m]
        total = 0.0
        for m in range(outputs):
            total += 1.0 / (1.0 + np.exp(-output[m]))
        values[i] = total / outputs


@hot_kernel
def captures(s, p, colour):
    """Tell whether a legal move takes something."""
    width = s[SCALARS, COLS] + 1
    for k in range(4):
        q = near(p, k, width)
        c = s[COLOUR, q]
        if c != EMPTY and c != BORDER and c != colour and in_atari(s, s[HEAD, q]):
            return True
    return False


@inner_kernel
def repeats(s, p, colour, hashes, count, after):
    """Play a move in `after` and tell whether that position was there before."""
    after[:, :] = s
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
    # Captures first: they use the same room as the _survey.
    for i in range(moves):
        if room.facing[i] < 0:
            room.after[:, :] = s
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
    _value_quiet(moves, room.facing, room.hidden, net.w2, net.b2, room.output, room.values)
    return moves
