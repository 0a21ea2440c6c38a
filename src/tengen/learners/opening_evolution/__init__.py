"""Openings by evolution (Kendall, Yaakob, Hingston 2004): networks selected by their games."""

from tengen.learners.opening_evolution.learner import (
    KIND,
    Breeding,
    Measure,
    NetworkPlayer,
    OpeningEvolution,
    evolve,
    fitness,
    match,
    measure_on,
    measure_with,
)
from tengen.learners.opening_evolution.networks import SHAPES, Dense, Shape, Shared, Spatial, Tiled
from tengen.learners.opening_evolution.settings import EvolutionSettings
from tengen.learners.opening_evolution.strategy import STRATEGIES

__all__ = [
    "KIND",
    "SHAPES",
    "STRATEGIES",
    "Breeding",
    "Dense",
    "EvolutionSettings",
    "Measure",
    "NetworkPlayer",
    "OpeningEvolution",
    "Shape",
    "Shared",
    "Spatial",
    "Tiled",
    "evolve",
    "fitness",
    "match",
    "measure_on",
    "measure_with",
]
