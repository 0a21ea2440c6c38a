"""Play a game between two networks, or a network and a player that does not learn; no learning."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.kernels import (
    BLACK,
    COLS,
    HASH,
    KO_POSITIONAL,
    PASS,
    SCALARS,
    TURN,
    area_score,
    history_key,
    play_move,
    remember,
)
from tengen.board.random_kernels import seed_stream
from tengen.jit import kernel
from tengen.learners.symmetry_network.evaluation_kernels import (
    categorise,
    evaluate,
    make_view,
    make_work,
    weigh_liberties,
)
from tengen.learners.symmetry_network.game_kernels import draw_move, rate_moves, settle, table_size
from tengen.learners.symmetry_network.opponent_kernels import (
    most_liberties,
    random_move,
    spare_eyes,
)

BEST = 1e9


@kernel
def open_at_random(s, plies, seed, index):
    """Play so many random moves on `s`, by stream `index` of the seed's own openings."""
    rng = np.zeros(1, np.uint64)
    seed_stream(rng, seed ^ 0x0BE9, index)
    points = np.zeros(s.shape[1] + 1, np.int64)
    seen = np.zeros(1024, np.int64)
    for _ in range(plies):
        play_move(s, random_move(s, seen, s[SCALARS, TURN], rng, points), s[SCALARS, TURN])


@kernel
def choose(s, seen, net, cats, table, c, beta, now, base, work, points, values, rng):
    """Return the move of the side to play; what `beta` means stands at `duel`."""
    me = s[SCALARS, TURN]
    if beta == -1.0:
        return random_move(s, seen, me, rng, points)
    if beta == -2.0:
        return most_liberties(s, seen, me, rng)
    m = rate_moves(s, seen, net, cats, table, c, now, base, work, points, values)
    if beta >= BEST:
        m = spare_eyes(s, me, points, values, m)
    return points[draw_move(values, m, beta, me, rng)]


@kernel
def asks_outputs(cats, beta):
    """Tell whether a side sorts blocks by the outputs of the position before."""
    return beta >= 0.0 and (cats[0] == 0 or cats[0] == 3 or cats[0] == 4)


@kernel
def duel(
    black,
    white,
    cats_b,
    cats_w,
    table_b,
    table_w,
    cb,
    cw,
    beta_b,
    beta_w,
    s,
    limit,
    seed,
    index,
    moves,
):
    """Let two networks play on from `s` (changed); return (plies, area score for Black).

    `black` and `white` are pairs of weights. A beta of BEST takes the best move that fills no own
    eye, as the greedy player does; lower ones draw among all moves, as in training. A beta of -1
    makes that side play at random instead, not filling its own eyes, one of -2 for liberties.
    `moves` takes the points played.
    """
    n = s.shape[1]
    seen = np.zeros(table_size(limit), np.int64)
    rng = np.zeros(1, np.uint64)
    seed_stream(rng, seed, index)
    now_b, now_w, base = make_view(n), make_view(n), make_view(n)
    work_b, work_w = make_work(n, s[SCALARS, COLS] + 1), make_work(n, s[SCALARS, COLS] + 1)
    points = np.zeros(n + 1, np.int64)
    values = np.zeros(n + 1)
    remember(seen, history_key(s[SCALARS, HASH], s[SCALARS, TURN], KO_POSITIONAL))
    moved = 0 if s[SCALARS, TURN] == BLACK else 1
    settle(s, black[moved], cats_b, table_b, now_b, work_b, 3)
    settle(s, white[moved], cats_w, table_w, now_w, work_w, 3)
    plies = 0
    passes = 0
    while plies < limit and passes < 2:
        me = s[SCALARS, TURN]
        if me == BLACK:
            p = choose(
                s,
                seen,
                black[1],
                cats_b,
                table_b,
                cb,
                beta_b,
                now_b,
                base,
                work_b,
                points,
                values,
                rng,
            )
            weigh_liberties(s, now_w.out, work_w, cats_w)
        else:
            p = choose(
                s,
                seen,
                white[0],
                cats_w,
                table_w,
                cw,
                beta_w,
                now_w,
                base,
                work_w,
                points,
                values,
                rng,
            )
            weigh_liberties(s, now_b.out, work_b, cats_b)
        play_move(s, p, me)
        remember(seen, history_key(s[SCALARS, HASH], s[SCALARS, TURN], KO_POSITIONAL))
        moves[plies] = p
        passes = passes + 1 if p == PASS else 0
        plies += 1
        if asks_outputs(cats_b, beta_b):
            categorise(s, now_b, work_b, cats_b)
            evaluate(s, black[moved], now_b, work_b, table_b)
        if asks_outputs(cats_w, beta_w):
            categorise(s, now_w, work_w, cats_w)
            evaluate(s, white[moved], now_w, work_w, table_w)
    return plies, area_score(s)
