"""Settings of move prediction."""

from __future__ import annotations

from dataclasses import dataclass

from tengen.models.settings import CheckedSettings, setting

TEMPLATES = (0, 1, 2, 3, 5, 7, 9, 11)
"""The paper's eight templates as rings: d <= 2, 3, 4, 5, 7, 9, 12 and the whole board."""

SOLVERS = ("passes", "optimum")


@dataclass(frozen=True)
class PredictionSettings(CheckedSettings):
    """Settings of the maximum-entropy predictor of Araki et al. 2007."""

    games: int | None = setting(None, "Train on this many games, chosen by the seed.", least=2)
    minimum: int = setting(2, "Occurrences that make a pattern known.", least=1)
    solver: str = setting(
        "passes",
        "How the re-ranker is fitted: by passes of FTRL-proximal, which hold no samples in memory, "
        "or to the optimum, as the paper does.",
        choices=SOLVERS,
    )
    passes: int = setting(3, "Passes of the re-ranker over its half of the games.", least=1)
    iterations: int = setting(300, "Most iterations towards the optimum.", least=1)
    width: float = setting(0.9, "Width factor W of the constraints.", least=0)
    top: int = setting(20, "Candidates to re-rank; 0 for none.", least=0)
    # On held-out games 0.1 stayed further from the optimum.
    alpha: float = setting(0.3, "Learning rate of the re-ranker.", least=0.001)
    seed: int = setting(0, "Seed of every random choice.", least=0)
    templates: tuple[int, ...] = TEMPLATES
