"""Passing and resigning are sensible under the rules in force."""

import numpy as np
import pytest

from tengen.board import BLACK, PASS, RESIGN, WHITE, Board, Rules
from tengen.players import make_player
from tengen.players.passing import (
    can_pass_and_win,
    cleanup_move,
    is_settled,
    score_as_it_stands,
    sensible,
    should_pass,
    should_resign,
)

# Black owns the left, White the right; nothing is left to play but eyes.
SETTLED = """
    . X . X O . O
    X X X X O O .
    X X . X O . O
    . X X X O O O
    X X . X O . O
    . X X X O O .
    X . X X O . O
"""
# The same with a dead white stone inside Black's area.
DEAD = """
    . . . X O . O
    X O . X O O .
    . . . X O . O
    X X X X O O O
    X X . X O . O
    . X X X O O .
    X . X X O . O
"""


def test_a_side_that_is_ahead_passes_after_a_pass() -> None:
    board = Board.from_ascii(SETTLED, komi=0.5, to_play=WHITE)
    assert board.area_score() > 0
    assert not can_pass_and_win(board)
    board.play("pass")
    assert board.turn == BLACK
    assert can_pass_and_win(board)
    assert should_pass(board)


def test_a_side_that_is_behind_does_not() -> None:
    board = Board.from_ascii(SETTLED, komi=20.5, to_play=WHITE)
    board.play("pass")
    assert not can_pass_and_win(board)


@pytest.mark.parametrize("spec", ["static", "greedy:model=area", "maxlib", "sample:model=static"])
def test_players_pass_and_win(spec: str) -> None:
    board = Board.from_ascii(SETTLED, komi=0.5, to_play=WHITE)
    board.play("pass")
    assert make_player(spec).choose(board, np.random.default_rng(0)) == PASS


def test_dead_stones_are_captured_before_passing_when_it_matters() -> None:
    board = Board.from_ascii(DEAD, komi=3.5, to_play=BLACK)
    # As it stands the region around the white stone is nobody's: Black is behind.
    assert board.area_score() < 0
    move = cleanup_move(board)
    assert move != PASS
    assert sensible(board, PASS) != PASS
    rng = np.random.default_rng(0)
    player = make_player("static")
    for _ in range(60):
        if board.is_over:
            break
        board.play(player.choose(board, rng) if board.turn == BLACK else PASS)
    assert board.is_over
    assert board.area_score() > 0


def test_dead_stones_do_not_matter_under_territory_scoring() -> None:
    board = Board.from_ascii(DEAD, rules=Rules.preset("japanese"), komi=0.5, to_play=BLACK)
    assert score_as_it_stands(board) > 0


def test_open_boards_are_not_settled() -> None:
    assert not is_settled(Board(9))
    assert not should_pass(Board(9))
    assert is_settled(Board.from_ascii(SETTLED))


def test_hopeless_games_are_resigned_only_when_asked_and_late() -> None:
    board = Board.from_ascii(SETTLED, komi=30.5, to_play=BLACK)
    assert not should_resign(board)
    board.moves.extend([(BLACK, PASS)] * 20)
    board.moves.append((WHITE, board.point("G1")))
    assert should_resign(board)
    assert sensible(board, board.point("A7"), resign=True) == RESIGN
    assert sensible(board, board.point("A7")) == board.point("A7")
