"""Train a scorer in a run folder, which also keeps the self-made games and the features.

A resumed run must have the same games and settings; it ends with the same model as an uninterrupted
one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tengen.contracts import Player
from tengen.errors import SpecError, TengenError
from tengen.learners.scoring.features import BlockTable, describe_games
from tengen.learners.scoring.learner import BlockScorer
from tengen.learners.scoring.self_labelling import LabelledBlocks
from tengen.learners.scoring.settings import ScorerSettings
from tengen.learners.scoring.settled_games import make_games, read_labelled, write_games
from tengen.models import Run, fingerprint
from tengen.records import GameArrays

MODEL = "scorer.safetensors"
Tell = Callable[[str, int, int], None]
"""Called with a label, the number done and the total."""


@dataclass(frozen=True)
class Making:
    """Finished games to make and to learn from."""

    size: int
    games: int
    name: str
    """The player, for the records and the card."""
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
    """Train on games with counted results and on self-made ones; write MODEL into the folder.

    `sources` describes the games in the model's card.

    Raises
    ------
    RunError
        If the folder holds another run, or the same one without `resume`.
    TengenError
        If there are too few games, or no self-made game settled.
    """
    data = {"games": fingerprint_scored(games)}
    for each in making:
        if f"made {each.size}x{each.size}" in data:
            raise SpecError(f"games on {each.size}x{each.size} are to be made twice")
        data[f"made {each.size}x{each.size}"] = f"{each.games} games by {each.name}"
    scorer = BlockScorer(settings=settings)
    scorer.folds(games)  # rejects too few games before the folder is created
    with Run.open(folder, BlockScorer.kind, settings, data=data, resume=resume) as run:
        lessons = [_made(each, folder, settings.seed, workers, tell) for each in making]
        table = described(games, folder / "features.npz", tell)
        rows = 0

        def note(row: dict[str, Any]) -> None:
            nonlocal rows
            rows += 1
            run.note(rows, **row)
            report(row)

        scorer.fit(games, table, made=lessons, report=note)
        words = f"{len(table)} games of {sources or 'a collection'}; only their final scores "
        words += "were used"
        for each, lesson in zip(making, lessons, strict=True):
            words += f"; {len(lesson.table)} games on {each.size}x{each.size} made by {each.name}"
            words += ", played out"
        scorer.save(folder / MODEL, data=words)
    return scorer


def fingerprint_scored(games: GameArrays) -> str:
    """Return a fingerprint of the moves and results of games."""
    return fingerprint(games.moves, games.colours, games.offsets, games.komi, games.score)


def described(
    games: GameArrays, kept: Path, tell: Tell = lambda what, done, of: None
) -> BlockTable:
    """Load the features of games from a file; compute and save them first if it is missing."""
    if not kept.is_file():
        describe_games(games, progress=lambda done: tell("features", done, len(games))).save(kept)
    return BlockTable.load(kept)


def _made(each: Making, folder: Path, seed: int, workers: int, tell: Tell) -> LabelledBlocks:
    """Return labelled positions of self-made games, which are saved in the folder."""
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
