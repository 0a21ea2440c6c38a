"""What pages are told of a position."""

from __future__ import annotations

import math

import numpy as np

from tengen.board import BLACK, PASS, Board
from tengen.contracts import BlockStatus, Status, Verdict
from tengen.web.positions import (
    finite,
    illegal_points,
    judged_blocks,
    last_vertex,
    mask_rows,
    named_moves,
    position_of,
)


def test_moves_are_named_with_their_colours() -> None:
    board = Board(9)
    assert named_moves(board) == [] and last_vertex(board) is None
    board.play("D4")
    board.play(PASS)
    assert named_moves(board) == [["B", "D4"], ["W", "pass"]]
    assert last_vertex(board) == "pass"


def test_only_empty_points_that_may_not_be_played_are_illegal() -> None:
    board = Board.from_ascii(". X .\nX X .\n. . .", to_play=3 - BLACK)
    assert illegal_points(board) == ["A3"]
    assert illegal_points(Board(5)) == []


def test_a_mask_is_a_string_a_row() -> None:
    mask = np.array([[True, False, False], [False, True, True]])
    assert mask_rows(mask) == ["100", "011"]


def test_a_position_has_stones_turn_last_move_and_captures() -> None:
    board = Board.from_ascii("O X .\n. . .\n. . .", to_play=BLACK)
    board.play("A2")  # takes the stone in the corner
    told = position_of(board)
    assert told["last"] == "A2" and told["turn"] == "white"
    assert len(told["stones"]) == 3
    assert sorted(told["captures"]) == [0, 1]


def test_blocks_are_told_with_what_json_can_write() -> None:
    board = Board.from_ascii(". X .\nX X .\n. O .")
    sure, unsure = board.block("B3"), board.block("B1")
    verdict = Verdict(
        (
            BlockStatus(sure.stones, sure.colour, Status.ALIVE, 0.9),
            BlockStatus(unsure.stones, unsure.colour, Status.DEAD, math.nan),
        ),
        safe=True,
    )
    assert judged_blocks(verdict, board) == [
        {"stones": ["B3", "A2", "B2"], "status": "alive", "probability": 0.9},
        {"stones": ["B1"], "status": "dead", "probability": None},
    ]
    assert (finite(0.5), finite(math.inf)) == (0.5, None)
