"""Playing on by chance and to the end."""

from __future__ import annotations

import numpy as np

from tengen.board import PASS, RESIGN, Board, play_random, play_to_end, random_point


def test_random_plies_end_where_points_do() -> None:
    rng = np.random.default_rng(1)
    board = play_random(Board(9), 30, rng)
    assert len(board.moves) == 30 and PASS not in [point for _, point in board.moves]
    full = Board.from_ascii(".X\nXX")
    assert random_point(full, rng) == PASS and not play_random(full, 5, rng).moves


def test_random_points_are_uniform() -> None:
    rng = np.random.default_rng(2)
    found = [random_point(Board(2), rng) for _ in range(400)]
    assert all(60 < found.count(point) < 140 for point in set(found)) and len(set(found)) == 4


def test_a_game_ends_by_passes_resignation_or_length() -> None:
    assert len(play_to_end(Board(3), lambda _: PASS).moves) == 2
    assert not play_to_end(Board(3), lambda _: RESIGN).moves
    rng = np.random.default_rng(3)
    assert len(play_to_end(Board(3), lambda b: random_point(b, rng), limit=5).moves) <= 5
    over = play_to_end(Board(3), lambda _: PASS)
    assert len(play_to_end(over, lambda b: random_point(b, rng)).moves) == 2
