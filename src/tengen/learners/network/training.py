"""Teach the network from batches: one loss, one schedule of the rate, one trainer.

The loss adds: the surprise at the move, who won, who owned what, and how far the score was off.
The rate rises quickly, stays, and falls over the last part. A trainer can be saved and restored,
so that a training that was stopped goes on exactly.
"""

# mypy: disallow-subclassing-any=False, disallow-untyped-decorators=False

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tengen.errors import SpecError
from tengen.learners.network.batches import Batch, Sampler
from tengen.learners.network.layers import WINNER
from tengen.learners.network.settings import SCORE_SCALE, Design
from tengen.learners.network.torch_network import (
    Network,
    Output,
    network_arrays,
    plane_table,
    planes_of,
)
from tengen.statistics import confidence

_LONGEST_GRADIENT = 2.0
_JUDGING_GAMES = 100
"""So many held-out games are needed to tell how sure the winner may be predicted."""


class TrainingSettings(Protocol):
    """What a training depends on besides its batches."""

    rate: float
    decay: float
    warm_up: int
    falling: float
    lowest_rate: float
    muon: bool
    seed: int


def rate_at(step: int, progress: float, settings: TrainingSettings) -> float:
    """Return the rate of a step; `progress` is the share of the training that is done."""
    rising = (step + 1) / settings.warm_up
    left = (1 - progress) / max(settings.falling, 1e-6)
    return settings.rate * max(min(rising, left, 1.0), settings.lowest_rate)


def losses(output: Output, batch: Batch) -> dict[str, Tensor]:
    """Return the parts of the loss, each a mean over the positions that have the target."""
    winner = F.binary_cross_entropy_with_logits(
        output.winner, batch.winner.clamp(min=0), reduction="none"
    )
    owner = F.binary_cross_entropy_with_logits(
        output.ownership, (batch.owner.float() + 1) / 2, reduction="none"
    ).mean(1)
    spread = output.spread.clamp(-4, 4)
    off = ((batch.score - output.score) / SCORE_SCALE).clamp(-8, 8)
    score = spread + 0.5 * (off * torch.exp(-spread)).square()
    # Moves are indices, or probabilities of all moves.
    moves = batch.moves if batch.moves.dim() == 1 else batch.moves.float()
    return {
        "moves": F.cross_entropy(output.moves, moves),
        "winner": _mean(winner, batch.winner >= 0),
        "ownership": _mean(owner, batch.owned),
        "score": _mean(score, batch.scored),
    }


def _mean(values: Tensor, mask: Tensor) -> Tensor:
    kept = mask.float()
    return (values * kept).sum() / kept.sum().clamp(min=1)


def diverged(step: int, rate: float) -> SpecError:
    """Return the error of a training whose loss is not a number any more."""
    return SpecError(
        f"the training diverged before batch {step} (its loss is not a number); "
        f"try a smaller learning rate than {rate}"
    )


def use_fast_products(device: torch.device) -> None:
    """Let a GPU choose its fastest convolutions, and round the factors of products."""
    if device.type == "cuda":
        torch.backends.cudnn.benchmark = True
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.backends.cudnn.allow_tf32 = True


class Trainer:
    """A network in training: make steps, measure, save and restore the whole state."""

    parts: tuple[str, ...] = ("moves", "winner", "ownership", "score")
    """The parts of the loss."""

    def __init__(
        self,
        design: Design,
        settings: Any,
        device: torch.device,
        *,
        graphs: bool = True,
    ) -> None:
        """Begin with random weights; on a GPU, `graphs` records a step once and replays it.

        A processor may be slower at launching a step's hundreds of kernels than the GPU at
        running them.
        """
        torch.manual_seed(settings.seed)
        use_fast_products(device)
        self.settings: TrainingSettings = settings
        self.device, self.step = device, 0
        self.network = Network(design).to(device)
        self.optimizer = Both(self.network, settings.rate, settings.decay, muon=settings.muon)
        self.mixed = device.type == "cuda"
        self.dtype = torch.bfloat16 if self.mixed else torch.float32
        self.table = plane_table(device)
        self._graphs = graphs and self.mixed
        mode = "reduce-overhead" if self._graphs else None
        self._loss: Any = (
            torch.compile(self._whole_loss, dynamic=False, mode=mode)
            if self.mixed
            else self._whole_loss
        )
        self._sums = torch.zeros(len(self.parts) + 1, device=device)
        """Of the parts of the loss since the last report, and how many steps."""

    def weight_of(self, part: str) -> float:
        """Return the weight of a part of the loss."""
        weight: float = getattr(self.settings, f"{part}_weight")
        return weight

    def losses(self, output: Output, batch: Any) -> dict[str, Tensor]:
        """Return the parts of the loss of a batch."""
        return losses(output, batch)

    def _whole_loss(self, batch: Any) -> tuple[Tensor, Tensor]:
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.mixed):
            output = self.network(planes_of(batch, self.table.to(self.dtype)))
        found = self.losses(output, batch)
        total = sum(self.weight_of(name) * found[name] for name in self.parts)
        assert isinstance(total, Tensor)
        row = [*(found[name] for name in self.parts), torch.ones_like(total)]
        return total, torch.stack(row).detach()

    def learn(self, batch: Any, progress: float, *, statistics: bool = True) -> None:
        """Make one step; `statistics` says whether the norms follow this batch's statistics."""
        self.network.train(statistics)
        self.optimizer.set_rate(rate_at(self.step, progress, self.settings))
        if self._graphs:
            torch.compiler.cudagraph_mark_step_begin()
        total, parts = self._loss(batch)
        total.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), _LONGEST_GRADIENT)
        self.optimizer.step()
        self._sums += parts
        self.step += 1

    def warm_up(self, batch: Batch) -> None:
        """Compile everything that learning from such a batch needs; learn nothing."""
        before = {name: value.clone() for name, value in self.network.state_dict().items()}
        self.network.train()
        self._loss(batch)[0].backward()
        self.network.zero_grad(set_to_none=True)
        self.network.load_state_dict(before)

    def check(self) -> None:
        """Raise `SpecError` once the loss is not a number."""
        if not math.isfinite(float(self._sums.sum())):
            raise diverged(self.step, self.settings.rate)

    def report(self) -> dict[str, float]:
        """Return the mean parts of the loss since the last report."""
        *sums, count = self._sums.tolist()
        self._sums.zero_()
        if not count:
            return {}
        return {name: round(value / count, 6) for name, value in zip(self.parts, sums, strict=True)}

    @torch.no_grad()
    def measure(self, batch: Batch, size: int = 2048) -> dict[str, float]:
        """Return what the network gets right on some positions; the loss's parts too.

        In single precision: in half of it the best moves often come out equal.
        """
        self.network.eval()
        sums: dict[str, float] = {}
        total = len(batch.codes)
        for start in range(0, total, size):
            part = batch.part(slice(start, start + size))
            output = self.network(planes_of(part, self.table))
            for name, value in measures(output, part).items():
                sums[name] = sums.get(name, 0.0) + float(value)
        known = max(sums.pop("known"), 1.0)
        owned = max(sums.pop("owned"), 1.0)
        counted = max(sums.pop("counted"), 1.0)
        return {
            "top1": sums["top1"] / total,
            "top5": sums["top5"] / total,
            "log_loss": sums["log_loss"] / total,
            "winner": sums["winner"] / known,
            "ownership": sums["ownership"] / owned,
            "score_error": sums["score_error"] / counted,
        }

    @torch.no_grad()
    def calibrate(self, sampler: Sampler, size: int = 2048) -> float:
        """Make the winner's chances as sure as held-out games allow; return by which factor.

        Winners are learned by heart sooner than moves, since all positions of a game share one.
        """
        judged = [(source, source.decided()) for source in sampler.judging()]
        if sum(len(source.game[at].unique()) for source, at in judged) < _JUDGING_GAMES:
            return 1.0
        self.network.eval()
        logits, won = [], []
        for source, at in judged:
            for start in range(0, len(at), size):
                batch = source.batch(at[start : start + size])
                output = self.network(planes_of(batch, self.table))
                logits.append(output.winner.cpu().numpy())
                won.append(batch.winner.cpu().numpy() == 1)
        factor = confidence(np.concatenate(logits), np.concatenate(won))
        for name in ("value.weight", "value.bias"):
            self.network.weight(name)[WINNER] *= factor
        return factor

    def arrays(self) -> dict[str, Any]:
        """Return the whole state of the training as NumPy arrays."""
        weights = {f"network.{k}": v for k, v in network_arrays(self.network).items()}
        return {**weights, **self.optimizer.arrays(), "sums": self._sums.cpu().numpy()}

    def restore(self, arrays: Mapping[str, Any], step: int) -> None:
        """Take over a state that `arrays` returned."""
        self.load_weights(
            {k.removeprefix("network."): v for k, v in arrays.items() if k.startswith("network.")}
        )
        self.optimizer.restore(dict(arrays))
        if "sums" in arrays:  # not in states of version 0.2
            self._sums.copy_(torch.tensor(arrays["sums"]))
        self.step = step

    def load_weights(self, arrays: Mapping[str, Any]) -> None:
        """Take over weights and statistics, as `network_arrays` returns them."""
        state = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
        self.network.load_state_dict(state)


def measures(output: Output, batch: Batch) -> dict[str, Tensor]:
    """Return sums over a batch: hits (ties share them), losses, how many have each target."""
    chosen = output.moves.gather(1, batch.moves[:, None])
    before = (output.moves > chosen).sum(1)
    equal = (output.moves == chosen).sum(1)
    known, counted = batch.winner >= 0, batch.scored
    right = (output.winner > 0) == (batch.winner == 1)
    decided = batch.owner != 0
    owner = ((output.ownership > 0) == (batch.owner > 0)) & decided
    share = owner.float().sum(1) / decided.float().sum(1).clamp(min=1)
    return {
        "top1": ((1 - before) / equal).clamp(0, 1).sum(),
        "top5": ((5 - before) / equal).clamp(0, 1).sum(),
        "log_loss": F.cross_entropy(output.moves, batch.moves, reduction="sum"),
        "winner": (right & known).sum(),
        "known": known.sum(),
        "ownership": (share * batch.owned).sum(),
        "owned": batch.owned.sum(),
        "score_error": ((output.score - batch.score).abs() * counted).sum(),
        "counted": counted.sum(),
    }


# Coefficients of the quintic iteration: slope at zero as steep as the bound on its maximum allows.
_A, _B, _C = 3.4445, -4.7750, 2.0315
_STEPS = 5
_ADAM_SIZE = 0.2
"""Root mean square of a usual step of AdamW, in rates."""


def _orthogonalised(matrices: Tensor) -> Tensor:
    """Return matrices (stack x rows x columns) with all singular values brought near one."""
    x = matrices.bfloat16() if matrices.is_cuda else matrices.float()
    tall = x.shape[1] > x.shape[2]
    if tall:
        x = x.transpose(1, 2)
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(_STEPS):
        square = x @ x.transpose(1, 2)
        inner = torch.baddbmm(square, square, square, beta=_B, alpha=_C)
        x = torch.baddbmm(x, inner, x, beta=_A)
    if tall:
        x = x.transpose(1, 2)
    return x.to(matrices.dtype)


class Muon(torch.optim.Optimizer):
    """Momentum, orthogonalised, for kernels of any number of dimensions."""

    def __init__(
        self,
        weights: Iterable[Tensor],
        rate: float,
        *,
        momentum: float = 0.95,
        decay: float = 0.0,
    ) -> None:
        super().__init__(weights, {"lr": rate, "momentum": momentum, "decay": decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        """Step all kernels that have gradients."""
        for group in self.param_groups:
            shapes: dict[tuple[int, ...], list[Tensor]] = defaultdict(list)
            for weight in group["params"]:
                if weight.grad is not None:
                    shapes[tuple(weight.shape)].append(weight)
            for weights in shapes.values():
                self._step(weights, group["lr"], group["momentum"], group["decay"])

    def _step(self, weights: list[Tensor], rate: float, momentum: float, decay: float) -> None:
        for weight in weights:
            if "momentum" not in self.state[weight]:
                self.state[weight]["momentum"] = torch.zeros_like(weight)
        speeds = [self.state[weight]["momentum"] for weight in weights]
        gradients = [weight.grad for weight in weights]
        torch._foreach_lerp_(speeds, gradients, 1 - momentum)
        ahead = torch._foreach_lerp(gradients, speeds, momentum)  # Nesterov's look ahead
        stack = torch.stack(ahead).flatten(2)
        steps = _orthogonalised(stack)
        scale = rate * _ADAM_SIZE * max(stack.shape[1:]) ** 0.5
        torch._foreach_mul_(weights, 1 - rate * decay)
        shaped = [step.view_as(w) for step, w in zip(steps, weights, strict=True)]
        torch._foreach_add_(weights, shaped, alpha=-scale)


class Both:
    """AdamW and Muon as one optimizer: one rate, one state."""

    def __init__(self, network: nn.Module, rate: float, decay: float, *, muon: bool = True) -> None:
        weights = [w for w in network.parameters() if w.requires_grad]
        kernels = [w for w in weights if w.ndim >= 4 and w.numel() > w.shape[0]] if muon else []
        chosen = {id(w) for w in kernels}
        others = [w for w in weights if id(w) not in chosen]
        fused = weights[0].is_cuda
        self.parts: list[torch.optim.Optimizer] = [
            torch.optim.AdamW(others, rate, betas=(0.9, 0.99), weight_decay=decay, fused=fused)
        ]
        if kernels:
            self.parts.append(Muon(kernels, rate, decay=decay))

    def set_rate(self, rate: float) -> None:
        """Set the rate of the next steps."""
        for part in self.parts:
            for group in part.param_groups:
                group["lr"] = rate

    def step(self) -> None:
        """Step all weights and forget their gradients."""
        for part in self.parts:
            part.step()
            part.zero_grad(set_to_none=True)

    def arrays(self) -> dict[str, Any]:
        """Return the state as NumPy arrays, by name."""
        found: dict[str, Any] = {}
        for i, part in enumerate(self.parts):
            for number, state in part.state_dict()["state"].items():
                for name, value in state.items():
                    found[f"optimizer.{i}.{number}.{name}"] = value.detach().cpu().numpy()
        return found

    def restore(self, arrays: dict[str, Any]) -> None:
        """Take over what `arrays` returned."""
        for i, part in enumerate(self.parts):
            whole = part.state_dict()
            state: dict[int, dict[str, Tensor]] = defaultdict(dict)
            for key, value in arrays.items():
                words = key.split(".")
                if words[0] == "optimizer" and int(words[1]) == i:
                    state[int(words[2])][words[3]] = torch.from_numpy(value.copy())
            part.load_state_dict({"state": dict(state), "param_groups": whole["param_groups"]})
