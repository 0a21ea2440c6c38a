"""List the steps of the whole laboratory: every experiment at its paper's scale, with resume.

They need the game collections of `--corpus` and, together, days of processor time; GNU Go takes
part where it is installed. Each step may be stopped at any moment and goes on from there.
"""

from __future__ import annotations

from functools import partial

from tengen.lab.sections import (
    move_prediction,
    move_prediction_full,
    opening_evolution,
    opening_td,
    player,
    scoring,
    symmetry_network,
)
from tengen.lab.steps import Step

STEPS: tuple[Step, ...] = (
    Step("ladder", "ground", "The ladder on 9x9", player.full_ladder, 240),
    Step("opening-td", "opening-td", "Figure 4, Tables 1 to 5", opening_td.full, 240),
    Step("opening-td-variants", "opening-td", "What was left open", opening_td.variants, 240),
    Step(
        "scoring-failure", "scoring", "A failure, and why", scoring.full_failure, 10,
        (scoring.TRAIN,),
    ),
    Step(
        "scoring", "scoring", "A scorer learned from scores", scoring.full_scorer, 30,
        (scoring.TRAIN, *scoring.TESTS),
    ),
    Step(
        "symmetry-weights", "symmetry-network", "714 weights, drawn", symmetry_network.numbers, 0.1
    ),
    Step("symmetry-network", "symmetry-network", "Figure 1", symmetry_network.full, 300),
    Step(
        "move-prediction", "move-prediction", "Tables I to IV", move_prediction_full.paper, 90,
        (move_prediction.TRAIN, move_prediction.TEST),
    ),
    Step(
        "move-prediction-strong", "move-prediction", "Beyond the paper",
        move_prediction_full.strong, 60,
        (*move_prediction.STRONG, *move_prediction.STRONG_TESTS),
    ),
    Step(
        "move-prediction-match", "move-prediction", "Against GNU Go", move_prediction_full.match,
        30, (move_prediction.TRAIN,),
    ),
    Step(
        "opening-evolution-dense", "opening-evolution", "Table I",
        partial(opening_evolution.full, network="dense"), 600,
    ),
    Step(
        "opening-evolution-spatial", "opening-evolution", "Table II",
        partial(opening_evolution.full, network="spatial"), 1200,
    ),
    Step(
        "opening-evolution-better", "opening-evolution", "A method that learns",
        partial(opening_evolution.full, network="spatial", method="better", seeds=5), 120,
    ),
    Step("player", "player", "What every part adds", player.full, 300),
    Step("levels", "player", "Levels for people", player.levels, 1),
    Step("shipped-ladder", "player", "The shipped ladder", player.shipped_ladder, 0.1),
)  # fmt: skip
"""Everything `tengen lab --full` does, in order; minutes are on two cores."""
