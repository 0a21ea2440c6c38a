"""Use every kernel of this learner once, so that Numba compiles and caches it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import Board


class _Nobody:
    """An expert that scores every opening 0."""

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> FloatArray:
        """Return zeros."""
        return np.zeros(len(boards))


def warm_up() -> None:
    """Compile everything that training, matches and evaluation call."""
    from tengen.learners.opening_td.learner import OpeningTD
    from tengen.learners.opening_td.network import dense_inputs
    from tengen.learners.opening_td.settings import TDSettings
    from tengen.learners.opening_td.training import play_match

    settings = TDSettings(rows=5, plies=4, games=2, hidden=3)
    learner = OpeningTD(settings=settings).fit(_Nobody())
    play_match(learner, "random", _Nobody(), games=2, seed=1)
    board = Board(5)
    learner.best_move(board)
    learner.values([board])
    dense_inputs(board, settings.chosen, friend=1, komi=5.5)
