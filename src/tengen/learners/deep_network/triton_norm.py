"""Add, normalise and cut off below zero in few passes over a GPU's memory, by Triton kernels.

The convolutions of a training run near a GPU's limit; what lies between them is bound by memory.
These kernels see maps as rows (positions x points) of channels, read each as seldom as can be, and
know no network. Some go through the rows backwards: they begin with what the one before them had
last, which the GPU's cache still holds. What they compute `network.FieldNorm` says in PyTorch's own
words.
"""

# mypy: ignore-errors

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

_SUMMED = {"rows": 16, "loops": 64, "warps": 4}
"""Rows that a program sums at a time, and how often: on an H200 the best of eight such shapes,
tried when a program's rows still lay in one piece."""
_WRITTEN = 64
"""Rows that a program writes where it sums nothing."""
_LEAST = 1e-5


@triton.jit
def _sums(
    x, more, total, sums, n, points,
    CHANNELS: tl.constexpr, ROWS: tl.constexpr, LOOPS: tl.constexpr,
    ADDS: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """Write x + more, and every program's sums of it and of its squares, by channel; backwards.

    `more` is as large as x or, where it is about the whole board, has a row a position.
    """
    program = tl.program_id(0)
    channel = tl.arange(0, CHANNELS)
    plain = tl.zeros([ROWS, CHANNELS], tl.float32)
    squares = tl.zeros([ROWS, CHANNELS], tl.float32)
    for i in range(LOOPS):
        turn = (LOOPS - 1 - i) * tl.num_programs(0) + program
        row = turn * ROWS + tl.arange(0, ROWS)
        at = row[:, None].to(tl.int64) * CHANNELS + channel[None, :]
        here = row[:, None] < n
        value = tl.load(x + at, mask=here, other=0.0)
        if ADDS:
            there = (row // points)[:, None] * CHANNELS + channel[None, :] if WHOLE else at
            other = tl.load(more + there, mask=here, other=0.0)
            value = (value.to(tl.float32) + other.to(tl.float32)).to(total.dtype.element_ty)
            tl.store(total + at, value, mask=here)
        value = value.to(tl.float32)
        plain += value
        squares += value * value
    tl.store(sums + program * 2 * CHANNELS + channel, tl.sum(plain, 0))
    tl.store(sums + (program * 2 + 1) * CHANNELS + channel, tl.sum(squares, 0))


@triton.jit
def _above(x, factor, addend, above, n, CHANNELS: tl.constexpr, ROWS: tl.constexpr):
    """Write what is above zero of x, scaled and moved by channel."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    channel = tl.arange(0, CHANNELS)
    at = row[:, None].to(tl.int64) * CHANNELS + channel[None, :]
    here = row[:, None] < n
    value = tl.load(x + at, mask=here, other=0.0).to(tl.float32)
    value = value * tl.load(factor + channel)[None, :] + tl.load(addend + channel)[None, :]
    tl.store(above + at, tl.maximum(value, 0.0).to(above.dtype.element_ty), mask=here)


@triton.jit
def _back_sums(
    slope, x, factor, addend, sums, n,
    CHANNELS: tl.constexpr, ROWS: tl.constexpr, LOOPS: tl.constexpr,
):  # fmt: skip
    """Write every program's sums of the slope and of slope times x, where x led above zero."""
    program = tl.program_id(0)
    channel = tl.arange(0, CHANNELS)
    plain = tl.zeros([ROWS, CHANNELS], tl.float32)
    products = tl.zeros([ROWS, CHANNELS], tl.float32)
    scale, move = tl.load(factor + channel)[None, :], tl.load(addend + channel)[None, :]
    for i in range(LOOPS):
        row = (i * tl.num_programs(0) + program) * ROWS + tl.arange(0, ROWS)
        at = row[:, None].to(tl.int64) * CHANNELS + channel[None, :]
        here = row[:, None] < n
        value = tl.load(x + at, mask=here, other=0.0).to(tl.float32)
        back = tl.load(slope + at, mask=here, other=0.0).to(tl.float32)
        back = tl.where(value * scale + move > 0, back, 0.0)
        plain += back
        products += back * value
    tl.store(sums + program * 2 * CHANNELS + channel, tl.sum(plain, 0))
    tl.store(sums + (program * 2 + 1) * CHANNELS + channel, tl.sum(products, 0))


@triton.jit
def _back(
    slope, x, around, factor, addend, level, tilt, result, n,
    CHANNELS: tl.constexpr, ROWS: tl.constexpr, AROUND: tl.constexpr,
):  # fmt: skip
    """Write the slope at x: by the norm, by its statistics, of the way around; backwards."""
    row = (tl.num_programs(0) - 1 - tl.program_id(0)) * ROWS + tl.arange(0, ROWS)
    channel = tl.arange(0, CHANNELS)
    at = row[:, None].to(tl.int64) * CHANNELS + channel[None, :]
    here = row[:, None] < n
    value = tl.load(x + at, mask=here, other=0.0).to(tl.float32)
    back = tl.load(slope + at, mask=here, other=0.0).to(tl.float32)
    scale = tl.load(factor + channel)[None, :]
    back = tl.where(value * scale + tl.load(addend + channel)[None, :] > 0, back, 0.0)
    back = back * scale + tl.load(level + channel)[None, :]
    back += tl.load(tilt + channel)[None, :] * value
    if AROUND:
        back += tl.load(around + at, mask=here, other=0.0).to(tl.float32)
    tl.store(result + at, back.to(result.dtype.element_ty), mask=here)


def serves(channels: int) -> bool:
    """Tell whether the kernels can have so many channels."""
    return channels >= 16 and channels & (channels - 1) == 0


def _rows(x: Tensor) -> Tensor:
    """Lay maps out as the kernels read them; most are so already."""
    return x.contiguous(memory_format=torch.channels_last)


def _by_field(sums: Tensor, fields: int) -> Tensor:
    """Add up programs and orientations: two numbers a field."""
    return sums.sum(0).view(2, fields, -1).sum(2)


class NormAbove(torch.autograd.Function):
    """What is above zero of x + more, normalised by field; the statistics; the sum itself.

    `more` is None, as large as x, or one number a position and channel. The sum is given back only
    if the tower goes on with it: then both slopes meet in one pass.
    """

    @staticmethod
    def forward(ctx, x, more, gain, bias, goes_on):
        """Return above, mean, variance, and the sum where it is wanted."""
        x = _rows(x)
        channels, fields = x.shape[1], len(gain)
        n = x.numel() // channels
        programs = triton.cdiv(n, _SUMMED["rows"] * _SUMMED["loops"])
        sums = torch.empty(programs, 2, channels, device=x.device)
        adds = more is not None
        whole = adds and more.shape[2:] != x.shape[2:]
        added = x if not adds else more.contiguous() if whole else _rows(more)
        total = torch.empty_like(x) if adds else x
        _sums[(programs,)](
            x, added, total, sums, n, x.shape[2] * x.shape[3],
            CHANNELS=channels, ADDS=adds, WHOLE=whole,
            ROWS=_SUMMED["rows"], LOOPS=_SUMMED["loops"], num_warps=_SUMMED["warps"],
        )  # fmt: skip
        count = n * (channels // fields)
        mean, square = (_by_field(sums, fields) / count).unbind(0)
        variance = (square - mean * mean).clamp(min=0)
        inverse = torch.rsqrt(variance + _LEAST)
        factor = gain * inverse
        laid = torch.stack([factor, bias - mean * factor])
        laid = laid.repeat_interleave(channels // fields, 1).contiguous()
        above = torch.empty_like(x)
        _above[(triton.cdiv(n, _WRITTEN),)](
            total, laid[0], laid[1], above, n, CHANNELS=channels, ROWS=_WRITTEN
        )
        ctx.save_for_backward(total, laid, gain, mean, inverse)
        ctx.adds, ctx.whole, ctx.goes_on = adds, whole, goes_on
        if goes_on:
            return above, mean, variance, total.view_as(total)
        return above, mean, variance

    @staticmethod
    def backward(ctx, slope, _mean, _variance, *around):
        """Return slopes for x, more, gain and bias; nothing is learned from what is remembered."""
        total, laid, gain, mean, inverse = ctx.saved_tensors
        slope = _rows(slope)
        channels, fields = total.shape[1], len(gain)
        n = total.numel() // channels
        programs = triton.cdiv(n, _SUMMED["rows"] * _SUMMED["loops"])
        sums = torch.empty(programs, 2, channels, device=total.device)
        _back_sums[(programs,)](
            slope, total, laid[0], laid[1], sums, n, CHANNELS=channels,
            ROWS=_SUMMED["rows"], LOOPS=_SUMMED["loops"], num_warps=_SUMMED["warps"],
        )  # fmt: skip
        of_bias, products = _by_field(sums, fields).unbind(0)
        of_gain = (products - mean * of_bias) * inverse
        count = n * (channels // fields)
        tilt = -gain * inverse * inverse * of_gain / count
        level = -gain * inverse * of_bias / count - tilt * mean
        moved = torch.stack([level, tilt]).repeat_interleave(channels // fields, 1).contiguous()
        result = torch.empty_like(total)
        beside = _rows(around[0]) if ctx.goes_on else slope
        _back[(triton.cdiv(n, _WRITTEN),)](
            slope, total, beside, laid[0], laid[1], moved[0], moved[1], result, n,
            CHANNELS=channels, ROWS=_WRITTEN, AROUND=ctx.goes_on,
        )  # fmt: skip
        of_more = result.sum((2, 3), keepdim=True) if ctx.whole else result
        return result, of_more if ctx.adds else None, of_gain, of_bias, None
