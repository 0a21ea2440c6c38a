"""The commands `train opening-td` and `evaluate opening-td`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from tengen.cli.options import (
    RunFolder,
    Seed,
    Shared,
    Shown,
    Workers,
    command,
    option,
)
from tengen.cli.printing import progress, remark, show
from tengen.learners.opening_td.settings import TDSettings

app = typer.Typer(no_args_is_help=True)


@command(app, leave=("features",))
def train(
    settings: TDSettings,
    run: RunFolder,
    features: list[str] = option(["ABCDE"], "A and some of BCDE, or `all` sixteen."),
    *,
    work: Shared,
    shown: Shown,
) -> None:
    """Train opening players by temporal differences; several are trained side by side."""
    from tengen.lab.opening_td import TrainJob, train
    from tengen.learners.opening_td import SETS
    from tengen.parallel import map_jobs

    chosen = list(SETS) if features == ["all"] else features
    base = run.out or Path("runs") / "opening-td" / f"{settings.rows}x{settings.rows}"
    jobs = []
    for letters in chosen:
        own = replace(settings, features=letters)
        alone = len(chosen) == 1 and run.out is not None
        folder = base if alone else base / f"{letters}-{own.encoding}"
        own = run.settings(folder, own)
        jobs.append(TrainJob(str(folder), own, run.resume))
    if len(jobs) == 1:
        with progress(
            f"training {jobs[0].settings.name}", jobs[0].settings.games, quiet=shown.quiet
        ) as bar:
            curves = [train(jobs[0], lambda games: bar.advance(games - bar.done))]
    else:
        curves = list(map_jobs(train, jobs, workers=work.workers, ray=work.ray))
    runs: list[dict[str, Any]] = [
        {
            "features": job.settings.features,
            "encoding": job.settings.encoding,
            "games": job.settings.games,
            "folder": job.folder,
            "model": job.model,
            "curve": curve,
        }
        for job, curve in zip(jobs, curves, strict=True)
    ]
    show(runs[0] if len(runs) == 1 else runs, json=shown.json)


@command(app)
def evaluate(
    games: int = option(400, "Games; colours alternate.", min=1),
    opponent: str = option("random", "Who plays the other side of the openings."),
    expert: str = option("builtin", "Who finishes openings: builtin, playouts:N, a player."),
    model: str = option("td-best-9x9", "Whose openings: a model's name or file."),
    random_plies: int | None = option(None, "Random first plies; 2, but 0 against random."),
    out: Path | None = option(None, "Note played parts here; a stopped evaluation goes on."),
    workers: Workers = 1,
    seed: Seed = 0,
    *,
    shown: Shown,
) -> None:
    """Play a model's openings against an opponent and let an expert finish them."""
    from tengen.lab.opening_td import MatchJob, evaluate

    job = MatchJob(model, opponent, expert, games, seed, random_plies)
    value = evaluate(
        job,
        workers=workers,
        log=out,
        report=lambda done, of: remark(f"{done}/{of} parts played", quiet=shown.quiet or of == 1),
    )
    show(value, json=shown.json)
