"""Match patterns, rank candidate moves, learn the re-ranker, and replay games for all of these.

Patterns are numbered from 1 as in the dictionary; 0 means "no known pattern". The largest known
pattern at a point is looked up again only where a change on the board can alter it: a stone outside
the next larger template changes nothing.

A candidate has ten features: its pattern, its point, and for each of the last four moves the
pattern it was played on and its offset from the candidate.

`tables` is a tuple: rings of the empty board, hash keys, rings of offsets, templates, the
dictionary's keys and values, and its sieve (see `_match`). A *follower* is a tuple of arrays that
replays one game after the other and tracks the largest known pattern at every point.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from tengen.board.kernels import clear, is_legal, new_state
from tengen.board.layout_kernels import COLOUR, COLS, EMPTY, ROWS, SCALARS, TURN
from tengen.jit import inner_kernel, kernel
from tengen.learners.move_prediction.pattern_kernels import (
    ORIENTATIONS,
    REACH,
    RINGS,
    SPAN,
    canonical,
    distance,
    lookup,
    play_with_rings,
    rings_of_state,
    salt,
    takes_turn,
)

_SIEVE_SHIFT = 24  # the sieve uses other bits of a key than the hash table
_PLACES = 325  # classes of points under symmetry, for boards up to 49 lines; 19x19 has 55
_OFFSETS = 326  # classes of offsets up to 24 lines, and one for "none"
_PLIES_PER_PHASE = 30
EARLIER = 4  # earlier moves that are features
WIDTH = 2 + 2 * EARLIER


# ----- Patterns -----


@inner_kernel
def _folded(dr, dc):
    """Return the class of an offset regardless of signs and order."""
    a, b = abs(dr), abs(dc)
    if a < b:
        a, b = b, a
    return a * (a + 1) // 2 + b


@inner_kernel
def _octant(row, col, rows, cols):
    """Return the class of a point under the eight symmetries."""
    return _folded(min(row, rows - 1 - row), min(col, cols - 1 - col))


@inner_kernel
def _pattern_key(acc, ring):
    """Return the dictionary key of eight hashes for a template that ends with `ring`."""
    key = canonical(acc) ^ salt(ring)
    return key if key != 0 else 1


@kernel
def expert_patterns(
    points, colours, offsets, games, rows, cols, empty, hash_keys, ring_of, templates, out
):
    """Write the keys of all templates at every move of the games; return the number of moves."""
    s = new_state(rows, cols)
    rings = empty.copy()
    before = np.zeros(s.shape[1], np.int64)
    acc = np.zeros(ORIENTATIONS, np.int64)
    n = 0
    for g in games:
        clear(s, rows, cols)
        rings[:] = empty
        for k in range(offsets[g], offsets[g + 1]):
            p, colour = np.int64(points[k]), np.int64(colours[k])
            if not takes_turn(s, p, colour):
                break
            if p > 0:
                i = (p // (cols + 1) - 1) * cols + p % (cols + 1) - 1
                acc[:] = 0
                t = 0
                for ring in range(RINGS):
                    for o in range(ORIENTATIONS):
                        acc[o] ^= rings[colour - 1, i, ring, o]
                    if t < templates.shape[0] and templates[t] == ring:
                        out[n, t] = _pattern_key(acc, ring)
                        t += 1
                n += 1
            play_with_rings(s, rings, hash_keys, ring_of, before, p, colour)
    return n


@inner_kernel
def _new_matches(area, templates):
    """Return the arrays of a matching, per side to move and point; all start out of date.

    They are: the largest known pattern; the known patterns of all sizes (0 first); the number of
    those sizes; the ring up to which a change matters; the smallest ring that has changed since the
    last update (RINGS: none); and the frequency of the largest pattern.
    """
    return (
        np.zeros((2, area), np.int64),
        np.zeros((2, area, templates.shape[0] + 1), np.int64),
        np.zeros((2, area), np.int64),
        np.zeros((2, area), np.int64),
        np.zeros((2, area), np.int64),
        np.zeros((2, area)),
    )


@kernel
def fill_sieve(keys, sieve):
    """Set the bits of the keys in the sieve, whose length is a power of two."""
    for key in keys:
        bit = (key >> _SIEVE_SHIFT) & (64 * sieve.shape[0] - 1)
        sieve[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)


@inner_kernel
def _match_side(rings, side, tables, frequency, matches):
    """Update the largest patterns and their frequencies for one side to move.

    Templates are nested, so those inside the smallest changed ring stay as they are. Frequencies
    are copied next to the points because the whole list does not fit into the processor's cache.
    """
    found, chain, depth, level, changed, likes = matches
    templates = tables[3]
    acc = np.zeros(ORIENTATIONS, np.int64)
    for i in range(found.shape[1]):
        if changed[side, i] < RINGS:
            _match(rings, side, i, tables, acc, chain, depth, changed[side, i])
            t = depth[side, i]
            found[side, i] = chain[side, i, t]
            level[side, i] = templates[min(t, templates.shape[0] - 1)]
            if frequency.shape[0] > 0:
                likes[side, i] = frequency[found[side, i]]
            changed[side, i] = RINGS


@kernel
def _match(rings, side, i, tables, acc, chain, depth, changed):
    """Look up the known patterns at point `i` for one side, starting at the changed ring.

    Most lookups end with an unknown pattern. The sieve, which fits into the cache, rejects nearly
    all of these without access to the large table.
    """
    _empty, _hash_keys, _ring_of, templates, table, values, sieve = tables
    t = 0
    while t < depth[side, i] and templates[t] < changed:
        t += 1
    acc[:] = 0
    ring = 0
    while t < templates.shape[0]:
        while ring <= templates[t]:
            for o in range(ORIENTATIONS):
                acc[o] ^= rings[side, i, ring, o]
            ring += 1
        key = _pattern_key(acc, ring - 1)
        bit = (key >> _SIEVE_SHIFT) & (64 * sieve.shape[0] - 1)
        if not sieve[bit >> 6] >> np.uint64(bit & 63) & np.uint64(1):
            break
        number = lookup(table, values, key)
        if number < 0:
            break
        t += 1
        chain[side, i, t] = number
    depth[side, i] = t


@inner_kernel
def _mark_changes(s, before, ring_of, matches):
    """Record at every point the smallest ring that the last move changed, where it matters."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    level, changed = matches[3], matches[4]
    for q in range(s.shape[1]):
        if before[q] == s[COLOUR, q]:
            continue
        row, col = q // (cols + 1) - 1, q % (cols + 1) - 1
        for r in range(rows):
            base = (row - r + REACH) * SPAN + col + REACH
            for c in range(cols):
                ring = ring_of[base - c]
                i = r * cols + c
                if ring <= level[0, i]:
                    changed[0, i] = min(changed[0, i], ring)
                if ring <= level[1, i]:
                    changed[1, i] = min(changed[1, i], ring)


# ----- Candidates -----


@inner_kernel
def _candidate_features(n_patterns, pattern, p, earlier, earlier_patterns, rows, cols, out):
    """Write the ten features of a candidate; `earlier` holds points, latest first, <= 0: none."""
    row, col = p // (cols + 1) - 1, p % (cols + 1) - 1
    out[0] = pattern
    base = n_patterns
    out[1] = base + _octant(row, col, rows, cols)
    base += _PLACES
    for j in range(EARLIER):
        q = earlier[j]
        if q > 0:
            dr, dc = q // (cols + 1) - 1 - row, q % (cols + 1) - 1 - col
            out[2 + j] = base + j * n_patterns + earlier_patterns[j]
            out[2 + EARLIER + j] = base + EARLIER * n_patterns + j * _OFFSETS + _folded(dr, dc)
        else:
            # No earlier move: no pattern, and the offset class "none".
            out[2 + j] = base + j * n_patterns
            out[2 + EARLIER + j] = base + EARLIER * n_patterns + j * _OFFSETS + _OFFSETS - 1


@kernel
def feature_count(n_patterns):
    """Return the number of features for so many patterns, "no pattern" included."""
    return n_patterns * (1 + EARLIER) + _PLACES + EARLIER * _OFFSETS


@inner_kernel
def _rank_candidates(s, mover, likes, earlier, take, points, order, scores):
    """List the legal points; return their number.

    order[:take] are the best by frequency, best first; the others follow in row-major order. Ties
    go to the point nearer to the last move, then nearer to the edge, then first in row-major order.
    scores[m] is the ranking score of points[m]; lower is better.
    """
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    n = held = 0
    last = earlier[0]
    rest = np.empty(rows * cols, np.int64)
    for i in range(rows * cols):
        row, col = i // cols, i % cols
        p = (row + 1) * (cols + 1) + col + 1
        if s[COLOUR, p] != EMPTY or not is_legal(s, p, mover):
            continue
        near = 99
        if last > 0:
            near = distance(last // (cols + 1) - 1 - row, last % (cols + 1) - 1 - col)
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


@inner_kernel
def _push_earlier(earlier, earlier_patterns, p, pattern):
    """Add a move and the pattern it was played on to the history."""
    for j in range(EARLIER - 1, 0, -1):
        earlier[j] = earlier[j - 1]
        earlier_patterns[j] = earlier_patterns[j - 1]
    earlier[0] = p
    earlier_patterns[0] = pattern


@inner_kernel
def _ftrl_step(feats, good, memory, current, penalty, alpha):
    """Learn one sample by FTRL-proximal with an L1 penalty; return its loss before the step.

    `memory` (features, 2) holds z and the sum of squared gradients of each feature; `current` is
    scratch space for the weights of this sample.
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


@inner_kernel
def _ftrl_weight(z, squares, penalty, alpha):
    """Return the weight of one feature from its FTRL state."""
    if abs(z) <= penalty:
        return 0.0
    sign = 1.0 if z > 0 else -1.0
    return -(z - sign * penalty) / ((1.0 + np.sqrt(squares)) / alpha)


@inner_kernel
def _final_scores(moves, order, n, take, scores, likes, mover, cols, final):
    """Combine the two rankings: re-ranked candidates first, the rest by frequency below them.

    final[m] belongs to the m-th entry of `order`. The first `take` get the logarithm of P(good),
    the others the logarithm of their frequency, shifted so that the best of them stays below.
    """
    lowest = 0.0
    for m in range(take):
        # log(1 / (1 + exp(-score))) without overflow.
        final[m] = min(scores[m], 0.0) - np.log1p(np.exp(-abs(scores[m])))
        lowest = min(lowest, final[m])
    highest = -np.inf
    for m in range(take, n):
        q = moves[order[m]]
        j = (q // (cols + 1) - 1) * cols + q % (cols + 1) - 1
        final[m] = np.log(likes[mover - 1, j])
        highest = max(highest, final[m])
    if take > 0 and highest >= lowest - 1e-3:
        for m in range(take, n):
            final[m] += lowest - 1e-3 - highest


@inner_kernel
def _credit(final, n, target, tops, hits, counts, phase):
    """Add the credit of one move, shared among ties; return -log of its normalised score."""
    phase = min(phase, counts.shape[0] - 1)
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
            hits[phase, k] += 1.0
        elif room > 0:
            hits[phase, k] += room / equal
    counts[phase] += 1
    return np.log(total) - final[target]


@kernel
def pattern_at(s, mover, p, tables):
    """Return the largest known pattern at one point of a position for the side `mover`."""
    cols = s[SCALARS, COLS]
    empty = tables[0]
    rings = empty.copy()
    rings_of_state(s, rings, empty, tables[1], tables[2])
    i = (p // (cols + 1) - 1) * cols + p % (cols + 1) - 1
    _found, chain, depth, _level, _changed, _likes = _new_matches(empty.shape[1], tables[3])
    acc = np.zeros(ORIENTATIONS, np.int64)
    _match(rings, mover - 1, i, tables, acc, chain, depth, 0)
    return chain[mover - 1, i, depth[mover - 1, i]]


@kernel
def score_board(s, earlier, tables, frequency, weights, top, points, final):
    """Write the legal points and their final scores; return their number."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    area = rows * cols
    mover = s[SCALARS, TURN]
    rings = tables[0].copy()
    rings_of_state(s, rings, tables[0], tables[1], tables[2])
    matches = _new_matches(area, tables[3])
    _match_side(rings, mover - 1, tables, frequency, matches)
    found, likes = matches[0], matches[5]
    moves, order = np.zeros(area, np.int64), np.zeros(area, np.int64)
    scores = np.zeros(area)
    n = _rank_candidates(s, mover, likes, earlier[0], area, moves, order, scores)
    take = min(top, n)
    # Re-rank all mirror images or none: the policy must not depend on the orientation.
    while 0 < take < n and scores[order[take]] == scores[order[take - 1]]:
        take += 1
    scores[:] = 0
    feats = np.zeros(WIDTH, np.int64)
    for m in range(take):
        q = moves[order[m]]
        j = (q // (cols + 1) - 1) * cols + q % (cols + 1) - 1
        _candidate_features(
            frequency.shape[0], found[mover - 1, j], q, earlier[0], earlier[1], rows, cols, feats
        )
        for f in feats:
            scores[m] += weights[f]
    _final_scores(moves, order, n, take, scores, likes, mover, cols, final)
    for m in range(n):
        points[m] = moves[order[m]]
    return n


# ----- Following games -----


@inner_kernel
def _new_follower(rows, cols, tables, frequency):
    """Return (position, rings, matches, matches of the empty board, scratch space, history).

    The history holds the points of the earlier moves and the patterns they were played on, latest
    first.
    """
    s = new_state(rows, cols)
    rings = tables[0].copy()
    matches, start = _new_matches(rows * cols, tables[3]), _new_matches(rows * cols, tables[3])
    for side in range(2):
        _match_side(rings, side, tables, frequency, start)
    before = np.zeros(s.shape[1], np.int64)
    return s, rings, matches, start, before, np.zeros((2, EARLIER), np.int64)


@inner_kernel
def _begin_game(follower, tables):
    """Reset the follower to the empty board."""
    s, rings, matches, start, _before, earlier = follower
    clear(s, s[SCALARS, ROWS], s[SCALARS, COLS])
    rings[:] = tables[0]
    matches[0][:] = start[0]
    matches[1][:] = start[1]
    matches[2][:] = start[2]
    matches[3][:] = start[3]
    matches[4][:] = start[4]
    matches[5][:] = start[5]
    earlier[0] = -1
    earlier[1] = 0


@inner_kernel
def _find_largest(follower, tables, frequency, colour):
    """Update the largest patterns and their frequencies for the side `colour`."""
    _match_side(follower[1], colour - 1, tables, frequency, follower[2])


@inner_kernel
def _pattern_of(follower, p, colour):
    """Return the largest pattern at a point for one side as last updated; 0 for a pass."""
    if p <= 0:
        return 0
    cols = follower[0][SCALARS, COLS]
    return follower[2][0][colour - 1, (p // (cols + 1) - 1) * cols + p % (cols + 1) - 1]


@inner_kernel
def _make_move(follower, tables, p, colour):
    """Play a move or a pass and add it to the history; its pattern must be up to date."""
    s, rings, matches, _start, before, earlier = follower
    pattern = _pattern_of(follower, p, colour)
    play_with_rings(s, rings, tables[1], tables[2], before, p, colour)
    if p > 0:
        _mark_changes(s, before, tables[2], matches)
    _push_earlier(earlier[0], earlier[1], p, pattern)


# ----- Frequencies -----


@kernel
def _add_waiting(side, matches, all_points, waiting, unused):
    """Add the waiting counts of changed points, or of all, to the counters of their patterns."""
    found, changed = matches[0], matches[4]
    for i in range(found.shape[1]):
        if waiting[side, i] > 0 and (all_points or changed[side, i] < RINGS):
            unused[found[side, i]] += waiting[side, i]
            waiting[side, i] = 0


@kernel
def count_games(points, colours, offsets, games, rows, cols, tables, used, unused):
    """Count how often the largest patterns of all legal points were played and not played."""
    none = np.zeros(0)
    follower = _new_follower(rows, cols, tables, none)
    s, matches = follower[0], follower[2]
    found = matches[0]
    # Counts of unused patterns wait at their points and are added when the pattern changes: that
    # saves most accesses to the long list of counters.
    waiting = np.zeros(found.shape, np.int64)
    for g in games:
        _begin_game(follower, tables)
        for k in range(offsets[g], offsets[g + 1]):
            p, colour = np.int64(points[k]), np.int64(colours[k])
            if not takes_turn(s, p, colour):
                break
            if p > 0:
                _add_waiting(colour - 1, matches, False, waiting, unused)
                _find_largest(follower, tables, none, colour)
                for m in range(rows * cols):
                    q = (m // cols + 1) * (cols + 1) + m % cols + 1
                    if s[COLOUR, q] == EMPTY and is_legal(s, q, colour):
                        if q == p:
                            used[found[colour - 1, m]] += 1
                        else:
                            waiting[colour - 1, m] += 1
            _make_move(follower, tables, p, colour)
        _add_waiting(0, matches, True, waiting, unused)
        _add_waiting(1, matches, True, waiting, unused)


# ----- The re-ranker -----


@kernel
def learn_games(
    points, colours, offsets, games, rows, cols, tables, frequency, top, memory, penalty, alpha,
    samples,
):  # fmt: skip
    """Make samples of the `top` candidates and of the expert's move; learn or store each.

    If `samples` has rows (label, then WIDTH features), the samples are stored there and their
    number is returned. Otherwise the re-ranker learns them by FTRL-proximal with the state
    `memory`, and the sum of losses is returned.
    """
    follower = _new_follower(rows, cols, tables, frequency)
    s, likes, earlier = follower[0], follower[2][5], follower[5]
    moves, order = np.zeros(rows * cols, np.int64), np.zeros(rows * cols, np.int64)
    feats, current, scores = np.zeros(WIDTH, np.int64), np.zeros(WIDTH), np.zeros(rows * cols)
    n_patterns = frequency.shape[0]
    loss = 0.0
    written = 0
    for g in games:
        _begin_game(follower, tables)
        for k in range(offsets[g], offsets[g + 1]):
            p, colour = np.int64(points[k]), np.int64(colours[k])
            if not takes_turn(s, p, colour):
                break
            if p > 0:
                _find_largest(follower, tables, frequency, colour)
                n = _rank_candidates(s, colour, likes, earlier[0], top, moves, order, scores)
                take = min(top, n)
                target = _place_of(p, moves, order)
                for m in range(take + (1 if target >= take else 0)):
                    q = moves[order[m if m < take else target]]
                    pattern = _pattern_of(follower, q, colour)
                    _candidate_features(
                        n_patterns, pattern, q, earlier[0], earlier[1], rows, cols, feats
                    )
                    if samples.shape[0] == 0:
                        loss += _ftrl_step(feats, q == p, memory, current, penalty, alpha)
                    else:
                        samples[written, 0] = q == p
                        samples[written, 1:] = feats
                        written += 1
            _make_move(follower, tables, p, colour)
    return loss if samples.shape[0] == 0 else np.float64(written)


@inner_kernel
def _place_of(p, moves, order):
    """Return the index of the legal move `p` in the order."""
    target = 0
    while moves[order[target]] != p:
        target += 1
    return target


@kernel
def measure_games(
    points, colours, offsets, games, rows, cols, tables, frequency, weights, top, tops, hits,
    counts,
):  # fmt: skip
    """Rank every expert's move; add credit to `hits` and `counts` by phase; return the loss."""
    follower = _new_follower(rows, cols, tables, frequency)
    s, likes, earlier = follower[0], follower[2][5], follower[5]
    area = rows * cols
    moves, order = np.zeros(area, np.int64), np.zeros(area, np.int64)
    feats = np.zeros(WIDTH, np.int64)
    scores, final = np.zeros(area), np.zeros(area)
    loss = 0.0
    for g in games:
        _begin_game(follower, tables)
        for k in range(offsets[g], offsets[g + 1]):
            p, colour = np.int64(points[k]), np.int64(colours[k])
            if not takes_turn(s, p, colour):
                break
            if p > 0:
                _find_largest(follower, tables, frequency, colour)
                n = _rank_candidates(s, colour, likes, earlier[0], top, moves, order, scores)
                take = min(top, n)
                for m in range(take):
                    q = moves[order[m]]
                    _candidate_features(
                        frequency.shape[0], _pattern_of(follower, q, colour), q, earlier[0],
                        earlier[1], rows, cols, feats,
                    )  # fmt: skip
                    scores[m] = 0.0
                    for f in feats:
                        scores[m] += weights[f]
                _final_scores(moves, order, n, take, scores, likes, colour, cols, final)
                phase = (k - offsets[g]) // _PLIES_PER_PHASE
                loss += _credit(final, n, _place_of(p, moves, order), tops, hits, counts, phase)
            _make_move(follower, tables, p, colour)
    return loss
