"""Words of GTP: numbers, colours and scores, as far as they may go and no farther."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.board import BLACK, PASS, RESIGN, WHITE, Board, index_of
from tengen.contracts import Analysis, Candidate
from tengen.game.judging import count_without
from tengen.game.sgf import record_of_board, sgf_of_game, start_of, territory_marks
from tengen.gtp.analysis_protocol import parse_query, visit_shares
from tengen.gtp.protocol import (
    GtpFailure,
    format_score,
    read_colour,
    read_integer,
    read_number,
)
from tengen.records import loads


def test_colours_are_read_in_either_case() -> None:
    words = ("b", "B", "black", "Black", "w", "W", "white", "WHITE")
    assert [read_colour(word) for word in words] == [BLACK] * 4 + [WHITE] * 4
    for word in ("", "red", "bl", "0"):
        with pytest.raises(GtpFailure, match="invalid color"):
            read_colour(word)


def test_whole_numbers_are_plain_digits_within_bounds() -> None:
    assert [read_integer(word) for word in ("0", "7", "007")] == [0, 7, 7]
    assert read_integer("-3", least=-5) == -3
    assert read_integer("19", least=2, most=19) == 19
    for word in ("", "-", "+1", "1.0", "1_0", "٣", "0x10", "9" * 21, "--1"):
        with pytest.raises(GtpFailure, match=r"not an integer$"):
            read_integer(word)
    for word in ("1", "20"):
        with pytest.raises(GtpFailure, match="not an integer between 2 and 19"):
            read_integer(word, least=2, most=19)


def test_numbers_are_finite() -> None:
    assert [read_number(word) for word in ("6.5", "-0.5", "7", "1e2")] == [6.5, -0.5, 7.0, 100.0]
    for word in ("", "nan", "inf", "-inf", "1e999", "1_0", "six", "٣"):
        with pytest.raises(GtpFailure, match="not a float"):
            read_number(word)


@pytest.mark.parametrize("score", [0.5, -0.5, 3.0, -12.25, 361.0])
def test_a_score_says_who_leads_and_by_how_much(score: float) -> None:
    text = format_score(score)
    assert (text[0] == "B") == (score > 0)
    assert float(text[2:]) == abs(score)
    assert format_score(0) == format_score(-1e-12) == "0"


def test_a_query_wants_what_it_allows_and_does_not_avoid() -> None:
    query = parse_query(
        {
            "id": "q",
            "boardXSize": 5,
            "boardYSize": 5,
            "rules": "chinese",
            "moves": [],
            "avoidMoves": [{"player": "B", "moves": ["A1"], "untilDepth": 1}],
            "allowMoves": [{"player": "W", "moves": ["B1", "pass"], "untilDepth": 1}],
        }
    )
    a1, b1 = Board(5).point("A1"), Board(5).point("B1")
    asked = [(BLACK, a1), (BLACK, b1), (BLACK, RESIGN), (WHITE, a1), (WHITE, b1), (WHITE, PASS)]
    assert [query.allows(*each) for each in asked] == [False, True, False, False, True, True]


def test_visits_make_a_policy_that_sums_to_one() -> None:
    board = Board(9)
    moves = {board.point("E5"): 30, board.point("C3"): 10, PASS: 0, RESIGN: 99}
    found = Analysis(tuple(Candidate(move, n, 0.5) for move, n in moves.items()), PASS, 40)
    shares = visit_shares(found, board)
    assert shares.sum() == 1.0 and np.count_nonzero(shares) == 2
    assert shares[index_of(board.point("E5"), 9, 9)] == 0.75
    nothing = visit_shares(Analysis((), PASS), board)
    assert nothing[-1] == nothing.sum() == 1.0  # nothing was looked at: the pass


def test_the_start_of_a_game_has_its_setup_and_no_moves() -> None:
    board = Board.from_ascii("X . .\n. . .\n. . O", to_play=WHITE, komi=1.5)
    begun = board.grid().copy()
    board.play("B2")
    board.play("C3")
    start = start_of(board)
    assert (start.grid() == begun).all() and start.turn == WHITE and not start.moves
    assert start.komi == 1.5 and start_of(board, komi=3.5).komi == 3.5
    assert not start_of(board, empty=True).grid().any()
    assert len(board.moves) == 2  # as it was


def test_the_record_of_a_board_plays_to_the_same_board() -> None:
    from tengen.records.record import board_at

    board = Board.from_ascii("X . . .\n. . . .\n. . O .\n. . . .", to_play=WHITE, komi=2.5)
    for move in ("B2", "D4", "A1", PASS):
        board.play(move)
    record = record_of_board(board)
    again = board_at(record)
    assert (again.grid() == board.grid()).all() and again.turn == board.turn
    assert record.komi == 2.5 and len(record.setup) == 2 and len(record.moves) == 4


def test_a_counted_game_is_written_with_names_result_and_territory() -> None:
    board = Board(3, komi=0.5, moves="B B2 W pass B pass")
    count = count_without(board, ())
    text = sgf_of_game(board, {1: "A]", 2: "B"}, count.result, count)
    [record] = loads(text)
    names = [record.properties[name] for name in ("PB", "PW")]
    assert (str(record.result), names) == (count.result, [["A]"], ["B"]])
    last = record.tree.nodes[-1]
    assert len(last["TB"]) == 8 and "TW" not in last
    assert territory_marks(count) == {"TB": last["TB"]}
    assert b"TB" not in sgf_of_game(board, {1: "A", 2: "B"}, "W+R", None)
