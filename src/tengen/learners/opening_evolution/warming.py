"""Use every kernel of evolved openings once, so that Numba compiles and caches it."""

from __future__ import annotations

import numpy as np

from tengen.board import Board
from tengen.learners.opening_evolution.networks import Dense, Shared, Spatial


def warm_up() -> None:
    """Choose one move with every kind of network."""
    board = Board(5, moves="B C3 W C2")
    for shape in (Dense(5, 5), Spatial(5, 5), Shared(5, 5), Spatial(5, 5, plies=2)):
        weights = np.linspace(-0.3, 0.3, shape.n_weights)
        shape.move(weights, board)
        shape.value(weights, board, 1)
