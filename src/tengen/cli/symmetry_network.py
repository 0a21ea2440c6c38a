"""The commands `train symmetry-network` and `evaluate symmetry-network`."""

from __future__ import annotations

from pathlib import Path

import typer

from tengen.cli.options import RunFolder, Seed, Shown, Workers, command, option
from tengen.cli.printing import progress, remark, show
from tengen.learners.symmetry_network.settings import SymmetrySettings

app = typer.Typer(no_args_is_help=True)


@command(app)
def train(
    settings: SymmetrySettings,
    training: RunFolder,
    workers: Workers = 1,
    *,
    shown: Shown,
) -> None:
    """Learn by self-play with TD(lambda); stops and resumes exactly."""
    from tengen.learners.symmetry_network import SymmetryNetwork
    from tengen.learners.symmetry_network.training import SelfPlayReport, open_run

    folder = training.out or Path("runs/symmetry-network")
    settings = training.settings(folder, settings)
    reports: list[SelfPlayReport] = []
    with (
        open_run(folder, settings, resume=training.resume) as run,
        progress("self-play", settings.games, quiet=shown.quiet) as bar,
    ):

        def watch(report: SelfPlayReport) -> None:
            reports.append(report)
            bar.advance(report.games - bar.done, f"error {report.error:.4f}")

        learner = SymmetryNetwork(settings=settings, workers=workers).fit(run=run, watch=watch)
        path = run.folder / "model.safetensors"
        learner.save(path)
    value = {
        "model": str(path),
        "games": learner.games_,
        "seconds": sum(report.seconds for report in reports),
        "error": reports[-1].error if reports else None,
    }
    show(value, json=shown.json)


@command(app)
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
    from tengen.learners.symmetry_network.learner import SIMPLE, SymmetryNetwork, play_games
    from tengen.statistics import Rate

    ours = SymmetryNetwork.load(model)
    theirs = opponent if opponent in SIMPLE else SymmetryNetwork.load(opponent)
    remark(f"{games} games on {size}x{size}", quiet=shown.quiet)
    scores, plies = play_games(
        *(ours, theirs), games=games, size=size, komi=komi, beta=beta, seed=seed, openings=0,
        workers=workers,
    )  # fmt: skip
    result = Rate.of(scores)
    low, high = result.interval
    value = {
        "model": model,
        "opponent": opponent,
        "games": games,
        "size": size,
        "komi": komi,
        "beta": beta,
        "win_rate": result.win_rate,
        "interval": [low, high],
        "mean_score": result.mean_score,
        "mean_plies": float(plies.mean()),
    }
    show(value, json=shown.json)
