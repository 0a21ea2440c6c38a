"""Move prediction (Araki 2007) at the paper's scale, on the games of a corpus."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tengen.lab import papers
from tengen.lab.content import Result, percent, table
from tengen.lab.sections.move_prediction import (
    QUICK,
    STRONG,
    STRONG_TESTS,
    TEST,
    TRAIN,
    quick,
    rule_rows,
    shown_tables,
)
from tengen.lab.steps import Context, Experiment
from tengen.lab.verdicts import Comparison, compare
from tengen.statistics import wilson

Row = dict[str, Any]


def paper(
    context: Context, *, games: int = 2000, sizes: tuple[int, ...] = tuple(papers.MP_SIZES),
    widths: tuple[float, ...] = tuple(papers.MP_WIDTHS),
    reranked: tuple[int, ...] = tuple(papers.MP_RERANKED), board: int = 19,
) -> Result:  # fmt: skip
    """Repeat Tables I to IV; every row is kept as soon as it is there."""
    from tengen.lab import move_prediction as experiments

    train, test = _games(context, TRAIN, board), _games(context, TEST, board)
    options: dict[str, Any] = {"games": games, "seed": context.seed}
    jobs: list[tuple[str, str, Callable[[], Any]]] = [
        *(("widths", f"{v:g}", partial(experiments.widths, train, test, values=(v,), **options))
          for v in widths),
        *(("reranked", f"{v}", partial(experiments.reranked, train, test, values=(v,), **options))
          for v in reranked),
        *(("sizes", f"{v}", partial(experiments.sizes, train, test, values=(v,), seed=context.seed))
          for v in sizes),
    ]  # fmt: skip
    tables: dict[str, list[Row]] = {"widths": [], "reranked": [], "sizes": []}
    for number, (name, key, make) in enumerate(jobs):
        context.at(number / len(jobs), f"{name} {key}")
        row = context.once(f"move-prediction/{name}-{key}", lambda make=make: next(iter(make())))  # type: ignore[misc]
        tables[name].append(row)
    return Result(
        text=f"Training and test games: {TRAIN}, {TEST} (the paper: GoGoD).",
        tables=shown_tables(tables),
        comparisons=[*_rows(tables), *rule_rows(tables["reranked"])],
    )


def _games(context: Context, name: str, size: int) -> Any:
    """Read the games of one board size."""
    from tengen.errors import TengenError
    from tengen.records import Corpus

    path = context.games(name)
    games = Corpus([path]).as_arrays()
    games = games.where((games.rows == size) & (games.cols == size))
    if len(games) == 0:
        raise TengenError(f"{path}: no games on {size}x{size}")
    return games


def _rows(tables: dict[str, list[Row]]) -> list[Comparison]:
    why = "Tom's games for GoGoD's; rates depend on the games."
    out = []
    for row in tables["widths"]:
        out.append(
            _one("Table I", f"W = {row['width']:g}", papers.MP_WIDTHS[row["width"]], row, 1, why)
        )
    for row in tables["reranked"]:
        figures = papers.MP_RERANKED.get(row["top"], ())
        for rank, figure in zip(papers.MP_RANKS, figures, strict=False):
            out.append(_one("Table II", f"n = {row['top']}, rank {rank}", figure, row, rank, why))
    for row in tables["sizes"]:
        figures = papers.MP_SIZES.get(row["games"], ())
        for rank, figure in zip((1, 5, 10, 20), figures, strict=False):
            out.append(
                _one(
                    "Tables III, IV", f"{row['games']:,} games, rank {rank}", figure, row, rank, why
                )
            )
    return out


def _one(where: str, what: str, figure: float, row: Row, rank: int, why: str) -> Comparison:
    """Compare one cell, with the intervals that its positions give."""
    rate = row[f"top{rank}"]
    return compare(
        where, what, figure, rate, wilson(rate * row["positions"], row["positions"]), unit="%",
        why=why, paper_interval=wilson(figure * papers.MP_POSITIONS, papers.MP_POSITIONS),
    )  # fmt: skip


def strong(context: Context, *, games: int = 16_000, share: float = 0.3, board: int = 19) -> Result:
    """Train the full recipe and measure it on all experts' games kept for that."""
    from tengen.learners.move_prediction import MovePredictor
    from tengen.records.arrays import concatenate

    folder = context.place("move-prediction")
    path = folder / "predictor.safetensors"
    if not path.is_file():
        arrays = concatenate([_games(context, name, board) for name in STRONG])
        settings = {"games": games, "share": share, "seed": context.seed}
        MovePredictor(settings=settings).fit(
            arrays, run=folder / "training", resume=True, workers=context.workers,
            on_report=lambda report: context.at(0.5, str(report)[:60]),
        ).save(path, data=f"{games} games of {', '.join(STRONG)}")  # fmt: skip
    predictor = MovePredictor.load(path)
    rows, comparisons = [], []
    for number, name in enumerate(STRONG_TESTS):
        context.at(0.8 + 0.1 * number, name)
        got: Row = context.once(
            f"move-prediction/strong-{number}",
            lambda name=name: dict(predictor.evaluate(_games(context, name, board)).summary()),  # type: ignore[misc]
        )
        rows.append(
            [name, got["positions"], percent(got["top1"], got["interval"]),
             *(percent(got[f"top{rank}"]) for rank in (5, 10, 20))]
        )  # fmt: skip
        for rank, figure in zip((1, 5, 10, 20), papers.MP_SIZES[20000], strict=True):
            comparisons.append(
                _one("Table IV", f"full recipe on {name}, rank {rank}", figure, got, rank,
                     "Beyond the paper: softmax, more features, vectors.")
            )  # fmt: skip
    others = ", ".join(f"{who} {percent(rate)}" for who, rate in papers.MP_OTHERS.items())
    columns = ["games", "positions", "first choice", "first 5", "first 10", "first 20"]
    note = f"First choices of others, on other games: {others}."
    return Result(
        tables=[table("The full recipe", columns, rows, note=note)],
        comparisons=comparisons,
    )


def match(context: Context, *, games: int = 20, trained_on: int = 2000, board: int = 19) -> Result:
    """Let the top move of the paper's recipe play GNU Go, where that is installed."""
    import shutil

    from tengen.lab.tournaments import play, standings
    from tengen.learners.move_prediction import MovePredictor
    from tengen.players import gnugo

    if shutil.which("gnugo") is None:
        return Result(text="GNU Go is not on the PATH, so its match was not played.")
    folder = context.place("move-prediction")
    model = folder / f"paper-{trained_on}.safetensors"
    if not model.is_file():
        settings = {"games": trained_on, "seed": context.seed}
        learner = MovePredictor(recipe="paper", settings=settings)
        learner.fit(_games(context, TRAIN, board)).save(model)
    results = play(
        folder / "match.sqlite",
        {
            "games": games, "size": board, "seed": context.seed,
            "players": {
                "paper": {"spec": f'greedy:policy="{model}"'}, "gnugo-10": {"spec": gnugo(10)},
            },
        },
        workers=context.workers,
        tell=context.between(0.3, 1.0, "games"),
    )  # fmt: skip
    score = results.cross[("paper", "gnugo-10")]
    rate = (score.wins + score.draws / 2) / max(score.wins + score.losses + score.draws, 1)
    return Result(
        tables=[standings(results, f"The paper's top move against GNU Go 10, {board}x{board}")],
        comparisons=[
            compare(
                "Section IV-D", "one game against GNU Go 3.6", 0.0, rate, unit="%", aim=0,
                paper_text="lost", why=f"{games} games against GNU Go 3.8, level 10.",
            )
        ],
    )  # fmt: skip


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "move-prediction", "move-prediction", "Tables I to III", quick, quick=QUICK,
        minutes=(0.3, 0.3),
    ),
    Experiment(
        "move-prediction", "move-prediction", "Tables I to IV", lambda c, size: paper(c, **size),
        full={}, minutes=(1, 90), needs=(TRAIN, TEST),
    ),
    Experiment(
        "move-prediction-strong", "move-prediction", "Beyond the paper",
        lambda c, size: strong(c, **size), full={}, minutes=(1, 60),
        needs=(*STRONG, *STRONG_TESTS),
    ),
    Experiment(
        "move-prediction-match", "move-prediction", "Against GNU Go",
        lambda c, size: match(c, **size), full={}, minutes=(1, 30), needs=(TRAIN,),
    ),
)  # fmt: skip
