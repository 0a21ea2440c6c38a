"""Commands that need no test file of their own, and counting at the end of a game."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tengen.board import WHITE, Board
from tengen.contracts import Analysis, Candidate
from tengen.game.judging import Judge, Outlook, count_without
from tengen.gtp import thinking
from tengen.gtp.commands import MAPS, rule_change
from tengen.gtp.protocol import GtpFailure
from tengen.gtp.thinking import AnalysisOptions, Dialect, format_report


def test_what_servers_say_in_passing_is_heard_and_left_alone(talk) -> None:
    talk("boardsize 5", "play b c3")
    before = talk("showboard")
    for line in (
        "kgs-game_over",
        "cgos-gameover 2026-01-01 B+Resign",
        "cgos-opponent_name other",
        "cgos-opponent_rating 1800",
        "gogui-interrupt",
    ):
        assert talk(line) == ""
    assert talk.refused("kgs-chat game somebody hello") == "no chat here"
    assert talk("showboard") == before


def test_gogui_sets_a_position_up_and_asks_about_it(talk) -> None:
    talk("boardsize 5", "gogui-setup b c3 b c4 w d3", "gogui-setup_player w")
    assert talk("showboard").count("X") >= 2
    assert talk("gogui-title") == "Tengen first"
    assert float(talk("gomill-cpu_time")) > 0
    assert talk("tengen-safe") in ("yes", "no")
    owned = talk("tengen-influence")
    assert owned and owned == talk("tengen-influence")  # the engine's seed decides
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

    def note(engine: object, call: object, colour: int, board: Board) -> str:
        asked.append(board.rules.scoring)
        return "pass"

    monkeypatch.setattr(thinking, "_choose_and_play", note)
    assert talk("genmove b") == talk("kgs-genmove_cleanup b") == "pass"
    assert asked == ["territory", "area"]


def test_a_rule_of_katago_changes_ours_or_is_refused() -> None:
    assert rule_change("suicide", True) == {"suicide": True}
    assert rule_change("ko", "positional") == {"ko": "positional"}
    assert rule_change("hasButton", False) == {} == rule_change("tax", "NONE")
    for key, value in (("hasButton", True), ("tax", "ALL"), ("ko", "never"), ("wind", 1)):
        with pytest.raises(GtpFailure, match=f"rule {key} {value} is not supported"):
            rule_change(key, value)


def test_dead_stones_are_taken_off_before_counting() -> None:
    board = Board.from_ascii(". X . O .\n. X . O .\n. X O O .", komi=0.5)
    stones = [board.point(name) for name in ("D3", "D2", "D1", "C1")]
    alive, dead = count_without(board, []), count_without(board, map(int, stones))
    assert alive.score == 6 - 7 - 0.5 and dead.score == 15 - 0.5


def test_an_outlook_is_a_count_when_the_game_is_over() -> None:
    judge = Judge()
    early = judge.estimate(Board(5, moves="B C3"))
    over = judge.estimate(Board.from_ascii("\n".join([". X . X X O O . O"] * 9), komi=0.5))
    assert isinstance(early, Outlook) and not early.finished and early.spread > 0
    assert over.finished and over.spread == 0 and over.score == 9 - 0.5


@pytest.mark.parametrize("dialect", ["lz", "kata", "cgos"])
def test_a_report_names_its_moves_in_every_dialect(dialect: Dialect) -> None:
    moves = (Candidate(7, 20, 0.25, -3.5, 0.5, (7, 8)), Candidate(8, 10, 0.2, -4.0, 0.3, (8,)))
    report = Analysis(moves, 7, 30, 0.25, -3.5, np.full(4, 0.5))
    options = AnalysisOptions(max_moves=1, ownership=True)
    line = format_report(report, lambda move: f"P{move}", dialect, options, WHITE)
    assert "P7" in line and "\n" not in line
    if dialect != "cgos":
        assert line.count("info move") == 1
    assert ("ownership -0.5" in line) == (dialect == "kata")  # seen by White


def test_a_game_keeps_komi_and_refuses_rules_that_its_moves_break(talk) -> None:
    talk("kata-set-rules japanese")
    assert talk("get_komi") == "6.5"
    talk("komi 0.5", "kata-set-rules new_zealand", "boardsize 5 4")
    assert talk("get_komi") == "0.5"
    # Black kills two stones of his own, which only New Zealand rules allow.
    moves = ("A3", "B4", "B3", "C3", "A2", "B2", "A1", "B1", "A4")
    talk(*(f"play {'bw'[i % 2]} {move}" for i, move in enumerate(moves)))
    assert talk.refused("kata-set-rules chinese").startswith("the game so far breaks these rules")
