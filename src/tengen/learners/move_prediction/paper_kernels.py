"""Find the largest known patterns of the paper's recipe, rank candidates by them and re-rank.

Patterns are numbered from 1 as in the dictionary; 0 stands for "no pattern". The largest one at a
point is looked up again only where a change on the board could alter it: a stone beyond the next
larger template changes nothing.

Features of a candidate are numbered: its pattern, then its place, then for each of the last four
moves the pattern it had when it was played, then where it lies as seen from the candidate (see
`candidate_features`). How games are followed stands in `paper_games_kernels`.

`tables` is a tuple: rings of the empty board, hash keys, rings of offsets, templates, the
dictionary's table and values, and its sieve (see `_match`).
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from tengen.board.kernels import clear, is_legal, new_state
from tengen.board.layout_kernels import COLOUR, COLS, EMPTY, ROWS, SCALARS, TURN
from tengen.jit import inner_kernel, kernel
from tengen.learners.move_prediction.family_kernels import distance, salt
from tengen.learners.move_prediction.feature_kernels import octant
from tengen.learners.move_prediction.pattern_kernels import (
    ORIENTATIONS,
    REACH,
    RINGS,
    SPAN,
    canonical,
    lookup,
    play_with_rings,
    rings_of_state,
    takes_turn,
)

_SIEVE_SHIFT = 24  # the sieve looks at other bits of a key than the table does
FAMILY = 15  # the salt of the paper's patterns
_PLACES = 325  # classes of coordinates: octants of boards to 49 lines; 55 are used on 19x19
_OFFSETS = 326  # classes of folded offsets to 24 lines, and one for "none"
EARLIER = 4  # earlier moves that are features
WIDTH = 2 + 2 * EARLIER


@inner_kernel
def _folded(dr, dc):
    """Return the class of an offset with its signs and order forgotten."""
    a, b = abs(dr), abs(dc)
    if a < b:
        a, b = b, a
    return a * (a + 1) // 2 + b


@inner_kernel
def _paper_key(acc, ring):
    """Return the dictionary key of eight hashes for a template that ends with `ring`."""
    key = canonical(acc) ^ salt(FAMILY, ring)
    return key if key != 0 else 1


@kernel
def expert_patterns(
    points, colours, offsets, games, rows, cols, empty, hash_keys, ring_of, templates, out
):
    """Write the keys of all templates at every expert's move; return how many moves."""
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
                        out[n, t] = _paper_key(acc, ring)
                        t += 1
                n += 1
            play_with_rings(s, rings, hash_keys, ring_of, before, p, colour)
    return n


@inner_kernel
def new_matches(area, templates):
    """Return the arrays of a matching, for both sides to move and every point, all out of date.

    They are: the largest known pattern, the known patterns of all sizes (0 first), how many sizes
    those are, the ring up to which a change matters, the smallest ring that has changed since
    (RINGS: none), and the frequency of the largest pattern.
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
    """Set the bits of the keys in the sieve, an array of a power of two of bits."""
    for key in keys:
        bit = (key >> _SIEVE_SHIFT) & (64 * sieve.shape[0] - 1)
        sieve[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)


@inner_kernel
def match_side(rings, side, tables, frequency, matches):
    """Bring the largest patterns and their frequencies up to date for one side to move.

    Templates are nested, so those within the smallest ring that has changed stay as they are.
    Frequencies are copied to where they are used: the whole list is too large for a cache.
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
    """Look up the known patterns at point `i` for one side, from the ring that has changed on.

    Most lookups end with a pattern that is not known; the sieve, small enough for a cache, finds
    nearly all of these out without a visit to the large table.
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
        key = _paper_key(acc, ring - 1)
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
def mark_changes(s, before, ring_of, matches):
    """Note at all points the smallest ring that the last move has changed, where that matters."""
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


@inner_kernel
def candidate_features(n_patterns, pattern, p, earlier, earlier_patterns, rows, cols, out):
    """Write the ten features of a candidate; `earlier` are points, latest first, <= 0 none."""
    row, col = p // (cols + 1) - 1, p % (cols + 1) - 1
    out[0] = pattern
    base = n_patterns
    out[1] = base + octant(row, col, rows, cols)
    base += _PLACES
    for j in range(EARLIER):
        q = earlier[j]
        if q > 0:
            dr, dc = q // (cols + 1) - 1 - row, q % (cols + 1) - 1 - col
            out[2 + j] = base + j * n_patterns + earlier_patterns[j]
            out[2 + EARLIER + j] = base + EARLIER * n_patterns + j * _OFFSETS + _folded(dr, dc)
        else:
            # "None" shares the number of no pattern with the class of offset that says so.
            out[2 + j] = base + j * n_patterns
            out[2 + EARLIER + j] = base + EARLIER * n_patterns + j * _OFFSETS + _OFFSETS - 1


@kernel
def feature_count(n_patterns):
    """Return how many features there are for so many patterns, "no pattern" included."""
    return n_patterns * (1 + EARLIER) + _PLACES + EARLIER * _OFFSETS


@inner_kernel
def rank_candidates(s, mover, likes, earlier, take, points, order, scores):
    """List the legal points; return how many.

    order[:take] are the best by frequency, best first; the others follow as they lie on the board.
    Ties go to the point nearer to the last move, then nearer to the edge; what still ties, as on a
    symmetric board, to the first on it. scores[m] is what points[m] was ranked by, least is best.
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
        tie = near * 400 + octant(row, col, rows, cols)
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
def push_earlier(earlier, earlier_patterns, p, pattern):
    """Remember a move and the pattern it was played on."""
    for j in range(EARLIER - 1, 0, -1):
        earlier[j] = earlier[j - 1]
        earlier_patterns[j] = earlier_patterns[j - 1]
    earlier[0] = p
    earlier_patterns[0] = pattern


@inner_kernel
def ftrl_step(feats, good, memory, current, penalty, alpha):
    """Learn one sample by FTRL-proximal with an L1 penalty; return its loss before the step.

    `memory` (features, 2) holds of each feature its z and its sum of squared gradients, side by
    side because they are needed together; `current` is room for the weights of this sample.
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
    """Return the weight that the state of one coordinate stands for."""
    if abs(z) <= penalty:
        return 0.0
    sign = 1.0 if z > 0 else -1.0
    return -(z - sign * penalty) / ((1.0 + np.sqrt(squares)) / alpha)


@inner_kernel
def final_scores(moves, order, n, take, scores, likes, mover, cols, final):
    """Turn the two rankings into one: re-ranked candidates first, the rest by frequency below them.

    final[m] belongs to the m-th of `order`. The first `take` get the logarithm of P(good), the
    others that of their frequency, lowered so that the best of them stays below.
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
def credit(final, n, target, tops, hits, counts, phase):
    """Add the credit of one move to the measurement; return -log of its share of all scores."""
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
    _found, chain, depth, _level, _changed, _likes = new_matches(empty.shape[1], tables[3])
    acc = np.zeros(ORIENTATIONS, np.int64)
    _match(rings, mover - 1, i, tables, acc, chain, depth, 0)
    return chain[mover - 1, i, depth[mover - 1, i]]


@kernel
def score_board(s, earlier, tables, frequency, weights, top, points, final):
    """Write the legal points and their final scores; return how many."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    area = rows * cols
    mover = s[SCALARS, TURN]
    rings = tables[0].copy()
    rings_of_state(s, rings, tables[0], tables[1], tables[2])
    matches = new_matches(area, tables[3])
    match_side(rings, mover - 1, tables, frequency, matches)
    found, likes = matches[0], matches[5]
    moves, order = np.zeros(area, np.int64), np.zeros(area, np.int64)
    scores = np.zeros(area)
    n = rank_candidates(s, mover, likes, earlier[0], area, moves, order, scores)
    take = min(top, n)
    # Of mirror images all are re-ranked or none: a policy must not know how the board lies.
    while 0 < take < n and scores[order[take]] == scores[order[take - 1]]:
        take += 1
    scores[:] = 0
    feats = np.zeros(WIDTH, np.int64)
    for m in range(take):
        q = moves[order[m]]
        j = (q // (cols + 1) - 1) * cols + q % (cols + 1) - 1
        candidate_features(
            frequency.shape[0], found[mover - 1, j], q, earlier[0], earlier[1], rows, cols, feats
        )
        for f in feats:
            scores[m] += weights[f]
    final_scores(moves, order, n, take, scores, likes, mover, cols, final)
    for m in range(n):
        points[m] = moves[order[m]]
    return n
