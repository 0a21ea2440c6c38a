"""Name everything that decides what a scorer and an evaluator of life learn; train nothing."""

from __future__ import annotations

from dataclasses import dataclass

from tengen.models.settings import CheckedSettings, setting

FAMILIES = ("paper", "surroundings", "groups", "bonds", "attacks")
"""Families of features, in the order of their columns."""


@dataclass(frozen=True)
class ScorerSettings(CheckedSettings):
    """How a scorer is learned from final scores."""

    hidden: int = setting(16, "Hidden units.", least=1)
    members: int = setting(4, "Networks that vote.", least=1)
    epochs: int = setting(100, "Batches of RPROP.", least=1)
    decay: float = setting(1e-4, "Weight decay.", least=0)
    rounds: int = setting(3, "Rounds of the bootstrap.", least=2)
    families: tuple[str, ...] = setting(FAMILIES, "Families of features.", choices=FAMILIES)
    seed: int = setting(0, "Every random choice follows from it.", least=0)
    folds: int = setting(3, "Parts of the games, each judged by networks of the others.", least=2)
