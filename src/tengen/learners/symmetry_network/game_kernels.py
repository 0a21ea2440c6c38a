"""Play whole games with networks, each game in one kernel, and take the gradient of a game.

A game keeps two views of the position: `now`, the inputs as they came about (categories from the
outputs of the previous position), from which the network learns; and `base`, the same stones sorted
with the current outputs, with which passes and candidate moves are compared. `self_play` learns,
`duel` does not.
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
    seed_stream,
    uniform,
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
from tengen.board.tactics_kernels import BY_BLOCK, is_own_eye, maxlib_move
from tengen.jit import hot_kernel, kernel
from tengen.learners.symmetry_network.kernels import (
    BY_LIBERTIES,
    CELL,
    FIRST_OUT,
    HIDDEN,
    INPUTS,
    OUT,
    REACH,
    READS,
    UNIT,
    ZERO,
    candidate,
    categorise,
    evaluate,
    hidden_units,
    make_view,
    make_work,
    weigh_liberties,
)

BEST = 1e9
"""The least beta with which a side always takes the best move."""


@kernel
def settle(s, net, cats, table, now, work, rounds):
    """Evaluate a position without its past: repeat categories and evaluation `rounds` times.

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

    The first is the pass. `now` must be evaluated; fills `base` and `work`.
    """
    me = s[SCALARS, TURN]
    weigh_liberties(s, now.out, work)
    categorise(s, base, work, cats)
    total = evaluate(s, net, base, work, table)
    points[0] = PASS
    values[0] = total
    n = 1
    prize = c if me == WHITE else -c
    # In the order of the points, so that a draw does not depend on the order of the empty list.
    for p in range(s.shape[1]):
        if s[COLOUR, p] == EMPTY and is_allowed(s, seen, KO_POSITIONAL, p, me):
            gain, captured = candidate(s, net, base, work, cats, table, p, me)
            points[n] = p
            values[n] = total + gain + prize * captured
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
def self_play(side, targets, rows, cols, lam, limit, seed, index, linear, grads):
    """Play game `index` of `seed` and add its gradient to `grads`, a Net.

    Returns (plies, whether two passes ended it, area score for Black, squared error, its terms).
    """
    net, cats, table = side.net, side.cats, side.table
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
    plies = 0
    passes = 0
    while True:
        categorise(s, now, work, cats)
        evaluate(s, net, now, work, table)
        for p in range(n):
            xs[plies, p] = now.x[p]
            stones[plies, p] = s[COLOUR, p]
            for k in range(OUT):
                outs[plies, p, k] = now.out[p, k]
        if plies == limit or passes == 2:
            break
        me = s[SCALARS, TURN]
        m = rate_moves(s, seen, net, cats, table, side.prize, now, base, work, points, values)
        p = points[_draw_move(values, m, side.beta, me, rng)]
        play_move(s, p, me)
        remember(seen, history_key(s[SCALARS, HASH], s[SCALARS, TURN], KO_POSITIONAL))
        passes = passes + 1 if p == PASS else 0
        plies += 1
    classes = np.empty(n, np.int64)
    final_classes(s, classes)
    square, terms = td_gradient(
        net, targets, lam, plies, xs, stones, outs, classes, rows, cols, linear, grads
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
    settle(s, black.net, black.cats, black.table, now_b, work_b, 3)
    settle(s, white.net, white.cats, white.table, now_w, work_w, 3)
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
        if _asks_outputs(black):
            categorise(s, now_b, work_b, black.cats)
            evaluate(s, black.net, now_b, work_b, black.table)
        if _asks_outputs(white):
            categorise(s, now_w, work_w, white.cats)
            evaluate(s, white.net, now_w, work_w, white.table)
    return plies, area_score(s)


@kernel
def _choose(s, seen, side, now, base, work, points, values, rng):
    """Return the move of the side to play; see `duel` for its beta."""
    me = s[SCALARS, TURN]
    if side.beta == -1.0:
        return _random_move(s, seen, me, rng, points)
    if side.beta == -2.0:
        return _most_liberties(s, seen, me, rng)
    net, cats, table = side.net, side.cats, side.table
    m = rate_moves(s, seen, net, cats, table, side.prize, now, base, work, points, values)
    if side.beta >= BEST:
        m = _spare_eyes(s, me, points, values, m)
    return points[_draw_move(values, m, side.beta, me, rng)]


@kernel
def _asks_outputs(side):
    """Return whether a side sorts blocks by the outputs of the previous position."""
    return side.beta >= 0.0 and side.cats[0] != BY_LIBERTIES


@kernel
def open_at_random(s, plies, seed, index):
    """Play random moves on `s`, drawn from stream `index` of the seed's openings."""
    rng = np.zeros(1, np.uint64)
    seed_stream(rng, seed ^ 0x0BE9, index)
    points = np.zeros(s.shape[1] + 1, np.int64)
    seen = np.zeros(1024, np.int64)
    for _ in range(plies):
        play_move(s, _random_move(s, seen, s[SCALARS, TURN], rng, points), s[SCALARS, TURN])


@kernel
def _spare_eyes(s, me, points, values, n):
    """Drop moves that fill an own eye, and the pass if another is left; return how many are left.

    The greedy player does the same: under area scoring an extra point never costs anything.
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
def _table_size(limit):
    """Return a power of two with room for every position of a game."""
    size = 1024
    while size < 4 * limit:
        size *= 2
    return size


# ----- The gradient of a finished game -----

# Final classes of a vertex, in the order of `network.CLASSES`.
_WHITE_POINT, WHITE_STONE, NOBODY, BLACK_STONE, BLACK_POINT = 0, 1, 2, 3, 4


@kernel
def final_classes(s, classes):
    """Write the final class of every vertex; an empty region belongs to its only neighbour."""
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
                    classes[stack[i]] = BLACK_POINT if touches == BLACK else _WHITE_POINT


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
def td_gradient(net, targets, lam, plies, xs, stones, outs, classes, rows, cols, linear, grads):
    """Add the TD(lambda) gradient of a finished game to `grads`, a Net of the same shapes.

    xs, stones (plies + 1, N) hold inputs and colours of every position, outs (plies + 1, N, 8) the
    outputs. The final class of every vertex is carried back through the game as probabilities of
    the five classes; each position gives errors at the net inputs of its outputs. Returns the sum
    of squared errors of the outputs that apply, and their number.
    """
    width = cols + 1
    n = xs.shape[1]
    aim = np.zeros((n, 5), np.float32)
    q5 = np.zeros(5, np.float32)
    delta = np.zeros((n, OUT), np.float32)
    a, h = np.zeros((n, CELL), np.float32), np.zeros((n, HIDDEN), np.float32)
    cell = np.zeros((1, CELL), np.float32)
    d72 = np.zeros(REACH, np.float32)
    back = np.ascontiguousarray(net.oh.reshape(HIDDEN, REACH).T)
    work = make_work(1, width)
    mix = np.float32(1.0 - lam)
    keep = np.float32(lam)
    square = 0.0
    terms = 0
    for t in range(plies, -1, -1):
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
        if linear:
            _linear_gradient(xs[t], work.offset, delta, cell, rows, cols, grads)
        else:
            _full_gradient(net, back, xs[t], work.offset, delta, a, h, cell, d72, rows, cols, grads)
    return square, terms


@kernel
def _linear_gradient(x, offset, delta, cell, rows, cols, grads):
    """Add the gradient of one position for the weights from inputs to outputs alone."""
    width = cols + 1
    for row in range(rows):
        for p in range((row + 1) * width + 1, (row + 1) * width + 1 + cols):
            for k in range(OUT):
                cell[0, FIRST_OUT + k] = delta[p, k]
            _add_cell(x, offset, p, cell, grads)


@kernel
def _full_gradient(net, back, x, offset, delta, a, h, cell, d72, rows, cols, grads):
    """Add the gradient of one position, given the errors at the net inputs of its outputs."""
    width = cols + 1
    hidden_units(net, x, offset, rows, cols, a, h)
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
            _add_cell(x, offset, p, cell, grads)


@hot_kernel
def _add_cell(x, offset, p, cell, grads):
    """Add a cell's errors to the gradient of its bias and of the nine table rows it read."""
    for j in range(CELL):
        grads.bias[j] += cell[0, j]
    for nu in range(9):
        row = nu * INPUTS + np.int64(x[p + offset[nu]])
        for j in range(CELL):
            grads.table[row, j] += cell[0, j]
