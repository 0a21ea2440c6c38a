"""Hold the latest positions and what there is to learn of them, as one ring; know no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from tengen.learners.deep_network.inputs_kernels import HISTORY


class Lesson(NamedTuple):
    """Positions and what there is to learn of them, from the side to move; a row a position."""

    codes: Tensor
    history: Tensor
    passed: Tensor
    komi: Tensor
    """Points the side to move gets for not being Black, or pays."""
    policy: Tensor
    """Odds of all moves, the pass last, as the search corrected them."""
    winner: Tensor
    """1 won, 0.5 a draw, 0 lost."""
    score: Tensor
    """Final score in points."""
    owner: Tensor
    """1 own, -1 the enemy's, 0 nobody's."""
    counted: Tensor
    """Whether the game was counted: of a resigned one only the winner is known."""


def join(lessons: Sequence[Lesson]) -> Lesson:
    """Join lessons of one size, in their order."""
    return Lesson(*(torch.cat(parts) for parts in zip(*lessons, strict=True)))


class Window:
    """The latest positions on a device."""

    def __init__(self, points: int, capacity: int, device: torch.device) -> None:
        def zeros(*shape: int, dtype: torch.dtype) -> Tensor:
            return torch.zeros((capacity, *shape), dtype=dtype, device=device)

        self.capacity, self.device, self.total, self.lost = capacity, device, 0, 0
        """`total` counts every position that was ever added, `lost` those that were not kept."""
        self.rows = Lesson(
            codes=zeros(points, dtype=torch.uint8),
            history=zeros(HISTORY, dtype=torch.int16),
            passed=zeros(dtype=torch.bool),
            komi=zeros(dtype=torch.float32),
            policy=zeros(points + 1, dtype=torch.float16),
            winner=zeros(dtype=torch.float32),
            score=zeros(dtype=torch.float32),
            owner=zeros(points, dtype=torch.int8),
            counted=zeros(dtype=torch.bool),
        )

    def __len__(self) -> int:
        return min(self.total - self.lost, self.capacity)

    def add(self, lesson: Lesson) -> None:
        """Add positions; the oldest make room."""
        count = len(lesson.codes)
        if count > self.capacity:
            lesson = Lesson(*(part[-self.capacity :] for part in lesson))
        kept = len(lesson.codes)
        places = torch.arange(self.total + count - kept, self.total + count, device=self.device)
        places %= self.capacity
        for mine, new in zip(self.rows, lesson, strict=True):
            mine[places] = new.to(mine.dtype)
        self.total += count

    def blank(self, count: int) -> Lesson:
        """Return rows of nothing, shaped as drawn ones."""
        return Lesson(*(part.new_zeros((count, *part.shape[1:])) for part in self.rows))

    def draw(self, count: int, latest: int, generator: torch.Generator) -> Lesson:
        """Draw positions by chance from the `latest` ones."""
        span = min(len(self), latest)
        ago = torch.randint(1, span + 1, (count,), generator=generator, device=self.device)
        places = (self.total - ago) % self.capacity
        return Lesson(*(part[places] for part in self.rows))

    def tensors(self, most: int | None = None) -> dict[str, Tensor]:
        """Return the latest positions (all, or `most`), by name, oldest first."""
        count = len(self) if most is None else min(len(self), most)
        places = torch.arange(self.total - count, self.total, device=self.device) % self.capacity
        return {name: part[places] for name, part in self.rows._asdict().items()}

    def restore(self, tensors: Mapping[str, Tensor], total: int) -> None:
        """Take over what `tensors` returned; `total` as it was then."""
        lesson = Lesson(**{name: tensors[name].to(self.device) for name in Lesson._fields})
        self.total = self.lost = total - len(lesson.codes)
        self.add(lesson)
