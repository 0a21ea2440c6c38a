"""The layers of a network on the processor, as Numba kernels.

Arrays have the shape positions x rows x columns x maps: a vector holds neighbouring maps, whose
number is a multiple of COLS. A border of `edge` points around a board counts as part of its array.

3 x 3 convolutions run by Winograd's method, which computes a tile of m x m outputs from (m + 2) x
(m + 2) inputs with (m + 2)^2 products per pair of maps instead of 9 m^2:

    A^T [ (G kernel G^T) * (B^T input B) ] A

It interpolates at infinity and, for tiles of 3 and 4, at 0, 1, -1, 2 (and -2), for those of 5 at
1, -1, 2, -2, 1/2 and -1/2. Inputs have a border of zeros, one point wide and wider where tiles
reach over the board's edge. A few tiles at a time, which the processor's cache can hold, go through
three steps: tiles of the input are transformed, one matrix product per place of the tile mixes the
maps, and tiles of the output are transformed back. What follows a convolution is applied while its
results are still in the cache.

Transformed kernels take up to five times the memory of plain ones. Browsers transform them anew for
every batch to save that; natively that took 12 to 33 % longer.

Numba leaves it to LLVM to find vector code, which fails where arrays might overlap. So the kernels
load, combine and store vectors themselves: as many numbers as one instruction of the processor
handles. Offsets count from an array's first number, regardless of its shape, and are not checked.
"""

# mypy: ignore-errors

from __future__ import annotations

import operator
import platform

import llvmlite.binding
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from tengen.arrays import Float32Array, Int16Array, IntArray, UInt8Array
from tengen.jit import FOR_BROWSER, kernel

_FEATURES = llvmlite.binding.get_host_cpu_features()
_ARM = not FOR_BROWSER and platform.machine().lower() in ("aarch64", "arm64")
WIDTH = 4 if FOR_BROWSER or _ARM else 16 if _FEATURES.get("avx512f") else 8
"""Numbers in a vector."""
ROWS, COLS = (2, 16) if FOR_BROWSER else {16: (6, 64), 8: (6, 16), 4: (4, 16)}[WIDTH]
"""Shape of the part of a matrix product that the processor's registers hold.

Browsers use 16 registers. A larger part, or loading more numbers ahead, was slower in Chromium,
which then keeps some of the sums in memory.
"""
_STEP = 4 if _ARM else 1
"""Products that one iteration of the inner loop adds to each sum."""
LINE = 16
"""Numbers in a line of the processor's cache."""
TILES_AT_ONCE = 48
"""Tiles transformed at once; more would not fit the processor's cache."""

_FAST = ("contract", "nnan", "nsz")
"""LLVM may fuse products and sums, and assume that there are no NaNs or signed zeros."""
_FLOAT, _INT = ir.FloatType(), ir.IntType(64)


class _Vector(types.Type):
    """The type of a vector of WIDTH single-precision numbers."""

    def __init__(self):
        super().__init__("Vector")


_VECTOR = _Vector()


@register_model(_Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, ir.VectorType(_FLOAT, WIDTH))


def _signature(result, *arguments):
    """Return the signature of an operation; arrays must hold single precision, without gaps."""
    for kind in arguments:
        if isinstance(kind, types.Array) and (kind.dtype != types.float32 or kind.layout != "C"):
            raise TypingError(f"vectors need a contiguous array of float32, not {kind}")
    return result(*(types.int64 if isinstance(k, types.Integer) else k for k in arguments))


def _pointer(context, builder, kind, array, offset, width=WIDTH):
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), ir.VectorType(_FLOAT, width).as_pointer())


def _all(value, width=WIDTH):
    """Return a constant vector."""
    return ir.Constant(ir.VectorType(_FLOAT, width), [ir.Constant(_FLOAT, value)] * width)


def _splat(builder, vector, lane):
    """Return a vector filled with one number of another vector."""
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [lane] * WIDTH)
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), lanes)


def _prefetch(builder, pointer):
    """Prefetch a cache line into the second-level cache."""
    byte, small = ir.IntType(8).as_pointer(), ir.IntType(32)
    shape = ir.FunctionType(ir.VoidType(), [byte] + [small] * 3)
    function = cgutils.get_or_insert_function(builder.module, shape, "llvm.prefetch.p0i8")
    reading, near, data = small(0), small(2), small(1)
    builder.call(function, [builder.bitcast(pointer, byte), reading, near, data])


@intrinsic
def _load(typing, array, offset):
    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature.args[0], *arguments)
        return builder.load(pointer, align=4)

    return _signature(_VECTOR, array, offset), generate


@intrinsic
def _store(typing, array, offset, vector):
    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], pointer, align=4)
        return context.get_dummy_value()

    return _signature(types.void, array, offset, vector), generate


@intrinsic
def _relu(typing, vector):
    def generate(context, builder, signature, arguments):
        kind = arguments[0].type
        shape = ir.FunctionType(kind, [kind] * 2)
        name = f"llvm.maxnum.v{WIDTH}f32"
        larger = cgutils.get_or_insert_function(builder.module, shape, name)
        return builder.call(larger, [arguments[0], _all(0.0)], fastmath=_FAST)

    return _signature(_VECTOR, vector), generate


@intrinsic
def _multiply(typing, a, at, row, b, first, depth, c, to, far, ahead):
    """Keep the sums in registers while the loop runs; LLVM would store them at every step."""

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        a, at, row, b, first, depth, c, to, far, ahead = arguments
        vector = ir.VectorType(_FLOAT, WIDTH)
        shape = ir.FunctionType(vector, [vector] * 3)
        fma = cgutils.get_or_insert_function(builder.module, shape, f"llvm.fmuladd.v{WIDTH}f32")
        count = COLS // WIDTH

        def load(kind, array, offset, width=WIDTH):
            return builder.load(_pointer(context, builder, kind, array, offset, width), align=4)

        rows = [builder.add(at, builder.mul(row, _INT(i))) for i in range(ROWS)]
        before, loop = builder.block, builder.append_basic_block("products")
        after = builder.append_basic_block("sums")
        builder.branch(loop)
        builder.position_at_end(loop)
        k = builder.phi(_INT)
        begun = [[builder.phi(vector) for _ in range(count)] for _ in range(ROWS)]
        sums = [list(line) for line in begun]
        line = builder.add(ahead, builder.mul(k, _INT(LINE // _STEP)))
        _prefetch(builder, _pointer(context, builder, kinds[3], b, line))
        lefts = [load(kinds[0], a, builder.add(rows[i], k), _STEP) for i in range(ROWS)]
        for part in range(_STEP):
            place = builder.add(first, builder.mul(builder.add(k, _INT(part)), _INT(COLS)))
            rights = [load(kinds[3], b, builder.add(place, _INT(n * WIDTH))) for n in range(count)]
            for i in range(ROWS):
                left = _splat(builder, lefts[i], part)
                sums[i] = [
                    builder.call(fma, [left, right, total])
                    for right, total in zip(rights, sums[i], strict=True)
                ]
        following = builder.add(k, _INT(_STEP))
        k.add_incoming(_INT(0), before)
        k.add_incoming(following, loop)
        for i in range(ROWS):
            for phi, total in zip(begun[i], sums[i], strict=True):
                phi.add_incoming(_all(0.0), before)
                phi.add_incoming(total, loop)
        builder.cbranch(builder.icmp_signed("<", following, depth), loop, after)
        builder.position_at_end(after)
        for i in range(ROWS):
            line = builder.add(to, builder.mul(far, _INT(i)))
            for n, total in enumerate(sums[i]):
                place = builder.add(line, _INT(n * WIDTH))
                builder.store(total, _pointer(context, builder, kinds[6], c, place), align=4)
        return context.get_dummy_value()

    return _signature(types.void, a, at, row, b, first, depth, c, to, far, ahead), generate


def _number(context, builder, kind, value):
    """Return a vector filled with one number."""
    value = context.cast(builder, value, kind, types.float32)
    vector = ir.Constant(ir.VectorType(_FLOAT, WIDTH), ir.Undefined)
    return _splat(builder, builder.insert_element(vector, value, ir.IntType(32)(0)), 0)


def _define(operation, emit):
    """Let kernels combine two vectors, or a number and a vector, by an operator."""

    @type_callable(operation)
    def type_operation(context):
        def typer(left, right):
            if right == _VECTOR and (left == _VECTOR or isinstance(left, types.Number)):
                return _VECTOR

        return typer

    @lower_builtin(operation, _Vector, _Vector)
    def combine(context, builder, signature, arguments):
        return getattr(builder, emit)(*arguments, flags=_FAST)

    @lower_builtin(operation, types.Number, _Vector)
    def combine_with_number(context, builder, signature, arguments):
        left = _number(context, builder, signature.args[0], arguments[0])
        return getattr(builder, emit)(left, arguments[1], flags=_FAST)


for _operation, _emit in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _define(_operation, _emit)


def load(array, offset):
    """Return the vector at an offset."""
    return array.reshape(-1)[offset : offset + WIDTH].copy()


def store(array, offset, vector):
    """Write a vector at an offset."""
    array.reshape(-1)[offset : offset + WIDTH] = vector


def relu(vector):
    """Return the larger of each number and zero."""
    return np.maximum(vector, 0)


def multiply(a, at, row, b, first, depth, c, to, far, ahead):
    """Write ROWS x COLS sums of `depth` products, a multiple of 4, to `c` from `to`.

    The left matrix has its rows `row` numbers apart, the right one is contiguous (see `packed`),
    and the rows of the result are `far` apart. Meanwhile some cache lines of `b` from `ahead` on
    are prefetched.
    """
    lines = np.arange(ROWS)[:, None]
    left = a.reshape(-1)[at + row * lines + np.arange(depth)]
    right = b.reshape(-1)[first : first + depth * COLS].reshape(depth, COLS)
    c.reshape(-1)[to + far * lines + np.arange(COLS)] = left @ right


if not numba.config.DISABLE_JIT:
    load, store, relu, multiply = _load, _store, _relu, _multiply


# ----- Layers -----

STORE, RELU, ADD = 0, 1, 2
"""What is done with the result of a convolution."""


@kernel
def _forward(
    size: int, v: Float32Array, at: int, step: int, out: Float32Array, to: int, far: int
) -> None:
    """Transform the vectors of a line of the input: multiply by B^T."""
    d0, d1, d2 = load(v, at), load(v, at + step), load(v, at + 2 * step)
    d3, d4 = load(v, at + 3 * step), load(v, at + 4 * step)
    if size == 5:
        store(out, to, 2 * (d0 - d2) + d3 - d1)
        store(out, to + far, d3 - d2 - 2 * d1)
        store(out, to + 2 * far, d3 - 3 * d2 + 2 * d1)
        store(out, to + 3 * far, d3 - d1)
        store(out, to + 4 * far, 2 * (d1 - d3) + d4 - d2)
        return
    d5 = load(v, at + 5 * step)
    if size == 6:
        store(out, to, 4 * d0 - 5 * d2 + d4)
        even, odd = d4 - 4 * d2, d3 - 4 * d1
        store(out, to + far, even + odd)
        store(out, to + 2 * far, even - odd)
        even, odd = d4 - d2, 2 * (d3 - d1)
        store(out, to + 3 * far, even + odd)
        store(out, to + 4 * far, even - odd)
        store(out, to + 5 * far, 4 * d1 - 5 * d3 + d5)
    else:
        even, odd = d4 - 4.25 * d2 + d0, d5 - 4.25 * d3 + d1
        store(out, to, odd + even)
        store(out, to + far, odd - even)
        even, odd = 2 * d4 - 2.5 * d2 + 0.5 * d0, d5 - 1.25 * d3 + 0.25 * d1
        store(out, to + 2 * far, odd + even)
        store(out, to + 3 * far, odd - even)
        even, odd = 0.5 * d4 - 2.5 * d2 + 2 * d0, d5 - 5 * d3 + 4 * d1
        store(out, to + 4 * far, odd + even)
        store(out, to + 5 * far, odd - even)
        d6 = load(v, at + 6 * step)
        store(out, to + 6 * far, d6 - 5.25 * (d4 - d2) - d0)


@kernel
def _backward(
    size: int, v: Float32Array, at: int, step: int, out: Float32Array, to: int, far: int
) -> None:
    """Transform the vectors of a line of products: multiply by A^T."""
    v0, v1, v2 = load(v, at), load(v, at + step), load(v, at + 2 * step)
    v3, v4 = load(v, at + 3 * step), load(v, at + 4 * step)
    if size == 5:
        a, c = v1 + v2, v1 - v2
        store(out, to, v0 + a + v3)
        store(out, to + far, c + 2 * v3)
        store(out, to + 2 * far, a + 4 * v3 + v4)
        return
    v5 = load(v, at + 5 * step)
    if size == 6:
        a, b, c, d = v1 + v2, v3 + v4, v1 - v2, v3 - v4
        store(out, to, v0 + a + b)
        store(out, to + far, c + 2 * d)
        store(out, to + 2 * far, a + 4 * b)
        store(out, to + 3 * far, c + 8 * d + v5)
    else:
        a, b, c = v0 + v1, v2 + v3, v4 + v5
        store(out, to, a + b + c)
        store(out, to + 2 * far, a + 4 * b + 0.25 * c)
        store(out, to + 4 * far, a + 16 * b + 0.0625 * c + load(v, at + 6 * step))
        a, b, c = v0 - v1, v2 - v3, v4 - v5
        store(out, to + far, a + 2 * b + 0.5 * c)
        store(out, to + 3 * far, a + 8 * b + 0.125 * c)


@kernel
def _spread(
    size: int, v: Float32Array, at: int, step: int, out: Float32Array, to: int, far: int
) -> None:
    """Transform the vectors of a line of a kernel: multiply by G."""
    k0, k1, k2 = load(v, at), load(v, at + step), load(v, at + 2 * step)
    both = k0 + k2
    if size == 5:
        store(out, to, 1 / 2 * k0)
        store(out, to + far, -1 / 2 * (both + k1))
        store(out, to + 2 * far, -1 / 6 * (both - k1))
        store(out, to + 3 * far, 1 / 6 * k0 + 1 / 3 * k1 + 2 / 3 * k2)
        store(out, to + 4 * far, k2)
    elif size == 6:
        even, odd = 1 / 24 * k0 + 1 / 6 * k2, 1 / 12 * k1
        store(out, to, 1 / 4 * k0)
        store(out, to + far, -1 / 6 * (both + k1))
        store(out, to + 2 * far, -1 / 6 * (both - k1))
        store(out, to + 3 * far, even + odd)
        store(out, to + 4 * far, even - odd)
        store(out, to + 5 * far, k2)
    else:
        store(out, to, -2 / 9 * (both + k1))
        store(out, to + far, 2 / 9 * (both - k1))
        even, odd = 1 / 45 * k0 + 4 / 45 * k2, 2 / 45 * k1
        store(out, to + 2 * far, odd + even)
        store(out, to + 3 * far, odd - even)
        even, odd = 16 / 45 * k0 + 4 / 45 * k2, 8 / 45 * k1
        store(out, to + 4 * far, odd + even)
        store(out, to + 5 * far, odd - even)
        store(out, to + 6 * far, k2)


@kernel
def apart(maps: int) -> int:
    """Return how far the transformed kernels of one place of the tile are from the next.

    Without the extra line, the places would share few sets of the processor's cache.
    """
    return maps * maps + LINE


@kernel
def transform_kernels(
    plain: Float32Array, maps: int, size: int, half: Float32Array, kernels: Float32Array
) -> None:
    """Write G kernel G^T of every pair of maps: places of the tile x strips x maps x COLS.

    Plain kernels are strips x maps x 9 x COLS (see `engine.strips`). `half` is scratch space of
    the last of the `tiling_sizes`.
    """
    far = apart(maps)
    for pair in range(maps // COLS * maps):
        for n in range(0, COLS, WIDTH):
            for j in range(3):
                place = (pair * 9 + j) * COLS + n
                _spread(size, plain, place, 3 * COLS, half, j * WIDTH, 3 * WIDTH)
            for i in range(size):
                place = i * size * far + pair * COLS + n
                _spread(size, half, i * 3 * WIDTH, np.int64(WIDTH), kernels, place, far)


@kernel
def _input_tile(
    x: Float32Array, at: int, row: int, maps: int, size: int, half: Float32Array,
    tiles: Float32Array, to: int, far: int,
) -> None:  # fmt: skip
    """Write B^T d B of the tile that begins at `at`, one place of the tile `far` from the next."""
    for m in range(0, maps, WIDTH):
        for j in range(size):
            _forward(size, x, at + m + j * maps, row, half, j * WIDTH, size * WIDTH)
        for i in range(size):
            place = to + m + i * size * far
            _forward(size, half, i * size * WIDTH, np.int64(WIDTH), tiles, place, far)


@kernel
def _output_tile(
    products: Float32Array, at: int, far: int, maps: int, size: int, half: Float32Array, what: int,
    norm: tuple[Float32Array, Float32Array], cut: tuple[int, int],
    added: tuple[Float32Array, int, int], written: tuple[Float32Array, int, int],
) -> None:  # fmt: skip
    """Write A^T M A of a tile, cropped to the board, as `convolve` says."""
    scale, shift = norm
    height, width = cut
    x, in_x, x_row = added
    y, in_y, y_row = written
    line = size * size * WIDTH
    for m in range(0, maps, WIDTH):
        for j in range(size):
            place = at + m + j * far
            _backward(size, products, place, size * far, half, j * WIDTH, size * WIDTH)
        for i in range(height):
            _backward(size, half, i * size * WIDTH, np.int64(WIDTH), half, line, np.int64(WIDTH))
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
def _products(
    tiles: Float32Array, weights: Float32Array, rows: int, maps: int, places: int, far: int,
    products: Float32Array,
) -> None:  # fmt: skip
    """Multiply the tiles' places by their weights."""
    for place in range(places):
        for n in range(0, maps, COLS):
            right, strip = place * apart(maps) + n * maps, maps * COLS
            for m in range(0, rows, ROWS):
                at = place * far + m * maps
                ahead = right + strip + m // ROWS * maps * (LINE // _STEP) % strip
                multiply(tiles, at, maps, weights, right, maps, products, at + n, maps, ahead)


@kernel
def tiling_sizes(maps: int, tile: int, tiles: int) -> tuple[int, int, int]:
    """Return the sizes of scratch space for `convolve`, where so many tiles fill the boards."""
    places = (tile + 2) * (tile + 2)
    rounded = (min(tiles, TILES_AT_ONCE) + ROWS - 1) // ROWS * ROWS
    # One extra cache line: without it, the places of a tile would share few cache sets.
    return places * (rounded * maps + LINE), places * apart(maps), (tile + 3) * (tile + 2) * WIDTH


@kernel
def convolve(
    a: Float32Array, weights: Float32Array, tile: int, what: int, scale: Float32Array,
    shift: Float32Array, x: Float32Array, y: Float32Array, edge: int,
    tiling: tuple[Float32Array, Float32Array, Float32Array, Float32Array],
) -> None:  # fmt: skip
    """Convolve maps `a` with the kernels `weights`; write the result to `y`.

    STORE writes the sums; RELU writes relu(sums + shift); ADD adds the sums to `x` and writes
    relu(scale * x + shift). `y` has a border of `edge` points before the board. `tiling` is
    scratch space for tiles, products, kernels and half a transform (see `tiling_sizes`). Without
    space for kernels, `weights` are already transformed.
    """
    tiles, products, kernels, half = tiling
    positions, rows, cols, maps = x.shape
    size = tile + 2
    down, across = (rows + tile - 1) // tile, (cols + tile - 1) // tile
    a_row, y_row, x_row = a.shape[2] * maps, y.shape[2] * maps, cols * maps
    flat = a.reshape(-1)
    far = tiles.size // (size * size)
    most = far // (maps * ROWS) * ROWS
    if kernels.size > 0:
        transform_kernels(weights, maps, size, half, kernels)
        weights = kernels
    total = positions * down * across
    for first in range(0, total, most):
        count = min(most, total - first)
        for n in range(count):
            p, t = (first + n) // (down * across), (first + n) % (down * across)
            top, left = t // across * tile, t % across * tile
            at = (p * a.shape[1] + top) * a_row + left * maps
            _input_tile(flat, at, a_row, maps, size, half, tiles, n * maps, far)
        padded = (count + ROWS - 1) // ROWS * ROWS
        _products(tiles, weights, padded, maps, size * size, far, products)
        for n in range(count):
            p, t = (first + n) // (down * across), (first + n) % (down * across)
            top, left = t // across * tile, t % across * tile
            in_x = (p * rows + top) * x_row + left * maps
            in_y = (p * y.shape[1] + top + edge) * y_row + (left + edge) * maps
            cut = min(tile, rows - top), min(tile, cols - left)
            _output_tile(
                products, n * maps, far, maps, size, half, what, (scale, shift), cut,
                (x, in_x, x_row), (y, in_y, y_row),
            )  # fmt: skip


@kernel
def activate(
    x: Float32Array, x_edge: int, rows: int, cols: int, scale: Float32Array, shift: Float32Array,
    y: Float32Array, y_edge: int,
) -> None:  # fmt: skip
    """Write relu(scale * x + shift) to `y`, with a shift per position."""
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
def pool(
    x: Float32Array, edge: int, rows: int, cols: int, order: int, mean: Float32Array,
    most: Float32Array,
) -> None:  # fmt: skip
    """Write mean and maximum over the board of each field (positions x fields).

    A field at a point is the mean of its `order` maps.
    """
    for p in range(x.shape[0]):
        for f in range(mean.shape[1]):
            mean[p, f] = 0
            most[p, f] = -np.inf
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
def combine(
    x: Float32Array, weights: Float32Array, order: int, room: Float32Array, out: Float32Array
) -> None:
    """Multiply the maps at each point by a matrix, apply ReLU and average over orientations.

    The packed matrix has `order` times as many columns as `out` (points x fields), grouped by
    orientation; `room` is scratch space for ROWS rows of them.
    """
    points, fields = out.shape
    maps, columns = x.shape[3], fields * order
    for first in range(0, points, ROWS):
        first = min(first, points - ROWS)
        for n in range(0, columns, COLS):
            multiply(x, first * maps, maps, weights, n * maps, maps, room, n, columns, 0)
        for i in range(ROWS):
            for f in range(0, fields, WIDTH):
                total = relu(load(room, i * columns + f))
                for o in range(1, order):
                    total = total + relu(load(room, i * columns + o * fields + f))
                store(out, (first + i) * fields + f, np.float32(1 / order) * total)


@kernel
def lift(
    codes: UInt8Array, history: Int16Array, facts: Float32Array, table: Float32Array,
    moves: Float32Array, constants: Float32Array, rows: int, cols: int, found: IntArray,
    out: Float32Array,
) -> None:  # fmt: skip
    """Write the first convolution of packed positions to `out` (positions x points x maps).

    A point's byte decides nearly all its planes, so it adds a row of `table` (bytes x places of the
    kernel x maps) to each point around it; `moves` is moves ago x places x maps. Places are counted
    row by row from the kernel's top left. Each fact about the whole board scales its part of
    `constants` (facts x points x maps). `found` is scratch space, a number per place.
    """
    places, maps = table.shape[1], table.shape[2]
    side = 5 if places == 25 else 3
    edge = side // 2
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
