"""Teach the network what self-play found: odds, winner, owners and score; play nothing."""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tengen.learners.deep_network.design import SCORE_SCALE
from tengen.learners.deep_network.inputs import N_PLANES, TERRITORY_PLANE
from tengen.learners.deep_network.lessons import plane_table
from tengen.learners.deep_network.network import Network
from tengen.learners.deep_network.optimizer import Both
from tengen.learners.deep_network.training import GRADIENT, came_apart, network_arrays
from tengen.learners.self_play.judge import Judge, see
from tengen.learners.self_play.settings import SelfPlaySettings, design_of
from tengen.learners.self_play.window import Lesson

_PARTS = ("moves", "winner", "ownership", "score")


def rate_at(step: int, progress: float, settings: SelfPlaySettings) -> float:
    """Return the rate of a step; `progress` is how much of the run is done, 0 to 1."""
    rising = (step + 1) / settings.warm_up
    left = (1 - progress) / max(settings.falling, 1e-6)
    return settings.rate * max(min(rising, left, 1.0), 0.01)


class Pupil:
    """A network that learns, and the judge that plays with what it has learned."""

    def __init__(
        self,
        settings: SelfPlaySettings,
        device: torch.device,
        compiled: Callable[[Any], Any] = lambda function: function,
    ) -> None:
        torch.manual_seed(settings.seed)
        self.settings, self.device, self.step = settings, device, 0
        self.network = Network(design_of(settings)).to(device)
        # Its games count area. What is never shown must not speak by the weights it began with.
        with torch.no_grad():
            self.network.lift.weight[:, TERRITORY_PLANE] = 0
        self.mixed = device.type == "cuda"
        dtype = torch.bfloat16 if self.mixed else torch.float32
        self.judge = Judge(self.network, device, dtype)
        self.optimizer = Both(self.network, settings.rate, settings.decay)
        self._table = plane_table(device).to(dtype)
        self._loss = compiled(self._whole_loss)
        self._sums = torch.zeros(len(_PARTS) + 1, device=device)
        """Of the parts of the loss since the last report, and how many."""

    def _whole_loss(self, lesson: Lesson) -> tuple[Tensor, Tensor]:
        seen = see(*lesson[:4], self._table, N_PLANES)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.mixed):
            output = self.network(seen)
        moves = -(lesson.policy.float() * torch.log_softmax(output.moves.float(), 1)).sum(1).mean()
        winner = F.binary_cross_entropy_with_logits(output.winner.float(), lesson.winner)
        counted = lesson.counted.float() / lesson.counted.float().sum().clamp(min=1)
        owner = F.binary_cross_entropy_with_logits(
            output.ownership.float(), (lesson.owner.float() + 1) / 2, reduction="none"
        )
        owner = (owner.mean(1) * counted).sum()
        spread = output.spread.float().clamp(-4, 4)
        off = ((lesson.score - output.score.float()) / SCORE_SCALE).clamp(-8, 8)
        score = ((spread + 0.5 * (off * torch.exp(-spread)).square()) * counted).sum()
        s = self.settings
        total = s.moves_weight * moves + s.winner_weight * winner
        total = total + s.ownership_weight * owner + s.score_weight * score
        one = torch.ones_like(total)
        return total, torch.stack([moves, winner, owner, score, one]).detach()

    def learn(self, lesson: Lesson, progress: float) -> None:
        """Make one step; `progress` is how much of the run is done."""
        self.network.train()
        self.optimizer.set_rate(rate_at(self.step, progress, self.settings))
        total, parts = self._loss(lesson)
        total.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), GRADIENT)
        self.optimizer.step()
        self._sums += parts
        self.step += 1

    def warm_up(self, lesson: Lesson) -> None:
        """Let everything be compiled that learning from such a lesson needs; learn nothing."""
        before = {name: value.clone() for name, value in self.network.state_dict().items()}
        self.network.train()
        self._loss(lesson)[0].backward()
        self.network.zero_grad(set_to_none=True)
        self.network.load_state_dict(before)

    def hand_over(self) -> None:
        """Let the judge play with what was learned."""
        self.judge.learn_from(self.network)

    def check(self) -> None:
        """Refuse to go on once the loss is no number.

        Raises
        ------
        SpecError
            If it is none.
        """
        if not math.isfinite(float(self._sums.sum())):
            raise came_apart(self.step, self.settings.rate)

    def report(self) -> dict[str, float]:
        """Return the mean parts of the loss since the last report."""
        *sums, count = self._sums.tolist()
        self._sums.zero_()
        if not count:
            return {}
        return {name: round(value / count, 5) for name, value in zip(_PARTS, sums, strict=True)}

    def load_weights(self, weights: Mapping[str, Any]) -> None:
        """Begin with the weights of another network of the same design."""
        self.network.load_state_dict({k: torch.tensor(v) for k, v in weights.items()})
        self.hand_over()

    def arrays(self) -> dict[str, Any]:
        """Return the whole state of the learning as NumPy arrays."""
        weights = {f"network.{k}": v for k, v in network_arrays(self.network).items()}
        return {**weights, **self.optimizer.arrays(), "sums": self._sums.cpu().numpy()}

    def restore(self, arrays: Mapping[str, Any], step: int) -> None:
        """Take over what `arrays` returned."""
        weights = {k: v for k, v in arrays.items() if k.startswith("network.")}
        self.load_weights({k.removeprefix("network."): v for k, v in weights.items()})
        self.optimizer.restore(dict(arrays))
        self._sums.copy_(torch.tensor(arrays["sums"]))
        self.step = step
