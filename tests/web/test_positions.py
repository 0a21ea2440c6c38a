"""What pages are told of a position."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tengen.board import BLACK, PASS, Board
from tengen.contracts import BlockStatus, Status, Verdict
from tengen.errors import IllegalMoveError
from tengen.records import GameRecord, loads
from tengen.records.record import board_at
from tengen.web import positions
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


GOOD = "(;SZ[9]AB[aa]PL[W];W[ee];B[cc];W[gg];B[])"
ILLEGAL = "(;SZ[9];B[ee];W[cc];B[gg];W[ee];B[cg];W[gc])"
"""The fourth of six moves is on a stone."""


def slowly(record: GameRecord) -> list[Board]:
    """Replay the game from its start for each position."""
    boards = []
    for number in range(1, len(record.moves) + 2):
        try:
            boards.append(board_at(record, number))
        except IllegalMoveError:
            break
    return boards


@pytest.mark.parametrize(
    ("sgf", "count"), [(GOOD, 5), (ILLEGAL, 4), ("(;SZ[9];B[ee];W[ee])", 2), ("(;SZ[9])", 1)]
)
def test_positions_are_those_of_a_replay_from_the_start(sgf: str, count: int) -> None:
    [record] = loads(sgf)
    boards, remark = positions.replayed(record)
    assert boards == slowly(record) and len(boards) == count
    assert [b.turn for b in boards] == [b.turn for b in slowly(record)]
    assert [b.moves for b in boards] == [b.moves for b in slowly(record)]
    assert ("taken" in remark) == (count <= len(record.moves))


def test_a_game_is_replayed_once_whatever_is_wrong_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def counting(*arguments: Any) -> Board:
        asked.append(arguments)
        return board_at(*arguments)

    monkeypatch.setattr(positions, "board_at", counting)
    for sgf in (GOOD, ILLEGAL):
        asked.clear()
        positions.replayed(loads(sgf)[0])
        assert len(asked) <= 1


def test_a_game_without_a_first_position_is_refused() -> None:
    [record] = loads("(;SZ[2]AB[aa][ab][ba][bb])")
    with pytest.raises(IllegalMoveError):
        positions.replayed(record)
