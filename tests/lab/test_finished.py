"""Finished games whose truth is known: settled positions, and their dead stones, are found."""

from __future__ import annotations

import numpy as np

from tengen.board import Board
from tengen.board.counting import count_territory
from tengen.lab.finished import PLAYER, Job, make_game, settled
from tengen.players import make_player

DEAD = """
. X . X O . O
X X X X O O .
. X . X O . O
X X X X O O O
. . X O O . .
X O X O . . O
. X X O O O .
"""


def test_dead_stones_of_a_settled_position_are_found() -> None:
    board = Board.from_ascii(DEAD)
    dead = settled(make_player(PLAYER), board, np.random.default_rng(1))
    assert dead is not None
    assert [tuple(int(v) for v in at) for at in np.argwhere(dead)] == [(5, 1)]


def test_an_open_board_is_not_settled() -> None:
    board = Board(7, moves="B D4 W C3 B C4 W D3")
    assert settled(make_player(PLAYER), board, np.random.default_rng(1)) is None


def test_games_repeat_themselves_and_carry_their_true_score() -> None:
    first = next(game for seed in range(9) if (game := make_game(Job(seed, 5))) is not None)
    again = next(game for seed in range(9) if (game := make_game(Job(seed, 5))) is not None)
    assert first.sgf() == again.sgf()
    board = Board(5, komi=first.komi)
    for colour, point in first.moves:
        board.play(point, colour)
    assert board.is_over
    dead = settled(make_player(PLAYER), _without_passes(first), np.random.default_rng(3))
    if dead is not None:
        count = count_territory(board.grid(), dead, komi=board.komi, prisoners=board.prisoners)
        assert count.score == first.result.score


def _without_passes(record: object) -> Board:
    board = Board(5, komi=record.komi)  # type: ignore[attr-defined]
    for colour, point in record.moves[:-2]:  # type: ignore[attr-defined]
        board.play(point, colour)
    return board
