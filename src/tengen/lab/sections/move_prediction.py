"""Move prediction (Araki 2007): Tables I to IV and the match against GNU Go.

Each experiment takes a size: small, on games of our own, or the paper's, on the games of a corpus.
`lab.move_prediction` measures the rows of the tables; each is saved as soon as it is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tengen.errors import SpecError, TengenError
from tengen.lab import papers
from tengen.lab.content import Picture, Plot, Result, Table, line, percent, table
from tengen.lab.pictures import EMPTY, ENEMY, OUTSIDE, OWN, UNKNOWN, pattern
from tengen.lab.recorded import card_results
from tengen.lab.steps import Context, Experiment
from tengen.lab.verdicts import Comparison, above, compare
from tengen.models.defaults import PREDICTOR
from tengen.models.settings import CheckedSettings, fingerprint, setting
from tengen.statistics import wald_difference, wilson

if TYPE_CHECKING:
    from tengen.learners.move_prediction import PredictionSettings
    from tengen.records.arrays import GameArrays

Row = dict[str, Any]
Tables = dict[str, list[Row]]
RANKS = (1, 5, 10, 20)
_TRAIN, _TEST = "tom9d-train.sgf", "tom9d-dev.sgf"
_LARGEST_DRAWN = 5
"""The largest template to draw, as a ring: up to three points away."""


@dataclass(frozen=True)
class Size:
    """The games to learn from, and the rows of the paper's tables to measure."""

    made: int = 400
    """Our own games to learn from; 0 for the corpus."""
    test_games: int = 80
    """Our own games to evaluate on."""
    board: int = 9
    games: int = 400
    """Training games of Tables I and II."""
    sizes: tuple[int, ...] = (50, 100, 200, 400)
    widths: tuple[float, ...] = (0.0, 0.5, 0.9)
    reranked: tuple[int, ...] = (0, 20, 40)
    patterns: int = 12
    """Patterns to draw."""


QUICK = Size()
FULL = Size(
    made=0, test_games=0, board=19, games=2000, sizes=tuple(papers.MP_SIZES),
    widths=tuple(papers.MP_WIDTHS), reranked=tuple(papers.MP_RERANKED),
)  # fmt: skip


# ----- Tables -----


def measure_tables(
    context: Context,
    size: Size,
    train: GameArrays,
    test: GameArrays,
    settings: PredictionSettings,
    *,
    exact: bool = False,
) -> Tables:
    """Measure the rows of a size, except those saved for the same games and settings."""
    from tengen.lab.move_prediction import TableRows

    rows = TableRows(train, test, settings)
    games = fingerprint(train.moves, train.offsets, test.moves, test.offsets, settings, exact)
    makers: dict[str, tuple[Sequence[Any], Callable[[Any], Row]]] = {
        "widths": (size.widths, lambda width: rows.width(width, exact=exact)),
        "reranked": (size.reranked, rows.reranked),
        "sizes": (size.sizes, lambda games: rows.size(games, context.place("move-prediction"))),
    }
    found: Tables = {}
    total = sum(len(values) for values, _ in makers.values())
    done = 0
    for name, (values, make) in makers.items():
        found[name] = []
        for value in values:
            context.at(0.2 + 0.7 * done / total, f"{name} {value:g}")
            place = f"move-prediction/{games}/{name}-{value:g}"
            found[name].append(context.once(place, lambda make=make, value=value: make(value)))  # type: ignore[misc]
            done += 1
    return found


def shown(found: Tables) -> list[Table]:
    """Return the tables with the paper's figures beside ours."""
    out = []
    if found["widths"]:
        rows: list[list[object]] = [
            [f"{row['width']:g}", percent(row["top1"], row["interval"]), _beside(row["paper"])]
            for row in found["widths"]
        ]
        out.append(table("Table I: width factor W", ["W", "first choice", "paper"], rows))
    if found["reranked"]:
        columns = ["n"]
        for rank in RANKS:
            columns += [f"first {rank}", "paper"]
        rows = []
        for row in found["reranked"]:
            figures = row["paper"] or [None] * len(RANKS)
            cells: list[object] = [row["top"] or "none"]
            for rank, figure in zip(RANKS, figures, strict=False):
                cells += [percent(row[f"top{rank}"]), _beside(figure)]
            rows.append(cells)
        out.append(table("Table II: candidates re-ranked", columns, rows))
    if found["sizes"]:
        rows = [
            [
                f"{row['games']:,}", percent(row["top1"], row["interval"]), percent(row["top5"]),
                percent(row["top10"]),
                " / ".join(f"{100 * p:.1f}" for p in row["paper"][:3]) if row["paper"] else "",
            ]
            for row in found["sizes"]
        ]  # fmt: skip
        columns = ["training games", "first choice", "first five", "first ten", "paper, %"]
        out.append(table("Tables III and IV: training games", columns, rows))
    return out


def _beside(figure: float | None) -> str:
    return "" if figure is None else percent(figure)


def growth(rows: list[Row]) -> Plot:
    """Draw accuracy by the number of training games."""
    return Plot(
        "Table III: accuracy by the number of training games", "training games",
        "share of moves predicted",
        [
            line(f"first {rank}" if rank > 1 else "first choice", [row["games"] for row in rows],
                 [row[f"top{rank}"] for row in rows])
            for rank in (1, 5, 10)
        ],
        bottom=0.0, top=1.0,
    )  # fmt: skip


def directions(found: Tables) -> list[Comparison]:
    """Compare trends with the paper's; the rates themselves are of other games."""
    widths = {row["width"]: row for row in found["widths"]}
    best = max(widths.values(), key=lambda row: row["top1"])
    plain, chosen = found["reranked"][0], found["reranked"][1]
    first, last = found["sizes"][0], found["sizes"][-1]
    return [
        compare(
            "Table I", "best width factor", None, None, paper_text="0.9 (0.5 to 1.0 tied)",
            our_text=f"{best['width']:g}: {percent(best['top1'], best['interval'])}",
            why="Other games and fewer: the rates cannot be compared.",
        ),
        compare(
            "Table II", "re-ranking 20 candidates helps the first choice", None, None,
            holds=_better(chosen, plain), full=False, paper_text="21.05 to 28.24 %",
            our_text=f"{percent(plain['top1'])} to {percent(chosen['top1'])}",
            why="The re-ranker uses the last four moves, the frequencies do not.",
        ),
        compare(
            "Table III", "more games, better predictions", None, None, holds=_better(last, first),
            paper_text="31.04 to 33.94 % (5,000 to 20,000)", full=False,
            our_text=f"{percent(first['top1'])} to {percent(last['top1'])} ({first['games']} to "
            f"{last['games']})", why="The same direction, on other games.",
        ),
    ]  # fmt: skip


def _better(row: Row, other: Row) -> bool | None:
    """Return whether one row's first choice is better; None if that may be chance."""
    counts = [(each["top1"] * each["positions"], each["positions"]) for each in (row, other)]
    return above(wald_difference(*counts), 0.0)


def rule(rows: list[Row]) -> list[Comparison]:
    """Check the rule behind Table II's equal entries: nothing changes from rank n on."""
    worst = max((row["beyond"] for row in rows if row["beyond"] is not None), default=None)
    if worst is None:
        return []
    return [
        compare(
            "Table II",
            "re-ranking n moves changes nothing from rank n on",
            None,
            None,
            holds=worst < 0.005,
            paper_text="equal entries",
            our_text=f"{100 * worst:.2f} points",
            why="Only moves of equal frequency, which share credit, may differ.",
        )
    ]


def card_rows() -> list[Comparison]:
    """Compare the shipped predictor's recorded accuracy with the paper's."""
    return [
        compare(
            "Table IV", f"rank {rank}: {PREDICTOR}{got.what[4:].strip('0')}, from its card", paper,
            got.value, got.interval, unit="%",
            why=f"{got.count:,} moves of other experts, measured when the model was trained.",
        )
        for got in card_results(PREDICTOR)
        for rank, paper in zip(RANKS, papers.MP_SIZES[20000], strict=True)
        if got.what.startswith(f"top{rank} on")
    ]  # fmt: skip


def cells(found: Tables) -> list[Comparison]:
    """Compare every row of experts' games with the paper's, cell by cell."""
    why = "Tom's games for GoGoD's; rates depend on the games."
    out = [
        cell("Table I", f"W = {row['width']:g}", row["paper"], row, 1, why)
        for row in found["widths"]
        if row["paper"] is not None
    ]
    for row in found["reranked"]:
        for rank, figure in zip(papers.MP_RANKS, row["paper"] or (), strict=False):
            out.append(cell("Table II", f"n = {row['top']}, rank {rank}", figure, row, rank, why))
    for row in found["sizes"]:
        for rank, figure in zip(RANKS, row["paper"] or (), strict=False):
            what = f"{row['games']:,} games, rank {rank}"
            out.append(cell("Tables III, IV", what, figure, row, rank, why))
    return out


def cell(where: str, what: str, figure: float, row: Row, rank: int, why: str) -> Comparison:
    """Compare one cell, with intervals from the numbers of positions."""
    rate, positions = row[f"top{rank}"], row["positions"]
    return compare(
        where, what, figure, rate, wilson(rate * positions, positions), unit="%", why=why,
        paper_interval=wilson(figure * papers.MP_POSITIONS, papers.MP_POSITIONS),
    )  # fmt: skip


# ----- Pictures -----


def telling_patterns(train: GameArrays, settings: PredictionSettings, count: int) -> list[Picture]:
    """Draw the patterns of the dictionary that are played most often when present."""
    from tengen.learners.move_prediction.pattern_kernels import RING_LIMITS
    from tengen.learners.move_prediction.training import expert_keys, halves, learn_frequencies
    from tengen.records.record import positions

    part, _ = halves(train, settings)
    model = learn_frequencies(train, part, settings)
    number = {int(key): i + 1 for i, key in enumerate(model.keys)}
    seen: dict[int, int] = {}
    shown: dict[int, list[str]] = {}
    for game in part[:200]:
        record = train.record(int(game))
        keys = iter(expert_keys(train.take([int(game)]), settings.templates))
        for board, (colour, point) in positions(record):
            if point:
                row, col = point // (record.cols + 1) - 1, point % (record.cols + 1) - 1
                known = [
                    (number[int(key)], ring)
                    for key, ring in zip(next(keys), settings.templates, strict=True)
                    if int(key) in number
                ]
                # Only the largest known pattern counts; whole boards are not worth drawing.
                if known and known[-1][1] <= _LARGEST_DRAWN:
                    feature, ring = known[-1]
                    seen[feature] = seen.get(feature, 0) + 1
                    if feature not in shown:
                        limit = int(RING_LIMITS[ring])
                        shown[feature] = _cells(board.grid(), row, col, colour, limit)
    worth = sorted(
        (f for f in shown if seen[f] >= 3), key=lambda f: (-model.frequency[f], -seen[f], f)
    )
    return [
        Picture(f"played {percent(float(model.frequency[f]))} of the time", pattern(shown[f]))
        for f in worth[:count]
    ]


def _cells(board: Any, row: int, col: int, mover: int, limit: int) -> list[str]:
    """Return the pattern around a point as lines of cells; the template is d <= `limit`."""
    rows, cols = board.shape
    reach = max(d for d in range(1, 8) if 2 * d <= limit)
    lines = []
    for dr in range(-reach, reach + 1):
        text = ""
        for dc in range(-reach, reach + 1):
            r, c = row + dr, col + dc
            if abs(dr) + abs(dc) + max(abs(dr), abs(dc)) > limit:
                text += UNKNOWN
            elif not (0 <= r < rows and 0 <= c < cols):
                text += OUTSIDE
            else:
                stone = int(board[r, c])
                text += EMPTY if stone == 0 else OWN if stone == mover else ENEMY
        lines.append(text)
    return lines


# ----- The experiment -----


def tables(context: Context, size: Size) -> Result:
    """Repeat Tables I to IV and draw what was learned."""
    from tengen.learners.move_prediction import PredictionSettings

    if size.made:
        tell = context.between(0, 0.2, "game")
        train = sample_games(size.made, size.board, context.seed, tell)
        test = sample_games(size.test_games, size.board, context.seed + 1)
    else:
        train, test = (_read(context, (name,), size.board) for name in (_TRAIN, _TEST))
    settings = PredictionSettings(games=size.games, seed=context.seed)
    found = measure_tables(context, size, train, test, settings)
    context.at(0.9, "patterns")
    return Result(
        text=_about(size, found),
        tables=shown(found),
        figures=[
            growth(found["sizes"]),
            *telling_patterns(train, settings, size.patterns),
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
        f"The predictor learns from {size.made} games of our rule player against itself on "
        f"{size.board}x{size.board} and predicts the moves of {size.test_games} others "
        f"({found['sizes'][-1]['positions']} positions). The rule player is no expert, so these "
        "rates are not comparable with the paper's; their change with W, n and the number of games "
        "is. The small boards show the patterns that are played most often: the red point is the "
        "move, black stones belong to the side to move."
    )


# ----- Against GNU Go -----


@dataclass(frozen=True)
class MatchSize:
    """The games of the match, and its players."""

    games: int = 20
    trained_on: int = 2000
    board: int = 19
    opponent: str = ""
    """Spec of the other player; GNU Go at level 10 by default."""


def match(context: Context, size: MatchSize) -> Result:
    """Play the predictor's top move, trained on the corpus, against GNU Go."""
    return _match(context, size, lambda: _read(context, (_TRAIN,), size.board))


def _match(context: Context, size: MatchSize, train: Callable[[], GameArrays]) -> Result:
    """Play the match; a model already trained on as many games is used."""
    from tengen.arena.results import match_result
    from tengen.gtp.client import find_program
    from tengen.lab.tournaments import play, standings
    from tengen.learners.move_prediction import MovePredictor, PredictionSettings
    from tengen.players import gnugo

    if not size.opponent and find_program("gnugo") is None:
        return Result(text="GNU Go is not installed, so its match was not played.")
    folder = context.place("move-prediction")
    model = folder / f"paper-{size.trained_on}.safetensors"
    if not model.is_file():
        settings = PredictionSettings(games=size.trained_on, seed=context.seed)
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


# ----- A single table on any games -----


_STUDIES = ("widths", "reranked", "sizes", "history", "match")


@dataclass(frozen=True)
class Study(CheckedSettings):
    """One table of the paper on any games."""

    table: str = setting("sizes", "Which table.", choices=_STUDIES)
    games: int = setting(2000, "Training games.", least=2)
    values: str | None = setting(None, "Comma-separated rows to compute; match: games to play.")
    exact: bool = setting(False, "widths: fit to the optimum, with all samples in memory.")
    alpha: float = setting(0.3, "Learning rate of the re-ranker.", least=0.001)
    opponent: str = setting("", "match: spec of the opponent; GNU Go at level 10 by default.")
    seed: int = setting(0, "Seed of every random choice.", least=0)

    def rows(self) -> list[Any]:
        """Parse `values`: widths or whole numbers.

        Raises
        ------
        SpecError
            If it is not such a list.
        """
        kind: Any = float if self.table == "widths" else int
        try:
            return [kind(value) for value in (self.values or "").split(",") if value]
        except ValueError:
            raise SpecError(f"--values {self.values!r} is not a list of numbers") from None


def study(context: Context, wanted: Study, train: GameArrays, test: GameArrays) -> Result:
    """Measure one table; `data["rows"]` holds its rows."""
    from tengen.learners.move_prediction import PredictionSettings

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
    settings = PredictionSettings(games=wanted.games, seed=wanted.seed, alpha=wanted.alpha)
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
    """Give the re-ranker weaker earlier moves than the experts' (section V)."""
    from tengen.lab.move_prediction import TableRows

    tables_, rows = TableRows(train, test, settings), []
    for number, rank in enumerate(ranks):
        context.at(number / len(ranks), f"earlier moves of rank {rank}")
        rows += tables_.history(rank)
    cells = [
        [row["replaced"], row["history_rank"] or "", percent(row["top1"], row["interval"]),
         percent(row["top5"])]
        for row in rows
    ]  # fmt: skip
    columns = ["earlier moves replaced", "by rank", "first choice", "first five"]
    return Result(tables=[table("Section V: weaker history", columns, cells)], data={"rows": rows})


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "move-prediction", "move-prediction", "Tables I to IV", tables, quick=QUICK, full=FULL,
        minutes=(0.3, 90), needs=(_TRAIN, _TEST),
    ),
    Experiment(
        "move-prediction-match", "move-prediction", "Against GNU Go", match, full=MatchSize(),
        minutes=(1, 30), needs=(_TRAIN,),
    ),
)  # fmt: skip
