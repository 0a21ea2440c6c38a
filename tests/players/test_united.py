"""The united player: every part speaks where it should, levels are distinct, specs are checked."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.board import PASS, Board
from tengen.errors import SpecError
from tengen.players import make_player
from tengen.players.mcts import MctsPlayer
from tengen.players.united import LEVELS, RootPolicy, UnitedPlayer


def united(spec: str) -> UnitedPlayer:
    player = make_player(spec)
    assert isinstance(player, UnitedPlayer)
    return player


def test_it_plays_a_legal_move_and_repeats_itself() -> None:
    player = united("tengen-playouts:playouts=60")
    board = Board(9, moves="B E5 W C3")
    first = player.choose(board, np.random.default_rng(3))
    assert board.is_legal(first)
    assert united("tengen-playouts:playouts=60").choose(board, np.random.default_rng(3)) == first


def test_parts_can_be_left_out() -> None:
    board = Board(9)
    whole = united("tengen-playouts:playouts=10").search(board)
    assert isinstance(whole.policy, RootPolicy)
    bare = united("tengen-playouts:playouts=10,without=opening+predictor+network").search(board)
    assert bare.policy is None and bare.evaluator is None
    no_opening = united("tengen-playouts:playouts=10,without=opening").search(board).policy
    assert isinstance(no_opening, RootPolicy) and no_opening.opening is None


def test_the_opening_speaks_at_the_root_of_early_positions_only() -> None:
    class Corner:
        opening_plies = 4

        def values(self, boards: list[Board]) -> np.ndarray:
            return np.array([30.0 if b.grid()[0, 0] == 1 else 0.0 for b in boards])

    class Even:
        def priors(self, board: Board) -> np.ndarray:
            return np.full(board.rows * board.cols + 1, 1 / (board.rows * board.cols + 1))

    policy = RootPolicy(Even(), Corner())
    board = Board(5)
    policy.at_root(board)
    assert policy.priors(board).argmax() == 0
    assert policy.priors(board).sum() == pytest.approx(1.0)
    other = Board(5, moves="B C3")
    assert np.ptp(policy.priors(other)) == 0
    late = Board(5, moves="B C3 W B2 B D4 W D2")
    policy.at_root(late)
    assert np.ptp(policy.priors(late)) == 0


def test_models_hear_the_moves_that_led_to_a_leaf() -> None:
    heard: list[tuple[int, ...]] = []

    class Listener:
        def priors(self, board: Board) -> np.ndarray:
            replayed = Board(5)
            for colour, move in board.moves:
                replayed.play(move, colour)
            assert np.array_equal(replayed.grid(), board.grid())
            assert replayed.turn == board.turn
            heard.append(tuple(move for _, move in board.moves))
            return np.full(26, 1 / 26)

    player = MctsPlayer(playouts=60, policy=Listener())
    player.choose(Board(5, moves="B C3"), np.random.default_rng(1))
    assert max(map(len, heard)) >= 3


def test_it_passes_when_the_game_is_over_by_territory() -> None:
    wall = " ".join(f"B D{row} W E{row}" for row in range(1, 10))
    inside = " ".join(
        f"B {a} W {b}"
        for a, b in zip(["B2", "C4", "B6", "C8", "C2"], ["G2", "F4", "G6", "F8", "F2"], strict=True)
    )
    over = Board(9, moves=f"{wall} {inside}", rules="japanese")
    player = united("tengen-playouts:playouts=30")
    assert player.choose(over, np.random.default_rng(1)) == PASS
    bare = united("tengen-playouts:playouts=30,without=scorer")
    assert bare.choose(over, np.random.default_rng(1)) != PASS
    assert player.choose(Board(9, rules="japanese"), np.random.default_rng(1)) != PASS


def test_levels() -> None:
    board = Board(9, moves="B E5")
    for level in LEVELS:
        if LEVELS[level].playouts <= 100:
            assert board.is_legal(
                united(f"tengen-playouts:level={level}").choose(board, np.random.default_rng(1))
            )
    assert united("tengen-playouts:level=6").search(board).playouts == LEVELS[6].playouts
    assert united("tengen-playouts:level=6").within(1.0).level == 6
    assert united("tengen-playouts:playouts=9").within(1.5).search(board).seconds == 1.5


@pytest.mark.parametrize(
    "spec",
    [
        "tengen-playouts:level=11",
        "tengen-playouts:level=3,playouts=5",
        "tengen-playouts:without=luck",
        "tengen-playouts:level=x",
    ],
)
def test_bad_specs(spec: str) -> None:
    with pytest.raises(SpecError, match="tengen"):
        make_player(spec)


@pytest.mark.parametrize("spec", ["mcts:playouts=80", "tengen-playouts:playouts=80"])
def test_a_narrowed_player_looks_at_nothing_else(spec: str) -> None:
    board = Board(9, moves="B E5 W C3")
    wanted = {board.point("A1"), board.point("J9")}
    player = make_player(spec).only(wanted)  # type: ignore[attr-defined]
    *_, report = player.analyse(board, np.random.default_rng(2), limited=True)
    assert {c.move for c in report.candidates} <= wanted
    assert sum(c.visits for c in report.candidates) >= 78
    assert report.choice in wanted
