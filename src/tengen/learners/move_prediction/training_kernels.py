"""Replay games and train or measure a predictor on their moves; read and write no files.

Games lie in flat arrays: points and colours of all moves, and `offsets` where games begin. Several
games are played side by side, one move of each in turn, so that neighbouring positions are
unrelated.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from tengen.board.kernels import clear, is_legal, new_state
from tengen.board.layout_kernels import COLOUR, EMPTY, SCALARS, TURN
from tengen.board.random_kernels import seed_stream, uniform
from tengen.board.tactics_kernels import read_blocks
from tengen.jit import inner_kernel, kernel
from tengen.learners.move_prediction.family_kernels import AT_LAST, FAMILIES, pattern_keys
from tengen.learners.move_prediction.feature_kernels import RECENT, WIDTH
from tengen.learners.move_prediction.kernels import logits_with_rings, workspace
from tengen.learners.move_prediction.network_kernels import (
    DIM,
    backward_dense,
    backward_features,
    rank_credit,
    softmax,
    step_dense,
    step_features,
)
from tengen.learners.move_prediction.pattern_kernels import (
    ORIENTATIONS,
    RINGS,
    play_with_rings,
    takes_turn,
)

# Points whose gradient is smaller everywhere do not move their features' vectors.
_FLOOR = 2e-4
# A step is taken as soon as so many features have gradients.
_LIMIT = 60000


@inner_kernel
def _push_recent(recent, p):
    """Make `p` the latest of the recent moves."""
    for j in range(RECENT - 1, 0, -1):
        recent[j] = recent[j - 1]
    recent[0] = p


@kernel
def expert_keys(points, colours, offsets, games, rows, cols, empty, hash_keys, ring_of, marks, out):
    """Write the dictionary keys of all experts' moves of the listed games; return how many moves.

    `out` is (moves, FAMILIES * RINGS); 0 stands for no pattern. Stops a game at an illegal move.
    """
    s = new_state(rows, cols)
    rings = empty.copy()
    before = np.zeros(s.shape[1], np.int64)
    recent = np.zeros(RECENT, np.int64)
    start, count = np.zeros(s.shape[1], np.int64), np.zeros(s.shape[1], np.int64)
    libs, stamp = np.empty(4 * s.shape[1], np.int64), np.zeros(s.shape[1], np.int64)
    acc, keys = np.empty(ORIENTATIONS, np.int64), np.empty(RINGS, np.int64)
    n = 0
    for g in games:
        clear(s, rows, cols)
        rings[:] = empty
        recent[:] = -1
        for k in range(offsets[g], offsets[g + 1]):
            p, colour = np.int64(points[k]), np.int64(colours[k])
            if not takes_turn(s, p, colour):
                break
            if p > 0:
                read_blocks(s, start, count, libs, stamp)
                i = (p // (cols + 1) - 1) * cols + p % (cols + 1) - 1
                for family in range(FAMILIES):
                    j = i
                    if family == AT_LAST:
                        q = recent[0]
                        if q <= 0:
                            out[n, family * RINGS : (family + 1) * RINGS] = 0
                            continue
                        j = (q // (cols + 1) - 1) * cols + q % (cols + 1) - 1
                    pattern_keys(s, rings, marks, count, recent, colour, j, family, acc, keys)
                    out[n, family * RINGS : (family + 1) * RINGS] = keys
                n += 1
            play_with_rings(s, rings, hash_keys, ring_of, before, p, colour)
            _push_recent(recent, p)
    return n


@inner_kernel
def _predict_move(s, rings, recent, model, room, moves, probs, p):
    """Predict the side to move's next move, given that it is `p`.

    Returns (number of `p` among `moves`, legal moves, points with features, shared features);
    probabilities are written to `probs`, logits and activations left in `room`.
    """
    n_moves, n, n_shared = logits_with_rings(s, rings, recent, model, room, moves)
    target = 0
    while moves[target] != p:
        target += 1
    softmax(room[7], n_moves, probs)
    return target, n_moves, n, n_shared


@kernel
def _new_gradients(rows, cols, dense):
    """Return room for gradients: of features, which they are, how many; of points; of the network.

    The gradients of a batch's features are gathered until LIMIT of them were met.
    """
    room = _LIMIT + rows * cols * WIDTH
    return (
        np.empty((room, DIM + 1), np.float32),
        np.empty(room, np.int64),
        np.zeros(1, np.int64),
        np.zeros((new_state(rows, cols).shape[1], DIM), np.float32),
        np.zeros_like(dense),
    )


@kernel
def _learn_position(s, rings, recent, p, model, room, moves, probs, slots, gradients, hits):
    """Add the gradients of one expert's move and its credit; return its loss before the step."""
    G, touched, n_touched, da, grad = gradients
    _rings, feats, widths, shared, acts, Y, work, logits = room
    target, n_moves, n, n_shared = _predict_move(s, rings, recent, model, room, moves, probs, p)
    rank_credit(logits, n_moves, target, np.ones(1, np.int64), hits)
    backward_dense(s, probs, target, moves, n_moves, model[8], grad, acts, Y, work, da)
    backward_features(
        feats, widths, moves, n, n_moves, shared, n_shared, probs, target,
        da, _FLOOR, slots, touched, n_touched, G,
    )  # fmt: skip
    return -np.log(max(probs[target], 1e-30))


@kernel
def train_games(
    points, colours, offsets, games, rows, cols, model, w_sq, E_sq, first, second, step,
    slots, first_ply, side, batch, share, seed, rate_w, rate_E, rate_dense,
):  # fmt: skip
    """Train on a random `share` of the moves of the listed games; return (loss, hits, positions).

    The first `first_ply` plies of every game are only replayed.

    `model` is what `FullModel.arrays` gives; its weights are changed in place. Loss and top-1 hits
    are those met before each step. `step` (one entry) counts the network's steps. `slots` is -1
    for every feature. `side` games go side by side.
    """
    empty, hash_keys, ring_of, _marks, _table, _values, w, E, dense, _flags = model
    states = np.empty((side,) + new_state(rows, cols).shape, np.int64)
    rings = np.empty((side,) + empty.shape, np.int64)
    recent = np.empty((side, RECENT), np.int64)
    before = np.zeros(states.shape[2], np.int64)
    moves, probs = np.empty(rows * cols, np.int64), np.empty(rows * cols, np.float64)
    room = workspace(rows, cols)
    gradients = _new_gradients(rows, cols, dense)
    G, touched, n_touched, _da, grad = gradients
    rng = np.zeros(1, np.uint64)
    seed_stream(rng, seed, 0)
    hits = np.zeros(1)
    loss = 0.0
    trained = in_batch = following = 0
    at, end = np.zeros(side, np.int64), np.zeros(side, np.int64)
    # The first games start late, so that the phases of the games differ.
    skip = rows * cols * 5 // 9 * np.arange(side) // side
    open_games = 1
    while open_games > 0 or following < games.shape[0]:
        open_games = 0
        for k in range(side):
            if at[k] >= end[k]:
                if following >= games.shape[0]:
                    continue
                at[k], end[k] = offsets[games[following]], offsets[games[following] + 1]
                following += 1
                clear(states[k], rows, cols)
                rings[k] = empty
                recent[k] = -1
                skip[k] = max(skip[k], first_ply)
            open_games += 1
            s = states[k]
            learn = False
            while not learn and at[k] < end[k]:
                p, colour = np.int64(points[at[k]]), np.int64(colours[at[k]])
                s[SCALARS, TURN] = colour
                if p > 0 and (s[COLOUR, p] != EMPTY or not is_legal(s, p, colour)):
                    at[k] = end[k]
                    break
                learn = skip[k] == 0
                if learn and p > 0 and uniform(rng) < share:
                    loss += _learn_position(
                        s, rings[k], recent[k], p, model, room, moves, probs, slots, gradients,
                        hits,
                    )  # fmt: skip
                    trained += 1
                    in_batch += 1
                    if in_batch == batch or n_touched[0] >= _LIMIT:
                        step_features(
                            slots, touched, n_touched, G, w, E, w_sq, E_sq, rate_w, rate_E
                        )
                        step[0] += 1
                        step_dense(dense, grad, first, second, rate_dense, step[0])
                        in_batch = 0
                play_with_rings(s, rings[k], hash_keys, ring_of, before, p, colour)
                _push_recent(recent[k], p)
                at[k] += 1
                skip[k] -= 0 if learn else 1
            if at[k] >= end[k]:
                skip[k] = 0
    step_features(slots, touched, n_touched, G, w, E, w_sq, E_sq, rate_w, rate_E)
    return loss, hits[0], trained


@kernel
def evaluate_games(
    points, colours, offsets, games, rows, cols, model, first_ply, tops, hits, counts
):
    """Predict every move of the listed games from ply `first_ply` on; return the loss.

    Adds to `hits` (phases of 30 plies x tops) the credit and to `counts` (phases) the positions.
    """
    empty, hash_keys, ring_of = model[0], model[1], model[2]
    s = new_state(rows, cols)
    rings = empty.copy()
    recent = np.empty(RECENT, np.int64)
    before = np.zeros(s.shape[1], np.int64)
    moves = np.empty(rows * cols, np.int64)
    probs = np.empty(rows * cols, np.float64)
    room = workspace(rows, cols)
    loss = 0.0
    for g in games:
        clear(s, rows, cols)
        rings[:] = empty
        recent[:] = -1
        for k in range(offsets[g], offsets[g + 1]):
            p, colour = np.int64(points[k]), np.int64(colours[k])
            if not takes_turn(s, p, colour):
                break
            if p > 0 and k - offsets[g] >= first_ply:
                target, n_moves, _n, _n_shared = _predict_move(
                    s, rings, recent, model, room, moves, probs, p
                )
                loss -= np.log(max(probs[target], 1e-30))
                phase = min((k - offsets[g]) // 30, counts.shape[0] - 1)
                rank_credit(room[7], n_moves, target, tops, hits[phase])
                counts[phase] += 1
            play_with_rings(s, rings, hash_keys, ring_of, before, p, colour)
            _push_recent(recent, p)
    return loss
