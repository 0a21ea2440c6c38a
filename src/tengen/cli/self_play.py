"""The commands `train self-play` and `evaluate self-play`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from tengen.cli.options import Resumable, Seed, Shared, Shown, argument, command, flag, option
from tengen.cli.printing import emit, progress, remark, show, table
from tengen.errors import SpecError
from tengen.learners.self_play.settings import SelfPlaySettings

app = typer.Typer(no_args_is_help=True)

_PARTS = ("moves", "winner", "ownership")
"""Parts of the loss to show."""
_REPORT_SECONDS = 10.0


@command(app)
def train(
    settings: SelfPlaySettings,
    lesson: Resumable,
    out: Path = option(..., "Folder of the run."),
    start: str | None = option(None, "Begin with this network, not from nothing."),
    device: str = option("auto", "cpu, cuda or auto."),
    record: int | None = option(
        None,
        "Only play this many rounds with --start and write the games as shards to --out.",
        min=1,
    ),
    *,
    work: Shared,
    shown: Shown,
) -> None:
    """Play and learn; the network is model.safetensors in the folder of the run."""
    if record is not None:
        if start is None:
            raise SpecError("--record needs --start, the network that plays")
        _record(settings, out, start, record, device, shown)
        return
    from tengen.learners.network import DeepNetwork
    from tengen.learners.self_play import training
    from tengen.models import Run

    settings = lesson.settings(out, settings)
    first = None if start is None else DeepNetwork.load(start)
    alone = work.workers == 1 and work.ray is None
    training.check(settings, device=device, start=first, alone=alone)
    data = {} if start is None else {"start": Path(start).stem}
    with Run.open(out, training.LEARNER, settings, data=data, resume=lesson.resume) as run:
        network = training.train(
            settings, run, device=device, start=first, workers=work.workers, ray=work.ray,
            on_report=_Remarks(shown.quiet),
        )  # fmt: skip
        rows = run.rows()
    model, games = out / training.MODEL, rows[-1]["games"] if rows else 0
    result = {"model": str(model), "games": games, "free_parameters": network.free_parameters}
    show(result, json=shown.json)


def _record(
    settings: SelfPlaySettings, out: Path, model: str, rounds: int, device: str, shown: Shown
) -> None:
    """Play games with one network and write them as shards."""
    from tengen.learners.network import DeepNetwork
    from tengen.learners.network.fitting import chosen_device

    place = chosen_device(device)  # says how to get PyTorch, before anything needs it
    from tengen.learners.self_play.recording import record_games

    network = DeepNetwork.load(model)
    games = settings.games * rounds * len(settings.size)
    with progress("games", games, quiet=shown.quiet) as bar:
        made = record_games(
            network, settings, out, rounds=rounds, device=place, on_games=bar.advance
        )
    result = {
        "shards": [str(path) for path in made.files],
        "games": made.games,
        "positions": made.positions,
        "cut": made.passed_over,
    }
    show(result, json=shown.json, title=f"Shards in {out}")


@command(app)
def evaluate(
    run: Path = argument("Folder of the run."),
    size: int | None = option(None, "The run's first size by default.", min=5, max=19),
    snapshots: int = option(6, "Number of snapshots that play.", min=2),
    games: int = option(20, "Games per pair.", min=2),
    visits: int = option(1, "Visits per move; 1: no search.", min=1),
    anchor: list[str] | None = option(
        None, "Other players or rungs of the ladder that play, too; maxlib, static."
    ),
    history: bool = flag("--history", "Show only how the run went so far; also while it runs."),
    rows: int = option(20, "With --history: rows to show.", min=1),
    *,
    work: Shared,
    seed: Seed = 0,
    shown: Shown,
) -> None:
    """Play the snapshots of a run against each other: Elo by minutes, games and positions."""
    from tengen.arena.display import LiveTable
    from tengen.arena.snapshots import ANCHORS, RESULTS, plan_snapshots, rate_snapshots

    if history:
        _show_history(run, rows, json=shown.json)
        return
    plan = plan_snapshots(
        run, size=size, snapshots=snapshots, games=games, visits=visits, seed=seed,
        anchors=ANCHORS if anchor is None else anchor,
    )  # fmt: skip
    names = [entrant.name for entrant in plan.tournament.entrants]
    with LiveTable(names, [], quiet=shown.quiet) as listener:
        steps = rate_snapshots(
            plan, run / RESULTS, workers=work.workers, ray=work.ray, listener=listener
        )
    show([step.value() for step in steps], json=shown.json, title=str(run))


def _show_history(run: Path, rows: int, *, json: bool) -> None:
    """Print the reports of a run."""
    from tengen.learners.self_play.training import history

    found = history(run)
    if json:
        emit(found, json=True)
        return
    step = max(1, -(-len(found) // rows))
    table(
        str(run),
        ["minutes", "games", "positions", "moves", "winner", "owners", "Black wins", "length"],
        [_shown(row) for row in found[::-step][::-1]],
    )


class _Remarks:
    """Print a report now and then."""

    def __init__(self, quiet: bool) -> None:
        self.quiet, self.last = quiet, -_REPORT_SECONDS

    def __call__(self, row: dict[str, Any]) -> None:
        if row["seconds"] - self.last >= _REPORT_SECONDS or row["progress"] >= 1:
            self.last = row["seconds"]
            remark(_line(row), quiet=self.quiet)


def _line(row: dict[str, Any]) -> str:
    """Write one report for people."""
    loss = "".join(f"{name} {value:.3f}, " for name, value in row["loss"].items())
    return (
        f"{row['progress']:.1%}: {row['games']} games ({row['games_per_second']:.1f}/s), "
        f"{row['evaluations_per_second']:.0f} evaluations/s, {loss}{row['left']:.0f} s left"
    )


def _shown(row: dict[str, Any]) -> list[str]:
    losses = [f"{row['loss'][n]:.3f}" if n in row["loss"] else "" for n in _PARTS]
    ended = [f"{row['black_wins']:.0%}", f"{row['length']:.0f}"] if "length" in row else ["", ""]
    counts = [f"{row['seconds'] / 60:.1f}", str(row["games"]), str(row["positions"])]
    return [*counts, *losses, *ended]
