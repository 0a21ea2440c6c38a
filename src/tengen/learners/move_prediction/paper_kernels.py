"""Follow games for the paper's recipe: largest known patterns, their frequencies, the re-ranker.

For every point and both sides to move the largest known pattern is kept; it is looked up again
only where a change on the board could alter it: a stone beyond the next larger template changes
nothing. Patterns are numbered from 1 as in the dictionary; 0 stands for "no pattern".

Features of a candidate are numbered: its pattern, then its place, then for each of the last four
moves the pattern it had when it was played, then where it lies as seen from the candidate (see
`candidate_features`).
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from tengen.board.kernels import (
    COLOUR,
    COLS,
    EMPTY,
    ROWS,
    SCALARS,
    TURN,
    clear,
    is_legal,
    new_state,
)
from tengen.features.pattern_kernels import (
    ORIENTATIONS,
    REACH,
    RINGS,
    SPAN,
    canonical,
    lookup,
    play_with_rings,
    rings_of_state,
)
from tengen.jit import kernel
from tengen.learners.move_prediction.family_kernels import distance, salt
from tengen.learners.move_prediction.feature_kernels import octant

FAMILY = 15  # the salt of the paper's patterns
PLACES = 325  # classes of coordinates: octants of boards to 49 lines; 55 are used on 19x19
OFFSETS = 326  # classes of folded offsets to 24 lines, and one for "none"
EARLIER = 4  # earlier moves that are features
WIDTH = 2 + 2 * EARLIER


@kernel
def folded(dr, dc):
    """Return the class of an offset with its signs and order forgotten."""
    a, b = abs(dr), abs(dc)
    if a < b:
        a, b = b, a
    return a * (a + 1) // 2 + b


@kernel
def paper_key(acc, ring):
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
            s[SCALARS, TURN] = colour
            if p > 0:
                if s[COLOUR, p] != EMPTY or not is_legal(s, p, colour):
                    break
                i = (p // (cols + 1) - 1) * cols + p % (cols + 1) - 1
                acc[:] = 0
                t = 0
                for ring in range(RINGS):
                    for o in range(ORIENTATIONS):
                        acc[o] ^= rings[colour - 1, i, ring, o]
                    if t < templates.shape[0] and templates[t] == ring:
                        out[n, t] = paper_key(acc, ring)
                        t += 1
                n += 1
            play_with_rings(s, rings, hash_keys, ring_of, before, p, colour)
    return n


@kernel
def _match(rings, side, i, templates, table, values, acc, found, level):
    """Look up the largest known pattern at point `i` for one side; templates are nested."""
    acc[:] = 0
    t = 0
    best = 0
    for ring in range(RINGS):
        for o in range(ORIENTATIONS):
            acc[o] ^= rings[side, i, ring, o]
        if templates[t] == ring:
            number = lookup(table, values, paper_key(acc, ring))
            if number < 0:
                break
            best = number
            t += 1
            if t == templates.shape[0]:
                break
    found[side, i] = best
    # The ring up to which a change matters: that of the first template that failed.
    level[side, i] = templates[min(t, templates.shape[0] - 1)]


@kernel
def match_all(rings, templates, table, values, frequency, found, level, likes, dirty):
    """Bring the largest patterns and their frequencies up to date where `dirty` says so.

    `likes` is a copy of the frequencies at hand: the whole list is too large for a cache.
    """
    acc = np.zeros(ORIENTATIONS, np.int64)
    for side in range(2):
        for i in range(found.shape[1]):
            if dirty[side, i]:
                _match(rings, side, i, templates, table, values, acc, found, level)
                if frequency.shape[0] > 0:
                    likes[side, i] = frequency[found[side, i]]
                dirty[side, i] = False


@kernel
def count_waiting(found, waiting, dirty, unused):
    """Add what waits at the points where `dirty` says so to the counters of their patterns."""
    for side in range(2):
        for i in range(found.shape[1]):
            if dirty[side, i] and waiting[side, i] > 0:
                unused[found[side, i]] += waiting[side, i]
                waiting[side, i] = 0


@kernel
def mark_changes(s, before, ring_of, level, dirty):
    """Mark as dirty the points whose largest pattern the last move may have changed."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
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
                    dirty[0, i] = True
                if ring <= level[1, i]:
                    dirty[1, i] = True


@kernel
def candidate_features(n_patterns, pattern, p, earlier, earlier_patterns, rows, cols, out):
    """Write the ten features of a candidate; `earlier` are points, latest first, <= 0 none."""
    row, col = p // (cols + 1) - 1, p % (cols + 1) - 1
    out[0] = pattern
    base = n_patterns
    out[1] = base + octant(row, col, rows, cols)
    base += PLACES
    for j in range(EARLIER):
        q = earlier[j]
        if q > 0:
            dr, dc = q // (cols + 1) - 1 - row, q % (cols + 1) - 1 - col
            out[2 + j] = base + j * n_patterns + earlier_patterns[j]
            out[2 + EARLIER + j] = base + EARLIER * n_patterns + j * OFFSETS + folded(dr, dc)
        else:
            # "None" shares the number of no pattern with the class of offset that says so.
            out[2 + j] = base + j * n_patterns
            out[2 + EARLIER + j] = base + EARLIER * n_patterns + j * OFFSETS + OFFSETS - 1


@kernel
def feature_count(n_patterns):
    """Return how many features there are for so many patterns, "no pattern" included."""
    return n_patterns * (1 + EARLIER) + PLACES + EARLIER * OFFSETS


@kernel
def rank_candidates(s, mover, likes, earlier, take, points, order):
    """List the legal points; return how many.

    order[:take] are the best by frequency, best first; the others follow as they lie on the board.
    Ties go to the point nearer to the last move, then nearer to the edge.
    """
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    n = held = 0
    last = earlier[0]
    scores = np.empty(rows * cols)
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


@kernel
def push_earlier(earlier, earlier_patterns, p, pattern):
    """Remember a move and the pattern it was played on."""
    for j in range(EARLIER - 1, 0, -1):
        earlier[j] = earlier[j - 1]
        earlier_patterns[j] = earlier_patterns[j - 1]
    earlier[0] = p
    earlier_patterns[0] = pattern


@kernel
def follow_games(
    mode, points, colours, offsets, games, rows, cols, empty, hash_keys, ring_of, templates,
    table, values, used, unused, frequency, top, memory, penalty, alpha,
    weights, tops, hits, counts, samples, rank_history,
):  # fmt: skip
    """Replay games and do one of four things at every expert's move; return a loss or a count.

    mode 0: count `used` and `unused` of the largest patterns of all legal points.
    mode 1: learn the re-ranker by FTRL-proximal on the `top` candidates; `memory` is its state.
    mode 2: measure: add credit to `hits` and `counts` (phases of 30 plies); return the loss.
    mode 3: write the samples (label, then WIDTH features) to `samples`; return how many.
    With `rank_history` above zero (mode 2 only), the earlier moves given to the re-ranker are not
    the experts' but what this model ranks k-th at each earlier turn, with the pattern there, as
    when a weaker player had moved; below zero only the mover's own ones, the opponent's being the
    experts'. The stones on the board always stay the experts'.
    """
    s = new_state(rows, cols)
    rings = empty.copy()
    before = np.zeros(s.shape[1], np.int64)
    area = rows * cols
    found = np.zeros((2, area), np.int64)
    level = np.zeros((2, area), np.int64)
    likes = np.zeros((2, area))
    # Counts of unused patterns wait at their points: while a pattern stands, counting it needs no
    # visit to the long list of counters.
    waiting = np.zeros((2, area), np.int64)
    everywhere = np.ones((2, area), np.bool_)
    dirty = everywhere.copy()
    found0, level0 = np.zeros((2, area), np.int64), np.zeros((2, area), np.int64)
    match_all(rings, templates, table, values, frequency, found0, level0, likes, dirty)
    likes0 = likes.copy()
    moves, order = np.zeros(area, np.int64), np.zeros(area, np.int64)
    earlier, earlier_patterns = np.zeros(EARLIER, np.int64), np.zeros(EARLIER, np.int64)
    weak, weak_patterns = earlier.copy(), earlier_patterns.copy()
    told, told_patterns = earlier.copy(), earlier_patterns.copy()
    feats = np.zeros(WIDTH, np.int64)
    current = np.zeros(WIDTH)
    scores, final = np.zeros(area), np.zeros(area)
    n_patterns = frequency.shape[0]
    result = 0.0
    for g in games:
        clear(s, rows, cols)
        rings[:] = empty
        count_waiting(found, waiting, everywhere, unused)
        found[:] = found0
        level[:] = level0
        likes[:] = likes0
        dirty[:] = False
        earlier[:] = -1
        earlier_patterns[:] = 0
        weak[:] = -1
        weak_patterns[:] = 0
        for k in range(offsets[g], offsets[g + 1]):
            p, colour = np.int64(points[k]), np.int64(colours[k])
            s[SCALARS, TURN] = colour
            pattern = 0
            weaker, weaker_pattern = p, 0
            if p > 0:
                if s[COLOUR, p] != EMPTY or not is_legal(s, p, colour):
                    break
                count_waiting(found, waiting, dirty, unused)
                match_all(rings, templates, table, values, frequency, found, level, likes, dirty)
                i = (p // (cols + 1) - 1) * cols + p % (cols + 1) - 1
                pattern = found[colour - 1, i]
                weaker_pattern = pattern
                if mode == 0:
                    for m in range(area):
                        q = (m // cols + 1) * (cols + 1) + m % cols + 1
                        if s[COLOUR, q] == EMPTY and is_legal(s, q, colour):
                            if q == p:
                                used[found[colour - 1, m]] += 1
                            else:
                                waiting[colour - 1, m] += 1
                else:
                    told[:] = earlier
                    told_patterns[:] = earlier_patterns
                    for j in range(EARLIER):
                        # The latest move, and every second one, was the opponent's.
                        if rank_history > 0 or (rank_history < 0 and j % 2 == 1):
                            told[j], told_patterns[j] = weak[j], weak_patterns[j]
                    n = rank_candidates(s, colour, likes, told, top, moves, order)
                    take = min(top, n)
                    target = 0
                    while moves[order[target]] != p:
                        target += 1
                    extra = 1 if target >= take and mode != 2 else 0
                    for m in range(take + extra):
                        q = moves[order[m if m < take else target]]
                        j = (q // (cols + 1) - 1) * cols + q % (cols + 1) - 1
                        candidate_features(
                            n_patterns, found[colour - 1, j], q, told, told_patterns,
                            rows, cols, feats,
                        )  # fmt: skip
                        good = q == p
                        if mode == 1:
                            result += ftrl_step(feats, good, memory, current, penalty, alpha)
                        elif mode == 3:
                            row = np.int64(result)
                            samples[row, 0] = good
                            for f in range(WIDTH):
                                samples[row, 1 + f] = feats[f]
                            result += 1
                        else:
                            t = 0.0
                            for f in range(WIDTH):
                                t += weights[feats[f]]
                            scores[m] = t
                    if mode == 2:
                        final_scores(moves, order, n, take, scores, likes, colour, cols, final)
                        phase = (k - offsets[g]) // 30
                        result += credit(final, n, target, tops, hits, counts, phase)
                        if rank_history != 0:
                            own = np.argsort(-final[:n], kind="mergesort")
                            weaker = moves[order[own[min(abs(rank_history), n) - 1]]]
                            row, col = weaker // (cols + 1) - 1, weaker % (cols + 1) - 1
                            weaker_pattern = found[colour - 1, row * cols + col]
            for q in range(s.shape[1]):
                before[q] = s[COLOUR, q]
            spare = before.copy()
            play_with_rings(s, rings, hash_keys, ring_of, spare, p, colour)
            mark_changes(s, before, ring_of, level, dirty)
            push_earlier(earlier, earlier_patterns, p, pattern)
            push_earlier(weak, weak_patterns, weaker, weaker_pattern)
    count_waiting(found, waiting, everywhere, unused)
    return result


@kernel
def ftrl_step(feats, good, memory, current, penalty, alpha):
    """Learn one sample by FTRL-proximal with an L1 penalty; return its loss before the step.

    `memory` (features, 2) holds of each feature its z and its sum of squared gradients, side by
    side because they are needed together; `current` is room for the weights of this sample.
    """
    t = 0.0
    for k in range(WIDTH):
        current[k] = ftrl_weight(memory[feats[k], 0], memory[feats[k], 1], penalty, alpha)
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
def ftrl_weight(z, squares, penalty, alpha):
    """Return the weight that the state of one coordinate stands for."""
    if abs(z) <= penalty:
        return 0.0
    sign = 1.0 if z > 0 else -1.0
    return -(z - sign * penalty) / ((1.0 + np.sqrt(squares)) / alpha)


@kernel
def final_scores(moves, order, n, take, scores, likes, mover, cols, final):
    """Turn the two rankings into one: re-ranked candidates first, the rest by frequency below them.

    final[m] belongs to the m-th of `order`. The first `take` get the logarithm of P(good), the
    others that of their frequency, lowered so that the best of them stays below.
    """
    lowest = 0.0
    for m in range(take):
        final[m] = -np.log1p(np.exp(-scores[m]))
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


@kernel
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
def pattern_at(s, mover, p, empty, hash_keys, ring_of, templates, table, values):
    """Return the largest known pattern at one point of a position for the side `mover`."""
    cols = s[SCALARS, COLS]
    rings = empty.copy()
    rings_of_state(s, rings, empty, hash_keys, ring_of)
    found, level = np.zeros((2, empty.shape[1]), np.int64), np.zeros((2, empty.shape[1]), np.int64)
    i = (p // (cols + 1) - 1) * cols + p % (cols + 1) - 1
    acc = np.zeros(ORIENTATIONS, np.int64)
    _match(rings, mover - 1, i, templates, table, values, acc, found, level)
    return found[mover - 1, i]


@kernel
def score_board(
    s, earlier, earlier_patterns, empty, hash_keys, ring_of, templates, table, values,
    frequency, weights, top, points, final,
):  # fmt: skip
    """Write the legal points and their final scores; return how many."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    area = rows * cols
    mover = s[SCALARS, TURN]
    rings = empty.copy()
    rings_of_state(s, rings, empty, hash_keys, ring_of)
    found, level = np.zeros((2, area), np.int64), np.zeros((2, area), np.int64)
    likes, dirty = np.zeros((2, area)), np.ones((2, area), np.bool_)
    match_all(rings, templates, table, values, frequency, found, level, likes, dirty)
    moves, order = np.zeros(area, np.int64), np.zeros(area, np.int64)
    n = rank_candidates(s, mover, likes, earlier, top, moves, order)
    take = min(top, n)
    scores = np.zeros(area)
    feats = np.zeros(WIDTH, np.int64)
    for m in range(take):
        q = moves[order[m]]
        j = (q // (cols + 1) - 1) * cols + q % (cols + 1) - 1
        candidate_features(
            frequency.shape[0], found[mover - 1, j], q, earlier, earlier_patterns, rows, cols, feats
        )
        for f in feats:
            scores[m] += weights[f]
    final_scores(moves, order, n, take, scores, likes, mover, cols, final)
    for m in range(n):
        points[m] = moves[order[m]]
    return n
