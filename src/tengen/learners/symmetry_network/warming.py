"""Use every kernel of the symmetry network once, so that Numba compiles and caches it."""

from __future__ import annotations

import numpy as np

from tengen.board import Board, point_at
from tengen.learners.symmetry_network.imitation_kernels import choices
from tengen.learners.symmetry_network.learner import SymmetryNetwork
from tengen.learners.symmetry_network.matches import play_match
from tengen.learners.symmetry_network.settings import SymmetrySettings


def warm_up() -> None:
    """Train, judge and play on a small board, with a stack too, and draw an expert's choices."""
    settings = SymmetrySettings(games=4, linear_games=2, batch=2, size=5)
    network = SymmetryNetwork(settings=settings).fit()
    network.values([Board(5)])
    network.move_values(Board(5))
    play_match(network, None, games=1, size=5)
    stack = SymmetrySettings(layers=2, turn=True, categories="liberties")
    wide = SymmetryNetwork.from_free(np.zeros(stack.architecture.size), stack)
    wide.move_values(Board(5))
    wide.values([Board(5)])
    moves = np.array([point_at(12, 5, 5)], np.int16)
    boards, counts = np.zeros((1, 3, 25), np.uint8), np.zeros(1, np.int64)
    choices(
        *(moves, np.ones(1, np.int8), np.array([0, 1]), np.array([0]), 5, 5, 1, False),
        *(stack.sorting.packed(), 0, 0, boards, counts),
    )
