"""Name the sparse features of every legal move of a position; weigh nothing.

Features are of two sorts. Direct features have fixed numbers (the groups below). Patterns are
looked up by hash in a dictionary made from experts' moves and get numbers from DIRECT upwards; a
pattern that is not in the dictionary is no feature. Everything is seen from the side to move and
does not change under the eight symmetries. `recent` holds the last moves, latest first: points, 0
for pass, -1 for none.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from tengen.board.kernels import is_legal
from tengen.board.layout_kernels import (
    BORDER,
    COLOUR,
    COLS,
    EMPTY,
    HEAD,
    KO,
    PLIES,
    ROWS,
    SCALARS,
    SIZE,
    TURN,
)
from tengen.board.tactics_kernels import read_blocks, read_ladders
from tengen.jit import inner_kernel, kernel
from tengen.learners.move_prediction.family_kernels import (
    AT_LAST,
    FAMILIES,
    distance,
    find_patterns,
)
from tengen.learners.move_prediction.pattern_kernels import RINGS
from tengen.learners.move_prediction.tactics_kernels import (
    ATARI_LAST,
    ATARIED,
    ATARIS,
    CAPTURE_SAVES,
    CAPTURED,
    CAPTURES_LAST,
    EMPTY_NEIGHBOURS,
    ENEMY_BLOCKS,
    ENEMY_LIBERTIES,
    ENEMY_SIZE,
    FACTS,
    LIBERTIES,
    OWN_BLOCKS,
    OWN_LIBERTIES,
    SAVED,
    SIZE_AFTER,
    density_maps,
    distance_maps,
    read_move,
)

RECENT = 8  # moves of history that features may look at
WIDTH = 64  # room for the features of one move
GLOBAL_WIDTH = 32  # room for the features of a position

# Direct features of a move: first number of each group.
COORDINATE = 0  # 55 classes of the octant x 4 phases; only with absolute coordinates
LINE = COORDINATE + 220  # 21 pairs of distances to the two nearest edges, to 6
RELATIVE = LINE + 21  # 4 earlier moves x 61 classes of offset
PAIR = RELATIVE + 4 * 61  # distances to the last two moves, 8 x 8
CAPTURE = PAIR + 64  # 5 sizes x saves x takes the last move
ESCAPE = CAPTURE + 20  # 5 sizes x liberties after x by capture
ATARI = ESCAPE + 30  # 5 sizes x last move's block x own liberties after
DOUBLE = ATARI + 30
SELF_ATARI = DOUBLE + 1  # 5 sizes x captures
LIBERTY = SELF_ATARI + 10  # liberties after (1-8) x own before (0-4)
ENEMY = LIBERTY + 40  # least enemy liberties (0-6) x 4 sizes
OF_LAST = ENEMY + 28  # liberty of the last move's block: its liberties (1-6) x own after (1-4)
OF_ATTACKED = OF_LAST + 24  # liberty of an own block next to the last move: likewise 5 x 4
CONTACT = OF_ATTACKED + 20  # own blocks (0-4) x enemy blocks (0-4) next to the move
KO_MOVE = CONTACT + 25  # takes a ko; takes one while another is forbidden; the third is not used
NEAREST = KO_MOVE + 3  # nearest own (1-8) x nearest enemy (1-8)
DENSITY = NEAREST + 64  # own stones in 9x9 (0-6) x enemy stones (0-6)
CROWD = DENSITY + 49  # the same in 5x5
LADDER = CROWD + 49  # 8 things a ladder says of a move (see `read_ladders`) x 2 sizes
MOVE_END = LADDER + 24
# Direct features of the position, shared by its moves.
_PHASE = MOVE_END  # 24 steps of plies
LAST_COORDINATE = _PHASE + 24  # octant of the last move, 55, then: pass or none; absolute only
_LAST_LINE = LAST_COORDINATE + 56  # 21 and none
LAST_STEP = _LAST_LINE + 22  # class of the offset between the last two moves, 61
OWN_ATARI = LAST_STEP + 61  # largest own block in atari: none or 5 sizes
_ENEMY_ATARI = OWN_ATARI + 6
_KO_BAN = _ENEMY_ATARI + 6
_LAST_BLOCK = _KO_BAN + 2  # liberties (1-6) x 5 sizes
# Direct features of stones, for the network's view of the neighbourhood.
STONE = _LAST_BLOCK + 30  # 2 colours x liberties (1-6) x 5 sizes
_STONE_RECENT = STONE + 60  # is the last move, the one before, ... (4)
_STONE_LINE = _STONE_RECENT + 4  # 2 colours x 21
STONE_LADDER = _STONE_LINE + 42  # 2 colours x lost, escapes, can be caught, can not
FORBIDDEN = STONE_LADDER + 8  # an empty point that may not be played
DIRECT = FORBIDDEN + 1


@inner_kernel
def _size_class(n):
    """Return 0 to 4 for 1, 2, 3, 4-6 and more stones."""
    return 0 if n <= 1 else 1 if n == 2 else 2 if n == 3 else 3 if n <= 6 else 4


@inner_kernel
def _offset_class(dr, dc):
    """Return 0 to 60 for an offset folded to an octant: exact to 9 lines, coarse beyond."""
    a, b = abs(dr), abs(dc)
    if a < b:
        a, b = b, a
    if a <= 9:
        return a * (a + 1) // 2 + b
    return min(55 + (a - 10) // 2, 59)


@inner_kernel
def _near_class(d):
    """Return 0 to 7 for a distance."""
    if d <= 2:
        return 0
    if d == 3:
        return 1
    if d == 4:
        return 2
    if d <= 6:
        return 3
    if d <= 8:
        return 4
    if d <= 11:
        return 5
    return 6 if d <= 16 else 7


@inner_kernel
def octant(row, col, rows, cols):
    """Return the class of a point of a 19x19 board under the eight symmetries, 0 to 54."""
    a, b = min(row, rows - 1 - row), min(col, cols - 1 - col)
    if a < b:
        a, b = b, a
    return a * (a + 1) // 2 + b


@inner_kernel
def _line_class(row, col, rows, cols):
    """Return the distances to the two nearest edges, each to 6 lines, as one of 21 classes."""
    a = min(min(row, rows - 1 - row), 5)
    b = min(min(col, cols - 1 - col), 5)
    if a < b:
        a, b = b, a
    return a * (a + 1) // 2 + b


@inner_kernel
def _phase_of(plies, area):
    """Return 0 to 3 by the plies played, scaled to the board."""
    n = plies * 361 // area
    return 0 if n < 30 else 1 if n < 80 else 2 if n < 160 else 3


@kernel
def _relative(recent, row, col, cols, feats, n):
    """Add where earlier moves lie relative to the move."""
    d0 = d1 = 7
    for j in range(4):
        q = recent[j]
        if q <= 0:
            feats[n] = RELATIVE + 61 * j + 60
        else:
            dr, dc = q // (cols + 1) - 1 - row, q % (cols + 1) - 1 - col
            feats[n] = RELATIVE + 61 * j + _offset_class(dr, dc)
            if j == 0:
                d0 = _near_class(distance(dr, dc))
            elif j == 1:
                d1 = _near_class(distance(dr, dc))
        n += 1
    feats[n] = PAIR + 8 * d0 + d1
    return n + 1


@kernel
def _tactical(facts, feats, n):
    """Add what the move does at once."""
    after = facts[LIBERTIES]
    if facts[CAPTURED] > 0:
        feats[n] = CAPTURE + 4 * _size_class(facts[CAPTURED])
        feats[n] += 2 * facts[CAPTURE_SAVES] + facts[CAPTURES_LAST]
        n += 1
    if facts[SAVED] > 0:
        feats[n] = ESCAPE + 6 * _size_class(facts[SAVED]) + 2 * (min(after, 3) - 1)
        feats[n] += 1 if facts[CAPTURED] > 0 else 0
        n += 1
    if facts[ATARIS] > 0:
        feats[n] = ATARI + 6 * _size_class(facts[ATARIED]) + 3 * facts[ATARI_LAST]
        feats[n] += min(after, 3) - 1
        n += 1
        if facts[ATARIS] > 1:
            feats[n] = DOUBLE
            n += 1
    if after == 1:
        feats[n] = SELF_ATARI + 2 * _size_class(facts[SIZE_AFTER])
        feats[n] += 1 if facts[CAPTURED] > 0 else 0
        n += 1
    feats[n] = LIBERTY + 5 * (min(after, 8) - 1) + min(facts[OWN_LIBERTIES], 4)
    n += 1
    feats[n] = ENEMY + 4 * min(facts[ENEMY_LIBERTIES], 6) + min(_size_class(facts[ENEMY_SIZE]), 3)
    n += 1
    feats[n] = CONTACT + 5 * facts[OWN_BLOCKS] + facts[ENEMY_BLOCKS]
    return n + 1


@kernel
def _attacked_blocks(s, mover, last, heads):
    """Write the heads of own blocks next to the last move's stone; return how many."""
    n = 0
    if last <= 0 or s[COLOUR, last] == EMPTY:
        return n
    width = s[SCALARS, COLS] + 1
    for k in range(4):
        q = last + (1 if k == 0 else -1 if k == 1 else width if k == 2 else -width)
        if s[COLOUR, q] == mover:
            known = False
            for j in range(n):
                known = known or heads[j] == s[HEAD, q]
            if not known:
                heads[n] = s[HEAD, q]
                n += 1
    return n


@kernel
def _mark_liberties(heads, n, start, count, libs, value, where):
    """Note at every liberty of the blocks the class of its block's liberties (least wins)."""
    for j in range(n):
        head = heads[j]
        v = min(count[head], value)
        for k in range(start[head], start[head] + count[head]):
            q = libs[k]
            if where[q] == 0 or v < where[q]:
                where[q] = v


@kernel
def _position(s, rings, marks, table, values, recent, mover, count, absolute, out):
    """Write the features that all moves of the position share; return how many."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    n = 0
    out[n] = _PHASE + min(s[SCALARS, PLIES] * 361 // (rows * cols) // 12, 23)
    n += 1
    out[n] = _KO_BAN + (1 if s[SCALARS, KO] > 0 else 0)
    n += 1
    own = enemy = 0
    for p in range(s.shape[1]):
        c = s[COLOUR, p]
        if c != EMPTY and c != BORDER and s[HEAD, p] == p and count[p] == 1:
            if c == mover:
                own = max(own, s[SIZE, p])
            else:
                enemy = max(enemy, s[SIZE, p])
    out[n] = OWN_ATARI + (0 if own == 0 else 1 + _size_class(own))
    n += 1
    out[n] = _ENEMY_ATARI + (0 if enemy == 0 else 1 + _size_class(enemy))
    n += 1
    last = recent[0]
    if last <= 0:
        out[n] = _LAST_LINE + 21
        out[n + 1] = LAST_STEP + 60
        n += 2
        if absolute:
            out[n] = LAST_COORDINATE + 55
            n += 1
        return n
    row, col = last // (cols + 1) - 1, last % (cols + 1) - 1
    out[n] = _LAST_LINE + _line_class(row, col, rows, cols)
    n += 1
    if absolute:
        out[n] = LAST_COORDINATE + octant(row, col, rows, cols)
        n += 1
    if recent[1] > 0:
        r2, c2 = recent[1] // (cols + 1) - 1, recent[1] % (cols + 1) - 1
        out[n] = LAST_STEP + _offset_class(r2 - row, c2 - col)
    else:
        out[n] = LAST_STEP + 60
    n += 1
    if s[COLOUR, last] != EMPTY:
        head = s[HEAD, last]
        out[n] = _LAST_BLOCK + 5 * (min(count[head], 6) - 1) + _size_class(s[SIZE, head])
        n += 1
    where = np.array([last])
    wide = np.zeros(1, np.int64)
    found = np.empty((1, RINGS), np.int32)
    find_patterns(
        s, rings, marks, table, values, count, recent, mover, AT_LAST, where, 1, found, wide
    )
    for k in range(wide[0]):
        out[n] = found[0, k]
        n += 1
    return n


@kernel
def _near_last(s, mover, last, start, count, libs, of_last, of_attacked):
    """Note the liberties of the last move's block and of own blocks beside it.

    Returns the head of the last move's block, -1 if it is not on the board.
    """
    heads = np.empty(4, np.int64)
    attacked = _attacked_blocks(s, mover, last, heads)
    _mark_liberties(heads, attacked, start, count, libs, 5, of_attacked)
    if last <= 0 or s[COLOUR, last] != 3 - mover:
        return -1
    heads[0] = s[HEAD, last]
    _mark_liberties(heads, 1, start, count, libs, 6, of_last)
    return heads[0]


@kernel
def _fight(facts, of_last, of_attacked, ladders, ko, feats, n):
    """Add what the move does to the fight around the last move, to a ko and to ladders."""
    after = min(facts[LIBERTIES], 4) - 1
    if of_last > 0:
        feats[n] = OF_LAST + 4 * (of_last - 1) + after
        n += 1
    if of_attacked > 0:
        feats[n] = OF_ATTACKED + 4 * (of_attacked - 1) + after
        n += 1
    if facts[CAPTURED] == 1 and facts[SIZE_AFTER] == 1 and facts[EMPTY_NEIGHBOURS] == 0:
        feats[n] = KO_MOVE + (1 if ko > 0 else 0)
        n += 1
    if ladders != 0:
        for k in range(16):
            if ladders >> k & 1:
                feats[n] = LADDER + k
                n += 1
    return n


@kernel
def _surroundings(maps, i, feats, n):
    """Add how near the stones of both sides are and how many."""
    feats[n] = NEAREST + 8 * min(maps[0, i] - 1, 7) + min(maps[1, i] - 1, 7)
    feats[n + 1] = DENSITY + 7 * min(maps[2, i], 6) + min(maps[3, i], 6)
    feats[n + 2] = CROWD + 7 * min(maps[4, i], 6) + min(maps[5, i], 6)
    return n + 3


@kernel
def _stone(s, p, row, col, mover, recent, count, stones, feats):
    """Write the features of a point that cannot be played; return how many."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    if s[COLOUR, p] == EMPTY:
        feats[0] = FORBIDDEN
        return 1
    side = 0 if s[COLOUR, p] == mover else 1
    head = s[HEAD, p]
    feats[0] = STONE + 30 * side + 5 * (min(count[head], 6) - 1) + _size_class(s[SIZE, head])
    feats[1] = _STONE_LINE + 21 * side + _line_class(row, col, rows, cols)
    n = 2
    if stones[head] > 0:
        feats[n] = STONE_LADDER + 4 * side + stones[head] - 1
        n += 1
    for j in range(4):
        if recent[j] == p:
            feats[n] = _STONE_RECENT + j
            n += 1
            break
    return n


@kernel
def move_features(s, rings, marks, table, values, recent, absolute, points, feats, widths, shared):
    """Name the features of all points; return (legal moves, points, features of the position).

    `points` receives the legal points first (superko not regarded), then all others; feats[k, :
    widths[k]] are the features of the k-th, `shared` those of the position.
    """
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    area = rows * cols
    size = s.shape[1]
    mover = s[SCALARS, TURN]
    start, count = np.zeros(size, np.int64), np.zeros(size, np.int64)
    libs, stamp = np.empty(4 * size, np.int64), np.zeros(size, np.int64)
    of_last, of_attacked = np.zeros(size, np.int64), np.zeros(size, np.int64)
    said, stones = np.zeros(size, np.int64), np.zeros(size, np.int64)
    maps = np.empty((6, area), np.int64)
    sums = np.empty((2, rows + 1, cols + 1), np.int64)
    facts = np.empty(FACTS, np.int64)
    read_blocks(s, start, count, libs, stamp)
    distance_maps(s, mover, maps[0], maps[1])
    density_maps(s, mover, 4, sums, maps[2], maps[3])
    density_maps(s, mover, 2, sums, maps[4], maps[5])
    last_head = _near_last(s, mover, recent[0], start, count, libs, of_last, of_attacked)
    read_ladders(s, mover, start, count, libs, said, stones)
    n_shared = _position(s, rings, marks, table, values, recent, mover, count, absolute, shared)
    phase = _phase_of(s[SCALARS, PLIES], area)
    stamp[:] = -1
    n_moves = 0
    n_others = 0
    for i in range(area):
        row, col = i // cols, i % cols
        p = (row + 1) * (cols + 1) + col + 1
        if s[COLOUR, p] != EMPTY or not is_legal(s, p, mover):
            # Kept at the end until all legal moves are known.
            n_others += 1
            points[area - n_others] = p
            continue
        f = feats[n_moves]
        n = 0
        if absolute:
            f[n] = COORDINATE + 4 * octant(row, col, rows, cols) + phase
            n += 1
        f[n] = LINE + _line_class(row, col, rows, cols)
        n = _relative(recent, row, col, cols, f, n + 1)
        read_move(s, p, mover, last_head, start, count, libs, stamp, n_moves, facts)
        n = _tactical(facts, f, n)
        n = _fight(facts, of_last[p], of_attacked[p], said[p], s[SCALARS, KO], f, n)
        widths[n_moves] = _surroundings(maps, i, f, n)
        points[n_moves] = p
        n_moves += 1
    for family in range(FAMILIES - 1):
        find_patterns(
            s, rings, marks, table, values, count, recent, mover, family,
            points, n_moves, feats, widths,
        )  # fmt: skip
    points[n_moves:area] = points[n_moves:area][::-1].copy()
    for k in range(n_moves, area):
        p = points[k]
        row, col = p // (cols + 1) - 1, p % (cols + 1) - 1
        widths[k] = _stone(s, p, row, col, mover, recent, count, stones, feats[k])
    return n_moves, area, n_shared
