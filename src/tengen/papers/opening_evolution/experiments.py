"""The paper's experiments, and those that answer its questions: networks bred and measured.

The paper let the best networks of every 1,000th (10,000th) generation play a double round robin and
inferred learning from a rising line of points. Here the same is done for several trainings, and a
fixed panel of opponents shows whether anything was learned.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tengen.lab.evidence import NewRows
from tengen.lab.steps import Experiment, Journal, LabContext
from tengen.models.settings import CheckedSettings, setting, to_plain
from tengen.papers.opening_evolution.recording import (
    PANEL,
    START_PLIES,
    Games,
    Row,
    panel_rows,
    snapshots,
    tournament_rows,
    train,
    training_rows,
)
from tengen.papers.opening_evolution.settings import DEFAULTS, EvolutionSettings

CHAMPIONS = ("evolved-minimax-13x13", "evolved-spatial-13x13")  # shipped, the strongest first

PAPER_METHOD: dict[str, Any] = {
    "colours": "black", "remember": True, "by_chance": True, "scoring": "territory", "komi": 0.0,
}  # fmt: skip
"""One finished game as Black per individual. A network whose choices involve no chance would repeat
its game, so survivors play no more."""
BETTER_METHOD: dict[str, Any] = {
    "network": "shared", "population": 20, "random_plies": 4, "starts": 2, "strategy": "cma",
    "opponent": "static + random", "expert": "builtin:playouts=16",
}  # fmt: skip
"""Not the paper's method: few weights, four games each from common random starts against two
opponents, CMA-ES, and playouts that judge the openings."""
CHANGES: dict[str, dict[str, Any]] = {
    "none": {},
    "one-opponent": {"opponent": "static"},
    "three-opponents": {"opponent": "static + random + maxlib"},
    "co-evolution": {"hall_every": 1},
    "deeper": {"plies": 2},
    "illegal-passes": {"free": True},
    "handicap": {"handicap": 9, "handicap_every": 8},  # none from generation 64 on
    "middle-game": {"moves": 40},
    "whole-game": {"moves": 80},
}
"""What the paper's questions change, by name; the rest is the better method's."""


def _breed(
    context: LabContext, name: str, settings: EvolutionSettings, low: float, high: float
) -> Path:
    """Breed a network in its folder, continuing a stopped run."""
    folder = context.place(f"opening-evolution/{name}-seed{settings.seed}")
    on_step = context.between(low, high, f"{name}, seed {settings.seed}: generation")
    train(
        folder, settings, resume=True, workers=context.workers, ray=context.ray,
        on_generation=lambda state: on_step(state.generation, settings.generations),
    )  # fmt: skip
    return folder


def _games(context: LabContext, name: str, low: float, high: float) -> Games:
    """Return how the games that measure networks are played."""
    journal = Journal(context.place("opening-evolution") / f"{name}.jsonl")
    on_step = context.between(low, high, f"{name}: duels")
    return Games(journal, context.workers, context.ray, on_step)


# ----- Tables I and II -----


@dataclass(frozen=True)
class TableSize(CheckedSettings):
    """How long networks are bred, and how they are measured."""

    network: str = setting("dense", "The network's shape.", choices=("dense", "spatial"))
    generations: int = setting(20_000, "Generations to breed.", least=1)
    every: int = setting(1_000, "Generations between measurements.", least=1)
    seeds: int = setting(5, "Independent trainings.", least=1)
    starts: int = setting(25, "Games with each colour against each of the panel.", least=1)


def tables(context: LabContext, size: TableSize) -> list[NewRows]:
    """Breed networks as the paper did; play its round robins, and games against a panel."""
    name = "table-1" if size.network == "dense" else "table-2"
    seeds = [context.seed + number for number in range(size.seeds)]
    every = math.gcd(2_500, size.every)
    runs: dict[int, Path] = {}
    for number, seed in enumerate(seeds):
        settings = EvolutionSettings(
            network=size.network, generations=size.generations, snapshot_every=every, seed=seed,
            **PAPER_METHOD,
        )  # fmt: skip
        share = 0.9 / size.seeds
        runs[seed] = _breed(context, name, settings, number * share, (number + 1) * share)
    robins = tournament_rows(runs, size.every, _games(context, f"{name}-tournament", 0.9, 0.95))
    networks: list[tuple[Row, Path | str]] = [
        ({"seed": seed, "generation": generation}, path)
        for seed, folder in runs.items()
        for generation, path in snapshots(folder, size.every).items()
    ]
    games = _games(context, f"{name}-panel", 0.95, 1.0)
    panel = panel_rows(networks, size.starts, games, seed=context.seed)
    how = to_plain(settings)
    del how["seed"]
    terms = {key: how[key] for key in ("network", "generations", "expert", "komi", "scoring")}
    terms["every"] = size.every
    return [
        NewRows(f"{name}-training", training_rows(runs), seeds, how),
        NewRows(f"{name}-tournament", robins, seeds, {**terms, "random_plies": 0}),
        NewRows(
            f"{name}-panel", panel, seeds,
            {**terms, "random_plies": START_PLIES, "starts": size.starts},
        ),
    ]  # fmt: skip


# ----- A method that learns, and the paper's questions -----


@dataclass(frozen=True)
class LearningSize(CheckedSettings):
    """How long networks are bred, how they are measured, and what is changed in the method."""

    generations: int = setting(100, "Generations to breed.", least=1)
    seeds: int = setting(5, "Independent trainings.", least=1)
    starts: int = setting(100, "Games with each colour against each of the panel.", least=1)
    changes: tuple[str, ...] = ("none",)


def learning(context: LabContext, size: LearningSize) -> list[NewRows]:
    """Breed by another method, changed as the paper's questions ask; play against the panel."""
    name = "learning" if size.changes == ("none",) else "changes"
    seeds = [context.seed + number for number in range(size.seeds)]
    networks: list[tuple[Row, Path | str]] = []
    share = 0.8 / (len(seeds) * len(size.changes))
    for number, change in enumerate(size.changes):
        for place, seed in enumerate(seeds, number * len(seeds)):
            settings = EvolutionSettings(
                generations=size.generations, snapshot_every=size.generations, seed=seed,
                **BETTER_METHOD | CHANGES[change],
            )  # fmt: skip
            folder = _breed(context, change, settings, place * share, (place + 1) * share)
            networks += [
                ({"change": change, "seed": seed, "generation": generation}, path)
                for generation, path in snapshots(folder, size.generations).items()
            ]
    games = _games(context, name, 0.8, 1.0)
    rows = panel_rows(networks, size.starts, games, seed=context.seed, moves=DEFAULTS.moves)
    terms = {"generations": size.generations, "starts": size.starts, "expert": "static"}
    return [NewRows(name, rows, seeds, {**terms, "method": BETTER_METHOD})]


# ----- The shipped champions -----


@dataclass(frozen=True)
class ChampionsSize(CheckedSettings):
    """How many games the shipped champions play."""

    starts: int = setting(200, "Games with each colour against each of the panel.", least=1)


def champions(context: LabContext, size: ChampionsSize) -> Sequence[NewRows]:
    """Play the shipped champions' openings against the panel's."""
    networks: list[tuple[Row, Path | str]] = [({"model": name}, name) for name in CHAMPIONS]
    games = _games(context, "champions", 0.0, 1.0)
    rows = panel_rows(networks, size.starts, games, seed=context.seed)
    terms = {"starts": size.starts, "random_plies": START_PLIES, "expert": "static"}
    return [NewRows("champions", rows, [context.seed], {**terms, "opponents": list(PANEL)})]


DENSE = TableSize()
SPATIAL = TableSize("spatial", 60_000, 10_000, seeds=3)
"""The paper's two experiments at its own scale."""

EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "opening-evolution-dense", "Table I: the dense network", tables,
        quick=TableSize(generations=100, every=20, seeds=2, starts=5), full=DENSE,
        minutes=(0.3, 60),
    ),
    Experiment(
        "opening-evolution-spatial", "Table II: the spatial network", tables, full=SPATIAL,
        minutes=(1, 280),
    ),
    Experiment(
        "opening-evolution", "Another method", learning,
        quick=LearningSize(generations=20, seeds=2, starts=20), full=LearningSize(),
        minutes=(0.5, 25),
    ),
    Experiment(
        "opening-evolution-changes", "The paper's questions", learning,
        full=LearningSize(changes=tuple(CHANGES)), minutes=(1, 250),
    ),
    Experiment(
        "opening-evolution-champions", "The shipped champions", champions, full=ChampionsSize(),
        minutes=(1, 2),
    ),
)  # fmt: skip
