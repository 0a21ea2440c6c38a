"""Openings by evolution (Kendall, Yaakob, Hingston 2004): networks selected by their games."""

from tengen.learners.opening_evolution.learner import KIND, OpeningEvolution
from tengen.learners.opening_evolution.networks import SHAPES, Dense, Shape, Shared, Spatial, Tiled
from tengen.learners.opening_evolution.settings import EvolutionSettings, OpeningTerms
from tengen.learners.opening_evolution.strategy import STRATEGIES, Population, next_generation
from tengen.learners.opening_evolution.training import (
    Breeding,
    NetworkPlayer,
    evolve,
    fitness,
    match,
    measure_on,
    measure_with,
)

__all__ = [
    "KIND",
    "SHAPES",
    "STRATEGIES",
    "Breeding",
    "Dense",
    "EvolutionSettings",
    "NetworkPlayer",
    "OpeningEvolution",
    "OpeningTerms",
    "Population",
    "Shape",
    "Shared",
    "Spatial",
    "Tiled",
    "evolve",
    "fitness",
    "match",
    "measure_on",
    "measure_with",
    "next_generation",
]
