"""Learn from final scores alone which blocks are alive.

The first labels come from playouts. Every round labels the games whose count equals the recorded
score, and those where flipping one or two of the most doubtful groups makes it equal; trains
networks on them; and labels again with the networks. It stops when a round adds no game. No stone
is labelled by hand.
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
    first_opinion,
    pool,
)
from tengen.learners.scoring.network import Ensemble, train_ensemble
from tengen.learners.scoring.settings import ScorerSettings

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
        rows = np.isin(self.table.game, games)
        return LabelledBlocks(self.table.take(games), self.alive[rows])


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
    first, last = int(table.start[game]), int(table.start[game + 1])
    together: dict[tuple[int, bool], list[int]] = {}
    for row in range(first, last):
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
    first, last = int(table.start[game]), int(table.start[game + 1])
    grid, parts = table.grids[game], table.parts[game]
    kinds = np.zeros(grid.shape, np.int8)
    found = _clusters(table, game, z)
    trials: list[_Trial] = [(c,) for c in found]
    trials += list(itertools.combinations(found[:_PAIRED], 2))
    for trial in sorted(trials, key=_cost):
        if _cost(trial) > _MOST_DOUBT:
            break
        alive = z[first:last] >= 0
        for row in set(trial[0][1]).symmetric_difference(trial[1][1] if len(trial) > 1 else ()):
            alive[row - first] ^= True
        fallen = np.zeros(int(parts.max()) + 1, np.bool_)
        fallen[table.block[first:last]] = ~alive
        if territory_margin(grid, fallen[parts], True, kinds) == table.target[game]:
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
            alive[table.start[game] : table.start[game + 1]] = better
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
    game = table.game
    data = _TrainingData(columns(settings.families), settings, made, *_weigh(table.features, rng))
    data.choose_made(rng)
    opinion = np.clip(first_opinion(table.features.astype(np.float64)), 0.05, 0.95)
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
        seeds = [settings.seed + 100 * number + member for member in range(members)]
        first = data.train(table, alive, believed[game], seeds)
        trained = Trained(data.columns, first, alive, believed, history)
        z = trained.logits(table)
    assert trained is not None
    return trained


@dataclass
class _TrainingData:
    """The training data: chosen blocks with weights, and the labelled positions."""

    columns: IntArray
    settings: ScorerSettings
    made: Sequence[LabelledBlocks]
    rows: BoolArray
    weights: FloatArray
    made_rows: list[BoolArray] = field(default_factory=list)
    made_weights: list[FloatArray] = field(default_factory=list)

    def choose_made(self, rng: np.random.Generator) -> None:
        """Choose among the labelled blocks in the same way."""
        for labelled in self.made:
            rows, weights = _weigh(labelled.table.features, rng)
            self.made_rows.append(rows)
            self.made_weights.append(weights)

    def train(
        self,
        table: BlockTable,
        alive: BoolArray,
        use: BoolArray,
        seeds: Sequence[int],
    ) -> Ensemble:
        """Train networks on the blocks in `use` and the labelled ones."""
        x, target, weight = [], [], []
        tables = [(table, alive, use & self.rows, self.weights)]
        for labelled, rows, weights in zip(
            self.made, self.made_rows, self.made_weights, strict=True
        ):
            tables.append((labelled.table, labelled.alive, rows, weights))
        for table, labels, rows, weights in tables:
            x.append(table.features[rows][:, self.columns].astype(np.float64))
            target.append(labels[rows])
            weight.append(weights[rows])
        return train_ensemble(
            np.concatenate(x), np.concatenate(target), np.concatenate(weight), seeds=seeds,
            hidden=self.settings.hidden, epochs=self.settings.epochs, decay=self.settings.decay,
        )  # fmt: skip
