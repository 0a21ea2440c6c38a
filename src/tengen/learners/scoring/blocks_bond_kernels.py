"""Describe blocks that share one fate: of one colour, in one area, kept or lost together.

Such a bond is what a player calls a group. Its liberties, the moves on them that would be suicide
or self-atari for either side, its eyes, and the bonds of the enemy beside it say most about seki.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.tactics_kernels import eye_map
from tengen.jit import inner_kernel, kernel
from tengen.learners.scoring.blocks_context_kernels import find, flood_other
from tengen.learners.scoring.blocks_kernels import liberties_after, mark_perimeters

BONDS = 24
HEAVY_GAP, LIGHT_GAP = 0.06, 0.15
"""Blocks whose mean ownership differs less than this are bound."""


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
                and abs(mean_h[y] - mean_h[x]) < HEAVY_GAP
                and abs(mean_l[y] - mean_l[x]) < LIGHT_GAP
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
