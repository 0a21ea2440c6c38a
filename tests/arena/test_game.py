"""The referee: results on the right side, faults blamed on the right player."""

from __future__ import annotations

import pytest

from tengen.arena.game import play_game
from tengen.board import BLACK, WHITE
from tengen.contracts import ScoreEstimate
from tengen.gtp.client import (
    EngineBadAnswer,
    EngineCrash,
    EngineIllegalMove,
    EngineRefusal,
    EngineTimeout,
)
from tengen.records import loads

WALL = ["C1", "C2", "C3", "C4", "C5"]
BEHIND = ["D1", "D2", "D3", "D4", "D5"]


def test_two_passes_are_counted_by_area(job, scripted) -> None:
    # Black's wall on the third line has 15 points, White's behind it 10 and komi.
    game = play_game(job(), scripted("anna", WALL), scripted("bert", BEHIND))
    assert (str(game.result), game.reason, game.winner) == ("B+2.5", "passes", "anna")
    assert game.vertices.split()[-2:] == ["pass", "pass"]
    assert game.fault == ""


def test_result_is_right_when_colours_are_swapped(job, scripted) -> None:
    game = play_game(job(swapped=True), scripted("bert", WALL), scripted("anna", BEHIND))
    assert (str(game.result), game.winner) == ("B+2.5", "bert")
    (record,) = loads(game.sgf())
    root = record.properties
    assert (root["PB"], root["PW"], root["RE"]) == (["bert"], ["anna"], ["B+2.5"])
    assert record.result.winner == BLACK


@pytest.mark.parametrize("swapped", [False, True])
def test_resignation_loses_for_whoever_resigns(job, scripted, swapped) -> None:
    white = "anna" if swapped else "bert"
    game = play_game(job(swapped=swapped), scripted("b", ["C3", "resign"]), scripted("w", ["C2"]))
    assert (str(game.result), game.reason, game.winner) == ("W+R", "resign", white)


def test_resignation_can_be_taken_for_a_pass(job, scripted) -> None:
    game = play_game(job(resign=False), scripted("b", ["C3", "resign"]), scripted("w", ["C2"]))
    assert game.reason == "passes"


def test_draw_with_whole_komi(job, scripted) -> None:
    game = play_game(job(komi=5), scripted("b", WALL), scripted("w", BEHIND))
    assert (str(game.result), game.winner) == ("0", None)


@pytest.mark.parametrize("move", ["C3", lambda: 999, lambda: -7])
def test_illegal_move_loses(job, scripted, move) -> None:
    game = play_game(job(), scripted("b", ["C3"]), scripted("w", [move]))
    assert (str(game.result), game.reason, game.fault) == ("B+F", "illegal", "bert")
    assert "White, move 2" in game.detail


def test_superko_is_an_illegal_move(job, scripted) -> None:
    ko = {"opening": ["B3", "E3", "C4", "D4", "C2", "D2", "A1", "C3"]}
    # Black takes the ko, White takes back at once.
    game = play_game(job(**ko), scripted("b", ["D3"]), scripted("w", ["C3"]))
    assert (str(game.result), game.reason, game.fault) == ("B+F", "illegal", "bert")
    assert "ko" in game.detail


def _raise(fault: Exception):
    def play() -> int:
        raise fault

    return play


@pytest.mark.parametrize(
    ("fault", "result", "reason"),
    [
        (EngineCrash("e", "genmove w", "was killed"), "Void", "failure"),
        (EngineIllegalMove("e", "genmove w", "C3"), "B+F", "illegal"),
        (EngineBadAnswer("e", "genmove w", "what"), "B+F", "answer"),
        (EngineRefusal("e", "play b C3", "refused"), "B+F", "answer"),
        (EngineRefusal("e", "boardsize 5", "refused"), "Void", "failure"),
        (EngineTimeout("e", "genmove w", "time for a move"), "B+T", "time"),
        (EngineTimeout("e", "clear_board", "time for a command"), "Void", "failure"),
        (ZeroDivisionError("our bug"), "Void", "failure"),
    ],
)
def test_faults_are_distinguished_and_attributed(job, scripted, fault, result, reason) -> None:
    game = play_game(job(), scripted("b", ["C3"]), scripted("w", [_raise(fault)]))
    assert (str(game.result), game.reason, game.fault) == (result, reason, "bert")
    assert game.is_void == (result == "Void")
    assert loads(game.sgf())[0].properties["RE"] == [result]


def test_a_player_that_fails_at_the_start_voids_the_game(job, scripted) -> None:
    broken = scripted("w")
    broken.new_game = lambda seed: _raise(EngineCrash("e", "boardsize", "dead"))()
    game = play_game(job(), scripted("b"), broken)
    assert game.is_void
    assert game.fault == "bert"


def test_too_slow_a_move_loses_on_time(job, scripted) -> None:
    ticks = iter(range(0, 1000, 3))
    game = play_game(
        job(move_seconds=2), scripted("b", ["C3"]), scripted("w"), clock=lambda: next(ticks)
    )
    assert (str(game.result), game.reason, game.fault) == ("W+T", "time", "anna")


def test_length_limit_counts_the_position_as_it_is(job, scripted) -> None:
    game = play_game(job(max_plies=3), scripted("b", WALL), scripted("w", BEHIND))
    assert (game.reason, len(game.moves)) == ("length", 3)
    assert job().conditions.ply_limit == 75


def test_opening_is_played_and_players_go_on(job, scripted) -> None:
    game = play_game(job(opening=["A1", "B1", "A2"]), scripted("b", ["C3"]), scripted("w", ["C2"]))
    assert game.vertices == "A1 B1 A2 C2 C3 pass pass"
    assert [colour for colour, _ in game.moves[:4]] == [BLACK, WHITE, BLACK, WHITE]


def test_players_get_their_seeds_and_versions_are_kept(job, scripted) -> None:
    players = scripted("b"), scripted("w")
    first = play_game(job(), *players)
    play_game(job(), *players)
    assert players[0].seeds[0] == players[0].seeds[1] != players[1].seeds[0]
    assert first.versions == {"anna": "3.1", "bert": "3.1"}
    assert "seed 17" in loads(first.sgf())[0].properties["C"][0]


def test_scorer_counts_when_asked(job, scripted) -> None:
    class Generous:
        def score(self, board):
            return ScoreEstimate(-7.0)

    game = play_game(job(judge="scorer"), scripted("b"), scripted("w"), scorer=Generous())
    assert str(game.result) == "W+7"
    assert job(rules="japanese").conditions.counter == "scorer"
    assert job(rules="chinese").conditions.counter == "tromp-taylor"
