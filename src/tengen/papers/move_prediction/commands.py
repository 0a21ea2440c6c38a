"""The commands of the move predictor."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from tengen.commands import Learner, Records, RunOfModel, Seed, Shown, WorkOptions, option
from tengen.files import refuse_inputs
from tengen.models.registry import PREDICTOR
from tengen.papers.move_prediction.settings import PredictionSettings

if TYPE_CHECKING:
    from tengen.records import GameArrays


_Size = Annotated[int, typer.Option("--size", min=2, max=25, help="Board size of the games.")]


def train(
    files: Records,
    settings: PredictionSettings,
    training: RunOfModel,
    work: WorkOptions,
    shown: Shown,
    size: _Size = 19,
) -> None:
    """Train a predictor on games and write it to a model file."""
    from tengen.papers.move_prediction import MovePredictor

    refuse_inputs(training.out, files)
    began = time.monotonic(), time.process_time()
    settings = training.settings(training.folder, settings)
    arrays, skipped = _games(files, size, shown)
    predictor = MovePredictor(settings=settings)
    with predictor.open_run(training.folder, arrays, resume=training.resume) as run:
        predictor.fit(arrays, run=run, on_line=shown.remark, **vars(work))
        number = min(settings.games or len(arrays), len(arrays))
        sources = ", ".join(Path(path).name for path in files)
        predictor.save(training.out, data=f"{number} games of {sources}")
    seconds = time.monotonic() - began[0], time.process_time() - began[1]
    result = {"model": str(training.out), "games": number, "skipped": skipped}
    result |= {"features": predictor.model_.features, "seconds": seconds[0]}
    shown.result({**result, "processor_seconds": seconds[1]})


def _games(paths: list[str], size: int, shown: Shown) -> tuple[GameArrays, int]:
    """Read the usable games of one size; report and return how many were skipped."""
    from tengen.papers.move_prediction.training import read_games

    games, skipped = read_games(paths, size)
    for reason, count in skipped.items():
        shown.remark(f"skipped: {count} {reason}")
    return games, skipped.total()


def evaluate(
    games: Records,
    model: str = option(PREDICTOR, "Name or path of a predictor."),
    limit: int | None = option(None, "Only this many games, chosen by the seed.", "--games", min=1),
    size: _Size = 19,
    seed: Seed = 0,
    *,
    shown: Shown,
) -> None:
    """Measure how often a predictor is right about the moves of games."""
    from tengen.papers.move_prediction import MovePredictor

    predictor = MovePredictor.load(model)
    predictor.check_size(size, size)
    arrays, _ = _games(games, size, shown)
    if limit is not None:
        arrays = arrays.shuffled(seed).take(range(min(limit, len(arrays))))
    measured = predictor.evaluate(arrays)
    shown.result(measured.summary(), f"{model} on {', '.join(Path(path).name for path in games)}")


def warm() -> list[Any]:
    """Run the kernels once."""
    from tengen.board import Board, play_random
    from tengen.papers.move_prediction.learner import MovePredictor
    from tengen.papers.move_prediction.settings import PredictionSettings
    from tengen.records.arrays import from_records
    from tengen.records.corpus import replay_all
    from tengen.records.record import GameRecord

    boards = [play_random(Board(5), 12, np.random.default_rng(seed)) for seed in range(2)]
    games = from_records([GameRecord(5, 5, moves=board.moves) for board in boards])
    predictor = MovePredictor(settings=PredictionSettings(minimum=1, top=2)).fit(games)
    priors = predictor.priors(Board(5, moves="B C3 W C2 B B2 W D3"))
    return [replay_all(games), predictor.evaluate(games).loss, priors]


LEARNER = Learner(
    train, evaluate,
    "Train a move predictor (Araki 2007).", "Measure a move predictor on games.", warm,
)  # fmt: skip
