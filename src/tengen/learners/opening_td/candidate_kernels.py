"""Rate all moves of a position by what each changes; know neither exploration nor learning.

A move that captures nothing leaves most stones as they were: it adds one stone, joins own blocks
next to it, takes a liberty from enemy blocks next to it, and is one stone more near the blocks
within distance 3. So the hidden layer's sums are kept for the position before the move, once for
each orientation that is needed, and each candidate adds only the inputs that differ. Moves that
capture are rare in openings and are rated from scratch.
"""

# mypy: ignore-errors
from __future__ import annotations

from collections import namedtuple

import numpy as np

from tengen.board.kernels import (
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
    in_atari,
    is_legal,
    near,
    place,
)
from tengen.jit import kernel
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
#   error, slopes            at the outputs and at the hidden sums
#   head, facts, spread      of each block: head; liberties, stones, friends, enemies; own, beside,
#                            close cells
Room = namedtuple(
    "Room",
    "after keys other_keys masks scratch index value fixed base known sums activity output values "
    "moves chances error slopes head facts spread",
)


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
def survey(s, geometry, room):
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
def prepare_base(s, friend, komi, orientation, blocks, net, geometry, layout, room):
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
def change_number(net, first, binary, cell, step, old, new, sums):
    """Replace one number of a cell; `step` is the number that a binary feature starts with.

    `first` is the input of cell 0 and `cell` the distance in inputs of this cell from there.
    """
    if binary:
        a, b = min(old - step, STEPS - 1), min(new - step, STEPS - 1)
        if a != b:
            for h in range(sums.shape[0]):
                sums[h] += net.w1[first + cell + b, h] - net.w1[first + cell + a, h]
    else:
        d = (min(new, CUT) - min(old, CUT)) / STEPS
        if d != 0.0:
            for h in range(sums.shape[0]):
                sums[h] += d * net.w1[first + cell, h]


@kernel
def change_block(s, head, old, new, turned, geometry, layout, net, sums):
    """Replace the facts of all stones of a block in the hidden sums."""
    slots = layout.slots
    if old[0] == new[0] and old[1] == new[1] and old[2] == new[2] and old[3] == new[3]:
        return
    x = head
    while True:
        cell = turned[geometry.cell_of[x]]
        if slots[C_FIRST] >= 0:
            binary = slots[C_BINARY]
            width = STEPS if binary else 1
            change_number(net, slots[C_FIRST], binary, cell * width, 1, old[0], new[0], sums)
        if slots[D_FIRST] >= 0:
            binary = slots[D_BINARY]
            width = STEPS if binary else 1
            change_number(net, slots[D_FIRST], binary, cell * width, 1, old[1], new[1], sums)
        if slots[E_FIRST] >= 0:
            binary = slots[E_BINARY]
            width = STEPS if binary else 1
            first = slots[E_FIRST]
            change_number(net, first, binary, 2 * cell * width, 0, old[2], new[2], sums)
            change_number(net, first, binary, (2 * cell + 1) * width, 0, old[3], new[3], sums)
        x = s[NEXT, x]
        if x == head:
            break


@kernel
def add_row(net, i, factor, sums):
    """Add one input to the hidden sums."""
    for h in range(sums.shape[0]):
        sums[h] += factor * net.w1[i, h]


@kernel
def add_stone(facts, cell, layout, net, sums):
    """Add the inputs of a friendly stone."""
    slots = layout.slots
    add_row(net, slots[A_OCCUPIED] + cell, 1.0, sums)
    add_row(net, slots[A_FRIENDLY] + cell, 1.0, sums)
    for which in range(3):
        first = slots[C_FIRST if which == 0 else D_FIRST if which == 1 else E_FIRST]
        if first < 0:
            continue
        binary = slots[C_BINARY if which == 0 else D_BINARY if which == 1 else E_BINARY]
        for part in range(2 if which == 2 else 1):
            number = facts[which + part]
            place_of = (2 * cell + part) if which == 2 else cell
            if binary:
                step = number if which == 2 else number - 1
                add_row(net, first + place_of * STEPS + min(step, STEPS - 1), 1.0, sums)
            elif number > 0:
                add_row(net, first + place_of, min(number, CUT) / STEPS, sums)


@kernel
def joined_facts(cell, colour, blocks, geometry, room):
    """Return the facts of the block that a stone on `cell` belongs to, with all it joins.

    A block is joined when it has this colour and the cell is beside it.
    """
    word, bit = cell >> 6, np.uint64(1) << np.uint64(cell & 63)
    own, beside, close = room.scratch[0], room.scratch[1], room.scratch[2]
    words = own.shape[0]
    own[:] = 0
    own[word] |= bit
    size = 1
    for w in range(words):
        beside[w] = geometry.beside[cell, w]
        close[w] = geometry.close[cell, w]
    for b in range(blocks):
        spread = room.spread[b]
        if (
            spread[1, word] & bit
            and room.masks[colour, word_of(spread[0])] & spread[0, word_of(spread[0])]
        ):
            size += room.facts[b, 1]
            for w in range(words):
                own[w] |= spread[0, w]
                beside[w] |= spread[1, w]
                close[w] |= spread[2, w]
    liberties = friends = enemies = 0
    for w in range(words):
        liberties += count_bits(beside[w] & room.masks[EMPTY, w] & ~own[w])
        friends += count_bits(close[w] & room.masks[colour, w] & ~own[w])
        enemies += count_bits(close[w] & room.masks[3 - colour, w])
    return liberties, size, friends, enemies


@kernel
def word_of(cells):
    """Return the first word with a bit in it."""
    w = 0
    while cells[w] == 0:
        w += 1
    return w


@kernel
def rate_quiet(s, cell, colour, blocks, orientation, net, geometry, layout, room):
    """Return the value of a move that captures nothing, from what it changes."""
    sums = room.sums
    sums[:] = room.base[orientation]
    turned = geometry.turned[orientation]
    word, bit = cell >> 6, np.uint64(1) << np.uint64(cell & 63)
    new = joined_facts(cell, colour, blocks, geometry, room)
    add_stone(new, turned[cell], layout, net, sums)
    for b in range(blocks):
        if room.spread[b, 2, word] & bit:
            head = room.head[b]
            f = room.facts[b]
            old = (f[0], f[1], f[2], f[3])
            touches = 1 if room.spread[b, 1, word] & bit else 0
            if s[COLOUR, head] != colour:
                changed = (old[0] - touches, old[1], old[2], old[3] + 1)
            elif touches == 1:
                changed = new
            else:
                changed = (old[0], old[1], old[2] + 1, old[3])
            change_block(s, head, old, changed, turned, geometry, layout, net, sums)
    return finish_forward(net, sums, room.activity, room.output)


@kernel
def captures(s, p, colour):
    """Tell whether a legal move takes something."""
    width = s[SCALARS, COLS] + 1
    for k in range(4):
        q = near(p, k, width)
        c = s[COLOUR, q]
        if c != EMPTY and c != BORDER and c != colour and in_atari(s, s[HEAD, q]):
            return True
    return False


@kernel
def repeats(s, p, colour, hashes, count, after):
    """Play a move in `after` and tell whether that position was there before."""
    after[:, :] = s
    place(after, p, colour)
    for t in range(count):
        if hashes[t] == after[SCALARS, HASH]:
            return True
    return False


@kernel
def rate_moves(s, net, komi, geometry, layout, hashes, count, room):
    """Rate every move of the side to move; return how many there are. Passing is no candidate.

    The first `count` hashes are those of earlier positions, which may not come again.
    """
    colour = s[SCALARS, TURN]
    position_keys(s, colour, geometry, room.keys)
    constant_sums(net, layout, room.fixed)
    blocks = survey(s, geometry, room)
    room.known[:] = False
    moves = 0
    for cell in range(geometry.cells.shape[0]):
        p = geometry.cells[cell]
        if s[COLOUR, p] != EMPTY or not is_legal(s, p, colour):
            continue
        if captures(s, p, colour):
            if repeats(s, p, colour, hashes, count, room.after):
                continue
            position_keys(room.after, colour, geometry, room.other_keys)
            orientation = best_orientation(room.other_keys)
            v, _ = evaluate(room.after, colour, komi, orientation, net, geometry, layout, room)
            colour_masks(s, geometry, room.masks)
        else:
            orientation = orientation_after(room.keys, geometry, cell)
            if not room.known[orientation]:
                prepare_base(s, colour, komi, orientation, blocks, net, geometry, layout, room)
            v = rate_quiet(s, cell, colour, blocks, orientation, net, geometry, layout, room)
        room.moves[moves] = p
        room.values[moves] = v
        moves += 1
    return moves
