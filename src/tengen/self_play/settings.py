"""Settings of training by self-play; this module does not import PyTorch."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from tengen.errors import SpecError
from tengen.models.settings import CheckedSettings, setting
from tengen.network.settings import DESIGNS, LOWEST_RATE, Design

_SMALLEST, _LARGEST = 5, 19  # board sizes that self-play supports
_STEPS = 3  # in which the evaluations per move grow
FIRST_BATCHES = 8  # batches that the replay buffer must hold before training starts


@dataclass(frozen=True)
class SelfPlaySettings(CheckedSettings):
    """How games are played and what is learned from them."""

    muon: ClassVar[bool] = True
    lowest_rate: ClassVar[float] = LOWEST_RATE
    size: tuple[int, ...] = setting(
        (9,), "Lines of the board; several sizes if repeated.", least=_SMALLEST, most=_LARGEST
    )
    design: str = setting("zero", "Shape of the network.", choices=tuple(DESIGNS))
    positions: int = setting(1_000_000, "Positions to play in all.", least=1)
    minutes: float = setting(0.0, "Play for this long instead, if not 0.", least=0)
    games: int = setting(64, "Games played side by side, of each size.", least=1)
    growing: float = setting(
        0.0, "Share of the run in which one size follows the other, the last to stay; 0: all play.",
        least=0, most=1,
    )  # fmt: skip
    pieces: int = setting(4, "Parts of a round, if workers play.", least=1)
    evaluations: int = setting(16, "Evaluations per move, including the root's.", least=2)
    first_evaluations: int = setting(
        0, "Fewer at the start: they grow over the first half; 0: none fewer.", least=0
    )
    considered: int = setting(8, "Root moves that are looked at.", least=1)
    window: int = setting(200_000, "Positions to learn from, the latest.", least=1)
    reuse: float = setting(2.0, "How often a position is learned from.", least=0)
    batch: int = setting(256, "Positions in a batch.", least=1)
    rate: float = setting(5e-3, "Learning rate, before it falls.", least=0)
    decay: float = setting(1e-2, "Weight decay, times the rate.", least=0)
    warm_up: int = setting(100, "Batches over which the rate rises.", least=1)
    falling: float = setting(0.6, "Share of the run over which the rate falls.", least=0, most=1)
    moves_weight: float = setting(1.0, "Weight of what the search found.", least=0)
    winner_weight: float = setting(1.0, "Weight of who won.", least=0)
    trace: float = setting(1.0, "1: learn who won; less: what came next (lambda).", least=0, most=1)
    ownership_weight: float = setting(0.5, "Weight of who owned what.", least=0)
    score_weight: float = setting(0.1, "Weight of the score.", least=0)
    score_share: float = setting(0.1, "Share of the lead in a value.", least=0, most=1)
    komi: float = setting(7.0, "Komi around which it is drawn.", least=-400, most=400)
    resign: float = setting(
        0.0, "A side resigns when its value stays this far below 0; 0: never.", least=0, most=1
    )
    random_moves: float = setting(0.015, "Chance of a random move.", least=0, most=1)
    random_opening: float = setting(0.3, "The same in the first plies.", least=0, most=1)
    opening: int = setting(4, "How many plies are the first.", least=0)
    seed: int = setting(1, "Every random choice follows from it.", least=0, most=2**40)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.size or len(set(self.size)) < len(self.size):
            raise SpecError(f"size is {list(self.size)}: one size or more, each named once")
        if self.first_evaluations == 1 or self.first_evaluations > self.evaluations:
            raise SpecError(
                f"first-evaluations is {self.first_evaluations}: 0, or 2 to {self.evaluations}"
            )
        if self.window < FIRST_BATCHES * self.batch:
            raise SpecError(f"window is {self.window}, less than {FIRST_BATCHES} batches")


def design_of(settings: SelfPlaySettings) -> Design:
    """Return the network's design, without ladder inputs, which cost too much in self-play."""
    return replace(DESIGNS[settings.design], ladders=False)


def evaluations_at(settings: SelfPlaySettings, progress: float) -> int:
    """Return the evaluations per move, which grow in steps over the first half of a run.

    >>> grown = SelfPlaySettings(first_evaluations=4, evaluations=32)
    >>> [evaluations_at(grown, progress) for progress in (0, 0.1, 0.2, 0.4, 0.5, 1)]
    [4, 4, 8, 16, 32, 32]
    """
    last = settings.evaluations
    first, step = settings.first_evaluations or last, min(int(2 * progress * _STEPS), _STEPS)
    return round(first * math.pow(last / first, step / _STEPS))


def sizes_at(settings: SelfPlaySettings, progress: float) -> tuple[int, ...]:
    """Return the sizes that are played at a time of a run.

    >>> grown = SelfPlaySettings(size=(7, 9, 13), growing=0.4)
    >>> [sizes_at(grown, progress) for progress in (0, 0.1, 0.2, 0.4, 1)]
    [(7,), (7,), (9,), (13,), (13,)]
    """
    if not settings.growing:
        return settings.size
    each = settings.growing / max(len(settings.size) - 1, 1)
    return (settings.size[min(int(progress / each + 1e-9), len(settings.size) - 1)],)


def longest(lines: int) -> int:
    """Return the plies after which a game is cut and counted."""
    return 3 * lines * lines // 2
