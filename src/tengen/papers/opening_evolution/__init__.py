"""Evolve opening players (Kendall, Yaakob, Hingston 2004): networks selected by results."""

from tengen.papers.opening_evolution.learner import OpeningEvolution
from tengen.papers.opening_evolution.settings import EvolutionSettings

__all__ = ["EvolutionSettings", "OpeningEvolution"]
