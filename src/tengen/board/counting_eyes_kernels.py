"""Read how many eyes a small enclosed region is worth, by search; knows nothing but bit masks.

The region's cells are bits. Round them stands a wall of the defender that can not be captured
(its other liberties do not matter here), nor can what the defender adds. Some cells are *open*: an
attacker's stone there joins hands with the outside and can not be captured either. An open cell
with an attacker's stone on it to begin with is *shut* until the attacker spends one more move
outside; such a throw-in also *spends* the cell from which it is captured: no eye stands there.
The defender moves first, because both sides have passed: nobody thought an attack worth a move.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.jit import inner_kernel, kernel

MAX_CELLS = 12
_TABLE = 32768  # entries of the transposition table, a power of two
_BUDGET = 20000  # positions read before the defender gets the benefit of the doubt

_IN_PROGRESS = 2

# Columns of the search's stack; _RESULT is what the mover gets if no move is better.
_OWN, _FOE, _SHUT, _TURN, _PASSED, _SLOT, _TRIED, _RESULT = 0, 1, 2, 3, 4, 5, 6, 7


@inner_kernel
def _neighbour_mask(mask, nbr):
    """Return the cells next to the cells of `mask`."""
    out = 0
    i = 0
    while mask:
        if mask & 1:
            out |= nbr[i]
        mask >>= 1
        i += 1
    return out


@inner_kernel
def _grow(seed, within, nbr):
    """Return the connected part of `within` that contains `seed`."""
    while True:
        more = (seed | _neighbour_mask(seed, nbr)) & within
        more |= seed
        if more == seed:
            return seed
        seed = more


@inner_kernel
def _size_of(mask):
    """Return the number of cells in `mask`."""
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@inner_kernel
def _count_eyes(own, foe, turn, shape, nbr):
    """Count the eyes that stand without another move of the defender, at most two.

    An eye is a part of the region cut off by the defender's stones, without an open cell, every
    empty cell of it next to them or to the wall. Seven cells live even if the attacker begins.
    """
    cells, wall, is_open, spent = shape[0], shape[1], shape[2], shape[3]
    touched = wall | _neighbour_mask(own, nbr)
    rest = cells & ~own
    eyes = 0
    while rest:
        part = _grow(rest & -rest, cells & ~own, nbr)
        rest &= ~part
        if part & is_open or part & ~spent == 0:
            continue
        if _size_of(part) >= 7 and _size_of(part & foe) <= 1 - turn:
            return 2
        if part & ~foe & ~touched == 0:
            eyes += 1
            if eyes == 2:
                return 2
    return eyes


@inner_kernel
def _take(cell, mover, other, cells, safe_mover, safe_other, nbr):
    """Play `cell` for `mover` and return the stones taken, or -1 where the move is suicide.

    A chain that contains a cell of its side's safe mask can not be captured.
    """
    mover |= cell
    taken = 0
    around = _neighbour_mask(cell, nbr) & other
    if safe_other == cells:
        around = 0
    while around:
        chain = _grow(around & -around, other, nbr)
        around &= ~chain
        libs = _neighbour_mask(chain, nbr) & cells & ~(mover | other)
        if libs == 0 and chain & safe_other == 0:
            taken |= chain
    chain = _grow(cell, mover, nbr)
    libs = _neighbour_mask(chain, nbr) & cells & ~(mover | (other & ~taken))
    if libs == 0 and chain & safe_mover == 0:
        return -1
    return taken


@inner_kernel
def _slot_of(key, keys):
    """Return the table slot of `key`: its own or the first free one, -1 if the table is full."""
    slot = (key ^ (key >> 7) ^ (key >> 13) ^ (key >> 23)) & (_TABLE - 1)
    for _ in range(64):
        if keys[slot] == key or keys[slot] == -1:
            return slot
        slot = (slot + 1) & (_TABLE - 1)
    return -1


@inner_kernel
def _key_of(own, foe, shut, turn, passed):
    """Return one number for a position of the search."""
    return own | (foe << 12) | (shut << 24) | (turn << 36) | (passed << 37)


@inner_kernel
def _look_up(own, foe, shut, turn, passed, target, shape, nbr, keys, known, reads):
    """Judge a position without moves: 1 the defender gets its eyes, 0 not, -2 - slot to search."""
    if _count_eyes(own, foe, turn, shape, nbr) >= target:
        return 1
    lost = shape[2] & ~shut & foe
    if lost:
        lost = _grow(lost, foe, nbr)
    if _size_of(shape[0] & ~own & ~lost) < target:
        return 0
    reads[0] += 1
    if reads[0] > _BUDGET:
        return 1
    slot = _slot_of(_key_of(own, foe, shut, turn, passed), keys)
    if slot < 0:
        return 1
    if keys[slot] != -1:
        return 1 if known[slot] == 1 else 0
    keys[slot] = _key_of(own, foe, shut, turn, passed)
    known[slot] = _IN_PROGRESS
    return -2 - slot


@inner_kernel
def _can_make(own, foe, shut, target, shape, nbr, order, keys, known, stack):
    """Tell whether the defender, who moves first, gets `target` eyes.

    `shape` holds the cells, the wall, the open and the spent cells; `order` the cells in the order
    to try them. The search keeps its own stack, a row a position, because a kernel that calls
    itself cannot be cached on disk (Numba crashes when it loads one).
    """
    cells, wall, is_open = shape[0], shape[1], shape[2]
    n = len(order)
    reads = np.zeros(1, np.int64)
    answer = _look_up(own, foe, shut, 0, 0, target, shape, nbr, keys, known, reads)
    if answer >= 0:
        return answer == 1
    stack[0, _OWN], stack[0, _FOE], stack[0, _SHUT], stack[0, _TURN] = own, foe, shut, 0
    stack[0, _PASSED], stack[0, _SLOT], stack[0, _TRIED], stack[0, _RESULT] = 0, -2 - answer, 0, 0
    top = 0
    while top >= 0:
        own, foe, shut = stack[top, _OWN], stack[top, _FOE], stack[top, _SHUT]
        turn, k = stack[top, _TURN], stack[top, _TRIED]
        new_own, new_foe, new_shut, new_passed = own, foe, shut, 0
        stack[top, _TRIED] += 1
        done = False
        # Moves on cells, then stones the attacker takes out, then the pass.
        if k < n:
            cell = 1 << order[k]
            if (own | foe) & cell:
                continue
            immortal = is_open & ~shut
            if turn == 0:
                taken = _take(cell, own, foe, cells, wall, immortal, nbr)
                new_own = own | cell
                new_foe = foe & ~taken
            else:
                if shut & cell:
                    continue
                taken = _take(cell, foe, own, cells, immortal, cells, nbr)
                new_foe = foe | cell
            if taken < 0:
                continue
        elif k < 2 * n:
            cell = 1 << (k - n)
            if turn == 0 or shut & ~own & cell == 0:
                continue
            new_shut = shut & ~cell
        elif k == 2 * n:
            new_passed = 1
            if stack[top, _PASSED]:
                if turn == 1:
                    stack[top, _RESULT] = 0
                done = True
        else:
            done = True
        if not done:
            child = _slot_of(_key_of(new_own, new_foe, new_shut, 1 - turn, new_passed), keys)
            if child >= 0 and keys[child] != -1 and known[child] == _IN_PROGRESS:
                continue  # nobody may repeat a position
            answer = _look_up(
                new_own, new_foe, new_shut, 1 - turn, new_passed, target,
                shape, nbr, keys, known, reads,
            )  # fmt: skip
            if answer < 0:
                top += 1
                stack[top, _OWN], stack[top, _FOE], stack[top, _SHUT] = new_own, new_foe, new_shut
                stack[top, _TURN], stack[top, _PASSED] = 1 - turn, new_passed
                stack[top, _SLOT], stack[top, _TRIED], stack[top, _RESULT] = (
                    -2 - answer,
                    0,
                    1 - turn,
                )
                continue
            if (answer == 1) != (turn == 0):
                continue
            stack[top, _RESULT] = answer
        # This position is decided; so may be those that led here by the same mover's choice.
        while True:
            answer = stack[top, _RESULT]
            known[stack[top, _SLOT]] = answer
            top -= 1
            if top < 0 or (answer == 1) != (stack[top, _TURN] == 0):
                break
            stack[top, _RESULT] = answer
    return answer == 1


@kernel
def eye_value(n, foe, wall, is_open, spent, nbr):
    """Return 0, 1 or 2: the eyes a region of n <= MAX_CELLS cells is worth to its owner."""
    shut = foe & is_open
    shape = np.empty(4, np.int64)
    shape[0] = (1 << n) - 1
    shape[1] = wall
    shape[2] = is_open
    shape[3] = spent
    # Cells with more neighbours first: the vital point is usually among them.
    order = np.empty(n, np.int64)
    filled = 0
    for degree in range(4, -1, -1):
        for i in range(n):
            d = 0
            for j in range(n):
                d += (nbr[i] >> j) & 1
            if d == degree:
                order[filled] = i
                filled += 1
    keys = np.empty(_TABLE, np.int64)
    known = np.empty(_TABLE, np.int8)
    # Every position on the stack has been read, so that it cannot be higher than the budget.
    stack = np.empty((_BUDGET + 2, 8), np.int64)
    for target in range(2, 0, -1):
        for i in range(_TABLE):
            keys[i] = -1
        if _can_make(0, foe, shut, target, shape, nbr, order, keys, known, stack):
            return target
    return 0
