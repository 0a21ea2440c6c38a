"""List the steps of the small laboratory: every learner trained a little, beside the shipped
models.

Nothing is downloaded: games come from our own players, the built-in expert finishes openings. Each
step is a function of the run's seed; players are limited by playouts, not seconds.
"""

from __future__ import annotations

from tengen.lab.sections import (
    ground,
    move_prediction,
    opening_evolution,
    opening_td,
    player,
    scoring,
    symmetry_network,
)
from tengen.lab.steps import Step

STEPS: tuple[Step, ...] = (
    Step("ladder", "ground", "Players that learn nothing", ground.quick, 0.2),
    Step("opening-td", "opening-td", "Learning by self-play", opening_td.quick, 0.7),
    Step("opening-td-inputs", "opening-td", "What the inputs add", opening_td.features, 0.4),
    Step("scoring-failure", "scoring", "A failure, and why", scoring.failure, 0.8),
    Step("scoring", "scoring", "Scorers on unseen games", scoring.scorer, 0.6),
    Step(
        "symmetry-weights", "symmetry-network", "714 weights, drawn", symmetry_network.numbers, 0.1
    ),
    Step("symmetry-network", "symmetry-network", "A short training", symmetry_network.quick, 1.3),
    Step("move-prediction", "move-prediction", "Tables I to III", move_prediction.quick, 0.3),
    Step("opening-evolution", "opening-evolution", "Breeding", opening_evolution.quick, 0.4),
    Step("player", "player", "What every part adds", player.quick, 0.7),
    Step("levels", "player", "Levels for people", player.levels, 0.3),
    Step("shipped-ladder", "player", "The ladder", player.shipped_ladder, 0.1),
)
"""Everything `tengen lab --quick` does, in order."""
