"""Play on by chance, or as somebody chooses until the game ends; know no players and no clocks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tengen.board.board import Board
from tengen.board.coordinates import PASS, RESIGN, Point, point_at


def random_point(board: Board, rng: np.random.Generator) -> Point:
    """Return any legal point with equal chances, own eyes too; a pass where there is none."""
    points = np.flatnonzero(board.legal_mask()[:-1])
    if not len(points):
        return PASS
    return board.answer(point_at(int(rng.choice(points)), board.rows, board.cols))


def play_random(board: Board, plies: int, rng: np.random.Generator) -> Board:
    """Play so many random plies on this very board and return it; fewer when points run out.

    >>> len(play_random(Board(9), 4, np.random.default_rng(1)).moves)
    4
    """
    for _ in range(plies):
        move = random_point(board, rng)
        if move == PASS:
            break
        board.push(move)
    return board


def play_to_end(board: Board, choose: Callable[[Board], int], *, limit: int | None = None) -> Board:
    """Play on, on this very board, and return it: until two passes, a resignation or a limit.

    The limit is a number of further plies, three times the board's points unless given.

    >>> rng = np.random.default_rng(1)
    >>> len(play_to_end(Board(9), lambda board: random_point(board, rng), limit=20).moves)
    20
    """
    for _ in range(3 * board.rows * board.cols if limit is None else limit):
        if board.is_over:
            break
        move = choose(board)
        if move == RESIGN:
            break
        board.push(move)
    return board
