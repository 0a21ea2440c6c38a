"""Learn from final scores alone which blocks are alive.

The first labels come from playouts, or from a few games with known dead stones. Every round labels
the games whose count equals the recorded score, as it is or with one or two of the most doubtful
groups flipped; trains networks on them; and labels again with the networks, until a round adds no
game. From its judgements of held-out games the scorer learns how often its count is right.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from tengen.arrays import BoolArray, Float32Array, FloatArray, IntArray
from tengen.board.counting_kernels import territory_margin
from tengen.records import GameArrays
from tengen.scoring.features import (
    HEAVY_MEAN,
    LIGHT_MEAN,
    UNCONDITIONAL,
    BlockTable,
    describe_games,
    first_opinion,
    pool,
)
from tengen.scoring.judgement import Safety, judgement_of
from tengen.scoring.network import LIMIT, Ensemble, train_ensemble
from tengen.scoring.settings import ScorerSettings

_MOST_DOUBT = 4.0  # maximum cost of flipping groups, in logits
_CANDIDATES, _PAIRED = 14, 8
OnRound = Callable[[dict[str, float]], None]
_Trial = tuple[tuple[float, tuple[int, ...]], ...]  # groups to flip at once, each with its cost


@dataclass
class LabelledBlocks:
    """Positions of one board size whose blocks are known to be alive or dead."""

    table: BlockTable
    alive: BoolArray  # per block of the table

    def take(self, games: IntArray) -> LabelledBlocks:
        """Return some of the games."""
        return LabelledBlocks(self.table.take(games), self.alive[np.isin(self.table.game, games)])


@dataclass
class Trained:
    """Trained networks, and the labels of the games whose scores they explain."""

    networks: Ensemble
    labels: BoolArray
    labelled_games: BoolArray
    history: list[dict[str, float]]

    def logits(self, table: BlockTable) -> FloatArray:
        """Return the logit of being alive per block; blocks of a bond share one."""
        return _logits(self.networks, table)


def _logits(networks: Ensemble, table: BlockTable) -> FloatArray:
    size = table.features[:, 0].astype(np.int64)
    return pool(networks.vote(np.asfortranarray(table.features, float)), size, table.bond)


def _first_logits(table: BlockTable) -> FloatArray:
    """Return the logits of being alive by playouts."""
    means = table.features[:, [HEAVY_MEAN, LIGHT_MEAN]].astype(np.float64)
    opinion = np.clip(first_opinion(*means.T), 0.05, 0.95)
    return np.log(opinion / (1 - opinion))


def _clusters(table: BlockTable, game: int, z: FloatArray) -> list[tuple[float, tuple[int, ...]]]:
    """Return groups that may be flipped, with the cost of each in logits, most doubtful first.

    A group is all blocks of one status in one area without enemies, or one such block alone.
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


def label(
    table: BlockTable, z: FloatArray, chosen: BoolArray, *, flips: bool = True
) -> tuple[BoolArray, BoolArray, int]:
    """Return which blocks are alive, which games got labels, and how many were flipped."""
    alive = z >= 0
    labelled_games = table.exact(alive) & chosen
    turned = 0
    for game in np.flatnonzero(~labelled_games & table.known & chosen) if flips else ():
        better = flip(table, int(game), z)
        if better is not None:
            alive[table.rows(int(game))] = better
            labelled_games[game] = True
            turned += 1
    return alive, labelled_games, turned


def _weigh(features: Float32Array, rng: np.random.Generator) -> tuple[BoolArray, FloatArray]:
    """Choose the blocks to train on and their weights: all doubtful ones, a few obvious ones."""
    mean_h, mean_l = features[:, HEAVY_MEAN], features[:, LIGHT_MEAN]
    easy = ((mean_h > 0.95) & (mean_l > 0.3)) | ((mean_h < -0.97) & (mean_l < -0.6))
    easy |= features[:, UNCONDITIONAL] > 0
    chosen = ~easy | (rng.random(len(easy)) < 0.04)
    return chosen, np.where(easy, 8.0, 1.0)


def _lesson(
    labelled: LabelledBlocks, rng: np.random.Generator, *, everything: bool
) -> tuple[Float32Array, BoolArray, FloatArray]:
    """Return inputs, labels and weights; of few positions obvious blocks count as well."""
    some, weight = _weigh(labelled.table.features, rng)
    if everything:
        some, weight = np.ones_like(some), np.ones_like(weight)
    return labelled.table.features[some], labelled.alive[some], weight[some]


def learn_from_scores(
    table: BlockTable,
    settings: ScorerSettings,
    *,
    chosen: BoolArray | None = None,
    made: Sequence[LabelledBlocks] = (),
    grown: bool = False,
    flips: bool = True,
    on_round: OnRound = lambda row: None,
) -> Trained:
    """Train on the games marked in `chosen` (all by default) and on the positions of `made`.

    The first labels come from playouts or, if `grown`, from networks trained on `made` alone.
    Without `flips` only games whose count is right as it is get labels. `on_round` gets each
    round's share of right counts and its numbers of labelled and flipped games.
    """
    rng = np.random.default_rng(settings.seed)
    mine = np.ones(len(table), np.bool_) if chosen is None else chosen
    rows, weights = _weigh(table.features, rng)
    lessons = [_lesson(each, rng, everything=grown) for each in made]
    fit = partial(
        train_ensemble, hidden=settings.hidden, epochs=settings.epochs, decay=settings.decay
    )
    z = _first_logits(table)
    if grown:
        x, target, weight = map(np.concatenate, zip(*lessons, strict=True))
        z = _logits(fit(np.asfortranarray(x, float), target, weight, seeds=[settings.seed]), table)
    trained: Trained | None = None
    for number in range(1, settings.rounds + 1):
        exact = table.exact(z >= 0)
        alive, labelled_games, turned = label(table, z, mine, flips=flips)
        row = {
            "round": number,
            "exact": float(exact[mine].mean()),
            "believed": int(labelled_games.sum()),
            "turned": turned,
        }
        if (~mine).any():
            row["held_out"] = float(exact[~mine].mean())
        history = [*trained.history, row] if trained else [row]
        on_round(row)
        if trained and labelled_games.sum() <= trained.labelled_games.sum() and number > 2:
            trained.history = history
            break
        # Early rounds serve only to find labels: one network is enough.
        members = settings.members if number >= settings.rounds - 1 else 1
        use = labelled_games[table.game] & rows
        x, target, weight = map(
            np.concatenate,
            zip((table.features[use], alive[use], weights[use]), *lessons, strict=True),
        )
        seeds = [settings.seed + 100 * number + member for member in range(members)]
        networks = fit(np.asfortranarray(x, float), target, weight, seeds=seeds)
        trained = Trained(networks, alive, labelled_games, history)
        z = trained.logits(table)
    assert trained is not None
    return trained


# ----- When a count is safe -----

_SAFE_SHARE = 0.885  # share of held-out finished games to call safe; the rest are the most doubtful
_CUTS = (0.4, 0.65, 0.85)  # shares of the moves to which games are cut to get unfinished ones
_CUT_GAMES = 120  # approximate number of games to cut
UNFINISHED = "unfinished"


class Evidence(dict[str, tuple[list[FloatArray], list[bool]]]):
    """By kind of game: the doubts about each count and whether it was right; scored games first."""

    def add(self, kind: str, table: BlockTable, trained: Trained, games: IntArray) -> None:
        """Judge held-out games."""
        doubts, right = self.setdefault(kind, ([], []))
        z = trained.logits(table)
        for game in games:
            described = table.described(int(game))
            logit = np.full(len(described.bond), LIMIT)
            logit[described.position.blocks] = z[table.rows(int(game))]
            found = judgement_of(described, logit)
            doubts.append(found.doubts)
            exact = bool(table.known[game] and found.margin == table.target[game])
            right.append(exact and kind != UNFINISHED)

    def add_unfinished(self, games: GameArrays, trained: Trained, unseen: IntArray) -> None:
        """Judge cut-off versions of some of the games."""
        stride = max(1, len(games) // _CUT_GAMES)
        for share in _CUTS:
            cut = describe_games(games.take(unseen[::stride]), share)
            self.add(UNFINISHED, cut, trained, np.arange(len(cut)))


def fit_safety(evidence: Evidence, *, seed: int = 0) -> tuple[Safety, dict[str, float]]:
    """Learn when a count is right; also return the calibration figures.

    The required probability, the same for all kinds, makes `_SAFE_SHARE` of scored games safe.
    """
    kinds = sorted((kind for kind in evidence if evidence[kind][0]), key=UNFINISHED.__eq__)
    inputs = np.array([row for kind in kinds for row in evidence[kind][0]])
    target = np.array([answer for kind in kinds for answer in evidence[kind][1]])
    votes = train_ensemble(
        inputs, target, np.ones(len(inputs)), hidden=4, epochs=60, decay=1e-3,
        seeds=range(seed, seed + 4),
    )  # fmt: skip
    safety = Safety(votes, 0.0)
    figures: dict[str, float] = {}
    for kind in kinds:
        chances, exact = safety.chances(np.array(evidence[kind][0])), np.array(evidence[kind][1])
        if not figures:
            safety.least = float(np.quantile(chances, 1 - _SAFE_SHARE))
        called = chances >= max(safety.least, 0.5)
        figures[f"{kind} games"], figures[f"{kind} safe"] = len(exact), float(called.mean())
        if kind != UNFINISHED:
            figures[f"{kind} exact"] = float(exact.mean())
            if called.any():
                figures[f"{kind} exact when safe"] = float(exact[called].mean())
    return safety, figures
