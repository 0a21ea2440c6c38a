"""Decide which blocks are alive, given their logits, and measure the doubts about the decision.

The decision is consistent (see `settle`). Stones in seki are those that the careful count finds
alive with fewer than two eyes. A lopsided count speaks against a doubtful decision: whoever is far
behind resigns, and games that are played to the end are close. Prisoners and komi are ignored.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, FloatArray, IntArray
from tengen.board import counting_kernels as k
from tengen.board.counting_kernels import territory_margin
from tengen.learners.scoring import network
from tengen.learners.scoring.features import BlockTable, Described, describe_games, restore
from tengen.learners.scoring.kernels import settle
from tengen.learners.scoring.network import Ensemble, Scaling
from tengen.learners.scoring.self_labelling import Trained
from tengen.records import GameArrays

DOUBTS = 14
"""Number of doubts, the inputs from which the chance of a right count is learned."""
_POINTS, _CAUTION = 14.0, 1.0
"""To flip a decision, the count must become closer by this many points per unit of its logit and of
caution. Fitted to held-out training games; 10 to 16 points do as well.
"""


@dataclass
class Judgement:
    """Which parts are alive, what every point counts for, and the doubts."""

    alive: BoolArray
    logit: FloatArray
    dead: BoolArray
    """The dead stones as a grid."""
    kinds: NDArray[np.int8]
    doubts: FloatArray


@dataclass
class _Answer:
    """A consistent choice of dead blocks and its careful count."""

    alive: BoolArray
    changes: int
    dead: BoolArray
    kinds: NDArray[np.int8]
    margin: int


def _answer(described: Described, logit: FloatArray) -> _Answer:
    rows, cols = described.grid.shape
    alive = (logit >= 0) | (described.colour == 0)
    changes = settle(described.line, cols + 1, described.part, len(logit), logit, alive)
    stones = described.colour > 0
    if stones.any() and not alive[stones].any():
        # No block is left that could have killed the others: the game has hardly begun.
        alive[:] = True
        changes += 1
    dead = np.ascontiguousarray((~alive & stones)[described.part_grid])
    kinds = np.zeros((rows, cols), np.int8)
    margin = k.territory_margin(described.grid, dead, True, kinds)
    return _Answer(alive, changes, dead, kinds, margin)


def _likeliest(described: Described, logit: FloatArray) -> _Answer:
    """Return the answer of the logits, or that with one bond flipped if it is far closer."""
    first = best = _answer(described, logit)
    most = 0.0
    blocks = described.blocks
    for number in np.unique(described.bond[blocks]):
        bond = blocks[described.bond[blocks] == number]
        doubt = float(np.average(np.abs(logit[bond]), weights=described.size[bond])) + _CAUTION
        if doubt + most >= abs(first.margin) / _POINTS:
            continue
        turned = logit.copy()
        turned[bond] *= -1
        other = _answer(described, turned)
        gain = (abs(first.margin) - abs(other.margin)) / _POINTS - doubt
        if gain > most:
            best, most = other, gain
    if most > 0:
        best.changes += 1
    return best


def judge(described: Described, logit: FloatArray) -> Judgement:
    """Turn the logits of all parts into one consistent answer."""
    rows, cols = described.grid.shape
    found = _likeliest(described, logit)
    alive, dead, kinds = found.alive, found.dead, found.kinds
    plain = np.zeros((rows, cols), np.int8)
    plain_margin = k.territory_margin(described.grid, dead, False, plain)
    blocks = described.colour > 0
    z = np.abs(logit[blocks])
    against = np.where(alive[blocks] == (logit[blocks] >= 0), z, -z)
    size = described.size[blocks].astype(np.float64)
    doubt = 1.0 / (1.0 + np.exp(np.clip(against, -30, 30)))
    points = rows * cols
    dame = (kinds == k.DAME) | (kinds == k.NOBODY)
    seki = (kinds >= k.BLACK_SEKI_STONE) & (kinds <= k.WHITE_SEKI_STONE)
    opened = (kinds == k.BLACK_OPEN) | (kinds == k.WHITE_OPEN)
    unsure = 1.0 - np.abs(described.ownership)
    doubts = np.array([
        np.log(doubt.sum() + 1e-4),
        np.log((doubt * size).sum() + 1e-4),
        against.min(initial=30.0),
        float(found.changes > 0),
        float(seki.any()),
        np.log1p(np.count_nonzero(opened)),
        np.log1p(np.count_nonzero(dame)),
        np.count_nonzero(dame) / points,
        float(unsure.mean()),
        np.count_nonzero(described.grid == 0) / points,
        float(np.isin(kinds, (k.BLACK_FALSE_EYE, k.WHITE_FALSE_EYE)).any()),
        min(abs(float(found.margin - plain_margin)), 9.0),
        float(unsure[(described.grid == 0).ravel()].mean()) if (described.grid == 0).any() else 1.0,
        np.log(points),
    ])  # fmt: skip
    return Judgement(alive, logit, dead, kinds, doubts)


_SAFE_SHARE = 0.885
"""Share of held-out finished games to call safe; the rest are the most doubtful."""
_UNFINISHED = (0.4, 0.65, 0.85)
"""Shares of the moves to which games are cut, as examples of unfinished games."""
_CUT_GAMES = 120
"""Approximate number of games to cut."""


@dataclass
class Safety:
    """Networks that vote on whether a count is right, and the chance required to call it safe."""

    votes: Ensemble
    least: float

    def chance(self, doubts: FloatArray) -> float:
        """Return the probability that the count is right."""
        return float(self.chances(doubts[None, :])[0])

    def chances(self, doubts: FloatArray) -> FloatArray:
        """Return the probabilities of several counts."""
        return network.sigmoid(self.votes.vote(doubts))

    def trusts(self, chance: float) -> bool:
        """Return whether a count with this chance is safe."""
        return bool(chance > 0.5 and chance >= self.least)


def judge_games(
    table: BlockTable, trained: Trained, games: IntArray
) -> tuple[list[FloatArray], BoolArray]:
    """Return the doubts about the counts of some games, and whether the counts are right."""
    z = trained.logits(table)
    doubts, right = [], np.zeros(len(games), np.bool_)
    for i, game in enumerate(games):
        position = restore(table, int(game))
        rows = slice(int(table.start[game]), int(table.start[game + 1]))
        logit = np.full(len(position.colour), network.LIMIT)
        logit[table.block[rows]] = z[rows]
        found = judge(position, logit)
        kinds = np.zeros(position.grid.shape, np.int8)
        margin = territory_margin(position.grid, found.dead, True, kinds)
        doubts.append(found.doubts)
        right[i] = bool(table.known[game]) and margin == table.target[game]
    return doubts, right


@dataclass
class Evidence:
    """Judgements of held-out games, by kind of game."""

    finished: dict[str, tuple[list[FloatArray], list[bool]]] = field(default_factory=dict)
    """Per kind the doubts about each count and whether it was right; the scored games first."""
    unfinished: list[FloatArray] = field(default_factory=list)
    """Doubts about games cut off in the middle."""

    def add_games(
        self, games: GameArrays, table: BlockTable, trained: Trained, unseen: IntArray
    ) -> None:
        """Judge some scored games, and cut-off versions of some of them."""
        self._add(_size(table), *judge_games(table, trained, unseen))
        stride = max(1, len(games) // _CUT_GAMES)
        for share in _UNFINISHED:
            cut = describe_games(games.take(unseen[::stride]), share)
            self.unfinished += judge_games(cut, trained, np.arange(len(cut)))[0]

    def add_made(self, table: BlockTable, trained: Trained, unseen: IntArray) -> None:
        """Judge some self-made positions."""
        if len(unseen):
            self._add(f"made {_size(table)}", *judge_games(table, trained, unseen))

    def _add(self, kind: str, doubts: list[FloatArray], right: BoolArray) -> None:
        known, answers = self.finished.setdefault(kind, ([], []))
        known += doubts
        answers += right.tolist()


def _size(table: BlockTable) -> str:
    rows, cols = table.grids.shape[1:]
    return f"{rows}x{cols}"


def fit_safety(evidence: Evidence, *, seed: int = 0) -> tuple[Safety, dict[str, float]]:
    """Learn from finished games of all kinds and unfinished ones; also return the measurements.

    The same chance is required on every board: the one from which `_SAFE_SHARE` of the scored games
    are safe.
    """
    doubts = [d for known, _ in evidence.finished.values() for d in known]
    right = [r for _, answers in evidence.finished.values() for r in answers]
    inputs = np.array(doubts + evidence.unfinished)
    target = np.array(right + [False] * len(evidence.unfinished), np.float64)
    scaling = Scaling.of(inputs)
    members = [
        network.train(
            scaling.apply(inputs), target, np.ones(len(inputs)),
            hidden=4, epochs=60, decay=1e-3, seed=seed + i,
        )[0]
        for i in range(4)
    ]  # fmt: skip
    safety = Safety(Ensemble.of(scaling, members), 0.0)
    told: dict[str, float] = {}
    for kind, (known, answers) in evidence.finished.items():
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
