"""Play as a level that draws: moves from a policy, and the end of the game by the judge.

A policy alone cannot tell when a game is over: it fills the whole board. Knows no levels.
"""

from __future__ import annotations

import numpy as np

from tengen.board import PASS, Board, Point
from tengen.gtp.judging import is_sound, neutral_points, shared_judge
from tengen.players.passing import finishing_move
from tengen.players.policy import SamplePlayer


class DrawingPlayer(SamplePlayer):
    """Draw moves; when the enemy has passed and all is clear, fill what is neutral, and pass.

    It does not pass before: an enemy that plays on where all seemed clear took 7 of 10 games on
    19x19 from one that did.
    """

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose a move at random as the policy likes it, or end the game."""
        verdict = shared_judge().finished(board) if board.last_move == PASS else None
        if verdict is None:
            return super().choose(board, rng)
        neutral = neutral_points(board, verdict) if board.rules.scoring == "area" else []
        mine = [point for point in neutral if is_sound(board, point, board.turn)]
        if neutral:
            return self.draw(board, rng, among=mine or None)
        return finishing_move(board, verdict)
