"""Networks of a recorded training of Table I, bred again from the fitness in its rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tengen.errors import TengenError
from tengen.lab.evidence import find_evidence
from tengen.models.settings import from_recipe
from tengen.papers.opening_evolution.learner import Breeding, OpeningEvolution, match
from tengen.papers.opening_evolution.networks import Weights
from tengen.papers.opening_evolution.settings import EvolutionSettings
from tengen.parallel import spawn_seeds
from tengen.players import make_expert

TRAINING, TOURNAMENT = "table-1-training", "table-1-tournament"
EVERY = 1000
"""Generations between snapshots: those of the recorded tournament."""


def snapshots(data: Path, collection: Path | None = None) -> Iterator[tuple[int, OpeningEvolution]]:
    """Breed the networks of the first recorded training again; yield the best by generation."""
    recorded = find_evidence(data, TRAINING)
    if recorded is None:
        raise TengenError(f"{data / TRAINING}: no rows of a training to repeat")
    seed = recorded.run.seeds[0]
    rows = recorded.where(seed=seed)
    settings = from_recipe(EvolutionSettings, {**recorded.run.settings, "seed": seed})
    columns = [name for name in rows.columns if name.startswith("fitness_")]
    fitness = np.stack([rows[name] for name in columns], axis=1)
    breeding, found = Breeding(settings), dict[int, OpeningEvolution]()
    for generation, row in enumerate(fitness, 1):
        breeding.replay([row])
        if generation == 1:
            found[0] = _network(settings, breeding.first_best)
        if generation % EVERY == 0:
            found[generation] = _network(settings, breeding.best)
    _check_against_games(data, seed, found)
    yield from found.items()


def _network(settings: EvolutionSettings, weights: Weights) -> OpeningEvolution:
    made = OpeningEvolution(settings=settings)
    made.weights_ = weights.copy()
    return made


def _check_against_games(data: Path, seed: int, found: dict[int, OpeningEvolution]) -> None:
    """Play recorded games between neighbours again; fail if one ends otherwise."""
    games = find_evidence(data, TOURNAMENT)
    if games is None:
        return
    expert = make_expert("static")
    for me, other in zip(found, list(found)[1:], strict=False):
        [score] = games.where(seed=seed, black=me, white=other)["score"]
        start = spawn_seeds(seed, 1, me)
        black, white = found[me].player(), found[other].player()
        ours = match(black, [white], expert, found[me].settings, start)
        if ours[0] != score:
            told = f"generations {me} and {other} play another game than the recorded one"
            raise TengenError(f"{games.folder}: {told}")
