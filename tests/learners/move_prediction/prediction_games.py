"""Small games for the tests: random play with a taste, so that there is something to learn."""

from __future__ import annotations

import numpy as np

from tengen.board import Board
from tengen.records.arrays import GameArrays, from_records
from tengen.records.record import GameRecord


def tasteful_game(rows: int, cols: int, plies: int, seed: int) -> GameRecord:
    """Play at random, mostly next to the last move, never into a single own eye."""
    rng = np.random.default_rng(seed)
    board = Board(rows, cols)
    moves = []
    for _ in range(plies):
        legal = np.flatnonzero(board.legal_mask()[:-1])
        if len(legal) == 0:
            break
        if moves and rng.random() < 0.8:
            row, col = divmod(moves[-1][1] - 1, cols + 1)
            distance = np.abs(legal // cols - (row - 1)) + np.abs(legal % cols - col)
            legal = legal[distance == distance.min()]
        index = int(rng.choice(legal))
        point = (index // cols + 1) * (cols + 1) + index % cols + 1
        moves.append((board.turn, point))
        board.play(point)
    return GameRecord(rows=rows, cols=cols, moves=moves)


def tasteful_games(count: int, size: int = 7, plies: int = 40, seed: int = 0) -> GameArrays:
    return from_records([tasteful_game(size, size, plies, seed + k) for k in range(count)])
