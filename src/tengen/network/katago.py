"""Evaluate positions with one of KataGo's networks, in PyTorch, to train ours.

The file format is KataGo's own (`*.bin.gz`): words separated by white space, each tensor as `@BIN@`
and little-endian floats. Versions 8 to 10 are convolutional networks, versions 15 to 17 may have
nested blocks and blocks of transformers. Only training uses this module.
"""

# mypy: disallow-subclassing-any=False, disallow-untyped-decorators=False

from __future__ import annotations

import gzip
import hashlib
import math
import os
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tengen.errors import ModelError
from tengen.network.inputs_kernels import HISTORY
from tengen.network.katago_kernels import AREA, CATCHES_BIT, KO_BIT, LADDER_BIT, LIBERTIES

_VERSIONS = (8, 9, 10, 15, 16, 17)
_PLANES, _GLOBALS = 22, 19
LARGEST_FILE = 1 << 30  # bytes that a network file may have once unpacked
_TENSOR = b"@BIN@"
_WORD = re.compile(rb"[\x00-\x20]*([^\x00-\x20]+)")
_SCORE_SCALE = 20.0
_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "ACTIVATION_IDENTITY": nn.Identity(), "ACTIVATION_RELU": F.relu, "ACTIVATION_MISH": F.mish,
    "ACTIVATION_SILU": F.silu,
}  # fmt: skip


class TeacherPositions(NamedTuple):
    """Packed positions of one board size; see `katago_kernels` for the codes."""

    rows: int
    cols: int
    codes: Tensor  # positions x points, int16
    earlier: Tensor  # positions x 2 x points, bool: blocks in ladders one and two moves before
    history: Tensor  # positions x HISTORY: points of the last moves, latest first, or NOWHERE
    passes: Tensor  # positions x HISTORY, bool: which of the last moves were passes
    komi: Tensor  # points the side to move receives
    rules: Tensor  # positions x 6: ko, suicide and scoring, the global inputs 6 to 11


class TeacherOutput(NamedTuple):
    """The teacher's answers for the side to move, laid out as in `engine.EngineOutput`."""

    moves: Tensor
    winner: Tensor  # a probability, not a logit
    lead: Tensor
    spread: Tensor
    ownership: Tensor


def inputs_of(positions: TeacherPositions) -> tuple[Tensor, Tensor]:
    """Return spatial planes (positions x 22 x rows x columns) and globals (positions x 19)."""
    codes = positions.codes.int()
    count, points = codes.shape
    own, other = (codes & 3) == 1, (codes & 3) == 2
    liberties = codes >> LIBERTIES & 3
    area = codes >> AREA & 3
    places = torch.arange(points, device=codes.device)
    last = positions.history[:, :, None] == places
    nothing = torch.zeros_like(own)
    planes = torch.stack(
        [
            torch.ones_like(own), own, other, liberties == 1, liberties == 2, liberties == 3,
            (codes & KO_BIT) > 0, nothing, nothing, *last.unbind(1), (codes & LADDER_BIT) > 0,
            *positions.earlier.unbind(1), (codes & CATCHES_BIT) > 0, area == 1, area == 2,
            nothing, nothing,
        ], 1,
    )  # fmt: skip
    whole = torch.zeros(count, _GLOBALS, device=codes.device)
    whole[:, :HISTORY] = positions.passes.float()
    whole[:, 5] = positions.komi / _SCORE_SCALE
    whole[:, 6:12] = positions.rules
    whole[:, 14] = positions.passes[:, 0].float()
    area_rules = positions.rules[:, 3] == 0
    whole[:, 18] = torch.where(area_rules, _wave(positions.komi, points), 0.0)
    return planes.view(count, _PLANES, positions.rows, positions.cols), whole


def _wave(komi: Tensor, points: int) -> Tensor:
    """Return how komi lies between values that allow a draw: a triangular wave of period 2."""
    offset = 0.0 if points % 2 == 0 else 1.0
    delta = torch.remainder(komi - offset, 2.0)
    return torch.where(delta < 0.5, delta, torch.where(delta < 1.5, 1.0 - delta, delta - 2.0))


class _Reader:
    """Read words, numbers and tensors of a network file in order."""

    def __init__(self, path: Path) -> None:
        self.path, self.at, self.version = path, 0, 0
        try:
            if path.stat().st_size > LARGEST_FILE:
                raise ModelError(f"{path}: larger than {LARGEST_FILE >> 20} MB")
            with gzip.open(path) as file:
                self.data = file.read(LARGEST_FILE + 1)
        except (OSError, EOFError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or error
            raise ModelError(f"{path}: not a network of KataGo ({reason})") from None
        if len(self.data) > LARGEST_FILE:
            raise ModelError(f"{path}: unpacks to more than {LARGEST_FILE >> 20} MB")

    def fail(self, what: str) -> ModelError:
        return ModelError(f"{self.path}: damaged network of KataGo: {what} at byte {self.at}")

    def refuse(self, what: str) -> ModelError:
        return ModelError(f"{self.path}: has {what}, which cannot be read")

    def word(self) -> str:
        found = _WORD.match(self.data, self.at)
        if found is None:
            raise self.fail("ends too early")
        self.at = found.end()
        return found[1].decode("latin-1")

    def integer(self) -> int:
        word = self.word()
        if not word.isdigit() or int(word) > 1 << 20:
            raise self.fail(f"{word[:20]!r} is not a size")
        return int(word)

    def integers(self, count: int) -> list[int]:
        return [self.integer() for _ in range(count)]

    def number(self) -> float:
        word = self.word()
        try:
            return float(word)
        except ValueError:
            raise self.fail(f"{word[:20]!r} is not a number") from None

    def floats(self, *shape: int) -> Tensor:
        count = math.prod(shape)
        start = self.data.find(_TENSOR, self.at, self.at + 64) + len(_TENSOR)
        if start < len(_TENSOR) or start + 4 * count > len(self.data):
            raise self.fail("a tensor is missing")
        values = np.frombuffer(self.data, "<f4", count, start).reshape(shape)
        if not np.isfinite(values).all():
            raise self.fail("a weight is no number")
        self.at = start + 4 * count
        return torch.from_numpy(values.copy())


# Every layer reads its own part of the file, which begins with the layer's name.


class _Layer(nn.Module):
    def __init__(self, read: _Reader) -> None:
        super().__init__()
        read.word()

    def keep(self, **tensors: Tensor) -> None:
        for name, tensor in tensors.items():
            self.register_buffer(name, tensor)


class _Convolution(_Layer):
    kernel: Tensor

    def __init__(self, read: _Reader) -> None:
        super().__init__(read)
        rows, cols, given, made, *_ = read.integers(6)
        self.keep(kernel=read.floats(rows, cols, given, made).permute(3, 2, 0, 1).contiguous())

    def forward(self, x: Tensor) -> Tensor:
        rows, cols = self.kernel.shape[2:]
        return F.conv2d(x, self.kernel, padding=(rows // 2, cols // 2))


class _Product(_Layer):
    matrix: Tensor

    def __init__(self, read: _Reader) -> None:
        super().__init__(read)
        self.keep(matrix=read.floats(*read.integers(2)))

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.matrix


class _Bias(_Layer):
    bias: Tensor

    def __init__(self, read: _Reader) -> None:
        super().__init__(read)
        self.keep(bias=read.floats(read.integer()))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.bias


class _Norm(_Layer):
    """A batch norm: a factor and an addend per channel."""

    factor: Tensor
    addend: Tensor

    def __init__(self, read: _Reader) -> None:
        super().__init__(read)
        count, epsilon = read.integer(), read.number()
        has_scale, has_bias = read.integers(2)
        mean, variance = read.floats(count), read.floats(count)
        scale = read.floats(count) if has_scale else torch.ones(count)
        bias = read.floats(count) if has_bias else torch.zeros(count)
        factor = scale / torch.sqrt(variance + epsilon)
        self.keep(factor=factor[:, None, None], addend=(bias - mean * factor)[:, None, None])

    def forward(self, x: Tensor) -> Tensor:
        return torch.addcmul(self.addend.to(x.dtype), x, self.factor.to(x.dtype))


class _Activation(_Layer):
    def __init__(self, read: _Reader) -> None:
        super().__init__(read)
        kind = read.word() if read.version > 10 else "ACTIVATION_RELU"
        if kind not in _ACTIVATIONS:
            raise read.refuse(f"an {kind[:30]!r}")
        self.activate = _ACTIVATIONS[kind]

    def forward(self, x: Tensor) -> Tensor:
        return self.activate(x)


def _normed(*kinds: type[_Layer]) -> Callable[[_Reader], nn.Sequential]:
    """Return what reads a norm, its activation, and then other layers."""
    every: list[type[_Layer]] = [_Norm, _Activation, *kinds]
    return lambda read: nn.Sequential(*(kind(read) for kind in every))


_activated = _normed()
_convolved = _normed(_Convolution)


class _Ordinary(_Layer):
    def __init__(self, read: _Reader) -> None:
        super().__init__(read)
        self.first, self.second = _convolved(read), _convolved(read)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.second(self.first(x))


class _Pooling(_Layer):
    def __init__(self, read: _Reader) -> None:
        super().__init__(read)
        self.before, self.regular = _activated(read), _Convolution(read)
        self.pool, self.pool_norm = _Convolution(read), _activated(read)
        self.product, self.last = _Product(read), _convolved(read)

    def forward(self, x: Tensor) -> Tensor:
        y = self.before(x)
        seen = self.product(_pooled(self.pool_norm(self.pool(y))))
        return x + self.last(self.regular(y) + seen.to(y.dtype)[:, :, None, None])


class _Nested(_Layer):
    """Blocks on fewer channels."""

    def __init__(self, read: _Reader) -> None:
        super().__init__(read)
        blocks = read.integer()
        self.narrow = _convolved(read)
        self.inside = _read_blocks(read, blocks)
        self.widen = _convolved(read)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.widen(self.inside(self.narrow(x)))


class _RootMeanSquare(_Layer):
    """A norm over the channels of each point."""

    weight: Tensor

    def __init__(self, read: _Reader) -> None:
        super().__init__(read)
        count, self.epsilon = read.integer(), read.number()
        self.keep(weight=read.floats(count))

    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast(x.device.type, enabled=False):  # one kernel, exact inside
            return F.rms_norm(x, x.shape[-1:], self.weight.to(x.dtype), self.epsilon)


class _Attention(_Layer):
    def __init__(self, read: _Reader) -> None:
        super().__init__(read)
        self.heads, self.key_heads, self.key_size, self.value_size, turned, learned = read.integers(
            6
        )
        if not self.key_heads or self.heads % self.key_heads or self.key_size % 4:
            raise read.fail("heads do not fit")
        self.norm = _RootMeanSquare(read)
        self.queries, self.keys, self.values, self.last = (_Product(read) for _ in range(4))
        self.turned = bool(turned)
        if turned:
            self.keep(frequencies=self._frequencies(read, bool(learned)))

    frequencies: Tensor  # heads of keys x pairs of channels x (column, row)

    def _frequencies(self, read: _Reader, learned: bool) -> Tensor:
        read.word()
        if learned:
            return read.floats(*read.integers(3))
        quarter, base = self.key_size // 4, read.number()
        steps = base ** -(2 * torch.arange(quarter) / (self.key_size / 2))
        found = torch.zeros(1, 2 * quarter, 2)
        found[0, :quarter, 1], found[0, quarter:, 0] = steps, steps
        return found

    def _turn(self, x: Tensor, rows: int, cols: int) -> Tensor:
        """Turn pairs of neighbouring channels by angles that grow with column and row."""
        row, col = torch.meshgrid(
            torch.arange(rows, device=x.device), torch.arange(cols, device=x.device), indexing="ij"
        )
        by_col, by_row = self.frequencies[:, None].unbind(-1)
        angle = col.reshape(-1, 1) * by_col + row.reshape(-1, 1) * by_row
        angle = angle.repeat_interleave(x.shape[1] // len(angle), 0)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)

    def forward(self, x: Tensor) -> Tensor:
        count, channels, rows, cols = x.shape
        points = rows * cols
        y = self.norm(x.flatten(2).transpose(1, 2))
        q = self.queries(y).view(count, points, self.heads, self.key_size).transpose(1, 2)
        k = self.keys(y).view(count, points, self.key_heads, self.key_size).transpose(1, 2)
        v = self.values(y).view(count, points, self.key_heads, self.value_size).transpose(1, 2)
        if self.turned:
            q, k = self._turn(q, rows, cols), self._turn(k, rows, cols)
        shared = self.heads // self.key_heads
        k, v = k.repeat_interleave(shared, 1), v.repeat_interleave(shared, 1)
        z = F.scaled_dot_product_attention(q, k, v, scale=self.key_size**-0.5)
        z = self.last(z.transpose(1, 2).reshape(count, points, self.heads * self.value_size))
        return x + z.transpose(1, 2).reshape(count, channels, rows, cols)


class _FeedForward(_Layer):
    def __init__(self, read: _Reader) -> None:
        super().__init__(read)
        _, _, gated = read.integers(3)
        self.norm, self.widen = _RootMeanSquare(read), _Product(read)
        self.gate = _Product(read) if gated else None
        self.last = _Product(read)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(x.flatten(2).transpose(1, 2))
        z = F.silu(self.widen(y))
        if self.gate is not None:
            z = z * self.gate(y)
        return x + self.last(z).transpose(1, 2).reshape(x.shape)


class _Tip(_Layer):
    """The norm after the last block: over channels, or over the whole board."""

    factor: Tensor
    addend: Tensor

    def __init__(self, read: _Reader) -> None:
        super().__init__(read)
        count, self.epsilon = read.integer(), read.number()
        whole_board, _ = read.integers(2)
        self.over = (1, 2, 3) if whole_board else (1,)
        factor, addend = read.floats(count), read.floats(count)
        self.keep(factor=factor[:, None, None], addend=addend[:, None, None])

    def forward(self, x: Tensor) -> Tensor:
        exact = x.float()
        size = (exact * exact).mean(self.over, keepdim=True) + self.epsilon
        return (exact * torch.rsqrt(size) * self.factor + self.addend).to(x.dtype)


_BLOCKS: dict[str, type[_Layer]] = {
    "ordinary_block": _Ordinary, "gpool_block": _Pooling, "nested_bottleneck_block": _Nested,
    "transformer_attention_block": _Attention, "transformer_ffn_block": _FeedForward,
}  # fmt: skip


def _read_blocks(read: _Reader, count: int) -> nn.Sequential:
    blocks = nn.Sequential()
    for _ in range(count):
        kind = read.word()
        if kind not in _BLOCKS:
            raise read.refuse(f"a {kind[:30]!r}")
        blocks.append(_BLOCKS[kind](read))
    return blocks


def _pooled(x: Tensor, last: Callable[[Tensor, float], Tensor] | None = None) -> Tensor:
    """Return mean, mean times the board's size, and the maximum, or `last` of mean and size."""
    mean = x.float().mean((2, 3))
    larger = (x.shape[2] * x.shape[3]) ** 0.5 - 14
    third = x.float().amax((2, 3)) if last is None else last(mean, larger)
    return torch.cat([mean, mean * (larger / 10), third], 1)


class _MoveHead(nn.Module):
    def __init__(self, read: _Reader) -> None:
        super().__init__()
        read.word()
        if read.version >= 17:
            _, *unknown = read.integers(4)
            if any(unknown):
                raise read.refuse("a policy head of another kind")
        self.move, self.pool, self.pool_norm = (
            _Convolution(read),
            _Convolution(read),
            _activated(read),
        )
        self.product, self.last = _Product(read), _convolved(read)
        passing = [_Product(read)]
        if read.version > 10:
            passing += [_Bias(read), _Activation(read), _Product(read)]
        self.passing = nn.Sequential(*passing)

    def forward(self, x: Tensor) -> Tensor:
        seen = _pooled(self.pool_norm(self.pool(x)))
        moves = self.move(x)
        moves = self.last(moves + self.product(seen).to(moves.dtype)[:, :, None, None])
        # The first of several policies is the plain one.
        return torch.cat([moves[:, 0].flatten(1).float(), self.passing(seen)[:, :1].float()], 1)


class _ValueHead(nn.Module):
    def __init__(self, read: _Reader) -> None:
        super().__init__()
        read.word()
        if read.version >= 17 and any(read.integers(3)):
            raise read.refuse("a value head of another kind")
        self.value, self.norm = _Convolution(read), _activated(read)
        self.hidden = nn.Sequential(_Product(read), _Bias(read), _Activation(read))
        self.winner = nn.Sequential(_Product(read), _Bias(read))
        self.score = nn.Sequential(_Product(read), _Bias(read))
        self.owner = _Convolution(read)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        value = self.norm(self.value(x))
        hidden = self.hidden(
            _pooled(value, lambda mean, larger: mean * (larger**2 / 100 - 0.1)).to(x.dtype)
        )
        odds = torch.softmax(self.winner(hidden).float(), 1)
        owners = torch.tanh(self.owner(value)[:, 0].flatten(1).float())
        return odds[:, 0] / (odds[:, 0] + odds[:, 1]), self.score(hidden).float(), owners


class Teacher(nn.Module):
    """A KataGo network, read from its file; `source` gives its origin and licence."""

    def __init__(self, path: str | os.PathLike[str], *, source: str = "") -> None:
        super().__init__()
        read = _Reader(Path(path))
        self.fingerprint = hashlib.sha256(read.data).hexdigest()[:16]
        source = source or "source and licence not stated"
        self.about = f"{read.word()[:80]} (a network of KataGo; {source})"
        read.version = read.integer()
        if read.version not in _VERSIONS:
            known = ", ".join(map(str, _VERSIONS))
            raise ModelError(
                f"{path}: version {read.version} of KataGo's networks; versions {known} can be read"
            )
        if read.integers(2) != [_PLANES, _GLOBALS]:
            raise ModelError(f"{path}: expects other inputs than {_PLANES} + {_GLOBALS}")
        self.spread_scale = self.lead_scale = _SCORE_SCALE
        if read.version > 10:
            _, _, self.spread_scale, self.lead_scale, *_ = (read.number() for _ in range(7))
            people, *_ = read.integers(2)
            if people or any(read.integers(6)):
                raise read.refuse("inputs for the rank of people, or of another kind")
        read.word()  # name of the trunk
        blocks, *_ = read.integers(6)
        tip = 0
        if read.version > 10:
            tip, *unknown = read.integers(6)
            if any(unknown):
                raise read.refuse("a trunk of another kind")
        self.first, self.first_globals = _Convolution(read), _Product(read)
        self.blocks = _read_blocks(read, blocks)
        self.tip = nn.Sequential(_Tip(read) if tip else _Norm(read), _Activation(read))
        self.moves, self.values = _MoveHead(read), _ValueHead(read)
        self.has_attention = any(isinstance(each, _Attention) for each in self.modules())
        self.precision: torch.dtype | None = None
        try:
            self(torch.zeros(1, _PLANES, 2, 2), torch.zeros(1, _GLOBALS))
        except (RuntimeError, IndexError):
            raise ModelError(f"{path}: damaged network of KataGo: its layers do not fit") from None

    def prepare(self, device: torch.device) -> Teacher:
        """Move to a device; a GPU calculates in half precision."""
        self.to(device)
        if device.type == "cuda":
            # Half precision's range is too small for attention.
            self.precision = torch.bfloat16 if self.has_attention else torch.float16
            self.to(memory_format=torch.channels_last)
        else:
            # Transformers have many denormal numbers, which processors calculate with very slowly.
            torch.set_flush_denormal(True)
        return self

    @torch.no_grad()
    def forward(self, planes: Tensor, whole: Tensor) -> TeacherOutput:
        """Evaluate positions of one size."""
        with torch.autocast(planes.device.type, self.precision, enabled=self.precision is not None):
            x = self.first(planes.float())
            x = x + self.first_globals(whole).to(x.dtype)[:, :, None, None]
            x = self.tip(self.blocks(x))
            winner, score, owners = self.values(x)
            moves = self.moves(x)
        return TeacherOutput(
            moves=moves,
            winner=winner,
            lead=score[:, 2] * self.lead_scale,
            spread=F.softplus(score[:, 1]) * self.spread_scale,
            ownership=owners,
        )
