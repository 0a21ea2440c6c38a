"""The commands of the symmetry network."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tengen.commands import Learner, RunFolder, Seed, Shown, Workers, option
from tengen.papers.symmetry_network.settings import SymmetrySettings


def train(
    settings: SymmetrySettings, training: RunFolder, workers: Workers = 1, *, shown: Shown
) -> None:
    """Learn by self-play with TD(lambda); a stopped run resumes exactly."""
    from tengen.models import Run
    from tengen.papers.symmetry_network import SymmetryNetwork

    folder = training.out or Path("runs/symmetry-network")
    settings = training.settings(folder, settings)
    begin, error, kind = time.perf_counter(), None, SymmetryNetwork.kind
    with Run.open(folder, kind, settings, resume=training.resume) as run, shown.progress() as bar:

        def watch(games: int, means: dict[str, float]) -> None:
            nonlocal error
            error = means["error"]
            bar("self-play", games, settings.games, f"error {error:.4f}")

        learner = SymmetryNetwork(settings=settings, workers=workers).fit(run=run, watch=watch)
        path = run.folder / "model.safetensors"
        learner.save(path)
    value = {"model": str(path), "games": learner.games_}
    shown.result({**value, "seconds": time.perf_counter() - begin, "error": error})


def evaluate(
    model: str = option("isn-9x9", "A shipped name or a path."),
    opponent: str = option("random", "random, maxlib, or another symmetry network."),
    games: int = option(400, "Games; colours alternate.", min=1),
    size: int = option(9, "Lines of the board.", min=3, max=25),
    komi: float = option(3.5, "White's compensation in points."),
    beta: float = option(20.0, "Moves are drawn by exp(beta value).", min=0),
    seed: Seed = 0,
    workers: Workers = 1,
    *,
    shown: Shown,
) -> None:
    """Play a network against a simple player or another network, moves drawn with `--beta`."""
    from tengen.papers.symmetry_network.learner import SIMPLE, SymmetryNetwork, play_games
    from tengen.statistics import Rate

    ours = SymmetryNetwork.load(model)
    theirs = opponent if opponent in SIMPLE else SymmetryNetwork.load(opponent)
    shown.remark(f"{games} games on {size}x{size}")
    terms: dict[str, Any] = {"games": games, "size": size, "komi": komi, "beta": beta}
    scores, plies = play_games(ours, theirs, **terms, seed=seed, openings=0, workers=workers)
    who = {"model": model, "opponent": opponent, **terms}
    shown.result({**who, **asdict(Rate.of(scores)), "mean_plies": float(plies.mean())})


def warm() -> list[Any]:
    """Run the kernels once."""
    from tengen.board import Board
    from tengen.papers.symmetry_network.learner import SymmetryNetwork, play_games
    from tengen.papers.symmetry_network.settings import SymmetrySettings

    settings = SymmetrySettings(games=4, linear_games=2, batch=2, size=5)
    network = SymmetryNetwork(settings=settings).fit()
    values = network.values([Board(5)]), network.move_values(Board(5))
    return [network.free_, *values, *play_games(network, "random", games=1, size=5)]


LEARNER = Learner(
    train, evaluate,
    "Train a symmetry network (Blair 2008).", "Play a network against a player.", warm,
)  # fmt: skip
