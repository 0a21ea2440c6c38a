"""Openings by evolution (Kendall, Yaakob, Hingston 2004): networks bred by the games they bring
about.

`networks` says what a weight vector plays, `strategy` breeds vectors, `games` plays openings that
an expert finishes, `judges` makes one expert of several, `training` runs generations with
checkpoints, `learner` is the estimator.
"""

from tengen.learners.opening_evolution.games import NetworkPlayer, Setting, fitness, match
from tengen.learners.opening_evolution.judges import Jury, PlayedOn, make_judge
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
from tengen.learners.opening_evolution.strategy import (
    STRATEGIES,
    Population,
    next_generation,
    rate_of_change,
)
from tengen.learners.opening_evolution.training import (
    Evolution,
    Plan,
    evolve,
    measure_on,
    measure_with,
)

__all__ = [
    "KIND",
    "SHAPES",
    "STRATEGIES",
    "Dense",
    "Evolution",
    "Jury",
    "NetworkPlayer",
    "OpeningEvolution",
    "Plan",
    "PlayedOn",
    "Population",
    "Rich",
    "Setting",
    "Shape",
    "Shared",
    "Spatial",
    "Tied",
    "Tiled",
    "evolve",
    "fitness",
    "make_judge",
    "match",
    "measure_on",
    "measure_with",
    "next_generation",
    "rate_of_change",
]
