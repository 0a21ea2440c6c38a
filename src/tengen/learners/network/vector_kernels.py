"""Vectors for kernels: as many numbers as one instruction of the processor handles.

Numba leaves it to LLVM to find vector code, which fails where arrays might overlap. A kernel that
loads, combines and stores vectors itself is compiled into just these instructions. Offsets count
numbers from an array's first, whatever its shape; nothing checks them.
"""

# mypy: ignore-errors

from __future__ import annotations

import operator
import platform

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from tengen import compiling

_FEATURES = llvmlite.binding.get_host_cpu_features()
_ARM = platform.machine().lower() in ("aarch64", "arm64")
WIDTH = 16 if _FEATURES.get("avx512f") else 4 if _ARM else 8
"""Numbers in a vector."""
ROWS, COLS = {16: (6, 64), 8: (6, 16), 4: (4, 16)}[WIDTH]
"""Shape of the part of a matrix product that the processor's registers hold."""

_FAST = ("contract", "nnan", "nsz")
"""Products and sums may be one instruction; no number is infinite or missing."""
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
    """Return a vector of one number of another."""
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [lane] * WIDTH)
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), lanes)


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
def _multiply(typing, a, at, row, b, first, depth, c, to, far):
    """Keep the sums in registers while the loop runs; LLVM would store them at every step."""
    step = 4 if _ARM else 1

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        a, at, row, b, first, depth, c, to, far = arguments
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
        lefts = [load(kinds[0], a, builder.add(rows[i], k), step) for i in range(ROWS)]
        for part in range(step):
            place = builder.add(first, builder.mul(builder.add(k, _INT(part)), _INT(COLS)))
            rights = [load(kinds[3], b, builder.add(place, _INT(n * WIDTH))) for n in range(count)]
            for i in range(ROWS):
                left = _splat(builder, lefts[i], part)
                sums[i] = [
                    builder.call(fma, [left, right, total])
                    for right, total in zip(rights, sums[i], strict=True)
                ]
        following = builder.add(k, _INT(step))
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

    return _signature(types.void, a, at, row, b, first, depth, c, to, far), generate


def _number(context, builder, kind, value):
    """Return a vector of one number."""
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


def multiply(a, at, row, b, first, depth, c, to, far):
    """Write ROWS x COLS sums of `depth` products, a multiple of 4, to `c` from `to`.

    The left matrix has its rows `row` numbers apart, the right one is contiguous (see `packed`),
    and the rows of the result are `far` apart.
    """
    lines = np.arange(ROWS)[:, None]
    left = a.reshape(-1)[at + row * lines + np.arange(depth)]
    right = b.reshape(-1)[first : first + depth * COLS].reshape(depth, COLS)
    c.reshape(-1)[to + far * lines + np.arange(COLS)] = left @ right


if not compiling.plain():
    load, store, relu, multiply = _load, _store, _relu, _multiply
