"""Play as a level that draws: moves from a policy, and the end of the game by who owns what.

A policy alone cannot tell when a game is over: it would fill the whole board. Knows no levels.
"""

from __future__ import annotations

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import PASS, Board, Point
from tengen.contracts import Policy
from tengen.players.network_leaves import Network
from tengen.players.passing import (
    can_pass_and_win,
    finishing_move,
    is_late,
    judge,
    sound_points,
    touch_both,
)
from tengen.players.policy import SamplePlayer

_SURE = 0.8
"""Ownership beyond which a point is nobody else's any more."""


class DrawingPlayer(SamplePlayer):
    """Draw moves while there is something to play for, then fill what is neutral, and pass."""

    def __init__(self, *, model: Policy, temperature: float, network: Network) -> None:
        super().__init__(model=model, temperature=temperature)
        self.network = network

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose a move at random as the policy likes it, or end the game."""
        if can_pass_and_win(board):
            return PASS
        if not is_late(board):
            return self.draw(board, rng)
        ownership = self._owners(board)
        if ownership is None:
            return self.draw(board, rng)
        neutral = sound_points(board, np.abs(ownership) < _SURE)
        return self.draw(board, rng, among=neutral) if neutral else finishing_move(board, ownership)

    def _owners(self, board: Board) -> FloatArray | None:
        """Return who owns what; None where it is not clear, neither to the network nor by chance.

        Points between both sides are not asked for: they are filled last.
        """
        between = touch_both(board).ravel()
        network = self.network.views([board])[0].ownership
        for ownership in (network, judge(board).ownership):
            if (between | (np.abs(ownership) >= _SURE)).all():
                return ownership
        return None
