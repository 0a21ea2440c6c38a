"""Follow games for the paper's recipe: count patterns, train the re-ranker, or measure it.

A *follower* is a tuple of arrays that replays one game after the other and keeps the largest known
pattern of every point. What patterns, candidates and `tables` are stands in `paper_kernels`.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from tengen.board.kernels import clear, is_legal, new_state
from tengen.board.layout_kernels import COLOUR, COLS, EMPTY, ROWS, SCALARS
from tengen.jit import inner_kernel, kernel
from tengen.learners.move_prediction.paper_kernels import (
    EARLIER,
    WIDTH,
    candidate_features,
    credit,
    final_scores,
    ftrl_step,
    mark_changes,
    match_side,
    new_matches,
    push_earlier,
    rank_candidates,
)
from tengen.learners.move_prediction.pattern_kernels import RINGS, play_with_rings, takes_turn

_PLIES_A_PHASE = 30


@inner_kernel
def _new_follower(rows, cols, tables, frequency):
    """Return what follows games: position, rings, matches, those of the empty board, room, moves.

    The last is (points of the earlier moves, the patterns they were played on), latest first.
    """
    s = new_state(rows, cols)
    rings = tables[0].copy()
    matches, start = new_matches(rows * cols, tables[3]), new_matches(rows * cols, tables[3])
    for side in range(2):
        match_side(rings, side, tables, frequency, start)
    before = np.zeros(s.shape[1], np.int64)
    return s, rings, matches, start, before, np.zeros((2, EARLIER), np.int64)


@inner_kernel
def _begin_game(follower, tables):
    """Go back to the empty board."""
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
    """Bring the largest patterns and their frequencies up to date for the side `colour`."""
    match_side(follower[1], colour - 1, tables, frequency, follower[2])


@inner_kernel
def _pattern_of(follower, p, colour):
    """Return the largest pattern at a point for one side, up to date or not; 0 for a pass."""
    if p <= 0:
        return 0
    cols = follower[0][SCALARS, COLS]
    return follower[2][0][colour - 1, (p // (cols + 1) - 1) * cols + p % (cols + 1) - 1]


@inner_kernel
def _make_move(follower, tables, p, colour):
    """Play a move or a pass and remember it with its pattern, which must be up to date."""
    s, rings, matches, _start, before, earlier = follower
    pattern = _pattern_of(follower, p, colour)
    play_with_rings(s, rings, tables[1], tables[2], before, p, colour)
    if p > 0:
        mark_changes(s, before, tables[2], matches)
    push_earlier(earlier[0], earlier[1], p, pattern)


# ----- Frequencies -----


@kernel
def _add_waiting(side, matches, all_points, waiting, unused):
    """Add what waits at the points that have changed, or at all, to their patterns' counters."""
    found, changed = matches[0], matches[4]
    for i in range(found.shape[1]):
        if waiting[side, i] > 0 and (all_points or changed[side, i] < RINGS):
            unused[found[side, i]] += waiting[side, i]
            waiting[side, i] = 0


@kernel
def count_games(points, colours, offsets, games, rows, cols, tables, used, unused):
    """Count how often the largest patterns of all legal points were used and not used."""
    none = np.zeros(0)
    follower = _new_follower(rows, cols, tables, none)
    s, matches = follower[0], follower[2]
    found = matches[0]
    # Counts of unused patterns wait at their points: while a pattern stands, counting it needs no
    # visit to the long list of counters.
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
    """Make samples of the `top` candidates and of the expert's move; learn or write each.

    With room in `samples` (label, then WIDTH features) they are written there and their number is
    returned. Without, the re-ranker learns them by FTRL-proximal, whose state is `memory`, and
    the sum of losses is returned.
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
                n = rank_candidates(s, colour, likes, earlier[0], top, moves, order, scores)
                take = min(top, n)
                target = _place_of(p, moves, order)
                for m in range(take + (1 if target >= take else 0)):
                    q = moves[order[m if m < take else target]]
                    pattern = _pattern_of(follower, q, colour)
                    candidate_features(
                        n_patterns, pattern, q, earlier[0], earlier[1], rows, cols, feats
                    )
                    if samples.shape[0] == 0:
                        loss += ftrl_step(feats, q == p, memory, current, penalty, alpha)
                    else:
                        samples[written, 0] = q == p
                        samples[written, 1:] = feats
                        written += 1
            _make_move(follower, tables, p, colour)
    return loss if samples.shape[0] == 0 else np.float64(written)


@inner_kernel
def _place_of(p, moves, order):
    """Return where the legal move `p` stands in the order."""
    target = 0
    while moves[order[target]] != p:
        target += 1
    return target


@kernel
def _choose_told(rank_history, earlier, weaker, told):
    """Fill the history that the re-ranker is told from the experts' moves and the weaker ones."""
    told[:] = earlier
    for j in range(EARLIER):
        # The latest move, and every second one, was the opponent's.
        if rank_history > 0 or (rank_history < 0 and j % 2 == 1):
            told[0, j] = weaker[0, j]
            told[1, j] = weaker[1, j]


@kernel
def measure_games(
    points, colours, offsets, games, rows, cols, tables, frequency, weights, top, tops, hits,
    counts, rank_history,
):  # fmt: skip
    """Rank every expert's move; add credit to `hits` and `counts` by phase; return the loss.

    With `rank_history` above zero the earlier moves given to the re-ranker are not the experts'
    but what this model ranks k-th at each earlier turn, with the pattern there, as when a weaker
    player had moved; below zero only the mover's own ones, the opponent's being the experts'. The
    stones on the board always stay the experts'.
    """
    follower = _new_follower(rows, cols, tables, frequency)
    s, likes, earlier = follower[0], follower[2][5], follower[5]
    area = rows * cols
    moves, order = np.zeros(area, np.int64), np.zeros(area, np.int64)
    weaker, told = np.zeros((2, EARLIER), np.int64), np.zeros((2, EARLIER), np.int64)
    feats = np.zeros(WIDTH, np.int64)
    scores, final = np.zeros(area), np.zeros(area)
    loss = 0.0
    for g in games:
        _begin_game(follower, tables)
        weaker[:] = earlier
        for k in range(offsets[g], offsets[g + 1]):
            p, colour = np.int64(points[k]), np.int64(colours[k])
            if not takes_turn(s, p, colour):
                break
            weak = p
            if p > 0:
                _find_largest(follower, tables, frequency, colour)
                _choose_told(rank_history, earlier, weaker, told)
                n = rank_candidates(s, colour, likes, told[0], top, moves, order, scores)
                take = min(top, n)
                for m in range(take):
                    q = moves[order[m]]
                    candidate_features(
                        frequency.shape[0], _pattern_of(follower, q, colour), q, told[0], told[1],
                        rows, cols, feats,
                    )  # fmt: skip
                    scores[m] = 0.0
                    for f in feats:
                        scores[m] += weights[f]
                final_scores(moves, order, n, take, scores, likes, colour, cols, final)
                phase = (k - offsets[g]) // _PLIES_A_PHASE
                loss += credit(final, n, _place_of(p, moves, order), tops, hits, counts, phase)
                if rank_history != 0:
                    own = np.argsort(-final[:n], kind="mergesort")
                    weak = moves[order[own[min(abs(rank_history), n) - 1]]]
            push_earlier(weaker[0], weaker[1], weak, _pattern_of(follower, weak, colour))
            _make_move(follower, tables, p, colour)
    return loss
