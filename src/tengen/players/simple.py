"""Play without knowledge: uniformly at random, or for liberties. Both leave own eyes alone."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tengen.board import PASS, Board, Point
from tengen.board.simple_kernels import BY_BLOCK, BY_STONE, maxlib_move, random_move


class RandomPlayer:
    """Play a uniformly random legal point; pass only when there is none.

    Own one-point eyes are left alone unless `fill_eyes`, in which case games need a limit.
    """

    def __init__(self, *, fill_eyes: bool = False) -> None:
        self.name = "random"
        self.fill_eyes = fill_eyes

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose a random move."""
        mask = board.legal_mask()
        raw = random_move(board.state, board.turn, self.fill_eyes, mask, _word(rng))
        return board.answer(raw)


class MaxlibPlayer:
    """Maximise the average liberties of own blocks minus the average of the enemy's blocks.

    Every legal move that fills no own eye is tried and the liberties of all blocks counted after
    it; a side without blocks has average zero; ties are broken at random. With `average="stone"`
    each stone counts the liberties of its block. It passes when only eyes are left, or when the
    enemy has passed and the count as it stands is won.
    """

    def __init__(self, *, average: Literal["block", "stone"] = "block") -> None:
        self.name = "maxlib"
        self.average = average

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose the move with the best balance of liberties."""
        from tengen.players.passing import can_pass_and_win

        if can_pass_and_win(board):
            return PASS
        weighting = BY_STONE if self.average == "stone" else BY_BLOCK
        mask = board.legal_mask()
        return board.answer(maxlib_move(board.state, board.turn, weighting, mask, _word(rng)))


def _word(rng: np.random.Generator) -> NDArray[np.uint64]:
    """Return a kernel's generator that starts from this one."""
    return rng.integers(0, 2**63, size=1, dtype=np.uint64)
