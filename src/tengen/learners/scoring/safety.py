"""Learn when a count can be trusted, from games that the networks have not seen.

Counts of finished games are right or wrong; those of games cut off in the middle are always taken
as wrong. A few numbers of doubt about each (see `judgement`) tell the two apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tengen.arrays import BoolArray, FloatArray, IntArray
from tengen.board.counting_kernels import territory_margin
from tengen.learners.scoring import network
from tengen.learners.scoring.bootstrap import Trained
from tengen.learners.scoring.bundle import Bundle, gather, restore
from tengen.learners.scoring.ensemble import Ensemble
from tengen.learners.scoring.judgement import judge
from tengen.learners.scoring.network import Scaling
from tengen.records import GameArrays

_SAFE_SHARE = 0.885
"""Share of unseen finished games that should be called safe; the rest are the most doubtful."""
_UNFINISHED = (0.4, 0.65, 0.85)
"""How much of their moves games are cut to, to learn what an unfinished game looks like."""
_CUT_GAMES = 120
"""About how many games are cut."""


@dataclass
class Safety:
    """Networks that vote on whether a count is right, and what they must say to be believed."""

    votes: Ensemble
    least: float

    def chance(self, doubts: FloatArray) -> float:
        """Return the probability that the count is right."""
        return float(self.chances(doubts[None, :])[0])

    def chances(self, doubts: FloatArray) -> FloatArray:
        """Return the probabilities of several counts."""
        return network.sigmoid(self.votes.vote(doubts))

    def trusts(self, chance: float) -> bool:
        """Tell whether a count of this chance is called safe."""
        return bool(chance > 0.5 and chance >= self.least)


def judge_games(
    bundle: Bundle, trained: Trained, games: IntArray
) -> tuple[list[FloatArray], BoolArray]:
    """Return the doubts about some games' counts, and whether these give the recorded score."""
    z = trained.logits(bundle)
    doubts, right = [], np.zeros(len(games), np.bool_)
    for i, game in enumerate(games):
        position = restore(bundle, int(game))
        rows = slice(int(bundle.start[game]), int(bundle.start[game + 1]))
        logit = np.full(len(position.colour), network.LIMIT)
        logit[bundle.block[rows]] = z[rows]
        found = judge(position, logit)
        kinds = np.zeros(position.grid.shape, np.int8)
        margin = territory_margin(position.grid, found.dead, True, kinds)
        doubts.append(found.doubts)
        right[i] = bool(bundle.known[game]) and margin == bundle.target[game]
    return doubts, right


@dataclass
class Evidence:
    """What networks made of games that they had not seen, by kind of game."""

    finished: dict[str, tuple[list[FloatArray], list[bool]]] = field(default_factory=dict)
    """By kind the doubts about each count, and whether it was right; the scored games first."""
    unfinished: list[FloatArray] = field(default_factory=list)
    """Doubts about games that were cut off."""

    def add_games(
        self, games: GameArrays, bundle: Bundle, trained: Trained, unseen: IntArray
    ) -> None:
        """Judge some scored games, and some of them cut off."""
        self._add(_size(bundle), *judge_games(bundle, trained, unseen))
        stride = max(1, len(games) // _CUT_GAMES)
        for share in _UNFINISHED:
            cut = gather(games.take(unseen[::stride]), share)
            self.unfinished += judge_games(cut, trained, np.arange(len(cut)))[0]

    def add_made(self, bundle: Bundle, trained: Trained, unseen: IntArray) -> None:
        """Judge some made positions."""
        if len(unseen):
            self._add(f"made {_size(bundle)}", *judge_games(bundle, trained, unseen))

    def _add(self, kind: str, doubts: list[FloatArray], right: BoolArray) -> None:
        known, answers = self.finished.setdefault(kind, ([], []))
        known += doubts
        answers += right.tolist()


def _size(bundle: Bundle) -> str:
    rows, cols = bundle.grids.shape[1:]
    return f"{rows}x{cols}"


def fit_safety(evidence: Evidence, *, seed: int = 0) -> tuple[Safety, dict[str, float]]:
    """Learn from finished games of all kinds and unfinished ones; also return what it measured.

    One chance of being right is asked of counts on every board: that from which `_SAFE_SHARE` of
    the scored games are called safe.
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
