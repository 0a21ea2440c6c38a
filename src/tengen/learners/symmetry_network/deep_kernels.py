"""Take the gradient of one position through further layers: stacks and recurrent steps.

The paper's shape has its own, faster way in `game_kernels`. Knows no game and no targets: the
errors at the net inputs of the outputs are given.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.jit import kernel
from tengen.learners.symmetry_network.evaluation_kernels import (
    CELL,
    FIRST_OUT,
    HIDDEN,
    OUT,
    UNIT,
    ZERO,
    ascend,
    look_up,
    tanh_all,
)


@kernel
def add_cell(x, offset, p, cell, grads):
    """Add a cell's errors to the gradient of its bias and of the nine table rows it read."""
    inputs = grads.table.shape[0] // 9
    for j in range(CELL):
        grads.bias[j] += cell[0, j]
    for nu in range(9):
        row = nu * inputs + np.int64(x[p + offset[nu]])
        for j in range(CELL):
            grads.table[row, j] += cell[0, j]


@kernel
def _climb(net, x, offset, rows, cols, first, fields):
    """Compute the hidden units of all layers; fields[k] are those of layer k."""
    width = cols + 1
    for row in range(rows):
        start = (row + 1) * width + 1
        for p in range(start, start + cols):
            look_up(net, x, offset, p, first, p)
            for j in range(HIDDEN):
                fields[0, p, j] = first[p, j]
        tanh_all(fields[0, start : start + cols].reshape(-1), cols * HIDDEN)
    for k in range(net.deep.shape[0]):
        ascend(net, k, first, fields[k], fields[k + 1], offset, rows, cols)


@kernel
def deep_gradient(net, x, offset, delta, rows, cols, grads):
    """Add the gradient of one position to `grads`; delta (N, OUT) the errors of the outputs."""
    width = cols + 1
    n = x.shape[0]
    layers = net.deep.shape[0]
    first = np.zeros((n, CELL), np.float32)
    fields = np.zeros((layers + 1, n, HIDDEN), np.float32)
    _climb(net, x, offset, rows, cols, first, fields)
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
            add_cell(x, offset, p, cell, grads)
