"""Name everything that decides what a predictor learns, for both recipes; train nothing."""

from __future__ import annotations

from dataclasses import dataclass

from tengen.models.settings import CheckedSettings, setting

PAPER_TEMPLATES = (0, 1, 2, 3, 5, 7, 9, 11)
"""The paper's eight templates as rings: d <= 2, 3, 4, 5, 7, 9, 12 and the whole board."""

FAMILIES = (
    "coordinates", "history", "tactics", "surroundings", "ladders", "patterns",
    "patterns with liberties", "patterns with last moves", "network",
)  # fmt: skip
"""Families of features that a training of the full recipe can leave out."""


@dataclass(frozen=True)
class FullSettings(CheckedSettings):
    """The full recipe: a dictionary of patterns, then gradient steps over the games."""

    games: int | None = setting(None, "Train on the first so many, shuffled.", least=2)
    minimum: int = setting(10, "Occurrences that make a pattern known; paper: 2.", least=1)
    passes: int = setting(1, "Times over the games; paper: 3, over half of them.", least=1)
    share: float = setting(1.0, "full: part of the positions.", least=0.001, most=1)
    first_ply: int = setting(
        0, "full: leave out earlier plies, as random openings.", least=0, option="from-ply"
    )
    anywhere: bool = setting(False, "full: no absolute coordinates; serves every board size.")
    rate: float = setting(1.0, "full: learning rate, times the usual one.", least=0)
    without: tuple[str, ...] = setting(
        (), "full: a family of features to leave out.", choices=FAMILIES
    )
    seed: int = setting(0, "Every random choice follows from it.", least=0)
    dictionary_games: int = 6000
    """Of the games, so many make the dictionary."""
    rate_weights: float = 0.1
    rate_vectors: float = 0.05
    rate_network: float = 0.001
    batch: int = 8
    side: int = 32
    """Games that are played side by side."""


@dataclass(frozen=True)
class PaperSettings(CheckedSettings):
    """The recipe of Araki et al. 2007: frequencies of patterns, then a re-ranker."""

    games: int | None = setting(None, "Train on the first so many, shuffled.", least=2)
    minimum: int = setting(2, "Occurrences that make a pattern known.", least=1)
    passes: int = setting(3, "Times over half B.", least=1)
    width: float = setting(0.9, "paper: width factor W.", least=0)
    top: int = setting(20, "paper: candidates that are re-ranked, n.", least=0)
    # 0.1 stays further from the optimum.
    alpha: float = setting(0.3, "paper: learning rate of the re-ranker.", least=0.001)
    seed: int = setting(0, "Every random choice follows from it.", least=0)
    templates: tuple[int, ...] = PAPER_TEMPLATES
