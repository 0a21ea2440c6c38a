"""The rules of Go, on positions stored in arrays as `layout_kernels` describes.

Kernels trust their callers: they check no arguments and raise nothing. Those that `Board` calls are
atomic, so that a board shared by threads by mistake is never half changed.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.arrays import (
    Arrays,
    BoolArray,
    FloatArray,
    Int8Array,
    Int32Array,
    IntArray,
    UInt64Array,
)
from tengen.board.layout_kernels import (
    BHASH,
    BLACK,
    BORDER,
    COLOUR,
    COLS,
    EMPTIES,
    EMPTY,
    EPOS,
    FIELDS,
    HASH,
    HEAD,
    KO,
    LAST,
    LAST2,
    MAX_POINTS,
    N_EMPTY,
    NEXT,
    PASS,
    PASSES,
    PLIB,
    PLIES,
    PRISONERS_B,
    PRISONERS_W,
    PSQ,
    PSUM,
    ROWS,
    SCALARS,
    SIZE,
    SUICIDE,
    TURN,
    WHITE,
)
from tengen.jit import kernel

# Zobrist keys: [colour, point] for stones, [0, colour] for the side to move.
ZOBRIST = np.random.Generator(np.random.PCG64(20031)).integers(
    -(2**63), 2**63 - 1, size=(3, MAX_POINTS), dtype=np.int64, endpoint=True
)


@kernel
def near(p: int, k: int, width: int) -> int:
    """Return neighbour number k (0 to 3: east, west, south, north) of a point."""
    return p + 1 if k == 0 else p - 1 if k == 1 else p + width if k == 2 else p - width


@kernel
def point_of(row: int, col: int, cols: int) -> int:
    """Return the point at (row, column)."""
    return (row + 1) * (cols + 1) + col + 1


@kernel
def point_at(index: int, cols: int) -> int:
    """Return the point with this row-major index."""
    return point_of(index // cols, index % cols, cols)


@kernel
def index_of(p: int, cols: int) -> int:
    """Return the row-major index of a point."""
    return (p // (cols + 1) - 1) * cols + p % (cols + 1) - 1


@kernel
def turned(row: int, col: int, rows: int, cols: int, symmetry: int) -> tuple[int, int]:
    """Return where a symmetry takes a point: transpose (bit 4), flip rows (1), flip columns (2)."""
    if symmetry & 4:
        row, col, rows, cols = col, row, cols, rows
    if symmetry & 1:
        row = rows - 1 - row
    if symmetry & 2:
        col = cols - 1 - col
    return row, col


@kernel
def copy_row(source: UInt64Array | FloatArray, target: UInt64Array | FloatArray) -> None:
    """Copy an array of one dimension; a plain loop, because slices compile slowly."""
    for i in range(source.shape[0]):
        target[i] = source[i]


@kernel(makes_arrays=True)
def new_state(rows: int, cols: int) -> IntArray:
    """Return an empty position with Black to move."""
    s = np.empty((FIELDS, (rows + 2) * (cols + 1) + 1), np.int64)
    clear(s, rows, cols)
    return s


@kernel(makes_arrays=True, keeps_gil=True)
def copied(s: IntArray) -> IntArray:
    """Return a copy of a position; unlike NumPy's it is never torn by another thread."""
    return s.copy()


@kernel
def copy_state(s: IntArray, t: IntArray) -> None:
    """Copy a position; a plain loop, because slices of two dimensions compile slowly."""
    for i in range(s.shape[0]):
        for j in range(s.shape[1]):
            t[i, j] = s[i, j]


@kernel
def clear(s: IntArray, rows: int, cols: int) -> None:
    """Make `s` the empty position of this size, Black to move, suicide forbidden."""
    s[:, :] = 0
    s[COLOUR, :] = BORDER
    count = 0
    for row in range(rows):
        for col in range(cols):
            p = point_of(row, col, cols)
            s[COLOUR, p] = EMPTY
            s[EMPTIES, count] = p
            s[EPOS, p] = count
            count += 1
    s[SCALARS, ROWS] = rows
    s[SCALARS, COLS] = cols
    s[SCALARS, TURN] = BLACK
    s[SCALARS, N_EMPTY] = count
    s[SCALARS, LAST] = -1
    s[SCALARS, LAST2] = -1


@kernel
def in_atari(s: IntArray, head: int) -> bool:
    """Return whether the block with this head has exactly one liberty."""
    a = s[PSUM, head]
    return a * a == s[PLIB, head] * s[PSQ, head]


@kernel
def is_legal(s: IntArray, p: int, colour: int) -> bool:
    """Return whether `colour` may play `p` under simple ko and the suicide rule; no superko."""
    if p == PASS:
        return True
    if p == s[SCALARS, KO] and colour == s[SCALARS, TURN]:
        return False
    return _is_possible(s, p, colour)


@kernel
def _is_possible(s: IntArray, p: int, colour: int) -> bool:
    """Return whether `colour` may play the point `p` under all rules except ko."""
    if s[COLOUR, p] != EMPTY:
        return False
    width = s[SCALARS, COLS] + 1
    joins = False
    for k in range(4):
        q = near(p, k, width)
        c = s[COLOUR, q]
        if c == EMPTY:
            return True
        if c != BORDER:
            # The move joins an own block with another liberty, or captures an enemy block in atari.
            if in_atari(s, s[HEAD, q]) != (c == colour):
                return True
            if c == colour:
                joins = True
    # What is left is suicide, which is never legal for a lone stone (it would change nothing).
    return s[SCALARS, SUICIDE] == 1 and joins


@kernel
def _hash_after(s: IntArray, p: int, colour: int) -> int:
    """Return the position's hash after `colour` plays the legal point `p`, captures included."""
    h = s[SCALARS, HASH]
    if p == PASS:
        return h
    h ^= ZOBRIST[colour, p]
    width = s[SCALARS, COLS] + 1
    enemy = 3 - colour
    h0 = h1 = h2 = -1
    alive = False
    for k in range(4):
        q = near(p, k, width)
        c = s[COLOUR, q]
        if c == EMPTY:
            alive = True
        elif c == enemy or c == colour:
            head = s[HEAD, q]
            if in_atari(s, head) == (c == enemy):
                alive = True
            if c == enemy and in_atari(s, head) and head != h0 and head != h1 and head != h2:
                h ^= s[BHASH, head]
                h2, h1, h0 = h1, h0, head
    if alive:
        return h
    # Suicide: the stone and every own block next to it leave the board.
    h = s[SCALARS, HASH]
    for k in range(4):
        q = near(p, k, width)
        if s[COLOUR, q] == colour:
            head = s[HEAD, q]
            if head != h0 and head != h1 and head != h2:
                h ^= s[BHASH, head]
                h2, h1, h0 = h1, h0, head
    return h


@kernel
def _remove_block(s: IntArray, head: int, width: int) -> int:
    """Take a block off the board, give its neighbours their liberties back, return its size."""
    count = s[SCALARS, N_EMPTY]
    x = head
    while True:
        following = s[NEXT, x]
        s[COLOUR, x] = EMPTY
        s[EMPTIES, count] = x
        s[EPOS, x] = count
        count += 1
        for k in range(4):
            z = near(x, k, width)
            c = s[COLOUR, z]
            if c == BLACK or c == WHITE:
                h = s[HEAD, z]
                s[PLIB, h] += 1
                s[PSUM, h] += x
                s[PSQ, h] += x * x
        x = following
        if x == head:
            break
    s[SCALARS, N_EMPTY] = count
    s[SCALARS, HASH] ^= s[BHASH, head]
    return s[SIZE, head]


@kernel
def place(s: IntArray, p: int, colour: int) -> int:
    """Put a stone on the legal point `p`: merge, capture, set ko; return the stones captured."""
    width = s[SCALARS, COLS] + 1
    enemy = 3 - colour
    # Take p out of the list of empty points.
    last = s[EMPTIES, s[SCALARS, N_EMPTY] - 1]
    s[SCALARS, N_EMPTY] -= 1
    s[EMPTIES, s[EPOS, p]] = last
    s[EPOS, last] = s[EPOS, p]
    # A block of one stone.
    s[COLOUR, p] = colour
    s[HEAD, p] = p
    s[NEXT, p] = p
    s[SIZE, p] = 1
    s[BHASH, p] = ZOBRIST[colour, p]
    s[SCALARS, HASH] ^= ZOBRIST[colour, p]
    n = a = b = 0
    friends = 0
    for k in range(4):
        q = near(p, k, width)
        c = s[COLOUR, q]
        if c == EMPTY:
            n += 1
            a += q
            b += q * q
        elif c != BORDER:
            h = s[HEAD, q]
            s[PLIB, h] -= 1
            s[PSUM, h] -= p
            s[PSQ, h] -= p * p
            friends += c == colour
    s[PLIB, p] = n
    s[PSUM, p] = a
    s[PSQ, p] = b
    # Join own neighbours: the smaller list is relabelled and spliced into the larger.
    head = p
    captured = 0
    captured_point = 0
    for k in range(4):
        q = near(p, k, width)
        c = s[COLOUR, q]
        if c == colour:
            other = s[HEAD, q]
            if other != head:
                head = _merge(s, head, other)
        elif c == enemy and s[PLIB, s[HEAD, q]] == 0:
            captured_point = q
            captured += _remove_block(s, s[HEAD, q], width)
    s[SCALARS, KO] = 0
    if captured > 0:
        s[SCALARS, PRISONERS_B if colour == BLACK else PRISONERS_W] += captured
        # A lone stone that took a lone stone and can be retaken at once: simple ko.
        if captured == 1 and friends == 0 and n == 0:
            s[SCALARS, KO] = captured_point
    elif s[PLIB, head] == 0:
        s[SCALARS, PRISONERS_W if colour == BLACK else PRISONERS_B] += _remove_block(s, head, width)
    return captured


@kernel
def _merge(s: IntArray, a: int, b: int) -> int:
    """Join two blocks and return the head of the result."""
    if s[SIZE, a] < s[SIZE, b]:
        a, b = b, a
    s[SIZE, a] += s[SIZE, b]
    s[PLIB, a] += s[PLIB, b]
    s[PSUM, a] += s[PSUM, b]
    s[PSQ, a] += s[PSQ, b]
    s[BHASH, a] ^= s[BHASH, b]
    x = b
    while True:
        s[HEAD, x] = a
        x = s[NEXT, x]
        if x == b:
            break
    after = s[NEXT, a]
    s[NEXT, a] = s[NEXT, b]
    s[NEXT, b] = after
    return a


@kernel
def give_turn(s: IntArray, colour: int) -> None:
    """Let a side move; if it was the other one's turn, that one passed, which ends a ko."""
    if s[SCALARS, TURN] != colour:
        s[SCALARS, TURN] = colour
        s[SCALARS, KO] = 0


@kernel
def play_move(s: IntArray, p: int, colour: int) -> int:
    """Play a legal move or a pass and hand the turn to the other side; return stones captured."""
    captured = 0
    if p == PASS:
        s[SCALARS, KO] = 0
        s[SCALARS, PASSES] += 1
    else:
        captured = place(s, p, colour)
        s[SCALARS, PASSES] = 0
    s[SCALARS, TURN] = 3 - colour
    s[SCALARS, PLIES] += 1
    s[SCALARS, LAST2] = s[SCALARS, LAST]
    s[SCALARS, LAST] = p
    return captured


# ----- Superko: a table of the hashes of all earlier positions, open addressing, zero is free -----

KO_SIMPLE, KO_POSITIONAL, _KO_SITUATIONAL = 0, 1, 2


@kernel
def history_key(h: int, to_move: int, ko_rule: int) -> int:
    """Return the key under which a position is remembered; never zero."""
    if ko_rule == _KO_SITUATIONAL:
        h ^= ZOBRIST[0, to_move]
    return h if h != 0 else 1


@kernel
def _slot(table: IntArray, key: int) -> int:
    """Return where `key` is or would go."""
    mask = table.shape[0] - 1
    i = (key ^ (key >> 29)) & mask
    while table[i] != 0 and table[i] != key:
        i = (i + 1) & mask
    return i


@kernel
def remember(table: IntArray, key: int) -> bool:
    """Remember a key; return whether it is new. The table's length must be a power of two."""
    i = _slot(table, key)
    new = table[i] == 0
    table[i] = key
    return new


@kernel(keeps_gil=True)
def forget(table: IntArray, key: int) -> None:
    """Remove a key from the table, if it is there."""
    mask = table.shape[0] - 1
    free = _slot(table, key)
    if table[free] == 0:
        return
    i = free
    while True:
        i = (i + 1) & mask
        if table[i] == 0:
            break
        # Move a later key into the gap, unless the search for that key starts after the gap.
        first = (table[i] ^ (table[i] >> 29)) & mask
        if (i - first) & mask >= (i - free) & mask:
            table[free] = table[i]
            free = i
    table[free] = 0


@kernel(keeps_gil=True)
def regrow(table: IntArray, larger: IntArray) -> None:
    """Move all keys to a larger table."""
    for i in range(table.shape[0]):
        if table[i] != 0:
            remember(larger, table[i])


@kernel
def is_allowed(s: IntArray, table: IntArray, ko_rule: int, p: int, colour: int) -> bool:
    """Return whether `colour` may play `p` under the given ko rule; a pass is always legal."""
    if p == PASS:
        return True
    if ko_rule == KO_SIMPLE:
        return is_legal(s, p, colour)
    # Under superko only the table counts, not the ko point.
    if not _is_possible(s, p, colour):
        return False
    key = history_key(_hash_after(s, p, colour), 3 - colour, ko_rule)
    return table[_slot(table, key)] == 0


@kernel(keeps_gil=True)
def allowed_mask(s: IntArray, table: IntArray, ko_rule: int, colour: int, out: BoolArray) -> None:
    """Fill `out` (rows * columns + 1 booleans, pass last) with the moves `colour` may play."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    for row in range(rows):
        for col in range(cols):
            p = point_of(row, col, cols)
            out[row * cols + col] = is_allowed(s, table, ko_rule, p, colour)
    out[rows * cols] = True


@kernel(keeps_gil=True)
def push(s: IntArray, table: IntArray, ko_rule: int, p: int, colour: int) -> tuple[bool, int]:
    """Play a move and remember the position, provided that `p` is a pass or an empty point.

    Return whether it was played, and the key of the position if it is new, else 0.
    """
    if p < 0 or p >= s.shape[1] or (p != PASS and s[COLOUR, p] != EMPTY):
        return False, 0
    play_move(s, p, colour)
    key = history_key(s[SCALARS, HASH], s[SCALARS, TURN], ko_rule)
    return True, key if remember(table, key) else 0


@kernel(keeps_gil=True)
def replay(s: IntArray, colours: IntArray, points: IntArray) -> int:
    """Play moves in order until one whose point is not empty; return how many were played."""
    for i in range(points.shape[0]):
        p = points[i]
        if p < 0 or p >= s.shape[1] or (p != PASS and s[COLOUR, p] != EMPTY):
            return i
        play_move(s, p, colours[i])
    return points.shape[0]


ALLOWED, TAKEN, REPEATED, KO_RETAKEN, SUICIDAL = 0, 1, 2, 3, 4


@kernel(keeps_gil=True)
def verdict(s: IntArray, table: IntArray, ko_rule: int, p: int, colour: int) -> int:
    """Return ALLOWED if `colour` may play `p`, else the reason why not."""
    if is_allowed(s, table, ko_rule, p, colour):
        return ALLOWED
    if s[COLOUR, p] != EMPTY:
        return TAKEN
    if is_legal(s, p, colour):
        return REPEATED
    return KO_RETAKEN if p == s[SCALARS, KO] else SUICIDAL


# ----- Queries -----


@kernel(keeps_gil=True)
def block_liberties(s: IntArray, p: int, out: IntArray) -> int:
    """Write the liberties of the block at `p` to `out` (room for N), return how many there are."""
    width = s[SCALARS, COLS] + 1
    count = 0
    x = p
    while True:
        for k in range(4):
            q = near(x, k, width)
            if s[COLOUR, q] == EMPTY:
                known = False
                for i in range(count):
                    if out[i] == q:
                        known = True
                        break
                if not known:
                    out[count] = q
                    count += 1
        x = s[NEXT, x]
        if x == p:
            return count


@kernel(keeps_gil=True)
def to_grid(s: IntArray, out: Int8Array) -> None:
    """Write the stones, row by row from the top left, to `out` (rows * columns)."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    for row in range(rows):
        for col in range(cols):
            out[row * cols + col] = s[COLOUR, point_of(row, col, cols)]


@kernel
def fill_area(s: IntArray, start: int, known: BoolArray, area: IntArray) -> tuple[int, int]:
    """List the empty area of a point in `area` and mark it in `known`; return size and colours.

    The colours that touch it are bits: 1 for Black, 2 for White.
    """
    width = s[SCALARS, COLS] + 1
    known[start] = True
    area[0] = start
    size, touches, i = 1, 0, 0
    while i < size:
        for k in range(4):
            q = near(area[i], k, width)
            d = s[COLOUR, q]
            if d == EMPTY:
                if not known[q]:
                    known[q] = True
                    area[size] = q
                    size += 1
            elif d != BORDER:
                touches |= d
        i += 1
    return size, touches


@kernel(makes_arrays=True, keeps_gil=True)
def area_score(s: IntArray) -> int:
    """Return Black's area minus White's by Tromp-Taylor, komi not included."""
    n = s.shape[1]
    known, area = np.zeros(n, np.bool_), np.empty(n, np.int64)
    score = 0
    for p in range(n):
        c = s[COLOUR, p]
        size = 1
        if c == EMPTY and not known[p]:
            size, c = fill_area(s, p, known, area)
        if c == BLACK:
            score += size
        elif c == WHITE:
            score -= size
    return score


# ----- Connected sets of points -----


@kernel
def number_alike(
    kind: Int8Array, width: int, number: IntArray | Int32Array, stack: IntArray | Int32Array
) -> int:
    """Number the connected sets of points of one kind by first point; return how many there are.

    Points of a negative kind, including the border, get -1. `stack` has room for every point.
    """
    number[:] = -1
    count = 0
    for start in range(kind.shape[0]):
        if kind[start] < 0 or number[start] >= 0:
            continue
        number[start] = count
        stack[0] = start
        top = 1
        while top > 0:
            top -= 1
            p = stack[top]
            for q in (p + 1, p - 1, p + width, p - width):
                if kind[q] == kind[start] and number[q] < 0:
                    number[q] = count
                    stack[top] = q
                    top += 1
        count += 1
    return count


# ----- Many boards, for `BatchBoard` -----


@kernel
def batch_masks(states: IntArray, tables: IntArray, ko_rule: int, out: BoolArray) -> None:
    """Fill `out[g]` with the legal moves of every game's side to move."""
    for g in range(states.shape[0]):
        s = states[g]
        allowed_mask(s, tables[g], ko_rule, s[SCALARS, TURN], out[g])


@kernel
def batch_play(
    states: IntArray, tables: IntArray, ko_rule: int, indices: IntArray, refused: BoolArray
) -> None:
    """Play one row-major index per game (-1: leave the game alone); mark refused moves."""
    for g in range(states.shape[0]):
        s = states[g]
        index = indices[g]
        refused[g] = False
        if index >= 0:
            cols = s[SCALARS, COLS]
            p = PASS
            if index < s[SCALARS, ROWS] * cols:
                p = point_at(index, cols)
            colour = s[SCALARS, TURN]
            if is_allowed(s, tables[g], ko_rule, p, colour):
                play_move(s, p, colour)
                remember(tables[g], history_key(s[SCALARS, HASH], s[SCALARS, TURN], ko_rule))
            else:
                refused[g] = True


@kernel
def batch_scores(states: IntArray, out: IntArray) -> None:
    """Fill `out` with every game's Tromp-Taylor area difference, komi not included."""
    for g in range(states.shape[0]):
        out[g] = area_score(states[g])


# ----- Whole collections of games -----


TRUSTED = -1  # in place of a ko rule: play every move whose point is empty


@kernel(makes_arrays=True)
def replay_games(
    games: Arrays, ko_rule: int, share: float, ends: IntArray, grids: Int8Array
) -> int:
    """Play `share` of every game's moves and return how many moves were played.

    `games` has their moves, colours, offsets, rows and columns, and the same three of the setup.
    ends[g] becomes the number of the first refused move (from 0; -1 for none), where the game
    ends, and the stones captured by Black and by White. `grids`, unless empty, gets last positions.
    """
    moves, colours, offsets, rows, cols, setup, setup_colours, setup_offsets = games
    s = np.empty((FIELDS, 0), np.int64)
    table = np.zeros(2, np.int64)
    superko = ko_rule > KO_SIMPLE
    played = 0
    for g in range(offsets.shape[0] - 1):
        if s.shape[1] != (rows[g] + 2) * (cols[g] + 1) + 1:
            s = new_state(np.int64(rows[g]), np.int64(cols[g]))
        clear(s, np.int64(rows[g]), np.int64(cols[g]))
        length = np.int64((offsets[g + 1] - offsets[g]) * share)
        if superko:
            size = 2
            while size < 2 * length + 4:
                size *= 2
            if table.shape[0] < size:
                table = np.zeros(size, np.int64)
            table[:] = 0
        for i in range(setup_offsets[g], setup_offsets[g + 1]):
            place(s, np.int64(setup[i]), np.int64(setup_colours[i]))
        refused = -1
        if superko:
            remember(table, history_key(s[SCALARS, HASH], s[SCALARS, TURN], ko_rule))
        for i in range(offsets[g], offsets[g] + length):
            p, colour = np.int64(moves[i]), np.int64(colours[i])
            bad = p < 0 or p >= s.shape[1] or (p != PASS and s[COLOUR, p] != EMPTY)
            if bad and ko_rule == TRUSTED:
                continue
            if bad or (ko_rule != TRUSTED and not is_allowed(s, table, ko_rule, p, colour)):
                refused = i - offsets[g]
                break
            play_move(s, p, colour)
            if superko:
                remember(table, history_key(s[SCALARS, HASH], s[SCALARS, TURN], ko_rule))
            played += 1
        ends[g, 0] = refused
        ends[g, 1] = s[SCALARS, PRISONERS_B]
        ends[g, 2] = s[SCALARS, PRISONERS_W]
        if grids.shape[0] > 0:
            for r in range(rows[g]):
                for c in range(cols[g]):
                    grids[g, r, c] = s[COLOUR, point_of(r, c, cols[g])]
    return played


# ----- Random numbers -----
#
# A generator is an array of one uint64 word, advanced by splitmix64. A stream is given by (seed,
# index), so that work item `index` draws the same numbers whichever worker runs it.


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)


@kernel
def mix(z: int) -> int:
    """Scramble a 64-bit word so that neighbouring words become unrelated."""
    z = np.uint64(z)
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    return z ^ (z >> np.uint64(31))


@kernel
def seed_stream(rng: UInt64Array, seed: int, index: int) -> None:
    """Put the generator at the start of stream `index` of `seed`."""
    rng[0] = mix(np.uint64(seed) + _GOLDEN) ^ mix(mix(np.uint64(index)) + _GOLDEN)


@kernel
def _next_word(rng: UInt64Array) -> int:
    """Return 64 random bits."""
    rng[0] += _GOLDEN
    return mix(rng[0])


@kernel
def below(rng: UInt64Array, n: int) -> int:
    """Return a random integer from 0 to n - 1 (n < 2**31)."""
    return np.int64(((_next_word(rng) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@kernel
def uniform(rng: UInt64Array) -> float:
    """Return a random float in [0, 1)."""
    return np.float64(_next_word(rng) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
