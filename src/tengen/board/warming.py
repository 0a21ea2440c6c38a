"""Use every kernel of the board once, so that Numba compiles and caches it."""

from __future__ import annotations

import numpy as np

from tengen.board import kernels
from tengen.board.batch import BatchBoard
from tengen.board.board import Board
from tengen.board.playouts import playouts
from tengen.board.safety import in_atari


def warm_up() -> None:
    """Play a few moves every way there is."""
    board = Board(5, moves="B C3 W C2 B B2 W D3")
    board.legal_mask()
    board.blocks()
    board.undo()
    board.area_score()
    in_atari(board.grid())
    kernels.regrow(board._table, np.zeros_like(board._table))  # what a long game needs
    playouts(board, 2, kind="heavy")
    batch = BatchBoard(2, 5)
    batch.legal_masks()
    batch.play(np.array([0, 1]))
    batch.area_scores()
