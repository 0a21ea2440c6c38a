"""Describe every block of a position by the 46 (or 48) numbers of Burzillo's scoring paper.

A position is a bordered line of colours. Blocks and empty regions are numbered together in the
order of their first points; masks over the line say what belongs to, borders on and is free
beside each of them. Nothing here judges life or death.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.kernels import number_alike
from tengen.jit import inner_kernel, kernel

_EYE_LIMIT = 5
"""An enclosed region smaller than this is called eyespace."""
PAPER = 48


@kernel
def number_parts(line, width, part, colour_of, size_of):
    """Number blocks of stones and empty regions; return how many there are. Border gets -1."""
    n = line.shape[0]
    kind = np.empty(n, np.int8)
    for p in range(n):
        kind[p] = -1 if line[p] == 3 else line[p]
    count = number_alike(kind, width, part, np.empty(n, np.int64))
    size_of[:count] = 0
    for p in range(n):
        if part[p] >= 0:
            colour_of[part[p]] = line[p]
            size_of[part[p]] += 1
    return count


@inner_kernel
def mark_perimeters(line, width, part, rim, rims, libs):
    """Set rim[x, p] where p lies beside part x; count them in `rims`, the empty ones in `libs`."""
    for p in range(line.shape[0]):
        if line[p] == 3:
            continue
        for q in (p + 1, p - 1, p + width, p - width):
            if line[q] != 3 and part[q] != part[p] and not rim[part[q], p]:
                x = part[q]
                rim[x, p] = True
                rims[x] += 1
                if line[p] == 0:
                    libs[x] += 1


@inner_kernel
def _touch_masks(line, rim, count, touch):
    """Write into touch[x] bit 1 where part x has Black beside it, bit 2 where White."""
    for x in range(count):
        touch[x] = 0
    for p in range(line.shape[0]):
        if line[p] == 1 or line[p] == 2:
            for x in range(count):
                if rim[x, p]:
                    touch[x] |= line[p]


@inner_kernel
def _put_once(items, n, x):
    """Put x behind the first n items unless it is one of them; return how many they are then."""
    for i in range(n):
        if items[i] == x:
            return n
    items[n] = x
    return n + 1


@inner_kernel
def liberties_after(line, width, part, rim, libs, p, colour):
    """Return the liberties of the block that `colour` would have at the empty point p, played."""
    n = line.shape[0]
    mine = np.zeros(4, np.int64)
    n_mine = 0
    gone = np.zeros(4, np.int64)
    n_gone = 0
    for q in (p + 1, p - 1, p + width, p - width):
        x = part[q]
        if line[q] == colour:
            n_mine = _put_once(mine, n_mine, x)
        elif line[q] == 3 - colour and libs[x] == 1:
            n_gone = _put_once(gone, n_gone, x)
    total = 0
    for q in range(n):
        if line[q] == 3 or q == p:
            continue
        free = line[q] == 0
        for i in range(n_gone):
            free |= part[q] == gone[i]
        if not free:
            continue
        near = q == p + 1 or q == p - 1 or q == p + width or q == p - width
        for i in range(n_mine):
            near |= rim[mine[i], q]
        total += near
    return total


@inner_kernel
def _chain_blocks(line, colour_of, rim, count, chain):
    """Number optimistic chains: blocks of a colour joined by shared liberties, over and over."""
    for x in range(count):
        chain[x] = x
    for p in range(line.shape[0]):
        if line[p] != 0:
            continue
        for colour in (1, 2):
            first = -1
            for x in range(count):
                if colour_of[x] == colour and rim[x, p]:
                    if first < 0:
                        first = chain[x]
                    elif chain[x] != first:
                        old = chain[x]
                        for y in range(count):
                            if chain[y] == old:
                                chain[y] = first


@inner_kernel
def _edge_distances(p, width, rows, cols):
    """Return the distances of a point to the nearest and to the second-nearest edge, from 0."""
    row, col = p // width - 1, p % width - 1
    a, b = min(row, rows - 1 - row), max(row, rows - 1 - row)
    c, d = min(col, cols - 1 - col), max(col, cols - 1 - col)
    if a <= c:
        return a, min(b, c)
    return c, min(a, d)


@inner_kernel
def _describe_regions(line, width, rows, cols, part, colour_of, size_of, rims, touch, count, near,
                      colour, free, friends, enemies, out, at):  # fmt: skip
    """Write the features of the regions marked in `near`, whose owner has the liberties `free`.

    In order: enclosed number, size, perimeter, centre of mass (a pair); eyespace number, size,
    perimeter; disputed number, own liberties, friendly and enemy liberties in them.
    """
    for i in range(12):
        out[at + i] = 0.0
    for x in range(count):
        if not near[x] or colour_of[x] != 0:
            continue
        if touch[x] == 3:
            out[at + 8] += 1
        elif touch[x] == colour:
            out[at] += 1
            out[at + 1] += size_of[x]
            out[at + 2] += rims[x]
            if size_of[x] < _EYE_LIMIT:
                out[at + 5] += 1
                out[at + 6] += size_of[x]
                out[at + 7] += rims[x]
    for p in range(line.shape[0]):
        if line[p] != 0 or not near[part[p]]:
            continue
        if touch[part[p]] == 3:
            out[at + 9] += free[p]
            out[at + 10] += friends[p]
            out[at + 11] += enemies[p]
        elif touch[part[p]] == colour:
            first, second = _edge_distances(p, width, rows, cols)
            out[at + 3] += first
            out[at + 4] += second
    if out[at + 1] > 0:
        out[at + 3] /= out[at + 1]
        out[at + 4] /= out[at + 1]


@inner_kernel
def weaker(libs, size_of, x, y):
    """Tell whether block x is weaker than y: fewer liberties, then smaller, then first."""
    if y < 0:
        return True
    if libs[x] != libs[y]:
        return libs[x] < libs[y]
    if size_of[x] != size_of[y]:
        return size_of[x] < size_of[y]
    return x < y


@inner_kernel
def _describe_enemy(enemy, rim, rims, libs, line, free, out, at):
    """Write perimeter, liberties and shared liberties of an enemy block, zeros for none."""
    for i in range(3):
        out[at + i] = 0.0
    if enemy >= 0:
        out[at] = rims[enemy]
        out[at + 1] = libs[enemy]
        for p in range(line.shape[0]):
            out[at + 2] += line[p] == 0 and rim[enemy, p] and free[p]


@inner_kernel
def _mark_beside(line, width, beside):
    """Set beside[colour, p] where the empty point p is a liberty of any block of that colour."""
    for p in range(line.shape[0]):
        if line[p] == 0:
            for q in (p + 1, p - 1, p + width, p - width):
                if line[q] == 1 or line[q] == 2:
                    beside[line[q], p] = True


@inner_kernel
def _describe_stones(line, width, rows, cols, part, size_of, x, f):
    """Write the mean distances to the edges and the bounding box of a block (9 to 11)."""
    top, bottom, left, right = rows, -1, cols, -1
    for p in range(line.shape[0]):
        if part[p] == x:
            first, second = _edge_distances(p, width, rows, cols)
            f[9] += first / size_of[x]
            f[10] += second / size_of[x]
            row, col = p // width - 1, p % width - 1
            top, bottom = min(top, row), max(bottom, row)
            left, right = min(left, col), max(right, col)
    f[11] = (bottom - top + 1) * (right - left + 1)


@inner_kernel
def _describe_liberties(line, width, part, rim, after, x, colour, protected_below, near, free, f):
    """Write what lies beside a block (2, 4 to 7); mark its liberties and the parts beside it."""
    n = line.shape[0]
    ring = np.zeros(n, np.int64)
    for p in range(n):
        free[p] = rim[x, p] and line[p] == 0
        if rim[x, p]:
            near[part[p]] = True
            if line[p] == 0:
                ring[p] = 1
                f[4] += after[3 - colour, p] < protected_below
                f[5] += after[colour, p] == 1
            else:
                f[2] += 1
    for order in (2, 3):
        for p in range(n):
            if line[p] == 0 and ring[p] == 0:
                for q in (p + 1, p - 1, p + width, p - width):
                    if ring[q] == order - 1:
                        ring[p] = order
                f[4 + order] += ring[p] == order


@inner_kernel
def _two_weakest(near, colour_of, libs, size_of, count, enemy):
    """Return how many enemy blocks are marked, the weakest and the second weakest, -1 for none."""
    number = 0
    weakest, second = -1, -1
    for y in range(count):
        if near[y] and colour_of[y] == enemy:
            number += 1
            if weaker(libs, size_of, y, weakest):
                second = weakest
                weakest = y
            elif weaker(libs, size_of, y, second):
                second = y
    return number, weakest, second


@inner_kernel
def _mark_chain(line, part, colour_of, size_of, rim, chain, count, x, near, free, f):
    """Write blocks, stones and perimeter of a chain (24 to 26); mark its liberties and parts."""
    near[:] = False
    for y in range(count):
        if chain[y] == chain[x] and colour_of[y] == colour_of[x]:
            f[24] += 1
            f[25] += size_of[y]
    for p in range(line.shape[0]):
        free[p] = False
        edge = False
        for y in range(count):
            if rim[y, p] and chain[y] == chain[x] and colour_of[y] == colour_of[x]:
                edge = True
                break
        if edge:
            f[26] += 1
            near[part[p]] = True
            free[p] = line[p] == 0


@inner_kernel
def _copy_chain(features, chain, colour_of, x):
    """Copy what is known of a block's chain from an earlier block of it; tell whether it was."""
    for y in range(x):
        if chain[y] == chain[x] and colour_of[y] == colour_of[x]:
            for i in range(24, 39):
                features[x, i] = features[y, i]
            for i in range(45, 48):
                features[x, i] = features[y, i]
            return True
    return False


@kernel
def describe_blocks(line, rows, cols, protected_below, part, colour_of, size_of, chain, features):
    """Write 48 features of every block; return how many parts (blocks and regions) there are.

    Rows of `features` are parts; those of empty regions stay zero. The paper's 46 leave out
    columns 16 and 31, the second distances of the two centres of mass. `protected_below`: a
    liberty where the enemy would have fewer liberties than this counts as one he should not play.
    """
    width = cols + 1
    n = line.shape[0]
    count = number_parts(line, width, part, colour_of, size_of)
    rim = np.zeros((count, n), np.bool_)
    rims, libs = np.zeros(count, np.int64), np.zeros(count, np.int64)
    mark_perimeters(line, width, part, rim, rims, libs)
    touch = np.zeros(count, np.int64)
    _touch_masks(line, rim, count, touch)
    _chain_blocks(line, colour_of, rim, count, chain)
    beside = np.zeros((3, n), np.bool_)
    _mark_beside(line, width, beside)
    after = np.zeros((3, n), np.int64)
    for p in range(n):
        if beside[1, p] or beside[2, p]:
            for colour in (1, 2):
                after[colour, p] = liberties_after(line, width, part, rim, libs, p, colour)
    near, free = np.zeros(count, np.bool_), np.zeros(n, np.bool_)
    features[:count, :PAPER] = 0.0
    for x in np.flatnonzero(colour_of[:count]):
        f, colour = features[x], colour_of[x]
        enemy = 3 - colour
        f[0], f[1], f[3] = size_of[x], rims[x], libs[x]
        near[:] = False
        _describe_stones(line, width, rows, cols, part, size_of, x, f)
        _describe_liberties(line, width, part, rim, after, x, colour, protected_below, near, free,
                            f)  # fmt: skip
        f[8], weakest, second = _two_weakest(near, colour_of, libs, size_of, count, enemy)
        _describe_regions(line, width, rows, cols, part, colour_of, size_of, rims, touch, count,
                          near, colour, free, beside[colour], beside[enemy], f, 12)  # fmt: skip
        _describe_enemy(weakest, rim, rims, libs, line, free, f, 39)
        _describe_enemy(second, rim, rims, libs, line, free, f, 42)
        if _copy_chain(features, chain, colour_of, x):
            continue
        _mark_chain(line, part, colour_of, size_of, rim, chain, count, x, near, free, f)
        _describe_regions(line, width, rows, cols, part, colour_of, size_of, rims, touch, count,
                          near, colour, free, beside[colour], beside[enemy], f, 27)  # fmt: skip
        for p in range(n):
            if free[p]:
                for q in (p + 1, p - 1, p + width, p - width):
                    if line[q] == enemy:
                        near[part[q]] = True
        _, weakest, _ = _two_weakest(near, colour_of, libs, size_of, count, enemy)
        _describe_enemy(weakest, rim, rims, libs, line, free, f, 45)
    return count
