"""Openings by evolution (Kendall, Yaakob, Hingston 2004): networks selected by their games."""

from tengen.learners.opening_evolution.learner import OpeningEvolution
from tengen.learners.opening_evolution.settings import EvolutionSettings

__all__ = ["EvolutionSettings", "OpeningEvolution"]
