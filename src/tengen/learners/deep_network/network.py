"""The network as a function of planes, in PyTorch: a residual tower in the regular representation.

Every feature map belongs to a field and an orientation (see `group`): channel = field * order +
orientation. With `order` 8 the network commutes with all symmetries of the board exactly; with
order 1 every map is its own field, nothing is tied, and the same code is the plain residual
network that the symmetric one is compared with. Board sizes follow from the input. Nothing here
knows what the network is trained on.
"""

# mypy: disallow-subclassing-any=False, disallow-untyped-decorators=False

from __future__ import annotations

from importlib.util import find_spec
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tengen.learners.deep_network.design import (
    LIFTING_SIZE,
    SCORE_SCALE,
    SIZE_SCALE,
    USUAL_SIZE,
    Design,
)
from tengen.learners.deep_network.group import (
    ORIENTATIONS,
    group_places,
    lifting_places,
    spreading,
)
from tengen.learners.deep_network.inputs import KOMI_PLANE, KOMI_SCALE, N_PLANES

# PyTorch for some systems comes without Triton.
if torch.cuda.is_available() and find_spec("triton") is not None:
    from tengen.learners.deep_network import triton_norm
else:
    triton_norm = None  # type: ignore[assignment]

WINNER = 0
"""Row of the last layer that tells the winner; score and spread follow."""


class Output(NamedTuple):
    """What the network says, from the side to move; one row a position."""

    moves: Tensor
    """Logits of points x (rows * columns), and of pass, last."""
    winner: Tensor
    """Logit of winning."""
    score: Tensor
    """Expected final score in points."""
    spread: Tensor
    """Logarithm of the score's standard deviation."""
    ownership: Tensor
    """Logits of owning each point."""
    best: Tensor | None = None
    """Logits of the best move, laid out as `moves`, where the design has several move outputs."""


class _Lifting(nn.Module):
    """A convolution from plain planes to fields: one free kernel, turned eight ways."""

    def __init__(self, planes: int, fields: int, size: int, order: int) -> None:
        super().__init__()
        self.shape = (fields, planes, order, size, size)
        scale = (2 / (planes * size * size)) ** 0.5
        self.weight = nn.Parameter(torch.randn(fields, planes, size, size) * scale)
        places = lifting_places(size)[:order]
        self.register_buffer("spread", torch.tensor(spreading(places, size * size)), False)

    def kernel(self) -> Tensor:
        """Return the kernel laid out: channels x planes x size x size."""
        fields, planes, order, size, _ = self.shape
        laid = self.weight.reshape(fields * planes, -1) @ self.spread
        laid = laid.view(self.shape).transpose(1, 2)
        return laid.reshape(fields * order, planes, size, size)

    def forward(self, x: Tensor) -> Tensor:
        """Convolve."""
        return F.conv2d(x, self.kernel().to(x.dtype), padding=self.shape[-1] // 2)


class _GroupConvolution(nn.Module):
    """A convolution from fields to fields: eight free kernels where a plain one has sixty-four."""

    def __init__(self, fields_in: int, fields_out: int, size: int, order: int) -> None:
        super().__init__()
        self.shape = (fields_out, fields_in, order, order, size, size)
        scale = (2 / (fields_in * order * size * size)) ** 0.5
        self.weight = nn.Parameter(torch.randn(fields_out, fields_in, order, size, size) * scale)
        entries = order * size * size
        places = group_places(size) if order == ORIENTATIONS else lifting_places(size)[:1]
        self.register_buffer("spread", torch.tensor(spreading(places, entries)), False)

    def kernel(self) -> Tensor:
        """Return the kernel laid out: channels out x channels in x size x size."""
        fields_out, fields_in, order, _, size, _ = self.shape
        laid = self.weight.reshape(fields_out * fields_in, -1) @ self.spread
        laid = laid.view(self.shape).transpose(1, 2)
        return laid.reshape(fields_out * order, fields_in * order, size, size)

    def forward(self, x: Tensor) -> Tensor:
        """Convolve."""
        return F.conv2d(x, self.kernel().to(x.dtype), padding=self.shape[-1] // 2)


class FieldNorm(nn.Module):
    """Batch normalisation whose statistics are shared by a field's orientations; then a ReLU."""

    momentum = 0.02

    def __init__(self, fields: int, order: int) -> None:
        super().__init__()
        self.fields, self.order = fields, order
        self.gain = nn.Parameter(torch.ones(fields))
        self.bias = nn.Parameter(torch.zeros(fields))
        self.register_buffer("mean", torch.zeros(fields))
        self.register_buffer("variance", torch.ones(fields))

    def statistics(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and variance of every field."""
        wide = x.float()
        mean = wide.mean((0, 2, 3)).view(self.fields, self.order).mean(1)
        square = wide.square().mean((0, 2, 3)).view(self.fields, self.order).mean(1)
        return mean, (square - mean * mean).clamp(min=0)

    @torch.no_grad()
    def remember(self, mean: Tensor, variance: Tensor) -> None:
        """Follow the statistics of batches slowly."""
        self.mean.lerp_(mean, self.momentum)
        self.variance.lerp_(variance, self.momentum)

    def affine(self, mean: Tensor, variance: Tensor) -> tuple[Tensor, Tensor]:
        """Return factor and addend of every channel."""
        factor = self.gain * torch.rsqrt(variance + 1e-5)
        addend = self.bias - mean * factor
        return factor.repeat_interleave(self.order), addend.repeat_interleave(self.order)

    def forward(self, x: Tensor, more: Tensor | None = None) -> Tensor:
        """Return what is above zero of x + more, normalised."""
        if self._quickly(x):
            above, mean, variance = triton_norm.NormAbove.apply(
                x, more, self.gain, self.bias, False
            )
            self.remember(mean, variance)
            return above
        return self._plainly(x if more is None else x + more)

    def around(self, x: Tensor, more: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return the same, and x + more itself, which passes around what follows."""
        if self._quickly(x):
            above, mean, variance, total = triton_norm.NormAbove.apply(
                x, more, self.gain, self.bias, True
            )
            self.remember(mean, variance)
            return above, total
        total = x if more is None else x + more
        return self._plainly(total), total

    def _quickly(self, x: Tensor) -> bool:
        """Tell whether a batch to learn from lies where Triton's kernels serve."""
        learns = self.training and x.is_cuda and triton_norm is not None
        return learns and triton_norm.serves(self.fields * self.order)

    def _plainly(self, x: Tensor) -> Tensor:
        known = self.mean, self.variance
        if self.training:
            known = self.statistics(x)
            self.remember(*known)
        factor, addend = self.affine(*known)
        return F.relu(x * factor[:, None, None].to(x.dtype) + addend[:, None, None].to(x.dtype))


def pooled(x: Tensor) -> Tensor:
    """Return what maps (batch x maps x rows x columns) say of the whole board: three a map."""
    mean, most = x.float().mean((2, 3)), x.float().amax((2, 3))
    larger = ((x.shape[2] * x.shape[3]) ** 0.5 - USUAL_SIZE) / SIZE_SCALE
    return torch.cat([mean, mean * larger, most], 1)


def merge(x: Tensor, order: int) -> Tensor:
    """Return the mean over orientations: a map a field, which turns as the board turns."""
    if order == 1:
        return x
    return x.view(x.shape[0], -1, order, x.shape[2], x.shape[3]).mean(2)


class Block(nn.Module):
    """Two convolutions around which the tower passes; some blocks look at the whole board."""

    def __init__(self, fields: int, order: int, pools: bool) -> None:
        super().__init__()
        self.order = order
        self.norm1 = FieldNorm(fields, order)
        self.conv1 = _GroupConvolution(fields, fields, 3, order)
        self.pool = nn.Linear(3 * fields, fields) if pools else None
        self.norm2 = FieldNorm(fields, order)
        self.conv2 = _GroupConvolution(fields, fields, 3, order)
        nn.init.zeros_(self.conv2.weight)

    def forward(self, x: Tensor, more: Tensor | None) -> tuple[Tensor, Tensor]:
        """Look at x + more; return that sum and what is to be added to it.

        The next norm adds them: in training it reads both anyway.
        """
        above, x = self.norm1.around(x, more)
        y, whole = self.conv1(above), None
        if self.pool is not None:
            bias = self.pool(pooled(merge(y, self.order)))
            whole = bias.repeat_interleave(self.order, 1)[:, :, None, None].to(y.dtype)
        return x, self.conv2(self.norm2(y, whole))


class Network(nn.Module):
    """Planes in, moves, winner, score and ownership out."""

    def __init__(self, design: Design) -> None:
        super().__init__()
        self.design = design
        fields, order, heads = design.fields, design.order, design.head_fields
        self.lift = _Lifting(N_PLANES, fields, LIFTING_SIZE, order)
        self.blocks = nn.ModuleList(
            Block(fields, order, pools=design.pools(i)) for i in range(design.blocks)
        )
        self.norm = FieldNorm(fields, order)
        self.move_fields = _GroupConvolution(fields, heads, 1, order)
        self.move_bias = nn.Linear(3 * heads, heads)
        self.move = nn.Conv2d(heads, design.move_outputs, 1)
        self.pass_move = nn.Linear(3 * heads, design.move_outputs)
        self.value_fields = _GroupConvolution(fields, heads, 1, order)
        self.owner = nn.Conv2d(heads, 1, 1)
        self.value_hidden = nn.Linear(3 * heads, design.value_hidden)
        self.value = nn.Linear(design.value_hidden, 3)

    def forward(self, planes: Tensor) -> Output:
        """Judge positions: batch x planes x rows x columns."""
        x, more = self.lift(planes), None
        for block in self.blocks:
            x, more = block(x, more)
        x = self.norm(x, more)
        order = self.design.order
        # One convolution for both heads: each alone would read the tower again.
        kernels = torch.cat([self.move_fields.kernel(), self.value_fields.kernel()])
        heads = merge(F.relu(F.conv2d(x, kernels.to(x.dtype))), order)
        moves, values = heads.chunk(2, 1)
        whole = pooled(moves)
        bias = self.move_bias(whole)[:, :, None, None].to(moves.dtype)
        points = self.move(F.relu(moves + bias)).flatten(2).float()
        # Positions x outputs x moves.
        logits = torch.cat([points, self.pass_move(whole).float()[:, :, None]], 2)
        best = logits[:, -1] if self.design.move_outputs > 1 else None
        owner = self.owner(values).flatten(1).float()
        hidden = F.relu(self.value_hidden(pooled(values)))
        winner, score, spread = self.value(hidden).float().unbind(1)
        # What the board is worth is learned; komi is known.
        komi = planes[:, KOMI_PLANE].float().mean((1, 2)) * KOMI_SCALE
        return Output(logits[:, 0], winner, score * SCORE_SCALE + komi, spread, owner, best)

    def free_parameters(self) -> int:
        """Count the weights that are learned."""
        return sum(weight.numel() for weight in self.parameters())
