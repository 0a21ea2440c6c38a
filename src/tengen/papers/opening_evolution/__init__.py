"""Evolve opening players (Kendall, Yaakob, Hingston 2004): networks selected by results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tengen.lazy import lazy_names

if TYPE_CHECKING:
    from tengen.papers.opening_evolution.learner import OpeningEvolution
    from tengen.papers.opening_evolution.settings import EvolutionSettings

__all__ = ["EvolutionSettings", "OpeningEvolution"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "tengen.papers.opening_evolution.learner": ["OpeningEvolution"],
        "tengen.papers.opening_evolution.settings": ["EvolutionSettings"],
    },
)
