"""Take the gradient of a finished game by TD(lambda), position by position; play nothing.

What every vertex became is carried back through the game as likelihoods of five classes; each
position gives errors at the net inputs of its outputs, which are sent back through the network. The
paper's shape has its own, faster way; stacks and recurrent steps go through `_deep_gradient`.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.layout_kernels import BLACK, BORDER, COLOUR, COLS, EMPTY, SCALARS, WHITE
from tengen.jit import hot_kernel, kernel
from tengen.learners.symmetry_network.evaluation_kernels import (
    CELL,
    FIRST_OUT,
    HIDDEN,
    OUT,
    REACH,
    READS,
    UNIT,
    ZERO,
    ascend,
    first_units,
    make_work,
)

# Final classes of a vertex, in the order of rewards.CLASSES.
_WHITE_POINT, WHITE_STONE, NOBODY, BLACK_STONE, BLACK_POINT = 0, 1, 2, 3, 4


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
def td_gradient(
    nets, targets, lam, plies, skip, xs, stones, outs, classes, rows, cols, linear, grads
):
    """Add the gradient of a finished game to `grads`, a pair of Nets of the same shapes.

    xs, stones (plies + 1, N) hold inputs and colours of every position, outs (plies + 1, N, 8) the
    outputs; position t was judged with nets[t % 2]. Positions with t % 2 == skip are left out.
    Returns the sum of squared errors of the outputs that apply and how many there are.
    """
    width = cols + 1
    n = xs.shape[1]
    aim = np.zeros((n, 5), np.float32)
    q5 = np.zeros(5, np.float32)
    delta = np.zeros((n, OUT), np.float32)
    a, h = np.zeros((n, CELL), np.float32), np.zeros((n, HIDDEN), np.float32)
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
        if t % 2 == skip:
            continue
        net, into = nets[t % 2], grads[t % 2]
        if linear:
            _linear_gradient(xs[t], work.offset, delta, cell, rows, cols, into)
        elif net.deep.shape[0] > 0:
            _deep_gradient(net, xs[t], work.offset, delta, rows, cols, into)
        else:
            back = backs[t % 2]
            _full_gradient(net, back, xs[t], work.offset, delta, a, h, cell, d72, rows, cols, into)
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
    first_units(net, x, offset, rows, cols, a, h)
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


@kernel
def _deep_gradient(net, x, offset, delta, rows, cols, grads):
    """Add the gradient of one position to `grads`; delta (N, OUT) the errors of the outputs."""
    width = cols + 1
    n = x.shape[0]
    layers = net.deep.shape[0]
    first = np.zeros((n, CELL), np.float32)
    fields = np.zeros((layers + 1, n, HIDDEN), np.float32)
    first_units(net, x, offset, rows, cols, first, fields[0])
    for k in range(layers):
        ascend(net, k, first, fields[k], fields[k + 1], offset, rows, cols)
    top = fields[layers]
    back = np.zeros((n, HIDDEN), np.float32)  # errors at the units of the layer at hand
    to_first = np.zeros((n, HIDDEN), np.float32)  # errors at the first net inputs
    for row in range(rows):
        for p in range((row + 1) * width + 1, (row + 1) * width + 1 + cols):
            for nu in range(9):
                q = p - offset[nu]
                for j in range(HIDDEN):
                    at = (j * 9 + nu) * OUT
                    error = ZERO
                    for k in range(OUT):
                        error += delta[q, k] * net.oh[at + k]
                        grads.oh[at + k] += delta[q, k] * top[p, j]
                    back[p, j] += error
    for k in range(layers - 1, -1, -1):
        above, below = fields[k + 1], fields[k]
        for p in range(n):
            for j in range(HIDDEN):
                back[p, j] *= UNIT - above[p, j] * above[p, j]
                grads.inner[k, j] += back[p, j]
        if net.again[k]:
            for p in range(n):
                for j in range(HIDDEN):
                    to_first[p, j] += back[p, j]
        lower = np.zeros((n, HIDDEN), np.float32)
        for row in range(rows):
            for p in range((row + 1) * width + 1, (row + 1) * width + 1 + cols):
                for nu in range(9):
                    q = p + offset[nu]
                    for i in range(HIDDEN):
                        v = below[q, i]
                        error = ZERO
                        for j in range(HIDDEN):
                            error += back[p, j] * net.deep[k, nu, i, j]
                            grads.deep[k, nu, i, j] += v * back[p, j]
                        lower[q, i] += error
        # What fell on the ring stays there: its units are fixed at zero.
        for p in range(n):
            for j in range(HIDDEN):
                back[p, j] = ZERO
        for row in range(rows):
            for p in range((row + 1) * width + 1, (row + 1) * width + 1 + cols):
                for j in range(HIDDEN):
                    back[p, j] = lower[p, j]
    cell = np.zeros((1, CELL), np.float32)
    for row in range(rows):
        for p in range((row + 1) * width + 1, (row + 1) * width + 1 + cols):
            for j in range(HIDDEN):
                v = fields[0, p, j]
                cell[0, j] = back[p, j] * (UNIT - v * v) + to_first[p, j]
            for k in range(OUT):
                cell[0, FIRST_OUT + k] = delta[p, k]
            _add_cell(x, offset, p, cell, grads)


@hot_kernel
def _add_cell(x, offset, p, cell, grads):
    """Add a cell's errors to the gradient of its bias and of the nine table rows it read."""
    inputs = grads.table.shape[0] // 9
    for j in range(CELL):
        grads.bias[j] += cell[0, j]
    for nu in range(9):
        row = nu * inputs + np.int64(x[p + offset[nu]])
        for j in range(CELL):
            grads.table[row, j] += cell[0, j]
