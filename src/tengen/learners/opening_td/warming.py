"""Compile this learner's kernels now, by training and matching tiny players."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import Board


class _Nobody:
    """An expert that calls every opening even."""

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> FloatArray:
        """Return zeros."""
        return np.zeros(len(boards))


def warm_up() -> None:
    """Compile everything that training, matches and evaluation call."""
    from tengen.learners.opening_td.features import dense_inputs
    from tengen.learners.opening_td.learner import OpeningTD
    from tengen.learners.opening_td.matches import play_match
    from tengen.learners.opening_td.settings import TDSettings

    settings = TDSettings(rows=5, plies=4, games=2, hidden=3)
    learner = OpeningTD(settings=settings).fit(_Nobody())
    play_match(learner, "random", _Nobody(), games=2, seed=1)
    board = Board(5)
    learner.best_move(board)
    learner.values([board])
    dense_inputs(board, settings.chosen, friend=1, komi=5.5)
