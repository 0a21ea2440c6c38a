"""One evaluation by the network, from packed positions to its outputs, in one kernel.

`weights` holds all layers in the order in which `evaluate` uses them, each beginning at a multiple
of LINE numbers (see `engine.Engine`). `plan` holds the shape of the network. Everything a call
needs is an argument, so that it runs in the browser as it is.
"""

# mypy: ignore-errors

from __future__ import annotations

import numba
import numpy as np

from tengen.arrays import Float32Array, FloatArray, IntArray
from tengen.jit import kernel
from tengen.network.engine_kernels import (
    ADD,
    COLS,
    LINE,
    RELU,
    ROWS,
    STORE,
    activate,
    combine,
    convolve,
    pool,
)

# Entries of a plan.
FIELDS, ORDER, BLOCKS, POOL_EVERY, HEAD_FIELDS, HEAD_WIDTH, MOVE_OUTPUTS, VALUE_HIDDEN = range(8)
PLAN = 8
VALUES = 3


@kernel
def _after(at: int, size: int) -> int:
    """Return where the layer after one of this size begins."""
    return at + (size + LINE - 1) // LINE * LINE


@kernel
def _linear(
    x: Float32Array, n: int, inputs: int, weights: Float32Array, at: int, outputs: int,
    y: Float32Array,
) -> None:  # fmt: skip
    """Write the products of row n of `x` and a matrix, with a bias, to row n of `y`."""
    bias = _after(at, outputs * inputs)
    for j in range(outputs):
        total = np.float32(0)
        for i in range(inputs):
            total += x[n, i] * weights[at + j * inputs + i]
        y[n, j] = total + weights[bias + j]


@kernel
def _after_linear(at: int, inputs: int, outputs: int) -> int:
    return _after(_after(at, outputs * inputs), outputs)


@kernel
def _summed_up(
    x: Float32Array, edge: int, rows: int, cols: int, order: int, fields: int, larger: float,
    mean: Float32Array, most: Float32Array, whole: Float32Array,
) -> None:  # fmt: skip
    """Write mean, scaled mean and maximum of every field to the rows of `whole`."""
    pool(x, edge, rows, cols, order, mean, most)
    for n in range(x.shape[0]):
        for f in range(fields):
            whole[n, f] = mean[n, f]
            whole[n, fields + f] = mean[n, f] * larger
            whole[n, 2 * fields + f] = most[n, f]


@kernel(makes_arrays=True)
def evaluate(
    x: Float32Array, plan: IntArray, weights: Float32Array, tile: int, larger: float,
    scratch: tuple[Float32Array, Float32Array, tuple[Float32Array, Float32Array, int]],
    results: tuple[Float32Array, Float32Array, Float32Array],
) -> None:  # fmt: skip
    """Evaluate lifted positions `x`, which are overwritten; write what the last layers say.

    `results` are logits (move outputs x positions x (points + 1)), owners (positions x points) and
    values (positions x VALUES). `scratch` is `a` and `y` (positions x padded rows x padded columns
    x maps, with zeros around the board) and that of `convolve`.
    `larger` is the factor of the second copy of pooled means.
    """
    a, y, tiling = scratch
    logits, owner, values = results
    count, rows, cols, maps = x.shape
    points = rows * cols
    fields, order, blocks, every = plan[FIELDS], plan[ORDER], plan[BLOCKS], plan[POOL_EVERY]
    heads, wide = plan[HEAD_FIELDS], plan[HEAD_WIDTH]
    outputs, hidden = plan[MOVE_OUTPUTS], plan[VALUE_HIDDEN]
    mean, most = np.empty((count, fields), np.float32), np.empty((count, fields), np.float32)
    whole = np.empty((count, 3 * max(fields, heads)), np.float32)
    found = np.empty((count, max(fields, heads, hidden, outputs)), np.float32)
    shifts = np.empty((count, maps), np.float32)

    # The tower: residual blocks.
    scale, shift = weights[:maps], weights[maps : 2 * maps]
    at = 2 * maps
    for n in range(count):
        for m in range(maps):
            shifts[n, m] = shift[m]
    activate(x, 0, rows, cols, scale, shifts, a, 1)
    size = (tile + 2) * (tile + 2) * maps * maps
    for block in range(blocks):
        kernel_of = weights[at : at + size]
        at += size
        scale, shift = weights[at : at + maps], weights[at + maps : at + 2 * maps]
        at += 2 * maps
        if block % every == every - 1:
            convolve(a, kernel_of, tile, STORE, scale, shift, x, y, 1, tiling)
            _summed_up(y, 1, rows, cols, order, fields, larger, mean, most, whole)
            for n in range(count):
                _linear(whole, n, 3 * fields, weights, at, fields, found)
                for m in range(maps):
                    added = found[n, m // order] if m < fields * order else np.float32(0)
                    shifts[n, m] = added * scale[m] + shift[m]
            at = _after_linear(at, 3 * fields, fields)
            activate(y, 1, rows, cols, scale, shifts, y, 1)
        else:
            convolve(a, kernel_of, tile, RELU, scale, shift, x, y, 1, tiling)
        kernel_of = weights[at : at + size]
        at += size
        scale, shift = weights[at : at + maps], weights[at + maps : at + 2 * maps]
        at += 2 * maps
        if block + 1 == blocks:
            convolve(y, kernel_of, tile, ADD, scale, shift, x, x, 0, tiling)
        else:
            convolve(y, kernel_of, tile, ADD, scale, shift, x, a, 1, tiling)

    # The outputs.
    mean, most = np.empty((count, wide), np.float32), np.empty((count, wide), np.float32)
    room = np.empty((ROWS, wide * order), np.float32)
    seen = np.empty((count * points, wide), np.float32)
    board = seen.reshape((count, rows, cols, wide))
    kernel_of = weights[at : at + maps * wide * order]
    at += maps * wide * order
    combine(x, kernel_of, order, room, seen)
    _summed_up(board, 0, rows, cols, 1, heads, larger, mean, most, whole)
    moves_at = _after_linear(at, 3 * heads, heads)
    bias_at = _after(moves_at, outputs * heads)
    pass_at = _after(bias_at, outputs)
    for n in range(count):
        _linear(whole, n, 3 * heads, weights, at, heads, found)
        for p in range(points):
            for f in range(heads):
                seen[n * points + p, f] = max(seen[n * points + p, f] + found[n, f], np.float32(0))
        for k in range(outputs):
            for p in range(points):
                total = np.float32(0)
                for f in range(heads):
                    total += seen[n * points + p, f] * weights[moves_at + k * heads + f]
                logits[k, n, p] = total + weights[bias_at + k]
        _linear(whole, n, 3 * heads, weights, pass_at, outputs, found)
        for k in range(outputs):
            logits[k, n, points] = found[n, k]
    at = _after_linear(pass_at, 3 * heads, outputs)

    kernel_of = weights[at : at + maps * wide * order]
    at += maps * wide * order
    combine(x, kernel_of, order, room, seen)
    _summed_up(board, 0, rows, cols, 1, heads, larger, mean, most, whole)
    hidden_at = _after_linear(at, heads, 1)
    value_at = _after_linear(hidden_at, 3 * heads, hidden)
    for n in range(count):
        for p in range(points):
            total = np.float32(0)
            for f in range(heads):
                total += seen[n * points + p, f] * weights[at + f]
            owner[n, p] = total + weights[_after(at, heads)]
        _linear(whole, n, 3 * heads, weights, hidden_at, hidden, found)
        for j in range(hidden):
            found[n, j] = max(found[n, j], np.float32(0))
        _linear(found, n, hidden, weights, value_at, VALUES, values)


@kernel(makes_arrays=True)
def transform(
    free: Float32Array, places: IntArray, inputs: int, scale: Float32Array, g: FloatArray,
    maps: int, out: Float32Array,
) -> None:  # fmt: skip
    """Write a tied 3 x 3 kernel, transformed for `convolve`: places x strips x maps x COLS.

    `free` holds fields x `inputs` fields x orientations x 9 numbers, of which `places` gives those
    of each orientation (see `layers.tied_places`). Output map m is multiplied by scale[m]; `g`
    is a matrix of `engine.KERNEL_TRANSFORMS`.
    """
    order, size = places.shape[0], g.shape[0]
    here = np.empty((3, 3), np.float64)
    half = np.empty((size, 3), np.float64)
    of_pair = order * 9
    for m in range(free.shape[0] // (inputs * of_pair) * order):
        strip, lane = m // COLS, m % COLS
        for k in range(inputs * order):
            first = ((m // order) * inputs + k // order) * of_pair
            for i in range(9):
                number = free[first + places[m % order, (k % order) * 9 + i]]
                here[i // 3, i % 3] = np.float32(number * scale[m])
            for a in range(size):
                for j in range(3):
                    half[a, j] = g[a, 0] * here[0, j] + g[a, 1] * here[1, j] + g[a, 2] * here[2, j]
            for a in range(size):
                for b in range(size):
                    total = half[a, 0] * g[b, 0] + half[a, 1] * g[b, 1] + half[a, 2] * g[b, 2]
                    place = ((a * size + b) * (maps // COLS) + strip) * maps + k
                    out[place * COLS + lane] = total


def _transform(free, places, inputs, scale, g, maps, out):
    """Do the same by NumPy: without the JIT, the kernel would take minutes."""
    order, size = places.shape[0], g.shape[0]
    laid = free.reshape(-1, inputs, order * 9)[:, :, places].reshape(-1, inputs, order, order, 9)
    laid = laid.transpose(0, 2, 1, 3, 4).reshape(-1, inputs * order, 3, 3)
    laid = (laid * scale[: len(laid), None, None, None]).astype(np.float64)
    whole = np.zeros((size * size, maps, maps), np.float32)
    found = np.einsum("ai,oxij,bj->abxo", g, laid, g, optimize=True)
    whole[:, : inputs * order, : len(laid)] = found.reshape(size * size, *found.shape[2:])
    strips = whole.reshape(size * size, maps, maps // COLS, COLS).transpose(0, 2, 1, 3)
    out[:] = strips.ravel()


if numba.config.DISABLE_JIT:
    transform = _transform
