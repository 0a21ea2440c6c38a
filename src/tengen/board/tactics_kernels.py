"""Tactics: liberties, eyes, unconditional life, ladders, small fights; the simplest players' moves.

The functions work on a state `s`, or on a line of colours as a state keeps it (row COLOUR, int64)
and the width W = columns + 1. Scratch arrays come from `safety_scratch`.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.arrays import BoolArray, IntArray, UInt64Array
from tengen.board.kernels import (
    below,
    copy_state,
    in_atari,
    near,
    number_alike,
    place,
    point_at,
    point_of,
    turned,
)
from tengen.board.layout_kernels import (
    BLACK,
    BORDER,
    COLOUR,
    COLS,
    EMPTY,
    HEAD,
    NEXT,
    PASS,
    PLIB,
    PSUM,
    ROWS,
    SCALARS,
    SIZE,
    WHITE,
)
from tengen.jit import kernel

# Rows of the scratch.
_MARK, _STACK, _CHANGED, _WORK = 0, 1, 2, 3
_SCRATCH_ROWS = 4
_STAMP = 0  # _MARK[0] belongs to a border point: it holds the last stamp

# Entries of a frame of the ladder reader.
_ATTACKING, _FORBIDDEN, _LIFTED, _NEXT_MOVE, _TOTAL, _CURRENT, _NOW_LIFTED, _MOVES = range(8)
_FRAME = _MOVES + 13
_MAX_DEPTH = 512
# Arguments of a fixed type: for a plain constant, Numba would compile a kernel once more.
_ZERO, _ONE, _TWO, _THREE = np.int64(0), np.int64(1), np.int64(2), np.int64(3)
MAX_READS = 2000  # positions read in a ladder before the block counts as escaped


@kernel(makes_arrays=True)
def safety_scratch(n: int) -> IntArray:
    """Return scratch for boards of n bordered points; one per thread."""
    return np.zeros((_SCRATCH_ROWS, 4 * n), np.int64)


# ----- Liberties and atari -----


@kernel
def _liberties(
    line: IntArray, p: int, width: int, limit: int, scratch: IntArray, libs: IntArray
) -> int:
    """Count the liberties of the block at p, at most `limit`, and store them in `libs`."""
    mark, stack = scratch[_MARK], scratch[_STACK]
    mark[_STAMP] += 1
    stamp = mark[_STAMP]
    colour = line[p]
    mark[p] = stamp
    stack[0] = p
    top = 1
    count = 0
    while top:
        top -= 1
        x = stack[top]
        for k in range(4):
            q = near(x, k, width)
            if mark[q] == stamp:
                continue
            if line[q] == EMPTY:
                mark[q] = stamp
                libs[count] = q
                count += 1
                if count == limit:
                    return count
            elif line[q] == colour:
                mark[q] = stamp
                stack[top] = q
                top += 1
    return count


# ----- Eyes -----


@kernel
def eye_map(line: IntArray, width: int, out: IntArray) -> None:
    """Write into `out` (bordered) the owner of a real eye, its negative for a false one, else 0.

    Two enemy stones on the diagonals make an eye false, one is enough at the edge.
    """
    for p in range(line.shape[0]):
        out[p] = EMPTY
        if line[p] != EMPTY:
            continue
        near_by = 0
        for k in range(4):
            c = line[near(p, k, width)]
            near_by |= 4 if c == EMPTY else 0 if c == BORDER else c
        if near_by == BLACK or near_by == WHITE:
            bad = 0
            edge = 0
            for q in (p - width - 1, p - width + 1, p + width - 1, p + width + 1):
                bad += line[q] == 3 - near_by
                edge |= line[q] == BORDER
            out[p] = -near_by if bad + edge >= 2 else near_by


@kernel
def is_own_eye(s: IntArray, p: int, colour: int) -> bool:
    """Return whether the empty point `p` is a one-point eye of `colour` that is not plainly false.

    No block around is in atari, and the enemy holds at most one diagonal (none at the edge).
    """
    width = s[SCALARS, COLS] + 1
    for k in range(4):
        q = near(p, k, width)
        c = s[COLOUR, q]
        if c != BORDER and (c != colour or in_atari(s, s[HEAD, q])):
            return False
    bad = 0
    edge = 0
    for k in range(4):
        q = p + (width if k < 2 else -width) + (1 if k % 2 == 0 else -1)
        c = s[COLOUR, q]
        if c == BORDER:
            edge = 1
        elif c == 3 - colour:
            bad += 1
    return bad + edge < 2


# ----- Unconditional life (Benson 1976) -----


@kernel(makes_arrays=True)
def _number(
    line: IntArray, width: int, colour: int, stones: bool, number: IntArray, stack: IntArray
) -> int:
    """Number the blocks of `colour` (stones true) or the regions it encloses (stones false)."""
    kind = np.empty(line.shape[0], np.int8)
    for p in range(line.shape[0]):
        kind[p] = 0 if line[p] != BORDER and (line[p] == colour) == stones else -1
    return number_alike(kind, width, number, stack)


@kernel(makes_arrays=True)
def benson(line: IntArray, width: int, colour: int, out: IntArray) -> None:
    """Mark what the enemy can never capture: 1 for the blocks of `colour`, 2 for their regions.

    An enemy cannot live in a marked region: each of its empty points touches a living block.
    """
    n = line.shape[0]
    block_of = np.empty(n, np.int64)
    region_of = np.empty(n, np.int64)
    stack = np.empty(n, np.int64)
    blocks = _number(line, width, colour, True, block_of, stack)
    regions = _number(line, width, colour, False, region_of, stack)
    out[:] = 0
    # touch[b, r]: empty points of region r next to block b; empties[r]: all its empty points.
    touch = np.zeros((max(blocks, 1), max(regions, 1)), np.int32)
    beside = np.zeros((max(blocks, 1), max(regions, 1)), np.bool_)
    empties = np.zeros(max(regions, 1), np.int32)
    for p in range(n):
        r = region_of[p]
        if r < 0:
            continue
        if line[p] == EMPTY:
            empties[r] += 1
        for k in range(4):
            q = near(p, k, width)
            b = block_of[q]
            if b < 0:
                continue
            beside[b, r] = True
            new = line[p] == EMPTY
            for j in range(k):
                if block_of[near(p, j, width)] == b:
                    new = False
            if new:
                touch[b, r] += 1
    alive = np.ones(max(blocks, 1), np.bool_)
    healthy = np.ones(max(regions, 1), np.bool_)
    changed = True
    while changed:
        changed = False
        for b in range(blocks):
            if not alive[b]:
                continue
            vital = 0
            for r in range(regions):
                if healthy[r] and empties[r] > 0 and touch[b, r] == empties[r]:
                    vital += 1
            if vital < 2:
                alive[b] = False
                changed = True
                for r in range(regions):
                    if beside[b, r]:
                        healthy[r] = False
    for p in range(n):
        if block_of[p] >= 0:
            if alive[block_of[p]]:
                out[p] = 1
        elif region_of[p] >= 0 and healthy[region_of[p]]:
            r = region_of[p]
            for b in range(blocks):
                if alive[b] and empties[r] > 0 and touch[b, r] == empties[r]:
                    out[p] = 2


# ----- Ladders -----


@kernel
def _lift(
    line: IntArray, p: int, width: int, changed: IntArray, count: int, stack: IntArray
) -> int:
    """Take the block at p off the line, append its stones to `changed`, return the new count."""
    colour = line[p]
    line[p] = EMPTY
    changed[count] = p
    count += 1
    stack[0] = p
    top = 1
    while top:
        top -= 1
        x = stack[top]
        for k in range(4):
            q = near(x, k, width)
            if line[q] == colour:
                line[q] = EMPTY
                changed[count] = q
                count += 1
                stack[top] = q
                top += 1
    return count


@kernel
def _try(
    line: IntArray, p: int, colour: int, width: int, count: int, scratch: IntArray, libs: IntArray
) -> int:
    """Play p on the line; return the new number of lifted stones, or -1 where that is suicide."""
    line[p] = colour
    before = count
    for k in range(4):
        q = near(p, k, width)
        if line[q] == 3 - colour and _liberties(line, q, width, _ONE, scratch, libs) == 0:
            count = _lift(line, q, width, scratch[_CHANGED], count, scratch[_STACK])
    if count == before and _liberties(line, p, width, _ONE, scratch, libs) == 0:
        line[p] = EMPTY
        return -1
    return count


@kernel
def _take_back(
    line: IntArray, p: int, colour: int, changed: IntArray, before: int, after: int
) -> None:
    """Undo `_try`."""
    for i in range(before, after):
        line[changed[i]] = 3 - colour
    line[p] = EMPTY


@kernel
def _attackers_in_atari(
    line: IntArray, p: int, width: int, scratch: IntArray, libs: IntArray, saves: IntArray
) -> int:
    """List the points that capture an enemy block next to the block at p, without repeats."""
    colour = line[p]
    members = scratch[_WORK]
    mark = scratch[_MARK]
    mark[_STAMP] += 1
    stamp = mark[_STAMP]
    members[0] = p
    mark[p] = stamp
    size = 1
    i = 0
    while i < size:
        for k in range(4):
            q = near(members[i], k, width)
            if line[q] == colour and mark[q] != stamp:
                mark[q] = stamp
                members[size] = q
                size += 1
        i += 1
    count = 0
    for i in range(size):
        for k in range(4):
            q = near(members[i], k, width)
            if line[q] != 3 - colour or _liberties(line, q, width, _TWO, scratch, libs) != 1:
                continue
            new = True
            for j in range(count):
                if saves[j] == libs[0]:
                    new = False
            if new and count < saves.shape[0]:
                saves[count] = libs[0]
                count += 1
    return count


@kernel
def _lone_ko(
    line: IntArray, p: int, width: int, before: int, after: int, scratch: IntArray, libs: IntArray
) -> int:
    """Return the point that the stone just played at p forbids by simple ko, or 0."""
    if after - before != 1 or _liberties(line, p, width, _TWO, scratch, libs) != 1:
        return 0
    for k in range(4):
        if line[near(p, k, width)] == line[p]:
            return 0
    return scratch[_CHANGED, before]


@kernel
def _open_frame(
    line: IntArray, p: int, width: int, attacking: bool, ko: int, count: int, reads: IntArray,
    scratch: IntArray, libs: IntArray, frame: IntArray,
) -> int:  # fmt: skip
    """Return the deciding move of the side to move, or 0; -1 to read on, with moves in `frame`."""
    n = _liberties(line, p, width, _THREE, scratch, libs)
    reads[0] += 1
    if reads[0] > MAX_READS or count > scratch.shape[1] // 2:
        return 0 if attacking else libs[0]
    if attacking and n == 1:
        return libs[0] if libs[0] != ko else 0
    if n > 2 or n == 0 or (n == 2 and not attacking):
        return 0 if attacking else libs[0]
    frame[_ATTACKING] = attacking
    frame[_FORBIDDEN] = ko
    frame[_LIFTED] = count
    frame[_NEXT_MOVE] = 0
    frame[_MOVES] = libs[0]
    if attacking:
        frame[_MOVES + 1] = libs[1]
        frame[_TOTAL] = 2
    else:
        # Try running first: ladders mostly consist of that.
        frame[_TOTAL] = 1 + _attackers_in_atari(line, p, width, scratch, libs, frame[_MOVES + 1 :])
    return -1


@kernel(makes_arrays=True)
def read_ladder(
    line: IntArray, p: int, width: int, attacking: bool, ko: int, reads: IntArray, scratch: IntArray
) -> int:
    """Return the move that decides the ladder on the block at p for the side to move, or 0.

    With `attacking` the enemy moves, always by atari, else the owner of a block in atari. The first
    move must not be `ko`. It has its own stack: a recursive kernel cannot be cached on disk.
    """
    colour = line[p]
    libs = np.empty(3, np.int64)
    frames = np.empty((_MAX_DEPTH, _FRAME), np.int64)
    answer = _open_frame(line, p, width, attacking, ko, _ZERO, reads, scratch, libs, frames[0])
    if answer >= 0:
        return answer
    top = 0
    while True:
        frame = frames[top]
        attacks = frame[_ATTACKING] == 1
        mover = 3 - colour if attacks else colour
        answer = 0
        i = frame[_NEXT_MOVE]
        if i < frame[_TOTAL]:
            frame[_NEXT_MOVE] += 1
            move = frame[_MOVES + i]
            if move == frame[_FORBIDDEN] or (i > 0 and move == frame[_MOVES]):
                continue
            before = frame[_LIFTED]
            after = _try(line, move, mover, width, before, scratch, libs)
            if after < 0:
                continue
            frame[_CURRENT] = move
            frame[_NOW_LIFTED] = after
            # An attack must be atari; three liberties are out of the ladder.
            n = _liberties(line, p, width, _THREE, scratch, libs)
            if attacks and n > 1:
                child = 1
            elif n > 2 or top + 1 == _MAX_DEPTH:
                child = 1 if attacks else 0
            else:
                next_ko = _lone_ko(line, move, width, before, after, scratch, libs)
                child = _open_frame(
                    line, p, width, not attacks, next_ko, after, reads, scratch, libs,
                    frames[top + 1],
                )  # fmt: skip
                if child < 0:
                    top += 1
                    continue
            _take_back(line, move, mover, scratch[_CHANGED], before, after)
            if child > 0:
                continue
            answer = move
        # This position is decided; so may be those before it.
        while True:
            top -= 1
            if top < 0:
                return answer
            frame = frames[top]
            mover = 3 - colour if frame[_ATTACKING] == 1 else colour
            _take_back(
                line, frame[_CURRENT], mover, scratch[_CHANGED], frame[_LIFTED], frame[_NOW_LIFTED]
            )
            if answer > 0:
                break  # the other side had an answer: try the next move
            answer = frame[_CURRENT]


# ----- Small fights -----

UNKNOWN, HOLDS, FALLS = -1, 0, 1
MOST_POINTS = 7  # empty points of a fight that is small enough to be read
_MOST_PLIES, _MOST_NODES = 14, 1500
# Entries of a frame: the next point to try, the best answer so far, the point that ko forbids, the
# move being tried, the stones lifted before it.
_POINT, _BEST, _KO, _MOVE, _BEFORE = 0, 1, 2, 3, 4


@kernel(makes_arrays=True)
def liberties_if_played(line: IntArray, width: int, out: IntArray) -> None:
    """Write into out[colour, p] the liberties, at most two, of a stone played at p; 0: suicide."""
    scratch = safety_scratch(line.shape[0])
    libs = np.empty(2, np.int64)
    for p in range(line.shape[0]):
        for colour in (BLACK, WHITE):
            lifted = -1
            if line[p] == EMPTY:
                lifted = _try(line, p, colour, width, _ZERO, scratch, libs)
            if lifted >= 0:
                out[colour, p] = _liberties(line, p, width, _TWO, scratch, libs)
                _take_back(line, p, colour, scratch[_CHANGED], _ZERO, lifted)


@kernel(makes_arrays=True)
def read_fight(line: IntArray, width: int, target: int, inside: BoolArray, first: int) -> int:
    """Return whether the block at `target` FALLS or HOLDS if `first` moves first, or UNKNOWN.

    Both sides play on the points of `inside` and on those of captured stones. Ko is simple, the
    defender may pass, an attack that takes too long fails.
    """
    n = line.shape[0]
    board = line.copy()
    open_points = np.empty(n, np.bool_)
    for p in range(n):
        open_points[p] = inside[p] or line[p] != EMPTY
    defender = line[target]
    scratch, libs = safety_scratch(n), np.empty(2, np.int64)
    frames = np.zeros((_MOST_PLIES + 2, 5), np.int64)
    nodes = d = 0
    frames[0, _BEST] = FALLS if first == defender else HOLDS
    while True:
        mover = first if d % 2 == 0 else 3 - first
        frame, after = frames[d], frames[d + 1]
        wanted = HOLDS if mover == defender else FALLS
        if frame[_BEST] == wanted or frame[_POINT] > n or d >= _MOST_PLIES:
            if d == 0:
                return frame[_BEST]
            d -= 1
            before = frames[d]
            if before[_MOVE] < n:
                _take_back(
                    board, before[_MOVE], 3 - mover, scratch[_CHANGED], before[_BEFORE],
                    frame[_BEFORE],
                )  # fmt: skip
            # If this side failed, the other side's last move has achieved its aim.
            if frame[_BEST] != wanted:
                before[_BEST] = frame[_BEST]
            continue
        p = frame[_POINT]
        while p < n and (board[p] != EMPTY or p == frame[_KO] or not open_points[p]):
            p += 1
        frame[_POINT] = p + 1
        after[_KO], after[_BEFORE] = 0, frame[_BEFORE]
        if p < n:
            nodes += 1
            if nodes > _MOST_NODES:
                return UNKNOWN
            lifted = _try(board, p, mover, width, frame[_BEFORE], scratch, libs)
            if lifted < 0:
                continue
            taken = lifted - frame[_BEFORE]
            if board[target] != defender or (mover == defender and taken > MOST_POINTS):
                frame[_BEST] = wanted
                _take_back(board, p, mover, scratch[_CHANGED], frame[_BEFORE], lifted)
                continue
            after[_KO] = _lone_ko(board, p, width, frame[_BEFORE], lifted, scratch, libs)
            after[_BEFORE] = lifted
        elif mover == defender:
            nodes += 1
        else:
            continue  # an attacker who passes gives up
        frame[_MOVE] = p
        d += 1
        after[_POINT] = 0
        after[_BEST] = FALLS if mover != defender and d < _MOST_PLIES else HOLDS


# ----- All ladders of a position -----
#
# Reading is cut off after a number of positions, and how far it gets depends on the order in which
# moves are tried. So the board is first turned to one of its eight views, always the same one for
# mirror images and for swapped colours.


# What a ladder means for a move; two bits each: for blocks of one or two stones, and larger ones.
_RUNS_IN_VAIN, _RUNS, _SAVES_FROM_LADDER, CATCHES, ATARI_IN_VAIN = 0, 1, 2, 3, 4
_TAKES_LOST, _TAKES_RUNNER, _BLOCKS_LADDER = 5, 6, 7
_LADDER_READS = 200  # positions one ladder may cost


@kernel
def read_blocks(
    s: IntArray, start: IntArray, count: IntArray, libs: IntArray, stamp: IntArray
) -> None:
    """List the liberties of every block: libs[start[head] : start[head] + count[head]]."""
    width = s[SCALARS, COLS] + 1
    total = 0
    stamp[:] = 0
    for p in range(s.shape[1]):
        c = s[COLOUR, p]
        if c == EMPTY or c == BORDER or s[HEAD, p] != p:
            continue
        start[p] = total
        x = p
        while True:
            for k in range(4):
                q = near(x, k, width)
                if s[COLOUR, q] == EMPTY and stamp[q] != p:
                    stamp[q] = p
                    libs[total] = q
                    total += 1
            x = s[NEXT, x]
            if x == p:
                break
        count[p] = total - start[p]


@kernel
def _seen_from(symmetry: int, i: int, rows: int, cols: int) -> int:
    """Return the point that a view has at row-major index `i`."""
    row, col = turned(i // cols, i % cols, rows, cols, symmetry)
    return point_of(row, col, cols)


@kernel
def _chosen_view(s: IntArray, mover: int) -> int:
    """Return the first view in lexicographic order: empty, the mover's stones, the other's."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    best = 0
    for symmetry in range(1, 8 if rows == cols else 4):
        for i in range(rows * cols):
            a = s[COLOUR, _seen_from(best, i, rows, cols)]
            b = s[COLOUR, _seen_from(symmetry, i, rows, cols)]
            if a != b:
                if b == EMPTY or (b == mover and a != EMPTY):
                    best = symmetry
                break
    return best


@kernel(makes_arrays=True)
def read_ladders(
    s: IntArray, mover: int, start: IntArray, count: IntArray, libs: IntArray,
    ladder_flags: IntArray, stones: IntArray,
) -> None:  # fmt: skip
    """Read the ladders of all blocks with one or two liberties.

    Bit 2 k + large of ladder_flags[p] is set if k holds for a move at p; stones[head] is 1 to 4:
    lost in a ladder, escapes from atari, can be caught in one, cannot be caught.
    """
    any_short = False
    for p in range(s.shape[1]):
        if s[COLOUR, p] != EMPTY and s[COLOUR, p] != BORDER and count[s[HEAD, p]] <= 2:
            any_short = True
            break
    if not any_short:
        return
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    width = cols + 1
    view = _chosen_view(s, mover)
    line = np.full(s.shape[1], BORDER, np.int64)
    back = np.zeros(s.shape[1], np.int64)
    for i in range(rows * cols):
        p = point_at(i, cols)
        back[p] = _seen_from(view, i, rows, cols)
        line[p] = s[COLOUR, back[p]]
    scratch = safety_scratch(s.shape[1])
    reads = np.zeros(1, np.int64)
    for p in range(s.shape[1]):
        colour = line[p]
        if colour == EMPTY or colour == BORDER:
            continue
        head = s[HEAD, back[p]]
        if count[head] > 2 or stones[head] > 0:
            continue
        large = 1 if s[SIZE, head] > 2 else 0
        first = libs[start[head]]
        reads[0] = MAX_READS - _LADDER_READS
        attacked = count[head] == 2
        if not attacked:
            way = back[read_ladder(line, p, width, attacked, _ZERO, reads, scratch)]
            stones[head] = 2 if way > 0 else 1
            if colour == mover:
                ladder_flags[first] |= 1 << (2 * (_RUNS if way == first else _RUNS_IN_VAIN) + large)
            else:
                ladder_flags[first] |= 1 << (
                    2 * (_TAKES_RUNNER if way > 0 else _TAKES_LOST) + large
                )
            continue
        # Two liberties: both ataris are read, the second by forbidding the first.
        second = libs[start[head] + 1]
        one = read_ladder(line, p, width, attacked, _ZERO, reads, scratch)
        other = 0
        if one > 0:
            reads[0] = MAX_READS - _LADDER_READS
            other = read_ladder(line, p, width, attacked, one, reads, scratch)
        stones[head] = 3 if one > 0 else 4
        for k in range(2):
            q = first if k == 0 else second
            works = q == back[one] or q == back[other]
            if colour != mover:
                ladder_flags[q] |= 1 << (2 * (CATCHES if works else ATARI_IN_VAIN) + large)
            elif one > 0:
                ladder_flags[q] |= 1 << (
                    2 * (_BLOCKS_LADDER if works else _SAVES_FROM_LADDER) + large
                )


# ----- Blocks of a state with few liberties -----
#
# `w` is integer scratch (WORK_ROWS, N): the data of blocks at their heads, stamps, and the
# scratch of the ladder reader.

LIBERTIES, LIB1, LIB2, _STAMPS, _READING = 0, 1, 2, 3, 4
WORK_ROWS = _READING + _SCRATCH_ROWS

_MANY = 6
"""Liberties are counted up to this number."""
_MOVE_READS = 100  # positions to read per ladder where every move needs several


@kernel
def _next_stamp(w: IntArray) -> int:
    """Return a number that the row _STAMPS does not hold yet (kept at point 0, a border)."""
    w[_STAMPS, 0] += 1
    return w[_STAMPS, 0]


@kernel
def count_block(s: IntArray, w: IntArray, head: int, width: int) -> int:
    """Return the liberties of a block up to `_MANY`; remember the first two."""
    if s[PLIB, head] == 0:
        return 0
    mark = _next_stamp(w)
    count = 0
    x = head
    while True:
        for k in range(4):
            q = near(x, k, width)
            if s[COLOUR, q] == EMPTY and w[_STAMPS, q] != mark:
                w[_STAMPS, q] = mark
                if count == 0:
                    w[LIB1, head] = q
                elif count == 1:
                    w[LIB2, head] = q
                count += 1
                if count >= _MANY:
                    return count
        x = s[NEXT, x]
        if x == head:
            return count


@kernel
def liberties_after(s: IntArray, w: IntArray, p: int, colour: int, width: int) -> int:
    """Return the liberties up to `_MANY` after `colour` plays `p`; a lower bound after captures."""
    mark = _next_stamp(w)
    w[_STAMPS, p] = mark
    count = 0
    for k in range(4):
        q = near(p, k, width)
        c = s[COLOUR, q]
        if c == EMPTY:
            if w[_STAMPS, q] != mark:
                w[_STAMPS, q] = mark
                count += 1
        elif c == colour:
            head = s[HEAD, q]
            x = head
            while True:
                for j in range(4):
                    z = near(x, j, width)
                    if s[COLOUR, z] == EMPTY and w[_STAMPS, z] != mark:
                        w[_STAMPS, z] = mark
                        count += 1
                if count >= _MANY:
                    return count
                x = s[NEXT, x]
                if x == head:
                    break
        elif c != BORDER and in_atari(s, s[HEAD, q]):
            count += 1
    return count


@kernel
def touches_atari(s: IntArray, head: int, width: int) -> int:
    """Return the last liberty of an enemy block in atari next to this block, or 0."""
    enemy = 3 - s[COLOUR, head]
    x = head
    while True:
        for k in range(4):
            q = near(x, k, width)
            if s[COLOUR, q] == enemy:
                h = s[HEAD, q]
                if in_atari(s, h):
                    return s[PSUM, h] // s[PLIB, h]
        x = s[NEXT, x]
        if x == head:
            return 0


@kernel
def catches(s: IntArray, w: IntArray, head: int, lib: int, other: int, width: int) -> bool:
    """Return whether the enemy catches the block with liberties `lib` and `other` at `lib`."""
    return _way(s, w, head, width, np.bool_(True), other) == lib


@kernel
def way_out(s: IntArray, w: IntArray, head: int, width: int) -> int:
    """Return the move that saves a block in atari from a ladder, or 0."""
    return _way(s, w, head, width, np.bool_(False), _ZERO)


@kernel(makes_arrays=True)
def _way(s: IntArray, w: IntArray, head: int, width: int, attacking: bool, forbidden: int) -> int:
    reads = np.full(1, MAX_READS - _MOVE_READS, np.int64)
    return read_ladder(s[COLOUR], head, width, attacking, forbidden, reads, w[_READING:])


# ----- Moves of the simplest players: any point, or the one that gives the most liberties -----
#
# `allowed` is the row-major mask of moves that the caller permits; superko is up to the caller.

# How `maxlib_move` averages liberties.
BY_BLOCK, BY_STONE = 0, 1


@kernel
def random_move(
    s: IntArray, colour: int, fill_eyes: bool, allowed: BoolArray, rng: UInt64Array
) -> int:
    """Return a uniformly random permitted point, own eyes only if `fill_eyes`; or PASS."""
    cols = s[SCALARS, COLS]
    cells = s[SCALARS, ROWS] * cols
    chosen = PASS
    count = 0
    for i in range(cells):
        if allowed[i]:
            p = point_at(i, cols)
            if fill_eyes or not is_own_eye(s, p, colour):
                count += 1
                if below(rng, count) == 0:
                    chosen = p
    return chosen


@kernel(makes_arrays=True)
def liberty_balance(s: IntArray, colour: int, weighting: int) -> float:
    """Return the mean liberties of `colour`'s blocks (or stones) minus the mean of the enemy's."""
    n = s.shape[1]
    start, count, stamp = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    read_blocks(s, start, count, np.empty(4 * n, np.int64), stamp)
    total_own = total_enemy = 0.0
    count_own = count_enemy = 0
    for p in range(s.shape[1]):
        c = s[COLOUR, p]
        if c == EMPTY or c == BORDER or s[HEAD, p] != p:
            continue
        times = s[SIZE, p] if weighting == BY_STONE else 1
        if c == colour:
            total_own += count[p] * times
            count_own += times
        else:
            total_enemy += count[p] * times
            count_enemy += times
    return total_own / max(count_own, 1) - total_enemy / max(count_enemy, 1)


@kernel(makes_arrays=True)
def maxlib_move(
    s: IntArray, colour: int, weighting: int, allowed: BoolArray, rng: UInt64Array
) -> int:
    """Return the permitted move with the largest `liberty_balance`, ties at random; or PASS."""
    cols = s[SCALARS, COLS]
    trial = np.empty_like(s)
    chosen = PASS
    best = -1e9
    ties = 0
    for i in range(s[SCALARS, ROWS] * cols):
        if not allowed[i]:
            continue
        p = point_at(i, cols)
        if is_own_eye(s, p, colour):
            continue
        copy_state(s, trial)
        place(trial, p, colour)
        value = liberty_balance(trial, colour, weighting)
        if value > best + 1e-9:
            best, chosen, ties = value, p, 1
        elif value > best - 1e-9:
            ties += 1
            if below(rng, ties) == 0:
                chosen = p
    return chosen
