"""Teach the network by the moves, results and final positions of games; know no file of games.

The loss adds: how unlikely the expert's move was, who won, who owned what, and how far the score
was off. The rate rises quickly, stays, and falls to nothing over the last part. Every batch
follows from the seed and its number alone, so a training that was stopped goes on exactly.
What it says of the winner is at last made as sure as held-out games allow.
"""

# mypy: disallow-subclassing-any=False, disallow-untyped-decorators=False

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from tengen.errors import SpecError
from tengen.learners.deep_network.design import SCORE_SCALE, Design, NetworkSettings
from tengen.learners.deep_network.lessons import Batch, Lessons, plane_table, planes_of
from tengen.learners.deep_network.network import WINNER, Network, Output
from tengen.learners.deep_network.optimizer import Both
from tengen.learners.deep_network.shards import NO_SCORE
from tengen.statistics import confidence

GRADIENT = 2.0
"""Longest gradient of one step."""
_JUDGING_GAMES = 100
"""So many held-out games tell how sure the winner may be said."""


def rate_at(step: int, settings: NetworkSettings) -> float:
    """Return the rate of a step."""
    rising = min(1.0, (step + 1) / settings.warm_up)
    left = (settings.steps - step) / max(1.0, settings.falling * settings.steps)
    return settings.rate * min(rising, 1.0, max(left, 0.0))


def losses(output: Output, batch: Batch) -> dict[str, Tensor]:
    """Return the parts of the loss, each a mean over the positions that have the target."""
    moves = F.cross_entropy(output.moves, batch.move)
    known = batch.winner >= 0
    winner = F.binary_cross_entropy_with_logits(
        output.winner, batch.winner.clamp(min=0).float(), reduction="none"
    )
    owner = F.binary_cross_entropy_with_logits(
        output.ownership, (batch.owner.float() + 1) / 2, reduction="none"
    ).mean(1)
    counted = batch.score != NO_SCORE
    spread = output.spread.clamp(-4, 4)
    off = (torch.where(counted, batch.score, 0.0) - output.score) / SCORE_SCALE
    score = spread + 0.5 * (off.clamp(-8, 8) * torch.exp(-spread)).square()
    return {
        "moves": moves,
        "winner": _mean(winner, known),
        "ownership": _mean(owner, batch.owned),
        "score": _mean(score, counted),
    }


def _mean(values: Tensor, mask: Tensor) -> Tensor:
    kept = mask.float()
    return (values * kept).sum() / kept.sum().clamp(min=1)


def came_apart(step: int, rate: float) -> SpecError:
    """Return what is said of a training whose loss is no number."""
    return SpecError(
        f"the training came apart before batch {step} (its loss is no number); "
        f"a smaller --rate than {rate} helps"
    )


class Trainer:
    """A network in training: make steps, measure, save and restore the whole state."""

    def __init__(self, design: Design, settings: NetworkSettings, device: torch.device) -> None:
        torch.manual_seed(settings.seed)
        self.settings, self.device, self.step = settings, device, 0
        self.network = Network(design).to(device)
        if device.type == "cuda":
            torch.backends.cudnn.benchmark = True
            torch.backends.cuda.matmul.allow_tf32 = True
            torch.backends.cudnn.allow_tf32 = True
        self.optimizer = Both(self.network, settings.rate, settings.decay, muon=settings.muon)
        self.table = plane_table(device)
        self.generator = torch.Generator(device)
        self.mixed = device.type == "cuda"
        # Recorded once and played again: a processor may be slower at asking for a batch's
        # hundreds of kernels than the GPU at running them.
        self._loss = (
            torch.compile(self._whole_loss, dynamic=False, mode="reduce-overhead")
            if self.mixed
            else self._whole_loss
        )
        self.seconds = 0.0

    def _whole_loss(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        dtype = torch.bfloat16 if self.mixed else torch.float32
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.mixed):
            planes = planes_of(batch, self.table, dtype)
            output = self.network(planes)
        parts = losses(output, batch)
        s = self.settings
        total = (
            parts["moves"]
            + s.winner_weight * parts["winner"]
            + s.ownership_weight * parts["ownership"]
            + s.score_weight * parts["score"]
        )
        return total, parts

    def advance(self, lessons: Lessons, steps: int) -> dict[str, float]:
        """Make some steps and return the mean parts of the loss."""
        start = time.perf_counter()
        sums: dict[str, Any] = {}
        main = lessons.main
        for _ in range(steps):
            self.generator.manual_seed(self.settings.seed * 1_000_003 + self.step)
            batch = lessons.draw(self.settings.batch, self.generator)
            # One set of statistics serves all boards when playing, so other boards learn with it.
            self.network.train((batch.rows, batch.cols) == main)
            self.optimizer.set_rate(rate_at(self.step, self.settings))
            if self.mixed:
                torch.compiler.cudagraph_mark_step_begin()
            total, parts = self._loss(batch)
            total.backward()
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), GRADIENT)
            self.optimizer.step()
            for name, value in parts.items():
                sums[name] = sums.get(name, 0.0) + value.detach()
            self.step += 1
        result = {name: float(value) / steps for name, value in sums.items()}
        if not all(map(math.isfinite, result.values())):
            raise came_apart(self.step, self.settings.rate)
        self.seconds += time.perf_counter() - start
        return result

    @torch.no_grad()
    def measure(self, batch: Batch, size: int = 2048) -> dict[str, float]:
        """Return what the network gets right on some positions; the loss's parts too.

        In single precision: in half of it the best moves often come out equal.
        """
        self.network.eval()
        sums: dict[str, float] = {}
        total = len(batch.move)
        for start in range(0, total, size):
            part = Batch(
                batch.rows, batch.cols, *(tensor[start : start + size] for tensor in batch[2:])
            )
            output = self.network(planes_of(part, self.table, torch.float32))
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
    def calibrate(self, lessons: Lessons, size: int = 2048) -> float:
        """Make the winner's chances as sure as held-out games allow; return by which factor.

        Winners are learned by heart sooner than moves, since all positions of a game share one.
        """
        judged = [(source, source.decided()) for source in lessons.judging()]
        if sum(len(source.game[at].unique()) for source, at in judged) < _JUDGING_GAMES:
            return 1.0
        self.network.eval()
        logits, won = [], []
        for source, at in judged:
            for start in range(0, len(at), size):
                batch = source.batch(at[start : start + size])
                output = self.network(planes_of(batch, self.table, torch.float32))
                logits.append(output.winner.cpu().numpy())
                won.append(batch.winner.cpu().numpy() == 1)
        factor = confidence(np.concatenate(logits), np.concatenate(won))
        self.network.value.weight[WINNER] *= factor
        self.network.value.bias[WINNER] *= factor
        return factor

    def arrays(self) -> dict[str, Any]:
        """Return the whole state of the training as NumPy arrays."""
        weights = {f"network.{k}": v for k, v in network_arrays(self.network).items()}
        return {**weights, **self.optimizer.arrays()}

    def restore(self, arrays: dict[str, Any], step: int) -> None:
        """Take over a state that `arrays` returned."""
        self.load_weights(
            {k.removeprefix("network."): v for k, v in arrays.items() if k.startswith("network.")}
        )
        self.optimizer.restore(arrays)
        self.step = step

    def load_weights(self, arrays: dict[str, Any]) -> None:
        """Take over weights and statistics, as `network_arrays` returns them."""
        state = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
        self.network.load_state_dict(state)


def measures(output: Output, batch: Batch) -> dict[str, Tensor]:
    """Return sums over a batch: hits (ties share them), losses, how many have each target."""
    chosen = output.moves.gather(1, batch.move[:, None])
    before = (output.moves > chosen).sum(1)
    equal = (output.moves == chosen).sum(1)
    known, counted = batch.winner >= 0, batch.score != NO_SCORE
    right = (output.winner > 0) == (batch.winner == 1)
    decided = batch.owner != 0
    owner = ((output.ownership > 0) == (batch.owner > 0)) & decided
    share = owner.float().sum(1) / decided.float().sum(1).clamp(min=1)
    return {
        "top1": ((1 - before) / equal).clamp(0, 1).sum(),
        "top5": ((5 - before) / equal).clamp(0, 1).sum(),
        "log_loss": F.cross_entropy(output.moves, batch.move, reduction="sum"),
        "winner": (right & known).sum(),
        "known": known.sum(),
        "ownership": (share * batch.owned).sum(),
        "owned": batch.owned.sum(),
        "score_error": ((output.score - batch.score).abs() * counted).sum(),
        "counted": counted.sum(),
    }


def network_arrays(network: Network) -> dict[str, Any]:
    """Return weights and statistics of a network as NumPy arrays, by name."""
    return {k: v.detach().float().cpu().numpy() for k, v in network.state_dict().items()}
