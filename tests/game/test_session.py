"""A game between a person and a player, without a terminal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tengen.board import BLACK, PASS, RESIGN, Board, parse_gtp
from tengen.errors import IllegalMoveError
from tengen.game.clock import Clock
from tengen.game.session import LocalGame
from tengen.players import make_player
from tengen.records import read_game


class Passing:
    """A player that passes."""

    name = "passing"

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        return PASS


def game_against_passes(human: int = BLACK) -> LocalGame:
    return LocalGame(Board(5, komi=0.5), human, seed=1, player=Passing())


def test_a_game_is_counted_after_two_passes(tmp_path: Path) -> None:
    game = game_against_passes()
    game.act(parse_gtp("C3", 5, 5))
    assert game.waits_for_machine and game.answer() == PASS and not game.waits_for_machine
    game.act(PASS)
    assert game.has_ended and game.open and game.result == "B+24.5"
    with pytest.raises(IllegalMoveError, match="the game is over"):
        game.act(PASS)
    game.toggle("C3")
    assert game.result == "W+0.5" and game.summary()["dead"] == ["C3"]
    game.toggle("C3")
    assert game.result == "B+24.5" and game.dead == set()
    (tmp_path / "game.sgf").write_bytes(game.sgf("passing"))
    record = read_game(tmp_path / "game.sgf")
    assert str(record.result) == "B+24.5" and len(record.tree.nodes[-1]["TB"]) == 24


def test_undo_goes_back_to_the_persons_turn() -> None:
    game = game_against_passes()
    with pytest.raises(IllegalMoveError, match="no move of yours"):
        game.undo()
    game.act(parse_gtp("C3", 5, 5))
    game.answer()
    game.act(PASS)
    game.undo()
    assert (
        not game.has_ended
        and game.dead is None
        and [move for _, move in game.board.moves][1:] == [PASS]
    )
    game.act(RESIGN)
    assert game.result == "W+R" and game.resigned == BLACK
    game.undo()
    assert not game.has_ended and len(game.board.moves) == 2


def test_stones_are_taken_off_only_at_the_end() -> None:
    with pytest.raises(IllegalMoveError, match="after both sides have passed"):
        game_against_passes().toggle("C3")


def test_somebody_who_watches_sees_the_end() -> None:
    game = game_against_passes(human=0)
    while game.waits_for_machine:
        game.answer()
    assert game.has_ended and game.result and game.summary()["colour"] is None


def test_advice_and_estimate() -> None:
    game = game_against_passes()
    assert game.advice() == PASS
    outlook, owners = game.estimate()
    assert abs(outlook.score) <= 40 and not outlook.finished and outlook.by
    assert owners is None or owners.shape == (25,)


def test_a_game_can_be_counted_before_it_is_over_and_go_on() -> None:
    game = game_against_passes()
    game.act(parse_gtp("C3", 5, 5))
    game.stop()
    game.finish()
    assert game.is_counting and game.open and game.dead == set() and game.result == "B+24.5"
    game.undo()
    assert not game.has_ended and len(game.board.moves) == 1


def test_a_side_without_time_loses_and_may_take_that_back() -> None:
    game = game_against_passes()
    game.clock = Clock.fischer(10.0, 2.0)
    game.clock.since = 100.0
    assert not game.check_clock(109.9)
    game.play(parse_gtp("C3", 5, 5), 104.0)
    assert game.clock.sides[BLACK].left == pytest.approx(8.0)
    game.play(PASS, 105.0)
    assert game.check_clock(114.0) and game.result == "W+T" and game.is_over
    game.undo(120.0)
    assert not game.is_over and game.clock.remaining(BLACK, BLACK, 125.0) == pytest.approx(25.0)


def test_a_machine_plays_on_after_a_pass_in_an_open_game_and_accepts_one_that_ends_it() -> None:
    settled = Board.from_ascii(". X X O .\nX X X O O\nX X X O .\n. X X O O\nX X X O .", komi=9.5)
    for board, over in ((Board(5, moves="B C3"), False), (settled, True)):
        game = LocalGame(board, board.turn, player=make_player("tengen:level=1"))
        assert game.loses_by_passing is not over
        game.act(PASS)
        assert (game.answer() == PASS) is over
        assert game.is_counting is over
