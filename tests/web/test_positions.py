"""What pages show of positions, games and reviews."""

from __future__ import annotations

import json
import math
import re

import pytest

from tengen.board import BLACK, PASS, Board
from tengen.contracts import BlockStatus, Status, Verdict
from tengen.errors import IllegalMoveError
from tengen.records import GameRecord, loads
from tengen.records.record import board_at
from tengen.reviews import ReviewSettings
from tengen.reviews.game import find_reviewer, legal_part, review_game
from tengen.scoring.judging import count_without
from tengen.web.positions import (
    counted,
    finite,
    illegal_points,
    judged_blocks,
    named_moves,
    position_of,
)
from tengen.web.tasks import review_page


def test_only_empty_points_that_may_not_be_played_are_illegal():
    board = Board.from_ascii(". X .\nX X .\n. . .", to_play=3 - BLACK)
    assert illegal_points(board) == ["A3"]
    assert illegal_points(Board(5)) == []


def test_a_position_has_stones_turn_last_move_and_captures():
    board = Board.from_ascii("O X .\n. . .\n. . .", to_play=BLACK)
    assert position_of(board)["last"] is None
    board.play("A2")  # takes the stone in the corner
    told = {"stones": [".X.", "X..", "..."], "turn": "white", "last": "A2", "captures": [1, 0]}
    assert position_of(board) == {**told, "suicide": False}
    board.play(PASS)
    assert named_moves(board) == [["B", "A2"], ["W", "pass"]]


def test_a_count_has_the_points_of_either_side():
    told = counted(count_without(Board.from_ascii(". X O .\n. X O ."), []))
    assert (told["black_points"], told["white_points"]) == (["1000"] * 2, ["0001"] * 2)


def test_blocks_are_reported_with_what_json_can_write():
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
def test_positions_are_those_of_a_replay_from_the_start(sgf, count):
    [record] = loads(sgf)
    boards, remark = legal_part(record)
    assert boards == slowly(record) and len(boards) == count
    assert [b.turn for b in boards] == [b.turn for b in slowly(record)]
    assert [b.moves for b in boards] == [b.moves for b in slowly(record)]
    assert ("taken" in remark) == (count <= len(record.moves))


def test_a_game_without_a_first_position_is_refused():
    [record] = loads("(;SZ[2]AB[aa][ab][ba][bb])")
    with pytest.raises(IllegalMoveError):
        legal_part(record)


EVIL = "</script><script>alert(1)</script>"


def test_the_page_of_a_review_holds_everything_and_asks_for_nothing():
    [record] = loads(f"(;SZ[5]PB[{EVIL}]C[{EVIL}];B[cc];W[bb];B[cb])")
    found = review_game(record, find_reviewer(5, 5, ReviewSettings(quick=True)))
    page = review_page(found, f"a game {EVIL}", "../index.html")
    # The data, the kernels and the program, and none of the names.
    assert page.count("<script") == 3 == page.count("</script>")
    assert not re.search(r'(?:src|href)="', page.split("<script", 1)[0])
    head = page.split("<style>")[0].replace("'wasm-unsafe-eval'", "")  # which runs the kernels
    assert "default-src 'none'" in head and "unsafe" not in head
    data = re.search(r'id="review-data">(.*?)</script>', page, re.S)
    assert data is not None
    value = json.loads(data[1])
    assert len(value["parts"]) == len(found.positions) == len(value["game"]["positions"])
    assert value["game"]["black"] == EVIL and value["index"] == "../index.html"
    assert value["parts"][1]["move"]["points_lost"] == round(found.moves[0].points_lost, 3)
    assert len(value["parts"][0]["position"]["ownership"]) == 25
