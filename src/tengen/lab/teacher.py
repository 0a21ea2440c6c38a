"""Make games for symmetry networks to learn from, played by the rule player; train nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tengen.board.kernels import n_points
from tengen.board.shapes import shape_table
from tengen.lab.teacher_kernels import taught_game
from tengen.learners.symmetry_network.teaching import Games

EXPLORE = 0.25
"""Share of random moves before the position that is learned from."""

PLAYOUTS = 16
"""Heavy playouts that say who owns what at the end."""


def teacher_games(games: int, *, size: int = 9, seed: int = 0, workers: int = 1) -> Games:
    """Play so many games; game i depends on the seed and i alone, not on the number of workers."""
    limit = 2 * size * size
    moves = np.zeros((games, limit), np.int16)
    classes = np.zeros((games, int(n_points(size, size))), np.int8)
    plies, first = np.zeros(games, np.int64), np.zeros(games, np.int64)
    shapes = shape_table()

    def play(i: int) -> None:
        first[i], plies[i] = taught_game(
            *(size, size, shapes, seed, i, EXPLORE, PLAYOUTS, moves[i], classes[i])
        )

    if workers > 1:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(play, range(games)))
    else:
        for i in range(games):
            play(i)
    return Games(size, moves, plies, first, classes)
