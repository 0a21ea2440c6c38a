"""Hash the pattern of stones around every point, incrementally as moves are played.

A template is a set of offsets around a centre. Templates are nested and grow in rings of the
distance d = |dr| + |dc| + max(|dr|, |dc|). Ring r holds the offsets of template r that template
r - 1 does not have, so one stone changes one ring of each centre, and the hash of template t is the
xor of rings 0 to t. The centre itself is not hashed, and empty points have key 0. The last template
is the whole board.

`rings` has shape (2, rows * cols, RINGS, 8): side to move minus one, centre (row-major), ring,
orientation. Colours are relative to the side to move: own stones, enemy stones, points off the
board. The canonical hash of a pattern is the minimum over its eight orientations. Rotating or
mirroring the board does not change it, nor does swapping the colours together with the side to
move.

`keys` has shape (SPAN * SPAN, 3, 8): offset, (own, enemy, border), orientation.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from tengen.board.kernels import is_legal, play_move
from tengen.board.layout_kernels import BORDER, COLOUR, COLS, EMPTY, ROWS, SCALARS, TURN
from tengen.jit import hot_kernel, inner_kernel, kernel

REACH = 24  # the farthest offset in a row or column: boards have at most 25 lines
SPAN = 2 * REACH + 1
ORIENTATIONS = 8
# Ring r reaches to distance RING_LIMITS[r]; the last ring holds everything else.
RING_LIMITS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 1000)
RINGS = 12
OWN, _ENEMY, _OUTSIDE = 0, 1, 2


@hot_kernel
def salt(ring):
    """Return the word that separates the keys of templates ending with different rings.

    Model files contain salted keys, so it never changes.
    """
    z = np.uint64(ring + 181) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64(z ^ (z >> np.uint64(27)))


@inner_kernel
def distance(dr, dc):
    """Return |dr| + |dc| + max(|dr|, |dc|)."""
    a, b = abs(dr), abs(dc)
    return a + b + max(a, b)


@inner_kernel
def offset_index(dr, dc):
    """Return the index of an offset (rows down, columns right) in the tables."""
    return (dr + REACH) * SPAN + dc + REACH


@inner_kernel
def _turn_row(o, dr, dc):
    """Return the row of an offset after orientation `o`."""
    x = dc if o & 4 else dr
    return -x if o & 1 else x


@inner_kernel
def _turn_col(o, dr, dc):
    """Return the column of an offset after orientation `o`."""
    x = dr if o & 4 else dc
    return -x if o & 2 else x


@kernel
def spread_keys(base):
    """Return the key table for all orientations; `base` has shape (SPAN * SPAN, 3)."""
    keys = np.zeros((SPAN * SPAN, 3, ORIENTATIONS), np.int64)
    for dr in range(-REACH, REACH + 1):
        for dc in range(-REACH, REACH + 1):
            for o in range(ORIENTATIONS):
                seen = offset_index(_turn_row(o, dr, dc), _turn_col(o, dr, dc))
                for k in range(3):
                    keys[offset_index(dr, dc), k, o] = base[seen, k]
    return keys


@kernel
def ring_table(limits):
    """Return the ring of every offset, -1 for the centre."""
    ring_of = np.full(SPAN * SPAN, -1, np.int64)
    for dr in range(-REACH, REACH + 1):
        for dc in range(-REACH, REACH + 1):
            if dr == 0 and dc == 0:
                continue
            r = 0
            while distance(dr, dc) > limits[r]:
                r += 1
            ring_of[offset_index(dr, dc)] = r
    return ring_of


@kernel
def empty_rings(rows, cols, keys, ring_of):
    """Return the rings of the empty board of this size, where only the border is hashed."""
    rings = np.zeros((2, rows * cols, RINGS, ORIENTATIONS), np.int64)
    for r in range(rows):
        for c in range(cols):
            for dr in range(-REACH, REACH + 1):
                for dc in range(-REACH, REACH + 1):
                    if 0 <= r + dr < rows and 0 <= c + dc < cols:
                        continue
                    k = offset_index(dr, dc)
                    for o in range(ORIENTATIONS):
                        rings[0, r * cols + c, ring_of[k], o] ^= keys[k, _OUTSIDE, o]
    rings[1] = rings[0]
    return rings


@kernel
def toggle_stone(rings, keys, ring_of, rows, cols, p, colour):
    """Xor the stone of `colour` at point `p` into, or out of, the rings of every centre."""
    row = p // (cols + 1) - 1
    col = p % (cols + 1) - 1
    mine, other = colour - 1, 2 - colour
    for r in range(rows):
        base = (row - r + REACH) * SPAN + col + REACH
        for c in range(cols):
            k = base - c
            ring = ring_of[k]
            if ring >= 0:
                i = r * cols + c
                for o in range(ORIENTATIONS):
                    rings[mine, i, ring, o] ^= keys[k, OWN, o]
                    rings[other, i, ring, o] ^= keys[k, _ENEMY, o]


@kernel
def rings_of_state(s, rings, empty, keys, ring_of):
    """Compute `rings` of a position from scratch; `empty` are those of the empty board."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    rings[:] = empty
    for p in range(s.shape[1]):
        colour = s[COLOUR, p]
        if colour != EMPTY and colour != BORDER:
            toggle_stone(rings, keys, ring_of, rows, cols, p, colour)


@inner_kernel
def takes_turn(s, p, colour):
    """Give `colour` the turn; return whether `p` is legal (a pass always is)."""
    s[SCALARS, TURN] = colour
    return p <= 0 or is_legal(s, p, colour)


@kernel
def play_with_rings(s, rings, keys, ring_of, before, p, colour):
    """Play a legal move or a pass and update the rings; return the stones captured.

    `before` is scratch space: one int64 per point of the bordered board.
    """
    if p <= 0:
        return play_move(s, p, colour)
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    n = s.shape[1]
    for q in range(n):
        before[q] = s[COLOUR, q]
    captured = play_move(s, p, colour)
    if captured == 0 and s[COLOUR, p] != EMPTY:
        toggle_stone(rings, keys, ring_of, rows, cols, p, colour)
        return captured
    # Stones left the board, by capture or by suicide.
    for q in range(n):
        old, new = before[q], s[COLOUR, q]
        if old != new:
            if old != EMPTY:
                toggle_stone(rings, keys, ring_of, rows, cols, q, old)
            if new != EMPTY:
                toggle_stone(rings, keys, ring_of, rows, cols, q, new)
    return captured


@inner_kernel
def canonical(acc):
    """Return the smallest of the eight hashes."""
    best = acc[0]
    for o in range(1, ORIENTATIONS):
        if acc[o] < best:
            best = acc[o]
    return best


# ----- Hash tables: open addressing, key 0 marks a free slot, the length is a power of two -----


@inner_kernel
def _find_slot(table, key):
    """Return the slot of `key` (not 0), or the free slot where it belongs."""
    mask = table.shape[0] - 1
    h = key ^ (key >> 32)
    i = (h ^ (h >> 15)) & mask
    while table[i] != 0 and table[i] != key:
        i = (i + 1) & mask
    return i


@inner_kernel
def lookup(table, values, key):
    """Return the number stored for `key`, or -1."""
    mask = table.shape[0] - 1
    h = key ^ (key >> 32)
    i = (h ^ (h >> 15)) & mask
    while True:
        k = table[i]
        if k == key:
            return values[i]
        if k == 0:
            return -1
        i = (i + 1) & mask


@kernel
def store_all(table, values, keys, numbers):
    """Store distinct keys (not 0) with their numbers."""
    for j in range(keys.shape[0]):
        i = _find_slot(table, keys[j])
        table[i] = keys[j]
        values[i] = numbers[j]


@kernel
def add_counts(table, counts, used, keys, amounts):
    """Add amounts to the counts of keys until the table is 60 % full; return how many were added.

    `used` (one entry) is the number of distinct keys. The caller enlarges the table and continues.
    """
    limit = table.shape[0] * 6 // 10
    for j in range(keys.shape[0]):
        if keys[j] == 0:
            continue
        i = _find_slot(table, keys[j])
        if table[i] == 0:
            if used[0] >= limit:
                return j
            table[i] = keys[j]
            used[0] += 1
        counts[i] += amounts[j]
    return keys.shape[0]
