"""The commands of the scorer: learn from final scores, and compare with the paper's network."""

from __future__ import annotations

import json as encoder
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tengen.commands import Learner, RunFolder, Shown, Workers, argument, flag, option
from tengen.errors import SpecError, TengenError
from tengen.files import write_atomic
from tengen.scoring.settings import ScorerSettings

if TYPE_CHECKING:
    from tengen.scoring.training import Making


def train(
    settings: ScorerSettings,
    run: RunFolder,
    files: list[Path] = argument("Files of games with counted results.", default=[]),
    made: list[str] | None = option(
        None, "SIZE:GAMES to play and learn from, as 9:300; repeatable."
    ),
    labelled: list[Path] | None = option(
        None, "File of games that mark territory (TB, TW), to grow all labels from; repeatable."
    ),
    made_only: bool = flag(
        "--made-only", "Only play the games of --made and write them to --out, as SGF files."
    ),
    player: str = option("mcts:playouts=100,resign=0", "Player of the games that are made."),
    workers: Workers = 1,
    *,
    shown: Shown,
) -> None:
    """Learn from final scores alone; writes scorer.safetensors into --out (runs/scoring).

    With --made it first plays games of its own and learns from their known dead stones, too. With
    --labelled the labels of all games grow from a few that are marked instead of from playouts.
    """
    from tengen.records import Corpus
    from tengen.scoring.training import MODEL, train_scorer

    folder = run.out or Path("runs/scoring")
    making = [_making(text, player) for text in made or []]
    if made_only:
        _make(making, folder, settings.seed, workers, shown)
        return
    if not files:
        raise SpecError("no games to learn from: name files of games with counted results")
    settings = run.settings(folder, settings)

    with shown.progress() as step:
        scorer = train_scorer(
            Corpus(files).as_arrays(), settings, folder, making=making,
            labelled=labelled or (), resume=run.resume, workers=workers,
            sources=", ".join(file.name for file in files), tell=step,
            on_round=lambda row: shown.remark(", ".join(f"{k} {v:.4g}" for k, v in row.items())),
        )  # fmt: skip
    sizes = [each.size for each in making]
    played = [{"size": n, "games": games} for n, games in scorer.made_.items() if n in sizes]
    learned = {"history": scorer.history_, "calibration": scorer.calibration_}
    model = str(folder / MODEL)
    shown.result({"games": scorer.games_, "made": played, **learned, "model": model})


def _making(text: str, player: str) -> Making:
    from tengen.players import make_player
    from tengen.scoring.training import Making

    size, _, count = text.partition(":")
    if not (size.isdecimal() and count.isdecimal() and 5 <= int(size) <= 19 and int(count) > 0):
        raise SpecError(f"--made takes SIZE:GAMES with a size from 5 to 19, as 9:300, not {text}")
    make_player(player)  # reject a wrong spec before the first game
    return Making(int(size), int(count), player, partial(make_player, player))


def _make(making: list[Making], folder: Path, seed: int, workers: int, shown: Shown) -> None:
    """Play games to the end, so that the dead stones are known, and write them (TB, TW)."""
    from tengen.scoring.training import make_games, write_games

    written = []
    with shown.progress() as step:
        for each in making:
            path = folder / each.file
            records = make_games(each, seed, workers=workers, tell=step)
            folder.mkdir(parents=True, exist_ok=True)
            write_games(records, path)
            counts = {"games": len(records), "played": each.games}
            written.append({"file": str(path), "size": each.size, **counts})
    shown.result(written)


def evaluate(
    games: list[Path] = argument("Files of games with counted results."),
    count: Literal["careful", "plain"] = option(
        "careful", "careful (KGS), plain (OGS: flood fill)."
    ),
    baselines: bool = flag("--baselines", "Also measure simple scorers and GNU Go."),
    level: list[int] | None = option(None, "Level of GNU Go (10); repeatable.", min=1, max=10),
    seconds: float = option(120.0, "Time limit of GNU Go per game in seconds.", min=0.1),
    out: Path | None = option(None, "Folder for GNU Go's answers; they are used again."),
    model: str = option("scorer", "Name or file of the scorer."),
    *,
    shown: Shown,
) -> None:
    """Compare the scorer's counts with recorded results."""
    from tengen.papers.scoring_failure.others import evaluate_all
    from tengen.scoring import BlockScorer
    from tengen.scoring.game_score import evaluate, read_scored_games

    missing = [str(path) for path in games if not path.exists()]
    if missing:
        raise TengenError(f"{', '.join(missing)}: no such file")
    scorer = BlockScorer.load(model)
    with shown.progress() as step:
        scored = read_scored_games(games)
        if baselines:
            answer = evaluate_all(
                scorer, scored, method=count, levels=level or (10,), limit=seconds, progress=step,
                stored=None if out is None else out / "gnugo.jsonl",
            )  # fmt: skip
        else:
            answer = evaluate(scorer, scored, method=count, progress=step)
    if out is not None:
        write_atomic(out / "evaluation.json", encoder.dumps(answer))
    shown.result(answer, ", ".join(file.name for file in games))
    if baselines and not shown.json:
        shown.result(answer["baselines"], "Other scorers")


def warm() -> list[Any]:
    """Run the kernels once."""
    from tengen.scoring.features import describe
    from tengen.scoring.judgement import judgement_of

    grid = np.array([[0, 1, 2], [1, 1, 2], [0, 1, 2]], np.int8)
    described = describe(grid)
    logits = np.linspace(-1, 1, len(described.bond))
    return [described.features, judgement_of(described, logits).alive]


LEARNER = Learner(
    train, evaluate,
    "Train a scorer of finished games (Burzillo).", "Compare a scorer with recorded results.", warm,
)  # fmt: skip
