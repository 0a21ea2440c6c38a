"""Turn positions into network inputs and networks into gradients; know nothing of games.

A *cell* is a row-major index. An *orientation* is one of the symmetries of the board; every
position is read in the orientation whose stones, written cell by cell, come first (see
`best_orientation`), so that all eight symmetric positions give the same inputs. Positions are
after-states: they are seen by the *friendly* side, the one that has just moved.

Inputs are sparse: `extract` lists the indices that are not zero with their values, and everything
after that costs time in proportion to the length of this list, never to the number of inputs. The
inputs of feature B are the same for every position; their share of the first layer is kept in one
vector, see `constant_sums`.
"""

# mypy: ignore-errors
from __future__ import annotations

from collections import namedtuple

import numpy as np

from tengen.board.layout_kernels import (
    BLACK,
    COLOUR,
    EMPTY,
    HEAD,
    NEXT,
    PRISONERS_B,
    PRISONERS_W,
    SCALARS,
    SIZE,
    WHITE,
)
from tengen.jit import hot_kernel, inner_kernel, kernel

# What a board size looks like to the kernels.
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

# The weights: w1 (inputs, hidden), b1 (hidden), w2 (hidden, outputs), b2 (outputs).
Net = namedtuple("Net", "w1 b1 w2 b2")

# Scalars are divided by this and cut off at twice this; binary features have so many nodes.
STEPS = 5
CUT = 10

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
    sums[:] = net.b1
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
def finish_forward(net, sums, activity, output):
    """Turn the hidden layer's sums into its activity and the outputs; return the mean output."""
    total = 0.0
    for h in range(sums.shape[0]):
        activity[h] = _sigmoid(sums[h])
    if output.shape[0] == 1:
        x = net.b2[0]
        for h in range(sums.shape[0]):
            x += activity[h] * net.w2[h, 0]
        output[0] = _sigmoid(x)
        return output[0]
    output[:] = net.b2
    for h in range(sums.shape[0]):
        for m in range(output.shape[0]):
            output[m] += activity[h] * net.w2[h, m]
    for m in range(output.shape[0]):
        output[m] = _sigmoid(output[m])
        total += output[m]
    return total / output.shape[0]


@inner_kernel
def hidden_slopes(w2, activity, error, slopes):
    """Write the gradient at the hidden sums for `error` at the output sums."""
    for h in range(activity.shape[0]):
        back = 0.0
        for m in range(error.shape[0]):
            back += error[m] * w2[h, m]
        slopes[h] = back * activity[h] * (1.0 - activity[h])


@inner_kernel
def step_weights(net, layout, index, value, n, activity, error, slopes, rate):
    """Move all weights by `rate` along the gradient of one position."""
    hidden = activity.shape[0]
    for h in range(hidden):
        for m in range(error.shape[0]):
            net.w2[h, m] += rate * activity[h] * error[m]
        net.b1[h] += rate * slopes[h]
    for m in range(error.shape[0]):
        net.b2[m] += rate * error[m]
    for j in range(n):
        i, v = index[j], rate * value[j]
        for h in range(hidden):
            net.w1[i, h] += v * slopes[h]
    for j in range(layout.fixed_index.shape[0]):
        i, v = layout.fixed_index[j], rate * layout.fixed_value[j]
        for h in range(hidden):
            net.w1[i, h] += v * slopes[h]
