"""Say what a training consists of; import neither kernels nor files."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from tengen.errors import SpecError
from tengen.learners.symmetry_network.features import Categories
from tengen.learners.symmetry_network.network import Architecture


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


SELF_PLAY = ("games", "linear_games", "batch", "rate", "decay", "trace", "beta", "hidden_scale",
             "maxlib", "anneal")  # fmt: skip
"""The settings that say how games are played and learned from in self-play."""

RETIRED = ("augment", "taught")
"""Settings that older files may have and that change nothing in how a network judges."""


@dataclass(frozen=True)
class Settings:
    """Everything that decides what a training learns; defaults are the paper's."""

    games: int = 860_000
    linear_games: int = 5_000  # first phase: inputs to outputs only
    batch: int = 1  # games played on the same weights
    rate: float = 5e-6
    decay: float = 0.99999  # of all weights, per game; biases are exempt
    trace: float = 0.9  # lambda
    beta: float = 4.0  # of the Boltzmann distribution over moves
    capture: float = 0.4  # c, reward per captured stone
    stone: float = 0.4  # s, reward per own stone left
    size: int = 9
    seed: int = 0
    hidden_scale: float = 0.3  # of the initial weights from inputs to hidden units
    categories: Categories = field(default_factory=Categories)
    mixture: dict[str, int] = field(default_factory=lambda: {"T": 4, "S": 2, "D": 2, "F": 2})
    colour: bool = False  # tie White's weights to Black's
    tied: bool = True  # False: a plain convolution
    maxlib: float = 0.0  # share of games in which one side plays for liberties
    turn: bool = False  # judge every position as if White had just moved, colours exchanged
    layers: int = 1  # hidden layers of the same mixture, one on the other
    steps: int = 0  # recurrent steps after the first
    single: bool = False  # one output instead of seven; wants capture 0, stone 1 and no eyes
    experts: bool = False  # learned to rank experts' moves by the board after them
    anneal: float = 0.0  # share of the games, at the end, over which the rate falls to nothing

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        for name in ("games", "batch", "size", "layers"):
            if getattr(self, name) < 1:
                raise SpecError(f"{name} {getattr(self, name)} must be at least 1")
        if not 0 <= self.trace <= 1:
            raise SpecError(f"trace {self.trace} is not between 0 and 1")
        if self.single and (self.capture, self.stone) != (0, 1):
            raise SpecError("a single output knows no captures: set capture 0 and stone 1")
        if self.single and self.categories.mode not in ("liberties", "none"):
            raise SpecError(f"a single output sees no eyes for categories {self.categories.mode}")
        if not 0 <= self.anneal <= 1:
            raise SpecError(f"anneal {self.anneal} is not between 0 and 1")

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
            categories=self.categories.count,
        )

    @property
    def recipe(self) -> dict[str, Any]:
        """Return the settings as plain values, for cards and files.

        Those of self-play are left out where there was none.
        """
        return {k: v for k, v in asdict(self).items() if not (self.experts and k in SELF_PLAY)}

    @classmethod
    def from_recipe(cls, recipe: dict[str, Any]) -> Settings:
        """Make settings from what `recipe` gave."""
        values = {name: value for name, value in recipe.items() if name not in RETIRED}
        chosen = dict(values.pop("categories", {}))
        for name in ("eyes", "openings"):
            if name in chosen:
                chosen[name] = tuple(chosen[name])
        return cls(**values, categories=Categories(**chosen))
