"""Commands that need no test file of their own, and counting at the end of a game."""

from __future__ import annotations

import re

import pytest

from tengen.board import PASS, WHITE, Board
from tengen.gtp.commands import MAPS
from tengen.gtp.protocol import GtpFailure, read_integer, read_number
from tengen.papers.symmetry_network import OUTPUTS
from tengen.records import loads
from tengen.records.from_board import record_of_board, sgf_of_game, territory_marks
from tengen.scoring.judging import Judge, Outlook, count_without


def test_what_servers_say_in_passing_is_heard_and_left_alone(talk) -> None:
    talk("boardsize 5", "play b c3")
    before = talk("showboard")
    about = ("cgos-gameover 2026-01-01 B+Resign", "cgos-opponent_name x", "cgos-opponent_rating 9")
    for line in ("kgs-game_over", *about, "gogui-interrupt"):
        assert talk(line) == ""
    assert talk("showboard") == before


def test_gogui_sets_a_position_up_and_asks_about_it(talk) -> None:
    talk("boardsize 5", "gogui-setup b c3 b c4 w d3", "gogui-setup_player w")
    assert talk("showboard").count("X") >= 2
    assert talk("gogui-title") == "Tengen first"
    assert float(talk("gomill-cpu_time")) > 0
    assert talk("tengen-safe") in ("yes", "no")
    assert re.fullmatch(r"[BW]\+[\d.]+|0", talk("estimate_score"))
    listed = talk("gogui-analyze_commands").split("\n")
    assert {f"tengen-map {name}" for name in MAPS} <= {line.split("/")[-1] for line in listed}


def test_clocks_are_set_in_the_words_of_katago(talk) -> None:
    for system in talk("kata-list_time_settings").split():
        line = {"none": "", "absolute": " 60", "fischer": " 60 5"}.get(system, " 60 10 3")
        talk(f"kata-time_settings {system}{line}")
    assert talk.refused("kata-time_settings hourglass 60")


def test_a_cleanup_is_played_by_area(talk, monkeypatch: pytest.MonkeyPatch) -> None:
    talk("boardsize 5", "kata-set-rules japanese")
    asked: list[str] = []

    def note(board: Board, rng: object) -> int:
        asked.append(board.rules.scoring)
        return PASS

    monkeypatch.setattr(talk.engine.player, "choose", note)
    assert talk("genmove b") == talk("kgs-genmove_cleanup b") == "pass"
    assert asked == ["territory", "area"]


def test_an_outlook_is_a_count_when_the_game_is_over() -> None:
    judge = Judge()
    early = judge.estimate(Board(5, moves="B C3"))
    over = judge.estimate(Board.from_ascii("\n".join([". X . X X O O . O"] * 9), komi=0.5))
    assert isinstance(early, Outlook) and not early.finished and early.spread > 0
    assert over.finished and over.spread == 0 and over.score == 9 - 0.5


def test_rules_bring_their_komi_unless_one_was_set(talk) -> None:
    talk("kata-set-rules japanese")
    assert talk("get_komi") == "6.5"
    talk("komi 0.5", "kata-set-rules new_zealand")
    assert talk("get_komi") == "0.5"


def test_maps_are_drawn_whoever_plays(talk) -> None:
    assert MAPS == OUTPUTS
    talk("boardsize 5", "play b c3")
    for name in MAPS:
        rows = [list(map(float, line.split())) for line in talk(f"tengen-map {name}").split("\n")]
        assert [len(row) for row in rows] == [5] * 5
        # A map is mute, and zero, where its output does not apply.
        assert (rows[2][2] > 0) == name.startswith(("black_dies", "white_eye_by"))
        assert (rows[0][0] > 0) == (name in ("territory", "white_eye", "black_eye"))
    assert talk("tengen-map") == talk("tengen-map territory")
    assert "territory" in talk.refused("tengen-map stars")


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
