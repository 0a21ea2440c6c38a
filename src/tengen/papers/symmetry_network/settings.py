"""Settings of a symmetry network and of its self-play."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tengen.arrays import IntArray
from tengen.errors import SpecError
from tengen.models.settings import CheckedSettings, from_plain, setting, to_plain
from tengen.papers.symmetry_network.network import (
    BY_EYES,
    BY_LIBERTIES,
    PAPER_MIXTURE,
    Architecture,
)

_CATEGORIES = {"eyes": BY_EYES, "liberties": BY_LIBERTIES}  # how blocks can be sorted

_SCHEDULE = ("snapshot_every", "checkpoint_every")  # settings that do not influence what is learned

_RETIRED: dict[str, float] = dict.fromkeys(("turn", "single", "augment", "experts", "taught"), 0)
_RETIRED |= {"layers": 1, "steps": 0, "maxlib": 0, "anneal": 0}
"""Settings of older files and the only value of each that can still be read."""


@dataclass(frozen=True)
class SymmetrySettings(CheckedSettings):
    """Everything that determines what self-play learns and saves; defaults are the paper's."""

    games: int = setting(860_000, "Games of self-play.", least=1, changeable=True)
    linear_games: int = setting(5_000, "First games, without hidden units.", least=0)
    batch: int = setting(1, "Games played with the same weights; 1: the paper.", least=1)
    rate: float = setting(5e-6, "Learning rate.", least=0)
    decay: float = setting(0.99999, "Decay per game of all weights but biases.", least=0, most=1)
    trace: float = setting(0.9, "Lambda of TD(lambda).", least=0, most=1, option="lambda")
    beta: float = setting(4.0, "Moves are drawn by exp(beta value).", least=0)
    capture: float = setting(0.4, "Reward per captured stone.", least=0)
    stone: float = setting(0.4, "Reward per own stone left.", least=0)
    size: int = setting(9, "Board size.", least=3, most=25)
    seed: int = setting(0, "Seed of all random choices.", least=0)
    hidden_scale: float = setting(0.3, "Scale of the initial weights to hidden units.", least=0)
    categories: str = setting("eyes", "How blocks are sorted.", choices=tuple(_CATEGORIES))
    eyes: tuple[float, ...] = setting((0.5, 1.5), "Both thresholds of eyes: give it twice.")
    openings: tuple[float, ...] = setting((0.5, 1.5), "Both thresholds of openings: give it twice.")
    mixture: dict[str, int] = field(default_factory=lambda: dict(PAPER_MIXTURE))
    colour: bool = setting(False, "Tie White's weights to Black's.")
    tied: bool = setting(True, "Tie weights by symmetry; otherwise a plain convolution.")
    recurrent: bool = setting(False, "Hidden units see those of the previous position.")
    snapshot_every: int = setting(20_000, "Games between snapshots.", least=1, changeable=True)
    checkpoint_every: int = setting(2_000, "Games between checkpoints.", least=1, changeable=True)

    def __post_init__(self) -> None:
        """Also check the number of thresholds."""
        super().__post_init__()
        for name in ("eyes", "openings"):
            if len(getattr(self, name)) != 2:
                raise SpecError(f"{name} has two thresholds, not {len(getattr(self, name))}")

    @property
    def sorting(self) -> IntArray:
        """How blocks are sorted, as kernels take it: the mode and four thresholds."""
        limits = [round(v * 2**20) for v in (*self.eyes, *self.openings)]
        return np.array([_CATEGORIES[self.categories], *limits], np.int64)

    @cached_property
    def architecture(self) -> Architecture:
        """The network that is trained."""
        return Architecture(dict(self.mixture), self.colour, self.tied, self.recurrent)

    @property
    def recipe(self) -> dict[str, Any]:
        """The settings that determine the weights, as plain values for cards."""
        return {name: value for name, value in to_plain(self).items() if name not in _SCHEDULE}

    @classmethod
    def from_recipe(cls, recipe: dict[str, Any]) -> SymmetrySettings:
        """Make settings from the `recipe` of this version or an older one."""
        values = dict(recipe)
        for name, only in _RETIRED.items():
            if values.pop(name, only) != only:
                raise SpecError(f"networks with {name!r} cannot be read any more")
        return from_plain(cls, values, where="recipe")


DEFAULTS = SymmetrySettings()
