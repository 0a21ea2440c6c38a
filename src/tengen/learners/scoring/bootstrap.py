"""Learn from final scores alone which blocks live: start from playouts, believe what adds up.

Every round labels the games whose count equals the recorded score, and those where turning one
or two of the most doubtful groups over makes it equal; trains the network on them; and asks it
anew. It stops when a round adds no game. No stone is ever labelled by hand.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tengen.arrays import BoolArray, Float32Array, FloatArray, IntArray
from tengen.board.counting_kernels import territory_margin
from tengen.learners.scoring.bundle import Bundle
from tengen.learners.scoring.ensemble import Ensemble, train
from tengen.learners.scoring.features import (
    HEAVY_MEAN,
    LIGHT_MEAN,
    UNCONDITIONAL,
    columns,
    first_opinion,
    pool,
)
from tengen.learners.scoring.settings import ScorerSettings

# Doubt of a whole cluster above which its fate is not questioned, in logits.
_MOST_DOUBT = 4.0
_CANDIDATES, _PAIRED = 14, 8
Report = Callable[[dict[str, float]], None]
_Trial = tuple[tuple[float, tuple[int, ...]], ...]
"""Groups to turn over at once, each with its doubt."""


@dataclass
class Labelled:
    """Positions of one board size whose blocks' fate is known."""

    bundle: Bundle
    alive: BoolArray
    """Per block of the bundle."""

    def take(self, games: IntArray) -> Labelled:
        """Return some of the games."""
        rows = np.isin(self.bundle.game, games)
        return Labelled(self.bundle.take(games), self.alive[rows])


@dataclass
class Trained:
    """What came out: networks, and who is alive in the games believed."""

    columns: IntArray
    first: Ensemble
    labels: BoolArray
    believed: BoolArray
    history: list[dict[str, float]] = field(default_factory=list)

    def logits(self, bundle: Bundle) -> FloatArray:
        """Return every block's logit of being alive, one for all blocks of a bond."""
        size = bundle.features[:, 0].astype(np.int64)
        x = bundle.features[:, self.columns].astype(np.float64)
        return pool(self.first.vote(x), size, bundle.bond)


def _clusters(bundle: Bundle, game: int, z: FloatArray) -> list[tuple[float, tuple[int, ...]]]:
    """Return groups of blocks that may be turned over together, with their doubt, doubtful first.

    Blocks of a colour and a fate in one area without enemies stand together; each alone, too.
    """
    first, last = int(bundle.start[game]), int(bundle.start[game + 1])
    together: dict[tuple[int, bool], list[int]] = {}
    for row in range(first, last):
        together.setdefault((int(bundle.area[row]), bool(z[row] >= 0)), []).append(row)
    found = []
    for rows in together.values():
        sizes = bundle.features[rows, 0].astype(np.float64)
        found.append((float((np.abs(z[rows]) * sizes).sum() / sizes.sum()), tuple(rows)))
        if len(rows) > 1:
            found += [(abs(float(z[row])) + 0.3, (row,)) for row in rows]
    found.sort()
    return found[:_CANDIDATES]


def turn_over(bundle: Bundle, game: int, z: FloatArray) -> BoolArray | None:
    """Return who is alive if turning one or two doubtful groups over gives the recorded score."""
    first, last = int(bundle.start[game]), int(bundle.start[game + 1])
    grid, parts = bundle.grids[game], bundle.parts[game]
    kinds = np.zeros(grid.shape, np.int8)
    found = _clusters(bundle, game, z)
    trials: list[_Trial] = [(c,) for c in found]
    trials += list(itertools.combinations(found[:_PAIRED], 2))
    for trial in sorted(trials, key=_cost):
        if _cost(trial) > _MOST_DOUBT:
            break
        alive = z[first:last] >= 0
        for row in set(trial[0][1]).symmetric_difference(trial[1][1] if len(trial) > 1 else ()):
            alive[row - first] ^= True
        fallen = np.zeros(int(parts.max()) + 1, np.bool_)
        fallen[bundle.block[first:last]] = ~alive
        if territory_margin(grid, fallen[parts], True, kinds) == bundle.target[game]:
            return alive
    return None


def _cost(trial: _Trial) -> float:
    """Return how unlikely it is that all these groups were judged wrongly."""
    return sum(doubt for doubt, _ in trial) + 0.5 * len(trial)


def label(bundle: Bundle, z: FloatArray, chosen: BoolArray) -> tuple[BoolArray, BoolArray, int]:
    """Return who is alive, which games are believed, and how many of them had to be turned over."""
    alive = z >= 0
    believed = bundle.exact(alive) & chosen
    turned = 0
    for game in np.flatnonzero(~believed & bundle.known & chosen):
        better = turn_over(bundle, int(game), z)
        if better is not None:
            alive[bundle.start[game] : bundle.start[game + 1]] = better
            believed[game] = True
            turned += 1
    return alive, believed, turned


def _weigh(features: Float32Array, rng: np.random.Generator) -> tuple[BoolArray, FloatArray]:
    """Choose the blocks to train on and their weights: all doubtful ones, a few of the obvious."""
    mean_h, mean_l = features[:, HEAVY_MEAN], features[:, LIGHT_MEAN]
    easy = ((mean_h > 0.95) & (mean_l > 0.3)) | ((mean_h < -0.97) & (mean_l < -0.6))
    easy |= features[:, UNCONDITIONAL] > 0
    chosen = ~easy | (rng.random(len(easy)) < 0.04)
    return chosen, np.where(easy, 8.0, 1.0)


def bootstrap(
    bundle: Bundle,
    settings: ScorerSettings,
    *,
    chosen: BoolArray | None = None,
    made: Sequence[Labelled] = (),
    report: Report = lambda row: None,
) -> Trained:
    """Train on the games marked in `chosen` (all by default), from playouts to the last round.

    The labelled positions of `made` are trained on in every round. `report` hears of each round:
    how many counts were right, and how many games are believed and had to be turned over.
    """
    rng = np.random.default_rng(settings.seed)
    mine = np.ones(len(bundle), np.bool_) if chosen is None else chosen
    game = bundle.game
    lesson = _Lesson(columns(settings.families), settings, made, *_weigh(bundle.features, rng))
    lesson.choose_made(rng)
    opinion = np.clip(first_opinion(bundle.features.astype(np.float64)), 0.05, 0.95)
    z: FloatArray = np.log(opinion / (1 - opinion))
    trained: Trained | None = None
    for number in range(1, settings.rounds + 1):
        exact = bundle.exact(z >= 0)
        alive, believed, turned = label(bundle, z, mine)
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
        # Early rounds only have to find labels: one member is enough for that.
        members = settings.members if number >= settings.rounds - 1 else 1
        seeds = [settings.seed + 100 * number + member for member in range(members)]
        first = lesson.teach(bundle, alive, believed[game], seeds)
        trained = Trained(lesson.columns, first, alive, believed, history)
        z = trained.logits(bundle)
    assert trained is not None
    return trained


@dataclass
class _Lesson:
    """What one training shows its networks: which blocks, how heavy, and the labelled ones."""

    columns: IntArray
    settings: ScorerSettings
    made: Sequence[Labelled]
    rows: BoolArray
    weights: FloatArray
    made_rows: list[BoolArray] = field(default_factory=list)
    made_weights: list[FloatArray] = field(default_factory=list)

    def choose_made(self, rng: np.random.Generator) -> None:
        """Choose among the labelled blocks as among the others."""
        for labelled in self.made:
            rows, weights = _weigh(labelled.bundle.features, rng)
            self.made_rows.append(rows)
            self.made_weights.append(weights)

    def teach(
        self,
        bundle: Bundle,
        alive: BoolArray,
        use: BoolArray,
        seeds: Sequence[int],
    ) -> Ensemble:
        """Train networks on the blocks in `use` and the labelled ones."""
        x, target, weight = [], [], []
        tables = [(bundle, alive, use & self.rows, self.weights)]
        for labelled, rows, weights in zip(
            self.made, self.made_rows, self.made_weights, strict=True
        ):
            tables.append((labelled.bundle, labelled.alive, rows, weights))
        for table, labels, rows, weights in tables:
            x.append(table.features[rows][:, self.columns].astype(np.float64))
            target.append(labels[rows])
            weight.append(weights[rows])
        return train(
            np.concatenate(x), np.concatenate(target), np.concatenate(weight), seeds=seeds,
            hidden=self.settings.hidden, epochs=self.settings.epochs, decay=self.settings.decay,
        )  # fmt: skip
