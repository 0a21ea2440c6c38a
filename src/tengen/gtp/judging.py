"""Say what is dead and what the score is: by the learned scorer, or by playouts without one.

Playouts know no seki and no rules of life; they are only a stand-in. What is not finished is
estimated by the network, or by playouts without one. Counting itself is `tengen.board`'s.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from tengen import compiling
from tengen.arrays import FloatArray
from tengen.board import (
    BLACK,
    EMPTY,
    PASS,
    WHITE,
    Board,
    index_of,
    kernels,
    playouts,
    point_at,
)
from tengen.board.counting import Count, count_board
from tengen.board.simple_kernels import is_own_eye
from tengen.contracts.protocols import ScoreEstimator, Scorer
from tengen.contracts.values import BlockStatus, ScoreEstimate, Status, Verdict
from tengen.models import has_model, load_scorer

_PLAYOUTS = 400
# Mean ownership by the other side above which a block is called dead.
_DEAD_ABOVE = 0.5
# A board with fewer stones than this share of its points is not finished, whatever a scorer says.
_FEWEST_STONES = 1 / 3
_NETWORK = "tengen-small"
# The file of the scorer's kernels that are compiled last.
_SCORING = "blocks_attack_kernels"


@dataclass(frozen=True)
class Outlook:
    """What a game comes to: a count where it is finished, an estimate where it is not."""

    score: float
    ownership: FloatArray | None
    finished: bool
    by: str
    """Who says so, for people."""
    spread: float = 0.0
    """Standard deviation of an estimate's score, in points."""


class PlayoutScorer:
    """A scorer without a model: random games from the position say who ends up where."""

    def __init__(self, *, count: int = _PLAYOUTS, seed: int = 1) -> None:
        self.count, self.seed = count, seed

    def status(self, board: Board) -> Verdict:
        """Call a block dead when most playouts give its points to the other side."""
        result = playouts(board, self.count, seed=self.seed, kind="heavy", threads=1)
        blocks = []
        for block in board.blocks():
            places = [index_of(p, board.rows, board.cols) for p in block.stones]
            mine = float(result.ownership[places].mean()) * (1 if block.colour == BLACK else -1)
            status = Status.DEAD if mine < -_DEAD_ABOVE else Status.ALIVE
            sure = min(max(0.5 + abs(mine) / 2, 0.0), 1.0)
            blocks.append(BlockStatus(block.stones, block.colour, status, sure))
        settled = float(np.mean(np.abs(result.ownership) > _DEAD_ABOVE))
        return Verdict(tuple(blocks), settled > 0.9, settled, result.ownership)


class _UncompiledScorer:
    """The shipped scorer in plain Python; for seconds of work before its kernels are compiled."""

    def status(self, board: Board) -> Verdict:
        """Judge every block."""
        return compiling.interpreted(_status, board, unless=_SCORING)

    def score(self, board: Board) -> ScoreEstimate:
        """Count a position under its rules."""
        return compiling.interpreted(_score, board, unless=_SCORING)


def _status(board: Board) -> Verdict:
    return load_scorer("scorer", shared=True).status(board)


def _score(board: Board) -> ScoreEstimate:
    return cast(ScoreEstimator, load_scorer("scorer", shared=True)).score(board)


class Judge:
    """Judge positions with the model called `scorer` if there is one."""

    def __init__(self, scorer: Scorer | None = None) -> None:
        self._scorer = scorer
        self._network: Any = None

    @property
    def scorer(self) -> Scorer:
        """The scorer in use; loaded when first needed."""
        if self._scorer is None:
            if not has_model("scorer"):
                self._scorer = PlayoutScorer()
            elif compiling.is_compiled(_SCORING):
                self._scorer = load_scorer("scorer")
            else:
                self._scorer = _UncompiledScorer()
        return self._scorer

    def status(self, board: Board) -> Verdict:
        """Judge every block of a position."""
        return self.scorer.status(board)

    def score(self, board: Board) -> ScoreEstimate:
        """Count a position under its rules, without what is dead."""
        scorer = self.scorer
        if isinstance(scorer, ScoreEstimator):
            return scorer.score(board)
        verdict = scorer.status(board)
        count = count_without(board, verdict.stones(Status.DEAD))
        return ScoreEstimate(
            count.score, count.black, count.white, ownership=verdict.ownership, safe=verdict.safe
        )

    def finished(self, board: Board) -> Verdict | None:
        """Return the verdict on a game that is over, None where the scorer is not sure of it."""
        if np.count_nonzero(board.grid()) < _FEWEST_STONES * board.rows * board.cols:
            return None
        verdict = self.status(board)
        return verdict if verdict.safe else None

    def over(self, board: Board) -> Verdict | None:
        """Return the verdict on a game in which no move gains a point any more, None otherwise.

        Under area scoring a neutral point that somebody can fill is worth a point; under
        territory scoring it is worth nothing.
        """
        verdict = self.finished(board)
        if verdict is None or (board.rules.scoring == "area" and neutral_points(board, verdict)):
            return None
        return verdict

    def dead_for_sure(self, board: Board) -> tuple[int, ...]:
        """List the dead stones of a finished game; none where the scorer is not sure of it."""
        verdict = self.finished(board)
        return () if verdict is None else verdict.stones(Status.DEAD)

    def estimate(self, board: Board) -> Outlook:
        """Tell what a game that may still be in progress comes to."""
        plain = isinstance(self.scorer, PlayoutScorer)
        if not plain and (verdict := self.finished(board)) is not None:
            score = self.score(board).score
            return Outlook(score, verdict.ownership, True, "the learned scorer")
        return self.outlook(board)

    def outlook(self, board: Board) -> Outlook:
        """Estimate what a game in progress will come to: by the network, or by playouts."""
        network = self.network
        if network is not None and network.supports(board.rows, board.cols):
            (view,) = network.views([board])
            return Outlook(view.score, view.ownership, False, "the network", view.spread)
        result = playouts(board, _PLAYOUTS, seed=1, kind="heavy", threads=1)
        spread = float(result.scores.std())
        return Outlook(result.mean_score, result.ownership, False, "playouts", spread)

    def pass_chance(self, board: Board) -> float | None:
        """Return how likely the network thinks the next move a pass; None without a network."""
        network = self.network
        if network is None or not network.supports(board.rows, board.cols):
            return None
        return float(network.priors(board)[-1])

    @property
    def network(self) -> Any:
        """The network that estimates, None without one; loaded when first needed."""
        from tengen.models import has_model, load_learner

        if self._network is None and has_model(_NETWORK):
            self._network = load_learner(_NETWORK, shared=True)
        return self._network


@functools.cache
def shared_judge() -> Judge:
    """Return the judge that all players of this process ask."""
    return Judge()


def agrees(judge: Judge, board: Board) -> bool:
    """Tell whether the side to move accepts the other's pass: the game is over.

    This is for games whose dead stones come off by agreement; where all stones count, a player
    may have to capture them first.
    """
    return board.last_move == PASS and judge.over(board) is not None


def neutral_points(board: Board, verdict: Verdict) -> list[int]:
    """List the neutral points outside of seki that one side can fill without harm."""
    count = count_without(board, verdict.stones(Status.DEAD))
    seki = {stone for b in verdict.blocks if b.status is Status.SEKI for stone in b.stones}
    width = board.cols + 1
    empty = np.flatnonzero(count.dame & (count.grid == EMPTY)).tolist()
    return [
        point
        for point in (point_at(index, board.rows, board.cols) for index in empty)
        if seki.isdisjoint((point - 1, point + 1, point - width, point + width))
        and (is_sound(board, point, BLACK) or is_sound(board, point, WHITE))
    ]


def is_sound(board: Board, point: int, colour: int) -> bool:
    """Tell whether a stone there is legal, no own eye, and captures or keeps two liberties."""
    trial = board.copy()
    trial.turn = colour
    if not trial.is_legal(trial.answer(point)) or is_own_eye(trial.state, point, colour):
        return False
    if kernels.place(trial.state, point, colour) > 0:
        return True
    return int(kernels.count_liberties(trial.state, point, 2)) >= 2


def count_without(board: Board, dead: Iterable[int]) -> Count:
    """Count a position under its rules, given the points of its dead stones."""
    fallen = np.zeros((board.rows, board.cols), np.bool_)
    for point in dead:
        fallen.flat[index_of(point, board.rows, board.cols)] = True
    return count_board(board, fallen)
