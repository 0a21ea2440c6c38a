"""The commands `train scoring` and `evaluate scoring`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tengen.cli.options import RunFolder, Shown, Workers, argument, command, flag, option
from tengen.cli.printing import Progress, remark, show
from tengen.learners.scoring.settings import ScorerSettings

if TYPE_CHECKING:
    from tengen.board.counting import Method
    from tengen.learners.scoring.training import Making

app = typer.Typer(no_args_is_help=True)

_MAKER = "mcts:playouts=100,resign=0"
"""Who plays the games that are made."""

_Files = Annotated[list[Path], typer.Argument(help="Files of games with counted results.")]
_Model = Annotated[str, typer.Option("--model", help="Name or file of the scorer.")]
_Maker = Annotated[str, typer.Option("--player", help="Who plays the games that are made.")]


@command(app)
def train(
    settings: ScorerSettings,
    run: RunFolder,
    files: list[Path] = argument("Files of games with counted results.", default=[]),
    made: list[str] | None = option(
        None, "SIZE:GAMES to play and learn from, as 9:300; repeatable."
    ),
    made_only: bool = flag(
        "--made-only", "Only play the games of --made and write them to --out, as SGF files."
    ),
    player: _Maker = _MAKER,
    workers: Workers = 1,
    *,
    shown: Shown,
) -> None:
    """Learn from final scores alone; writes scorer.safetensors into --out (runs/scoring).

    With --made it first plays games of its own and learns from their known dead stones, too.
    """
    from tengen.errors import SpecError
    from tengen.learners.scoring.training import MODEL, train_scorer
    from tengen.records import Corpus

    folder = run.out or Path("runs/scoring")
    making = [_making(text, player) for text in made or []]
    if made_only:
        _make(making, folder, settings.seed, workers, shown)
        return
    if not files:
        raise SpecError("no games to learn from: name files of games with counted results")
    settings = run.settings(folder, settings)
    games = Corpus(files).as_arrays()
    with _counters(shown.quiet) as tell:
        scorer = train_scorer(
            games, settings, folder, making=making, resume=run.resume, workers=workers,
            sources=", ".join(file.name for file in files), tell=tell,
            report=lambda row: remark(_line(row), quiet=shown.quiet),
        )  # fmt: skip
    answer = {
        "games": scorer.games_,
        "made": [{"size": size, "games": games} for size, games in scorer.made_.items()],
        "history": scorer.history_,
        "calibration": scorer.calibration_,
        "model": str(folder / MODEL),
    }
    show(answer, json=shown.json)


def _making(text: str, player: str) -> Making:
    """Read SIZE:GAMES."""
    from tengen.errors import SpecError
    from tengen.learners.scoring.training import Making
    from tengen.players import make_player

    size, _, count = text.partition(":")
    if not (size.isdecimal() and count.isdecimal() and 5 <= int(size) <= 19 and int(count) > 0):
        raise SpecError(f"--made takes SIZE:GAMES with a size from 5 to 19, as 9:300, not {text}")
    make_player(player)  # a wrong spec is told before the first game
    return Making(int(size), int(count), player, partial(make_player, player))


def _make(making: list[Making], folder: Path, seed: int, workers: int, shown: Shown) -> None:
    """Play games to the end, so that their dead stones are known, and write them (TB, TW)."""
    from tengen.learners.scoring.settled_games import make_games, write_games

    written = []
    with _counters(shown.quiet) as tell:
        for each in making:
            board = f"{each.size}x{each.size}"
            path = folder / f"made-{board}.sgf"
            records = make_games(
                each.make, each.name, each.games, each.size, seed, workers=workers,
                tell=partial(_advance, tell, f"{board} games", each.games),
            )  # fmt: skip
            folder.mkdir(parents=True, exist_ok=True)
            write_games(records, path)
            written.append(
                {"file": str(path), "size": each.size, "games": len(records), "played": each.games}
            )
    show(written, json=shown.json)


def _advance(tell: Callable[[str, int, int], None], what: str, of: int, done: int) -> None:
    tell(what, done, of)


def _line(row: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in row.items())


@contextmanager
def _counters(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Show the progress of several things, each by its name."""
    shown: dict[str, Progress] = {}

    def tell(what: str, done: int, of: int) -> None:
        if what not in shown:
            shown[what] = Progress(what, of, quiet=quiet)
        shown[what].advance()
        if done == of:
            shown[what].close()

    try:
        yield tell
    finally:
        for counter in shown.values():
            counter.close()


@command(app)
def evaluate(
    games: _Files,
    count: str = option("careful", "careful (KGS) or plain (OGS: flood fill)."),
    baselines: bool = flag("--baselines", "Measure the simple ways and GNU Go, too."),
    level: list[int] | None = option(None, "Level of GNU Go (10); repeatable.", min=1, max=10),
    seconds: float = option(120.0, "Seconds GNU Go may take for a game.", min=0.1),
    out: Path | None = option(None, "Folder to keep GNU Go's answers in; continues what is there."),
    model: _Model = "scorer",
    *,
    shown: Shown,
) -> None:
    """Compare the scorer's counts with recorded results."""
    import json as encoder

    from tengen.errors import SpecError, TengenError
    from tengen.lab.scoring_baselines import evaluate_all
    from tengen.learners.scoring import BlockScorer
    from tengen.learners.scoring.scored_games import evaluate as evaluate_scorer
    from tengen.learners.scoring.scored_games import read_scored_games
    from tengen.models import write_atomic

    if count not in ("careful", "plain"):
        raise SpecError(f"--count is careful or plain, not {count!r}")
    missing = [str(path) for path in games if not path.exists()]
    if missing:
        raise TengenError(f"{', '.join(missing)}: no such file")
    scorer = BlockScorer.load(model)
    with _counters(shown.quiet) as tell:
        scored = read_scored_games(games)
        method: Method = "careful" if count == "careful" else "plain"
        if baselines:
            kept = None if out is None else out / "gnugo.jsonl"
            answer = evaluate_all(
                scorer, scored, method=method, levels=level or (10,), kept=kept, limit=seconds,
                progress=tell,
            )  # fmt: skip
        else:
            answer = evaluate_scorer(scorer, scored, method=method, progress=tell)
    if out is not None:
        write_atomic(out / "evaluation.json", encoder.dumps(answer))
    show(answer, json=shown.json, title=", ".join(file.name for file in games))
    if baselines and not shown.json:
        show(answer["baselines"], json=False, title="Other scorers")
