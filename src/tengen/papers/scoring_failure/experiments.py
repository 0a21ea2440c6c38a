"""Scoring finished games (Burzillo): the failure, its faults one by one, and scorers that work.

scoring-failure     the paper's two classifiers, as written and repaired
scoring             scorers and GNU Go beside the recorded scores of unseen games
scoring-bootstrap   labels grown from a few labelled games, as the paper proposes at its end
scoring-life        life and death during the game, learned from labels that were grown
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tengen.arrays import BoolArray, FloatArray, IntArray
from tengen.board import BLACK, WHITE
from tengen.board import counting_kernels as kernels
from tengen.board.counting import Method
from tengen.gtp.client import find_program
from tengen.lab.evidence import NewRows
from tengen.lab.steps import Experiment, Journal, LabContext, Row
from tengen.models.settings import fingerprint, to_plain
from tengen.papers.scoring_failure import network
from tengen.papers.scoring_failure.games import UNKNOWN, PaperGames, paper_games
from tengen.papers.scoring_failure.others import PROGRAM, SIMPLE, DeadLists
from tengen.parallel import map_jobs, spawn_seeds
from tengen.players import make_player
from tengen.players.mcts import MctsPlayer
from tengen.progress import OnStep
from tengen.records import Corpus, GameArrays, GameRecord, loads
from tengen.scoring import BlockScorer, training
from tengen.scoring.features import (
    HEAVY_MEAN,
    LIGHT_MEAN,
    BlockTable,
    describe,
    describe_games,
    first_opinion,
)
from tengen.scoring.game_score import ScoredGame, read_scored_games
from tengen.scoring.judgement import judgement_of
from tengen.scoring.network import train_ensemble
from tengen.scoring.self_labelling import LabelledBlocks, learn_from_scores
from tengen.scoring.self_labelling import Trained as Grown
from tengen.scoring.settings import ScorerSettings
from tengen.scoring.training import MODEL, train_scorer

MANY = "tygem9d-train.zip"
TRAIN = "kgs6d-scored-train.sgf"
TESTS: dict[str, Method] = {
    "kgs6d-scored-dev.sgf": "careful",
    "ogs-scored-19x19-dev.sgf": "plain",
    "ogs-scored-9x9-dev.sgf": "plain",
}
NINE = "ogs-scored-9x9-dev.sgf"
_PLAYER = "mcts:playouts=60,resign=0"  # plays our own finished games


# ----- Games -----


def _maker() -> MctsPlayer:
    """Return a player that passes without asking the judge: its games are played out anyway."""
    player = make_player(_PLAYER)
    assert isinstance(player, MctsPlayer)
    player.asks = False
    return player


def make_games(
    count: int,
    size: int,
    seed: int,
    *,
    stored: Path | None = None,
    workers: int = 1,
    on_step: OnStep = lambda done, total: None,
) -> list[GameRecord]:
    """Generate finished games with known scores, except for games that never settle.

    `stored` is a journal of those that are made already.
    """
    making = training.Making(size, count, _PLAYER, _maker)
    jobs = {str(each): each for each in spawn_seeds(seed, count, f"made {making.board}")}
    made = partial(_made, making)
    rows = Journal(stored).complete(jobs, made, workers=workers, on_step=on_step)
    return [record for row in rows if row["sgf"] for record in loads(row["sgf"])]


def _made(making: training.Making, seed: int) -> Row:
    record = training.make_game(making, seed)
    return {"sgf": None if record is None else record.utf8_sgf().decode()}


def _made_file(context: LabContext, name: str, count: int, board: int, seed: int) -> Path:
    """Return a file of generated games, which all experiments of a run share."""
    path = context.place("scoring") / f"{name}-{board}x{board}-{count}.sgf"
    if not path.is_file():
        games = make_games(
            count, board, context.seed + seed, stored=path.with_suffix(".jsonl"),
            workers=context.workers, on_step=context.between(0.0, 0.5, "finished game"),
        )  # fmt: skip
        training.write_games(games, path)
    return path


class _Learning(Protocol):
    """The part of a size that says where its games come from."""

    @property
    def made(self) -> int: ...
    @property
    def board(self) -> int: ...
    @property
    def train(self) -> str: ...


def _training_file(context: LabContext, size: _Learning) -> Path:
    """Return the file of games to learn from, made here or of the collection."""
    if size.made:
        return _made_file(context, "made", size.made, size.board, 0)
    return context.games(size.train)


@cache
def _scored(path: Path) -> GameArrays:
    """Read the games of a file that have a counted result."""
    games = Corpus([path]).as_arrays()
    return games.where(np.isfinite(games.score))


def _split(games: GameArrays, tested: int) -> tuple[GameArrays, GameArrays]:
    """Return games to learn from and the games held out, the same for every seed."""
    order = games.shuffled(0)
    tested = min(tested, len(order) // 2)
    return order.take(np.arange(tested, len(order))), order.take(np.arange(tested))


@cache
def _shipped() -> BlockScorer:
    return BlockScorer.load("scorer")


# ----- The paper's classifiers -----


MORE_GAMES = (
    "rpnc", "program", "rpnc-linear", "rpnc-sign", "rpnc-all", "gdxnc", "gdxnc-all", "repaired",
)  # fmt: skip
"""What learns from the paper's larger sets, too: its own versions, and what mends them."""


@dataclass(frozen=True)
class FailureSize:
    """How many games the paper's classifiers learn from, and for how long."""

    made: int = 0  # games to generate; 0 to use a collection
    board: int = 19
    train: str = MANY  # file of the collection
    games: tuple[int, ...] = (500, 5000, 15000)
    test_games: int = 500
    seeds: int = 5
    steps: int = 100  # on all games at once
    passes: int = 1  # of versions that take a step after every game
    versions: tuple[str, ...] = tuple(network.VERSIONS)  # on the fewest games
    more: tuple[str, ...] = MORE_GAMES  # on more games

    def trainings(self, seed: int) -> Iterator[tuple[int, int, str]]:
        """Yield the games, seed and version of every training, those of few games first."""
        least = min(self.games, default=0)
        for games, number in product(sorted(self.games), range(self.seeds)):
            for version in self.versions if games == least else self.more:
                yield games, seed + number, version

    @property
    def measurement(self) -> str:
        """What the result of a training depends on, whichever others are planned."""
        games = self.made, self.board, self.train, self.test_games
        return fingerprint(games, self.steps, self.passes)


_FAILURE = FailureSize()
_QUICK_FAILURE = FailureSize(
    made=64, board=9, games=(32,), test_games=30, seeds=2, steps=60,
    versions=("program", "rpnc", "rpnc-sign", "rpnc-all", "gdxnc", "repaired"),
)  # fmt: skip


def failure(context: LabContext, size: FailureSize) -> list[NewRows]:
    """Train every version of the classifiers; measure them on their games and on others."""
    path = _training_file(context, size)
    jobs = {
        f"{games} {seed} {version}": (path, size, games, seed, version)
        for games, seed, version in size.trainings(context.seed)
    }
    journal = Journal(context.place("scoring") / f"failure-{size.measurement}.jsonl")
    found = journal.complete(
        jobs, _train_version, workers=context.workers, ray=context.ray,
        on_step=context.between(0.5 if size.made else 0.0, 1.0, "training"),
    )  # fmt: skip
    seeds = list(range(context.seed, context.seed + size.seeds))
    settings = {**to_plain(size), "hidden": network.HIDDEN}
    return [
        NewRows("scoring-failure", [r for each in found for r in each["rows"]], seeds, settings),
        NewRows(
            "scoring-failure-curves", [r for each in found for r in each["curve"]], seeds, settings
        ),
    ]


_Described = tuple[PaperGames, PaperGames]


@lru_cache(maxsize=1)
def _described(path: Path, games: int, tested: int, seed: int) -> _Described:
    """Return the games of one seed, and the games to test on, described."""
    return paper_games(learning_games(path, games, tested, seed), _shipped()), _held_out(
        path, tested
    )


def learning_games(path: Path, games: int, tested: int, seed: int) -> GameArrays:
    """Return the games that a seed's classifiers learn from."""
    mine, _ = _split(_scored(path), tested)
    return mine.shuffled(seed).take(np.arange(min(games, len(mine))))


@cache
def _held_out(path: Path, tested: int) -> PaperGames:
    return paper_games(_split(_scored(path), tested)[1], _shipped())


def _train_version(job: tuple[Path, FailureSize, int, int, str]) -> Row:
    path, size, games, seed, version = job
    mine, others = _described(path, games, size.test_games, seed)
    trained = network.train(
        mine, network.VERSIONS[version], steps=size.steps, passes=size.passes, seed=seed
    )
    about = {"version": version, "games": games, "seed": seed}
    rows = [
        {**about, "part": part, **network.measure(trained, described)}
        for part, described in (("training", mine), ("held out", others))
    ]
    curve = [{**about, "step": step, "error": e} for step, e in enumerate(trained.curve)]
    return {"rows": rows, "curve": curve}


# ----- Scorers that work -----


@dataclass(frozen=True)
class ScorerSize:
    """The games that scorers learn from, and what they are compared with."""

    made: int = 0  # games to generate and learn from; 0 to use the collection
    test_games: int = 0  # games to generate for the comparison
    board: int = 19
    train: str = TRAIN
    seeds: int = 3  # scorers trained here
    levels: tuple[int, ...] = (10,)  # of GNU Go, where it is installed
    members: int = 4
    epochs: int = 100
    rounds: int = 3
    folds: int = 3
    timed: bool = True  # measure times, which no run repeats exactly

    @property
    def tests(self) -> dict[str, Method]:
        """The files to measure on, each with the way its games are counted."""
        return {"made": "careful"} if self.made else TESTS


_SCORERS = ScorerSize()
_QUICK_SCORERS = ScorerSize(
    made=64, test_games=30, board=9, seeds=1, levels=(), members=1, epochs=40, rounds=2, folds=2,
    timed=False,
)  # fmt: skip


def scorers(context: LabContext, size: ScorerSize) -> list[NewRows]:
    """Score finished games with learned scorers, simple ones and GNU Go; a row per game."""
    context.at(0.0, "games")
    scorers_by_name = {"shipped": _shipped()}
    for seed in range(context.seed, context.seed + size.seeds):
        scorers_by_name[f"trained {seed}"] = _trained_scorer(context, size, seed)
    rows: list[dict[str, Any]] = []
    for number, (name, method) in enumerate(size.tests.items()):
        context.at(0.6 + 0.4 * number / len(size.tests), name)
        path = (
            _made_file(context, "test", size.test_games, size.board, 1)
            if size.made
            else context.games(name)
        )
        games = read_scored_games([path])
        stored = context.place("scoring") / f"{path.stem}-gnugo.jsonl"
        measured = partial(_score_games, scorers_by_name, games, method, size, stored)
        rows += [
            {"file": name.removesuffix(".sgf"), "count": method, **row}
            for row in context.once(f"scoring/{name}", measured)
        ]
    seeds = list(range(context.seed, context.seed + size.seeds)) or [context.seed]
    return [NewRows("scoring", rows, seeds, to_plain(size))]


def _trained_scorer(context: LabContext, size: ScorerSize, seed: int) -> BlockScorer:
    path = _training_file(context, size)
    settings = ScorerSettings(
        members=size.members, epochs=size.epochs, rounds=size.rounds, folds=size.folds, seed=seed
    )
    folder = context.place("scoring") / f"training-{fingerprint(settings, path.name)}"
    if not (folder / MODEL).is_file():
        train_scorer(
            _scored(path), settings, folder, resume=True, sources=path.name,
            tell=lambda what, done, of: context.at(0.5 * done / of, f"{what} {done}/{of}"),
        )  # fmt: skip
    return BlockScorer.load(folder / MODEL)


def _score_games(
    scorers_by_name: dict[str, BlockScorer],
    games: Sequence[ScoredGame],
    method: Method,
    size: ScorerSize,
    stored: Path,
) -> list[Row]:
    """Return a row per scorer and game: the margin, which is empty where a scorer fails."""
    rows: list[Row] = []

    def add(scorer: str, number: int, margin: float | None, safe: int, seconds: float) -> None:
        row: Row = {
            "scorer": scorer, "game": number, "recorded": games[number].score,
            "margin": "" if margin is None else margin, "safe": safe,
        }  # fmt: skip
        rows.append({**row, "milliseconds": round(1000 * seconds, 3)} if size.timed else row)

    for name, scorer in scorers_by_name.items():
        scorer.read(np.array([[0, 1, 2], [1, 1, 2], [0, 1, 2]], np.int8))  # compile before timing
        for number, game in enumerate(games):
            begin = time.process_time()
            reading = scorer.read(game.grid)
            margin = game.margin(reading.dead, method)
            add(name, number, margin, int(reading.safe), time.process_time() - begin)
    for name, way in SIMPLE.items():
        for number, game in enumerate(games):
            begin = time.process_time()
            add(name, number, game.margin(way(game), method), 0, time.process_time() - begin)
    for level in size.levels if find_program(PROGRAM) is not None else ():
        lists = DeadLists(level, stored=stored)
        for number, game in enumerate(games):
            found, seconds = lists.margin(game, method)
            add(f"GNU Go level {level}", number, found, 0, seconds)
    return rows


# ----- Labels grown from a few games -----


@dataclass(frozen=True)
class BootstrapSize:
    """From how many labelled games labels are grown to how many others."""

    made: int = 0
    test_games: int = 500  # games held out
    board: int = 19
    train: str = MANY
    games: int = 5000  # games whose labels are grown
    first: tuple[int, ...] = (5, 10, 20, 40, 80)  # labelled games to begin with
    seeds: int = 10  # choices of the first games
    rounds: int = 12
    members: int = 1
    epochs: int = 100


_BOOTSTRAP = BootstrapSize()
_QUICK_BOOTSTRAP = BootstrapSize(
    made=64, test_games=20, board=9, games=44, first=(5, 20), seeds=2, rounds=4, epochs=40
)


def bootstrap(context: LabContext, size: BootstrapSize) -> list[NewRows]:
    """Grow labels from a few games, with and without flipping doubtful groups of others."""
    source = _tables(context, size)
    jobs = {
        f"{first} {flips} {seed}": (source, size, first, flips, seed)
        for first in (*size.first, 0)
        for flips in (0, 1)
        for seed in range(context.seed, context.seed + size.seeds)
    }
    name = f"bootstrap-{fingerprint(to_plain(size))}.jsonl"
    found = Journal(context.place("scoring") / name).complete(
        jobs, _grow, workers=context.workers, ray=context.ray,
        on_step=context.between(0.5, 1.0, "training"),
    )  # fmt: skip
    seeds = list(range(context.seed, context.seed + size.seeds))
    return [
        NewRows("scoring-bootstrap", [r["row"] for r in found], seeds, to_plain(size)),
        NewRows(
            "scoring-bootstrap-rounds", [r for each in found for r in each["rounds"]], seeds,
            to_plain(size),
        ),
    ]  # fmt: skip


@dataclass(frozen=True)
class _Tables:
    """Files of described games: those whose labels are grown, then those held out."""

    table: Path
    known: Path  # per block 1, 0 or UNKNOWN, by the shipped scorer where its count is right
    nine: Path | None  # games of another collection, on 9x9


def _tables(context: LabContext, size: BootstrapSize | LifeSize) -> _Tables:
    """Describe the games once."""
    path = _training_file(context, size)
    place = context.place(f"scoring/{path.stem}-{size.games}-{size.test_games}")
    found = _Tables(
        place / "features.npz", place / "known.npy", None if size.made else context.games(NINE)
    )
    if not found.known.is_file():
        games = _chosen(path, size)
        on_step = context.between(0.0 if not size.made else 0.4, 0.5, "features")
        table = describe_games(games, progress=lambda n: on_step(n, len(games)))
        table.save(found.table)
        np.save(found.known, _known(table, context.workers))
    return found


def _chosen(path: Path, size: BootstrapSize | LifeSize) -> GameArrays:
    """Return the games whose labels are grown, and behind them those held out."""
    games = _scored(path).shuffled(0)
    return games.take(np.arange(min(size.games + size.test_games, len(games))))


def _known(table: BlockTable, workers: int) -> IntArray:
    """Return the status of every block, as far as the shipped scorer explains the scores."""
    alive = np.ones(len(table.block), np.bool_)
    readings = map_jobs(_dead, list(table.grids), workers=workers, ordered=True)
    for game, dead in enumerate(readings):
        dead_parts = np.unique(table.parts[game][dead])
        alive[table.rows(game)] = ~np.isin(table.block[table.rows(game)], dead_parts)
    explained = table.exact(alive)[table.game]
    return np.where(explained, alive.astype(np.int64), UNKNOWN)


def _dead(grid: Any) -> BoolArray:
    return _shipped().read(grid).dead


@cache
def _loaded(source: _Tables) -> tuple[BlockTable, IntArray]:
    return BlockTable.load(source.table), np.load(source.known)


def _growing(
    source: _Tables, size: BootstrapSize | LifeSize, first: int, flips: int, seed: int
) -> tuple[Grown, list[dict[str, float]]]:
    """Grow labels from some games chosen by the seed; return the networks and every round.

    With no first games the first labels come from playouts.
    """
    table, known = _loaded(source)
    learning = np.arange(len(table)) < len(table) - _tested(size, table)
    explained = np.flatnonzero(learning & (np.bincount(table.game, known >= 0) > 0))
    mine = np.sort(np.random.default_rng([seed, first]).permutation(explained)[:first])
    lessons = []
    if first:
        rows = np.isin(table.game, mine)
        lessons = [LabelledBlocks(table.take(mine), known[rows] == 1)]
    history: list[dict[str, float]] = []
    settings = ScorerSettings(
        members=size.members, epochs=size.epochs, rounds=size.rounds, seed=seed
    )
    grown = learn_from_scores(
        table, settings, chosen=learning & ~np.isin(np.arange(len(table)), mine), made=lessons,
        grown=bool(first), flips=bool(flips), on_round=history.append,
    )  # fmt: skip
    return grown, history


def _tested(size: BootstrapSize | LifeSize, table: BlockTable) -> int:
    """Return how many games are held out; never more than half."""
    return min(size.test_games, len(table) // 2)


def _grow(job: tuple[_Tables, BootstrapSize, int, int, int]) -> Row:
    source, size, first, flips, seed = job
    table, known = _loaded(source)
    grown, history = _growing(source, size, first, flips, seed)
    tested = _tested(size, table)
    exact = table.exact(grown.logits(table) >= 0)
    compared = grown.labelled_games[table.game] & (known >= 0)
    nine = [] if source.nine is None else read_scored_games([source.nine])
    about = {"first": first, "flips": flips, "seed": seed}
    rounds = [
        {**about, "round": int(row["round"]), "labelled": int(row["believed"]),
         "turned": int(row["turned"])}
        for row in history
    ]  # fmt: skip
    row = {
        **about, "rounds": len(history), "games": len(table) - tested - first,
        "labelled": int(grown.labelled_games.sum()), "blocks": int(compared.sum()),
        "wrong": int((grown.labels != (known == 1))[compared].sum()),
        "held_out": tested, "held_right": int(exact[len(table) - tested :].sum()),
        "nine": len(nine), "nine_right": sum(_right(grown, game) for game in nine),
    }  # fmt: skip
    return {"row": row, "rounds": rounds}


def _right(grown: Grown, game: ScoredGame) -> bool:
    """Return whether the networks count a game of people right."""
    described = describe(game.grid)
    blocks = described.position.blocks
    scorer = BlockScorer()
    scorer.networks_ = grown.networks
    logits = scorer.logits(described)
    if not len(blocks):
        return False
    return abs(game.margin(judgement_of(described, logits).dead, "plain") - game.score) < 0.01


# ----- Life and death during the game -----


@dataclass(frozen=True)
class LifeSize:
    """From how many games life and death during the game is learned."""

    made: int = 0
    test_games: int = 300
    board: int = 19
    train: str = MANY
    games: int = 1500
    first: int = 20  # labelled games from which the labels of the others are grown
    shares: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)  # of a game's moves
    seeds: int = 5
    rounds: int = 6
    members: int = 1
    epochs: int = 100


_LIFE = LifeSize()
_QUICK_LIFE = LifeSize(
    made=64, test_games=20, board=9, games=44, shares=(0.3, 0.7), seeds=2, rounds=3, epochs=40
)


def life(context: LabContext, size: LifeSize) -> list[NewRows]:
    """Learn which blocks survive from labels grown from a few games; a row per share and seed."""
    source = _tables(context, size)
    path = _training_file(context, size)
    games = _chosen(path, size)
    for number, share in enumerate(size.shares):
        context.at(0.5 + 0.3 * number / len(size.shares), f"positions at {share:.0%}")
        if not _early(source, share).is_file():
            describe_games(games, share).save(_early(source, share))
    seeds = list(range(context.seed, context.seed + size.seeds))
    name = f"life-{fingerprint(to_plain(size))}.jsonl"
    found = Journal(context.place("scoring") / name).complete(
        {str(seed): (source, size, seed) for seed in seeds}, _learn_life,
        workers=context.workers, ray=context.ray, on_step=context.between(0.8, 1.0, "training"),
    )  # fmt: skip
    rows = [row for each in found for row in each["rows"]]
    return [NewRows("scoring-life", rows, seeds, to_plain(size))]


def _early(source: _Tables, share: float) -> Path:
    return source.table.with_name(f"features-{share:.2f}.npz")


def _owners(table: BlockTable, alive: BoolArray) -> Any:
    """Return who owns every point at the end: BLACK, WHITE or EMPTY, games x rows x columns."""
    owners = np.zeros(table.grids.shape, np.int8)
    for game, grid in enumerate(table.grids):
        dead, kinds = table.dead(game, alive[table.rows(game)]), np.zeros(grid.shape, np.int8)
        kernels.plain_kinds(grid, dead, kinds)
        owners[game] = np.where(dead, 3 - grid, grid)
        owners[game][kinds == kernels.BLACK_TERRITORY] = BLACK
        owners[game][kinds == kernels.WHITE_TERRITORY] = WHITE
    return owners


def _survives(early: BlockTable, owners: Any) -> BoolArray:
    """Return which blocks lie on points that mostly belong to their colour at the end."""
    found = np.zeros(len(early.block), np.bool_)
    for game, grid in enumerate(early.grids):
        part = early.parts[game].ravel()
        kept = np.bincount(part, (owners[game] == grid).ravel()) > 0.5 * np.bincount(part)
        found[early.rows(game)] = kept[early.block[early.rows(game)]]
    return found


def _learn_life(job: tuple[_Tables, LifeSize, int]) -> Row:
    source, size, seed = job
    table, known = _loaded(source)
    grown, _ = _growing(source, size, size.first, 0, seed)
    tested = np.arange(len(table)) >= len(table) - _tested(size, table)
    learned = _owners(table, grown.labels)
    true = _owners(table, known == 1)
    certain = tested & (np.bincount(table.game, known >= 0) > 0)
    x, target, tests = [], [], []
    for share in size.shares:
        early = BlockTable.load(_early(source, share))
        use = grown.labelled_games[early.game] & ~tested[early.game]
        x.append(early.features[use])
        target.append(_survives(early, learned)[use])
        rows = certain[early.game]
        tests.append((share, early, rows, _survives(early, true)[rows]))
    joined = np.asfortranarray(np.concatenate(x), np.float64)
    networks = train_ensemble(
        joined, np.concatenate(target), np.ones(len(joined)), hidden=16, epochs=size.epochs,
        decay=1e-4, seeds=range(seed, seed + size.members),
    )  # fmt: skip
    found = []
    for share, early, rows, survives in tests:
        features = early.features[rows]
        alive = networks.vote(np.asfortranarray(features, np.float64)) >= 0
        means: FloatArray = features[:, [HEAVY_MEAN, LIGHT_MEAN]].astype(np.float64)
        found.append({
            "seed": seed, "share": share, "games": int(certain.sum()), "blocks": int(rows.sum()),
            "right": int((alive == survives).sum()), "alive": int(survives.sum()),
            "playouts": int(((first_opinion(*means.T) >= 0.5) == survives).sum()),
        })  # fmt: skip
    return {"rows": found}


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "scoring-failure", "The paper's classifiers, their faults one by one", failure,
        quick=_QUICK_FAILURE, full=_FAILURE, minutes=(0.4, 240),
        needs=lambda size: () if size.made else (size.train,),
    ),
    Experiment(
        "scoring", "Scorers on unseen games", scorers, quick=_QUICK_SCORERS, full=_SCORERS,
        minutes=(0.2, 60), needs=lambda size: () if size.made else (size.train, *TESTS),
    ),
    Experiment(
        "scoring-bootstrap", "Labels grown from a few games", bootstrap, quick=_QUICK_BOOTSTRAP,
        full=_BOOTSTRAP, minutes=(0.08, 120),
        needs=lambda size: () if size.made else (size.train, NINE),
    ),
    Experiment(
        "scoring-life", "Life and death during the game", life, quick=_QUICK_LIFE, full=_LIFE,
        minutes=(0.05, 30), needs=lambda size: () if size.made else (size.train, NINE),
    ),
)  # fmt: skip
