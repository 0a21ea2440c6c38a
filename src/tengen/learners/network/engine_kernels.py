"""The layers of a network on the processor, over boards of maps.

Maps lie as positions x rows x columns x maps, so that vectors hold neighbouring maps, whose number
is a multiple of COLS. A border of `edge` points around a board counts as part of its array.

3 x 3 convolutions run by Winograd's method (see `engine.KERNEL_TRANSFORMS`). Their inputs have a
border of zeros, one point wide and wider where tiles reach over the board's edge. A few tiles at a
time, which the processor's cache can hold, go through three steps: tiles of the input are
transformed, one matrix product per place of the tile mixes the maps, and tiles of the output are
transformed back. What follows a convolution is done while its results are at hand.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from tengen.jit import hot_kernel, kernel
from tengen.learners.network.vector_kernels import COLS, ROWS, WIDTH, load, multiply, relu, store

STORE, RELU, ADD = 0, 1, 2
"""What is done with the result of a convolution."""


@hot_kernel
def _forward(size, v, at, step, out, to, far):
    """Transform the vectors of a line of the input: multiply by B^T."""
    d0, d1, d2 = load(v, at), load(v, at + step), load(v, at + 2 * step)
    d3, d4 = load(v, at + 3 * step), load(v, at + 4 * step)
    if size == 6:
        d5 = load(v, at + 5 * step)
        store(out, to, 4 * d0 - 5 * d2 + d4)
        even, odd = d4 - 4 * d2, d3 - 4 * d1
        store(out, to + far, even + odd)
        store(out, to + 2 * far, even - odd)
        even, odd = d4 - d2, 2 * (d3 - d1)
        store(out, to + 3 * far, even + odd)
        store(out, to + 4 * far, even - odd)
        store(out, to + 5 * far, 4 * d1 - 5 * d3 + d5)
    else:
        store(out, to, 2 * (d0 - d2) + d3 - d1)
        store(out, to + far, d3 - d2 - 2 * d1)
        store(out, to + 2 * far, d3 - 3 * d2 + 2 * d1)
        store(out, to + 3 * far, d3 - d1)
        store(out, to + 4 * far, 2 * (d1 - d3) + d4 - d2)


@hot_kernel
def _backward(size, v, at, step, out, to, far):
    """Transform the vectors of a line of products: multiply by A^T."""
    v0, v1, v2 = load(v, at), load(v, at + step), load(v, at + 2 * step)
    v3, v4 = load(v, at + 3 * step), load(v, at + 4 * step)
    a, c = v1 + v2, v1 - v2
    if size == 6:
        v5 = load(v, at + 5 * step)
        b, d = v3 + v4, v3 - v4
        store(out, to, v0 + a + b)
        store(out, to + far, c + 2 * d)
        store(out, to + 2 * far, a + 4 * b)
        store(out, to + 3 * far, c + 8 * d + v5)
    else:
        store(out, to, v0 + a + v3)
        store(out, to + far, c + 2 * v3)
        store(out, to + 2 * far, a + 4 * v3 + v4)


@kernel
def _input_tile(x, at, row, maps, size, half, tiles, to, far):
    """Write B^T d B of the tile that begins at `at`, one place of the tile `far` from the next."""
    for m in range(0, maps, WIDTH):
        for j in range(size):
            _forward(size, x, at + m + j * maps, row, half, j * WIDTH, size * WIDTH)
        for i in range(size):
            place = to + m + i * size * far
            _forward(size, half, i * size * WIDTH, WIDTH, tiles, place, far)


@kernel
def _output_tile(products, at, far, maps, size, half, scale, shift, what, height, width, x, in_x,
                 x_row, y, in_y, y_row):  # fmt: skip
    """Write A^T M A of a tile to `y`, or that part of it which is on the board."""
    line = size * size * WIDTH
    for m in range(0, maps, WIDTH):
        for j in range(size):
            place = at + m + j * far
            _backward(size, products, place, size * far, half, j * WIDTH, size * WIDTH)
        for i in range(height):
            _backward(size, half, i * size * WIDTH, WIDTH, half, line, WIDTH)
            for j in range(width):
                result, to = load(half, line + j * WIDTH), in_y + i * y_row + j * maps + m
                if what == RELU:
                    result = relu(result + load(shift, m))
                elif what == ADD:
                    place = in_x + i * x_row + j * maps + m
                    result = result + load(x, place)
                    store(x, place, result)
                    result = relu(load(scale, m) * result + load(shift, m))
                store(y, to, result)


@kernel
def _products(tiles, weights, rows, maps, places, far, products):
    """Multiply the tiles' places by their weights."""
    for place in range(places):
        for n in range(0, maps, COLS):
            right = (place * maps + n) * maps
            for m in range(0, rows, ROWS):
                at = place * far + m * maps
                multiply(tiles, at, maps, weights, right, maps, products, at + n, maps)


@kernel
def convolve(a, weights, tile, what, scale, shift, x, y, edge, tiles, products, far):
    """Convolve maps `a` with transformed weights (see `engine.packed`); write the result to `y`.

    STORE writes the sums, RELU what of them is above zero with `shift` added. ADD adds them to `x`
    and writes what of its maps is above zero, scaled and shifted. `y` has a border of `edge` points
    before the board. `tiles` and `products` are room for places x `far` numbers, which must be at
    least `maps` times a multiple of ROWS tiles.
    """
    positions, rows, cols, maps = x.shape
    size = tile + 2
    down, across = (rows + tile - 1) // tile, (cols + tile - 1) // tile
    a_row, y_row, x_row = a.shape[2] * maps, y.shape[2] * maps, cols * maps
    half = np.empty((size + 1) * size * WIDTH, np.float32)
    most = far // (maps * ROWS) * ROWS
    total = positions * down * across
    for first in range(0, total, most):
        count = min(most, total - first)
        for n in range(count):
            p, t = (first + n) // (down * across), (first + n) % (down * across)
            top, left = t // across * tile, t % across * tile
            at = (p * a.shape[1] + top) * a_row + left * maps
            _input_tile(a, at, a_row, maps, size, half, tiles, n * maps, far)
        padded = (count + ROWS - 1) // ROWS * ROWS
        _products(tiles, weights, padded, maps, size * size, far, products)
        for n in range(count):
            p, t = (first + n) // (down * across), (first + n) % (down * across)
            top, left = t // across * tile, t % across * tile
            in_x = (p * rows + top) * x_row + left * maps
            in_y = (p * y.shape[1] + top + edge) * y_row + (left + edge) * maps
            _output_tile(products, n * maps, far, maps, size, half, scale, shift, what,
                         min(tile, rows - top), min(tile, cols - left), x, in_x, x_row,
                         y, in_y, y_row)  # fmt: skip


@kernel
def activate(x, x_edge, rows, cols, scale, shift, y, y_edge):
    """Scale and shift maps, with a shift per position, and write what is above zero to `y`."""
    maps = x.shape[3]
    for p in range(x.shape[0]):
        for r in range(rows):
            for c in range(cols):
                at = ((p * x.shape[1] + r + x_edge) * x.shape[2] + c + x_edge) * maps
                to = ((p * y.shape[1] + r + y_edge) * y.shape[2] + c + y_edge) * maps
                for m in range(0, maps, WIDTH):
                    moved = load(scale, m) * load(x, at + m) + load(shift, p * maps + m)
                    store(y, to + m, relu(moved))


@kernel
def pool(x, edge, rows, cols, order, mean, most):
    """Write mean and maximum over the board of each field (positions x fields).

    A field at a point is the mean of its `order` maps.
    """
    for p in range(x.shape[0]):
        mean[p] = 0
        most[p] = -np.inf
        for r in range(edge, rows + edge):
            for c in range(edge, cols + edge):
                for f in range(mean.shape[1]):
                    total = np.float32(0)
                    for m in range(f * order, (f + 1) * order):
                        total += x[p, r, c, m]
                    mean[p, f] += total
                    most[p, f] = max(most[p, f], total)
        for f in range(mean.shape[1]):
            mean[p, f] /= order * rows * cols
            most[p, f] /= order


@kernel
def combine(x, weights, order, room, out):
    """Multiply the maps at each point by a matrix; average over orientations what is above zero.

    The packed matrix has `order` times as many columns as `out` (points x fields), orientations
    apart; `room` is for ROWS rows of them.
    """
    points, fields = out.shape
    maps, columns = x.shape[3], fields * order
    for first in range(0, points, ROWS):
        first = min(first, points - ROWS)
        for n in range(0, columns, COLS):
            multiply(x, first * maps, maps, weights, n * maps, maps, room, n, columns)
        for i in range(ROWS):
            for f in range(0, fields, WIDTH):
                total = relu(load(room, i * columns + f))
                for o in range(1, order):
                    total = total + relu(load(room, i * columns + o * fields + f))
                store(out, (first + i) * fields + f, np.float32(1 / order) * total)


@kernel
def lift(codes, history, facts, table, moves, constants, rows, cols, out):
    """Write the first convolution of packed positions to `out` (positions x points x maps).

    A point's byte decides nearly all its planes, so it adds a row of `table` (bytes x places of the
    kernel x maps) to each point around it; `moves` is moves ago x places x maps. Places are counted
    row by row from the kernel's top left. Each fact of the whole board is a factor of `constants`
    (facts x points x maps).
    """
    places, maps = table.shape[1], table.shape[2]
    side = 5 if places == 25 else 3
    edge = side // 2
    found = np.empty(places, np.int64)
    for n in range(codes.shape[0]):
        for r in range(rows):
            for c in range(cols):
                count = 0
                for i in range(max(0, edge - r), min(side, rows + edge - r)):
                    for j in range(max(0, edge - c), min(side, cols + edge - c)):
                        code = np.int64(codes[n, (r + i - edge) * cols + c + j - edge])
                        found[count] = (code * places + i * side + j) * maps
                        count += 1
                point = r * cols + c
                to = (n * rows * cols + point) * maps
                for m in range(0, maps, 2 * WIDTH):
                    place = point * maps + m
                    one = facts[n, 0] * load(constants, place)
                    two = facts[n, 0] * load(constants, place + WIDTH)
                    for k in range(1, facts.shape[1]):
                        place += rows * cols * maps
                        one = one + facts[n, k] * load(constants, place)
                        two = two + facts[n, k] * load(constants, place + WIDTH)
                    for k in range(count):
                        one = one + load(table, found[k] + m)
                        two = two + load(table, found[k] + m + WIDTH)
                    store(out, to + m, one)
                    store(out, to + m + WIDTH, two)
        for ago in range(history.shape[1]):
            if history[n, ago] < 0:
                continue
            r, c = history[n, ago] // cols, history[n, ago] % cols
            for i in range(side):
                for j in range(side):
                    at, over = r - i + edge, c - j + edge
                    if 0 <= at < rows and 0 <= over < cols:
                        for m in range(maps):
                            out[n, at * cols + over, m] += moves[ago, i * side + j, m]
