"""The built-in expert keeps its contract, is fair to both colours, and players can be experts."""

import numpy as np
import pytest

from tengen.board import BLACK, WHITE, Board
from tengen.contracts import check_expert
from tengen.players import make_expert
from tengen.players.expert import BuiltinExpert


def test_the_expert_keeps_the_contract() -> None:
    check_expert(BuiltinExpert(playouts=24))


def test_players_keep_the_contract_as_experts() -> None:
    check_expert(make_expert("static"))
    check_expert(make_expert("random"), boards=[Board(5, komi=2.5)])


def test_the_static_expert_in_one_kernel_scores_as_move_by_move() -> None:
    rng = np.random.default_rng(5)
    boards = []
    for _ in range(12):
        board = Board(9, komi=7.5)
        for _ in range(16):
            board.push(int(rng.choice(list(board.legal_moves)[:-1])))
        boards.append(board)
    fast, slow = make_expert("static"), make_expert("static:resign=no")
    assert type(fast) is not type(slow)
    seeds = range(len(boards))
    a, b = fast.finish(boards, seeds), slow.finish(boards, seeds)
    assert len(set(a)) > 5
    # Dead stones are judged by fewer playouts; a game may differ by a few points.
    assert np.mean(a == b) >= 0.75 and np.mean((a > 0) == (b > 0)) >= 0.9


def test_komi_is_subtracted() -> None:
    expert = BuiltinExpert(playouts=16)
    a, b = expert.finish([Board(7, komi=0.5), Board(7, komi=10.5)], [3, 3])
    assert a - b == pytest.approx(10)


def test_colours_swapped_turn_the_score_round() -> None:
    grid = np.zeros((9, 9), np.int8)
    grid[2, 2:7] = BLACK
    grid[6, 3:5] = WHITE
    swapped = np.where(grid > 0, 3 - grid, 0).astype(np.int8)
    expert = BuiltinExpert(playouts=400)
    a = expert.finish([Board.from_grid(grid, komi=0, to_play=BLACK)], [1])[0]
    b = expert.finish([Board.from_grid(swapped, komi=0, to_play=WHITE)], [1])[0]
    assert a > 5
    assert a == pytest.approx(-b, abs=12)


def test_threads_change_nothing() -> None:
    boards = [Board(7, moves="B C3"), Board(7, moves="B C3 W E5"), Board(7)]
    one = BuiltinExpert(playouts=24).finish(boards, [1, 2, 3])
    many = BuiltinExpert(playouts=24, threads=2).finish(boards, [1, 2, 3])
    assert np.array_equal(one, many)


def test_states_and_boards_agree() -> None:
    expert = BuiltinExpert(playouts=24)
    boards = [Board(7, komi=0, moves="B C3"), Board(7, komi=0)]
    scores, ownership = expert.finish_states(
        np.stack([b.state for b in boards]), np.array([5, 6], np.int64)
    )
    assert np.array_equal(scores, expert.finish(boards, [5, 6]))
    assert ownership.shape == (2, 49)
    assert np.allclose(ownership.sum(axis=1), scores)


def test_boards_of_several_sizes_are_scored_together() -> None:
    expert, boards = BuiltinExpert(playouts=24), [Board(5), Board(7), Board(5, moves="B C3")]
    alone = [expert.finish([board], [seed])[0] for seed, board in enumerate(boards)]
    assert expert.finish(boards, [0, 1, 2]).tolist() == alone


def test_other_seeds_give_other_but_near_verdicts() -> None:
    scores = BuiltinExpert(playouts=96).finish([Board(7, komi=0)] * 6, range(6))
    assert len(set(scores)) > 1
    assert scores.std() < 8
