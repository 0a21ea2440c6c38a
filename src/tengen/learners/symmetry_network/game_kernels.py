"""Play whole games with a network and take the TD(lambda) gradient of a game, each in one kernel.

A game keeps two views of the position: `now`, the inputs as they came about (categories from the
outputs one step earlier), which are learned from; and `base`, the same stones categorised with the
current outputs, against which passes and candidate moves are compared.

Weights come in pairs: those for positions in which White has just moved, and those for Black. A
network that is not told whose turn it is has the same twice.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.kernels import (
    BLACK,
    BORDER,
    COLOUR,
    COLS,
    EMPTY,
    HASH,
    KO_POSITIONAL,
    PASS,
    SCALARS,
    TURN,
    WHITE,
    area_score,
    history_key,
    is_allowed,
    new_state,
    play_move,
    remember,
)
from tengen.board.random_kernels import seed_stream, uniform
from tengen.jit import kernel
from tengen.learners.symmetry_network.candidate_kernels import candidate
from tengen.learners.symmetry_network.deep_kernels import add_cell, deep_gradient
from tengen.learners.symmetry_network.evaluation_kernels import (
    CELL,
    FIRST_OUT,
    HIDDEN,
    OUT,
    REACH,
    READS,
    SECOND,
    UNIT,
    ZERO,
    categorise,
    evaluate,
    look_up,
    make_view,
    make_work,
    tanh_all,
    weigh_liberties,
)
from tengen.learners.symmetry_network.opponent_kernels import liberty_side, most_liberties

# Final classes of a vertex, in the order of rewards.CLASSES.
WHITE_POINT, WHITE_STONE, NOBODY, BLACK_STONE, BLACK_POINT = 0, 1, 2, 3, 4


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
        weigh_liberties(s, now.out, work, cats)
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
    weigh_liberties(s, now.out, work, cats)
    categorise(s, base, work, cats)
    total = evaluate(s, net, base, work, table)
    points[0] = PASS
    values[0] = total
    n = 1
    prize = c if me == WHITE else -c
    if net.deep.shape[0] > 0 or cats[0] == SECOND:
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

    With further layers a move is felt almost everywhere on a small board, and second liberties
    change far from the stone, so nothing is saved by re-evaluating only what a move changes.
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
def draw_move(values, n, beta, me, rng):
    """Draw the index of a move with probability proportional to exp(beta * value for `me`).

    A beta of 1e9 or more takes the best, the first among equals.
    """
    sign = 1.0 if me == WHITE else -1.0
    best = 0
    for i in range(1, n):
        if sign * values[i] > sign * values[best]:
            best = i
    if beta >= 1e9:
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
def final_classes(s, classes):
    """Write the class in which every vertex ends; empty regions go to who alone surrounds them."""
    n = s.shape[1]
    width = s[SCALARS, COLS] + 1
    stack = np.empty(n, np.int64)
    classes[:] = -1
    for start in range(n):
        c = s[COLOUR, start]
        if c == BLACK or c == WHITE:
            classes[start] = BLACK_STONE if c == BLACK else WHITE_STONE
        elif c == EMPTY and classes[start] < 0:
            classes[start] = NOBODY
            stack[0] = start
            size, touches, i = 1, 0, 0
            while i < size:
                for k in range(4):
                    q = stack[i] + (1 if k == 0 else -1 if k == 1 else width if k == 2 else -width)
                    d = s[COLOUR, q]
                    if d == EMPTY:
                        if classes[q] < 0:
                            classes[q] = NOBODY
                            stack[size] = q
                            size += 1
                    elif d != BORDER:
                        touches |= d
                i += 1
            if touches == BLACK or touches == WHITE:
                for i in range(size):
                    classes[stack[i]] = BLACK_POINT if touches == BLACK else WHITE_POINT


@kernel
def decode(c, out, p, q):
    """Write the likelihoods of the five classes that a vertex's outputs imply, given its state."""
    for i in range(5):
        q[i] = ZERO
    if c == EMPTY:
        q[0] = out[p, 3]
        q[1] = max(out[p, 0] - out[p, 3], ZERO)
        q[4] = out[p, 4]
        q[3] = max(UNIT - out[p, 0] - out[p, 4], ZERO)
    elif c == WHITE:
        q[1] = out[p, 1]
        q[4] = out[p, 5]
        q[3] = max(UNIT - out[p, 1] - out[p, 5], ZERO)
    else:
        q[0] = out[p, 6]
        q[1] = max(out[p, 2] - out[p, 6], ZERO)
        q[3] = UNIT - out[p, 2]
    total = q[0] + q[1] + q[3] + q[4]
    if total > ZERO:
        for i in range(5):
            q[i] = q[i] / total


@kernel
def td_gradient(
    nets, targets, lam, first, plies, skip, xs, stones, outs, classes, rows, cols, linear, grads
):
    """Add the gradient of a finished game to `grads`, a pair of Nets of the same shapes.

    xs, stones (plies + 1, N) hold inputs and colours of every position, outs (plies + 1, N, 8) the
    outputs; position t was judged with nets[t % 2]. Positions before `first` are left out, and
    those with t % 2 == skip. Returns the sum of squared errors of the outputs that apply and how
    many there are.
    """
    width = cols + 1
    n = xs.shape[1]
    aim = np.zeros((n, 5), np.float32)
    q5 = np.zeros(5, np.float32)
    delta = np.zeros((n, OUT), np.float32)
    h = np.zeros((n, HIDDEN), np.float32)
    cell = np.zeros((1, CELL), np.float32)
    d72 = np.zeros(REACH, np.float32)
    backs = (
        np.ascontiguousarray(nets[0].oh.reshape(HIDDEN, REACH).T),
        np.ascontiguousarray(nets[1].oh.reshape(HIDDEN, REACH).T),
    )
    work = make_work(1, width)
    mix = np.float32(1.0 - lam)
    keep = np.float32(lam)
    square = 0.0
    terms = 0
    for t in range(plies, first - 1, -1):
        # The lambda-return in class space, then the errors of the outputs that apply.
        for row in range(rows):
            for p in range((row + 1) * width + 1, (row + 1) * width + 1 + cols):
                if t == plies:
                    aim[p, classes[p]] = UNIT
                elif t < plies - 1:
                    decode(stones[t + 1, p], outs[t + 1], p, q5)
                    for i in range(5):
                        aim[p, i] = mix * q5[i] + keep * aim[p, i]
                for k in range(OUT):
                    delta[p, k] = ZERO
                c = stones[t, p]
                for i in range(3):
                    k = READS[c, i]
                    if k == 7:
                        continue
                    goal = ZERO
                    for m in range(5):
                        goal += targets[k, m] * aim[p, m]
                    d = goal - outs[t, p, k]
                    delta[p, k] = d
                    square += d * d
                    terms += 1
        if t % 2 == skip:
            continue
        net, into = nets[t % 2], grads[t % 2]
        if linear:
            _linear_gradient(xs[t], work.offset, delta, cell, rows, cols, into)
        elif net.deep.shape[0] > 0:
            deep_gradient(net, xs[t], work.offset, delta, rows, cols, into)
        else:
            back = backs[t % 2]
            _full_gradient(net, back, xs[t], work.offset, delta, h, cell, d72, rows, cols, into)
    return square, terms


@kernel
def _linear_gradient(x, offset, delta, cell, rows, cols, grads):
    """Add the gradient of one position for the weights from inputs to outputs alone."""
    width = cols + 1
    for row in range(rows):
        for p in range((row + 1) * width + 1, (row + 1) * width + 1 + cols):
            for k in range(OUT):
                cell[0, FIRST_OUT + k] = delta[p, k]
            add_cell(x, offset, p, cell, grads)


@kernel
def _full_gradient(net, back, x, offset, delta, h, cell, d72, rows, cols, grads):
    """Add the gradient of one position, given the errors at the net inputs of its outputs."""
    width = cols + 1
    for row in range(rows):
        start = (row + 1) * width + 1
        for p in range(start, start + cols):
            look_up(net, x, offset, p, cell, 0)
            for j in range(HIDDEN):
                h[p, j] = cell[0, j]
        tanh_all(h[start : start + cols].reshape(-1), cols * HIDDEN)
    for row in range(rows):
        for p in range((row + 1) * width + 1, (row + 1) * width + 1 + cols):
            for j in range(CELL):
                cell[0, j] = ZERO
            for nu in range(9):
                q = p - offset[nu]
                for k in range(OUT):
                    d72[nu * OUT + k] = delta[q, k]
            for m in range(REACH):
                d = d72[m]
                if d != ZERO:
                    for j in range(HIDDEN):
                        cell[0, j] += d * back[m, j]
            for j in range(HIDDEN):
                v = h[p, j]
                for k in range(REACH):
                    grads.oh[j * REACH + k] += v * d72[k]
                cell[0, j] *= UNIT - v * v
            for k in range(OUT):
                cell[0, FIRST_OUT + k] = delta[p, k]
            add_cell(x, offset, p, cell, grads)


@kernel
def self_play(
    nets,
    learned,
    cats,
    table,
    targets,
    c,
    rows,
    cols,
    beta,
    lam,
    limit,
    seed,
    index,
    linear,
    maxlib,
    own,
    again,
    grads,
):
    """Play game `index` of `seed` against itself and add its gradient to `grads`, a pair too.

    In a share `maxlib` of the games one side plays for liberties instead; with `own` only the
    positions after the network's own moves are learned from then. With `again` all positions are
    judged anew by the weights `learned`, and the gradient is that of these; otherwise they must be
    the same as `nets`. Returns (plies, ended by two passes, area score for Black, squared error,
    terms of it).
    """
    s = new_state(rows, cols)
    n = s.shape[1]
    seen = np.zeros(table_size(limit), np.int64)
    rng = np.zeros(1, np.uint64)
    seed_stream(rng, seed, index)
    now, base, work = make_view(n), make_view(n), make_work(n, s[SCALARS, COLS] + 1)
    xs = np.empty((limit + 1, n), np.uint8)
    stones = np.empty((limit + 1, n), np.uint8)
    outs = np.empty((limit + 1, n, OUT), np.float32)
    points = np.zeros(n + 1, np.int64)
    values = np.zeros(n + 1)
    remember(seen, history_key(s[SCALARS, HASH], s[SCALARS, TURN], KO_POSITIONAL))
    simple = liberty_side(rng, maxlib)
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
            weigh_liberties(s, now.out, work, cats)
            p = most_liberties(s, seen, me, rng)
        else:
            net = nets[(plies + 1) % 2]
            m = rate_moves(s, seen, net, cats, table, c, now, base, work, points, values)
            p = points[draw_move(values, m, beta, me, rng)]
        play_move(s, p, me)
        remember(seen, history_key(s[SCALARS, HASH], s[SCALARS, TURN], KO_POSITIONAL))
        passes = passes + 1 if p == PASS else 0
        plies += 1
    classes = np.empty(n, np.int64)
    final_classes(s, classes)
    score = area_score(s)
    if again:
        for t in range(plies + 1):
            for p in range(n):
                now.x[p] = xs[t, p]
                s[COLOUR, p] = stones[t, p]
            evaluate(s, learned[t % 2], now, work, table)
            for p in range(n):
                for k in range(OUT):
                    outs[t, p, k] = now.out[p, k]
    # Against another player only the positions after own moves are the network's to judge.
    skip = simple % 2 if own and simple != 0 else -1
    square, terms = td_gradient(
        learned, targets, lam, 0, plies, skip, xs, stones, outs, classes, rows, cols, linear, grads
    )
    return plies, passes == 2, score, square, terms


@kernel
def learn_game(
    nets, cats, table, targets, lam, rows, cols, moves, first, plies, classes, linear, grads
):
    """Replay the moves of a finished game and add its gradient, from position `first` on.

    Moves must alternate, Black first, and are trusted; classes (N) are the final ones. Returns the
    squared error and the terms of it.
    """
    s = new_state(rows, cols)
    n = s.shape[1]
    now, work = make_view(n), make_work(n, s[SCALARS, COLS] + 1)
    xs = np.empty((plies + 1, n), np.uint8)
    stones = np.empty((plies + 1, n), np.uint8)
    outs = np.empty((plies + 1, n, OUT), np.float32)
    # Plain liberties need no outputs of the positions before.
    start = first if cats[0] == 1 or cats[0] == 2 or cats[0] == SECOND else 0
    for t in range(plies + 1):
        if t >= start:
            categorise(s, now, work, cats)
            evaluate(s, nets[t % 2], now, work, table)
            for p in range(n):
                xs[t, p] = now.x[p]
                stones[t, p] = s[COLOUR, p]
                for k in range(OUT):
                    outs[t, p, k] = now.out[p, k]
            weigh_liberties(s, now.out, work, cats)
        elif t == start - 1:
            weigh_liberties(s, now.out, work, cats)
        if t < plies:
            play_move(s, np.int64(moves[t]), s[SCALARS, TURN])
    return td_gradient(
        nets, targets, lam, first, plies, -1, xs, stones, outs, classes, rows, cols, linear, grads
    )


@kernel
def table_size(limit):
    """Return a power of two with room for every position of a game."""
    size = 1024
    while size < 4 * limit:
        size *= 2
    return size
