"""Evaluate positions with one of KataGo's networks, in PyTorch, to train ours.

The file format is KataGo's own (`*.bin.gz`, versions 8 to 10): words separated by white space,
each tensor as `@BIN@` and little-endian floats. Only training uses this module.
"""

# mypy: disallow-subclassing-any=False, disallow-untyped-decorators=False

from __future__ import annotations

import gzip
import hashlib
import math
import os
import re
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tengen.errors import ModelError
from tengen.network.inputs_kernels import HISTORY
from tengen.network.katago_kernels import AREA, CATCHES_BIT, KO_BIT, LADDER_BIT, LIBERTIES

_VERSIONS = range(8, 11)
_PLANES, _GLOBALS = 22, 19
_LARGEST = 1 << 30  # bytes that a network file may have once unpacked
_TENSOR = b"@BIN@"
_WORD = re.compile(rb"[\x00-\x20]*([^\x00-\x20]+)")
_SCORE_SCALE = 20.0


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
    """Read words and tensors of a network file in order."""

    def __init__(self, path: Path) -> None:
        self.path, self.at = path, 0
        try:
            if path.stat().st_size > _LARGEST:
                raise ModelError(f"{path}: larger than {_LARGEST >> 20} MB")
            with gzip.open(path) as file:
                self.data = file.read(_LARGEST + 1)
        except (OSError, EOFError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or error
            raise ModelError(f"{path}: not a network of KataGo ({reason})") from None
        if len(self.data) > _LARGEST:
            raise ModelError(f"{path}: unpacks to more than {_LARGEST >> 20} MB")

    def fail(self, what: str) -> ModelError:
        return ModelError(f"{self.path}: damaged network of KataGo: {what} at byte {self.at}")

    def word(self) -> str:
        found = _WORD.match(self.data, self.at)
        if found is None:
            raise self.fail("ends too early")
        self.at = found.end()
        return found[1].decode("latin-1")

    def number(self) -> int:
        word = self.word()
        if not word.isdigit() or int(word) > 1 << 20:
            raise self.fail(f"{word[:20]!r} is not a size")
        return int(word)

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

    def layer(self, kind: str) -> Tensor:
        """Read a layer's name, sizes and tensors."""
        self.word()
        if kind == "convolution":
            rows, cols, given, made, _, _ = (self.number() for _ in range(6))
            return self.floats(rows, cols, given, made).permute(3, 2, 0, 1).contiguous()
        if kind == "product":
            return self.floats(self.number(), self.number())
        count = self.number()
        return self.floats(count) if kind == "bias" else self._norm(count)

    def _norm(self, count: int) -> Tensor:
        """Return factor and addend per channel."""
        word = self.word()
        try:
            epsilon = float(word)
        except ValueError:
            raise self.fail(f"{word[:20]!r} is not a number") from None
        has_scale, has_bias = self.number(), self.number()
        mean, variance = self.floats(count), self.floats(count)
        scale = self.floats(count) if has_scale else torch.ones(count)
        bias = self.floats(count) if has_bias else torch.zeros(count)
        factor = scale / torch.sqrt(variance + epsilon)
        return torch.stack([factor, bias - mean * factor])


# The layers of a file in order, one word per layer: its name here, what it is (a convolution, a
# product by a matrix, a bias, or a norm), and a dot for each word to pass over before it.
_KINDS = {"c": "convolution", "p": "product", "b": "bias", "n": "norm"}
_BEFORE = "c:first p:first_globals"
_BLOCK = "n:before c:.regular"
_POOLING = "c:pool n:pool_norm p:.pool_product"
_BLOCK_END = "n:middle c:.final"
_HEADS = (
    "n:tip c:..move c:move_pool n:move_pool_norm p:.move_product n:move_norm c:.move_last "
    "p:pass_product c:.value n:value_norm p:.hidden b:hidden_bias p:.winner b:winner_bias "
    "p:score b:score_bias c:owner"
)


def _pooled(x: Tensor) -> Tensor:
    mean, most = x.float().mean((2, 3)), x.float().amax((2, 3))
    larger = ((x.shape[2] * x.shape[3]) ** 0.5 - 14) / 10
    return torch.cat([mean, mean * larger, most], 1)


class Teacher(nn.Module):
    """A KataGo network, read from its file; `source` gives its origin and licence."""

    def __init__(self, path: str | os.PathLike[str], *, source: str = "") -> None:
        super().__init__()
        read = _Reader(Path(path))
        self.fingerprint = hashlib.sha256(read.data).hexdigest()[:16]
        source = source or "source and licence not stated"
        self.about = f"{read.word()[:80]} (a network of KataGo; {source})"
        version = read.number()
        if version not in _VERSIONS:
            raise ModelError(
                f"{path}: version {version} of KataGo's networks; versions "
                f"{_VERSIONS[0]} to {_VERSIONS[-1]} can be read"
            )
        if (read.number(), read.number()) != (_PLANES, _GLOBALS):
            raise ModelError(f"{path}: expects other inputs than {_PLANES} + {_GLOBALS}")
        read.word()  # name of the trunk
        blocks = read.number()
        for _ in range(5):
            read.word()
        self._read(read, _BEFORE)
        self.pools: list[bool] = []
        for i in range(blocks):
            kind = read.word()
            if kind not in ("ordinary_block", "gpool_block"):
                raise ModelError(f"{path}: has a {kind[:30]!r}, which cannot be read")
            read.word()
            self.pools.append(kind == "gpool_block")
            layers = [_BLOCK, *([_POOLING] if self.pools[i] else []), _BLOCK_END]
            self._read(read, " ".join(layers), f"{i}_")
        self._read(read, _HEADS)
        self.half_precision = False
        try:
            self(torch.zeros(1, _PLANES, 2, 2), torch.zeros(1, _GLOBALS))
        except (RuntimeError, IndexError):
            raise ModelError(f"{path}: damaged network of KataGo: its layers do not fit") from None

    def _read(self, read: _Reader, layers: str, prefix: str = "") -> None:
        """Read layers and keep their tensors by name."""
        for layer in layers.split():
            kind, name = layer.split(":")
            for _ in range(name.count(".")):
                read.word()
            self.register_buffer(prefix + name.lstrip("."), read.layer(_KINDS[kind]))

    def prepare(self, device: torch.device) -> Teacher:
        """Move to a device; on a GPU convolutions run in half precision."""
        self.to(device)
        self.half_precision = device.type == "cuda"
        if self.half_precision:
            for name, tensor in list(self.named_buffers()):
                if tensor.dim() == 4:
                    packed = tensor.half().to(memory_format=torch.channels_last)
                    self.register_buffer(name, packed)
        return self

    @torch.no_grad()
    def forward(self, planes: Tensor, whole: Tensor) -> TeacherOutput:
        """Evaluate positions of one size."""

        def get(name: str) -> Tensor:
            found: Tensor = getattr(self, name)
            return found

        dtype = torch.float16 if self.half_precision else torch.float32

        def convolve(x: Tensor, name: str) -> Tensor:
            kernel = get(name)
            return F.conv2d(x, kernel, padding=kernel.shape[-1] // 2)

        def activate(x: Tensor, name: str) -> Tensor:
            factor, addend = get(name).to(dtype)
            return F.relu(x * factor[:, None, None] + addend[:, None, None])

        def spread(x: Tensor) -> Tensor:
            return x.to(dtype)[:, :, None, None]

        x = planes.to(dtype)
        if self.half_precision:
            x = x.to(memory_format=torch.channels_last)
        x = convolve(x, "first") + spread(whole @ get("first_globals"))
        for i, pools in enumerate(self.pools):
            y = activate(x, f"{i}_before")
            z = convolve(y, f"{i}_regular")
            if pools:
                seen = _pooled(activate(convolve(y, f"{i}_pool"), f"{i}_pool_norm"))
                z = z + spread(seen @ get(f"{i}_pool_product"))
            x = x + convolve(activate(z, f"{i}_middle"), f"{i}_final")
        x = activate(x, "tip")
        seen = _pooled(activate(convolve(x, "move_pool"), "move_pool_norm"))
        moves = convolve(x, "move") + spread(seen @ get("move_product"))
        points = convolve(activate(moves, "move_norm"), "move_last")[:, 0].flatten(1).float()
        passing = (seen @ get("pass_product"))[:, :1]
        value = activate(convolve(x, "value"), "value_norm")
        mean = value.float().mean((2, 3))
        larger = (value.shape[2] * value.shape[3]) ** 0.5 - 14
        pooled = torch.cat([mean, mean * (larger / 10), mean * (larger**2 / 100 - 0.1)], 1)
        hidden = F.relu(pooled @ get("hidden") + get("hidden_bias"))
        odds = torch.softmax(hidden @ get("winner") + get("winner_bias"), 1)
        score = hidden @ get("score") + get("score_bias")
        return TeacherOutput(
            moves=torch.cat([points, passing], 1),
            winner=odds[:, 0] / (odds[:, 0] + odds[:, 1]),
            lead=score[:, 2] * _SCORE_SCALE,
            spread=F.softplus(score[:, 1]) * _SCORE_SCALE,
            ownership=torch.tanh(convolve(value, "owner")[:, 0].flatten(1).float()),
        )
