"""Run the learning network for play: kernels laid out, normalisations folded; learn nothing.

The network that learns lays its tied kernels out at every step. Here that is done once after some
steps, into tensors that keep their place, so that a captured CUDA graph sees the new weights. It
says the same as `Network` in evaluation, up to the rounding of half precision on a GPU.
"""

# mypy: disallow-subclassing-any=False, disallow-untyped-decorators=False

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tengen.learners.deep_network.design import LIFTING_SIZE, SCORE_SCALE
from tengen.learners.deep_network.inputs import KOMI_SCALE, N_PLANES
from tengen.learners.deep_network.lessons import plane_table
from tengen.learners.deep_network.network import (
    Block,
    FieldNorm,
    Network,
    merge,
    pooled,
)

_ALIGNED = 8
"""Planes are filled up to a multiple of this: what a GPU's matrix units like."""


class Said(NamedTuple):
    """What play needs to know of positions, from the side to move."""

    moves: Tensor
    """Logits of all moves, the pass last; legality is the caller's."""
    winner: Tensor
    """Logit of winning."""
    score: Tensor
    """Expected final score in points."""


def see(
    codes: Tensor, history: Tensor, passed: Tensor, komi: Tensor, table: Tensor, planes: int
) -> Tensor:
    """Lay positions out as `inputs.Positions.planes` does, filled up with empty planes to `planes`.

    `table` turns bytes into planes, and says by its type of which type they are.
    """
    games, points = codes.shape
    lines = round(points**0.5)
    places = torch.arange(points, device=codes.device, dtype=torch.int16)
    moves = (history[:, None, :] == places[None, :, None]).to(table.dtype)
    nothing = torch.zeros_like(komi)
    filling = [nothing] * (planes - N_PLANES)
    whole = torch.stack([komi / KOMI_SCALE, nothing, passed.float(), *filling], 1)
    whole = whole.to(table.dtype)[:, None, :].expand(-1, points, -1)
    flat = torch.cat([table[codes.int()], moves, whole], 2)
    return flat.view(games, lines, lines, planes).permute(0, 3, 1, 2)


def _constants(norm: FieldNorm) -> tuple[Tensor, Tensor]:
    return norm.affine(norm.mean, norm.variance)


class Judge(nn.Module):
    """A network for play, filled from the one that learns by `learn_from`."""

    def __init__(self, network: Network, device: torch.device, dtype: torch.dtype) -> None:
        super().__init__()
        self.design, self.dtype = network.design, dtype
        self.planes = -(-N_PLANES // _ALIGNED) * _ALIGNED
        self.register_buffer("table", plane_table(device).to(dtype), False)
        for name, value in self._laid_out(network).items():
            self.register_buffer(name, value.to(device), False)

    @torch.no_grad()
    def learn_from(self, network: Network) -> None:
        """Take over the weights of the network as it is now."""
        for name, value in self._laid_out(network).items():
            getattr(self, name).copy_(value)

    @torch.no_grad()
    def _laid_out(self, network: Network) -> dict[str, Tensor]:
        """Return every tensor that play needs, by name."""
        dtype, found = self.dtype, dict[str, Tensor]()

        def kernel(name: str, laid: Tensor) -> None:
            found[name] = laid.to(dtype).contiguous(memory_format=torch.channels_last)

        def channels(name: str, values: Tensor) -> None:
            found[name] = values.to(dtype)[:, None, None].contiguous()

        lift = network.lift.kernel()
        kernel("lift", F.pad(lift, (0, 0, 0, 0, 0, self.planes - N_PLANES)))
        for i, block in enumerate(network.blocks):
            assert isinstance(block, Block)
            scale1, shift1 = _constants(block.norm1)
            scale2, shift2 = _constants(block.norm2)
            channels(f"scale1_{i}", scale1)
            channels(f"shift1_{i}", shift1)
            channels(f"shift2_{i}", shift2)
            first = block.conv1.kernel()
            if block.pool is None:
                first = first * scale2[:, None, None, None]
            else:
                channels(f"scale2_{i}", scale2)
                found[f"pool_{i}"] = block.pool.weight.clone()
                found[f"pool_bias_{i}"] = block.pool.bias.clone()
            kernel(f"first_{i}", first)
            kernel(f"second_{i}", block.conv2.kernel())
        scale, shift = _constants(network.norm)
        channels("scale", scale)
        channels("shift", shift)
        heads = [network.move_fields.kernel(), network.value_fields.kernel()]
        kernel("heads", torch.cat(heads))
        for part in ("move_bias", "move", "pass_move", "value_hidden", "value"):
            layer = getattr(network, part)
            # Of several move outputs, play reads the first.
            rows = slice(0, 1) if part in ("move", "pass_move") else slice(None)
            found[f"{part}_weight"] = layer.weight.flatten(1)[rows].clone()
            found[f"{part}_constant"] = layer.bias[rows].clone()
        return found

    def forward(self, codes: Tensor, history: Tensor, passed: Tensor, komi: Tensor) -> Said:
        """Judge positions; `komi` is what the side to move gets for being White, or pays."""
        order = self.design.order
        seen = see(codes, history, passed, komi, self.table, self.planes)
        x = F.conv2d(seen, self.lift, padding=LIFTING_SIZE // 2)
        for i in range(self.design.blocks):
            x = self._block(x, i)
        x = F.relu(x * self.scale + self.shift)
        fields = merge(F.relu(F.conv2d(x, self.heads)), order)
        moves, values = fields.chunk(2, 1)
        whole = pooled(moves)
        bias = F.linear(whole, self.move_bias_weight, self.move_bias_constant)
        ready = F.relu(moves + bias[:, :, None, None].to(moves.dtype)).float()
        points = (ready * self.move_weight.view(1, -1, 1, 1)).sum(1) + self.move_constant
        passing = F.linear(whole, self.pass_move_weight, self.pass_move_constant)
        hidden = F.relu(
            F.linear(pooled(values), self.value_hidden_weight, self.value_hidden_constant)
        )
        value = F.linear(hidden, self.value_weight, self.value_constant)
        logits = torch.cat([points.flatten(1), passing], 1)
        return Said(logits, value[:, 0], value[:, 1] * SCORE_SCALE + komi)

    def _block(self, x: Tensor, i: int) -> Tensor:
        y = F.relu(x * getattr(self, f"scale1_{i}") + getattr(self, f"shift1_{i}"))
        y = F.conv2d(y, getattr(self, f"first_{i}"), padding=1)
        if self.design.pools(i):
            order = self.design.order
            weight, bias = getattr(self, f"pool_{i}"), getattr(self, f"pool_bias_{i}")
            told = F.linear(pooled(merge(y, order)), weight, bias)
            y = y + told.repeat_interleave(order, 1)[:, :, None, None].to(y.dtype)
            y = y * getattr(self, f"scale2_{i}")
        y = F.relu(y + getattr(self, f"shift2_{i}"))
        return x + F.conv2d(y, getattr(self, f"second_{i}"), padding=1)
