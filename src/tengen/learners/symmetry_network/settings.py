"""Say what the three ways of training consist of, as data; import neither kernels nor files.

`SymmetrySettings` describe a network and its self-play, `ImitationSettings` learning from experts'
games, `EvolutionSettings` improving a trained network by the results of its games.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tengen.errors import SpecError
from tengen.learners.symmetry_network.features import CATEGORY_MODES, Categories
from tengen.learners.symmetry_network.network import Architecture
from tengen.models.settings import CheckedSettings, from_plain, setting, to_plain

_SELF_PLAY = ("games", "linear_games", "batch", "rate", "decay", "trace", "beta", "hidden_scale",
             "maxlib", "anneal")  # fmt: skip
"""The settings that say how games are played and learned from in self-play."""

_SCHEDULE = ("snapshot_every", "checkpoint_every")
"""The settings that say only what is kept on the way."""

_RETIRED = ("augment", "taught")
"""Settings that older files may have and that change nothing in how a network judges."""


@dataclass(frozen=True)
class SymmetrySettings(CheckedSettings):
    """Everything that decides what self-play learns, and what is kept; defaults are the paper's."""

    games: int = setting(860_000, "Games of self-play.", least=1, changeable=True)
    linear_games: int = setting(
        5_000, "Games of the first phase, from inputs to outputs only.", least=0
    )
    batch: int = setting(1, "Games played on the same weights; 1: the paper.", least=1)
    rate: float = setting(5e-6, "Rate of learning.", least=0)
    decay: float = setting(0.99999, "Decay of all weights but biases, a game.", least=0, most=1)
    trace: float = setting(0.9, "Lambda of TD(lambda).", least=0, most=1, option="lambda")
    beta: float = setting(4.0, "Moves are drawn by exp(beta value).", least=0)
    capture: float = setting(0.4, "Reward per captured stone; 0 with --single.", least=0)
    stone: float = setting(0.4, "Reward per own stone left; 1 with --single.", least=0)
    size: int = setting(9, "Size of the board.", least=3, most=25)
    seed: int = setting(0, "Every random choice follows from it.", least=0)
    hidden_scale: float = setting(0.3, "Size of the first weights to hidden units.", least=0)
    categories: str = setting(
        "eyes", "How blocks are sorted; eyes: the paper.", choices=tuple(CATEGORY_MODES)
    )
    eyes: tuple[float, ...] = setting((0.5, 1.5), "Both thresholds of eyes: give it twice.")
    openings: tuple[float, ...] = setting((0.5, 1.5), "Both thresholds of openings, likewise.")
    mixture: dict[str, int] = field(default_factory=lambda: {"T": 4, "S": 2, "D": 2, "F": 2})
    colour: bool = setting(False, "Tie White's weights to Black's.")
    tied: bool = setting(True, "Tie weights by symmetry; otherwise a plain convolution.")
    maxlib: float = setting(0.0, "Share of games against maxlib.", least=0, most=1)
    turn: bool = setting(False, "Tell the network who has just moved.")
    layers: int = setting(1, "Stacked hidden layers.", least=1)
    steps: int = setting(0, "Recurrent steps.", least=0, most=1000)
    single: bool = setting(False, "One output instead of seven; no captures, no eyes.")
    experts: bool = False  # learned to rank experts' moves by the board after them
    anneal: float = setting(
        0.0, "Share of games, at the end, over which the rate falls to nothing.", least=0, most=1
    )
    snapshot_every: int = setting(
        20_000, "Games between models that are kept for good.", least=1, changeable=True
    )
    checkpoint_every: int = setting(
        2_000, "Games between states from which a stopped run goes on.", least=1, changeable=True
    )

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        super().__post_init__()
        for name in ("eyes", "openings"):
            if len(getattr(self, name)) != 2:
                raise SpecError(f"{name} has two thresholds, not {len(getattr(self, name))}")
        if self.single and self.categories not in ("liberties", "none"):
            raise SpecError(f"a single output sees no eyes for categories {self.categories}")

    @property
    def rewards(self) -> tuple[float, float]:
        """Return what a captured stone and an own stone are worth; one output knows no captures."""
        return (0.0, 1.0) if self.single else (float(self.capture), float(self.stone))

    @property
    def sorting(self) -> Categories:
        """Return how blocks are sorted."""
        return Categories(self.categories, self.eyes, self.openings)

    def rate_at(self, done: int) -> float:
        """Return the rate after so many games."""
        left = (self.games - done) / max(self.anneal * self.games, 1e-9)
        return self.rate * min(1.0, max(left, 0.0))

    @cached_property
    def architecture(self) -> Architecture:
        """Return the network that is trained."""
        return Architecture(
            mixtures=tuple(dict(self.mixture) for _ in range(self.layers)),
            steps=self.steps,
            single=self.single,
            colour=self.colour,
            tied=self.tied,
            categories=self.sorting.count,
        )

    @property
    def recipe(self) -> dict[str, Any]:
        """Return what decides the numbers as plain values, for cards.

        The settings of self-play are left out where there was none.
        """
        left_out = {*_SCHEDULE, *(_SELF_PLAY if self.experts else ())}
        plain = {name: value for name, value in to_plain(self).items() if name not in left_out}
        plain["capture"], plain["stone"] = self.rewards
        return plain

    @classmethod
    def from_recipe(cls, recipe: dict[str, Any]) -> SymmetrySettings:
        """Make settings from what `recipe` gave, in this version or an older one."""
        values = {name: value for name, value in recipe.items() if name not in _RETIRED}
        sorting = values.get("categories")
        if isinstance(sorting, dict):  # as it was before 0.2
            values |= {"categories": sorting["mode"]}
            values |= {name: sorting[name] for name in ("eyes", "openings") if name in sorting}
        if values.get("single"):  # its rewards follow from that
            values = {k: v for k, v in values.items() if k not in ("capture", "stone")}
        return from_plain(cls, values, where="recipe")


@dataclass(frozen=True)
class ImitationSettings(CheckedSettings):
    """Everything that decides what is learned from experts' games, besides the games."""

    layers: int = setting(5, "Stacked hidden layers.", least=1)
    units: int = setting(32, "Hidden units a layer.", least=1)
    positions: int = setting(1_000_000, "Positions to learn from.", least=1)
    negatives: int = setting(31, "Other moves that the expert's must beat.", least=1)
    batch: int = setting(256, "Positions a step, a multiple of the draws.", least=1)
    draws: int = setting(8, "Positions of one game in a step.", least=1)
    rate: float = setting(2e-3, "Rate of Adam; falls to nothing.", least=0)
    size: int = setting(19, "Games of this size.", least=3, most=25)
    half: bool = setting(False, "On a GPU: half precision.")
    seed: int = setting(0, "Every random choice follows from it.", least=0)

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        super().__post_init__()
        if self.batch % self.draws:
            raise SpecError(f"a batch of {self.batch} is no multiple of {self.draws} positions")

    @property
    def steps(self) -> int:
        """Return how many steps there are."""
        return -(-self.positions // self.batch)

    def rate_at(self, step: int) -> float:
        """Return the rate of a step: it rises over the first and falls to nothing by the last."""
        return self.rate * min(1.0, (step + 1) / _WARM) * max(0.0, 1.0 - step / self.steps)

    @cached_property
    def network(self) -> SymmetrySettings:
        """Return the network that can be taught so: sorted by liberties, one output."""
        return SymmetrySettings(
            size=self.size,
            layers=self.layers,
            mixture=mixture_of(self.units),
            categories="liberties",
            turn=True,
            single=True,
            seed=self.seed,
            experts=True,
        )


_WARM = 200
"""Steps of imitation in which the rate rises from nothing."""


@dataclass(frozen=True)
class EvolutionSettings(CheckedSettings):
    """Everything that decides an evolution, besides the network and its opponents."""

    generations: int = setting(400, "Generations.", least=1, changeable=True)
    pairs: int = setting(64, "Mutants and their mirror images in a generation.", least=1)
    games: int = setting(2, "Games of each mutant, all against one of the opponents.", least=1)
    spread: float = setting(0.15, "Of the mutations, relative to the numbers.", least=0)
    step: float = setting(0.002, "Of the network, likewise.", least=0)
    momentum: float = setting(0.9, "Share of the last direction that is kept.", least=0, most=0.999)
    points: float = setting(
        15.0, "A win by so many is worth tanh 1 = 0.76 of the greatest.", least=1e-9
    )
    komi: float = setting(7.5, "Komi.")
    openings: int = setting(4, "Random plies before each game.", least=0)
    size: int = setting(9, "Size of the board.", least=3, most=25)
    seed: int = setting(0, "Every random choice follows from it.", least=0)


def mixture_of(units: int) -> dict[str, int]:
    """Return so many hidden units of the types in about the paper's proportions.

    >>> mixture_of(12)
    {'T': 4, 'S': 2, 'D': 2, 'C': 0, 'F': 2}
    """
    if units < 1:
        raise SpecError(f"units {units} must be at least 1")
    pairs, signed, chiral = units // 6, units // 6, units // 16
    return {
        "T": units - 2 * pairs - 2 * signed - chiral,
        "S": signed,
        "D": signed,
        "C": chiral,
        "F": pairs,
    }
