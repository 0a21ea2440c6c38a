"""The commands `train move-prediction` and `evaluate move-prediction`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.options import RunOfModel, Seed, Shared, Shown, command, flag, option
from tengen.cli.printing import remark, show
from tengen.learners.move_prediction.settings import PredictionSettings
from tengen.models.defaults import PREDICTOR

if TYPE_CHECKING:
    from tengen.learners.move_prediction.reading import Skipped
    from tengen.records import GameArrays

app = typer.Typer(no_args_is_help=True)

_Games = Annotated[
    list[str], typer.Argument(help="SGF files, folders or archives; - reads standard input.")
]
_Size = Annotated[int, typer.Option("--size", min=2, max=25, help="Board size of the games.")]


@command(app)
def train(
    files: _Games,
    settings: PredictionSettings,
    training: RunOfModel,
    work: Shared,
    shown: Shown,
    size: _Size = 19,
) -> None:
    """Train a predictor on games and write it to a model file."""
    import time

    from tengen.files import refuse_inputs
    from tengen.learners.move_prediction import MovePredictor

    refuse_inputs(training.out, files)
    began = time.monotonic(), time.process_time()
    settings = training.settings(training.folder, settings)
    arrays, skipped = _games(files, size, quiet=shown.quiet)
    predictor = MovePredictor(settings=settings)
    with predictor.open_run(training.folder, arrays, resume=training.resume) as run:
        predictor.fit(
            arrays, run=run, workers=work.workers, ray=work.ray,
            on_report=lambda line: remark(line, quiet=shown.quiet),
        )  # fmt: skip
        number = min(settings.games or len(arrays), len(arrays))
        sources = ", ".join(Path(path).name for path in files)
        predictor.save(training.out, data=f"{number} games of {sources}")
    result = {
        "model": str(training.out),
        "games": number,
        "skipped": skipped.total,
        "features": predictor.model_.features,
        "seconds": time.monotonic() - began[0],
        "processor_seconds": time.process_time() - began[1],
    }
    show(result, json=shown.json)


def _games(paths: list[str], size: int, *, quiet: bool) -> tuple[GameArrays, Skipped]:
    """Read the usable games of one size and report how many were skipped, and why."""
    from tengen.learners.move_prediction.reading import read_games

    games, skipped = read_games(paths, size)
    for line in skipped.lines():
        remark(line, quiet=quiet)
    return games, skipped


@command(app)
def evaluate(
    games: _Games,
    model: str = option(PREDICTOR, "Name or path of a predictor."),
    limit: int | None = option(None, "Only this many games, chosen by the seed.", "--games", min=1),
    size: _Size = 19,
    phases: bool = flag("--phases", "Show accuracy by phase."),
    seed: Seed = 0,
    *,
    shown: Shown,
) -> None:
    """Measure how often a predictor is right about the moves of games."""
    from tengen.learners.move_prediction import MovePredictor

    predictor = MovePredictor.load(model)
    predictor.check_size(size, size)
    arrays, _ = _games(games, size, quiet=shown.quiet)
    if limit is not None:
        arrays = arrays.shuffled(seed).take(range(min(limit, len(arrays))))
    measured = predictor.evaluate(arrays)
    summary = measured.summary()
    title = f"{model} on {', '.join(Path(path).name for path in games)}"
    show(summary, json=shown.json, title=title)
    if phases and not shown.json:
        show(measured.phases(), json=False, title="By phase")
