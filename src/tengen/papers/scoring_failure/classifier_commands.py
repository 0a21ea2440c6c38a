"""The commands of the paper's program: generate features, train, test, predict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tengen.commands import Learner, RunFolder, Shown, argument, flag, option
from tengen.errors import TengenError
from tengen.papers.scoring_failure.settings import ClassifierSettings

if TYPE_CHECKING:
    from tengen.papers.scoring_failure.games import PaperGames

KIND = "scoring-classifier"
MODEL, FEATURES = "classifier.safetensors", "features.npz"


def train(
    settings: ClassifierSettings,
    run: RunFolder,
    files: list[Path] = argument("Files of games with counted results."),
    generate: bool = flag("--generate-only", "Only describe the games: writes features.npz."),
    *,
    shown: Shown,
) -> None:
    """Learn from final scores and the paper's 46 features which blocks are dead.

    Writes features.npz, which a later training in the folder reads again, and
    classifier.safetensors into --out (runs/scoring-classifier).
    """
    from tengen.models import Run, fingerprint
    from tengen.papers.scoring_failure.classifier import ScoreClassifier
    from tengen.papers.scoring_failure.network import VERSIONS, measure

    folder = run.out or Path("runs") / KIND
    settings = run.settings(folder, settings)
    missing = [str(path) for path in files if not path.exists()]
    if missing:
        raise TengenError(f"{', '.join(missing)}: no such file")
    version = VERSIONS[settings.classifier]
    if generate:
        games = _described(files, folder, version.checked, shown)
        shown.result({"games": len(games), "blocks": len(games.x), "features": _features(folder)})
        return
    data = {"games": fingerprint(*sorted(str(path) for path in files))}
    with Run.open(folder, KIND, settings, data=data, resume=run.resume):
        games = _described(files, folder, version.checked, shown)
        classifier = ScoreClassifier(settings=settings).fit(games)
        names = ", ".join(path.name for path in files)
        classifier.save(folder / MODEL, name=KIND, data=f"final scores of {names}")
    rates = _rates(measure(classifier.trained_, games))
    shown.result({**rates, "model": str(folder / MODEL)})


def evaluate(
    files: list[Path] = argument("Files of games with counted results."),
    model: Path = option(Path("runs") / KIND / MODEL, "File of the classifier."),
    predictions: bool = flag("--predictions", "Print every game's predicted score instead."),
    *,
    shown: Shown,
) -> None:
    """Test one of the paper's classifiers on games, or predict the score of every game."""
    from tengen.papers.scoring_failure.classifier import ScoreClassifier
    from tengen.papers.scoring_failure.network import measure

    missing = [str(path) for path in files if not path.exists()]
    if missing:
        raise TengenError(f"{', '.join(missing)}: no such file")
    trained = ScoreClassifier.load(model).trained_
    games = _describe(files, False, shown)
    if not predictions:
        shown.result(_rates(measure(trained, games)), ", ".join(path.name for path in files))
        return
    from tengen.papers.scoring_failure.network import counts

    scores, dead = trained.predict(games)
    margins = counts(games, dead)
    shown.result([
        {"game": number, "predicted": -float(score), "counted": float(count - offset),
         "recorded": -float(recorded)}
        for number, (score, count, offset, recorded) in enumerate(
            zip(scores, margins, games.offset, games.score, strict=True), 1
        )
    ])  # fmt: skip


def _rates(found: dict[str, Any]) -> dict[str, Any]:
    """Return a measurement as shares of the games; errors are in points."""
    games = found["tested"]
    shares = {name: found[name] / games for name in ("exact", "counted", "winner")}
    return {"games": games, **shares, "error": found["error"], "largest": found["largest"]}


def _features(folder: Path) -> str:
    return str(folder / FEATURES)


def _described(files: list[Path], folder: Path, checked: bool, shown: Shown) -> PaperGames:
    """Return the games described, from the file in the folder if it is there."""
    from tengen.papers.scoring_failure.games import PaperGames

    path = Path(_features(folder))
    if path.is_file():
        games = PaperGames.load(path)
        if games.source == _source(files, checked):
            return games
    folder.mkdir(parents=True, exist_ok=True)
    games = _describe(files, checked, shown)
    games.save(path)
    return games


def _source(files: list[Path], checked: bool) -> str:
    return f"{' '.join(str(path.resolve()) for path in files)}{' checked' if checked else ''}"


def _describe(files: list[Path], checked: bool, shown: Shown) -> PaperGames:
    from tengen.papers.scoring_failure.games import paper_games
    from tengen.records import Corpus
    from tengen.scoring import BlockScorer

    games = Corpus(files).as_arrays()
    games = games.where(np.isfinite(games.score))
    if not len(games):
        raise TengenError(f"{', '.join(map(str, files))}: no games with a counted result")
    scorer = BlockScorer.load("scorer") if checked else None
    with shown.progress() as step:
        found = paper_games(games, scorer, lambda n: step("features", n, len(games)))
    found.source = _source(files, checked)
    return found


LEARNER = Learner(
    train, evaluate,
    "Train the classifiers of Burzillo's paper.", "Test them, or predict scores.",
)  # fmt: skip
