"""Teach the network what self-play found: odds, winner, owners and score; play nothing."""

# mypy: disallow-untyped-decorators=False

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tengen.learners.deep_network.design import DESIGNS, SCORE_SCALE
from tengen.learners.deep_network.inputs import KOMI_SCALE
from tengen.learners.deep_network.lessons import plane_table
from tengen.learners.deep_network.network import Network
from tengen.learners.deep_network.optimizer import Both
from tengen.learners.deep_network.training import GRADIENT
from tengen.learners.self_play.settings import SelfPlaySettings
from tengen.learners.self_play.window import Lesson, Window

PARTS = ("moves", "winner", "ownership", "score")


def rate_at(step: int, progress: float, settings: SelfPlaySettings) -> float:
    """Return the rate of a step; `progress` is how much of the run is done, 0 to 1."""
    rising = (step + 1) / settings.warm_up
    left = (1 - progress) / max(settings.falling, 1e-6)
    return settings.rate * max(min(rising, left, 1.0), 0.01)


def planes_of(lesson: Lesson, table: Tensor, dtype: torch.dtype) -> Tensor:
    """Lay a lesson out as planes; what `inputs.Positions.planes` does, on the device."""
    points = lesson.codes.shape[1]
    lines = round(points**0.5)
    seen = table[lesson.codes.int()].to(dtype)
    places = torch.arange(points, device=lesson.codes.device, dtype=torch.int16)
    moves = (lesson.history[:, None, :] == places[None, :, None]).to(dtype)
    area = torch.zeros_like(lesson.komi)
    whole = torch.stack([lesson.komi / KOMI_SCALE, area, lesson.passed.float()], 1)
    whole = whole.to(dtype)[:, None, :].expand(-1, points, -1)
    flat = torch.cat([seen, moves, whole], 2)
    return flat.view(len(flat), lines, lines, flat.shape[2]).permute(0, 3, 1, 2)


class Pupil:
    """A network that learns from a window."""

    def __init__(
        self,
        settings: SelfPlaySettings,
        device: torch.device,
        compiled: Callable[[Any], Any] = lambda function: function,
    ) -> None:
        torch.manual_seed(settings.seed)
        self.settings, self.device, self.step = settings, device, 0
        self.network = Network(DESIGNS[settings.design]).to(device)
        self.optimizer = Both(self.network, settings.rate, settings.decay)
        self.table = plane_table(device)
        self.mixed = device.type == "cuda"
        self._loss = compiled(self._whole_loss)
        self.sums, self.summed = torch.zeros(len(PARTS), device=device), 0

    def _whole_loss(self, lesson: Lesson) -> tuple[Tensor, Tensor]:
        dtype = torch.bfloat16 if self.mixed else torch.float32
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.mixed):
            output = self.network(planes_of(lesson, self.table, dtype))
        moves = -(lesson.policy.float() * torch.log_softmax(output.moves.float(), 1)).sum(1).mean()
        winner = F.binary_cross_entropy_with_logits(output.winner.float(), lesson.winner)
        owner = F.binary_cross_entropy_with_logits(
            output.ownership.float(), (lesson.owner.float() + 1) / 2
        )
        spread = output.spread.float().clamp(-4, 4)
        off = ((lesson.score - output.score.float()) / SCORE_SCALE).clamp(-8, 8)
        score = (spread + 0.5 * (off * torch.exp(-spread)).square()).mean()
        s = self.settings
        total = (
            moves + s.winner_weight * winner + s.ownership_weight * owner + s.score_weight * score
        )
        return total, torch.stack([moves, winner, owner, score]).detach()

    def learn(
        self, window: Window, latest: int, progress: float, generator: torch.Generator
    ) -> None:
        """Make one step."""
        self.network.train()
        lesson = window.draw(self.settings.batch, latest, generator)
        self.optimizer.set_rate(rate_at(self.step, progress, self.settings))
        total, parts = self._loss(lesson)
        total.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), GRADIENT)
        self.optimizer.step()
        self.sums += parts
        self.summed += 1
        self.step += 1

    def report(self) -> dict[str, float]:
        """Return the mean parts of the loss since the last report."""
        means = (self.sums / max(self.summed, 1)).tolist()
        self.sums.zero_()
        self.summed = 0
        return {name: round(value, 5) for name, value in zip(PARTS, means, strict=True)}
