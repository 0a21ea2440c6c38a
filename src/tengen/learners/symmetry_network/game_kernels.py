"""Play whole games with networks, each game in one kernel, and take the gradient of a game.

A game has two views of the position: `now`, the inputs as they came about (categories from the
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
from tengen.jit import inner_kernel, kernel
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
    X,
    candidate,
    categorise,
    evaluate,
    hidden_units,
    weigh_liberties,
)

BEST = 1e9
"""The least beta with which a side always takes the best move."""
RANDOM, MAXLIB = -1.0, -2.0
"""The betas with which a side plays at random, or for liberties."""


@kernel
def judge(s, side, room, rounds):
    """Evaluate a position without its past: repeat categories and evaluation `rounds` times.

    Starts from neutral outputs; fills `room.now`. Returns the board's value.
    """
    now, work = room.now, room.work
    for p in range(s.shape[1]):
        for k in range(7):
            now.out[p, k] = np.float32(0.5) if k < 3 else np.float32(0.12)
    total = 0.0
    for _ in range(rounds):
        weigh_liberties(s, now.out, work)
        categorise(s, now, work, side.cats)
        total = evaluate(s, side, now, work)
    return total


@kernel
def rate_moves(s, seen, side, room):
    """Value the position after every allowed move, captures rewarded; return how many there are.

    The first is the pass. `room.now` must be evaluated; fills `base`, `points` and `values`.
    """
    me = s[SCALARS, TURN]
    base, work, points, values = room.base, room.work, room.points, room.values
    weigh_liberties(s, room.now.out, work)
    categorise(s, base, work, side.cats)
    total = evaluate(s, side, base, work)
    points[0] = PASS
    values[0] = total
    n = 1
    prize = side.prize if me == WHITE else -side.prize
    # In the order of the points, so that a draw does not depend on the order of the empty list.
    for p in range(s.shape[1]):
        if s[COLOUR, p] == EMPTY and is_allowed(s, seen, KO_POSITIONAL, p, me):
            gain, captured = candidate(s, side, base, work, p, me)
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


@inner_kernel
def _play(s, seen, p):
    """Play a move and remember the position."""
    play_move(s, p, s[SCALARS, TURN])
    remember(seen, history_key(s[SCALARS, HASH], s[SCALARS, TURN], KO_POSITIONAL))


@inner_kernel
def _history(s, limit):
    """Return a table with room for every position of a game, a power of two, with this one."""
    size = 1024
    while size < 4 * limit:
        size *= 2
    seen = np.zeros(size, np.int64)
    remember(seen, history_key(s[SCALARS, HASH], s[SCALARS, TURN], KO_POSITIONAL))
    return seen


@kernel
def self_play(s, side, room, targets, lam, limit, seed, index, grads):
    """Play game `index` of `seed` from `s` (changed) and add its gradient to `grads`, a Net.

    Returns (plies, whether two passes ended it, area score for Black, squared error, its terms).
    """
    n = s.shape[1]
    seen = _history(s, limit)
    rng = np.zeros(1, np.uint64)
    seed_stream(rng, seed, index)
    now, work = room.now, room.work
    xs, stones = np.empty((limit + 1, n), np.int64), np.empty((limit + 1, n), np.int64)
    outs = np.empty((limit + 1, n, OUT), np.float32)
    plies = passes = 0
    while True:
        categorise(s, now, work, side.cats)
        evaluate(s, side, now, work)
        for p in range(n):
            xs[plies, p] = now.at[X, p]
            stones[plies, p] = s[COLOUR, p]
            for k in range(OUT):
                outs[plies, p, k] = now.out[p, k]
        if plies == limit or passes == 2:
            break
        m = rate_moves(s, seen, side, room)
        p = room.points[_draw_move(room.values, m, side.beta, s[SCALARS, TURN], rng)]
        _play(s, seen, p)
        passes = passes + 1 if p == PASS else 0
        plies += 1
    classes = np.empty(n, np.int64)
    final_classes(s, classes)
    square, terms = td_gradient(
        side.net,
        targets,
        lam,
        plies,
        xs,
        stones,
        outs,
        classes,
        work.offset,
        s[SCALARS, ROWS],
        s[SCALARS, COLS],
        grads,
    )
    return plies, passes == 2, area_score(s), square, terms


@kernel
def duel(s, black, white, room_b, room_w, openings, limit, seed, index):
    """Let two sides play on from `s` (changed); return (plies, area score for Black).

    Begins with `openings` random plies, the same for two games (2 i and 2 i + 1) of a seed.
    A beta of BEST takes the best move that fills no own eye, as the greedy player does; lower ones
    draw among all moves, as in training. With a beta of RANDOM a side plays at random instead, not
    filling its own eyes, with MAXLIB for liberties.
    """
    rng = np.zeros(1, np.uint64)
    seed_stream(rng, seed ^ 0x0BE9, index // 2)
    seen = np.zeros(1, np.int64)
    for _ in range(openings):
        play_move(s, _random_move(s, seen, s[SCALARS, TURN], rng, room_b.points), s[SCALARS, TURN])
    seen = _history(s, limit)
    seed_stream(rng, seed, index)
    judge(s, black, room_b, 3)
    judge(s, white, room_w, 3)
    plies = passes = 0
    while plies < limit and passes < 2:
        if s[SCALARS, TURN] == BLACK:
            p = _choose(s, seen, black, room_b, rng)
            weigh_liberties(s, room_w.now.out, room_w.work)
        else:
            p = _choose(s, seen, white, room_w, rng)
            weigh_liberties(s, room_b.now.out, room_b.work)
        _play(s, seen, p)
        passes = passes + 1 if p == PASS else 0
        plies += 1
        _look_again(s, black, room_b)
        _look_again(s, white, room_w)
    return plies, area_score(s)


@inner_kernel
def _look_again(s, side, room):
    """Evaluate the next position for a side that needs the outputs of the previous one."""
    if side.beta >= 0.0 and side.cats[0] != BY_LIBERTIES:
        categorise(s, room.now, room.work, side.cats)
        evaluate(s, side, room.now, room.work)


@kernel
def _choose(s, seen, side, room, rng):
    """Return the move of the side to play; see `duel` for its beta."""
    me = s[SCALARS, TURN]
    if side.beta == RANDOM:
        return _random_move(s, seen, me, rng, room.points)
    if side.beta == MAXLIB:
        allowed = np.empty(s[SCALARS, ROWS] * s[SCALARS, COLS] + 1, np.bool_)
        allowed_mask(s, seen, KO_POSITIONAL, me, allowed)
        return maxlib_move(s, me, BY_BLOCK, allowed, rng)
    m = rate_moves(s, seen, side, room)
    if side.beta >= BEST:
        m = _spare_eyes(s, me, room.points, room.values, m)
    return room.points[_draw_move(room.values, m, side.beta, me, rng)]


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


# ----- The gradient of a finished game -----

# Final classes of a vertex, in the order of `network.CLASSES`.
_WHITE_POINT, WHITE_STONE, NOBODY, BLACK_STONE, BLACK_POINT = 0, 1, 2, 3, 4


@kernel
def final_classes(s, classes):
    """Write the final class of every vertex; an empty region belongs to its only neighbour."""
    n = s.shape[1]
    width = s[SCALARS, COLS] + 1
    stack = np.empty(n, np.int64)
    for p in range(n):
        classes[p] = -1
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
                    q = near(stack[i], k, width)
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
def td_gradient(net, targets, lam, plies, xs, stones, outs, classes, offset, rows, cols,
                grads):  # fmt: skip
    """Add the TD(lambda) gradient of a finished game to `grads`, a Net of the same shapes.

    xs, stones (plies + 1, N) hold inputs and colours of every position, outs (plies + 1, N, 8) the
    outputs. The final class of every vertex is carried back through the game as probabilities of
    the five classes; each position gives errors at the net inputs of its outputs. Returns the sum
    of squared errors of the outputs that apply, and their number.
    """
    width = cols + 1
    n = xs.shape[1]
    aim = np.zeros((n, 5), np.float32)
    q = np.zeros(5, np.float32)
    delta = np.zeros((n, OUT), np.float32)
    a, h = np.zeros((n, CELL), np.float32), np.zeros((n, HIDDEN), np.float32)
    cell, d72 = np.zeros(CELL, np.float32), np.zeros(REACH, np.float32)
    back = np.empty((REACH, HIDDEN), np.float32)
    for k in range(REACH):
        for j in range(HIDDEN):
            back[k, j] = net.oh[j * REACH + k]
    mix, keep = np.float32(1.0 - lam), np.float32(lam)
    square, terms = 0.0, 0
    for t in range(plies, -1, -1):
        # The lambda-return in class space, then the errors of the outputs that apply.
        for row in range(rows):
            for p in range((row + 1) * width + 1, (row + 1) * width + 1 + cols):
                if t == plies:
                    aim[p, classes[p]] = UNIT
                elif t < plies - 1:
                    # The likelihoods of the classes that the next position's outputs imply.
                    c, q[0], q[4] = stones[t + 1, p], ZERO, ZERO
                    if c == EMPTY:
                        z, q[0], q[4] = outs[t + 1, p, 0], outs[t + 1, p, 3], outs[t + 1, p, 4]
                    elif c == WHITE:
                        z, q[4] = outs[t + 1, p, 1], outs[t + 1, p, 5]
                    else:
                        z, q[0] = outs[t + 1, p, 2], outs[t + 1, p, 6]
                    q[1], q[3] = max(z - q[0], ZERO), max(UNIT - z - q[4], ZERO)
                    total = q[0] + q[1] + q[3] + q[4]
                    for i in range(5):
                        aim[p, i] = mix * (q[i] / total) + keep * aim[p, i]
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
        _position_gradient(net, back, xs[t], offset, delta, a, h, cell, d72, rows, cols, grads)
    return square, terms


@kernel
def _position_gradient(net, back, x, offset, delta, a, h, cell, d72, rows, cols, grads):
    """Add the gradient of one position, given the errors at the net inputs of its outputs."""
    width = cols + 1
    hidden_units(net, x, offset, rows, cols, a, h)
    for row in range(rows):
        for p in range((row + 1) * width + 1, (row + 1) * width + 1 + cols):
            for j in range(CELL):
                cell[j] = ZERO
            for nu in range(9):
                q = p - offset[nu]
                for k in range(OUT):
                    d72[nu * OUT + k] = delta[q, k]
            for m in range(REACH):
                d = d72[m]
                if d != ZERO:
                    for j in range(HIDDEN):
                        cell[j] += d * back[m, j]
            for j in range(HIDDEN):
                v = h[p, j]
                for k in range(REACH):
                    grads.oh[j * REACH + k] += v * d72[k]
                cell[j] *= UNIT - v * v
            for k in range(OUT):
                cell[FIRST_OUT + k] = delta[p, k]
            for j in range(CELL):
                grads.bias[j] += cell[j]
            for nu in range(9):
                i = nu * INPUTS + x[p + offset[nu]]
                for j in range(CELL):
                    grads.table[i, j] += cell[j]
