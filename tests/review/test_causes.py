"""Phase and cause of a loss, from made-up evaluations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tengen.board import BLACK, WHITE, Board
from tengen.reviews.causes import cause_of
from tengen.reviews.game import EvaluatedPosition


def position(board: Board, best: str, owners: np.ndarray | None = None) -> EvaluatedPosition:
    return EvaluatedPosition(board, 0.5, 0.0, 10.0, 1, board.point(best), ownership=owners)


def played(*moves: str) -> Board:
    board = Board(19)
    for move in moves:
        board.play(move)
    return board


@pytest.mark.parametrize(
    ("last", "move", "best", "cause"),
    [
        ("Q16", "C4", "R14", "answer"),
        ("Q16", "R14", "C4", "direction"),
        ("Q16", "C4", "C6", "local"),
        ("Q16", "pass", "C6", "pass"),
        ("Q16", "C6", "pass", ""),
        ("pass", "C4", "Q16", "direction"),
    ],
)
def test_the_distance_to_the_best_move_says_what_went_wrong(last, move, best, cause):
    board = played(last)
    before = position(board, best)
    assert cause_of(WHITE, board.point(move), before, before).name == cause


@pytest.mark.parametrize(("colour", "cause"), [(BLACK, "group"), (WHITE, "escape")])
def test_stones_that_change_hands_come_first(colour, cause):
    board = played("D4", "Q16", "D5", "Q4", "D6", "D16")
    black_alive = np.where(board.grid() == BLACK, 1.0, -1.0).ravel()
    dead = np.full(361, -1.0)
    before, after = (black_alive, dead) if colour == BLACK else (dead, black_alive)
    start = position(board, "D7", before)
    found = cause_of(colour, board.point("K10"), start, replace(start, ownership=after))
    assert found == (cause, 3)
    few = np.where(np.arange(361) == board.grid().ravel().argmax(), -before, before)
    assert cause_of(colour, board.point("K10"), start, replace(start, ownership=few)).stones == 0
