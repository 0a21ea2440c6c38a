"""Read how many eyes a small enclosed region is worth, by search; knows nothing but bit masks.

The region's cells are bits. Round them stands a wall of the defender that can not be captured
(its other liberties do not matter here). Some cells are *open*: an attacker's stone there joins
hands with the outside and can not be captured either. Attackers' stones that already lie on an
open cell are *pending*: one more attacker's move takes them out. The defender moves first,
because both sides have passed: nobody thought the attack worth a move.
"""

from __future__ import annotations

import numpy as np

from tengen.jit import kernel

MAX_CELLS = 10
TABLE = 8192  # entries of the transposition table, a power of two
BUDGET = 4000  # positions read before the defender gets the benefit of the doubt

IN_PROGRESS = 2


@kernel
def neighbour_mask(mask, nbr):
    """Return the cells next to the cells of `mask`."""
    out = 0
    i = 0
    while mask:
        if mask & 1:
            out |= nbr[i]
        mask >>= 1
        i += 1
    return out


@kernel
def grow(seed, within, nbr):
    """Return the connected part of `within` that contains `seed`."""
    while True:
        more = (seed | neighbour_mask(seed, nbr)) & within
        more |= seed
        if more == seed:
            return seed
        seed = more


@kernel
def count_eyes(own, foe, cells, wall, is_open, nbr):
    """Count the eyes that stand without another move of the defender, at most two.

    An eye is a part of the region cut off by stones that hang on the wall, without an open cell,
    every empty cell of it next to those stones or to the wall.
    """
    solid = grow(own & wall, own, nbr) if own & wall else 0
    touched = wall | neighbour_mask(solid, nbr)
    rest = cells & ~solid
    eyes = 0
    while rest:
        part = grow(rest & -rest, cells & ~solid, nbr)
        rest &= ~part
        empty = part & ~(own | foe)
        if part & is_open == 0 and part & own == 0 and empty & ~touched == 0:
            eyes += 1
            if eyes == 2:
                return 2
    return eyes


@kernel
def take(cell, mover, other, cells, safe_mover, safe_other, nbr):
    """Play `cell` for `mover` and return the stones taken, or -1 where the move is suicide.

    A chain that contains a cell of its side's safe mask can not be captured.
    """
    mover |= cell
    taken = 0
    around = neighbour_mask(cell, nbr) & other
    while around:
        chain = grow(around & -around, other, nbr)
        around &= ~chain
        libs = neighbour_mask(chain, nbr) & cells & ~(mover | other)
        if libs == 0 and chain & safe_other == 0:
            taken |= chain
    chain = grow(cell, mover, nbr)
    libs = neighbour_mask(chain, nbr) & cells & ~(mover | (other & ~taken))
    if libs == 0 and chain & safe_mover == 0:
        return -1
    return taken


@kernel
def slot_of(key, keys):
    """Return the table slot of `key`: its own or the first free one, -1 if the table is full."""
    h = key * 0x9E3779B97F4A7C
    slot = (h >> 20) & (TABLE - 1)
    for _ in range(64):
        if keys[slot] == key or keys[slot] == -1:
            return slot
        slot = (slot + 1) & (TABLE - 1)
    return -1


@kernel
def key_of(own, foe, pending, turn, passed):
    """Return one number for a position of the search."""
    return own | (foe << 10) | (pending << 20) | (turn << 30) | (passed << 31)


@kernel
def can_make(
    own, foe, pending, turn, passed, target, cells, wall, is_open, nbr, keys, known, spent
):
    """Tell whether the defender gets `target` eyes; `turn` 0 means the defender moves."""
    if count_eyes(own, foe, cells, wall, is_open, nbr) >= target:
        return True
    spent[0] += 1
    if spent[0] > BUDGET:
        return True
    out = is_open & foe & ~pending
    lost = grow(out, foe, nbr) if out else 0
    left = cells & ~own & ~lost
    n_left = 0
    while left:
        left &= left - 1
        n_left += 1
    if n_left < target:
        return False
    slot = slot_of(key_of(own, foe, pending, turn, passed), keys)
    if slot < 0:
        return True
    if keys[slot] != -1:
        return known[slot] == 1
    keys[slot] = key_of(own, foe, pending, turn, passed)
    known[slot] = IN_PROGRESS
    result = turn == 1
    empty = cells & ~(own | foe)
    # Cells with more neighbours first: the vital point is usually among them.
    for degree in range(4, -1, -1):
        if result != (turn == 1):
            break
        left = empty
        while left:
            cell = left & -left
            left &= left - 1
            index = 0
            while cell >> (index + 1):
                index += 1
            around = nbr[index]
            d = 0
            while around:
                around &= around - 1
                d += 1
            if d != degree:
                continue
            if turn == 0:
                taken = take(cell, own, foe, cells, wall, is_open & ~pending, nbr)
                if taken < 0:
                    continue
                new_own, new_foe, new_pending = own | cell, foe & ~taken, pending & ~taken
            else:
                taken = take(cell, foe, own, cells, is_open & ~pending, wall, nbr)
                if taken < 0:
                    continue
                new_own, new_foe, new_pending = own & ~taken, foe | cell, pending
            child = slot_of(key_of(new_own, new_foe, new_pending, 1 - turn, 0), keys)
            if child >= 0 and keys[child] != -1 and known[child] == IN_PROGRESS:
                continue  # nobody may repeat a position
            good = can_make(
                new_own, new_foe, new_pending, 1 - turn, 0, target,
                cells, wall, is_open, nbr, keys, known, spent,
            )  # fmt: skip
            if good == (turn == 0):
                result = good
                break
    if turn == 1 and result:
        left = pending
        while left:
            cell = left & -left
            left &= left - 1
            if not can_make(
                own, foe, pending & ~cell, 0, 0, target,
                cells, wall, is_open, nbr, keys, known, spent,
            ):  # fmt: skip
                result = False
                break
    if not passed and result == (turn == 1):
        good = can_make(
            own, foe, pending, 1 - turn, 1, target,
            cells, wall, is_open, nbr, keys, known, spent,
        )  # fmt: skip
        if good == (turn == 0):
            result = good
    elif passed and turn == 1:
        result = False
    known[slot] = 1 if result else 0
    return result


@kernel
def eye_value(foe, cells, wall, is_open, nbr):
    """Return 0, 1 or 2: the eyes a region of at most MAX_CELLS cells is worth to its owner."""
    pending = foe & is_open
    keys = np.full(TABLE, -1, np.int64)
    known = np.zeros(TABLE, np.int8)
    spent = np.zeros(1, np.int64)
    if can_make(0, foe, pending, 0, 0, 2, cells, wall, is_open, nbr, keys, known, spent):
        return 2
    keys[:] = -1
    spent[0] = 0
    if can_make(0, foe, pending, 0, 0, 1, cells, wall, is_open, nbr, keys, known, spent):
        return 1
    return 0
