"""Choose moves with evolved networks; a stone changes one input, so only what it touches is
recomputed.

A network sees the board as +1 for own stones, -1 for enemy stones, 0 for empty points, row by row.
The value of a position is compared before the last tanh, which would not change the order.

`minimax_move` looks two plies ahead with alpha-beta; `spatial_move` takes the best position after
one own move. Candidates are tried in point order and an equal value never replaces an earlier one,
so that a choice is a function of weights and position. Superko is the caller's.
"""

# mypy: ignore-errors
from __future__ import annotations

import math

import numpy as np

from tengen.board.kernels import (
    COLOUR,
    COLS,
    EMPTY,
    HEAD,
    NEXT,
    PASS,
    ROWS,
    SCALARS,
    TURN,
    in_atari,
    is_legal,
    near,
    play_move,
)
from tengen.jit import kernel

NEVER = -1e300
"""Below every value a network can give."""


@kernel
def point_of(index, cols):
    """Return the bordered point of a row-major index."""
    return (index // cols + 1) * (cols + 1) + index % cols + 1


@kernel
def index_of(p, cols):
    """Return the row-major index of a bordered point."""
    return (p // (cols + 1) - 1) * cols + p % (cols + 1) - 1


@kernel
def read_inputs(s, colour, x):
    """Fill `x` with what a network playing `colour` sees."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    for i in range(rows * cols):
        c = s[COLOUR, point_of(i, cols)]
        x[i] = 0.0 if c == EMPTY else 1.0 if c == colour else -1.0


@kernel
def changes(s, p, colour, where, how, me):
    """List the inputs that change when `colour` plays the legal point `p`, as `me` sees them.

    Writes indices and differences, returns how many: the stone itself and every stone it captures.
    Suicide is not foreseen; under the rules of these games it is illegal.
    """
    cols = s[SCALARS, COLS]
    where[0] = index_of(p, cols)
    how[0] = 1.0 if colour == me else -1.0
    count = 1
    enemy = 3 - colour
    width = cols + 1
    for k in range(4):
        q = near(p, k, width)
        if s[COLOUR, q] != enemy or not in_atari(s, s[HEAD, q]):
            continue
        head = s[HEAD, q]
        known = False
        for j in range(k):
            z = near(p, j, width)
            if s[COLOUR, z] == enemy and s[HEAD, z] == head:
                known = True
        if known:
            continue
        x = head
        while True:
            where[count] = index_of(x, cols)
            how[count] = 1.0 if enemy != me else -1.0
            count += 1
            x = s[NEXT, x]
            if x == head:
                break
    return count


@kernel
def _output(hidden, w2):
    """Return the value of hidden sums before the last tanh; the last entry of `w2` is the bias."""
    total = w2[hidden.shape[0]]
    for h in range(hidden.shape[0]):
        total += w2[h] * math.tanh(hidden[h])
    return total


@kernel
def _apply(w1, where, how, count, source, target):
    """Write to `target` the hidden sums after the listed inputs changed."""
    for h in range(source.shape[0]):
        target[h] = source[h]
    for i in range(count):
        row, step = where[i], how[i]
        for h in range(source.shape[0]):
            target[h] += step * w1[row, h]


@kernel
def dense_sums(x, w1, out):
    """Fill `out` with the hidden sums of inputs `x`; the last row of `w1` is the bias."""
    n = x.shape[0]
    for h in range(out.shape[0]):
        out[h] = w1[n, h]
    for i in range(n):
        if x[i] != 0.0:
            for h in range(out.shape[0]):
                out[h] += x[i] * w1[i, h]


@kernel
def dense_value(s, me, w1, w2):
    """Return the value of a position by the plain forward pass, before the last tanh."""
    cells = w1.shape[0] - 1
    x = np.empty(cells)
    hidden = np.empty(w1.shape[1])
    read_inputs(s, me, x)
    dense_sums(x, w1, hidden)
    return _output(hidden, w2)


@kernel
def _worst_reply(t, me, w1, w2, sums, after, where, how, alpha, killer):
    """Return the value of the enemy's best reply and the reply; stop once it is not above `alpha`.

    The reply that refuted the last candidate is tried first.
    """
    enemy = 3 - me
    cells = w1.shape[0] - 1
    cols = t[SCALARS, COLS]
    worst = _output(sums, w2)  # the enemy may pass
    reply = PASS
    for i in range(-1, cells):
        p = killer if i < 0 else point_of(i, cols)
        if p == PASS or (i >= 0 and p == killer) or not is_legal(t, p, enemy):
            continue
        count = changes(t, p, enemy, where, how, me)
        _apply(w1, where, how, count, sums, after)
        value = _output(after, w2)
        if value < worst:
            worst, reply = value, p
            if worst <= alpha:
                break
    return worst, reply


@kernel
def minimax_move(s, w1, w2, plies, free):
    """Return the move of the network with `plies` (1 or 2) of look-ahead.

    With `free` every point is a candidate, legal or not (an illegal one is then passed for by the
    caller, as in the paper); otherwise only legal moves are tried. Without any it passes.
    """
    me = s[SCALARS, TURN]
    cells, units = w1.shape[0] - 1, w1.shape[1]
    cols = s[SCALARS, COLS]
    x = np.empty(cells)
    base, sums, after = np.empty(units), np.empty(units), np.empty(units)
    where, how = np.empty(cells + 1, np.int64), np.empty(cells + 1)
    where2, how2 = np.empty(cells + 1, np.int64), np.empty(cells + 1)
    read_inputs(s, me, x)
    dense_sums(x, w1, base)
    first = np.full(cells, NEVER)
    for i in range(cells):
        p = point_of(i, cols)
        if is_legal(s, p, me):
            count = changes(s, p, me, where, how, me)
        elif free:
            where[0], how[0], count = i, 1.0, 1
        else:
            continue
        _apply(w1, where, how, count, base, sums)
        first[i] = _output(sums, w2)
    if plies == 1:
        best = np.argmax(first)
        return point_of(best, cols) if first[best] > NEVER else PASS
    # The most promising first, so that alpha-beta cuts early; among equals the first in order.
    order = np.argsort(-first, kind="mergesort")
    t = np.empty_like(s)
    best, best_value = -1, NEVER
    killer = PASS
    for j in range(cells):
        i = order[j]
        if first[i] <= NEVER:
            break
        p = point_of(i, cols)
        t[:, :] = s
        if is_legal(s, p, me):
            count = changes(s, p, me, where, how, me)
            play_move(t, p, me)
        else:
            where[0], how[0], count = i, 1.0, 1
            play_move(t, PASS, me)
        _apply(w1, where, how, count, base, sums)
        value, reply = _worst_reply(t, me, w1, w2, sums, after, where2, how2, best_value, killer)
        if value > best_value:
            best, best_value = i, value
        elif reply != PASS:
            killer = reply
    return point_of(best, cols) if best >= 0 else PASS


# ----- The spatial network: one unit a window -----


@kernel
def window_sums(x, w0, starts, sizes, offsets, cols, out):
    """Fill `out` with the sums of all windows over inputs `x`.

    Window u covers sizes[u] x sizes[u] points from index starts[u]; its weights stand at
    offsets[u], row by row, its bias behind them.
    """
    for u in range(starts.shape[0]):
        m = sizes[u]
        total = w0[offsets[u] + m * m]
        for r in range(m):
            for c in range(m):
                total += w0[offsets[u] + r * m + c] * x[starts[u] + r * cols + c]
        out[u] = total


@kernel
def spatial_value(s, me, w0, w1, w2, starts, sizes, offsets):
    """Return the value of a position by the plain forward pass, before the last tanh."""
    cells = s[SCALARS, ROWS] * s[SCALARS, COLS]
    x = np.empty(cells)
    read_inputs(s, me, x)
    sums = np.empty(starts.shape[0])
    window_sums(x, w0, starts, sizes, offsets, s[SCALARS, COLS], sums)
    for u in range(sums.shape[0]):
        sums[u] = math.tanh(sums[u])
    hidden = np.empty(w1.shape[1])
    dense_sums(sums, w1, hidden)
    return _output(hidden, w2)


@kernel
def _spatial_after(
    where, how, count, w0, w1, w2, cover, cover_weight, sums, bent, base, delta, hidden
):
    """Return the value after the listed inputs changed, recomputing only the windows they touch."""
    units = sums.shape[0]
    for u in range(units):
        delta[u] = 0.0
    for i in range(count):
        cell = where[i]
        for j in range(cover.shape[1]):
            u = cover[cell, j]
            if u < 0:
                break
            delta[u] += how[i] * w0[cover_weight[cell, j]]
    for h in range(hidden.shape[0]):
        hidden[h] = base[h]
    for u in range(units):
        if delta[u] != 0.0:
            step = math.tanh(sums[u] + delta[u]) - bent[u]
            for h in range(hidden.shape[0]):
                hidden[h] += step * w1[u, h]
    return _output(hidden, w2)


@kernel
def spatial_move(s, w0, w1, w2, starts, sizes, offsets, cover, cover_weight, free):
    """Return the own move after which the spatial network likes the position best.

    cover[cell] lists the windows over a cell (-1 behind the last) and cover_weight the place of
    that cell's weight in each. `free` as in `minimax_move`.
    """
    me = s[SCALARS, TURN]
    cols = s[SCALARS, COLS]
    cells = s[SCALARS, ROWS] * cols
    units = starts.shape[0]
    x = np.empty(cells)
    sums, bent, delta = np.empty(units), np.empty(units), np.empty(units)
    base, hidden = np.empty(w1.shape[1]), np.empty(w1.shape[1])
    where, how = np.empty(cells + 1, np.int64), np.empty(cells + 1)
    read_inputs(s, me, x)
    window_sums(x, w0, starts, sizes, offsets, cols, sums)
    for u in range(units):
        bent[u] = math.tanh(sums[u])
    dense_sums(bent, w1, base)
    best, best_value = PASS, NEVER
    for i in range(cells):
        p = point_of(i, cols)
        if is_legal(s, p, me):
            count = changes(s, p, me, where, how, me)
        elif free:
            where[0], how[0], count = i, 1.0, 1
        else:
            continue
        value = _spatial_after(
            where, how, count, w0, w1, w2, cover, cover_weight, sums, bent, base, delta, hidden
        )
        if value > best_value:
            best, best_value = p, value
    return best


@kernel
def spatial_minimax_move(s, w0, w1, w2, starts, sizes, offsets, cover, cover_weight, width):
    """Return the spatial network's move with two plies of look-ahead over its best `width` moves.

    What the paper dropped for its cost: replies are answered by the plain enemy ply, every legal
    one, with alpha-beta.
    """
    me = s[SCALARS, TURN]
    enemy = 3 - me
    cols = s[SCALARS, COLS]
    cells = s[SCALARS, ROWS] * cols
    units = starts.shape[0]
    x = np.empty(cells)
    sums, bent, delta = np.empty(units), np.empty(units), np.empty(units)
    base, hidden = np.empty(w1.shape[1]), np.empty(w1.shape[1])
    where, how = np.empty(cells + 1, np.int64), np.empty(cells + 1)
    read_inputs(s, me, x)
    window_sums(x, w0, starts, sizes, offsets, cols, sums)
    for u in range(units):
        bent[u] = math.tanh(sums[u])
    dense_sums(bent, w1, base)
    first = np.full(cells, NEVER)
    for i in range(cells):
        p = point_of(i, cols)
        if is_legal(s, p, me):
            count = changes(s, p, me, where, how, me)
            first[i] = _spatial_after(
                where, how, count, w0, w1, w2, cover, cover_weight, sums, bent, base, delta, hidden
            )
    order = np.argsort(-first, kind="mergesort")
    t = np.empty_like(s)
    best, best_value = PASS, NEVER
    killer = PASS
    for j in range(min(width, cells)):
        i = order[j]
        if first[i] <= NEVER:
            break
        t[:, :] = s
        play_move(t, point_of(i, cols), me)
        read_inputs(t, me, x)
        window_sums(x, w0, starts, sizes, offsets, cols, sums)
        for u in range(units):
            bent[u] = math.tanh(sums[u])
        dense_sums(bent, w1, base)
        worst = first[i]
        reply = PASS
        for k in range(-1, cells):
            p = killer if k < 0 else point_of(k, cols)
            if p == PASS or (k >= 0 and p == killer) or not is_legal(t, p, enemy):
                continue
            count = changes(t, p, enemy, where, how, me)
            value = _spatial_after(
                where, how, count, w0, w1, w2, cover, cover_weight, sums, bent, base, delta, hidden
            )
            if value < worst:
                worst, reply = value, p
                if worst <= best_value:
                    break
        if worst > best_value:
            best, best_value = point_of(i, cols), worst
        elif reply != PASS:
            killer = reply
    return best
