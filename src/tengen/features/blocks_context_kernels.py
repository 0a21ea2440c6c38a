"""Describe what surrounds every block: playouts, open areas, eyes, and groups given who is alive.

Everything is seen from the block's own colour: +1 is its own. `describe_surroundings` needs no
opinion about life; `describe_groups` takes one (a probability for every block), takes the dead off
and says what becomes of the rest, so that it can be asked again with a better opinion.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.counting_kernels import BLACK_SEKI_STONE, WHITE_SEKI_STONE, careful_kinds
from tengen.board.safety_kernels import benson, eye_map
from tengen.jit import kernel

SURROUNDINGS = 40
GROUPS = 26


@kernel
def flood_other(line, width, colour, area, stack):
    """Number the connected areas of points that do not hold `colour`; return how many."""
    count = 0
    area[:] = -1
    for start in range(line.shape[0]):
        if line[start] == 3 or line[start] == colour or area[start] >= 0:
            continue
        area[start] = count
        stack[0] = start
        top = 1
        while top > 0:
            top -= 1
            p = stack[top]
            for q in (p + 1, p - 1, p + width, p - width):
                if line[q] != 3 and line[q] != colour and area[q] < 0:
                    area[q] = count
                    stack[top] = q
                    top += 1
        count += 1
    return count


@kernel
def describe_surroundings(line, rows, cols, part, colour_of, size_of, chain, count, owned, out):
    """Write SURROUNDINGS features of every block from the mean ownership of playouts.

    `owned[kind * 2 + mover]` is bordered, +1 Black to -1 White, as `finish` orders it.
    """
    width = cols + 1
    n = line.shape[0]
    stack = np.empty(n, np.int64)
    area = np.empty((3, n), np.int64)
    areas = np.zeros(3, np.int64)
    safe = np.zeros((3, n), np.int64)
    for colour in (1, 2):
        areas[colour] = flood_other(line, width, colour, area[colour], stack)
        benson(line, width, colour, safe[colour])
    eyes = np.zeros(n, np.int64)
    eye_map(line, width, eyes)
    light = np.zeros(n)
    heavy = np.zeros(n)
    for p in range(n):
        light[p] = (owned[0, p] + owned[1, p]) / 2
        heavy[p] = (owned[2, p] + owned[3, p]) / 2
    # Mean heavy and light ownership of every part, as its own colour sees it (Black for regions).
    mean_h, mean_l = np.zeros(count), np.zeros(count)
    for p in range(n):
        if line[p] != 3:
            x = part[p]
            sign = -1.0 if colour_of[x] == 2 else 1.0
            mean_h[x] += sign * heavy[p] / size_of[x]
            mean_l[x] += sign * light[p] / size_of[x]
    most = max(areas[1], areas[2]) + 1
    area_size, area_mean = np.zeros((3, most)), np.zeros((3, most))
    area_stones, area_eyes = np.zeros((3, most)), np.zeros((3, most))
    area_false = np.zeros((3, most))
    for colour in (1, 2):
        sign = -1.0 if colour == 2 else 1.0
        for p in range(n):
            a = area[colour, p]
            if a >= 0:
                area_size[colour, a] += 1
                area_mean[colour, a] += sign * heavy[p]
                area_stones[colour, a] += line[p] != 0
                area_eyes[colour, a] += eyes[p] == 3 - colour
                area_false[colour, a] += eyes[p] == colour - 3
    seen_area = np.full(most, -1, np.int64)
    seen_part = np.full(count, -1, np.int64)
    seen_point = np.full(n, -1, np.int64)
    for x in range(count):
        f = out[x]
        for i in range(SURROUNDINGS):
            f[i] = 0.0
        colour = colour_of[x]
        if colour == 0:
            continue
        enemy = 3 - colour
        sign = -1.0 if colour == 2 else 1.0
        f[4], f[5] = mean_h[x], mean_l[x]
        low, high, total, mass = 2.0, -2.0, 0.0, 0.0
        libs = 0
        mine, theirs = 0.0, 0.0
        home = -1
        worst = 2.0
        for p in range(n):
            if part[p] != x:
                continue
            home = area[enemy, p]
            for m in range(2):
                mover = m if colour == 1 else 1 - m  # 0: the owner moves first
                f[m] += sign * owned[mover, p] / size_of[x]
                f[2 + m] += sign * owned[2 + mover, p] / size_of[x]
            worst = min(worst, sign * heavy[p])
            if safe[colour, p] == 1:
                f[6] = 1.0
            if safe[enemy, p] == 2:
                f[7] = 1.0
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
                a = area[colour, q]
                if seen_area[a] != x:
                    seen_area[a] = x
                    f[14] += 1
                    mean = area_mean[colour, a] / area_size[colour, a]
                    if mean > 0.4:
                        f[15] += 1
                        f[16] += area_size[colour, a]
                        f[17] = max(f[17], area_size[colour, a])
                        f[18] += area_stones[colour, a]
                    f[19] = max(f[19], mean)
            row, col = p // width - 1, p % width - 1
            for dr in range(-2, 3):
                for dc in range(abs(dr) - 2, 3 - abs(dr)):
                    if 0 <= row + dr < rows and 0 <= col + dc < cols:
                        q = p + dr * width + dc
                        mine += line[q] == colour
                        theirs += line[q] == enemy
        f[8] = worst
        if libs > 0:
            f[9] /= libs
            f[10] /= libs
        f[20] = (mine - theirs) / (mine + theirs)
        if mass > 0:
            f[21], f[22], f[23] = low, high, total / mass
        else:
            f[24] = 1.0
        # The optimistic chain.
        total, mass, high = 0.0, 0.0, -2.0
        light_total = 0.0
        for y in range(count):
            if colour_of[y] == colour and chain[y] == chain[x]:
                total += mean_h[y] * size_of[y]
                light_total += mean_l[y] * size_of[y]
                mass += size_of[y]
                if y != x:
                    high = max(high, mean_h[y])
        f[25], f[26] = total / mass, light_total / mass
        f[27] = high if high > -2.0 else mean_h[x]
        # The area the block can walk in, and who borders on it.
        a = home
        f[28] = area_size[enemy, a]
        f[29] = area_stones[enemy, a]
        f[30] = -area_mean[enemy, a] / area_size[enemy, a]
        f[31] = area_eyes[enemy, a]
        f[32] = area_false[enemy, a]
        low, high, total, mass = 2.0, -2.0, 0.0, 0.0
        friends = 0
        firm = 0.0
        for p in range(n):
            if area[enemy, p] != a:
                continue
            if line[p] == colour and seen_part[part[p]] != x + count:
                seen_part[part[p]] = x + count
                friends += 1
                firm += safe[colour, p] == 1
            for q in (p + 1, p - 1, p + width, p - width):
                if line[q] == enemy and seen_part[part[q]] != x + 2 * count:
                    y = part[q]
                    seen_part[y] = x + 2 * count
                    low, high = min(low, mean_h[y]), max(high, mean_h[y])
                    total += mean_h[y] * size_of[y]
                    mass += size_of[y]
        f[33], f[34] = friends, firm
        if mass > 0:
            f[35], f[36], f[37] = low, high, total / mass
        f[38] = f[28] / (rows * cols)
        f[39] = size_of[x] / (rows * cols)


@kernel
def find(parent, x):
    """Return the root of x in a forest."""
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@kernel
def describe_groups(line, rows, cols, part, colour_of, size_of, count, alive, out):
    """Write GROUPS features of every block, given each block's probability to be alive.

    Blocks below one half are taken off. What they leave joins the empty points to fields; living
    blocks of a colour that share a field no living enemy touches are a group.
    """
    width = cols + 1
    n = line.shape[0]
    grid = np.zeros((rows, cols), np.int8)
    dead = np.zeros((rows, cols), np.bool_)
    kinds = np.zeros((rows, cols), np.int8)
    left = np.empty(n, np.int64)
    for p in range(n):
        left[p] = line[p]
        if line[p] == 1 or line[p] == 2:
            row, col = p // width - 1, p % width - 1
            grid[row, col] = line[p]
            if alive[part[p]] < 0.5:
                left[p] = 0
                dead[row, col] = True
    careful_kinds(grid, dead, kinds)
    field = np.empty(n, np.int64)
    stack = np.empty(n, np.int64)
    fields = 0
    field[:] = -1
    for start in range(n):
        if left[start] != 0 or field[start] >= 0:
            continue
        field[start] = fields
        stack[0] = start
        top = 1
        while top > 0:
            top -= 1
            p = stack[top]
            for q in (p + 1, p - 1, p + width, p - width):
                if left[q] == 0 and field[q] < 0:
                    field[q] = fields
                    stack[top] = q
                    top += 1
        fields += 1
    touch = np.zeros(fields, np.int64)
    room = np.zeros(fields)
    fallen = np.zeros((3, fields))
    doubt = np.zeros((3, fields))  # the most alive of the dead in it
    for p in range(n):
        if field[p] < 0:
            continue
        e = field[p]
        room[e] += 1
        if line[p] != 0:
            fallen[line[p], e] += 1
            doubt[line[p], e] = max(doubt[line[p], e], alive[part[p]])
        for q in (p + 1, p - 1, p + width, p - width):
            if left[q] == 1 or left[q] == 2:
                touch[e] |= left[q]
    parent = np.arange(count)
    owner = np.full(fields, -1, np.int64)
    for p in range(n):
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
    own_fields, ground, largest = np.zeros(count), np.zeros(count), np.zeros(count)
    prey, prey_doubt = np.zeros(count), np.zeros(count)
    stones, blocks, mean, least = np.zeros(count), np.zeros(count), np.zeros(count), np.ones(count)
    dame, seki = np.zeros(count), np.zeros(count)
    for e in range(fields):
        if owner[e] >= 0:
            g = find(parent, owner[e])
            foe = 3 - touch[e]
            own_fields[g] += 1
            ground[g] += room[e]
            largest[g] = max(largest[g], room[e])
            prey[g] += fallen[foe, e]
            prey_doubt[g] = max(prey_doubt[g], doubt[foe, e])
    for x in range(count):
        if colour_of[x] != 0 and alive[x] >= 0.5:
            g = find(parent, x)
            stones[g] += size_of[x]
            blocks[g] += 1
            mean[g] += alive[x] * size_of[x]
            least[g] = min(least[g], alive[x])
    for p in range(n):
        if left[p] == 0 and touch[field[p]] == 3:
            for q in (p + 1, p - 1, p + width, p - width):
                if left[q] == 1 or left[q] == 2:
                    dame[find(parent, part[q])] += 1
        elif left[p] == 1 or left[p] == 2:
            kind = kinds[p // width - 1, p % width - 1]
            if kind == BLACK_SEKI_STONE or kind == WHITE_SEKI_STONE:
                seki[find(parent, part[p])] = 1.0
    for x in range(count):
        f = out[x]
        for i in range(GROUPS):
            f[i] = 0.0
        colour = colour_of[x]
        if colour == 0:
            continue
        enemy = 3 - colour
        f[0] = alive[x]
        f[9] = 1.0
        if alive[x] >= 0.5:
            g = find(parent, x)
            f[1] = 1.0
            f[2], f[3], f[4] = own_fields[g], ground[g], largest[g]
            f[5], f[6] = stones[g], blocks[g]
            f[7], f[8] = mean[g] / stones[g], least[g]
            f[10], f[11] = prey[g], prey_doubt[g]
            f[12], f[13] = dame[g], seki[g]
        # Around it: enemies beside the block, and beside its field if it is dead.
        f[14], f[18] = 9.0, 1.0
        for p in range(n):
            if part[p] == x and alive[x] < 0.5:
                e = field[p]
                f[22], f[23] = room[e], fallen[colour, e]
                f[24] = fallen[enemy, e]
                f[25] = touch[e] & colour > 0
                break
        e = -1
        for p in range(n):
            if part[p] == x:
                e = field[p]
                break
        for p in range(n):
            inside = part[p] == x if alive[x] >= 0.5 else field[p] == e
            if not inside:
                continue
            for q in (p + 1, p - 1, p + width, p - width):
                if line[q] != enemy or left[q] == 0:
                    if line[q] == enemy and part[p] == x:
                        f[19] = max(f[19], alive[part[q]])
                    continue
                g = find(parent, part[q])
                f[14] = min(f[14], own_fields[g])
                f[15] = max(f[15], ground[g])
                f[16] = max(f[16], seki[g])
                f[17] = max(f[17], stones[g])
                f[18] = min(f[18], mean[g] / stones[g])
                f[20] = max(f[20], least[g])
                f[9] = min(f[9], least[g])
        for p in range(n):
            if part[p] == x:
                kind = kinds[p // width - 1, p % width - 1]
                f[21] = kind == BLACK_SEKI_STONE or kind == WHITE_SEKI_STONE
                break
