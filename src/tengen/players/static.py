"""Play by rules of one ply, fast and always the same; a stand-in for 1990s programs."""

from __future__ import annotations

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import PASS, Board, Point, point_of
from tengen.board import layout_kernels as layout
from tengen.board.shapes import shape_table
from tengen.players.passing import sensible
from tengen.players.static_kernels import (
    DEFAULT_WEIGHTS,
    VALUE,
    W_PASS,
    finish_static,
    new_work,
    static_values,
)


class StaticPlayer:
    """Play the move that the rules value highest; the generator is not used.

    Passes when nothing is worth a move; before that it captures dead stones where the count under
    area scoring needs it.
    """

    def __init__(self, *, resign: bool = False) -> None:
        self.name = "static"
        self.resign = resign

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose the move of the highest value."""
        values = move_values(board)
        index = int(values.argmax())
        move: int = PASS
        if values[index] > DEFAULT_WEIGHTS[W_PASS]:
            move = point_of(index // board.cols, index % board.cols, board.cols)
        return sensible(board, move, resign=self.resign)


def move_values(board: Board) -> FloatArray:
    """Return what every point is worth to the side to move, row-major; -inf where it may not play.

    Own eyes are -inf too. The unit is roughly a point of area.
    """
    state = board.state
    work, floats = new_work(state.shape[1])
    static_values(
        state, board.turn, DEFAULT_WEIGHTS, shape_table(), np.empty_like(state), work, floats
    )
    values: FloatArray = floats[VALUE][state[layout.COLOUR] != layout.BORDER]
    values[~board.legal_mask()[:-1]] = -np.inf
    return values


def finish_score(board: Board) -> float:
    """Let the rules play both sides to the end and return Black's score, komi included."""
    return float(finish_static(board.state.copy(), shape_table())) - board.white_bonus
