"""Learn from final scores alone which blocks are alive.

The first labels come from playouts. Every round labels the games whose count equals the recorded
score, and those where flipping one or two of the most doubtful groups makes it equal; trains
networks on them; and labels again with the networks. It stops when a round adds no game. No stone
is labelled by hand.

From its judgements of held-out games the scorer learns how often its count is right.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tengen.arrays import BoolArray, Float32Array, FloatArray, IntArray
from tengen.board.counting_kernels import territory_margin
from tengen.learners.scoring.features import (
    HEAVY_MEAN,
    LIGHT_MEAN,
    UNCONDITIONAL,
    BlockTable,
    columns,
    describe_games,
    first_opinion,
    pool,
)
from tengen.learners.scoring.judgement import Safety, judge
from tengen.learners.scoring.network import LIMIT, Ensemble, train_ensemble
from tengen.learners.scoring.settings import ScorerSettings
from tengen.records import GameArrays

_MOST_DOUBT = 4.0
"""Groups are flipped only up to this doubt, in logits."""
_CANDIDATES, _PAIRED = 14, 8
Report = Callable[[dict[str, float]], None]
_Trial = tuple[tuple[float, tuple[int, ...]], ...]
"""Groups to flip at once, each with its doubt."""


@dataclass
class LabelledBlocks:
    """Positions of one board size whose blocks are known to be alive or dead."""

    table: BlockTable
    alive: BoolArray
    """Per block of the table."""

    def take(self, games: IntArray) -> LabelledBlocks:
        """Return some of the games."""
        return LabelledBlocks(self.table.take(games), self.alive[np.isin(self.table.game, games)])


@dataclass
class Trained:
    """Trained networks, and the labels of the believed games."""

    columns: IntArray
    first: Ensemble
    labels: BoolArray
    believed: BoolArray
    history: list[dict[str, float]] = field(default_factory=list)

    def logits(self, table: BlockTable) -> FloatArray:
        """Return the logit of being alive per block; blocks of a bond share one."""
        size = table.features[:, 0].astype(np.int64)
        x = table.features[:, self.columns].astype(np.float64)
        return pool(self.first.vote(x), size, table.bond)


def _clusters(table: BlockTable, game: int, z: FloatArray) -> list[tuple[float, tuple[int, ...]]]:
    """Return groups of blocks that may be flipped together, with their doubt, doubtful first.

    Blocks of one colour and fate in one area without enemies form a group; so does each alone.
    """
    together: dict[tuple[int, bool], list[int]] = {}
    for row in range(table.start[game], table.start[game + 1]):
        together.setdefault((int(table.area[row]), bool(z[row] >= 0)), []).append(row)
    found = []
    for rows in together.values():
        sizes = table.features[rows, 0].astype(np.float64)
        found.append((float((np.abs(z[rows]) * sizes).sum() / sizes.sum()), tuple(rows)))
        if len(rows) > 1:
            found += [(abs(float(z[row])) + 0.3, (row,)) for row in rows]
    found.sort()
    return found[:_CANDIDATES]


def flip(table: BlockTable, game: int, z: FloatArray) -> BoolArray | None:
    """Return which blocks are alive if flipping one or two doubtful groups gives the score."""
    rows, grid = table.rows(game), table.grids[game]
    kinds = np.zeros(grid.shape, np.int8)
    found = _clusters(table, game, z)
    trials: list[_Trial] = [(c,) for c in found]
    trials += list(itertools.combinations(found[:_PAIRED], 2))
    for trial in sorted(trials, key=_cost):
        if _cost(trial) > _MOST_DOUBT:
            break
        alive = z[rows] >= 0
        for _, group in trial:
            alive[np.array(group) - rows.start] ^= True
        if territory_margin(grid, table.dead(game, alive), True, kinds) == table.target[game]:
            return alive
    return None


def _cost(trial: _Trial) -> float:
    """Return the cost of flipping all these groups."""
    return sum(doubt for doubt, _ in trial) + 0.5 * len(trial)


def label(table: BlockTable, z: FloatArray, chosen: BoolArray) -> tuple[BoolArray, BoolArray, int]:
    """Return which blocks are alive, which games are believed, and how many were flipped."""
    alive = z >= 0
    believed = table.exact(alive) & chosen
    turned = 0
    for game in np.flatnonzero(~believed & table.known & chosen):
        better = flip(table, int(game), z)
        if better is not None:
            alive[table.rows(int(game))] = better
            believed[game] = True
            turned += 1
    return alive, believed, turned


def _weigh(features: Float32Array, rng: np.random.Generator) -> tuple[BoolArray, FloatArray]:
    """Choose the blocks to train on and their weights: all doubtful ones, a few obvious ones."""
    mean_h, mean_l = features[:, HEAVY_MEAN], features[:, LIGHT_MEAN]
    easy = ((mean_h > 0.95) & (mean_l > 0.3)) | ((mean_h < -0.97) & (mean_l < -0.6))
    easy |= features[:, UNCONDITIONAL] > 0
    chosen = ~easy | (rng.random(len(easy)) < 0.04)
    return chosen, np.where(easy, 8.0, 1.0)


def learn_from_scores(
    table: BlockTable,
    settings: ScorerSettings,
    *,
    chosen: BoolArray | None = None,
    made: Sequence[LabelledBlocks] = (),
    report: Report = lambda row: None,
) -> Trained:
    """Train on the games marked in `chosen` (all by default), from playouts to the last round.

    Every round also trains on the labelled positions of `made`. `report` gets the figures of each
    round: the share of right counts, and the numbers of games believed and flipped.
    """
    rng = np.random.default_rng(settings.seed)
    mine = np.ones(len(table), np.bool_) if chosen is None else chosen
    inputs = columns(settings.families)
    rows, weights = _weigh(table.features, rng)
    lessons = []  # inputs, labels and weights of the labelled positions
    for each in made:
        some, weight = _weigh(each.table.features, rng)
        lessons.append((each.table.features[some][:, inputs], each.alive[some], weight[some]))
    means = table.features[:, [HEAVY_MEAN, LIGHT_MEAN]].astype(np.float64)
    opinion = np.clip(first_opinion(*means.T), 0.05, 0.95)
    z: FloatArray = np.log(opinion / (1 - opinion))
    trained: Trained | None = None
    for number in range(1, settings.rounds + 1):
        exact = table.exact(z >= 0)
        alive, believed, turned = label(table, z, mine)
        row = {
            "round": number,
            "exact": float(exact[mine].mean()),
            "believed": int(believed.sum()),
            "turned": turned,
        }
        if (~mine).any():
            row["held_out"] = float(exact[~mine].mean())
        history = [*trained.history, row] if trained else [row]
        report(row)
        if trained and believed.sum() <= trained.believed.sum() and number > 2:
            trained.history = history
            break
        # Early rounds only find labels: one member is enough.
        members = settings.members if number >= settings.rounds - 1 else 1
        use = believed[table.game] & rows
        x, target, weight = map(
            np.concatenate,
            zip((table.features[use][:, inputs], alive[use], weights[use]), *lessons, strict=True),
        )
        first = train_ensemble(
            x.astype(np.float64), target, weight, hidden=settings.hidden, epochs=settings.epochs,
            decay=settings.decay,
            seeds=[settings.seed + 100 * number + member for member in range(members)],
        )  # fmt: skip
        trained = Trained(inputs, first, alive, believed, history)
        z = trained.logits(table)
    assert trained is not None
    return trained


# ----- When a count is safe -----

_SAFE_SHARE = 0.885
"""Share of held-out finished games to call safe; the rest are the most doubtful."""
_UNFINISHED = (0.4, 0.65, 0.85)
"""Shares of the moves to which games are cut, as examples of unfinished games."""
_CUT_GAMES = 120
"""Approximate number of games to cut."""


def judge_games(
    table: BlockTable, trained: Trained, games: IntArray
) -> tuple[list[FloatArray], list[bool]]:
    """Return the doubts about the counts of some games, and whether the counts are right."""
    z = trained.logits(table)
    doubts, right = [], []
    for game in games:
        described = table.described(int(game))
        logit = np.full(len(described.bond), LIMIT)
        logit[described.position.blocks] = z[table.rows(int(game))]
        found = judge(described, logit)
        doubts.append(found.doubts)
        right.append(bool(table.known[game] and found.margin == table.target[game]))
    return doubts, right


@dataclass
class Evidence:
    """Judgements of held-out games, by kind of game."""

    finished: dict[str, tuple[list[FloatArray], list[bool]]] = field(default_factory=dict)
    """Per kind the doubts about each count and whether it was right; the scored games first."""
    unfinished: list[FloatArray] = field(default_factory=list)
    """Doubts about games cut off in the middle."""

    def add(self, table: BlockTable, trained: Trained, unseen: IntArray, made: str = "") -> None:
        """Judge some games; `made` is "made " for self-made ones."""
        rows, cols = table.grids.shape[1:]
        known, answers = self.finished.setdefault(f"{made}{rows}x{cols}", ([], []))
        doubts, right = judge_games(table, trained, unseen)
        known += doubts
        answers += right

    def add_unfinished(self, games: GameArrays, trained: Trained, unseen: IntArray) -> None:
        """Judge cut-off versions of some of the games."""
        stride = max(1, len(games) // _CUT_GAMES)
        for share in _UNFINISHED:
            cut = describe_games(games.take(unseen[::stride]), share)
            self.unfinished += judge_games(cut, trained, np.arange(len(cut)))[0]


def fit_safety(evidence: Evidence, *, seed: int = 0) -> tuple[Safety, dict[str, float]]:
    """Learn from finished games of all kinds and unfinished ones; also return the measurements.

    The same chance is required on every board: the one from which `_SAFE_SHARE` of the scored games
    are safe.
    """
    finished = {kind: found for kind, found in evidence.finished.items() if found[0]}
    doubts = [d for known, _ in finished.values() for d in known]
    right = [r for _, answers in finished.values() for r in answers]
    inputs = np.array(doubts + evidence.unfinished)
    target = np.array(right + [False] * len(evidence.unfinished))
    votes = train_ensemble(
        inputs, target, np.ones(len(inputs)), hidden=4, epochs=60, decay=1e-3,
        seeds=range(seed, seed + 4),
    )  # fmt: skip
    safety = Safety(votes, 0.0)
    told: dict[str, float] = {}
    for kind, (known, answers) in finished.items():
        chances, exact = safety.chances(np.array(known)), np.array(answers)
        if not told:
            safety.least = float(np.quantile(chances, 1 - _SAFE_SHARE))
        called = chances >= max(safety.least, 0.5)
        told[f"{kind} games"] = len(exact)
        told[f"{kind} exact"] = float(exact.mean())
        told[f"{kind} safe"] = float(called.mean())
        if called.any():
            told[f"{kind} exact when safe"] = float(exact[called].mean())
    if evidence.unfinished:
        early = safety.chances(np.array(evidence.unfinished)) >= max(safety.least, 0.5)
        told["unfinished games"] = len(early)
        told["unfinished safe"] = float(early.mean())
    return safety, told
