"""Scoring finished games (Burzillo): the failure shown and repaired, and scorers that work.

The paper trained on 500, 5,000 and 15,000 games, scored none right and predicted numbers such as
-58,583,120. Here both its energies are trained with RPROP and with momentum, with the printed
gradient and with the right one.

For every block r = v . [W (x + a) + b]. For every empty region the numbers of black and white
blocks beside it, the sums of their r and its size go through s = g . [V (. + c) + d]. The score,
positive for White, is komi, prisoners, the regions' s and twice the dead stones. The printed
gradient has the wrong sign for everything before r.

Beyond the paper, a scorer is trained from final scores and measured on unseen games beside simple
scorers and GNU Go. Each says which stones of finished games are dead; all are counted alike.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tengen.arrays import BoolArray, FloatArray, IntArray
from tengen.board import BLACK, WHITE, Board, parse_gtp, playouts, row_col
from tengen.board.counting import Method, unconditional
from tengen.board.counting_kernels import territory_margin
from tengen.errors import TengenError
from tengen.gtp.client import Client, EngineFault, EngineRefusal, Limits, find_program
from tengen.lab import papers
from tengen.lab.result import Findings, Picture, Plot, Table, line
from tengen.lab.steps import Experiment, Journal, LabContext
from tengen.lab.verdicts import Comparison, card_results, compare, number, percent
from tengen.learners.scoring import BlockScorer, network, training
from tengen.learners.scoring.features import PositionFeatures
from tengen.learners.scoring.game_score import (
    Accuracy,
    Progress,
    ScoredGame,
    evaluate,
    read_scored_games,
)
from tengen.learners.scoring.network import Rprop
from tengen.learners.scoring.settings import ScorerSettings
from tengen.learners.scoring.training import MODEL, train_scorer
from tengen.models import has_model
from tengen.progress import Report
from tengen.records import Corpus, GameArrays, GameRecord
from tengen.records.corpus import last_positions

TRAIN = "kgs6d-scored-train.sgf"
TESTS: dict[str, Method] = {
    "kgs6d-scored-dev.sgf": "careful",
    "ogs-scored-19x19-dev.sgf": "plain",
    "ogs-scored-9x9-dev.sgf": "plain",
}
_PLAYER = "mcts:playouts=60,resign=0"  # plays our own finished games

# ----- Games -----


@dataclass(frozen=True)
class Size:
    """The games to learn from, and for how long."""

    made: int = 120  # our own games to learn from; 0 for the collection
    test_games: int = 80  # our own games to measure on
    board: int = 9
    train: str = TRAIN  # file of the collection
    counts: tuple[int, ...] = (120,)  # games that the paper's network learns from
    steps: int = 60  # batches that it learns from
    members: int = 2
    epochs: int = 60
    rounds: int = 2
    folds: int = 3


_QUICK = Size()
_FULL = Size(
    made=0, test_games=0, board=19, counts=(500, 3000), members=4, epochs=100, rounds=3
)  # fmt: skip


def make_games(
    count: int,
    size: int,
    seed: int,
    *,
    workers: int = 1,
    report: Report = lambda done, total: None,
) -> list[GameRecord]:
    """Return finished games with true scores; a few may be missing because they never settled."""
    from tengen.players import make_player

    making = training.Making(size, count, _PLAYER, partial(make_player, _PLAYER))
    return training.make_games(
        making, seed, workers=workers, tell=lambda what, done, total: report(done, total)
    )


def _made(
    context: LabContext, name: str, count: int, board: int, seed: int, share: tuple[float, float]
) -> Path:
    """Return a file of our own finished games, made once."""
    path = context.place("scoring") / f"{name}.sgf"
    if not path.is_file():
        report = context.between(*share, "finished game")
        games = make_games(count, board, seed, workers=context.workers, report=report)
        training.write_games(games, path)
    return path


def _train_file(context: LabContext, size: Size, share: float) -> Path:
    if not size.made:
        return context.games(size.train)
    return _made(context, "train", size.made, size.board, context.seed, (0.0, share))


# ----- The paper's network -----

SECOND_DISTANCES = (16, 31)  # columns of the 48 features that the 46 leave out

FAULTS = (
    "1. The sign. The energy holds minus the regions' awards, so its derivative by r has a minus; "
    "the paper prints a plus. Everything before r climbs the energy.",
    "2. No squashing. Both halves are affine: one linear function written as a product of factors "
    "that grow without bound.",
    "3. The step. Dead stones enter by a step function; its gradient is zero: they teach nothing.",
    "4. The model. A region's award is a sum of its size and counts; scoring needs size times "
    "owner. Regions are not joined through dead blocks.",
    "5. RPROP is a method for whole batches; fed single games its steps follow noise.",
    "6. One number a game labels some thirty blocks, and a few recorded results are wrong.",
)
"""Why the paper failed; its own two reasons (the absolute value, concavity) do not hold."""


# What a rate is multiplied by when the error falls and when it rises beyond the tolerance, and the
# share of its speed that a number keeps.
_RATE_UP, _RATE_DOWN, _TOLERANCE, _KEPT = 1.05, 0.7, 1.04, 0.9

Energy = Literal["step", "linear"]


@dataclass
class PaperGames:
    """Games as flat arrays: blocks, empty regions, which of them touch, and what is known."""

    x: FloatArray  # features of all blocks of all games, scaled (the paper scales nothing)
    colour: IntArray
    size: FloatArray
    block_game: IntArray
    region_game: IntArray
    region_size: FloatArray
    edge_region: IntArray
    edge_block: IntArray
    offset: FloatArray  # per game: komi less Black's prisoners plus White's
    score: FloatArray  # per game: the recorded score, White-positive


def initial_parameters(features: int, hidden: int, seed: int) -> list[FloatArray]:
    """Return small random parameters [W, a, b, v, V, c, d, g]."""
    rng = np.random.default_rng(seed)
    shapes: list[tuple[int, ...]] = [
        (hidden, features), (features,), (hidden,), (hidden,), (4, 5), (5,), (4,), (4,),
    ]  # fmt: skip
    return [rng.uniform(-0.1, 0.1, shape) for shape in shapes]


def forward(
    p: list[FloatArray], games: PaperGames, energy: Energy
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the predicted scores, every block's r, and every region's vector."""
    w, a, b, v, big, c, d, g = p
    r = ((games.x + a) @ w.T + b) @ v
    white = games.colour[games.edge_block] == 2
    n = len(games.region_game)
    vectors = np.zeros((n, 5))
    for side, mask in ((0, ~white), (1, white)):
        at, blocks = games.edge_region[mask], games.edge_block[mask]
        vectors[:, side] = np.bincount(at, minlength=n)
        vectors[:, 2 + side] = np.bincount(at, weights=r[blocks], minlength=n)
    vectors[:, 4] = games.region_size
    s = ((vectors + c) @ big.T + d) @ g
    sign = np.where(games.colour == 2, -1.0, 1.0)
    fallen = 2 * games.size * sign * ((r > 0) if energy == "step" else r)
    count = len(games.score)
    scores = (
        games.offset
        + np.bincount(games.region_game, weights=s, minlength=count)
        + np.bincount(games.block_game, weights=fallen, minlength=count)
    )
    return scores, r, vectors


def energy_and_gradient(
    p: list[FloatArray], games: PaperGames, *, energy: Energy = "step", printed: bool = False
) -> tuple[float, list[FloatArray], FloatArray]:
    """Return the mean of |true - predicted|, its gradient and the predictions.

    With `printed` the part of the gradient that goes through r has the paper's sign: plus.
    """
    w, a, b, v, big, c, d, g = p
    scores, _, vectors = forward(p, games, energy)
    error = games.score - scores
    count = len(scores)
    # dE/dscore = -sign(error), zero at zero as the paper says.
    outer = -np.sign(error) / count
    pull = outer[games.region_game]
    shifted = vectors + c
    inside = shifted @ big.T + d
    d_g = pull @ inside
    d_big = np.outer(g, pull @ shifted)
    d_c = pull.sum() * (big.T @ g)
    d_d = pull.sum() * g
    through = big.T @ g
    white = games.colour[games.edge_block] == 2
    d_r: FloatArray = np.bincount(
        games.edge_block,
        weights=pull[games.edge_region] * np.where(white, through[3], through[2]),
        minlength=len(games.colour),
    ).astype(np.float64)
    if energy == "linear":
        sign = np.where(games.colour == 2, -1.0, 1.0)
        d_r = d_r + 2 * games.size * sign * outer[games.block_game]
    if printed:
        d_r = -d_r
    x = games.x + a
    d_v = d_r @ (x @ w.T + b)
    d_w = np.outer(v, d_r @ x)
    d_b = d_r.sum() * v
    d_a = d_r.sum() * (w.T @ v)
    return (
        float(np.abs(error).mean()),
        [d_w, d_a, d_b, d_v, d_big, d_c, d_d, d_g],
        scores,
    )


class Momentum:
    """Gradient descent with momentum and a rate that adapts, from `rate` on."""

    def __init__(self, *, rate: float) -> None:
        self.rate = rate
        self._speed: list[FloatArray] = []
        self._error = np.inf

    def step(
        self, arrays: Sequence[FloatArray], gradients: Sequence[FloatArray], error: float = 0.0
    ) -> None:
        """Change the arrays in place; `error` is the batch's, by which the rate adapts."""
        if not self._speed:
            self._speed = [np.zeros(a.shape) for a in arrays]
        if error > self._error * _TOLERANCE:
            self.rate *= _RATE_DOWN
            for speed in self._speed:
                speed[...] = 0.0
        elif error < self._error:
            self.rate *= _RATE_UP
        self._error = error
        for array, gradient, speed in zip(arrays, gradients, self._speed, strict=True):
            speed *= _KEPT
            speed -= self.rate * (1 - _KEPT) * gradient
            array += speed


_DELTA = 5.0


def expected_margins(alive: FloatArray, games: PaperGames) -> tuple[FloatArray, FloatArray]:
    """Return every game's expected margin for Black, without komi and prisoners, and its slope.

    The slope is the derivative of the margin of its own game by every block's probability.
    """
    sign = np.where(games.colour == 1, 1.0, -1.0)
    doomed = np.clip(1.0 - alive, 1e-9, 1.0)
    n, count = len(games.region_game), len(games.score)
    slope = 2.0 * games.size * sign
    held = np.zeros(n)
    for colour in (1, 2):
        mine = games.colour[games.edge_block] == colour
        at, blocks = games.edge_region[mine], games.edge_block[mine]
        nobody = np.exp(np.bincount(at, weights=np.log(doomed[blocks]), minlength=n))
        side = 1.0 if colour == 1 else -1.0
        held += side * np.where(np.bincount(at, minlength=n) > 0, 1.0 - nobody, 0.0)
        pull = side * games.region_size[at] * nobody[at] / doomed[blocks]
        slope = slope + np.bincount(blocks, weights=pull, minlength=len(alive))
    lost = -2.0 * games.size * sign * (1.0 - alive)
    margins: FloatArray = np.bincount(
        games.region_game, weights=games.region_size * held, minlength=count
    ).astype(np.float64)
    margins = margins + np.bincount(games.block_game, weights=lost, minlength=count)
    return margins, slope


def soft_loss(
    weights: Sequence[FloatArray], games: PaperGames
) -> tuple[float, list[FloatArray], FloatArray]:
    """Return the mean Huber loss of the expected margins, its gradient and the probabilities."""
    w, b, v, c = weights
    hidden = np.tanh(games.x @ w + b)
    alive = network.sigmoid(np.clip(hidden @ v + c[0], -network.LIMIT, network.LIMIT))
    margins, slope = expected_margins(alive, games)
    # The record is White-positive and holds komi and prisoners.
    error = margins - (games.offset - games.score)
    size = np.abs(error)
    loss = np.where(size < _DELTA, 0.5 * error**2, _DELTA * (size - 0.5 * _DELTA))
    outer = np.clip(error, -_DELTA, _DELTA) / len(error)
    dz = outer[games.block_game] * slope * alive * (1.0 - alive)
    dh = np.outer(dz, v) * (1.0 - hidden**2)
    return (
        float(loss.mean()),
        [games.x.T @ dh, dh.sum(axis=0), hidden.T @ dz, np.array([dz.sum()])],
        alive,
    )


def train_soft(games: PaperGames, *, epochs: int = 100, seed: int = 0) -> list[FloatArray]:
    """Fit a network to final scores by iRprop- in full batches; return its weights."""
    weights = network.initial(games.x.shape[1], 25, seed)
    weights[3][:] = 1.0  # most blocks live
    way = Rprop(first=0.01, most=1.0)
    for _ in range(epochs):
        loss, gradients, _ = soft_loss(weights, games)
        way.step(weights, gradients, loss)
    return weights


def paper_games(games: GameArrays) -> PaperGames:
    """Describe finished games by the paper's 46 features, standardised (which it did not do)."""
    grids, taken = last_positions(games)
    x, colours, sizes, block_game = [], [], [], []
    region_game, region_size, edge_region, edge_block = [], [], [], []
    blocks = regions = 0
    for g, grid in enumerate(_cut(grids, games)):
        position = PositionFeatures(grid)
        stones = position.colour > 0
        number = np.where(stones, blocks + np.cumsum(stones) - 1, regions + np.cumsum(~stones) - 1)
        touching = position.adjacent & ~stones[:, None] & stones
        edges = np.argwhere(touching)
        edge_region += number[edges[:, 0]].tolist()
        edge_block += number[edges[:, 1]].tolist()
        x.append(position.paper()[stones])
        colours.append(position.colour[stones])
        sizes.append(position.size[stones])
        block_game.append(np.full(int(stones.sum()), g))
        region_size.append(position.size[~stones])
        region_game.append(np.full(int((~stones).sum()), g))
        blocks += int(stones.sum())
        regions += int((~stones).sum())
    table = np.delete(np.concatenate(x), SECOND_DISTANCES, axis=1)
    table = (table - table.mean(axis=0)) / np.maximum(table.std(axis=0), 1e-9)
    return PaperGames(
        x=table,
        colour=np.concatenate(colours),
        size=np.concatenate(sizes).astype(np.float64),
        block_game=np.concatenate(block_game),
        region_game=np.concatenate(region_game),
        region_size=np.concatenate(region_size).astype(np.float64),
        edge_region=np.array(edge_region, np.int64),
        edge_block=np.array(edge_block, np.int64),
        offset=games.komi.astype(np.float64) - taken[:, BLACK - 1] + taken[:, WHITE - 1],
        score=-games.score.astype(np.float64),
    )


def train_paper(
    games: PaperGames,
    *,
    energy: Energy = "step",
    optimiser: str = "rprop",
    printed: bool = True,
    steps: int = 60,
    seed: int = 0,
) -> dict[str, Any]:
    """Train the paper's network; return the error before and after and the largest prediction."""
    parameters = initial_parameters(games.x.shape[1], 10, seed)
    way = Rprop() if optimiser == "rprop" else Momentum(rate=1e-4)
    errors = []
    scores = games.offset
    for _ in range(steps + 1):
        error, gradients, scores = energy_and_gradient(
            parameters, games, energy=energy, printed=printed
        )
        errors.append(error)
        if not np.isfinite(error) or error > 1e15:
            break
        way.step(parameters, gradients, error)
    finite = [float(e) if np.isfinite(e) else 1e300 for e in errors]
    return {
        "games": len(games.score),
        "energy": energy,
        "optimiser": optimiser,
        "gradient": "printed" if printed else "right",
        "steps": len(errors) - 1,
        "first_error": finite[0],
        "least_error": min(finite),
        "last_error": finite[-1],
        "largest_prediction": float(np.nan_to_num(np.abs(scores).max(), posinf=1e300)),
        "exact": float((np.abs(np.round(scores * 2) / 2 - games.score) < 0.01).mean()),
        "curve": finite,
    }


def _train_repaired(
    games: GameArrays, described: PaperGames, *, epochs: int = 150, seed: int = 0
) -> dict[str, Any]:
    """Train the repaired energy (soft score, 46 features alone) and count its hard answers."""
    weights = train_soft(described, epochs=epochs, seed=seed)
    loss, _, alive = soft_loss(weights, described)
    grids, _ = last_positions(games)
    wanted = described.offset - described.score
    errors, row = [], 0
    for g, grid in enumerate(_cut(grids, games)):
        position = PositionFeatures(grid)
        fallen = np.zeros(len(position.size), np.bool_)
        fallen[position.blocks] = alive[row : row + len(position.blocks)] < 0.5
        row += len(position.blocks)
        dead = fallen[position.part]
        margin = territory_margin(grid, dead, True, np.zeros(grid.shape, np.int8))
        errors.append(abs(margin - wanted[g]))
    return {
        "games": len(games),
        "energy": "soft score",
        "optimiser": "rprop",
        "gradient": "right",
        "steps": epochs,
        "loss": loss,
        "last_error": float(np.mean(errors)),
        "largest_prediction": float(np.max(np.abs(wanted)) + np.max(errors)),
        "exact": float(np.mean(np.array(errors) < 0.01)),
    }


def _cut(grids: Any, games: GameArrays) -> Iterator[Any]:
    """Yield the grids without what lies outside the boards."""
    for grid, rows, cols in zip(grids, games.rows, games.cols, strict=True):
        yield np.ascontiguousarray(grid[:rows, :cols])


def train_versions(
    games: GameArrays,
    *,
    counts: Sequence[int] = (500, 3000),
    steps: int = 60,
    seed: int = 0,
    say: Callable[[str], None] = lambda line: None,
) -> list[dict[str, Any]]:
    """Train every version of the paper on the first games after a shuffle by the seed."""
    runs = []
    energies: tuple[Energy, Energy] = ("step", "linear")
    for count in counts:
        chosen = games.shuffled(seed).take(np.arange(min(count, len(games))))
        described = paper_games(chosen)
        trivial = float(np.abs(described.score - described.offset).mean())
        for energy, optimiser, printed in product(energies, ("rprop", "momentum"), (True, False)):
            say(f"{len(chosen)} games, {energy} energy, {optimiser}")
            run = train_paper(
                described, energy=energy, optimiser=optimiser, printed=printed, steps=steps,
                seed=seed,
            )  # fmt: skip
            runs.append({**run, "trivial_error": trivial})
        say(f"{len(chosen)} games, repaired energy")
        runs.append(_train_repaired(chosen, described, seed=seed))
    return runs


# ----- Simple scorers and GNU Go, to compare a learned scorer with -----

PROGRAM = "gnugo"
TIME_LIMIT = 120.0  # seconds per game


@dataclass(frozen=True)
class DeadStones:
    """An engine's answer for one game: the vertices of dead stones, or why there is none."""

    key: str  # the engine and a digest of the game's SGF
    dead: list[str] | None
    seconds: float  # processor time if the engine reports it, else elapsed time
    limit: float
    failure: str = ""


class DeadLists:
    """GNU Go's dead stones at one level, stored in a file if one is given.

    It gets a fresh process per game, so that an answer depends on the game alone, and a time limit.
    """

    def __init__(
        self,
        level: int = 10,
        *,
        stored: Path | None = None,
        limit: float = TIME_LIMIT,
        program: str = PROGRAM,
    ) -> None:
        self.limit = limit
        self.command = (program, "--mode", "gtp", "--quiet", "--level", str(level), "--seed", "1")
        self.engine = f"{Path(program).name} level {level}"
        self._journal = Journal(stored)
        try:
            self._known = {row["key"]: DeadStones(**row) for row in self._journal.rows()}
        except TypeError:
            raise TengenError(f"{stored}: has no answers about dead stones") from None

    def ask(self, record: GameRecord) -> DeadStones:
        """Return the dead stones of a game's last position, or the failure.

        A game on which the engine failed is tried again only with a longer limit.
        """
        text = record.utf8_sgf(main_line=True)
        key = f"{self.engine} {hashlib.sha256(text).hexdigest()[:24]}"
        before = self._known.get(key)
        if before is not None and (before.dead is not None or before.limit >= self.limit):
            return before
        answer = self._known[key] = self._ask(text, key)
        self._journal.append(asdict(answer))
        return answer

    def _ask(self, text: bytes, key: str) -> DeadStones:
        limits = Limits(startup=self.limit, command=self.limit, close=1.0)
        begin = time.monotonic()
        dead: list[str] | None = None
        failure, seconds = "", 0.0
        with tempfile.TemporaryDirectory(prefix="tengen-") as folder:
            file = Path(folder) / "game.sgf"
            file.write_bytes(text)
            try:
                with Client.start(self.command, limits=limits) as client:
                    client.command("loadsgf", file)
                    left = max(0.1, self.limit - (time.monotonic() - begin))
                    words = client.command("final_status_list", "dead", timeout=left).split()
                    seconds = time.monotonic() - begin
                    with suppress(EngineRefusal, ValueError):
                        seconds = float(client.command("cputime"))
                dead = words
            except EngineFault as fault:
                failure = f"{fault.kind}: {fault.reason}"
                seconds = time.monotonic() - begin
        return DeadStones(key, dead, round(seconds, 3), self.limit, failure)


_Way = Callable[[ScoredGame], BoolArray]


def _nobody_dead(game: ScoredGame) -> BoolArray:
    return np.zeros(game.grid.shape, np.bool_)


def _benson_dead(game: ScoredGame) -> BoolArray:
    """Treat stones inside unconditionally alive enemy groups as dead."""
    black, white = unconditional(game.grid, BLACK), unconditional(game.grid, WHITE)
    dead: BoolArray = ((game.grid == WHITE) & black.points) | ((game.grid == BLACK) & white.points)
    return dead


def _playout_dead(game: ScoredGame, count: int = 400) -> BoolArray:
    """Treat stones as dead that the enemy owns in most light playouts."""
    board = Board.from_grid(game.grid)
    owner = playouts(board, count, seed=1, threads=1).ownership.reshape(game.grid.shape)
    colour = np.where(game.grid == BLACK, 1.0, -1.0)
    return (game.grid > 0) & (owner * colour < 0)


SIMPLE: dict[str, _Way] = {
    "all alive": _nobody_dead,
    "benson": _benson_dead,
    "playout majority": _playout_dead,
}


def measure_simple(
    name: str, games: Sequence[ScoredGame], method: Method, progress: Progress
) -> dict[str, Any]:
    """Measure one of the simple scorers."""
    found = Accuracy()
    begin = time.process_time()
    for game in games:
        found.add(game.margin(SIMPLE[name](game), method), game)
        progress(name, found.games, len(games))
    found.seconds = time.process_time() - begin
    return {"name": name, **found.rates(), "failed": 0}


def measure_gnugo(
    lists: DeadLists, games: Sequence[ScoredGame], method: Method, progress: Progress
) -> dict[str, Any]:
    """Measure GNU Go; a game on which it fails counts as wrong and is reported."""
    found, failed = Accuracy(), 0
    for game in games:
        answer = lists.ask(game.record())
        found.seconds += answer.seconds
        if answer.dead is None:
            failed += 1
            found.fail()
        else:
            found.add(game.margin(_mask(game, answer.dead), method), game)
        progress(lists.engine, found.games, len(games))
    return {"name": lists.engine, **found.rates(), "failed": failed}


def _mask(game: ScoredGame, vertices: Sequence[str]) -> BoolArray:
    rows, cols = game.grid.shape
    dead = np.zeros((rows, cols), np.bool_)
    for vertex in vertices:
        dead[row_col(parse_gtp(vertex, rows, cols), cols)] = True
    if (dead & (game.grid == 0)).any():
        raise TengenError(f"an engine called the empty point {' or '.join(vertices)} dead")
    return dead


def evaluate_all(
    scorer: BlockScorer,
    games: Sequence[ScoredGame],
    *,
    method: Method = "careful",
    levels: Sequence[int] = (10,),
    stored: Path | None = None,
    limit: float = TIME_LIMIT,
    progress: Progress = lambda name, done, of: None,
) -> dict[str, Any]:
    """Evaluate a scorer, the simple scorers and, if installed, GNU Go at some levels.

    GNU Go may take `limit` seconds per game; its answers are stored in a file.
    """
    found = evaluate(scorer, games, method=method, progress=progress)
    found["baselines"] = [measure_simple(name, games, method, progress) for name in SIMPLE]
    if find_program(PROGRAM) is not None:
        lists = [DeadLists(level, stored=stored, limit=limit) for level in levels]
        found["baselines"] += [measure_gnugo(each, games, method, progress) for each in lists]
    return found


# ----- The failure -----


def failure(context: LabContext, size: Size) -> Findings:
    """Train every version of the paper's network, as printed and repaired."""
    games = Corpus([_train_file(context, size, 0.5)]).as_arrays()
    text = f"Games of {size.train}, which ended by counting."
    if size.made:
        text = (
            f"{len(games)} games of search by playouts on {size.board}x{size.board}, cut where "
            "everything is settled; the true status of each stone comes from playing on to the end "
            "with either side to move. The learner gets only the final score. The paper trained on "
            "professional 19x19 games."
        )
    runs = train_versions(
        games, counts=size.counts, steps=size.steps, seed=context.seed,
        say=lambda line: context.at(0.6, line),
    )  # fmt: skip
    paper = {"exact": papers.SCORING_EXACT, "predictions": list(papers.SCORING_PREDICTIONS)}
    return Findings(
        text=text,
        points=FAULTS,
        points_title="Six reasons why the paper's network cannot learn",
        tables=[
            Table(
                "The paper's network, its faults repaired one by one: errors on the training games",
                ["games", "energy", "optimiser", "gradient", "mean error", "largest prediction",
                 "exact"],
                [
                    [
                        run["games"], run["energy"], run["optimiser"], run["gradient"],
                        number(run["last_error"]), number(run["largest_prediction"]),
                        percent(run["exact"]),
                    ]
                    for run in runs
                ],
                note=f"Predicting only komi and prisoners errs by {runs[0]['trivial_error']:.1f} "
                "points.",
            )
        ],
        figures=[_divergence(runs)],
        comparisons=_failure_comparisons(runs, full=not size.made),
        data={"paper": paper, "runs": runs, "faults": list(FAULTS)},
    )  # fmt: skip


def _divergence(runs: list[dict[str, Any]]) -> Plot:
    """Draw the mean error during RPROP, with the printed sign and with the right one."""
    most = max(run["games"] for run in runs)
    lines = []
    for run in runs:
        if run["games"] == most and run["optimiser"] == "rprop" and "curve" in run:
            errors = [max(min(e, 1e16), 1e-2) for e in run["curve"]]
            name = f"{run['energy']} energy, {run['gradient']} sign"
            lines.append(line(name, list(range(len(errors))), errors))
    title = "One wrong sign: the error rises where it should fall (RPROP)"
    return Plot(title, "batches", "mean error in points", lines, log=True)


def _failure_comparisons(runs: list[dict[str, Any]], *, full: bool) -> list[Comparison]:
    """Compare the printed network with what the paper reports."""
    rprop = [r for r in runs if r["optimiser"] == "rprop"]
    printed = [r for r in rprop if r["gradient"] == "printed"]
    right = [r for r in rprop if r["gradient"] == "right" and r["energy"] != "soft score"]
    soft = [r for r in rprop if r["energy"] == "soft score"]
    # The paper's first energy; the second one goes much further still.
    largest = max(r["largest_prediction"] for r in printed if r["energy"] == "step")
    calm = max(r["largest_prediction"] for r in right)
    best = max(soft, key=lambda r: r["games"])
    return [
        compare(
            "burzillo.exact", max(r["exact"] for r in printed), full=full,
            why="With the printed sign the error of the block half rises.",
        ),
        compare(
            "burzillo.largest", largest, holds=largest > 1e6,
            why="Astronomic here too: with the wrong sign the error rises.",
        ),
        compare(
            "burzillo.reasons", holds=calm > 1e6, text=f"right sign: at most {number(calm)}",
            why="With the right sign and the same energy nothing diverges, so neither is the "
            "reason; the gradient printed for the blocks has the wrong sign.",
        ),
        compare(
            "burzillo.repaired", best["exact"],
            why="The same 46 features and scores alone; owner times size instead of a sum.",
        ),
    ]  # fmt: skip


# ----- Scorers that work -----


def scorer(context: LabContext, size: Size) -> Findings:
    """Train a scorer from final scores; measure it and the shipped one on unseen games."""
    learned = _learned(context, size)
    if size.made:
        seed, share = context.seed + 1, (0.4, 0.5)
        test = _made(context, "test", size.test_games, size.board, seed, share)
        tests: dict[Path, Method] = {test: "careful"}
    else:
        tests = {context.games(name): method for name, method in TESTS.items()}
    scores = len(read_scored_games([_train_file(context, size, 0.3)]))
    judges = {f"learned here from {scores} scores": learned}
    if has_model("scorer"):
        judges["shipped scorer (3,368 games of 19x19, 299 of its own)"] = BlockScorer.load("scorer")
    rows: list[list[str]] = []
    comparisons: list[Comparison] = []
    for index, (path, method) in enumerate(tests.items()):
        context.at(0.7 + 0.1 * index, path.name)
        for who, got in _measured(context, judges, path, method, engines=not size.made):
            rate = percent(got["exact"], got["exact_interval"])
            row = [path.name, who, rate, percent(got["winner"])]
            # Times vary: they are not part of the small laboratory, which is reproducible.
            rows.append(row if size.made else [*row, f"{1000 * got['seconds_per_game']:.1f}"])
            measured = got["exact"], got["exact_interval"]
            if size.made and who in judges:
                why = "Other games: ours are our search's, theirs were played by people."
                row_ = compare("werf.exact", *measured, full=False, detail=who, why=why)
                comparisons.append(row_)
            elif who == next(iter(judges)):
                why, claim = f"{got['games']} games not trained on.", _claim(path.name)
                comparisons.append(compare(claim, *measured, detail=path.name, why=why))
    columns = ["games", "scorer", "exact", "right winner"]
    columns += [] if size.made else ["ms per game"]
    name, judge = list(judges.items())[-1]
    return Findings(
        text=_about(size),
        tables=[Table("Unseen finished games", columns, rows)],
        figures=_ownership(judge, read_scored_games([next(iter(tests))]), name),
        comparisons=[*comparisons, *(_card_comparisons() if size.made else [])],
    )  # fmt: skip


def _about(size: Size) -> str:
    if not size.made:
        return "Games of people that were not trained on. All scorers are counted alike."
    return (
        f"{size.test_games} more games of our own (less those that never settled), made the same "
        "way and not trained on. All scorers are counted alike; a game is exact if the count "
        "equals the true one. The truth comes from a search by playouts, so it favours scorers by "
        "playouts; the games of people in the comparisons are a better test."
    )


def _learned(context: LabContext, size: Size) -> Any:
    folder = context.place("scoring") / "training"
    if not (folder / MODEL).is_file():
        path = _train_file(context, size, 0.3)
        settings = ScorerSettings(
            members=size.members, epochs=size.epochs, rounds=size.rounds, folds=size.folds,
            seed=context.seed,
        )  # fmt: skip
        train_scorer(
            Corpus([path]).as_arrays(), settings, folder, resume=True, sources=path.name,
            report=lambda row: context.at(0.6, "training a scorer"),
            tell=lambda what, done, of: context.at(0.3 + 0.3 * done / of, f"{what} {done}/{of}"),
        )  # fmt: skip
    return BlockScorer.load(folder / MODEL)


def _measured(
    context: LabContext, judges: dict[str, Any], path: Path, method: Method, *, engines: bool
) -> list[tuple[str, dict[str, Any]]]:
    """Measure scorers on one file, then the simple scorers and, with `engines`, GNU Go."""
    found: list[tuple[str, dict[str, Any]]] = []
    stored = context.place("scoring") / f"{path.stem}-gnugo.jsonl"
    all_scorers = partial(evaluate_all, levels=(10,) if engines else (), stored=stored)
    for index, (who, judge) in enumerate(judges.items()):
        measure = partial(all_scorers if index == len(judges) - 1 else evaluate, judge)
        got = context.once(
            f"scoring/{path.stem}-{index}",
            lambda measure=measure: measure(read_scored_games([path]), method=method),  # type: ignore[misc]
        )
        found.append((who, got))
        found += [(each["name"], each) for each in got.get("baselines", [])]
    return found


def _claim(name: str) -> str:
    """Return the claim about games of a collection: van der Werf's for 9x9, else Burzillo's."""
    return "werf.exact" if "9x9" in name else "burzillo.unseen"


def _card_comparisons() -> list[Comparison]:
    """Compare the results on the shipped scorer's card with the papers."""
    rows = []
    for got in card_results("scorer"):
        name = got.what.partition(", ")[2]
        if got.what.startswith("exact score"):
            whose = "of our search" if name.startswith("made") else "of people"
            rows.append(
                compare(
                    _claim(name), got.value, got.interval, detail=f"shipped scorer on {name}",
                    why=f"{got.count} games {whose}; from the model's card.",
                )
            )  # fmt: skip
    return rows


def _ownership(judge: Any, cases: list[Any], name: str) -> list[Picture]:
    """Draw ownership and dead stones of the position with most dead stones."""
    if not cases:
        return []
    readings = [(case, judge.read(case.grid)) for case in cases[:40]]
    case, reading = max(readings, key=lambda pair: int(pair[1].dead.sum()))
    board = Board.from_grid(case.grid)
    dead = [(int(row), int(col)) for row, col in zip(*reading.dead.nonzero(), strict=True)]
    svg = board.svg(ownership=reading.ownership.ravel(), dead=dead, cell=22)
    title = f"Ownership by the {name.partition(' (')[0]}; faint stones are dead"
    return [Picture(title, svg)]


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "scoring-failure", "scoring", "A failure, and why", failure, quick=_QUICK, full=_FULL,
        minutes=(0.8, 10), needs=lambda size: () if size.made else (size.train,),
    ),
    Experiment(
        "scoring", "scoring", "Scorers on unseen games", scorer, quick=_QUICK, full=_FULL,
        minutes=(0.6, 30), needs=lambda size: () if size.made else (size.train, *TESTS),
    ),
)  # fmt: skip
