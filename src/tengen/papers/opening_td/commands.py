"""The commands of the opening players that learn by temporal differences."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from tengen.commands import Learner, RunFolder, Seed, Shown, Workers, WorkOptions, option
from tengen.papers.opening_td.settings import TDSettings


def train(
    settings: TDSettings,
    run: RunFolder,
    features: list[str] = option(["ABCDE"], "A and some of BCDE, or `all` sixteen."),
    *,
    work: WorkOptions,
    shown: Shown,
) -> None:
    """Train opening players by temporal differences; several are trained in parallel."""
    from tengen.papers.opening_td.settings import SETS
    from tengen.papers.opening_td.training import TrainJob, train
    from tengen.parallel import map_jobs

    chosen = list(SETS) if features == ["all"] else features
    base = run.out or Path("runs") / "opening-td" / f"{settings.rows}x{settings.rows}"
    jobs = []
    alone = len(chosen) == 1 and run.out is not None
    for letters in chosen:
        folder = base if alone else base / f"{letters}-{settings.encoding}"
        own = run.settings(folder, replace(settings, features=letters))
        jobs.append(TrainJob(str(folder), own, run.resume))
    if len(jobs) == 1:
        name, total = f"training {jobs[0].settings.name}", jobs[0].settings.games
        with shown.progress() as bar:
            curves = [train(jobs[0], lambda games: bar(name, games, total))]
    else:
        curves = list(map_jobs(train, jobs, **vars(work)))
    runs: list[dict[str, Any]] = []
    for job, curve in zip(jobs, curves, strict=True):
        run_of = {name: getattr(job.settings, name) for name in ("features", "encoding", "games")}
        runs.append({**run_of, "folder": job.folder, "model": job.model, "curve": curve})
    shown.result(runs[0] if len(runs) == 1 else runs)


def evaluate(
    games: int = option(400, "Games; colours alternate.", min=1),
    opponent: str = option("random", "Plays the other side of the openings."),
    expert: str = option("builtin", "Finishes the openings: builtin, playouts:N, a player."),
    model: str = option("td-best-9x9", "Name or file of the model."),
    random_plies: int | None = option(None, "Random first plies; 2, but 0 against random."),
    out: Path | None = option(None, "File of finished parts; a stopped evaluation continues."),
    workers: Workers = 1,
    seed: Seed = 0,
    *,
    shown: Shown,
) -> None:
    """Play a model's openings against an opponent; an expert finishes the games."""
    from tengen.papers.opening_td.training import MatchJob, evaluate

    job = MatchJob(model, opponent, expert, games, seed, random_plies)
    with shown.progress() as bar:
        shown.result(evaluate(job, workers=workers, log=out, on_step=partial(bar, "parts")))


def warm() -> list[Any]:
    """Run the kernels once."""
    from tengen.board import Board
    from tengen.papers.opening_td.learner import OpeningTD, dense_inputs, play_match
    from tengen.papers.opening_td.settings import TDSettings

    settings = TDSettings(rows=5, plies=4, games=2, hidden=3)
    expert: Any = SimpleNamespace(finish=lambda boards, seeds: np.zeros(len(boards)))
    learner = OpeningTD(settings=settings).fit(expert)
    board, scores = Board(5), play_match(learner, "random", expert, games=2, seed=1).scores
    inputs = dense_inputs(board, settings, friend=1, komi=5.5)
    return [scores, int(learner.best_move(board)), learner.values([board]), inputs]


LEARNER = Learner(
    train, evaluate,
    "Train opening players by TD (Huang 2003).", "Play a model's openings against a player.", warm,
)  # fmt: skip
