"""Learn when a count can be trusted, from games that the networks have not seen.

Counts of finished games are right or wrong; those of games cut off in the middle are always taken
as wrong. A few numbers of doubt about each (see `judgement`) tell the two apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tengen.board.counting_kernels import territory_margin
from tengen.learners.scoring import network
from tengen.learners.scoring.bootstrap import Labelled, Trained
from tengen.learners.scoring.bundle import Bundle, gather, restore
from tengen.learners.scoring.ensemble import Ensemble
from tengen.learners.scoring.judgement import judge
from tengen.learners.scoring.network import Scaling
from tengen.records import GameArrays

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

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

    def chance(self, doubts: Floats) -> float:
        """Return the probability that the count is right."""
        return float(network.sigmoid(self.votes.vote(doubts[None, :]))[0])

    def trusts(self, chance: float) -> bool:
        """Tell whether a count of this chance is called safe."""
        return bool(chance > 0.5 and chance >= self.least)


def judge_games(bundle: Bundle, trained: Trained, games: Ints) -> tuple[list[Floats], Bools]:
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


def fit_safety(
    games: GameArrays,
    bundle: Bundle,
    trained: Trained,
    unseen: Ints,
    *,
    made: Sequence[Labelled] = (),
    seed: int = 0,
) -> tuple[Safety, dict[str, float]]:
    """Learn from unseen games, made ones too, and unfinished ones; also return what it measured."""
    doubts, exact = judge_games(bundle, trained, unseen)
    finished = list(doubts)
    right = [exact]
    for lesson in made:
        more, also_right = judge_games(lesson.bundle, trained, np.arange(len(lesson.bundle)))
        doubts += more
        right.append(also_right)
    counted = len(doubts)
    for share in _UNFINISHED:
        cut = gather(games.take(unseen[:: max(1, len(unseen) // _CUT_GAMES)]), share)
        doubts += judge_games(cut, trained, np.arange(len(cut)))[0]
    inputs = np.array(doubts)
    target = np.zeros(len(inputs))
    target[:counted] = np.concatenate(right)
    scaling = Scaling.of(inputs)
    members = [
        network.train(
            scaling.apply(inputs), target, np.ones(len(inputs)),
            hidden=4, epochs=60, decay=1e-3, seed=seed + i,
        )[0]
        for i in range(4)
    ]  # fmt: skip
    safety = Safety(Ensemble.of(scaling, members), 0.0)
    chances = np.array([safety.chance(d) for d in finished])
    safety.least = float(np.quantile(chances, 1 - _SAFE_SHARE))
    called = chances >= safety.least
    too_early = [safety.chance(d) >= safety.least for d in inputs[counted:]]
    return safety, {
        "held_out_games": len(unseen),
        "held_out_exact": float(exact.mean()),
        "held_out_exact_when_safe": float(exact[called].mean()),
        "unfinished_called_safe": float(np.mean(too_early)),
    }
