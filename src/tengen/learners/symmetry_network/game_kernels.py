"""Play whole games with networks, alone or against each other, each game in one kernel.

A game keeps two views of the position: `now`, the inputs as they came about (categories from the
outputs one step earlier), which are learned from; and `base`, the same stones categorised with the
current outputs, against which passes and candidate moves are compared. `self_play` learns, `duel`
does not.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.kernels import (
    KO_POSITIONAL,
    allowed_mask,
    area_score,
    history_key,
    is_allowed,
    near,
    new_state,
    play_move,
    remember,
)
from tengen.board.layout_kernels import (
    BLACK,
    BORDER,
    COLOUR,
    COLS,
    EMPTIES,
    EMPTY,
    HASH,
    N_EMPTY,
    PASS,
    ROWS,
    SCALARS,
    TURN,
    WHITE,
)
from tengen.board.random_kernels import mix, seed_stream, uniform
from tengen.board.simple_kernels import BY_BLOCK, is_own_eye, maxlib_move
from tengen.jit import kernel
from tengen.learners.symmetry_network.candidate_kernels import candidate
from tengen.learners.symmetry_network.evaluation_kernels import (
    OUT,
    categorise,
    evaluate,
    make_view,
    make_work,
    weigh_liberties,
)
from tengen.learners.symmetry_network.gradient_kernels import final_classes, td_gradient

BEST = 1e9
"""The beta from which on a side takes the best move."""


@kernel
def settle(s, net, cats, table, now, work, rounds):
    """Evaluate a position that has no past: repeat evaluation and categories `rounds` times.

    Starts from neutral outputs; fills `now` and `work`. Returns the board's value.
    """
    for p in range(s.shape[1]):
        now.out[p, 0] = now.out[p, 1] = now.out[p, 2] = np.float32(0.5)
        for k in range(3, 7):
            now.out[p, k] = np.float32(0.12)
    total = 0.0
    for _ in range(rounds):
        weigh_liberties(s, now.out, work)
        categorise(s, now, work, cats)
        total = evaluate(s, net, now, work, table)
    return total


@kernel
def rate_moves(s, seen, net, cats, table, c, now, base, work, points, values):
    """Value the position after every allowed move, captures rewarded; return how many there are.

    The first is the pass. Values are White's. `net` is that for positions in which the side to move
    has moved. `now` must be evaluated; fills `base` and `work`.
    """
    me = s[SCALARS, TURN]
    weigh_liberties(s, now.out, work)
    categorise(s, base, work, cats)
    total = evaluate(s, net, base, work, table)
    points[0] = PASS
    values[0] = total
    n = 1
    prize = c if me == WHITE else -c
    if net.deep.shape[0] > 0:
        return _rate_deep(s, seen, net, cats, table, prize, work, points, values)
    # In the order of the points, so that a draw among them does not depend on how s came about.
    for p in range(s.shape[1]):
        if s[COLOUR, p] == EMPTY and is_allowed(s, seen, KO_POSITIONAL, p, me):
            gain, captured = candidate(s, net, base, work, cats, table, p, me)
            points[n] = p
            values[n] = total + gain + prize * captured
            n += 1
    return n


@kernel
def _rate_deep(s, seen, net, cats, table, prize, work, points, values):
    """Value every allowed move but the pass by evaluating the whole board after it.

    With further layers a move is felt almost everywhere on a small board, so nothing is saved by
    re-evaluating only what it changes.
    """
    me = s[SCALARS, TURN]
    trial = np.empty_like(s)
    view = make_view(s.shape[1])
    n = 1
    for p in range(s.shape[1]):
        if s[COLOUR, p] == EMPTY and is_allowed(s, seen, KO_POSITIONAL, p, me):
            trial[:, :] = s
            captured = play_move(trial, p, me)
            categorise(trial, view, work, cats)
            points[n] = p
            values[n] = evaluate(trial, net, view, work, table) + prize * captured
            n += 1
    return n


@kernel
def _draw_move(values, n, beta, me, rng):
    """Draw the index of a move with probability proportional to exp(beta * value for `me`).

    A beta of BEST or more takes the best, the first among equals.
    """
    sign = 1.0 if me == WHITE else -1.0
    best = 0
    for i in range(1, n):
        if sign * values[i] > sign * values[best]:
            best = i
    if beta >= BEST:
        return best
    total = 0.0
    for i in range(n):
        total += np.exp(beta * sign * (values[i] - values[best]))
    left = uniform(rng) * total
    for i in range(n):
        left -= np.exp(beta * sign * (values[i] - values[best]))
        if left <= 0.0:
            return i
    return best


@kernel
def self_play(side, targets, rows, cols, lam, limit, seed, index, linear, maxlib, own, grads):
    """Play game `index` of `seed` against itself and add its gradient to `grads`, a pair of Nets.

    In a share `maxlib` of the games one side plays for liberties instead; with `own` only the
    positions after the network's own moves are learned from then. Returns (plies, ended by two
    passes, area score for Black, squared error, terms of it).
    """
    nets, cats, table = side.nets, side.cats, side.table
    s = new_state(rows, cols)
    n = s.shape[1]
    seen = np.zeros(_table_size(limit), np.int64)
    rng = np.zeros(1, np.uint64)
    seed_stream(rng, seed, index)
    now, base, work = make_view(n), make_view(n), make_work(n, s[SCALARS, COLS] + 1)
    xs = np.empty((limit + 1, n), np.uint8)
    stones = np.empty((limit + 1, n), np.uint8)
    outs = np.empty((limit + 1, n, OUT), np.float32)
    points = np.zeros(n + 1, np.int64)
    values = np.zeros(n + 1)
    remember(seen, history_key(s[SCALARS, HASH], s[SCALARS, TURN], KO_POSITIONAL))
    simple = _liberty_side(rng, maxlib)
    plies = 0
    passes = 0
    while True:
        categorise(s, now, work, cats)
        evaluate(s, nets[plies % 2], now, work, table)
        for p in range(n):
            xs[plies, p] = now.x[p]
            stones[plies, p] = s[COLOUR, p]
            for k in range(OUT):
                outs[plies, p, k] = now.out[p, k]
        if plies == limit or passes == 2:
            break
        me = s[SCALARS, TURN]
        if me == simple:
            weigh_liberties(s, now.out, work)
            p = _most_liberties(s, seen, me, rng)
        else:
            net = nets[(plies + 1) % 2]
            m = rate_moves(s, seen, net, cats, table, side.prize, now, base, work, points, values)
            p = points[_draw_move(values, m, side.beta, me, rng)]
        play_move(s, p, me)
        remember(seen, history_key(s[SCALARS, HASH], s[SCALARS, TURN], KO_POSITIONAL))
        passes = passes + 1 if p == PASS else 0
        plies += 1
    classes = np.empty(n, np.int64)
    final_classes(s, classes)
    # Against another player only the positions after own moves are the network's to judge.
    skip = simple % 2 if own and simple != 0 else -1
    square, terms = td_gradient(
        nets, targets, lam, plies, skip, xs, stones, outs, classes, rows, cols, linear, grads
    )
    return plies, passes == 2, area_score(s), square, terms


@kernel
def duel(black, white, s, limit, seed, index, moves):
    """Let two sides play on from `s` (changed); return (plies, area score for Black).

    A beta of BEST takes the best move that fills no own eye, as the greedy player does; lower ones
    draw among all moves, as in training. A beta of -1 makes a side play at random instead, not
    filling its own eyes, one of -2 for liberties. `moves` takes the points played.
    """
    n = s.shape[1]
    seen = np.zeros(_table_size(limit), np.int64)
    rng = np.zeros(1, np.uint64)
    seed_stream(rng, seed, index)
    now_b, now_w, base = make_view(n), make_view(n), make_view(n)
    work_b, work_w = make_work(n, s[SCALARS, COLS] + 1), make_work(n, s[SCALARS, COLS] + 1)
    points = np.zeros(n + 1, np.int64)
    values = np.zeros(n + 1)
    remember(seen, history_key(s[SCALARS, HASH], s[SCALARS, TURN], KO_POSITIONAL))
    moved = 0 if s[SCALARS, TURN] == BLACK else 1
    settle(s, black.nets[moved], black.cats, black.table, now_b, work_b, 3)
    settle(s, white.nets[moved], white.cats, white.table, now_w, work_w, 3)
    plies = 0
    passes = 0
    while plies < limit and passes < 2:
        me = s[SCALARS, TURN]
        if me == BLACK:
            p = _choose(s, seen, black, now_b, base, work_b, points, values, rng)
            weigh_liberties(s, now_w.out, work_w)
        else:
            p = _choose(s, seen, white, now_w, base, work_w, points, values, rng)
            weigh_liberties(s, now_b.out, work_b)
        play_move(s, p, me)
        remember(seen, history_key(s[SCALARS, HASH], s[SCALARS, TURN], KO_POSITIONAL))
        moves[plies] = p
        passes = passes + 1 if p == PASS else 0
        plies += 1
        moved = 1 if me == BLACK else 0
        if _asks_outputs(black):
            categorise(s, now_b, work_b, black.cats)
            evaluate(s, black.nets[moved], now_b, work_b, black.table)
        if _asks_outputs(white):
            categorise(s, now_w, work_w, white.cats)
            evaluate(s, white.nets[moved], now_w, work_w, white.table)
    return plies, area_score(s)


@kernel
def _choose(s, seen, side, now, base, work, points, values, rng):
    """Return the move of the side to play; what its beta means stands at `duel`."""
    me = s[SCALARS, TURN]
    if side.beta == -1.0:
        return _random_move(s, seen, me, rng, points)
    if side.beta == -2.0:
        return _most_liberties(s, seen, me, rng)
    net = side.nets[1 if me == BLACK else 0]
    cats, table = side.cats, side.table
    m = rate_moves(s, seen, net, cats, table, side.prize, now, base, work, points, values)
    if side.beta >= BEST:
        m = _spare_eyes(s, me, points, values, m)
    return points[_draw_move(values, m, side.beta, me, rng)]


@kernel
def _asks_outputs(side):
    """Tell whether a side sorts blocks by the outputs of the position before."""
    mode = side.cats[0]
    return side.beta >= 0.0 and (mode == 0 or mode == 3 or mode == 4)


@kernel
def open_at_random(s, plies, seed, index):
    """Play so many random moves on `s`, by stream `index` of the seed's own openings."""
    rng = np.zeros(1, np.uint64)
    seed_stream(rng, seed ^ 0x0BE9, index)
    points = np.zeros(s.shape[1] + 1, np.int64)
    seen = np.zeros(1024, np.int64)
    for _ in range(plies):
        play_move(s, _random_move(s, seen, s[SCALARS, TURN], rng, points), s[SCALARS, TURN])


@kernel
def _spare_eyes(s, me, points, values, n):
    """Drop moves that fill an own eye, and the pass if another is left; return how many are left.

    As the greedy player: under area scoring a point more never costs anything.
    """
    m = 0
    for i in range(n):
        if points[i] != PASS and not is_own_eye(s, points[i], me):
            points[m] = points[i]
            values[m] = values[i]
            m += 1
    if m == 0:
        points[0] = PASS
        m = 1
    return m


@kernel
def _random_move(s, seen, me, rng, points):
    """Draw a random allowed move that does not fill an own eye; pass if there is none."""
    width = s[SCALARS, COLS] + 1
    n = 0
    for i in range(s[SCALARS, N_EMPTY]):
        p = s[EMPTIES, i]
        inside = True
        for k in range(4):
            q = near(p, k, width)
            inside = inside and (s[COLOUR, q] == me or s[COLOUR, q] == BORDER)
        if not inside and is_allowed(s, seen, KO_POSITIONAL, p, me):
            points[n] = p
            n += 1
    if n == 0:
        return PASS
    return points[min(np.int64(uniform(rng) * n), n - 1)]


@kernel
def _most_liberties(s, seen, me, rng):
    """Return the allowed move with the best balance of liberties, ties at random; or PASS."""
    allowed = np.empty(s[SCALARS, ROWS] * s[SCALARS, COLS] + 1, np.bool_)
    allowed_mask(s, seen, KO_POSITIONAL, me, allowed)
    return maxlib_move(s, me, BY_BLOCK, allowed, rng)


@kernel
def _liberty_side(rng, share):
    """Return which colour plays for liberties in a game, 0 for none; leaves the generator alone."""
    coin = mix(rng[0] ^ np.uint64(0xD1B54A32D192ED03))
    if np.float64(coin >> np.uint64(11)) * (1.0 / 9007199254740992.0) < share:
        return 1 + np.int64(coin & np.uint64(1))
    return 0


@kernel
def _table_size(limit):
    """Return a power of two with room for every position of a game."""
    size = 1024
    while size < 4 * limit:
        size *= 2
    return size
