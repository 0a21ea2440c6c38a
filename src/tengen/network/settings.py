"""The designs of networks, and the settings of their training."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from tengen.errors import SpecError
from tengen.models.settings import CheckedSettings, setting

LIFTING_SIZE = 5  # side of the first layer's kernels
POOL_EVERY = 3  # one block in this many pools over the whole board
USUAL_SIZE, LARGEST_SIZE, SIZE_SCALE = 14.0, 19.0, 10.0
"""Pooled means appear twice: plain, and times (sqrt(points) - USUAL_SIZE) / SIZE_SCALE. No network
has learned from boards above LARGEST_SIZE, where this factor therefore stays that of 19x19."""
SCORE_SCALE = 20.0  # points per unit of the score output
LOWEST_RATE = 0.01  # lowest learning rate, as a share of the highest
_ORDER = 8  # symmetries of the square


def size_factor(points: int) -> float:
    """Return the factor of the second copy of the pooled means on a board of so many points."""
    return (min(math.sqrt(points), LARGEST_SIZE) - USUAL_SIZE) / SIZE_SCALE


@dataclass(frozen=True)
class Design:
    """Shape of a network."""

    fields: int
    """Fields of the tower; each is a map in every orientation."""
    blocks: int
    head_fields: int
    value_hidden: int = 64
    symmetric: bool = True
    """False makes a plain network without tied weights, where every field is one map."""
    ladders: bool = True
    """Whether its inputs include ladders."""
    move_outputs: int = 1
    """Sets of move logits: the first for human moves; if several, the last for the best move."""

    def __post_init__(self) -> None:
        sizes = self.fields, self.blocks, self.head_fields, self.value_hidden, self.move_outputs
        if min(sizes) < 1:
            raise SpecError(f"a network needs fields and blocks, not {self}")

    @property
    def order(self) -> int:
        """Size of the group that ties the weights."""
        return _ORDER if self.symmetric else 1

    @property
    def channels(self) -> int:
        """Maps of the tower."""
        return self.fields * self.order

    def pools(self, block: int) -> bool:
        """Return whether a block pools over the whole board."""
        return block % POOL_EVERY == POOL_EVERY - 1


DESIGNS = {
    "tiny": Design(fields=2, blocks=3, head_fields=4, value_hidden=16),
    "zero": Design(fields=8, blocks=6, head_fields=16, ladders=False),
    "small": Design(fields=8, blocks=9, head_fields=16),
    "large": Design(fields=16, blocks=12, head_fields=24),
    "tiny-judge": Design(fields=2, blocks=3, head_fields=4, value_hidden=16, move_outputs=2),
    "small-judge": Design(fields=8, blocks=9, head_fields=24, move_outputs=2),
    "judge": Design(fields=16, blocks=12, head_fields=32, move_outputs=2),
    "plain-small": Design(fields=22, blocks=8, head_fields=24, symmetric=False),
    "plain-wide": Design(fields=64, blocks=9, head_fields=64, symmetric=False),
    "paper": Design(fields=1, blocks=1, head_fields=1, value_hidden=4, ladders=False),
    "shallow": Design(fields=8, blocks=1, head_fields=16, ladders=False),
    "plain-zero": Design(fields=21, blocks=6, head_fields=20, symmetric=False, ladders=False),
    "plain-zero-wide": Design(fields=64, blocks=6, head_fields=64, symmetric=False, ladders=False),
}
"""Designs by name. Plain ones tie no weights; `plain-small` (as many weights) and `plain-wide`
(as many operations) are for comparison with `small`. `zero` is for self-play, where ladders cost
too much; `paper` (734 weights, close to Blair's 714), `shallow`, `plain-zero` (as many weights) and
`plain-zero-wide` (as many operations) are for comparison with it."""


@dataclass(frozen=True)
class NetworkSettings(CheckedSettings):
    """Everything that decides what a network learns from its games."""

    moves_weight: ClassVar[float] = 1.0
    lowest_rate: ClassVar[float] = LOWEST_RATE
    design: str = setting("small", "Shape of the network.", choices=tuple(DESIGNS))
    steps: int = setting(12_000, "Batches to learn from.", least=1)
    batch: int = setting(2048, "Positions in a batch.", least=1)
    rate: float = setting(1e-2, "Learning rate, before it falls.", least=0)
    decay: float = setting(1e-2, "Weight decay, times the rate.", least=0)
    warm_up: int = setting(300, "Batches over which the rate rises.", least=1)
    falling: float = setting(0.5, "Share of the batches over which it falls.", least=0, most=1)
    winner_weight: float = setting(0.5, "Weight of who won.", least=0)
    ownership_weight: float = setting(0.3, "Weight of who owned what.", least=0)
    score_weight: float = setting(0.1, "Weight of the score.", least=0)
    muon: bool = setting(True, "Orthogonalise the steps of kernels.")
    seed: int = setting(1, "Every random choice follows from it.", least=0, most=2**40)


@dataclass(frozen=True)
class LabellingSettings(CheckedSettings):
    """Which positions a teacher is asked about."""

    positions: int = setting(12_000_000, "Positions of the games to label (--teacher).", least=1)
    share: float = setting(
        1.0, "Share of a game's positions to label (--teacher).", least=0.001, most=1
    )
    chunk: int = setting(1024, "Games that are labelled together (--teacher).", least=1)
    games_9x9: int = setting(16_384, "Games the teacher plays on 9x9 (--teacher).", least=0)
    games_13x13: int = setting(8192, "Games the teacher plays on 13x13 (--teacher).", least=0)
    continuations: int = setting(
        8192, "Games the teacher continues from the games (--teacher).", least=0
    )
    seed: int = setting(1, "Every random choice follows from it.", least=0, most=2**40)


@dataclass(frozen=True)
class DistillationSettings(CheckedSettings):
    """Everything that decides what a network learns from a teacher's answers."""

    warm_up: ClassVar[int] = 200
    falling: ClassVar[float] = 0.6
    lowest_rate: ClassVar[float] = 0.001
    muon: ClassVar[bool] = True
    best_weight: ClassVar[float] = 1.0
    people_weight: ClassVar[float] = 1.0
    winner_weight: ClassVar[float] = 0.8
    lead_weight: ClassVar[float] = 0.08
    spread_weight: ClassVar[float] = 0.02
    owners_weight: ClassVar[float] = 0.5
    design: str = setting("judge", "Shape of the network.", choices=tuple(DESIGNS))
    steps: int = setting(28_000, "Batches to learn from.", least=1)
    batch: int = setting(2048, "Positions in a batch.", least=1)
    rate: float = setting(3.5e-3, "Learning rate, before it falls.", least=0)
    decay: float = setting(1e-2, "Weight decay, times the rate.", least=0)
    seed: int = setting(1, "Every random choice follows from it.", least=0, most=2**40)


def check_design(settings: NetworkSettings | DistillationSettings, start: Design | None) -> None:
    """Raise `SpecError` if a design does not fit the kind of training or the weights of `start`."""
    wanted, same = DESIGNS[settings.design], start
    if isinstance(settings, DistillationSettings):
        heads, moves = wanted.head_fields, wanted.move_outputs
        if moves < 2:
            fit = ", ".join(name for name, design in DESIGNS.items() if design.move_outputs > 1)
            raise SpecError(f"design {settings.design} has no output for the best move: {fit} have")
        if same and same.head_fields <= heads and same.move_outputs <= moves:
            same = replace(same, head_fields=heads, move_outputs=moves)  # the rest is added
    if same and replace(same, ladders=wanted.ladders) != wanted:
        raise SpecError(f"the first weights are of another shape than design {settings.design}")
