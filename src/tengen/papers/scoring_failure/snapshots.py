"""States of the paper's classifier as written, from repeating its recorded training."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose
from pathlib import Path

from tengen.errors import TengenError
from tengen.lab.evidence import find_evidence
from tengen.models.settings import from_recipe
from tengen.papers.scoring_failure.classifier import ScoreClassifier
from tengen.papers.scoring_failure.experiments import FailureSize, learning_games
from tengen.papers.scoring_failure.games import paper_games
from tengen.papers.scoring_failure.settings import ClassifierSettings

EXPERIMENT, VERSION = "scoring-failure-curves", "rpnc"
AFTER = (1, 2, 5, 10, 15, 20, 30, 50, 70, 100)
"""Steps after which there is a snapshot."""


def snapshots(data: Path, collection: Path | None = None) -> Iterator[tuple[int, ScoreClassifier]]:
    """Train the first recorded classifier again; yield its states by the number of steps."""
    recorded = find_evidence(data, EXPERIMENT)
    if recorded is None:
        raise TengenError(f"{data / EXPERIMENT}: no rows of a training to repeat")
    size = from_recipe(FailureSize, recorded.run.settings)
    if collection is None:
        raise TengenError(f"the classifiers learned from {size.train}: name the folder it is in")
    seed, count = recorded.run.seeds[0], size.games[0]
    games = paper_games(learning_games(collection / size.train, count, size.test_games, seed))
    errors = recorded.where(version=VERSION, seed=seed, games=count)["error"]
    for steps in AFTER:
        settings = ClassifierSettings(classifier=VERSION, steps=steps, seed=seed)
        classifier = ScoreClassifier(settings=settings).fit(games)
        for step, error in enumerate(classifier.trained_.curve):
            if not isclose(error, float(errors[step]), rel_tol=1e-6):
                told = f"after {step} steps the training differs from its rows"
                raise TengenError(f"{recorded.folder}: {told}")
        yield steps, classifier
