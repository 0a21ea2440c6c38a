"""Small games for the tests: random play with a taste, so that there is something to learn."""

from __future__ import annotations

import numpy as np

from tengen.board import Board
from tengen.papers.move_prediction import kernels
from tengen.papers.move_prediction.model import hash_tables
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
            last = moves[-1][1]
            distance = np.abs(legal // cols - last.row) + np.abs(legal % cols - last.col)
            legal = legal[distance == distance.min()]
        index = int(rng.choice(legal))
        board.play((index // cols, index % cols))
        moves.append(board.moves[-1])
    return GameRecord(rows=rows, cols=cols, moves=moves)


def tasteful_games(count: int, size: int = 7, plies: int = 40, seed: int = 0) -> GameArrays:
    return from_records([tasteful_game(size, size, plies, seed + k) for k in range(count)])


def rings_of(board: Board) -> np.ndarray:
    """Hash the rings of a position from scratch."""
    empty, keys, ring_of = hash_tables(board.rows, board.cols)
    rings = empty.copy()
    kernels.rings_of_state(np.array(board.state), rings, empty, keys, ring_of)
    return rings


def pattern_hashes(rings: np.ndarray, index: int, mover: int) -> np.ndarray:
    """Return the canonical hash of every template at a row-major point."""
    return np.bitwise_xor.accumulate(rings[mover - 1, index], axis=0).min(axis=1)
