"""The network in PyTorch: one module for training, and one prepared for play."""

# mypy: disallow-subclassing-any=False, disallow-untyped-decorators=False

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tengen.network.layers import (
    BOARD_PLANES,
    KOMI_PLANE,
    KOMI_SCALE,
    N_PLANES,
    TABLE,
    Layers,
    Outputs,
    Weight,
    tied_places,
    weights_of,
)
from tengen.network.settings import SCORE_SCALE, Design, size_factor

_MOMENTUM = 0.02
_EPSILON = 1e-5
_ALIGNED = 8  # for play, planes are padded to this multiple, which suits a GPU's matrix units


class Output(NamedTuple):
    """Like `engine.EngineOutput`, but with the spread as a logarithm and ownership as logits."""

    moves: Tensor
    winner: Tensor
    score: Tensor
    spread: Tensor
    ownership: Tensor
    best: Tensor | None = None


def output_of(outputs: Outputs[Tensor], komi: Tensor) -> Output:
    """Gather the last layers' numbers; `komi` is what the side to move receives."""
    points, passing, owner, values = (part.float() for part in outputs)
    # Positions x outputs x moves.
    logits = torch.cat([points.flatten(2), passing[:, :, None]], 2)
    best = logits[:, -1] if logits.shape[1] > 1 else None
    winner, score, spread = values.unbind(1)
    # The score without komi is learned; komi is known.
    return Output(logits[:, 0], winner, score * SCORE_SCALE + komi, spread, owner.flatten(1), best)


class Seen(NamedTuple):
    """Packed inputs of the network as tensors: the fields of `layers.Positions`."""

    rows: int
    cols: int
    codes: Tensor
    history: Tensor
    passed: Tensor
    komi: Tensor
    territory: Tensor


def plane_table(device: torch.device) -> Tensor:
    """Return the table that turns bytes into planes."""
    return torch.tensor(TABLE, device=device)


def planes_of(positions: Any, table: Tensor, width: int = N_PLANES) -> Tensor:
    """Lay positions, with the fields of `Seen`, out as planes; add empty ones up to `width`."""
    games, points = positions.codes.shape
    places = torch.arange(points, device=table.device, dtype=torch.int16)
    moves = (positions.history[:, None, :] == places[None, :, None]).to(table.dtype)
    facts = [fact(positions).float() for fact in BOARD_PLANES.values()]
    facts += [torch.zeros_like(facts[0])] * (width - N_PLANES)
    whole = torch.stack(facts, 1).to(table.dtype)[:, None, :].expand(-1, points, -1)
    flat = torch.cat([table[positions.codes.int()], moves, whole], 2)
    return flat.view(games, positions.rows, positions.cols, width).permute(0, 3, 1, 2)


class _TorchLayers(Layers[Tensor]):
    """The layers as operations of PyTorch, on kernels, norms and other weights by name."""

    def __init__(
        self,
        design: Design,
        kernel: Callable[[str], Tensor],
        affine: Callable[[str, Tensor], tuple[Tensor, Tensor]],
        tensor: Callable[[str], Tensor],
    ) -> None:
        super().__init__(design)
        self.kernel, self.affine, self.tensor = kernel, affine, tensor

    def convolve(self, x: Tensor, name: str, fields: int, size: int) -> Tensor:
        return F.conv2d(x, self.kernel(name).to(x.dtype), padding=size // 2)

    def norm(self, x: Tensor, name: str) -> Tensor:
        factor, addend = self.affine(name, x)
        return F.relu(x * factor[:, None, None].to(x.dtype) + addend[:, None, None].to(x.dtype))

    def relu(self, x: Tensor) -> Tensor:
        return F.relu(x)

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        return x + y

    def add_to_maps(self, x: Tensor, whole: Tensor, order: int = 1) -> Tensor:
        each = whole if order == 1 else whole.repeat_interleave(order, 1)
        return x + each[:, :, None, None].to(x.dtype)

    def merge(self, x: Tensor) -> Tensor:
        order = self.design.order
        if order == 1:
            return x
        return x.view(x.shape[0], -1, order, x.shape[2], x.shape[3]).mean(2)

    def pool(self, x: Tensor) -> Tensor:
        mean, most = x.float().mean((2, 3)), x.float().amax((2, 3))
        larger = mean * size_factor(x.shape[2] * x.shape[3])
        return torch.cat([mean, larger, most], 1)

    def linear(self, x: Tensor, name: str, outputs: int) -> Tensor:
        return F.linear(x, self.tensor(f"{name}.weight"), self.tensor(f"{name}.bias"))

    def points(self, x: Tensor, name: str, outputs: int) -> Tensor:
        weight = self.tensor(f"{name}.weight")
        return F.conv2d(x.to(weight.dtype), weight, self.tensor(f"{name}.bias"))


class Network(nn.Module):
    """The network that learns: planes in, moves, winner, score and ownership out."""

    def __init__(self, design: Design) -> None:
        super().__init__()
        self.design = design
        for name, weight in weights_of(design).items():
            *path, last = name.split(".")
            place: nn.Module = self
            for part in path:
                if not hasattr(place, part):
                    place.add_module(part, nn.Module())
                place = getattr(place, part)
            if weight.learned:
                place.register_parameter(last, nn.Parameter(_drawn(weight)))
            else:
                place.register_buffer(last, _drawn(weight))
        for shape in {weight.shape[2:] for weight in weights_of(design).values() if weight.tied}:
            places = torch.tensor(tied_places(shape, design.order)).flatten()
            spread = F.one_hot(places, math.prod(shape)).float().T.contiguous()
            self.register_buffer(_spread_name(shape), spread, persistent=False)

    def forward(self, planes: Tensor) -> Output:
        """Evaluate positions: batch x planes x rows x columns."""
        komi = planes[:, KOMI_PLANE].float().mean((1, 2)) * KOMI_SCALE
        return output_of(self.layers().run(planes), komi)

    def layers(self) -> _TorchLayers:
        """Return the layers; they lay kernels out at each step."""
        return _TorchLayers(self.design, self.kernel, self.affine, self.weight)

    def weight(self, name: str) -> Tensor:
        """Return a tensor by its name."""
        place: Any = self
        for part in name.split("."):
            place = getattr(place, part)
        return place

    def kernel(self, name: str) -> Tensor:
        """Return a convolution's kernel laid out: maps out x maps in x size x size."""
        free = self.weight(f"{name}.weight")
        fields_out, fields_in, *shape = free.shape
        order = self.design.order
        # On a GPU, a product with a matrix of zeros and ones, and its gradient, is fastest.
        laid = free.reshape(fields_out * fields_in, -1) @ getattr(self, _spread_name(shape))
        laid = laid.view(fields_out, fields_in, order, -1).transpose(1, 2)
        return laid.reshape(fields_out * order, -1, *shape[-2:])

    def affine(self, name: str, x: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return factor and addend of each map in a norm, in training by the statistics of `x`."""
        order = self.design.order
        mean, variance = known = self.weight(f"{name}.mean"), self.weight(f"{name}.variance")
        if self.training and x is not None:
            mean, variance = found = statistics(x, order)
            with torch.no_grad():
                for old, new in zip(known, found, strict=True):
                    old.lerp_(new, _MOMENTUM)
        factor = self.weight(f"{name}.gain") * torch.rsqrt(variance + _EPSILON)
        addend = self.weight(f"{name}.bias") - mean * factor
        return factor.repeat_interleave(order), addend.repeat_interleave(order)


def _spread_name(shape: Sequence[int]) -> str:
    return "spread_" + "_".join(map(str, shape))


def _drawn(weight: Weight) -> Tensor:
    """Return the initial value of a tensor."""
    if weight.start == "normal":
        return torch.randn(weight.shape) * (2 / weight.inputs) ** 0.5
    if weight.start == "uniform":
        return (torch.rand(weight.shape) * 2 - 1) * weight.inputs**-0.5
    return torch.full(weight.shape, 1.0 if weight.start == "one" else 0.0)


def statistics(x: Tensor, order: int) -> tuple[Tensor, Tensor]:
    """Return mean and variance of each field over a batch."""
    wide = x.float()
    mean = wide.mean((0, 2, 3)).view(-1, order).mean(1)
    square = wide.square().mean((0, 2, 3)).view(-1, order).mean(1)
    return mean, (square - mean * mean).clamp(min=0)


class FoldedNetwork(nn.Module):
    """A network for play: kernels laid out and norms reduced to factors once, not at each step.

    `take_over` copies weights in place, so that a captured CUDA graph uses the new ones.
    """

    def __init__(self, network: Network, device: torch.device, dtype: torch.dtype) -> None:
        super().__init__()
        self.design, self.dtype = network.design, dtype
        self.planes = -(-N_PLANES // _ALIGNED) * _ALIGNED
        self.register_buffer("table", plane_table(device).to(dtype), False)
        for name, value in self.folded(network).items():
            self.register_buffer(name.replace(".", "_"), value.to(device), False)

    @torch.no_grad()
    def take_over(self, network: Network) -> None:
        """Use the weights of the network as it is now."""
        for name, value in self.folded(network).items():
            getattr(self, name.replace(".", "_")).copy_(value)

    @torch.no_grad()
    def folded(self, network: Network) -> dict[str, Tensor]:
        """Return all tensors by name."""
        found: dict[str, Tensor] = {}
        for name, weight in weights_of(self.design).items():
            part = name.rpartition(".")[0]
            if name.endswith(".gain"):
                factor, addend = network.affine(part)
                found[f"{part}.factor"] = factor.to(self.dtype)
                found[f"{part}.addend"] = addend.to(self.dtype)
            elif weight.tied:
                laid = network.kernel(part)
                if part == "lift":
                    laid = F.pad(laid, (0, 0, 0, 0, 0, self.planes - N_PLANES))
                laid = laid.to(self.dtype)
                found[name] = laid.contiguous(memory_format=torch.channels_last)
            elif weight.start == "uniform":
                found[name] = network.weight(name).detach().clone()
        return found

    def forward(self, positions: Seen) -> Output:
        """Evaluate positions."""
        planes = planes_of(positions, self.table, self.planes)
        layers = _TorchLayers(self.design, self._kernel, self._affine, self._tensor)
        return output_of(layers.run(planes), positions.komi)

    def _tensor(self, name: str) -> Tensor:
        return getattr(self, name.replace(".", "_"))

    def _kernel(self, name: str) -> Tensor:
        return self._tensor(f"{name}.weight")

    def _affine(self, name: str, x: Tensor) -> tuple[Tensor, Tensor]:
        return self._tensor(f"{name}.factor"), self._tensor(f"{name}.addend")


def network_arrays(network: Network) -> dict[str, Any]:
    """Return weights and statistics of a network as NumPy arrays, by name."""
    return {k: v.detach().float().cpu().numpy() for k, v in network.state_dict().items()}


def network_of(weights: Mapping[str, Any], design: Design) -> Network:
    """Return a network with these weights."""
    network = Network(design)
    network.load_state_dict({name: torch.tensor(weight) for name, weight in weights.items()})
    return network
