"""Play as a level that draws: moves from a policy, and the end of the game by a network.

A policy alone cannot tell when a game is over: it would fill the whole board. Knows no levels.
"""

from __future__ import annotations

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import Board, Point
from tengen.contracts import Policy
from tengen.players.network_leaves import Network
from tengen.players.passing import (
    can_pass_and_win,
    finishing_move,
    is_late,
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
        ownership = self.network.views([board])[0].ownership if is_late(board) else None
        if ownership is None or can_pass_and_win(board) or not _is_clear(board, ownership):
            return super().choose(board, rng)
        neutral = sound_points(board, np.abs(ownership) < _SURE)
        return self.draw(board, rng, among=neutral) if neutral else finishing_move(board, ownership)


def _is_clear(board: Board, ownership: FloatArray) -> bool:
    """Tell whether it is clear who owns what, but for points between both sides."""
    return bool((touch_both(board).ravel() | (np.abs(ownership) >= _SURE)).all())
