"""The rule player's reading and the promise that it finishes games fast and always the same."""

import numpy as np
import pytest

from tengen.board import BLACK, PASS, WHITE, Board, index_of, play_random
from tengen.contracts import check_expert
from tengen.game.endgame import estimate_by_playouts, score_as_it_stands
from tengen.players import make_expert, make_player
from tengen.players.evaluators import BuiltinExpert, PlayerExpert, StaticExpert
from tengen.players.simple import (
    MaxlibPlayer,
    StaticPlayer,
    best_by_policy,
    finish_score,
    static_move_values,
)
from tengen.players.static_kernels import W_PASS


@pytest.mark.parametrize("colours", ["XO", "OX"], ids=["takes a block", "saves a block in atari"])
def test_a_large_block_is_worth_a_move(colours: str) -> None:
    empty = ". . . . . . .\n"
    around, inside = (f". . {' '.join(3 * c)} . .\n" for c in colours)
    picture = empty + around + inside.replace(".", colours[0], 2).replace(colours[0], ".", 1)
    board = Board.from_ascii(picture + around + 3 * empty)
    assert str(make_player("static").choose(board, np.random.default_rng(0))) == "F5"


def test_own_eyes_are_left_alone() -> None:
    board = Board.from_ascii("""
        . X . X O
        X X X X O
        O O O O O
        . . . . .
        O . O . O
    """)
    values = static_move_values(board).reshape(5, 5)
    assert np.isneginf(values[0, 0])
    assert np.isneginf(values[0, 2])


def test_it_never_looks_at_the_generator() -> None:
    player, board = make_player("static"), Board(9, moves="B C3 W G7")
    assert player.choose(board, np.random.default_rng(1)) == player.choose(
        board, np.random.default_rng(2)
    )


def test_finishing_is_a_function_of_the_position() -> None:
    board = Board(9, komi=5.5, moves="B C3 W G7 B G3 W C7 B E5")
    before = board.state.copy()
    scores = {finish_score(board) for _ in range(3)}
    assert len(scores) == 1
    assert np.array_equal(board.state, before)
    assert abs(scores.pop()) <= 81 + 5.5


def test_a_clear_win_is_seen() -> None:
    grid = np.zeros((9, 9), np.int8)
    grid[2] = grid[6] = BLACK
    assert finish_score(Board.from_grid(grid, komi=5.5, to_play=WHITE)) > 20


def test_it_passes_at_the_end() -> None:
    board = Board(7, komi=0.5)
    rng = np.random.default_rng(0)
    player = make_player("static")
    while not board.is_over:
        assert len(board.moves) < 147
        board.play(player.choose(board, rng))
    assert board.moves[-1][1] == PASS


def test_values_of_the_rules_are_finite_where_one_may_play() -> None:
    board = play_random(Board(7), 30, np.random.default_rng(1))
    values, legal = static_move_values(board), board.legal_mask()[:-1]
    assert np.isneginf(values[~legal]).all() and np.isfinite(values[legal]).any()
    player = make_player("static")
    assert isinstance(player, StaticPlayer)
    best = int(values.argmax())
    assert values[best] > W_PASS
    assert index_of(player.choose(board, np.random.default_rng(1)), 7, 7) == best


def test_maxlib_joins_its_stones_for_liberties() -> None:
    player = make_player("maxlib")
    assert isinstance(player, MaxlibPlayer) and player.average == "block"
    board = Board.from_ascii(". . . . .\n. X . . .\n. . . . .\n. . . . .\n. . . . .")
    assert board.liberties("B4") == 4
    board.play(player.choose(board, np.random.default_rng(1)))
    assert len(board.blocks()) == 1 and board.liberties("B4") == 6


def test_experts_give_a_won_board_to_who_owns_it() -> None:
    board = Board.from_ascii("\n".join([". X X O . O ."] * 7), komi=0.5)
    won = Board.from_ascii("\n".join([". X . X X O ."] * 7), komi=0.5)
    for expert in (PlayerExpert(make_player("static")), StaticExpert(make_player("static"))):
        scores = expert.finish([board, won], [1, 2])
        assert scores[1] > scores[0]


def test_a_judgement_knows_what_is_unconditionally_alive() -> None:
    board = Board.from_ascii(". X . X .\nX X X X X\n. . . . .\n. . . . .\n. . . . .", komi=0.5)
    said = estimate_by_playouts(board, 8)
    assert 0 <= said.win_rate <= 1
    assert (said.ownership[:10] == 1).all()
    assert score_as_it_stands(board) == board.area_score()


def test_the_best_by_policy_come_first_and_no_own_eye() -> None:
    class ByIndex:
        def priors(self, board: Board) -> np.ndarray:
            return np.arange(1, board.rows * board.cols + 2) / 1000.0

    board = Board.from_ascii(". X .\nX X X\n. X .")
    board.turn = 2
    assert best_by_policy(ByIndex(), board, 3) == []  # type: ignore[arg-type]  # no move at all
    moves = best_by_policy(ByIndex(), Board(3), 2)  # type: ignore[arg-type]
    assert [index_of(move, 3, 3) for move in moves] == [8, 7]


def test_the_expert_keeps_the_contract() -> None:
    check_expert(BuiltinExpert(playouts=24))


def test_players_keep_the_contract_as_experts() -> None:
    check_expert(make_expert("static"))
    check_expert(make_expert("random"), boards=[Board(5, komi=2.5)])


def test_the_static_expert_in_one_kernel_scores_as_move_by_move() -> None:
    rng = np.random.default_rng(5)
    boards = []
    for _ in range(6):
        board = Board(9, komi=7.5)
        for _ in range(16):
            board.push(int(rng.choice(list(board.legal_moves)[:-1])))
        boards.append(board)
    fast, slow = make_expert("static"), make_expert("static:resign=no")
    assert type(fast) is not type(slow)
    seeds = range(len(boards))
    a, b = fast.finish(boards, seeds), slow.finish(boards, seeds)
    assert len(set(a)) > 3
    # Dead stones are judged by fewer playouts; a game may differ by a few points.
    assert np.mean(a == b) >= 0.5 and np.mean((a > 0) == (b > 0)) >= 0.8


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


def test_boards_of_several_sizes_are_scored_together() -> None:
    expert, boards = BuiltinExpert(playouts=24), [Board(5), Board(7), Board(5, moves="B C3")]
    alone = [expert.finish([board], [seed])[0] for seed, board in enumerate(boards)]
    assert expert.finish(boards, [0, 1, 2]).tolist() == alone


def test_other_seeds_give_other_but_near_verdicts() -> None:
    scores = BuiltinExpert(playouts=96).finish([Board(7, komi=0)] * 6, range(6))
    assert len(set(scores)) > 1
    assert scores.std() < 8
