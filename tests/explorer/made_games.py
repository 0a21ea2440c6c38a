"""Games by chance to make indices of."""

from __future__ import annotations

import numpy as np

from tengen.board import Board
from tengen.records import GameRecord, Result


def make_games(
    count: int, rows: int, cols: int, *, seed: int = 1, length: int = 40
) -> list[GameRecord]:
    """Games by chance near a few first moves, so that many of them meet; some pass."""
    rng = np.random.default_rng(seed)
    games = []
    for number in range(count):
        board = Board(rows, cols, rules="japanese")
        while len(board.moves) < length:
            moves = list(board.legal_moves)
            early = len(board.moves) < 3
            board.play(moves[int(rng.integers(min(4, len(moves)) if early else len(moves)))])
        winner = number % 3
        result = Result("resign", winner) if winner else Result()
        games.append(GameRecord(rows, cols, moves=list(board.moves), result=result))
    return games


def sgf(records: list[GameRecord]) -> bytes:
    return b"\n".join(record.sgf() for record in records)
