"""Learn when a count can be trusted, from held-out games.

Counts of finished games are right or wrong; those of games cut off in the middle are always wrong.
The doubts about each (see `judgement`) tell the two apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tengen.arrays import BoolArray, FloatArray, IntArray
from tengen.board.counting_kernels import territory_margin
from tengen.learners.scoring import network
from tengen.learners.scoring.features import BlockTable, describe_games, restore
from tengen.learners.scoring.judgement import judge
from tengen.learners.scoring.network import Ensemble, Scaling
from tengen.learners.scoring.self_labelling import Trained
from tengen.records import GameArrays

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
