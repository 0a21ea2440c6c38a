"""Openings by evolution (Kendall, Yaakob, Hingston 2004): networks bred by the games they bring
about.

`networks` says what a weight vector plays, `strategy` breeds vectors, `games` plays openings that
an expert finishes, `settings` says what to evolve and how, `training` runs generations with
checkpoints, `learner` is the estimator.
"""

from tengen.learners.opening_evolution.games import NetworkPlayer, OpeningTerms, fitness, match
from tengen.learners.opening_evolution.learner import KIND, OpeningEvolution
from tengen.learners.opening_evolution.networks import (
    SHAPES,
    Dense,
    Rich,
    Shape,
    Shared,
    Spatial,
    Tied,
    Tiled,
)
from tengen.learners.opening_evolution.settings import EvolutionSettings
from tengen.learners.opening_evolution.strategy import STRATEGIES, Population, next_generation
from tengen.learners.opening_evolution.training import Breeding, evolve, measure_on, measure_with

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
    "Rich",
    "Shape",
    "Shared",
    "Spatial",
    "Tied",
    "Tiled",
    "evolve",
    "fitness",
    "match",
    "measure_on",
    "measure_with",
    "next_generation",
]
