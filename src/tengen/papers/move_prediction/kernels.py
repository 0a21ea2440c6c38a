"""Hash patterns of stones, match them, rank candidate moves, learn the re-ranker, replay games.

A template is a set of offsets around a centre. Templates are nested and grow in rings of the
distance d = |dr| + |dc| + max(|dr|, |dc|), so one stone changes one ring of each centre, and the
hash of template t is the xor of rings 0 to t. The centre is not hashed, and empty points have key
0. The last template is the whole board.

`rings` has shape (2, rows * cols, RINGS, 8): side to move minus one, centre (row-major), ring,
orientation. Colours are relative to the side to move: own stones, enemy stones, points off the
board. The canonical hash of a pattern is the minimum over its eight orientations.

Patterns are numbered from 1 as in the dictionary; 0 means "no known pattern". A candidate has ten
features: its pattern, its point, and for each of the last four moves the pattern it was played on
and its offset from the candidate.

`tables` is a tuple: rings of the empty board, hash keys by offset, colour and orientation, rings of
offsets, templates, the dictionary's keys and values, and its sieve (see `_match`). `games` is a
tuple: points, colours and offsets of all moves, and the numbers of the games to replay. A
*follower* is a tuple of arrays: the state of a replay with the largest known pattern at every
point.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from tengen.arrays import Arrays, FloatArray, Int8Array, Int16Array, Int32Array, IntArray
from tengen.board.kernels import (
    clear,
    give_turn,
    index_of,
    is_legal,
    new_state,
    play_move,
    point_at,
    point_of,
)
from tengen.board.layout_kernels import BORDER, COLOUR, COLS, EMPTY, ROWS, SCALARS, TURN
from tengen.jit import kernel

REACH = 24  # the farthest offset in a row or column: boards have at most 25 lines
SPAN = 2 * REACH + 1
ORIENTATIONS = 8
# Ring r reaches to distance RING_LIMITS[r]; the last ring holds everything else.
RING_LIMITS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 1000)
RINGS = 12
_OWN, _ENEMY = 0, 1

SIEVE_SHIFT = 24  # the sieve uses other bits of a key than the hash table
PLACES = 325  # classes of points under symmetry, for boards up to 49 lines; 19x19 has 55
OFFSETS = 326  # classes of offsets up to 24 lines, and one for "none"
PLIES_PER_PHASE = 30
EARLIER = 4  # earlier moves that are features
WIDTH = 2 + 2 * EARLIER

# Rows of a matching, per side to move and point: the largest known pattern; how many sizes of
# patterns are known; the ring up to which a change matters; the smallest ring that has changed
# since the last update (RINGS: none).
_FOUND, _DEPTH, _LEVEL, _CHANGED = 0, 1, 2, 3


@kernel
def _row_col(p: int, cols: int) -> tuple[int, int]:
    """Return (row, column) of a point."""
    return p // (cols + 1) - 1, p % (cols + 1) - 1


# ----- Hashes -----


@kernel
def salt(ring: int) -> int:
    """Return the salt of a template's keys; never change it, because model files contain keys."""
    z = np.uint64(ring + 181) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64(z ^ (z >> np.uint64(27)))


@kernel
def toggle_stone(
    rings: IntArray, keys: IntArray, ring_of: IntArray, rows: int, cols: int, p: int, colour: int
) -> None:
    """Xor the stone of `colour` at point `p` into, or out of, the rings of every centre."""
    row, col = _row_col(p, cols)
    mine, other = colour - 1, 2 - colour
    for r in range(rows):
        base = (row - r + REACH) * SPAN + col + REACH
        for c in range(cols):
            k = base - c
            ring = ring_of[k]
            if ring >= 0:
                i = r * cols + c
                for o in range(ORIENTATIONS):
                    rings[mine, i, ring, o] ^= keys[k, _OWN, o]
                    rings[other, i, ring, o] ^= keys[k, _ENEMY, o]


@kernel
def rings_of_state(
    s: IntArray, rings: IntArray, empty: IntArray, keys: IntArray, ring_of: IntArray
) -> None:
    """Compute `rings` of a position from scratch; `empty` are those of the empty board."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    for side in range(2):
        for i in range(rows * cols):
            for ring in range(RINGS):
                for o in range(ORIENTATIONS):
                    rings[side, i, ring, o] = empty[side, i, ring, o]
    for p in range(s.shape[1]):
        colour = s[COLOUR, p]
        if colour != EMPTY and colour != BORDER:
            toggle_stone(rings, keys, ring_of, rows, cols, p, colour)


@kernel
def takes_turn(s: IntArray, p: int, colour: int) -> bool:
    """Give `colour` the turn; return whether `p` is legal (a pass always is)."""
    give_turn(s, colour)
    return p <= 0 or is_legal(s, p, colour)


@kernel
def play_with_rings(
    s: IntArray, rings: IntArray, keys: IntArray, ring_of: IntArray, before: IntArray, p: int,
    colour: int,
) -> None:  # fmt: skip
    """Play a legal move or a pass and update the rings; `before` gets the colours before it."""
    if p <= 0:
        play_move(s, p, colour)
        return
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    n = s.shape[1]
    for q in range(n):
        before[q] = s[COLOUR, q]
    captured = play_move(s, p, colour)
    if captured == 0 and s[COLOUR, p] != EMPTY:
        toggle_stone(rings, keys, ring_of, rows, cols, p, colour)
        return
    # Stones left the board, by capture or by suicide.
    for q in range(n):
        old, new = before[q], s[COLOUR, q]
        if old != new:
            if old != EMPTY:
                toggle_stone(rings, keys, ring_of, rows, cols, q, old)
            if new != EMPTY:
                toggle_stone(rings, keys, ring_of, rows, cols, q, new)


@kernel
def _folded(dr: int, dc: int) -> int:
    """Return the class of an offset regardless of signs and order."""
    a, b = abs(dr), abs(dc)
    if a < b:
        a, b = b, a
    return a * (a + 1) // 2 + b


@kernel
def _octant(row: int, col: int, rows: int, cols: int) -> int:
    """Return the class of a point under the eight symmetries."""
    return _folded(min(row, rows - 1 - row), min(col, cols - 1 - col))


@kernel
def _pattern_key(acc: IntArray, ring: int) -> int:
    """Return the dictionary key of eight hashes for a template that ends with `ring`."""
    key = acc[0]
    for o in range(1, ORIENTATIONS):
        if acc[o] < key:
            key = acc[o]
    key ^= salt(ring)
    return key if key != 0 else 1


@kernel(makes_arrays=True)
def expert_patterns(
    games: tuple[Int16Array, Int8Array, IntArray, IntArray], rows: int, cols: int, empty: IntArray,
    hash_keys: IntArray, ring_of: IntArray, templates: IntArray, out: IntArray,
) -> int:  # fmt: skip
    """Write the keys of all templates at every move of the games; return the number of moves."""
    points, colours, offsets, which = games
    s = new_state(rows, cols)
    rings = np.empty_like(empty)
    before = np.zeros(s.shape[1], np.int64)
    acc = np.zeros(ORIENTATIONS, np.int64)
    n = 0
    for g in which:
        clear(s, rows, cols)
        rings_of_state(s, rings, empty, hash_keys, ring_of)
        for k in range(offsets[g], offsets[g + 1]):
            p, colour = np.int64(points[k]), np.int64(colours[k])
            if not takes_turn(s, p, colour):
                break
            if p > 0:
                i = index_of(p, cols)
                for o in range(ORIENTATIONS):
                    acc[o] = 0
                ring = 0
                for t in range(templates.shape[0]):
                    while ring <= templates[t]:
                        for o in range(ORIENTATIONS):
                            acc[o] ^= rings[colour - 1, i, ring, o]
                        ring += 1
                    out[n, t] = _pattern_key(acc, ring - 1)
                n += 1
            play_with_rings(s, rings, hash_keys, ring_of, before, p, colour)
    return n


# ----- Matching -----


@kernel(makes_arrays=True)
def _new_matches(area: int, templates: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return a matching: rows _FOUND to _CHANGED, known patterns of all sizes, frequencies."""
    return (
        np.zeros((4, 2, area), np.int64),
        np.zeros((2, area, templates.shape[0] + 1), np.int64),
        np.zeros((2, area)),
    )


@kernel(makes_arrays=True)
def _match_side(
    rings: IntArray, side: int, tables: Arrays, frequency: FloatArray,
    matches: tuple[IntArray, IntArray, FloatArray],
) -> None:  # fmt: skip
    """Update the largest patterns and their frequencies for one side to move.

    Frequencies are copied next to the points because the whole list does not fit into the cache.
    """
    state, chain, likes = matches
    templates = tables[3]
    acc = np.zeros(ORIENTATIONS, np.int64)
    for i in range(likes.shape[1]):
        if state[_CHANGED, side, i] < RINGS:
            t = _match(rings, side, i, tables, acc, chain, state)
            state[_FOUND, side, i] = chain[side, i, t]
            state[_DEPTH, side, i] = t
            state[_LEVEL, side, i] = templates[min(t, templates.shape[0] - 1)]
            state[_CHANGED, side, i] = RINGS
            likes[side, i] = frequency[chain[side, i, t]]


@kernel
def _match(
    rings: IntArray, side: int, i: int, tables: Arrays, acc: IntArray, chain: IntArray,
    state: IntArray,
) -> int:  # fmt: skip
    """Update the known patterns at point `i` from the changed ring on; return their number.

    The sieve, which fits into the cache, rejects nearly all unknown patterns.
    """
    _empty, _hash_keys, _ring_of, templates, table, values, sieve = tables
    t = 0
    while t < state[_DEPTH, side, i] and templates[t] < state[_CHANGED, side, i]:
        t += 1
    for o in range(ORIENTATIONS):
        acc[o] = 0
    ring = 0
    while t < templates.shape[0]:
        while ring <= templates[t]:
            for o in range(ORIENTATIONS):
                acc[o] ^= rings[side, i, ring, o]
            ring += 1
        key = _pattern_key(acc, ring - 1)
        bit = (key >> SIEVE_SHIFT) & (64 * sieve.shape[0] - 1)
        if not sieve[bit >> 6] >> np.uint64(bit & 63) & np.uint64(1):
            break
        slot = _find_slot(table, key)
        if table[slot] != key:
            break
        t += 1
        chain[side, i, t] = values[slot]
    return t


@kernel
def _mark_changes(
    s: IntArray, before: IntArray, ring_of: IntArray, matches: tuple[IntArray, IntArray, FloatArray]
) -> None:
    """Record at every point the smallest ring that the last move changed, if it affects a match."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    state = matches[0]
    for q in range(s.shape[1]):
        if before[q] == s[COLOUR, q]:
            continue
        row, col = _row_col(q, cols)
        for r in range(rows):
            base = (row - r + REACH) * SPAN + col + REACH
            for c in range(cols):
                ring = ring_of[base - c]
                i = r * cols + c
                for side in range(2):
                    if ring <= state[_LEVEL, side, i]:
                        state[_CHANGED, side, i] = min(state[_CHANGED, side, i], ring)


# ----- Candidates -----


@kernel
def _candidate_features(
    n_patterns: int, pattern: int, p: int, earlier: IntArray, rows: int, cols: int, out: IntArray
) -> None:
    """Write the ten features of a candidate; see `_new_follower` for `earlier`."""
    row, col = _row_col(p, cols)
    out[0] = pattern
    base = n_patterns
    out[1] = base + _octant(row, col, rows, cols)
    base += PLACES
    for j in range(EARLIER):
        q = earlier[0, j]
        if q > 0:
            r, c = _row_col(q, cols)
            offset = _folded(r - row, c - col)
            out[2 + j] = base + j * n_patterns + earlier[1, j]
            out[2 + EARLIER + j] = base + EARLIER * n_patterns + j * OFFSETS + offset
        else:
            # No earlier move: no pattern, and the offset class "none".
            out[2 + j] = base + j * n_patterns
            out[2 + EARLIER + j] = base + EARLIER * n_patterns + j * OFFSETS + OFFSETS - 1


@kernel(makes_arrays=True)
def _rank_candidates(
    s: IntArray, mover: int, likes: FloatArray, earlier: IntArray, take: int, points: IntArray,
    order: IntArray, scores: FloatArray,
) -> int:  # fmt: skip
    """List the legal points with their scores, lower is better; return their number.

    order[:take] are the best by frequency, best first; the others follow row by row. Ties go to the
    point nearer to the last move, then nearer to the edge, then to the first.
    """
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    n = held = 0
    last = earlier[0]
    rest = np.empty(rows * cols, np.int64)
    for i in range(rows * cols):
        row, col = i // cols, i % cols
        p = point_of(row, col, cols)
        if s[COLOUR, p] != EMPTY or not is_legal(s, p, mover):
            continue
        near = 99
        if last > 0:
            r, c = _row_col(last, cols)
            a, b = abs(r - row), abs(c - col)
            near = a + b + max(a, b)
        tie = near * 400 + _octant(row, col, rows, cols)
        points[n] = p
        t = -likes[mover - 1, i] + 1e-13 * tie
        scores[n] = t
        if held < take:
            k = held
            held += 1
        elif take > 0 and t < scores[order[take - 1]]:
            rest[n - take] = order[take - 1]
            k = take - 1
        else:
            rest[n - take] = n
            k = -1
        if k >= 0:
            while k > 0 and scores[order[k - 1]] > t:
                order[k] = order[k - 1]
                k -= 1
            order[k] = n
        n += 1
    for m in range(held, n):
        order[m] = rest[m - held]
    return n


@kernel
def _ftrl_step(
    feats: IntArray, good: bool, memory: FloatArray, current: FloatArray, penalty: float,
    alpha: float,
) -> float:  # fmt: skip
    """Learn from one sample by FTRL-proximal with an L1 penalty; return its loss before the step.

    `memory` (features, 2) holds z and the sum of squared gradients; `current` is scratch space.
    """
    t = 0.0
    for k in range(WIDTH):
        current[k] = _ftrl_weight(memory[feats[k], 0], memory[feats[k], 1], penalty, alpha)
        t += current[k]
    probability = 1.0 / (1.0 + np.exp(-t))
    gradient = probability - (1.0 if good else 0.0)
    for k in range(WIDTH):
        f = feats[k]
        root = np.sqrt(memory[f, 1])
        memory[f, 1] += gradient * gradient
        memory[f, 0] += gradient - (np.sqrt(memory[f, 1]) - root) / alpha * current[k]
    return -np.log(max(probability if good else 1.0 - probability, 1e-300))


@kernel
def _ftrl_weight(z: float, squares: float, penalty: float, alpha: float) -> float:
    """Return the weight of one feature from its FTRL state."""
    if abs(z) <= penalty:
        return 0.0
    sign = 1.0 if z > 0 else -1.0
    return -(z - sign * penalty) / ((1.0 + np.sqrt(squares)) / alpha)


@kernel
def _score_candidates(
    s: IntArray, mover: int, matches: tuple[IntArray, IntArray, FloatArray], earlier: IntArray,
    weights: FloatArray, top: int, ties: bool,
    lists: tuple[IntArray, IntArray, IntArray, FloatArray], final: FloatArray,
) -> int:  # fmt: skip
    """Rank the legal points and re-rank the best `top` of them; return the number of points.

    final[m] belongs to the m-th entry of the order: the re-ranked get the logarithm of P(good), the
    others that of their frequency, shifted below. With `ties`, mirror images are all re-ranked or
    none: a policy must not depend on the orientation.
    """
    moves, order, feats, scores = lists
    state, _chain, likes = matches
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    n_patterns = (weights.shape[0] - PLACES - EARLIER * OFFSETS) // (1 + EARLIER)
    n = _rank_candidates(
        s, mover, likes, earlier[0], rows * cols if ties else top, moves, order, scores
    )
    take = min(top, n)
    while ties and 0 < take < n and scores[order[take]] == scores[order[take - 1]]:
        take += 1
    lowest, highest = 0.0, -np.inf
    for m in range(n):
        q = moves[order[m]]
        i = index_of(q, cols)
        if m < take:
            found = state[_FOUND, mover - 1, i]
            _candidate_features(n_patterns, found, q, earlier, rows, cols, feats)
            score = 0.0
            for f in feats:
                score += weights[f]
            # log(1 / (1 + exp(-score))) without overflow.
            final[m] = min(score, 0.0) - np.log1p(np.exp(-abs(score)))
            lowest = min(lowest, final[m])
        else:
            final[m] = np.log(likes[mover - 1, i])
            highest = max(highest, final[m])
    if take > 0 and highest >= lowest - 1e-3:
        for m in range(take, n):
            final[m] += lowest - 1e-3 - highest
    return n


@kernel(makes_arrays=True)
def _new_lists(area: int) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Allocate the candidate arrays: points, order, features of one candidate, scores."""
    return (
        np.zeros(area, np.int64),
        np.zeros(area, np.int64),
        np.zeros(WIDTH, np.int64),
        np.zeros(area),
    )


@kernel
def _credit(final: FloatArray, n: int, target: int, tops: IntArray, hits: FloatArray) -> float:
    """Add the credit of one move, shared among ties; return -log of its normalised score."""
    better = equal = 0
    total = 0.0
    for m in range(n):
        total += np.exp(final[m])
        if final[m] > final[target]:
            better += 1
        elif final[m] == final[target]:
            equal += 1
    for k in range(tops.shape[0]):
        room = tops[k] - better
        if room >= equal:
            hits[k] += 1.0
        elif room > 0:
            hits[k] += room / equal
    return np.log(total) - final[target]


# ----- One position -----


@kernel(makes_arrays=True)
def pattern_at(s: IntArray, mover: int, p: int, tables: Arrays) -> int:
    """Return the largest known pattern at one point of a position for the side `mover`."""
    cols = s[SCALARS, COLS]
    rings = np.empty_like(tables[0])
    rings_of_state(s, rings, tables[0], tables[1], tables[2])
    i = index_of(p, cols)
    state, chain, _likes = _new_matches(rings.shape[1], tables[3])
    acc = np.zeros(ORIENTATIONS, np.int64)
    t = _match(rings, mover - 1, i, tables, acc, chain, state)
    return chain[mover - 1, i, t]


@kernel(makes_arrays=True)
def score_board(
    s: IntArray, earlier: IntArray, tables: Arrays, frequency: FloatArray, weights: FloatArray,
    top: int, points: IntArray, final: FloatArray,
) -> int:  # fmt: skip
    """Write the legal points and their final scores; return their number."""
    mover = s[SCALARS, TURN]
    rings = np.empty_like(tables[0])
    rings_of_state(s, rings, tables[0], tables[1], tables[2])
    matches, lists = _new_matches(rings.shape[1], tables[3]), _new_lists(rings.shape[1])
    _match_side(rings, mover - 1, tables, frequency, matches)
    n = _score_candidates(s, mover, matches, earlier, weights, top, np.bool_(True), lists, final)
    for m in range(n):
        points[m] = lists[0][lists[1][m]]
    return n


# ----- Following games -----


@kernel(makes_arrays=True)
def _new_follower(
    rows: int, cols: int, tables: Arrays
) -> tuple[IntArray, IntArray, Arrays, IntArray, IntArray]:
    """Return (position, rings, matches, colours before the last move, earlier moves).

    The earlier moves, latest first, have two rows: points (<= 0 for none) and their patterns.
    """
    s = new_state(rows, cols)
    matches = _new_matches(rows * cols, tables[3])
    before = np.zeros(s.shape[1], np.int64)
    return s, np.empty_like(tables[0]), matches, before, np.zeros((2, EARLIER), np.int64)


@kernel
def _begin_game(
    follower: tuple[IntArray, IntArray, tuple[IntArray, IntArray, FloatArray], IntArray, IntArray],
    tables: Arrays,
) -> None:  # fmt: skip
    """Reset the follower to the empty board."""
    s, rings, matches, _before, earlier = follower
    clear(s, s[SCALARS, ROWS], s[SCALARS, COLS])
    rings_of_state(s, rings, tables[0], tables[1], tables[2])
    for side in range(2):
        for i in range(rings.shape[1]):
            matches[0][_CHANGED, side, i] = 0
    for j in range(EARLIER):
        earlier[0, j], earlier[1, j] = -1, 0


@kernel
def _pattern_of(
    follower: tuple[IntArray, IntArray, tuple[IntArray, IntArray, FloatArray], IntArray, IntArray],
    p: int, colour: int,
) -> int:  # fmt: skip
    """Return the largest pattern at a point for one side as last updated; 0 for a pass."""
    if p <= 0:
        return 0
    cols = follower[0][SCALARS, COLS]
    i = index_of(p, cols)
    return follower[2][0][_FOUND, colour - 1, i]


@kernel
def _make_move(
    follower: tuple[IntArray, IntArray, tuple[IntArray, IntArray, FloatArray], IntArray, IntArray],
    tables: Arrays, p: int, colour: int,
) -> None:  # fmt: skip
    """Play a move or a pass and add it to the history; its pattern must be up to date."""
    s, rings, matches, before, earlier = follower
    pattern = _pattern_of(follower, p, colour)
    play_with_rings(s, rings, tables[1], tables[2], before, p, colour)
    if p > 0:
        _mark_changes(s, before, tables[2], matches)
    for j in range(EARLIER - 1, 0, -1):
        earlier[0, j], earlier[1, j] = earlier[0, j - 1], earlier[1, j - 1]
    earlier[0, 0], earlier[1, 0] = p, pattern


@kernel
def _add_waiting(
    side: int, matches: tuple[IntArray, IntArray, FloatArray], all_points: bool, waiting: IntArray,
    unused: IntArray,
) -> None:  # fmt: skip
    """Add the pending counts of changed points, or of all points, to their patterns' counters."""
    state = matches[0]
    for i in range(waiting.shape[1]):
        if waiting[side, i] > 0 and (all_points or state[_CHANGED, side, i] < RINGS):
            unused[state[_FOUND, side, i]] += waiting[side, i]
            waiting[side, i] = 0


@kernel
def _place_of(p: int, moves: IntArray, order: IntArray) -> int:
    """Return the index of the legal move `p` in the order."""
    target = 0
    while moves[order[target]] != p:
        target += 1
    return target


@kernel(makes_arrays=True)
def count_games(
    games: tuple[Int16Array, Int8Array, IntArray, IntArray], rows: int, cols: int, tables: Arrays,
    frequency: FloatArray, used: IntArray, unused: IntArray,
) -> None:  # fmt: skip
    """Count how often the largest patterns of all legal points were played and not played."""
    points, colours, offsets, which = games
    follower = _new_follower(rows, cols, tables)
    s, rings, matches = follower[0], follower[1], follower[2]
    # Counts of unused patterns wait at their points and are added when the pattern changes: that
    # saves most accesses to the long list of counters.
    waiting = np.zeros((2, rows * cols), np.int64)
    for g in which:
        _begin_game(follower, tables)
        for k in range(offsets[g], offsets[g + 1]):
            p, colour = np.int64(points[k]), np.int64(colours[k])
            if not takes_turn(s, p, colour):
                break
            if p > 0:
                _add_waiting(colour - 1, matches, False, waiting, unused)
                _match_side(rings, colour - 1, tables, frequency, matches)
                for m in range(rows * cols):
                    q = point_at(m, cols)
                    if q == p:
                        used[matches[0][_FOUND, colour - 1, m]] += 1
                    elif s[COLOUR, q] == EMPTY and is_legal(s, q, colour):
                        waiting[colour - 1, m] += 1
            _make_move(follower, tables, p, colour)
        _add_waiting(0, matches, True, waiting, unused)
        _add_waiting(1, matches, True, waiting, unused)


@kernel(makes_arrays=True)
def rank_games(
    games: tuple[Int16Array, Int8Array, IntArray, IntArray], rows: int, cols: int, tables: Arrays,
    frequency: FloatArray, top: int, weights: FloatArray, learning: tuple[FloatArray, float, float],
    samples: IntArray, credit: tuple[IntArray, FloatArray, FloatArray],
) -> float:  # fmt: skip
    """Replay games for the re-ranker: measure its accuracy, train it, or store its samples.

    If `hits` has rows, the credit of every move is added to `hits` and `counts` by phase; returns
    the loss. Else if `samples` has rows (label, then WIDTH features), the `top` candidates and the
    move are stored; returns their number. Else FTRL-proximal trains on them with state `memory`;
    returns the sum of losses.
    """
    points, colours, offsets, which = games
    memory, penalty, alpha = learning
    tops, hits, counts = credit
    follower = _new_follower(rows, cols, tables)
    s, rings, matches, _before, earlier = follower
    lists = _new_lists(rows * cols)
    moves, order, feats, scores = lists
    final, current = np.zeros(rows * cols), np.zeros(WIDTH)
    total = 0.0
    written = 0
    for g in which:
        _begin_game(follower, tables)
        for k in range(offsets[g], offsets[g + 1]):
            p, colour = np.int64(points[k]), np.int64(colours[k])
            if not takes_turn(s, p, colour):
                break
            if p > 0:
                _match_side(rings, colour - 1, tables, frequency, matches)
                if hits.shape[0] > 0:
                    n = _score_candidates(
                        s, colour, matches, earlier, weights, top, np.bool_(False), lists, final
                    )
                    phase = min((k - offsets[g]) // PLIES_PER_PHASE, counts.shape[0] - 1)
                    target = _place_of(p, moves, order)
                    total += _credit(final, n, target, tops, hits[phase])
                    counts[phase] += 1
                else:
                    n = _rank_candidates(
                        s, colour, matches[2], earlier[0], top, moves, order, scores
                    )
                    take, target = min(top, n), _place_of(p, moves, order)
                    for m in range(take + (1 if target >= take else 0)):
                        q = moves[order[m if m < take else target]]
                        pattern = _pattern_of(follower, q, colour)
                        _candidate_features(
                            frequency.shape[0], pattern, q, earlier, rows, cols, feats
                        )
                        if samples.shape[0] == 0:
                            total += _ftrl_step(feats, q == p, memory, current, penalty, alpha)
                        else:
                            samples[written, 0] = q == p
                            for f in range(WIDTH):
                                samples[written, 1 + f] = feats[f]
                            written += 1
            _make_move(follower, tables, p, colour)
    return total + written


# ----- Hash tables: open addressing, key 0 marks a free slot, the length is a power of two -----


@kernel
def _find_slot(table: IntArray, key: int) -> int:
    """Return the slot of `key` (not 0), or the free slot where it belongs."""
    mask = table.shape[0] - 1
    h = key ^ (key >> 32)
    i = (h ^ (h >> 15)) & mask
    while table[i] != 0 and table[i] != key:
        i = (i + 1) & mask
    return i


@kernel
def store_all(table: IntArray, values: Int32Array, keys: IntArray, numbers: Int32Array) -> None:
    """Store distinct keys (not 0) with their numbers."""
    for j in range(keys.shape[0]):
        i = _find_slot(table, keys[j])
        table[i] = keys[j]
        values[i] = numbers[j]
