"""Move prediction (Araki 2007): Tables I to IV, and the match against GNU Go.

A row of a table is a dictionary of plain values, saved as soon as it is measured. Accuracies are
fractions; intervals are at 95 % and treat positions as independent.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from tengen.arena.results import match_result
from tengen.arrays import FloatArray, IntArray
from tengen.board import RESIGN, Board, play_random, play_to_end, row_col
from tengen.errors import TengenError
from tengen.extras import need
from tengen.gtp.client import find_program
from tengen.lab.drawing import EMPTY, ENEMY, OUTSIDE, OWN, UNKNOWN, pattern
from tengen.lab.papers import read_paper
from tengen.lab.result import Findings, Picture, Plot, Table, line
from tengen.lab.steps import Experiment, LabContext, Row
from tengen.lab.tournaments import play, standings
from tengen.lab.verdicts import Comparison, above, card_results, compare, percent, show
from tengen.models.registry import PREDICTOR
from tengen.models.settings import fingerprint
from tengen.papers.move_prediction import MovePredictor, PredictionSettings, training
from tengen.papers.move_prediction.kernels import RING_LIMITS
from tengen.papers.move_prediction.model import TOPS, PredictionModel
from tengen.papers.move_prediction.training import halves, learn_frequencies
from tengen.players import gnugo, make_player
from tengen.progress import Report
from tengen.records import GameRecord
from tengen.records.arrays import GameArrays, from_records
from tengen.records.record import positions
from tengen.statistics import wald_difference, wilson

PAPER = read_paper("tengen.papers.move_prediction")

Tables = dict[str, list[Row]]
RANKS = (1, 5, 10, 20)
_LARGEST_DRAWN = 5  # the largest template to draw, as a ring: up to three points away


# ----- Games -----


@dataclass(frozen=True)
class GameSource:
    """The games to learn from and to evaluate on."""

    made: int = 0  # games to generate and learn from; 0 to use the collection
    test_games: int = 200  # games to generate for evaluation, or to hold out without a test file
    board: int = 19
    train: str = "tom9d-train.sgf"
    test: str = "tom9d-dev.sgf"  # files of the collection
    games: int = 2000  # training games
    alpha: float = 0.3  # learning rate of the re-ranker

    @property
    def files(self) -> tuple[str, ...]:
        """The files that are read."""
        return () if self.made else tuple(filter(None, (self.train, self.test)))

    def settings(self, seed: int) -> PredictionSettings:
        """The settings of the predictor."""
        return PredictionSettings(games=self.games, seed=seed, alpha=self.alpha)

    def model(self, context: LabContext, games: int) -> Path:
        """Return the file of the model that learned from so many of these games."""
        learned_from = fingerprint(self.made, self.board, self.train, self.alpha)
        return context.place("move-prediction") / f"paper-{games}-{learned_from}.safetensors"

    def training(self, context: LabContext) -> GameArrays:
        """Return the games to learn from."""
        if self.made:
            report = context.between(0, 0.2, "game")
            return sample_games(self.made, self.board, context.seed, report)
        return self._read(context, self.train)

    def read(self, context: LabContext) -> tuple[GameArrays, GameArrays]:
        """Return the games to learn from and to evaluate on."""
        train = self.training(context)
        if self.made:
            return train, sample_games(self.test_games, self.board, context.seed + 1)
        if self.test:
            return train, self._read(context, self.test)
        return hold_out(train, self.test_games, context.seed)

    def _read(self, context: LabContext, name: str) -> GameArrays:
        return training.read_games([str(context.games(name))], self.board)[0]


def sample_games(
    games: int, size: int, seed: int, report: Report = lambda done, total: None
) -> GameArrays:
    """Return games of the rule player against itself from random openings, as arrays."""
    player = make_player("static")
    rng = np.random.default_rng(seed)
    records = []
    for number in range(games):
        board = play_random(Board(size), 4, rng)
        # To the first pass: players ask the judge before a second one, which takes longer than
        # the game.
        play_to_end(board, lambda b: player.choose(b, rng) or RESIGN, limit=2 * size * size - 4)
        records.append(GameRecord(rows=size, cols=size, moves=list(board.moves), komi=board.komi))
        report(number + 1, games)
    return from_records(records)


def hold_out(games: GameArrays, count: int, seed: int) -> tuple[GameArrays, GameArrays]:
    """Hold out `count` games and leave two or more; return (the others, the games held out)."""
    if len(games) < count + 2:
        raise TengenError(f"{len(games)} games: too few to hold out {count}")
    order = np.random.default_rng([seed, 1]).permutation(len(games))
    return games.take(order[count:]), games.take(order[:count])


# ----- Rows of the tables -----


class TableRows:
    """Rows of the paper's tables; they share frequencies and samples, computed when needed."""

    def __init__(self, train: GameArrays, test: GameArrays, settings: PredictionSettings) -> None:
        self.train, self.test, self.settings = train, test, settings

    def width(self, width: float, *, exact: bool = False) -> Row:
        """Table I: rank-1 accuracy with one width factor.

        With `exact` the re-ranker is fitted to the optimum, where `violation` is 0, instead of by
        passes of FTRL-proximal: all samples in memory, about 20 per move, 170 bytes each.
        """
        extra: Row = {}
        if exact:
            model = replace(self._frequencies, top=self.settings.top)
            features, labels = self._samples
            model.weights, violation = fit_exactly(features, labels, len(model.weights), width)
            extra = {"violation": violation}
        else:
            model = self._reranked(replace(self.settings, width=width))
        row = {"width": width, "features": model.features, **extra, **measure(model, self.test)}
        return {**row, "paper": PAPER.figures("araki.table1").get(f"{width:g}")}

    def reranked(self, top: int) -> Row:
        """Table II: cumulative accuracy with this many re-ranked candidates; 0 for none.

        `beyond` is the largest difference that re-ranking makes at ranks from n on.
        """
        settings = replace(self.settings, top=top)
        row: Row = {"top": top, "beyond": None}
        if top == 0:  # the frequencies of all games
            part_a, _ = halves(self.train, settings)
            row |= measure(learn_frequencies(self.train, part_a, settings), self.test)
        else:
            row |= measure(self._reranked(settings), self.test)
            ranks = [f"top{rank}" for rank in TOPS if rank >= top]
            row["beyond"] = max((abs(row[rank] - self._plain[rank]) for rank in ranks), default=0.0)
        return {**row, "paper": list(PAPER.figures(f"araki.table2.{top}").values()) or None}

    def size(self, games: int, keep: Path | None = None) -> Row:
        """Tables III and IV: accuracy and cost by training games; saves the model as `keep`."""
        training.train(self.train, PredictionSettings(games=2, minimum=1, passes=1))  # compiles
        settings = replace(self.settings, games=games)
        began = time.monotonic(), time.process_time()
        model = training.train(self.train, settings)
        row = {
            "size": games,
            "games": min(games, len(self.train)),
            "seconds": time.monotonic() - began[0],
            "processor_seconds": time.process_time() - began[1],
            "memory_gb": _peak_memory(),
        }
        if keep is not None:
            MovePredictor.of(model, settings).save(keep, name=f"paper-{games}")
        paper = list(PAPER.figures(f"araki.games.{games}").values()) or None
        return {**row, **measure(model, self.test), "paper": paper}

    @cached_property
    def _frequencies(self) -> PredictionModel:
        """The dictionary and frequencies of half A, without a re-ranker."""
        part_a, _ = halves(self.train, self.settings)
        return learn_frequencies(self.train, part_a, self.settings)

    @cached_property
    def _plain(self) -> Row:
        return measure(self._frequencies, self.test)

    @cached_property
    def _samples(self) -> Any:
        """The samples of the re-ranker, for the exact solver."""
        _, part_b = halves(self.train, self.settings)
        model = replace(self._frequencies, top=self.settings.top)
        return training.samples(self.train, model, part_b)

    def _reranked(self, settings: PredictionSettings) -> PredictionModel:
        """Return a model with the shared frequencies and a re-ranker of its own."""
        _, part_b = halves(self.train, settings)
        model = replace(self._frequencies)
        training.learn_reranker(self.train, part_b, model, settings)
        return model


def fit_exactly(
    features: IntArray, labels: IntArray, count: int, width: float, *, limit: int = 300
) -> tuple[FloatArray, float]:
    """Minimise the logistic loss plus `width` times the L1 norm over `count` weights.

    Splits the weights into positive and negative parts, which makes the penalty linear. Returns
    the weights and the largest entry of the projected gradient, which is 0 at the optimum.
    """
    need("lab", "scipy")
    from scipy.optimize import Bounds, minimize
    from scipy.sparse import csr_matrix
    from scipy.special import expit

    samples, active = features.shape
    places = np.arange(0, samples * active + 1, active)
    matrix = csr_matrix((np.ones(features.size), features.ravel(), places), (samples, count))

    def objective(parts: FloatArray) -> tuple[float, FloatArray]:
        margin = matrix @ (parts[:count] - parts[count:])
        slope = matrix.T @ (expit(margin) - labels)
        value = np.logaddexp(0, margin).sum() - labels @ margin + width * parts.sum()
        return float(value), np.concatenate([slope + width, width - slope])

    found = minimize(
        objective, np.zeros(2 * count), jac=True, method="L-BFGS-B", bounds=Bounds(0, np.inf),
        options={"maxiter": limit, "maxfun": 3 * limit, "ftol": 0.0, "gtol": 1e-6},
    )  # fmt: skip
    slope = objective(found.x)[1]
    movable = (found.x > 0) | (slope < 0)
    return found.x[:count] - found.x[count:], float(np.abs(slope[movable]).max(initial=0.0))


def measure(model: PredictionModel, test: GameArrays) -> Row:
    """Measure a model at all ranks of the paper's tables."""
    measured = MovePredictor.of(model, PredictionSettings()).evaluate(test)
    return {
        "positions": measured.positions,
        **{f"top{top}": measured.rate(top) for top in TOPS},
        "interval": list(measured.interval(1)),
        "phases": measured.phases(),
    }


def _peak_memory() -> float:
    """Return the peak memory of this process in GB; 0 where unknown."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


# ----- Tables -----


def measure_tables(
    context: LabContext,
    size: PredictionTables,
    train: GameArrays,
    test: GameArrays,
    settings: PredictionSettings,
) -> Tables:
    """Measure the rows of a size, except those saved for the same games and settings."""
    rows = TableRows(train, test, settings)
    exact = size.exact
    games = fingerprint(train.moves, train.offsets, test.moves, test.offsets, settings, exact)
    makers: dict[str, tuple[Sequence[Any], Callable[[Any], Row]]] = {
        "widths": (size.widths, lambda width: rows.width(width, exact=exact)),
        "reranked": (size.reranked, rows.reranked),
        "sizes": (size.sizes, lambda games: rows.size(games, size.model(context, games))),
    }
    found: Tables = {name: [] for name in makers}
    wanted = [(name, make, value) for name, (values, make) in makers.items() for value in values]
    for done, (name, make, value) in enumerate(wanted):
        context.at(0.2 + 0.7 * done / len(wanted), f"{name} {value:g}")
        place = f"move-prediction/{games}/{name}-{value:g}"
        found[name].append(context.once(place, partial(make, value)))
    return found


def result_tables(found: Tables) -> list[Table]:
    """Return the tables with the paper's figures next to ours."""
    widths = [
        [f"{row['width']:g}", percent(row["top1"], row["interval"]), show(row["paper"], unit="%")]
        for row in found["widths"]
    ]
    reranked, sizes = [], []
    for row in found["reranked"]:
        cells = [row["top"] or "none"]
        for rank, figure in zip(RANKS, row["paper"] or [None] * len(RANKS), strict=False):
            cells += [percent(row[f"top{rank}"]), show(figure, unit="%")]
        reranked.append(cells)
    for row in found["sizes"]:
        rates = [percent(row["top1"], row["interval"]), percent(row["top5"]), percent(row["top10"])]
        paper = " / ".join(f"{100 * p:.1f}" for p in (row["paper"] or ())[:3])
        sizes.append([f"{row['games']:,}", *rates, paper])
    ranks = [name for rank in RANKS for name in (f"first {rank}", "paper")]
    columns = ["training games", "first choice", "first five", "first ten", "paper, %"]
    every = (
        Table("Table I: width factor W", ["W", "first choice", "paper"], widths),
        Table("Table II: candidates re-ranked", ["n", *ranks], reranked),
        Table("Tables III and IV: training games", columns, sizes),
    )
    return [each for each in every if each.rows]


def growth(rows: list[Row]) -> Plot:
    """Draw accuracy by the number of training games."""
    games = [row["games"] for row in rows]
    names = {1: "first choice", 5: "first 5", 10: "first 10"}
    lines = [line(name, games, [row[f"top{rank}"] for row in rows]) for rank, name in names.items()]
    title, share = "Table III: accuracy by the number of training games", "share of moves predicted"
    return Plot(title, "training games", share, lines, bottom=0.0, top=1.0)


def trends(found: Tables) -> list[Comparison]:
    """Compare trends with the paper's; the rates are not comparable, since the games differ."""
    best = max(found["widths"], key=lambda row: float(row["top1"]))
    text = f"{best['width']:g}: {percent(best['top1'], best['interval'])}"
    rows = [compare("araki.table1.best", text=text)]
    for claim, (old, new) in {
        "araki.table2.helps": found["reranked"][:2],
        "araki.table3.more": (found["sizes"][0], found["sizes"][-1]),
    }.items():
        text = f"{percent(old['top1'])} to {percent(new['top1'])}"
        if "size" in old:
            text += f" ({old['games']} to {new['games']})"
        rows.append(compare(claim, holds=_better(new, old), full=False, text=text))
    return rows


def _better(row: Row, other: Row) -> bool | None:
    """Return whether one row's first choice is better; None if that may be chance."""
    counts = [(each["top1"] * each["positions"], each["positions"]) for each in (row, other)]
    return above(wald_difference(*counts), 0.0)


def rule(rows: list[Row]) -> list[Comparison]:
    """Check the rule behind Table II's equal entries: nothing changes from rank n on."""
    worst = max((row["beyond"] for row in rows if row["beyond"] is not None), default=None)
    if worst is None:
        return []
    return [compare("araki.table2.rule", holds=worst < 0.005, text=f"{100 * worst:.2f} points")]


def card_rows() -> list[Comparison]:
    """Compare the accuracy on the shipped predictor's card with the paper's."""
    return [
        compare(
            f"araki.games.20000.{rank}", got.value, got.interval,
            detail=f"{PREDICTOR}{got.what[4:].lstrip('0')}, from its card",
            why=f"{got.count:,} moves of other experts, measured when the model was trained.",
        )
        for got in card_results(PREDICTOR)
        for rank in RANKS
        if got.what.startswith(f"top{rank} on")
    ]  # fmt: skip


def cells(found: Tables) -> list[Comparison]:
    """Compare every row of experts' games with the paper's, cell by cell."""
    measured = [(f"araki.table1.{row['width']:g}", row, 1) for row in found["widths"]]
    for row in found["reranked"]:
        measured += [(f"araki.table2.{row['top']}.{rank}", row, rank) for rank in TOPS]
    for row in found["sizes"]:
        measured += [(f"araki.games.{row['size']}.{rank}", row, rank) for rank in RANKS]
    why = "Other games than the paper's GoGoD; rates depend on the games."
    rates = [(c, row[f"top{rank}"], row["positions"]) for c, row, rank in measured]
    return [
        compare(claim, rate, wilson(rate * positions, positions), why=why)
        for claim, rate, positions in rates
        if claim in PAPER.claims
    ]


# ----- Pictures -----


def telling_patterns(train: GameArrays, settings: PredictionSettings, count: int) -> list[Picture]:
    """Draw the patterns of the dictionary that are played most often when present."""
    part, _ = halves(train, settings)
    model = learn_frequencies(train, part, settings)
    number = {int(key): i + 1 for i, key in enumerate(model.keys)}
    seen: Counter[int] = Counter()
    shown: dict[int, list[str]] = {}
    for game in part[:200]:
        record = train.record(int(game))
        keys = training.expert_keys(train.take([int(game)]), settings.templates)
        moves = ((board, *move) for board, move in positions(record) if move[1])
        for (board, colour, point), found in zip(moves, keys, strict=False):
            sizes = zip(map(int, found), settings.templates, strict=True)
            known = [(number[key], ring) for key, ring in sizes if key in number]
            # Only the largest known pattern counts; whole boards are not worth drawing.
            if known and known[-1][1] <= _LARGEST_DRAWN:
                feature, ring = known[-1]
                seen[feature] += 1
                if feature not in shown:
                    place = row_col(point, record.cols)
                    shown[feature] = _cells(board.grid(), *place, colour, int(RING_LIMITS[ring]))
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
    reach = min(limit // 2, 7)

    def cell(dr: int, dc: int) -> str:
        r, c = row + dr, col + dc
        if abs(dr) + abs(dc) + max(abs(dr), abs(dc)) > limit:
            return UNKNOWN
        if not (0 <= r < rows and 0 <= c < cols):
            return OUTSIDE
        return EMPTY if board[r, c] == 0 else OWN if board[r, c] == mover else ENEMY

    around = range(-reach, reach + 1)
    return ["".join(cell(dr, dc) for dc in around) for dr in around]


# ----- The experiments -----


@dataclass(frozen=True)
class PredictionTables(GameSource):
    """The games, and the rows of the paper's tables to measure."""

    sizes: tuple[int, ...] = (2000, 5000, 10_000, 15_000, 20_000)
    widths: tuple[float, ...] = tuple(tenths / 10 for tenths in range(11))
    reranked: tuple[int, ...] = (0, 20, 40, 60, 80)
    exact: bool = False  # whether Table I is fitted to the optimum, with all samples in memory
    patterns: int = 12  # patterns to draw


def tables(context: LabContext, size: PredictionTables) -> Findings:
    """Repeat Tables I to IV and draw what was learned."""
    train, test = size.read(context)
    settings = size.settings(context.seed)
    found = measure_tables(context, size, train, test, settings)
    context.at(0.9, "patterns")
    text = PAPER.texts["move-prediction-made" if size.made else "move-prediction"]
    return Findings(
        text=text.format(size, tested=len(test), test=size.test or "others of it"),
        tables=result_tables(found),
        figures=[
            *([growth(found["sizes"])] if found["sizes"] else []),
            *(telling_patterns(train, settings, size.patterns) if size.patterns else []),
        ],
        comparisons=[
            *(trends(found) if size.made else cells(found)),
            *rule(found["reranked"]),
            *(card_rows() if size.made else []),
        ],
        data=found,
    )


# ----- Against GNU Go -----


@dataclass(frozen=True)
class MatchSize(GameSource):
    """The training games, and the match."""

    match_games: int = 20
    opponent: str = ""  # spec of the other player; GNU Go at level 10 by default


def match(context: LabContext, size: MatchSize) -> Findings:
    """Play the predictor's top move against GNU Go (section IV-D)."""
    if not size.opponent and find_program("gnugo") is None:
        return Findings(text="GNU Go is not installed, so its match was not played.")
    folder, model = context.place("move-prediction"), size.model(context, size.games)
    if not model.is_file():
        predictor = MovePredictor(settings=size.settings(context.seed))
        predictor.fit(size.training(context)).save(model)
    other = size.opponent or "gnugo-10"
    results = play(
        folder / f"match-{size.games}.sqlite",
        {
            "games": size.match_games, "size": size.board, "seed": context.seed,
            "players": {
                "paper": {"spec": f'greedy:policy="{model}"'},
                other: {"spec": size.opponent or gnugo(10)},
            },
        },
        workers=context.workers,
        report=context.between(0.3, 1.0, "games"),
    )  # fmt: skip
    played = match_result("paper", other, results.rows, results.voids)
    why = f"{played.games} games against {other} (GNU Go is version 3.8 here)."
    return Findings(
        tables=[standings(results, f"The paper's top move, {size.board}x{size.board}")],
        comparisons=[compare("araki.match", played.win_rate_a, played.interval, why=why)],
        data={"rows": [{"trained_on": size.games, **played.value()}]},
    )  # fmt: skip


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "move-prediction", "move-prediction", "Tables I to IV", tables,
        quick=PredictionTables(
            made=400, test_games=80, board=9, games=400, sizes=(50, 100, 200, 400),
            widths=(0.0, 0.5, 0.9), reranked=(0, 20, 40),
        ),
        full=PredictionTables(), minutes=(0.2, 90), needs=lambda size: size.files,
    ),
    Experiment(
        "move-prediction-match", "move-prediction", "Against GNU Go", match, full=MatchSize(),
        minutes=(1, 30), needs=lambda size: size.files[:1],
    ),
)  # fmt: skip
