"""The commands of the evolved opening players."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from tengen.commands import Learner, RunFolder, Seed, Shown, WorkOptions, option
from tengen.papers.opening_evolution.settings import EvolutionSettings


def train(settings: EvolutionSettings, run: RunFolder, work: WorkOptions, shown: Shown) -> None:
    """Evolve a network; the same seed gives the same network on any number of workers."""
    from tengen.models import to_plain
    from tengen.papers.opening_evolution.learner import Breeding
    from tengen.papers.opening_evolution.recording import train

    name = f"{settings.network}-{settings.rows}x{settings.rows}-seed{settings.seed}"
    folder = run.out or Path("runs") / "opening-evolution" / name
    settings = run.settings(folder, settings)
    with shown.progress() as bar:

        def advance(state: Breeding) -> None:
            best = f"best {state.fitness.max():+.1f}"
            bar("generations", state.generation, settings.generations, best)

        path = train(folder, settings, resume=run.resume, on_generation=advance, **vars(work))
    shown.result({"model": str(path), "settings": to_plain(settings)})


def evaluate(
    games: int = option(400, "Openings, with both colours.", min=2),
    opponent: str = option("random", "Plays the other side."),
    expert: str = option("static", "Finishes the games and counts them."),
    model: str | None = option(None, "A shipped name or a path."),
    player: str = option("", "Spec of a player that takes the model's place."),
    rival: str | None = option(None, "An evolved model, by name or path, as the opponent."),
    random_plies: int = option(4, "Random plies before each game.", min=0),
    seed: Seed = 1,
    *,
    shown: Shown,
) -> None:
    """Play the model's openings against an opponent's; the expert finishes both colours."""
    from tengen.models import find_model
    from tengen.papers.opening_evolution.experiments import CHAMPIONS
    from tengen.papers.opening_evolution.recording import Duel, play_duel
    from tengen.parallel import spawn_seeds
    from tengen.statistics import Rate

    name = model or CHAMPIONS[0]
    other = str(find_model(rival)) if rival else opponent
    starts = tuple(spawn_seeds(seed, (games + 1) // 2))
    duel = Duel(name, other, starts, expert, random_plies, player=player)
    rate = Rate.of(play_duel(duel)["scores"][:games])
    who = {"model": player or name, "opponent": rival or opponent, "expert": expert}
    shown.result({**who, **asdict(rate), "seed": seed})


def warm() -> list[Any]:
    """Run the kernels once."""
    from tengen.board import Board
    from tengen.papers.opening_evolution.networks import Dense, Shared, Spatial

    board, found = Board(5, moves="B C3 W C2"), []
    for shape in (Dense(5, 5), Spatial(5, 5), Shared(5, 5), Spatial(5, 5, plies=2)):
        weights = np.sin(np.arange(shape.n_weights) * 1.7)
        found += [*shape.move_values(weights, board)[0], shape.value(weights, board, 1)]
    return found


LEARNER = Learner(
    train, evaluate, "Evolve openings (Kendall 2004).", "Play evolved openings.", warm,
)  # fmt: skip
