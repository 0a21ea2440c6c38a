"""Move prediction (Araki 2007): Tables I to IV, the match against GNU Go, and the open questions.

Each training is measured on every test game; a row has the moves of one game that were among the
best 1, 5, ... 80 candidates. Moves of equal rank share a hit, so hits may be fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tengen.errors import TengenError
from tengen.gtp.client import find_program
from tengen.lab.evidence import NewRows
from tengen.lab.steps import Experiment, LabContext, Row
from tengen.models.settings import fingerprint, to_plain
from tengen.papers.move_prediction import MovePredictor, questions
from tengen.papers.move_prediction.kernels import PLIES_PER_PHASE
from tengen.papers.move_prediction.patterns import telling_patterns
from tengen.papers.move_prediction.sources import GameSource
from tengen.papers.move_prediction.trainings import (
    PLACE,
    TOP,
    WIDTH,
    Training,
    compile_kernels,
    hit_row,
    hits_by_game,
    play,
    train,
)
from tengen.players import gnugo
from tengen.records.arrays import GameArrays

# ----- Tables I to IV -----


@dataclass(frozen=True)
class PredictionTables(GameSource):
    """The trainings of the paper's tables."""

    width_games: tuple[int, ...] = (2000, 20_000)  # the paper tuned the width on 2,000 games
    widths: tuple[float, ...] = tuple(tenths / 10 for tenths in range(11))
    top_games: int = 2000
    tops: tuple[int, ...] = (0, 20, 40, 60, 80)
    sizes: tuple[int, ...] = (5000, 10_000, 15_000, 20_000)
    solvers: tuple[str, ...] = ("optimum", "passes")  # the first for every table
    iterations: int = 300
    trainings: int = 1  # seeds
    patterns: int = 12  # patterns to draw

    def plan(self, seed: int) -> list[Training]:
        """Return the trainings, each once, those of fewer games first."""
        solver = self.solvers[0]
        found = []
        for each in range(seed, seed + self.trainings):
            found += [Training(self.top_games, WIDTH, top, solver, each) for top in self.tops]
            found += [
                Training(games, width, TOP, solver, each)
                for games in self.width_games
                for width in self.widths
            ]
            found += [
                Training(games, WIDTH, TOP, by, each) for by in self.solvers for games in self.sizes
            ]
        return sorted(dict.fromkeys(found), key=lambda training: training.games)

    @property
    def measurement(self) -> str:
        """What the result of a training depends on, whichever others are planned."""
        source = self.made, self.board, self.train, self.test, self.test_games
        return fingerprint(source, self.iterations)


def tables(context: LabContext, size: PredictionTables) -> Sequence[NewRows]:
    """Train and measure what Tables I to IV need."""
    train, test = size.read(context)
    plan = size.plan(context.seed)
    for solver in size.solvers:
        compile_kernels(train, solver)
    rows: list[Row] = []
    trainings: list[Row] = []
    phases: list[Row] = []
    # A folder may be given other trainings later: those it has already serve again.
    any_plan = replace(context, step=f"move-prediction {size.measurement}")
    for done, each in enumerate(plan):
        text = f"{each.games} games, W = {each.width:g}, n = {each.top}, {each.solver}"
        context.at(0.2 + 0.75 * done / len(plan), text)
        measured = partial(measure_training, context, size, each, train, test)
        found = any_plan.once(repr(each), measured)
        rows += [{**asdict(each), **row} for row in found["games"]]
        trainings.append({**asdict(each), **found["training"]})
        if each == Training(max(size.sizes, default=0), solver=size.solvers[0], seed=context.seed):
            phases = [{**asdict(each), **row} for row in found["phases"]]
    seeds = sorted({each.seed for each in plan})
    settings = {**to_plain(size), "test_games": len(test)}
    made = [
        NewRows("move-prediction", rows, seeds, settings),
        NewRows(
            "move-prediction-trainings", trainings, seeds, {**settings, "threads": context.workers}
        ),
        NewRows("move-prediction-phases", phases, seeds, settings),
    ]
    if size.patterns:
        context.at(0.95, "patterns")
        largest = max(plan, key=lambda each: each.games, default=Training(len(train)))
        patterns = telling_patterns(train, largest.settings(), size.patterns)
        made.append(NewRows("move-prediction-patterns", patterns, seeds[:1], settings))
    return [each for each in made if each.rows]


def measure_training(
    context: LabContext,
    size: PredictionTables,
    each: Training,
    train_games: GameArrays,
    test: GameArrays,
) -> Row:
    """Do one training and measure it on every test game."""
    if each.games > len(train_games) and not near(each.games, len(train_games)):
        raise TengenError(f"{len(train_games)} games to learn from, {each.games} asked")
    name = f"{each.games}-{each.width:g}-{each.top}-{each.solver}-{each.seed}"
    trained = train(context, train_games, each.settings(size.iterations), name)
    model = trained.model
    hits, counts = hits_by_game(model, test, workers=context.workers)
    if (each.width, each.top, each.solver) == (WIDTH, TOP, size.solvers[0]):
        predictor = MovePredictor.of(model, each.settings(size.iterations))
        predictor.save(model_file(context, size, each), name=f"paper-{each.games}")
    return {
        "games": [
            {"test": game, **hit_row(counts[game].sum(), hits[game].sum(axis=0))}
            for game in range(len(test))
        ],
        "phases": [
            {"test": game, "ply": PLIES_PER_PHASE * phase, "moves": int(counts[game, phase]),
             "hits1": round(float(hits[game, phase, 0]), 3)}
            for game, phase in np.argwhere(counts > 0).tolist()
        ],
        "training": {
            "patterns": len(model.keys),
            "features": model.features,
            "iterations": int(trained.last.get("step", 0)),
            "violation": float(trained.last.get("violation", 0.0)),
            "seconds": round(trained.seconds, 2),
            "cpu_seconds": round(trained.processor, 2),
            "peak_memory": round(trained.memory / 1e9, 3),
        },
    }  # fmt: skip


def near(asked: int, there: int) -> bool:
    """Return whether a collection that lacks a few unusable games still serves."""
    return there >= 0.99 * asked


def model_file(context: LabContext, source: GameSource, each: Training) -> Path:
    """Return where the model of a training is kept for the match."""
    learnt = fingerprint(source.made, source.board, source.train, repr(each))
    return context.place(PLACE) / f"paper-{each.games}-{learnt}.safetensors"


# ----- Against GNU Go -----


@dataclass(frozen=True)
class MatchSize(GameSource):
    """The training games, and the match."""

    games: int = 20_000
    match_games: int = 20
    opponent: str = ""  # spec of the other player; GNU Go at level 10 by default
    solver: str = "optimum"


def match(context: LabContext, size: MatchSize) -> Sequence[NewRows]:
    """Play the predictor's first choice against GNU Go (section IV-D)."""
    if not size.opponent and find_program("gnugo") is None:
        raise TengenError("GNU Go is not installed; --set opponent=SPEC names another player")
    each = Training(size.games, solver=size.solver, seed=context.seed)
    model = model_file(context, size, each)
    if not model.is_file():
        context.at(0.0, f"training on {size.games} games")
        trained = train(context, size.training(context), each.settings(), "match")
        MovePredictor.of(trained.model, each.settings()).save(model, name=f"paper-{size.games}")
    other = size.opponent or gnugo(10)
    rows = play(
        context,
        context.place(PLACE) / f"match-{fingerprint(to_plain(size))}.sqlite",
        {"paper": f'greedy:policy="{model}"', "opponent": other},
        games=size.match_games, size=size.board,
    )  # fmt: skip
    settings = {**to_plain(size), "opponent": other}
    return [NewRows("move-prediction-match", rows, [context.seed], settings)]


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "move-prediction", "Tables I to IV", tables,
        quick=PredictionTables(
            made=400, test_games=60, board=9, width_games=(200,), widths=(0.0, 0.5, WIDTH),
            top_games=200, tops=(0, 20, 40), sizes=(50, 100, 200, 400),
        ),
        full=PredictionTables(), minutes=(0.35, 600), needs=lambda size: size.files,
    ),
    Experiment(
        "move-prediction-match", "Against GNU Go", match, full=MatchSize(), minutes=(1, 60),
        needs=lambda size: size.files[:1], named_only=True,
    ),
    *questions.EXPERIMENTS,
)  # fmt: skip
