"""Train scorers in folders of their own; games made and features described are kept for a resume.

A run's data are its games and who made how many more; a resumed run must have the same. Everything
follows from them and the settings, so that a stopped training ends as an undisturbed one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tengen.contracts import Player
from tengen.errors import SpecError, TengenError
from tengen.learners.scoring.bootstrap import Labelled
from tengen.learners.scoring.bundle import Bundle, gather
from tengen.learners.scoring.learner import KIND, BlockScorer
from tengen.learners.scoring.made import make_games, read_labelled, write_games
from tengen.learners.scoring.settings import ScorerSettings
from tengen.models import Run, fingerprint
from tengen.records import GameArrays

MODEL = "scorer.safetensors"
Tell = Callable[[str, int, int], None]
"""Called with what is counted, how many are done and how many there are."""


@dataclass(frozen=True)
class Making:
    """Finished games to make and to learn from: how many, on what board, by whom."""

    size: int
    games: int
    name: str
    """Who plays, for the records and the card."""
    make: Callable[[], Player]


def train_scorer(
    games: GameArrays,
    settings: ScorerSettings,
    folder: Path,
    *,
    making: Sequence[Making] = (),
    resume: bool = False,
    workers: int = 1,
    sources: str = "",
    report: Callable[[dict[str, Any]], None] = lambda row: None,
    tell: Tell = lambda what, done, of: None,
) -> BlockScorer:
    """Train on games with counted results, and on made ones, and write MODEL into the folder.

    `sources` names the games in the model's card.

    Raises
    ------
    RunError
        If the folder holds another run, or the same one without `resume`.
    TengenError
        If games are too few, or none of those to be made settled.
    """
    data = {"games": fingerprint_scored(games)}
    for each in making:
        if f"made {each.size}x{each.size}" in data:
            raise SpecError(f"games on {each.size}x{each.size} are to be made twice")
        data[f"made {each.size}x{each.size}"] = f"{each.games} games by {each.name}"
    scorer = BlockScorer(settings=settings)
    scorer.folds(games)  # too few games are told before a folder is claimed
    with Run.open(folder, KIND, settings, data=data, resume=resume) as run:
        lessons = [_made(each, folder, settings.seed, workers, tell) for each in making]
        bundle = described(games, folder / "features.npz", tell)
        rows = 0

        def note(row: dict[str, Any]) -> None:
            nonlocal rows
            rows += 1
            run.note(rows, **row)
            report(row)

        scorer.fit(games, bundle, made=lessons, report=note)
        words = f"{len(bundle)} games of {sources or 'a collection'}; only their final scores "
        words += "were used"
        for each, lesson in zip(making, lessons, strict=True):
            words += f"; {len(lesson.bundle)} games on {each.size}x{each.size} made by {each.name}"
            words += ", played out"
        scorer.save(folder / MODEL, data=words)
    return scorer


def fingerprint_scored(games: GameArrays) -> str:
    """Return what stands for the moves and results of games."""
    return fingerprint(games.moves, games.colours, games.offsets, games.komi, games.score)


def described(games: GameArrays, kept: Path, tell: Tell = lambda what, done, of: None) -> Bundle:
    """Return the features of games from a file, describing the games first if it is not there."""
    if not kept.is_file():
        gather(games, tell=lambda done: tell("features", done, len(games))).save(kept)
    return Bundle.load(kept)


def _made(each: Making, folder: Path, seed: int, workers: int, tell: Tell) -> Labelled:
    """Return labelled positions of made games, which are kept in the folder."""
    path = folder / f"made-{each.size}x{each.size}.sgf"
    if not path.is_file():
        what = f"{each.size}x{each.size} games"
        records = make_games(
            each.make, each.name, each.games, each.size, seed, workers=workers,
            tell=lambda done: tell(what, done, each.games),
        )  # fmt: skip
        if not records:
            raise TengenError(f"none of {each.games} {what} settled: make more")
        write_games(records, path)
    return read_labelled([path])[0]
