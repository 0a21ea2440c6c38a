"""Passing and resigning are sensible under the rules in force."""

import numpy as np
import pytest

from tengen.board import BLACK, PASS, RESIGN, WHITE, Board, Rules
from tengen.contracts import BlockStatus, Status, Verdict
from tengen.game.endgame import (
    adjust_at_game_end,
    can_pass_and_win,
    cleanup_move,
    finishing_move,
    is_late,
    is_ready_to_count,
    points_left,
    score_as_it_stands,
    should_resign,
)
from tengen.players import make_player
from tengen.players.network_search import SEARCHING_JUDGE
from tengen.scoring.judging import Judge, is_sound

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
    assert not can_pass_and_win(board, SEARCHING_JUDGE)
    board.play("pass")
    assert board.turn == BLACK
    assert can_pass_and_win(board, SEARCHING_JUDGE)


def test_a_side_that_is_behind_does_not() -> None:
    board = Board.from_ascii(SETTLED, komi=20.5, to_play=WHITE)
    board.play("pass")
    assert not can_pass_and_win(board, SEARCHING_JUDGE)


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
    assert adjust_at_game_end(board, PASS, SEARCHING_JUDGE) != PASS
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


def test_open_boards_are_not_over() -> None:
    assert not SEARCHING_JUDGE.is_over(Board(9))
    assert SEARCHING_JUDGE.is_over(Board.from_ascii(SETTLED))


def test_hopeless_games_are_resigned_only_when_asked_and_late() -> None:
    board = Board.from_ascii(SETTLED, komi=30.5, to_play=BLACK)
    assert not should_resign(board)
    board.moves.extend([(BLACK, PASS)] * 20)
    board.moves.append((WHITE, board.point("G1")))
    assert should_resign(board)
    assert adjust_at_game_end(board, board.point("A7"), SEARCHING_JUDGE, resign=True) == RESIGN
    assert adjust_at_game_end(board, board.point("A7"), SEARCHING_JUDGE) == board.point("A7")


def test_points_are_left_where_an_empty_point_touches_both_colours() -> None:
    assert not points_left(Board.from_ascii(SETTLED))
    assert points_left(Board.from_ascii("X . O\nX X O\n. X O"))
    assert not points_left(Board(5))  # nobody has a stone


def test_stones_are_sound_where_they_do_no_harm() -> None:
    board = Board.from_ascii("X . O\nX X O\n. X O")
    everywhere = [p for p in board.legal_moves if p != PASS]
    assert [p for p in everywhere if is_sound(board, p, BLACK)] == [board.point("B3")]
    atari = Board.from_ascii("X . O .\nO O . .\n. . . .\n. . . .")
    assert not is_sound(atari, atari.point("B4"), BLACK)  # it would put itself in atari


def verdict(board: Board) -> Verdict:
    """Say that the white stone on B6 is dead and everything else alive."""
    lone = board.point("B6")
    return Verdict(
        tuple(
            BlockStatus(b.stones, b.colour, Status.DEAD if lone in b.stones else Status.ALIVE, 1.0)
            for b in board.blocks()
            if lone not in b.stones or b.colour == WHITE
        ),
        safe=True,
    )


def test_a_finished_board_is_passed_unless_dead_stones_decide() -> None:
    for komi, captures in ((0.5, True), (-30.5, False)):
        board = Board.from_ascii(DEAD, komi=komi)
        assert (finishing_move(board, verdict(board)) != PASS) == captures
    japanese = Board.from_ascii(DEAD, rules="japanese", komi=0.5)
    assert finishing_move(japanese, verdict(japanese)) == PASS
    settled = Board.from_ascii(SETTLED, komi=0.5)
    assert finishing_move(settled, verdict(settled)) == PASS


def test_a_game_is_late_when_a_third_of_the_points_was_played() -> None:
    assert not is_late(Board(3, moves="B A1 W B1")) and is_late(Board(3, moves="B A1 W B1 B C1"))


def test_the_count_alone_is_left_only_under_territory_late_and_when_over() -> None:
    class Fixed(Judge):
        def __init__(self, over: bool) -> None:
            super().__init__()
            self.over = over

        def is_over(self, board: Board) -> bool:
            return self.over

    def board(rules: str, moves: int) -> Board:
        made = Board(3, rules=rules)
        for _ in range(moves):
            made.play(PASS)
        return made

    asked = [("japanese", 3, True), ("japanese", 2, True), ("chinese", 3, True)]
    asked.append(("japanese", 3, False))
    found = []
    for rules, moves, over in asked:
        found.append(is_ready_to_count(board(rules, moves), Fixed(over)))
    assert found == [True, False, False, False]


def test_a_policy_s_own_eyes_and_passes_do_not_count() -> None:
    from tengen.players.simple import playable_priors

    class Even:
        def priors(self, board: Board) -> np.ndarray:
            return np.full(board.rows * board.cols + 1, 1 / (board.rows * board.cols + 1))

    class Eyes:
        def priors(self, board: Board) -> np.ndarray:
            return np.eye(10)[0]

    board = Board.from_ascii(". X .\nX X .\n. . .", to_play=BLACK)
    priors = playable_priors(Even(), board)
    assert priors[0] == 0 and priors[-1] == 0 and np.count_nonzero(priors) == 5
    # A policy that sees only the eye leaves all other moves alike.
    assert set(playable_priors(Eyes(), board).tolist()) == {0.0, 1.0}
