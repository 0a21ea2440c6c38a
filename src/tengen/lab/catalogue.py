"""List the laboratory's experiments in the order of the page; `quick` and `full` are sizes of them.

The quick laboratory downloads nothing: games come from our own players, and the built-in expert
finishes openings. The full one repeats the experiments at their papers' scale; it needs the game
collections of `--collection`, takes days, and GNU Go takes part where it is installed. Each section
lists its own experiments.
"""

from __future__ import annotations

from tengen.lab.sections import (
    ground,
    move_prediction,
    opening_evolution,
    opening_td,
    player,
    scoring,
    self_play,
    symmetry_network,
)
from tengen.lab.steps import Step

EXPERIMENTS = (
    *ground.EXPERIMENTS,
    *opening_td.EXPERIMENTS,
    *scoring.EXPERIMENTS,
    *symmetry_network.EXPERIMENTS,
    *move_prediction.EXPERIMENTS,
    *opening_evolution.EXPERIMENTS,
    *self_play.EXPERIMENTS,
    *player.EXPERIMENTS,
)


def steps(mode: str) -> list[Step]:
    """Return everything that `tengen lab --quick` or `--full` does, in order."""
    return [step for experiment in EXPERIMENTS if (step := experiment.step(mode)) is not None]
