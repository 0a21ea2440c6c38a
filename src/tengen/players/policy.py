"""Play by a policy alone: draw a move from what it proposes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import PASS, RESIGN, Board, Point, format_gtp, index_of, indices_of, point_at
from tengen.contracts import Policy
from tengen.contracts.values import Analysis, Candidate
from tengen.players.passing import candidates, sensible

_SHOWN = 20
"""Moves in a report."""


class SamplePlayer:
    """Draw a move from a policy's probabilities, own eyes left out.

    `temperature` below 1 sharpens them, 0 always takes the likeliest move.
    """

    def __init__(self, *, model: Policy, temperature: float = 1.0) -> None:
        self.name = "sample"
        self.model = model
        self.temperature = temperature

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose a move at random as the policy likes it, or pass where that is sensible."""
        return sensible(board, self.draw(board, rng))

    def draw(
        self, board: Board, rng: np.random.Generator, among: Sequence[int] | None = None
    ) -> Point:
        """Draw a point, among these if they are given; a pass where none is left."""
        priors = playable_priors(self.model, board, among)
        if priors.sum() <= 0:
            return PASS
        if self.temperature == 0:
            index = int(priors.argmax())
        else:
            weights = (priors / priors.max()) ** (1 / self.temperature)
            index = int(rng.choice(len(weights), p=weights / weights.sum()))
        return board.answer(point_at(index, board.rows, board.cols))

    def analyse(self, board: Board, rng: np.random.Generator, **how: object) -> Iterator[Analysis]:
        """Report the likeliest moves once; visits are their chances in 10,000ths.

        A policy judges no positions, so that every win rate is one half.
        """
        priors = playable_priors(self.model, board)
        shares = priors / max(float(priors.sum()), 1e-300)
        best = [int(i) for i in np.argsort(-shares, kind="stable")[:_SHOWN] if shares[i] > 0]
        moves = [point_at(index, board.rows, board.cols) for index in best]
        yield Analysis(
            tuple(
                Candidate(move, round(10_000 * shares[i]), 0.5, prior=float(shares[i]), pv=(move,))
                for move, i in zip(moves, best, strict=True)
            ),
            self.choose(board, rng),
            visits=10_000,
        )

    def explain(self, board: Board, move: int) -> str:
        """Say how likely the policy finds the move among those that fill no own eye."""
        if move in (PASS, RESIGN):
            return ""
        priors = playable_priors(self.model, board)
        share = priors[index_of(move, board.rows, board.cols)] / max(float(priors.sum()), 1e-300)
        rank = 1 + int((priors > priors[index_of(move, board.rows, board.cols)]).sum())
        name = format_gtp(move, board.rows, board.cols)
        return f"{name}: number {rank} of the policy, {100 * share:.1f} %"


def playable_priors(policy: Policy, board: Board, among: Sequence[int] | None = None) -> FloatArray:
    """Return a policy's priors with own eyes at zero, and the pass too while a point is left.

    Policies learn from games that people broke off with the board half open, so their passes mean
    little here; `passing` decides about those.
    """
    priors = np.array(policy.priors(board), np.float64)
    allowed = np.zeros(len(priors), np.bool_)
    points = np.array(candidates(board) if among is None else among, np.int64)
    allowed[indices_of(points, board.rows, board.cols)] = True
    priors[~allowed] = 0
    if allowed.any() and priors.sum() <= 0:
        priors[allowed] = 1.0
    return priors
