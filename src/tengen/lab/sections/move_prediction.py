"""Move prediction (Araki 2007): the paper's tables, the recipe beyond them, a match against GNU Go.

One function an experiment, with sizes: small on games of our own, or at the paper's scale on the
games of a corpus. The rows are measured in `lab.move_prediction`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tengen.errors import SpecError, TengenError
from tengen.lab import papers
from tengen.lab.content import Result, percent, table
from tengen.lab.prediction_tables import (
    FULL,
    QUICK,
    RANKS,
    Row,
    Size,
    Tables,
    card_rows,
    cell,
    cells,
    directions,
    growth,
    measure_tables,
    rule,
    shown,
)
from tengen.lab.steps import Context, Experiment
from tengen.lab.verdicts import compare
from tengen.models.settings import CheckedSettings, setting

if TYPE_CHECKING:
    from tengen.records.arrays import GameArrays

_TRAIN, _TEST = "tom9d-train.sgf", "tom9d-dev.sgf"
_STRONG = ("kgs6d-train.sgf", "tom9d-train.sgf")
_STRONG_TESTS = ("kgs6d-dev.sgf", "tom9d-dev.sgf")


# ----- Tables I to IV -----


def tables(context: Context, size: Size) -> Result:
    """Repeat Tables I to IV and draw what was learned; every row is kept as soon as it is there."""
    from tengen.lab.prediction_pictures import opinions, telling_patterns
    from tengen.learners.move_prediction import PaperSettings

    if size.made:
        tell = context.between(0, 0.2, "game")
        train = sample_games(size.made, size.board, context.seed, tell)
        test = sample_games(size.test_games, size.board, context.seed + 1)
    else:
        train, test = (_read(context, (name,), size.board) for name in (_TRAIN, _TEST))
    settings = PaperSettings(games=size.games, seed=context.seed)
    found = measure_tables(context, size, train, test, settings)
    context.at(0.9, "patterns")
    return Result(
        text=_about(size, found),
        tables=shown(found),
        figures=[
            growth(found["sizes"]),
            *telling_patterns(train, settings, size.patterns),
            *opinions(),
        ],
        comparisons=[
            *(directions(found) if size.made else cells(found)),
            *rule(found["reranked"]),
            *(card_rows() if size.made else []),
        ],
    )


def sample_games(
    games: int, size: int, seed: int, tell: Callable[[int, int], None] = lambda done, of: None
) -> GameArrays:
    """Return games of the rule player against itself from random openings, as arrays."""
    from tengen.board import Board, play_random, play_to_end
    from tengen.players import make_player
    from tengen.records import GameRecord
    from tengen.records.arrays import from_records

    player = make_player("static")
    rng = np.random.default_rng(seed)
    records = []
    for number in range(games):
        board = play_random(Board(size), 4, rng)
        play_to_end(board, lambda b: player.choose(b, rng), limit=2 * size * size - 4)
        records.append(GameRecord(rows=size, cols=size, moves=list(board.moves), komi=board.komi))
        tell(number + 1, games)
    return from_records(records)


def _read(context: Context, names: Sequence[str], size: int) -> GameArrays:
    """Read the usable games of one board size from collections of the corpus."""
    from tengen.learners.move_prediction.reading import read_games

    return read_games([str(context.games(name)) for name in names], size)[0]


def _about(size: Size, found: Tables) -> str:
    if not size.made:
        return f"Training and test games: {_TRAIN}, {_TEST} (the paper: GoGoD)."
    return (
        f"The paper's recipe learns from {size.made} games of our rule player against "
        f"itself on {size.board}x{size.board} and foresees the moves of {size.test_games} others "
        f"({found['sizes'][-1]['positions']} positions). The rule player is no expert and easier "
        "to foresee in some places, so these rates are not the paper's; how they move with W, n "
        "and the number of games can be compared. The small boards below are the patterns that "
        "tell most: the red point is the move, black stones are those of whoever moves."
    )


# ----- Beyond the paper -----


@dataclass(frozen=True)
class StrongSize:
    """How much of the experts' games the full recipe learns from."""

    games: int = 16_000
    share: float = 0.3
    board: int = 19


def strong(context: Context, size: StrongSize) -> Result:
    """Train the full recipe and measure it on all experts' games kept for that."""
    from tengen.learners.move_prediction import FullSettings, MovePredictor

    folder = context.place("move-prediction")
    path = folder / "predictor.safetensors"
    if not path.is_file():
        games = _read(context, _STRONG, size.board)
        settings = FullSettings(games=size.games, share=size.share, seed=context.seed)
        learner = MovePredictor(settings=settings)
        with learner.open_run(folder / "training", games, resume=True) as run:
            learner.fit(
                games, run=run, workers=context.workers,
                on_report=lambda report: context.at(0.5, str(report)[:60]),
            )  # fmt: skip
        learner.save(path, data=f"{size.games} games of {', '.join(_STRONG)}")
    predictor = MovePredictor.load(path)
    rows, comparisons = [], []
    for number, name in enumerate(_STRONG_TESTS):
        context.at(0.8 + 0.1 * number, name)
        got: Row = context.once(
            f"move-prediction/strong-{number}",
            lambda name=name: predictor.evaluate(_read(context, (name,), size.board)).summary(),  # type: ignore[misc]
        )
        rows.append(
            [name, got["positions"], percent(got["top1"], got["interval"]),
             *(percent(got[f"top{rank}"]) for rank in RANKS[1:])]
        )  # fmt: skip
        for rank, figure in zip(RANKS, papers.MP_SIZES[20000], strict=True):
            why = "Beyond the paper: softmax, more features, vectors."
            what = f"full recipe on {name}, rank {rank}"
            comparisons.append(cell("Table IV", what, figure, got, rank, why))
    others = ", ".join(f"{who} {percent(rate)}" for who, rate in papers.MP_OTHERS.items())
    columns = ["games", "positions", "first choice", "first 5", "first 10", "first 20"]
    note = f"First choices of others, on other games: {others}."
    return Result(
        tables=[table("The full recipe", columns, rows, note=note)], comparisons=comparisons
    )


# ----- Against GNU Go -----


@dataclass(frozen=True)
class MatchSize:
    """How many games are played, and by what."""

    games: int = 20
    trained_on: int = 2000
    board: int = 19
    opponent: str = ""
    """Spec of the other player; GNU Go at level 10 by default."""


def match(context: Context, size: MatchSize) -> Result:
    """Let the top move of the paper's recipe, trained on the corpus, play GNU Go."""
    return _match(context, size, lambda: _read(context, (_TRAIN,), size.board))


def _match(context: Context, size: MatchSize, train: Callable[[], GameArrays]) -> Result:
    """Let the paper's recipe play; a model of as many games that lies there is used as it is."""
    from tengen.arena.results import match_result
    from tengen.gtp.client import find_program
    from tengen.lab.tournaments import play, standings
    from tengen.learners.move_prediction import MovePredictor, PaperSettings
    from tengen.players import gnugo

    if not size.opponent and find_program("gnugo") is None:
        return Result(text="GNU Go is not installed, so its match was not played.")
    folder = context.place("move-prediction")
    model = folder / f"paper-{size.trained_on}.safetensors"
    if not model.is_file():
        settings = PaperSettings(games=size.trained_on, seed=context.seed)
        MovePredictor(settings=settings).fit(train()).save(model)
    other = size.opponent or "gnugo-10"
    results = play(
        folder / f"match-{size.trained_on}.sqlite",
        {
            "games": size.games, "size": size.board, "seed": context.seed,
            "players": {
                "paper": {"spec": f'greedy:policy="{model}"'},
                other: {"spec": size.opponent or gnugo(10)},
            },
        },
        workers=context.workers,
        tell=context.between(0.3, 1.0, "games"),
    )  # fmt: skip
    played = match_result("paper", other, results.rows, results.voids)
    why = f"{played.games} games against {other} (GNU Go is version 3.8 here)."
    return Result(
        tables=[standings(results, f"The paper's top move, {size.board}x{size.board}")],
        comparisons=[
            compare(
                "Section IV-D", "one game against GNU Go 3.6", 0.0, played.win_rate_a,
                played.interval, unit="%", aim=0, paper_text="lost", why=why,
            )
        ],
        data={"rows": [{"trained_on": size.trained_on, **played.value()}]},
    )  # fmt: skip


# ----- A single table on games of one's own -----


_STUDIES = ("widths", "reranked", "sizes", "history", "families", "match")


@dataclass(frozen=True)
class Study(CheckedSettings):
    """One table of the paper, or of what goes beyond it, on any games."""

    table: str = setting("sizes", "Which table.", choices=_STUDIES)
    games: int = setting(2000, "Training games.", least=2)
    values: str | None = setting(None, "Comma-separated rows to compute; match: games to play.")
    share: float = setting(0.3, "families: part of the positions.", least=0.001, most=1)
    exact: bool = setting(False, "widths: solve to the optimum, samples in memory.")
    alpha: float = setting(0.3, "Learning rate of the re-ranker.", least=0.001)
    opponent: str = setting("", "match: spec of the other player; GNU Go, level 10, if empty.")
    seed: int = setting(0, "Every random choice follows from it.", least=0)

    def rows(self) -> list[Any]:
        """Return the rows that `values` asks for: families, widths or whole numbers.

        Raises
        ------
        SpecError
            If it is no such list.
        """
        kind: Any = {"families": str.strip, "widths": float}.get(self.table, int)
        try:
            return [kind(value) for value in (self.values or "").split(",") if value]
        except ValueError:
            raise SpecError(f"--values {self.values!r} is not a list of numbers") from None


def study(context: Context, wanted: Study, train: GameArrays, test: GameArrays) -> Result:
    """Make one table; `data["rows"]` holds its rows."""
    from tengen.learners.move_prediction import PaperSettings

    values = wanted.rows()
    if wanted.table == "match":
        board = int(train.rows[0])
        number = values[0] if values else MatchSize.games
        result = _match(
            context, MatchSize(number, wanted.games, board, wanted.opponent), lambda: train
        )
        if not result.data:
            raise TengenError(result.text)
        return result
    settings = PaperSettings(games=wanted.games, seed=wanted.seed, alpha=wanted.alpha)
    if wanted.table == "families":
        return _families(context, wanted, train, test, values)
    if wanted.table == "history":
        return _history(context, train, test, settings, values or [0, 1, 5, 20])
    size = replace(
        FULL,
        widths=tuple(values or FULL.widths) if wanted.table == "widths" else (),
        reranked=tuple(values or FULL.reranked) if wanted.table == "reranked" else (),
        sizes=tuple(values or [wanted.games]) if wanted.table == "sizes" else (),
    )
    found = measure_tables(context, size, train, test, settings, exact=wanted.exact)
    comparisons = rule(found["reranked"])
    return Result(tables=shown(found), comparisons=comparisons, data={"rows": found[wanted.table]})


def _history(
    context: Context, train: GameArrays, test: GameArrays, settings: Any, ranks: Sequence[int]
) -> Result:
    """Tell the re-ranker weaker moves than the experts' (section V)."""
    from tengen.lab.move_prediction import PaperTables

    tables_, rows = PaperTables(train, test, settings), []
    for number, rank in enumerate(ranks):
        context.at(number / len(ranks), f"earlier moves of rank {rank}")
        rows += tables_.history(rank)
    told = [
        [row["replaced"], row["history_rank"] or "", percent(row["top1"], row["interval"]),
         percent(row["top5"])]
        for row in rows
    ]  # fmt: skip
    columns = ["earlier moves replaced", "by rank", "first choice", "first five"]
    return Result(tables=[table("Section V: weaker history", columns, told)], data={"rows": rows})


def _families(
    context: Context, wanted: Study, train: GameArrays, test: GameArrays, names: Sequence[str]
) -> Result:
    """Train the full recipe without each of its families of features."""
    from tengen.lab.move_prediction import without_family
    from tengen.learners.move_prediction import FullSettings
    from tengen.learners.move_prediction.settings import FAMILIES

    settings = FullSettings(
        games=wanted.games, share=wanted.share, seed=wanted.seed, dictionary_games=wanted.games
    )
    rows = []
    chosen = ("", *(names or FAMILIES))
    for number, family in enumerate(chosen):
        context.at(number / len(chosen), f"without {family or 'nothing'}")
        rows.append(without_family(train, test, settings, family))
    told = [
        [row["without"], percent(row["top1"], row["interval"]), percent(row["top5"]),
         percent(row["top20"]), f"{row['log_loss']:.3f}",
         f"{row['log_loss'] - rows[0]['log_loss']:+.3f}"]
        for row in rows
    ]  # fmt: skip
    columns = ["without", "first choice", "first five", "first twenty", "log loss", "loss added"]
    title = "What each family of features adds"
    return Result(tables=[table(title, columns, told)], data={"rows": rows})


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "move-prediction", "move-prediction", "Tables I to IV", tables, quick=QUICK, full=FULL,
        minutes=(0.3, 90), needs=(_TRAIN, _TEST),
    ),
    Experiment(
        "move-prediction-strong", "move-prediction", "Beyond the paper", strong,
        full=StrongSize(), minutes=(1, 60), needs=(*_STRONG, *_STRONG_TESTS),
    ),
    Experiment(
        "move-prediction-match", "move-prediction", "Against GNU Go", match, full=MatchSize(),
        minutes=(1, 30), needs=(_TRAIN,),
    ),
)  # fmt: skip
