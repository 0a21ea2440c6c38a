"""Describe what surrounds every block: playouts, open areas, eyes, and groups given who is alive.

Everything is seen from the block's own colour: +1 is its own. `describe_surroundings` needs no
opinion about life; `describe_groups` takes one (a probability for every block), takes the dead off
and says what becomes of the rest, so that it can be asked again with a better opinion.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.counting_kernels import BLACK_SEKI_STONE, WHITE_SEKI_STONE, careful_kinds
from tengen.board.kernels import number_alike
from tengen.board.tactics_kernels import benson, eye_map
from tengen.jit import inner_kernel, kernel

SURROUNDINGS = 40
GROUPS = 26

# Rows of the table of areas.
_A_POINTS, _A_OWNED, _A_STONES, _A_EYES, _A_FALSE = 0, 1, 2, 3, 4
_AREA_ROWS = 5
# Rows of the table of groups: fields of their own, points in them, the largest field, dead enemies
# in them and the most alive of these, stones, blocks, chance to live (sum by stones, and least),
# sides open to dame, whether in seki.
_G_FIELDS, _G_GROUND, _G_LARGEST, _G_PREY, _G_DOUBT, _G_STONES, _G_BLOCKS = 0, 1, 2, 3, 4, 5, 6
_G_ALIVE, _G_LEAST, _G_DAME, _G_SEKI = 7, 8, 9, 10
_GROUP_ROWS = 11


@kernel
def flood_other(line, width, colour, area, stack):
    """Number the connected areas of points that do not hold `colour`; return how many."""
    kind = np.empty(line.shape[0], np.int8)
    for p in range(line.shape[0]):
        kind[p] = -1 if line[p] == 3 or line[p] == colour else 0
    return number_alike(kind, width, area, stack)


@inner_kernel
def _first_points(part, count):
    """Return the first point of every part."""
    first = np.full(count, -1, np.int64)
    for p in range(part.shape[0]):
        if part[p] >= 0 and first[part[p]] < 0:
            first[part[p]] = p
    return first


@inner_kernel
def _own_means(line, part, colour_of, size_of, ownership, mean):
    """Write the mean ownership of every part as its own colour sees it (Black for regions)."""
    for p in range(line.shape[0]):
        if line[p] != 3:
            x = part[p]
            sign = -1.0 if colour_of[x] == 2 else 1.0
            mean[x] += sign * ownership[p] / size_of[x]


@inner_kernel
def _describe_areas(line, colour, area, heavy, eyes, table):
    """Write _AREA_ROWS numbers of every area of points that do not hold `colour`."""
    sign = -1.0 if colour == 2 else 1.0
    for p in range(line.shape[0]):
        a = area[p]
        if a >= 0:
            table[_A_POINTS, a] += 1
            table[_A_OWNED, a] += sign * heavy[p]
            table[_A_STONES, a] += line[p] != 0
            table[_A_EYES, a] += eyes[p] == 3 - colour
            table[_A_FALSE, a] += eyes[p] == colour - 3


@inner_kernel
def majority(line, rows, cols, part, x, colour):
    """Return how far own stones within two steps of block x outnumber the enemy's, -1 to 1."""
    width = cols + 1
    mine, theirs = 0.0, 0.0
    for p in range(line.shape[0]):
        if part[p] != x:
            continue
        row, col = p // width - 1, p % width - 1
        for dr in range(-2, 3):
            for dc in range(abs(dr) - 2, 3 - abs(dr)):
                if 0 <= row + dr < rows and 0 <= col + dc < cols:
                    q = p + dr * width + dc
                    mine += line[q] == colour
                    theirs += line[q] == 3 - colour
    return (mine - theirs) / (mine + theirs)


@inner_kernel
def _describe_stones(line, part, size_of, x, colour, owned, heavy, safe, f):
    """Write what playouts and Benson say of the block's own stones (0 to 3, 6 to 8)."""
    enemy = 3 - colour
    sign = -1.0 if colour == 2 else 1.0
    worst = 2.0
    for p in range(line.shape[0]):
        if part[p] != x:
            continue
        for m in range(2):
            mover = m if colour == 1 else 1 - m  # 0: the owner moves first
            f[m] += sign * owned[mover, p] / size_of[x]
            f[2 + m] += sign * owned[2 + mover, p] / size_of[x]
        worst = min(worst, sign * heavy[p])
        if safe[colour, p] == 1:
            f[6] = 1.0
        if safe[enemy, p] == 2:
            f[7] = 1.0
    f[8] = worst


@inner_kernel
def _describe_border(line, width, part, size_of, x, colour, heavy, light, eyes, safe, area, table,
                     mean_h, seen_point, seen_part, seen_area, f):  # fmt: skip
    """Write what lies beside the block: liberties, enemies, areas of its own (9 to 19, 21 to 24).

    The arrays called seen hold the block they were last met by.
    """
    enemy = 3 - colour
    sign = -1.0 if colour == 2 else 1.0
    low, high, total, mass = 2.0, -2.0, 0.0, 0.0
    libs = 0
    for p in range(line.shape[0]):
        if part[p] != x:
            continue
        for q in (p + 1, p - 1, p + width, p - width):
            if line[q] == 3 or line[q] == colour:
                continue
            if line[q] == 0:
                if seen_point[q] != x:
                    seen_point[q] = x
                    libs += 1
                    f[9] += sign * heavy[q]
                    f[10] += sign * light[q]
                    f[11] += eyes[q] == colour
                    f[12] += eyes[q] == -colour
            elif seen_part[part[q]] != x:
                y = part[q]
                seen_part[y] = x
                low, high = min(low, mean_h[y]), max(high, mean_h[y])
                total += mean_h[y] * size_of[y]
                mass += size_of[y]
                f[13] += safe[enemy, q] == 1
            a = area[q]
            if seen_area[a] != x:
                seen_area[a] = x
                f[14] += 1
                mean = table[_A_OWNED, a] / table[_A_POINTS, a]
                if mean > 0.4:
                    f[15] += 1
                    f[16] += table[_A_POINTS, a]
                    f[17] = max(f[17], table[_A_POINTS, a])
                    f[18] += table[_A_STONES, a]
                f[19] = max(f[19], mean)
    if libs > 0:
        f[9] /= libs
        f[10] /= libs
    if mass > 0:
        f[21], f[22], f[23] = low, high, total / mass
    else:
        f[24] = 1.0


@inner_kernel
def _describe_chain(colour_of, size_of, chain, count, x, mean_h, mean_l, f):
    """Write what playouts say of the block's optimistic chain (25 to 27)."""
    total, light_total, mass, high = 0.0, 0.0, 0.0, -2.0
    for y in range(count):
        if colour_of[y] == colour_of[x] and chain[y] == chain[x]:
            total += mean_h[y] * size_of[y]
            light_total += mean_l[y] * size_of[y]
            mass += size_of[y]
            if y != x:
                high = max(high, mean_h[y])
    f[25], f[26] = total / mass, light_total / mass
    f[27] = high if high > -2.0 else mean_h[x]


@inner_kernel
def _describe_home(line, width, part, size_of, x, colour, area, a, table, safe, mean_h, seen_mine,
                   seen_theirs, f):  # fmt: skip
    """Write the area `a` that the block can walk in, and who borders on it (28 to 37)."""
    f[28] = table[_A_POINTS, a]
    f[29] = table[_A_STONES, a]
    f[30] = -table[_A_OWNED, a] / table[_A_POINTS, a]
    f[31] = table[_A_EYES, a]
    f[32] = table[_A_FALSE, a]
    low, high, total, mass = 2.0, -2.0, 0.0, 0.0
    for p in range(line.shape[0]):
        if area[p] != a:
            continue
        if line[p] == colour and seen_mine[part[p]] != x:
            seen_mine[part[p]] = x
            f[33] += 1
            f[34] += safe[colour, p] == 1
        for q in (p + 1, p - 1, p + width, p - width):
            if line[q] == 3 - colour and seen_theirs[part[q]] != x:
                y = part[q]
                seen_theirs[y] = x
                low, high = min(low, mean_h[y]), max(high, mean_h[y])
                total += mean_h[y] * size_of[y]
                mass += size_of[y]
    if mass > 0:
        f[35], f[36], f[37] = low, high, total / mass


@kernel
def describe_surroundings(line, rows, cols, part, colour_of, size_of, chain, count, owned, out):
    """Write SURROUNDINGS features of every block from the mean ownership of playouts.

    `owned[kind * 2 + mover]` is bordered, +1 Black to -1 White, as `finish` orders it.
    """
    width = cols + 1
    n = line.shape[0]
    light, heavy = np.zeros(n), np.zeros(n)
    for p in range(n):
        light[p] = (owned[0, p] + owned[1, p]) / 2
        heavy[p] = (owned[2, p] + owned[3, p]) / 2
    mean_h, mean_l = np.zeros(count), np.zeros(count)
    _own_means(line, part, colour_of, size_of, heavy, mean_h)
    _own_means(line, part, colour_of, size_of, light, mean_l)
    eyes = np.zeros(n, np.int64)
    eye_map(line, width, eyes)
    stack = np.empty(n, np.int64)
    area, safe = np.empty((3, n), np.int64), np.zeros((3, n), np.int64)
    tables = np.zeros((3, _AREA_ROWS, n))
    for colour in (1, 2):
        flood_other(line, width, colour, area[colour], stack)
        benson(line, width, colour, safe[colour])
        _describe_areas(line, colour, area[colour], heavy, eyes, tables[colour])
    first = _first_points(part, count)
    seen = np.full((5, n), -1, np.int64)
    out[:count, :SURROUNDINGS] = 0.0
    for x in np.flatnonzero(colour_of[:count]):
        f, colour = out[x], colour_of[x]
        enemy = 3 - colour
        _describe_stones(line, part, size_of, x, colour, owned, heavy, safe, f)
        f[4], f[5] = mean_h[x], mean_l[x]
        _describe_border(line, width, part, size_of, x, colour, heavy, light, eyes, safe,
                         area[colour], tables[colour], mean_h, seen[0], seen[1], seen[2],
                         f)  # fmt: skip
        f[20] = majority(line, rows, cols, part, x, colour)
        _describe_chain(colour_of, size_of, chain, count, x, mean_h, mean_l, f)
        _describe_home(line, width, part, size_of, x, colour, area[enemy], area[enemy, first[x]],
                       tables[enemy], safe, mean_h, seen[3], seen[4], f)  # fmt: skip
        f[38] = f[28] / (rows * cols)
        f[39] = size_of[x] / (rows * cols)


@inner_kernel
def find(parent, x):
    """Return the root of x in a forest."""
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@inner_kernel
def _take_off(line, width, part, alive, left, grid, dead):
    """Take the blocks below one half off: what is left as a line; position and dead as grids."""
    for p in range(line.shape[0]):
        left[p] = line[p]
        if line[p] == 1 or line[p] == 2:
            row, col = p // width - 1, p % width - 1
            grid[row, col] = line[p]
            if alive[part[p]] < 0.5:
                left[p] = 0
                dead[row, col] = True


@inner_kernel
def _number_fields(left, width, field, stack):
    """Number the connected empty fields, -1 elsewhere; return how many."""
    kind = np.empty(left.shape[0], np.int8)
    for p in range(left.shape[0]):
        kind[p] = 0 if left[p] == 0 else -1
    return number_alike(kind, width, field, stack)


@inner_kernel
def _describe_fields(line, left, width, part, alive, field, touch, room, fallen, doubt):
    """Write who touches each field, its points, the dead in it and the most alive of these."""
    for p in range(line.shape[0]):
        e = field[p]
        if e < 0:
            continue
        room[e] += 1
        if line[p] != 0:
            fallen[line[p], e] += 1
            doubt[line[p], e] = max(doubt[line[p], e], alive[part[p]])
        for q in (p + 1, p - 1, p + width, p - width):
            if left[q] == 1 or left[q] == 2:
                touch[e] |= left[q]


@inner_kernel
def _join_groups(left, width, part, field, touch, parent, owner):
    """Join the blocks that share a field nobody else touches; note a block of each such field."""
    for p in range(left.shape[0]):
        e = field[p]
        if e < 0 or (touch[e] != 1 and touch[e] != 2):
            continue
        for q in (p + 1, p - 1, p + width, p - width):
            if left[q] == touch[e]:
                x = find(parent, part[q])
                if owner[e] < 0:
                    owner[e] = x
                else:
                    parent[x] = find(parent, owner[e])


@inner_kernel
def _describe_members(left, width, part, colour_of, size_of, count, alive, kinds, field, touch,
                      room, fallen, doubt, parent, owner, table):  # fmt: skip
    """Write _GROUP_ROWS numbers of every group at its root."""
    table[_G_LEAST, :] = 1.0
    for e in range(owner.shape[0]):
        if owner[e] >= 0:
            g = find(parent, owner[e])
            foe = 3 - touch[e]
            table[_G_FIELDS, g] += 1
            table[_G_GROUND, g] += room[e]
            table[_G_LARGEST, g] = max(table[_G_LARGEST, g], room[e])
            table[_G_PREY, g] += fallen[foe, e]
            table[_G_DOUBT, g] = max(table[_G_DOUBT, g], doubt[foe, e])
    for x in range(count):
        if colour_of[x] != 0 and alive[x] >= 0.5:
            g = find(parent, x)
            table[_G_STONES, g] += size_of[x]
            table[_G_BLOCKS, g] += 1
            table[_G_ALIVE, g] += alive[x] * size_of[x]
            table[_G_LEAST, g] = min(table[_G_LEAST, g], alive[x])
    for p in range(left.shape[0]):
        if left[p] == 0 and touch[field[p]] == 3:
            for q in (p + 1, p - 1, p + width, p - width):
                if left[q] == 1 or left[q] == 2:
                    table[_G_DAME, find(parent, part[q])] += 1
        elif left[p] == 1 or left[p] == 2:
            kind = kinds[p // width - 1, p % width - 1]
            if kind == BLACK_SEKI_STONE or kind == WHITE_SEKI_STONE:
                table[_G_SEKI, find(parent, part[p])] = 1.0


@inner_kernel
def _describe_group(table, g, f):
    """Write what a living block's own group has (1 to 8, 10 to 13)."""
    f[1] = 1.0
    f[2], f[3], f[4] = table[_G_FIELDS, g], table[_G_GROUND, g], table[_G_LARGEST, g]
    f[5], f[6] = table[_G_STONES, g], table[_G_BLOCKS, g]
    f[7], f[8] = table[_G_ALIVE, g] / table[_G_STONES, g], table[_G_LEAST, g]
    f[10], f[11] = table[_G_PREY, g], table[_G_DOUBT, g]
    f[12], f[13] = table[_G_DAME, g], table[_G_SEKI, g]


@inner_kernel
def _describe_enemies(line, left, width, part, alive, x, enemy, field, e, parent, table, f):
    """Write the living enemy groups beside a block, or beside its field `e` if it is dead.

    These are 9, 14 to 18 and 20; 19 is the most alive of the dead enemies that touch it.
    """
    f[9] = 1.0
    f[14], f[18] = 9.0, 1.0
    for p in range(line.shape[0]):
        inside = part[p] == x if alive[x] >= 0.5 else field[p] == e
        if not inside:
            continue
        for q in (p + 1, p - 1, p + width, p - width):
            if line[q] != enemy or left[q] == 0:
                if line[q] == enemy and part[p] == x:
                    f[19] = max(f[19], alive[part[q]])
                continue
            g = find(parent, part[q])
            f[14] = min(f[14], table[_G_FIELDS, g])
            f[15] = max(f[15], table[_G_GROUND, g])
            f[16] = max(f[16], table[_G_SEKI, g])
            f[17] = max(f[17], table[_G_STONES, g])
            f[18] = min(f[18], table[_G_ALIVE, g] / table[_G_STONES, g])
            f[20] = max(f[20], table[_G_LEAST, g])
            f[9] = min(f[9], table[_G_LEAST, g])


@kernel
def describe_groups(line, rows, cols, part, colour_of, size_of, count, alive, out):
    """Write GROUPS features of every block, given each block's probability to be alive.

    Blocks below one half are taken off. What they leave joins the empty points to fields; living
    blocks of a colour that share a field no living enemy touches are a group.
    """
    width = cols + 1
    n = line.shape[0]
    grid, kinds = np.zeros((rows, cols), np.int8), np.zeros((rows, cols), np.int8)
    dead = np.zeros((rows, cols), np.bool_)
    left, field, stack = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    _take_off(line, width, part, alive, left, grid, dead)
    careful_kinds(grid, dead, kinds)
    fields = _number_fields(left, width, field, stack)
    touch, room = np.zeros(fields, np.int64), np.zeros(fields)
    fallen, doubt = np.zeros((3, fields)), np.zeros((3, fields))
    _describe_fields(line, left, width, part, alive, field, touch, room, fallen, doubt)
    parent, owner = np.arange(count), np.full(fields, -1, np.int64)
    _join_groups(left, width, part, field, touch, parent, owner)
    table = np.zeros((_GROUP_ROWS, count))
    _describe_members(left, width, part, colour_of, size_of, count, alive, kinds, field, touch,
                      room, fallen, doubt, parent, owner, table)  # fmt: skip
    first = _first_points(part, count)
    out[:count, :GROUPS] = 0.0
    for x in np.flatnonzero(colour_of[:count]):
        f, colour = out[x], colour_of[x]
        f[0] = alive[x]
        p = first[x]
        e = field[p]
        _describe_enemies(line, left, width, part, alive, x, 3 - colour, field, e, parent, table, f)
        kind = kinds[p // width - 1, p % width - 1]
        f[21] = kind == BLACK_SEKI_STONE or kind == WHITE_SEKI_STONE
        if alive[x] >= 0.5:
            _describe_group(table, find(parent, x), f)
        else:
            f[22], f[23], f[24] = room[e], fallen[colour, e], fallen[3 - colour, e]
            f[25] = touch[e] & colour > 0
