"""Alpha-beta and the greedy player with a symmetry network at the leaves."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.board import Board, index_of
from tengen.game.endgame import candidates
from tengen.learners.symmetry_network import SymmetryNetwork
from tengen.players import make_player
from tengen.players.alphabeta import AlphaBetaPlayer
from tengen.players.simple import scores_after, values_after


@pytest.fixture(scope="module")
def network() -> SymmetryNetwork:
    return SymmetryNetwork.load("isn-9x9")


def test_depth_one_plays_the_move_the_network_likes_best(network: SymmetryNetwork) -> None:
    board = Board(7, moves="B D4 W C3 B E3 W D3 B E4 W C4")
    player = AlphaBetaPlayer(model=network, depth=1)
    value, move = player.search(board)
    scores = network.move_scores(board)
    moves = candidates(board)
    best = max(moves, key=lambda m: scores[index_of(m, 7, 7)])
    assert move == best and value == pytest.approx(scores[index_of(best, 7, 7)])
    assert player.nodes > len(moves)


def test_the_networks_own_order_prunes_without_a_policy(network: SymmetryNetwork) -> None:
    board = Board(7, moves="B D4 W C3")
    narrow = AlphaBetaPlayer(model=network, depth=3, width=3)
    move = narrow.choose(board, np.random.default_rng(0))
    order = np.argsort(-scores_after(network, board, candidates(board)), kind="stable")
    assert move in [candidates(board)[int(i)] for i in order[:3]]
    assert narrow.nodes < 3**3 + 3**2 * 60
    assert make_player("alphabeta:model=isn-9x9,depth=2,width=4").width == 4  # type: ignore[attr-defined]


def test_scores_of_all_moves_at_once_are_those_one_by_one() -> None:
    board = Board(7, moves="B D4 W C3 B E3 W D3")
    network = SymmetryNetwork.load("isn-best")
    moves = candidates(board)
    # Sorted by liberties: no history in the inputs.
    both = scores_after(network, board, moves), values_after(network, board, moves)
    assert np.allclose(*both, atol=1e-3)
