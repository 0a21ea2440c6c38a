"""Settings of the scorer."""

from __future__ import annotations

from dataclasses import dataclass

from tengen.models.settings import CheckedSettings, setting


@dataclass(frozen=True)
class ScorerSettings(CheckedSettings):
    """Settings of learning from final scores."""

    hidden: int = setting(16, "Hidden units.", least=1)
    members: int = setting(4, "Number of networks that vote.", least=1)
    epochs: int = setting(100, "Epochs of RPROP on the full batch.", least=1)
    decay: float = setting(1e-4, "Weight decay.", least=0)
    rounds: int = setting(3, "Rounds of labelling and training.", least=2)
    seed: int = setting(0, "Seed of every random choice.", least=0)
    folds: int = setting(3, "Folds of the games; networks of the others judge each.", least=2)
