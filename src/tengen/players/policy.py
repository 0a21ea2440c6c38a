"""Play by a policy alone: draw a move from what it proposes."""

from __future__ import annotations

import numpy as np

from tengen.board import PASS, Board, point_at
from tengen.contracts import Policy
from tengen.contracts.values import FloatArray
from tengen.players.passing import candidates, sensible


class SamplePlayer:
    """Draw a move from a policy's probabilities, own eyes left out.

    `temperature` below 1 sharpens them, 0 always takes the likeliest move.
    """

    def __init__(self, *, model: Policy, temperature: float = 1.0) -> None:
        self.name = "sample"
        self.model = model
        self.temperature = temperature

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        """Choose a move at random as the policy likes it."""
        priors = playable_priors(self.model, board)
        if priors.sum() <= 0:
            return sensible(board, PASS)
        if self.temperature == 0:
            index = int(priors.argmax())
        else:
            weights = (priors / priors.max()) ** (1 / self.temperature)
            index = int(rng.choice(len(weights), p=weights / weights.sum()))
        return sensible(board, point_at(index, board.rows, board.cols))


def playable_priors(policy: Policy, board: Board) -> FloatArray:
    """Return a policy's priors with own eyes at zero, and the pass too while a point is left.

    Policies learn from games that people broke off with the board half open, so their passes mean
    little here; `passing` decides about those.
    """
    priors = np.array(policy.priors(board), np.float64)
    allowed = np.zeros(len(priors), np.bool_)
    cols = board.cols
    for p in candidates(board):
        row, col = divmod(p - 1, cols + 1)
        allowed[(row - 1) * cols + col] = True
    priors[~allowed] = 0
    if allowed.any() and priors.sum() <= 0:
        priors[allowed] = 1.0
    return priors
