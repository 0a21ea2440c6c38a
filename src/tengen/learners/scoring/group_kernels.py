"""Features of groups: blocks that share one fate, and small fights read out.

A *bond* is a set of blocks of one colour, in one area, that live or die together: what a player
calls a group. Its liberties, the moves on them that would be suicide or self-atari for either side,
its eyes, and the enemy bonds beside it say most about seki.

`attack` searches whether the enemy, playing only inside the group's area, can capture it. It uses
simple ko, lets the defender pass, and returns "unknown" where there are too many points or moves.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.tactics_kernels import eye_map
from tengen.jit import inner_kernel, kernel
from tengen.learners.scoring.blocks_kernels import liberties_after, mark_perimeters
from tengen.learners.scoring.context_kernels import find, flood_other

BONDS, ATTACKS = 24, 4
_HEAVY_GAP, _LIGHT_GAP = 0.06, 0.15
"""Blocks whose mean ownership differs less than this are bound."""
_MOST_POINTS, _MOST_PLIES, _MOST_NODES = 7, 14, 1500
_UNKNOWN, HOLDS, FALLS = -1, 0, 1


@inner_kernel
def _bind(line, width, part, colour_of, count, mean_h, mean_l, bond):
    """Write into bond[x] the number of the first block bound to block x."""
    n = line.shape[0]
    number, stack = np.empty(n, np.int64), np.empty(n, np.int64)
    home = np.full(count, -1, np.int64)
    parent = np.arange(count)
    for enemy in (1, 2):
        flood_other(line, width, enemy, number, stack)
        for p in range(n):
            if line[p] == 3 - enemy:
                home[part[p]] = number[p]
    for x in range(count):
        if colour_of[x] == 0:
            continue
        for y in range(x):
            if (
                colour_of[y] == colour_of[x]
                and home[y] == home[x]
                and abs(mean_h[y] - mean_h[x]) < _HEAVY_GAP
                and abs(mean_l[y] - mean_l[x]) < _LIGHT_GAP
            ):
                a, b = find(parent, x), find(parent, y)
                if a < b:
                    parent[b] = a
                else:
                    parent[a] = b
    for x in range(count):
        bond[x] = find(parent, x)


@kernel
def describe_bonds(line, cols, part, colour_of, size_of, count, mean_h, mean_l, bond, out):
    """Number the bonds and write BONDS features of every block's bond."""
    width = cols + 1
    n = line.shape[0]
    _bind(line, width, part, colour_of, count, mean_h, mean_l, bond)
    rim = np.zeros((count, n), np.bool_)
    rims, libs = np.zeros(count, np.int64), np.zeros(count, np.int64)
    mark_perimeters(line, width, part, rim, rims, libs)
    eyes = np.zeros(n, np.int64)
    eye_map(line, width, eyes)
    touch = np.zeros(count, np.int64)
    for p in range(n):
        if line[p] == 0:
            for q in (p + 1, p - 1, p + width, p - width):
                if line[q] == 1 or line[q] == 2:
                    touch[part[p]] |= line[q]
    f = np.zeros((count, BONDS))
    for x in range(count):
        if colour_of[x] != 0:
            g = bond[x]
            f[g, 0] += 1
            f[g, 1] += size_of[x]
            f[g, 2] += mean_h[x] * size_of[x]
    seen = np.full((count, n), False)
    region_seen = np.zeros((count, count), np.bool_)
    for p in range(n):
        if line[p] != 0:
            continue
        known = False
        after_b, after_w = 0, 0
        for q in (p + 1, p - 1, p + width, p - width):
            if line[q] != 1 and line[q] != 2:
                continue
            g = bond[part[q]]
            if seen[g, p]:
                continue
            seen[g, p] = True
            if not known:
                after_b = liberties_after(line, width, part, rim, libs, p, 1)
                after_w = liberties_after(line, width, part, rim, libs, p, 2)
                known = True
            mine = after_b if line[q] == 1 else after_w
            theirs = after_w if line[q] == 1 else after_b
            f[g, 3] += 1
            f[g, 4] += theirs < 1
            f[g, 5] += theirs < 2
            f[g, 6] += mine < 2
            f[g, 7] += mine < 2 and theirs < 2
            beside = False
            for r in (p + 1, p - 1, p + width, p - width):
                beside |= line[r] == 3 - line[q]
            f[g, 8] += not beside
            f[g, 9] += eyes[p] == line[q]
            f[g, 10] += eyes[p] == -line[q]
            if not region_seen[g, part[p]]:
                region_seen[g, part[p]] = True
                f[g, 11] += 1
                if touch[part[p]] == line[q]:
                    f[g, 12] += 1
                    f[g, 13] += size_of[part[p]]
    for x in range(count):
        for i in range(BONDS):
            out[x, i] = 0.0
        if colour_of[x] == 0:
            continue
        g = bond[x]
        for i in range(14):
            out[x, i] = f[g, i]
        out[x, 2] = f[g, 2] / f[g, 1]
    # The weakest enemy bond beside it: the one with the least ownership of its own stones.
    for g in range(count):
        if colour_of[g] == 0 or bond[g] != g:
            continue
        weakest, least = -1, 2.0
        for p in range(n):
            if line[p] != colour_of[g] or bond[part[p]] != g:
                continue
            for q in (p + 1, p - 1, p + width, p - width):
                if line[q] == 3 - colour_of[g]:
                    h = bond[part[q]]
                    mean = f[h, 2] / f[h, 1]
                    if mean < least or (mean == least and h < weakest):
                        weakest, least = h, mean
        shared = 0.0
        if weakest >= 0:
            for p in range(n):
                shared += seen[g, p] and seen[weakest, p]
        for x in range(count):
            if colour_of[x] != 0 and bond[x] == g:
                out[x, 14] = weakest >= 0
                if weakest >= 0:
                    out[x, 15] = least
                    out[x, 16] = f[weakest, 1]
                    out[x, 17] = f[weakest, 3]
                    out[x, 18] = f[weakest, 8]
                    out[x, 19] = f[weakest, 9]
                    out[x, 20] = f[weakest, 12]
                    out[x, 21] = shared
                    out[x, 22] = f[g, 3] - f[weakest, 3]
                    out[x, 23] = f[weakest, 5]


# ----- Attacks -----


@inner_kernel
def _lift_if_dead(line, p, width, stack, seen, mark):
    """Take the block at p off if it has no liberty; return its stones, 0 if it stays."""
    colour = line[p]
    seen[p] = mark
    stack[0] = p
    count, i = 1, 0
    while i < count:
        x = stack[i]
        i += 1
        for q in (x + 1, x - 1, x + width, x - width):
            if line[q] == 0:
                return 0
            if line[q] == colour and seen[q] != mark:
                seen[q] = mark
                stack[count] = q
                count += 1
    for i in range(count):
        line[stack[i]] = 0
    return count


@inner_kernel
def _try_move(line, p, colour, width, stack, seen, marks):
    """Play on a copy; return stones taken and the ko point, or -1 where it is suicide."""
    line[p] = colour
    taken, ko = 0, 0
    for q in (p + 1, p - 1, p + width, p - width):
        if line[q] == 3 - colour:
            marks[0] += 1
            gone = _lift_if_dead(line, q, width, stack, seen, marks[0])
            taken += gone
            if gone == 1:
                ko = q
    marks[0] += 1
    if taken == 0 and _lift_if_dead(line, p, width, stack, seen, marks[0]) > 0:
        return -1, 0
    if taken != 1:
        ko = 0
    else:
        for q in (p + 1, p - 1, p + width, p - width):
            if line[q] == colour or (line[q] == 0 and q != ko):
                ko = 0
                break
    return taken, ko


@kernel
def attack(line, width, target, inside, first):
    """Tell whether the block at `target` falls if `first` (a colour) begins and plays `inside`."""
    n = line.shape[0]
    defender = line[target]
    attacker = 3 - defender
    boards = np.empty((_MOST_PLIES + 2, n), line.dtype)
    boards[0] = line
    ko = np.zeros(_MOST_PLIES + 2, np.int64)
    at = np.zeros(_MOST_PLIES + 2, np.int64)  # the next point to try; n is the pass
    best = np.zeros(_MOST_PLIES + 2, np.int64)
    passed = np.zeros(_MOST_PLIES + 2, np.bool_)
    stack, seen = np.empty(n, np.int64), np.zeros(n, np.int64)
    marks = np.zeros(1, np.int64)
    nodes = 0
    d = 0
    best[0] = HOLDS if first == attacker else FALLS
    while True:
        mover = first if d % 2 == 0 else 3 - first
        wanted = FALLS if mover == attacker else HOLDS
        finished = best[d] == wanted or at[d] > n or d >= _MOST_PLIES
        if not finished:
            p = at[d]
            at[d] += 1
            if p == n:
                # Who passes as attacker gives up; a defender who passes after a pass lives.
                if mover == attacker:
                    continue
                nodes += 1
                boards[d + 1] = boards[d]
                ko[d + 1] = 0
                passed[d + 1] = True
            else:
                if boards[d][p] != 0 or p == ko[d] or not (inside[p] or line[p] != 0):
                    continue
                if line[p] == 3:
                    continue
                nodes += 1
                if nodes > _MOST_NODES:
                    return _UNKNOWN
                boards[d + 1] = boards[d]
                taken, point = _try_move(boards[d + 1], p, mover, width, stack, seen, marks)
                if taken < 0:
                    continue
                if boards[d + 1][target] != defender:
                    best[d] = FALLS if mover == attacker else best[d]
                    continue
                if mover == defender and taken > _MOST_POINTS:
                    best[d] = HOLDS
                    continue
                ko[d + 1] = point
                passed[d + 1] = False
            d += 1
            at[d] = 0
            # Below the deepest ply the attacker has failed.
            best[d] = HOLDS if (first if d % 2 == 0 else 3 - first) == attacker else FALLS
            if d >= _MOST_PLIES:
                best[d] = HOLDS
            continue
        value = best[d]
        if d == 0:
            return value
        d -= 1
        mover = first if d % 2 == 0 else 3 - first
        if mover == attacker:
            best[d] = max(best[d], value)
        else:
            best[d] = min(best[d], value)


@kernel
def describe_attacks(line, cols, part, colour_of, size_of, count, bond, mean_h, mean_l, out):
    """Write for every doubtful bond whether it falls: attacked first, holding, defended first.

    The fourth feature says that it was not read: too much room, or playouts left no doubt.
    """
    width = cols + 1
    n = line.shape[0]
    number, stack = np.empty(n, np.int64), np.empty(n, np.int64)
    inside = np.zeros(n, np.bool_)
    for x in range(count):
        for i in range(ATTACKS):
            out[x, i] = 0.0
        out[x, 3] = colour_of[x] != 0
    for colour in (1, 2):
        flood_other(line, width, 3 - colour, number, stack)
        for g in range(count):
            if colour_of[g] != colour or bond[g] != g:
                continue
            if mean_h[g] > 0.9 or (mean_h[g] < -0.97 and mean_l[g] < -0.6):
                continue
            largest = g
            for x in range(g, count):
                if bond[x] == g and size_of[x] > size_of[largest]:
                    largest = x
            target = 0
            for p in range(n):
                if line[p] == colour and part[p] == largest:
                    target = p
                    break
            room = 0
            for p in range(n):
                inside[p] = number[p] == number[target] and line[p] == 0
                room += inside[p]
            if room > _MOST_POINTS:
                continue
            attacked = attack(line, width, target, inside, 3 - colour)
            if attacked == _UNKNOWN:
                continue
            defended = HOLDS
            if attacked == FALLS:
                defended = attack(line, width, target, inside, colour)
            for x in range(g, count):
                if bond[x] == g:
                    out[x, 0] = attacked == FALLS
                    out[x, 1] = attacked == HOLDS
                    out[x, 2] = defended == FALLS
                    out[x, 3] = 0.0
