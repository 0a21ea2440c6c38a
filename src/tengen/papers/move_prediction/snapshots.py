"""The recorded predictors of Table III, which learned from more and more games, trained again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tengen.errors import TengenError
from tengen.lab.evidence import find_evidence
from tengen.models.settings import from_recipe
from tengen.papers.move_prediction import MovePredictor
from tengen.papers.move_prediction.experiments import PredictionTables
from tengen.papers.move_prediction.training import read_games
from tengen.papers.move_prediction.trainings import Training

EXPERIMENT = "move-prediction-trainings"


def snapshots(data: Path, collection: Path | None = None) -> Iterator[tuple[int, MovePredictor]]:
    """Train the recorded predictors again; yield them by their number of games."""
    recorded = find_evidence(data, EXPERIMENT)
    if recorded is None:
        raise TengenError(f"{data / EXPERIMENT}: no rows of a training to repeat")
    size = from_recipe(PredictionTables, recorded.run.settings)
    if collection is None:
        raise TengenError(f"the predictors learned from {size.train}: name the folder it is in")
    games = read_games([str(collection / size.train)], size.board)[0]
    for count in size.sizes:
        each = Training(count, solver=size.solvers[0], seed=recorded.run.seeds[0])
        predictor = MovePredictor(settings=each.settings(size.iterations)).fit(games)
        row = recorded.where(games=count, width=each.width, top=each.top, solver=each.solver)
        model = predictor.model_
        if (len(model.keys), model.features) != (row["patterns"][0], row["features"][0]):
            told = f"with {count} games the training differs from its rows"
            raise TengenError(f"{recorded.folder}: {told}")
        yield count, predictor
