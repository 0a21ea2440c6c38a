"""One evaluation by the network, from packed positions to its outputs, in one kernel.

`weights` holds all layers in the order in which `evaluate` uses them, each beginning at a multiple
of LINE numbers (see `engine.Engine`). `plan` holds the shape of the network. Everything a call
needs is an argument, scratch space too, so that it runs in the browser as it is.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from tengen.arrays import Float32Array, IntArray
from tengen.jit import kernel
from tengen.network.engine_kernels import (
    ADD,
    LINE,
    RELU,
    ROWS,
    STORE,
    activate,
    apart,
    combine,
    convolve,
    pool,
    tiling_sizes,
)

# Entries of a plan.
FIELDS, ORDER, BLOCKS, POOL_EVERY, HEAD_FIELDS, HEAD_WIDTH, MOVE_OUTPUTS, VALUE_HIDDEN = range(8)
TRANSFORMED = 8
"""Whether kernels are laid out transformed for tiles of one size, or as they are for all sizes."""
PLAN = 9
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


@kernel
def _starts(
    plan: IntArray, count: int, rows: int, cols: int, maps: int, tile: int
) -> tuple[int, int, int, int, int, int, int, int, int, int, int, int, int, int]:
    """Return where the parts of the scratch space for `evaluate` begin, and where the last ends."""
    fields, heads, wide = plan[FIELDS], plan[HEAD_FIELDS], plan[HEAD_WIDTH]
    down, across = (rows + tile - 1) // tile, (cols + tile - 1) // tile
    frame = count * (down * tile + 2) * (across * tile + 2) * maps
    tiling, kernels, half = tiling_sizes(maps, tile, count * down * across)
    if plan[TRANSFORMED]:
        kernels = np.int64(0)
    pooled = count * max(fields, wide)
    outputs = count * max(fields, heads, plan[VALUE_HIDDEN], plan[MOVE_OUTPUTS])
    y = _after(0, frame)
    tiles = _after(y, frame)
    products = _after(tiles, tiling)
    transformed = _after(products, tiling)
    halves = _after(transformed, kernels)
    mean = _after(halves, half)
    most = _after(mean, pooled)
    whole = _after(most, pooled)
    found = _after(whole, 3 * pooled)
    shifts = _after(found, outputs)
    room = _after(shifts, count * maps)
    seen = _after(room, ROWS * wide * plan[ORDER])
    end = _after(seen, count * rows * cols * wide)
    return (
        0, y, tiles, products, transformed, halves, mean, most, whole, found, shifts, room, seen,
        end,
    )  # fmt: skip


@kernel
def scratch_size(plan: IntArray, count: int, rows: int, cols: int, maps: int, tile: int) -> int:
    """Return how many numbers of scratch space `evaluate` needs for so many positions."""
    return _starts(plan, count, rows, cols, maps, tile)[-1]


@kernel
def evaluate(
    x: Float32Array, plan: IntArray, weights: Float32Array, tile: int, larger: float,
    scratch: Float32Array, results: tuple[Float32Array, Float32Array, Float32Array],
) -> None:  # fmt: skip
    """Evaluate lifted positions `x`, which are overwritten; write what the last layers say.

    `results` are logits (move outputs x positions x (points + 1)), owners (positions x points) and
    values (positions x VALUES). `larger` is the factor of the second copy of pooled means.
    `scratch` has room for `scratch_size` numbers.
    """
    logits, owner, values = results
    count, rows, cols, maps = x.shape
    points = rows * cols
    fields, order, blocks, every = plan[FIELDS], plan[ORDER], plan[BLOCKS], plan[POOL_EVERY]
    heads, wide = plan[HEAD_FIELDS], plan[HEAD_WIDTH]
    outputs, hidden = plan[MOVE_OUTPUTS], plan[VALUE_HIDDEN]
    starts = _starts(plan, count, rows, cols, maps, tile)
    high, broad = (rows + tile - 1) // tile * tile + 2, (cols + tile - 1) // tile * tile + 2
    a = scratch[starts[0] : starts[1]].reshape((count, high, broad, maps))
    y = scratch[starts[1] : starts[2]].reshape((count, high, broad, maps))
    scratch[: starts[2]] = 0  # around the boards
    tiling = (
        scratch[starts[2] : starts[3]], scratch[starts[3] : starts[4]],
        scratch[starts[4] : starts[5]], scratch[starts[5] : starts[6]],
    )  # fmt: skip
    pooled, longest = 3 * max(fields, heads), max(fields, heads, hidden, outputs)
    mean = scratch[starts[6] :][: count * fields].reshape((count, fields))
    most = scratch[starts[7] :][: count * fields].reshape((count, fields))
    whole = scratch[starts[8] :][: count * pooled].reshape((count, pooled))
    found = scratch[starts[9] :][: count * longest].reshape((count, longest))
    shifts = scratch[starts[10] :][: count * maps].reshape((count, maps))

    # The tower: residual blocks.
    scale, shift = weights[:maps], weights[maps : 2 * maps]
    at = 2 * maps
    for n in range(count):
        for m in range(maps):
            shifts[n, m] = shift[m]
    activate(x, 0, rows, cols, scale, shifts, a, 1)
    size = 9 * maps * maps
    if plan[TRANSFORMED]:
        size = (tile + 2) * (tile + 2) * apart(maps)
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
    mean = scratch[starts[6] :][: count * wide].reshape((count, wide))
    most = scratch[starts[7] :][: count * wide].reshape((count, wide))
    room = scratch[starts[11] :][: ROWS * wide * order].reshape((ROWS, wide * order))
    seen = scratch[starts[12] :][: count * points * wide].reshape((count * points, wide))
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
