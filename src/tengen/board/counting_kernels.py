"""What every point counts for once the dead stones are known.

`plain_kinds` is a flood fill: an empty region that touches one colour is that colour's.
`careful_kinds` does more, for each colour in turn:

1. *Reach.* A colour reaches the empty points it can walk to from its stones. It can step onto a
   gate (a point between two enemy stones in a line, or between one and the edge) but not past
   it: the enemy answers on the far side. Points both colours reach are dame; points only one
   reaches are its regions.
2. *Groups.* Blocks are joined by the regions and the dame they share.
3. *False eyes.* A block connected to a region by one point only, and in no other way, may be
   cut off there: that point is false.
4. *Eyes.* Every region is worth 0, 1 or 2 eyes (`eye_value`), false points and points next to
   dame being open to the enemy. A group with fewer than two eyes is in seki.
5. *Fill.* A false point must be filled, and gives nothing, if one of the sides it joins has no
   eye of its own. If an enemy stone was thrown in there, capturing it costs the next point too.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.arrays import BoolArray, Int8Array, Int32Array, IntArray
from tengen.board.kernels import number_alike, point_of
from tengen.board.layout_kernels import BLACK, BORDER, EMPTY, WHITE
from tengen.jit import kernel

# What a point counts for. Black's kinds are odd, White's even.
NOBODY = 0  # an empty point that neither colour reaches
BLACK_TERRITORY, WHITE_TERRITORY = 1, 2
BLACK_STONE, WHITE_STONE = 3, 4
BLACK_SEKI_STONE, WHITE_SEKI_STONE = 5, 6
BLACK_SEKI_POINT, WHITE_SEKI_POINT = 7, 8  # would be territory, but its owner lives in seki
BLACK_FALSE_EYE, WHITE_FALSE_EYE = 9, 10  # the owner must fill it
BLACK_OPEN, WHITE_OPEN = 11, 12  # the owner's side of an open border: not closed, not counted
DAME = 13


@kernel(makes_arrays=True)
def _number_nodes(
    board: Int8Array, dead_colour: Int8Array, width: int, colour: int, reach: Int8Array,
    node_of: Int32Array, node_kind: Int8Array, stack: Int32Array,
) -> int:  # fmt: skip
    """Number this colour's blocks (kind 0), regions (kind 1) and stretches of dame (kind 2)."""
    n = len(board)
    kind = np.full(n, -1, np.int8)
    for p in range(n):
        if board[p] == colour:
            kind[p] = 0
        elif board[p] == EMPTY and reach[p] == colour:
            kind[p] = 1
        elif board[p] == EMPTY and reach[p] == 3:
            if not is_barred(board, dead_colour, width, p, colour):
                kind[p] = 2
    count = number_alike(kind, width, node_of, stack)
    for p in range(n):
        if node_of[p] >= 0:
            node_kind[node_of[p]] = kind[p]
    return count


@kernel
def _link_nodes(
    board: Int8Array, width: int, node_of: Int32Array, first: Int32Array, following: Int32Array,
    target: Int32Array,
) -> None:  # fmt: skip
    """Build the lists of edges between nodes that lie side by side."""
    first[:] = -1
    count = 0
    for p in range(len(board)):
        a = node_of[p]
        if a < 0:
            continue
        for q in (p + 1, p + width):
            b = node_of[q]
            if b < 0 or b == a:
                continue
            target[count] = b
            following[count] = first[a]
            first[a] = count
            target[count + 1] = a
            following[count + 1] = first[b]
            first[b] = count + 1
            count += 2


@kernel
def _label_from(
    start: int, label: int, without: int, graph: tuple[Int32Array, Int32Array, Int32Array],
    labels: Int32Array, stack: Int32Array,
) -> None:  # fmt: skip
    """Give `label` to all nodes joined to `start` without passing through node `without`."""
    first, following, target = graph
    labels[start] = label
    stack[0] = start
    top = 1
    while top:
        top -= 1
        e = first[stack[top]]
        while e >= 0:
            b = target[e]
            if b != without and labels[b] < 0:
                labels[b] = label
                stack[top] = b
                top += 1
            e = following[e]


@kernel
def _label_parts(
    region: int, cells: Int32Array, n_cells: int, board: Int8Array, width: int, colour: int,
    node_of: Int32Array, graph: tuple[Int32Array, Int32Array, Int32Array],
    scratch: tuple[Int32Array, Int32Array, Int32Array],
) -> tuple[int, int]:  # fmt: skip
    """Label the parts of the group without `region`; return how many, and how many touch it.

    `hangs_by[part]` is the one point by which a part touches the region, -1 for none, -2 several.
    """
    first, following, target = graph
    labels, stack, hangs_by = scratch
    labels[:] = -1
    parts = 0
    e = first[region]
    while e >= 0:
        if labels[target[e]] < 0:
            _label_from(np.int64(target[e]), np.int64(parts), region, graph, labels, stack)
            hangs_by[parts] = -1
            parts += 1
        e = following[e]
    touching = 0
    for i in range(n_cells):
        p = cells[i]
        for q in (p - width, p - 1, p + 1, p + width):
            if board[q] == colour:
                part = labels[node_of[q]]
                if hangs_by[part] == -1:
                    hangs_by[part] = p
                    touching += 1
                elif hangs_by[part] != p:
                    hangs_by[part] = -2
    return parts, touching


@kernel
def _gather(node: int, node_of: Int32Array, start: int, size: int, cells: Int32Array) -> int:
    """List the points of a node of `size` points, the first of which is `start`."""
    count = 0
    p = start
    while count < size:
        if node_of[p] == node:
            cells[count] = p
            count += 1
        p += 1
    return count


@kernel
def _mark_only_neighbour(
    p: int, width: int, region: int, node_of: Int32Array, fill: BoolArray
) -> None:
    """Mark the neighbour of p in its region, where there is just one."""
    inside = 0
    last = p
    for q in (p - width, p - 1, p + 1, p + width):
        if node_of[q] == region:
            inside += 1
            last = q
    if inside == 1:
        fill[last] = True


@kernel
def _is_cornered_six(
    cells: IntArray, foes: int, board: Int8Array, width: int, nbr: IntArray
) -> bool:
    """Return whether six cells are a 2x3 block in a corner, where a middle enemy stone kills it."""
    edges = 0
    middles = 0
    threes = 0
    for i in range(6):
        degree = 0
        for j in range(6):
            degree += (nbr[i] >> j) & 1
        if degree == 3:
            threes += 1
            if foes & (1 << i):
                middles += 1
        elif degree != 2:
            return False
        p = cells[i]
        upright = board[p - width] == BORDER or board[p + width] == BORDER
        level = board[p - 1] == BORDER or board[p + 1] == BORDER
        if upright and level:
            edges += 1
    return threes == 2 and middles > 0 and edges > 0


@kernel(makes_arrays=True)
def _region_value(
    cells: Int32Array, n_cells: int, board: Int8Array, width: int, colour: int, reach: Int8Array,
    dead_colour: Int8Array, false_at: BoolArray, force: bool,
) -> int:  # fmt: skip
    """Return the eyes a region is worth, or -1 if that needs a search and `force` is off."""
    if n_cells > MAX_CELLS:
        return 2
    foe = 3 - colour
    quiet = True
    for i in range(n_cells):
        p = cells[i]
        if false_at[p] or dead_colour[p] == foe:
            quiet = False
            break
        for q in (p - width, p - 1, p + 1, p + width):
            if board[q] == EMPTY and reach[q] & foe:
                quiet = False
    if quiet:
        if n_cells < 3:
            return 1
        if n_cells == 4 and cells[1] == cells[0] + 1 and cells[2] == cells[0] + width:
            return 1 if cells[3] == cells[2] + 1 else 2
        return 2
    if not force:
        return -1
    # The dame next to the region belong to the fight: the enemy enters there, or they are closed.
    fight = np.empty(MAX_CELLS, np.int64)
    for i in range(n_cells):  # a loop: slices take Numba seconds to compile
        fight[i] = cells[i]
    total = n_cells
    for i in range(n_cells):
        for q in (cells[i] - width, cells[i] - 1, cells[i] + 1, cells[i] + width):
            if board[q] == EMPTY and reach[q] & foe:
                new = True
                for j in range(n_cells, total):
                    if fight[j] == q:
                        new = False
                if new:
                    if total == MAX_CELLS:
                        return 2
                    fight[total] = q
                    total += 1
    nbr = np.zeros(MAX_CELLS, np.int64)
    foes, wall, opened, spent = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for i in range(total):
        p = fight[i]
        if dead_colour[p] == foe:
            foes |= 1 << i
        if false_at[p] or i >= n_cells:
            opened |= 1 << i
        for q in (p - width, p - 1, p + 1, p + width):
            if board[q] == colour:
                wall |= 1 << i
        for j in range(total):
            gap = fight[j] - p
            if gap == 1 or gap == -1 or gap == width or gap == -width:
                nbr[i] |= 1 << j
    for i in range(n_cells):
        if opened & foes & (1 << i):
            spent |= 1 << i
            if nbr[i] & (nbr[i] - 1) == 0:
                spent |= nbr[i]
    value = eye_value(total, foes, wall, opened, spent, nbr)
    if value == 2 and total == 6 and _is_cornered_six(fight, foes, board, width, nbr):
        return 1
    return value


@kernel(makes_arrays=True)
def _count_colour(
    board: Int8Array, width: int, colour: int, reach: Int8Array, dead_colour: Int8Array,
    closed: BoolArray, kinds: Int8Array,
) -> None:  # fmt: skip
    """Write into `kinds` (bordered) what this colour's stones and regions count for."""
    n = len(board)
    foe = 3 - colour
    stack = np.empty(n + 1, np.int32)
    node_of = np.empty(n, np.int32)
    node_kind = np.empty(n, np.int8)
    nodes = _number_nodes(board, dead_colour, width, colour, reach, node_of, node_kind, stack)
    if nodes == 0:
        return
    first = np.empty(nodes, np.int32)
    following = np.empty(4 * n, np.int32)
    target = np.empty(4 * n, np.int32)
    graph = first, following, target
    _link_nodes(board, width, node_of, first, following, target)
    start = np.full(nodes, -1, np.int32)
    size = np.zeros(nodes, np.int32)
    for p in range(n):
        node = node_of[p]
        if node >= 0:
            if start[node] < 0:
                start[node] = p
            size[node] += 1
    labels = np.empty(nodes, np.int32)
    hangs_by = np.empty(nodes, np.int32)
    scratch = labels, stack, hangs_by
    cells = np.empty(n, np.int32)
    false_at = np.zeros(n, np.bool_)
    has_false = np.zeros(nodes, np.bool_)

    value = np.zeros(nodes, np.int32)
    group = np.full(nodes, -1, np.int32)
    groups = 0
    for node in range(nodes):
        if group[node] < 0:
            _label_from(node, np.int64(groups), np.int64(-1), graph, group, stack)
            groups += 1
    eyes = np.zeros(groups, np.int32)
    fill = np.zeros(n, np.bool_)
    part_eyes = np.empty(nodes, np.int32)

    # Stage 0 finds the false points. Stages 1 and 2 count eyes: cheap answers first, then the
    # search where a group's life or a fill hangs on it. Stage 3 finds what must be filled.
    for stage in range(4):
        for region in range(nodes):
            if node_kind[region] != 1:
                continue
            if stage == 2 and (
                value[region] >= 0 or (eyes[group[region]] >= 2 and not has_false[region])
            ):
                continue
            if stage == 3 and (not has_false[region] or eyes[group[region]] < 2):
                continue
            n_cells = _gather(region, node_of, start[region], size[region], cells)
            if stage == 1 or stage == 2:
                value[region] = _region_value(
                    cells, n_cells, board, width, colour, reach, dead_colour, false_at, stage == 2
                )
                if value[region] > 0:
                    eyes[group[region]] += value[region]
                continue
            parts, touching = _label_parts(
                region, cells, n_cells, board, width, colour, node_of, graph, scratch
            )
            if stage == 0:
                for part in range(parts):
                    if touching >= 2 and hangs_by[part] >= 0:
                        false_at[hangs_by[part]] = True
                        has_false[region] = True
                continue
            total = _count_parts(region, parts, group, value, labels, part_eyes)
            for part in range(parts):
                p = hangs_by[part]
                if p >= 0 and (part_eyes[part] == 0 or part_eyes[part] == total):
                    fill[p] = True
                    if dead_colour[p] == foe:
                        _mark_only_neighbour(p, width, region, node_of, fill)
    _write_kinds(colour, node_of, node_kind, group, eyes, fill, closed, kinds)


@kernel
def _count_parts(
    region: int, parts: int, group: Int32Array, value: Int32Array, labels: Int32Array,
    part_eyes: Int32Array,
) -> int:  # fmt: skip
    """Count the eyes of each part of a region's group; return those of the group."""
    for part in range(parts):
        part_eyes[part] = 0
    total = 0
    for node in range(len(group)):
        if group[node] == group[region]:
            worth = value[node] if value[node] >= 0 else 1
            total += worth
            if labels[node] >= 0:
                part_eyes[labels[node]] += worth
    return total


@kernel
def _write_kinds(
    colour: int, node_of: Int32Array, node_kind: Int8Array, group: Int32Array, eyes: Int32Array,
    fill: BoolArray, closed: BoolArray, kinds: Int8Array,
) -> None:  # fmt: skip
    """Write what the points of one colour's nodes count for."""
    for p in range(len(node_of)):
        node = node_of[p]
        if node < 0 or node_kind[node] == 2:
            continue
        seki = eyes[group[node]] < 2
        if node_kind[node] == 0:
            kinds[p] = (BLACK_SEKI_STONE if seki else BLACK_STONE) + colour - 1
        elif seki:
            kinds[p] = BLACK_SEKI_POINT + colour - 1
        elif fill[p]:
            kinds[p] = BLACK_FALSE_EYE + colour - 1
        elif closed[p]:
            kinds[p] = BLACK_TERRITORY + colour - 1
        else:
            kinds[p] = BLACK_OPEN + colour - 1


@kernel(makes_arrays=True)
def plain_kinds(grid: Int8Array, dead: BoolArray, kinds: Int8Array) -> None:
    """Write what every point counts for by flood fill alone."""
    rows, cols = grid.shape
    board, _dead_colour, touch, _stack = _prepare(grid, dead)
    for r in range(rows):
        for c in range(cols):
            p = point_of(r, c, cols)
            if board[p] != EMPTY:
                kinds[r, c] = BLACK_STONE + board[p] - 1
            else:
                kinds[r, c] = DAME if touch[p] == 3 else touch[p]


@kernel(makes_arrays=True)
def _prepare(
    grid: Int8Array, dead: BoolArray
) -> tuple[Int8Array, Int8Array, Int8Array, Int32Array]:
    """Lay the grid out with a border, the dead as empty.

    Return it, the dead stones, which colours touch each point's empty region (bit 1 Black,
    bit 2 White), and a stack.
    """
    rows, cols = grid.shape
    width = cols + 1
    n = (rows + 2) * width + 1
    board, dead_colour = np.full(n, BORDER, np.int8), np.zeros(n, np.int8)
    kind = np.full(n, -1, np.int8)
    for r in range(rows):
        for c in range(cols):
            p = point_of(r, c, cols)
            board[p] = EMPTY if dead[r, c] else grid[r, c]
            dead_colour[p] = grid[r, c] if dead[r, c] else EMPTY
            kind[p] = 0 if board[p] == EMPTY else -1
    stack, region_of = np.empty(n + 1, np.int32), np.empty(n, np.int32)
    number_alike(kind, width, region_of, stack)
    touches, touch = np.zeros(n, np.int8), np.zeros(n, np.int8)
    for p in range(n):
        if board[p] == EMPTY:
            for q in (p - width, p - 1, p + 1, p + width):
                if board[q] != BORDER:
                    touches[region_of[p]] |= board[q]
    for p in range(n):
        if board[p] == EMPTY:
            touch[p] = touches[region_of[p]]
    return board, dead_colour, touch, stack


@kernel(makes_arrays=True)
def careful_kinds(grid: Int8Array, dead: BoolArray, kinds: Int8Array) -> None:
    """Write what every point counts for, considering seki and false eyes (int8, rows x cols)."""
    rows, cols = grid.shape
    width = cols + 1
    board, dead_colour, touch, stack = _prepare(grid, dead)
    n = board.shape[0]
    closed = np.zeros(n, np.bool_)
    for p in range(n):
        closed[p] = touch[p] == BLACK or touch[p] == WHITE
    reach = np.zeros(n, np.int8)
    for colour in range(BLACK, WHITE + 1):
        mark_reach(board, dead_colour, width, colour, reach, stack)
    flat = np.zeros(n, np.int8)
    for p in range(n):
        if board[p] == EMPTY and (reach[p] == 3 or reach[p] == 0):
            flat[p] = DAME
    for colour in range(BLACK, WHITE + 1):  # one call each: compiling two costs seconds
        _count_colour(board, width, colour, reach, dead_colour, closed, flat)
    for r in range(rows):
        for c in range(cols):
            kinds[r, c] = flat[point_of(r, c, cols)]


@kernel
def territory_margin(grid: Int8Array, dead: BoolArray, careful: bool, kinds: Int8Array) -> int:
    """Return Black's margin in territory and dead stones; fill `kinds`."""
    if careful:
        careful_kinds(grid, dead, kinds)
    else:
        plain_kinds(grid, dead, kinds)
    margin = 0
    rows, cols = grid.shape
    for r in range(rows):
        for c in range(cols):
            if kinds[r, c] == BLACK_TERRITORY:
                margin += 1
            elif kinds[r, c] == WHITE_TERRITORY:
                margin -= 1
            if dead[r, c]:
                margin += 1 if grid[r, c] == WHITE else -1
    return margin


# ----- Which colour reaches which empty point -----


@kernel
def _is_gate(board: Int8Array, p: int, width: int, colour: int) -> bool:
    """Return whether p is between two stones of `colour` in a line, or between one and the edge."""
    for step in (1, width):
        a, b = board[p - step], board[p + step]
        if (a == colour and (b == colour or b == BORDER)) or (a == BORDER and b == colour):
            return True
    return False


@kernel
def _gate_holds(
    board: Int8Array, dead_colour: Int8Array, width: int, entry: int, gate: int, beyond: int,
    colour: int,
) -> bool:  # fmt: skip
    """Return whether the owner of a gate stops `colour` by a stone at `beyond`.

    A dead stone of `colour` there breaks the gate; a stone at its entry or a dead one in it may.
    """
    if dead_colour[beyond] == colour:
        return False
    if board[entry] != colour and dead_colour[gate] != colour:
        return True
    return _touches(board, beyond, width, 3 - colour)


@kernel
def _touches(board: Int8Array, p: int, width: int, colour: int) -> bool:
    """Return whether a stone of `colour` is next to p."""
    return (
        board[p - width] == colour
        or board[p + width] == colour
        or board[p - 1] == colour
        or board[p + 1] == colour
    )


@kernel
def mark_reach(
    board: Int8Array, dead_colour: Int8Array, width: int, colour: int, reach: Int8Array,
    stack: Int32Array,
) -> None:  # fmt: skip
    """Mark in `reach` the empty points that `colour` can walk to without passing an enemy gate."""
    n = len(board)
    foe = 3 - colour
    top = 0
    for p in range(n):
        if board[p] != EMPTY:
            continue
        if _touches(board, p, width, colour):
            reach[p] |= colour
            stack[top] = p
            top += 1
    while top:
        top -= 1
        p = stack[top]
        gate = _is_gate(board, p, width, foe)
        for q in (p - width, p - 1, p + 1, p + width):
            if board[q] != EMPTY or reach[q] & colour:
                continue
            if gate and _gate_holds(board, dead_colour, width, 2 * p - q, p, q, colour):
                continue
            reach[q] |= colour
            stack[top] = q
            top += 1


@kernel
def is_barred(board: Int8Array, dead_colour: Int8Array, width: int, p: int, colour: int) -> bool:
    """Return whether p is a gate of the enemy that stops `colour` in both directions."""
    if not _is_gate(board, p, width, 3 - colour):
        return False
    for q in (p - width, p - 1, p + 1, p + width):
        if board[q] == EMPTY:
            entry = 2 * p - q
            if (board[entry] == EMPTY or board[entry] == colour) and not _gate_holds(
                board, dead_colour, width, entry, p, q, colour
            ):
                return False
    return True


# ----- How many eyes a small enclosed region is worth, by search -----


MAX_CELLS = 12
_TABLE = 32768  # entries of the transposition table, a power of two
_BUDGET = 20000  # positions read before the defender gets the benefit of the doubt

_IN_PROGRESS = 2

# Columns of the search's stack; _RESULT is what the mover gets if no move is better.
_OWN, _FOE, _SHUT, _TURN, _PASSED, _SLOT, _TRIED, _RESULT = range(8)


@kernel
def _neighbour_mask(mask: int, nbr: IntArray) -> int:
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
def _grow(seed: int, within: int, nbr: IntArray) -> int:
    """Return the connected part of `within` that contains `seed`."""
    while True:
        more = (seed | _neighbour_mask(seed, nbr)) & within
        more |= seed
        if more == seed:
            return seed
        seed = more


@kernel
def _size_of(mask: int) -> int:
    """Return the number of cells in `mask`."""
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@kernel
def _count_eyes(own: int, foe: int, turn: int, shape: IntArray, nbr: IntArray) -> int:
    """Count the eyes that the defender has without another move, at most two.

    An eye is a closed part of the region whose empty cells are all next to the defender's stones
    or the wall. Seven cells live even if the attacker moves first.
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


@kernel
def _take(
    cell: int, mover: int, other: int, cells: int, safe_mover: int, safe_other: int, nbr: IntArray
) -> int:
    """Return the stones that `cell` captures, -1 for suicide; chains on safe cells are immortal."""
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


@kernel
def _slot_of(key: int, keys: IntArray) -> int:
    """Return the table slot of `key`: its own or the first free one, -1 if the table is full."""
    slot = (key ^ (key >> 7) ^ (key >> 13) ^ (key >> 23)) & (_TABLE - 1)
    for _ in range(64):
        if keys[slot] == key or keys[slot] == -1:
            return slot
        slot = (slot + 1) & (_TABLE - 1)
    return -1


@kernel
def _key_of(own: int, foe: int, shut: int, turn: int, passed: int) -> int:
    """Return one number for a position of the search."""
    return own | (foe << 12) | (shut << 24) | (turn << 36) | (passed << 37)


@kernel
def _look_up(
    own: int, foe: int, shut: int, turn: int, passed: int, target: int, shape: IntArray,
    nbr: IntArray, keys: IntArray, known: Int8Array, reads: IntArray,
) -> int:  # fmt: skip
    """Judge a position statically: 1 if the defender gets its eyes, 0 not, -2 - slot to search."""
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


@kernel
def _open(row: IntArray, own: int, foe: int, shut: int, turn: int, passed: int, slot: int) -> None:
    """Put a position on the search's stack."""
    row[_OWN], row[_FOE], row[_SHUT], row[_TURN] = own, foe, shut, turn
    row[_PASSED], row[_SLOT], row[_TRIED], row[_RESULT] = passed, slot, 0, turn


@kernel(makes_arrays=True)
def _can_make(
    own: int, foe: int, shut: int, target: int, shape: IntArray, nbr: IntArray, order: IntArray,
    keys: IntArray, known: Int8Array, stack: IntArray,
) -> bool:  # fmt: skip
    """Return whether the defender, who moves first, gets `target` eyes.

    `shape` holds the cells, the wall, the open and the spent cells. It has its own stack: a
    recursive kernel cannot be cached on disk.
    """
    cells, wall, is_open = shape[0], shape[1], shape[2]
    n = len(order)
    reads = np.zeros(1, np.int64)
    turn = passed = np.int64(0)
    answer = _look_up(own, foe, shut, turn, passed, target, shape, nbr, keys, known, reads)
    if answer >= 0:
        return answer == 1
    _open(stack[0], own, foe, shut, turn, passed, -2 - answer)
    top = 0
    while top >= 0:
        own, foe, shut = stack[top, _OWN], stack[top, _FOE], stack[top, _SHUT]
        turn, k = stack[top, _TURN], stack[top, _TRIED]
        new_own, new_foe, new_shut, new_passed = own, foe, shut, passed
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
            new_passed = passed + 1
            if stack[top, _PASSED]:
                if turn == 1:
                    stack[top, _RESULT] = 0
                done = True
        else:
            done = True
        if not done:
            child = _slot_of(_key_of(new_own, new_foe, new_shut, 1 - turn, new_passed), keys)
            if child >= 0 and keys[child] != -1 and known[child] == _IN_PROGRESS:
                continue  # positions may not repeat
            answer = _look_up(
                new_own, new_foe, new_shut, 1 - turn, new_passed, target,
                shape, nbr, keys, known, reads,
            )  # fmt: skip
            if answer < 0:
                top += 1
                _open(stack[top], new_own, new_foe, new_shut, 1 - turn, new_passed, -2 - answer)
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


@kernel(makes_arrays=True)
def eye_value(n: int, foe: int, wall: int, is_open: int, spent: int, nbr: IntArray) -> int:
    """Return 0, 1 or 2: the eyes a region of n <= MAX_CELLS cells is worth to its owner."""
    shut = foe & is_open
    shape = np.empty(4, np.int64)
    shape[0], shape[1], shape[2], shape[3] = (1 << n) - 1, wall, is_open, spent
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
    # Every position on the stack has been read, so the stack cannot exceed the budget.
    stack = np.empty((_BUDGET + 2, 8), np.int64)
    for target in range(2, 0, -1):
        for i in range(_TABLE):
            keys[i] = -1
        if _can_make(np.int64(0), foe, shut, target, shape, nbr, order, keys, known, stack):
            return target
    return 0
