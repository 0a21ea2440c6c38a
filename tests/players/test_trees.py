"""Search trees, leaves, alpha-beta and the clock of a search, on small examples."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.board import WHITE, Board, index_of
from tengen.game.endgame import candidates
from tengen.papers.symmetry_network import SymmetryNetwork
from tengen.players import make_player
from tengen.players import tree_kernels as k
from tengen.players.alphabeta import AlphaBetaPlayer, AlphaBetaSearch
from tengen.players.network_search import UtilityFunction
from tengen.players.network_tree import NetworkTree
from tengen.players.search_clock import SearchLimits
from tengen.players.simple import scores_after, values_after


def test_a_way_that_is_given_up_leaves_no_trace_and_nodes_know_their_branch() -> None:
    tree, nobody = NetworkTree(4, 1), np.zeros(4)
    even = (0.0, 0.5, 0.0, 0.0)
    for _ in range(3):
        path = tree.descend()
        tree.store_evaluation(path[-1], even, nobody, [1, 2], np.array([0.6, 0.4]))
        tree.back_up(path)
    path = tree.descend()
    assert tree.waiting[path].tolist() == [1] * len(path)
    visits, sums = tree.visits.copy(), tree.sums.copy()
    tree.cancel_visit(path)
    assert not tree.waiting.any()
    assert (tree.visits == visits).all() and (tree.sums == sums).all()
    for node, branch in enumerate(tree.branches().tolist()):
        above = node
        while above and tree.parent[above] != 0:
            above = int(tree.parent[above])
        assert branch == above


def test_a_kept_subtree_has_its_node_as_root_and_all_below() -> None:
    ti, tf = np.zeros((9, k.T_WIDTH), np.int32), np.zeros((9, k.F_WIDTH))
    ti[:, k.T_MOVE] = range(9)
    tf[:, k.F_N] = range(9)
    for node, first, count in ((0, 1, 2), (1, 3, 2), (2, 5, 2), (5, 7, 1)):
        ti[node, [k.T_FIRST, k.T_COUNT]] = first, count
    meta = np.zeros(k.M_WIDTH, np.int64)
    new_ti, new_tf = np.zeros_like(ti), np.zeros_like(tf)
    k.keep_subtree(ti, tf, meta, 2, new_ti, new_tf)
    assert meta[k.M_USED] == 4
    assert new_ti[:4, k.T_MOVE].tolist() == [2, 5, 6, 7] == new_tf[:4, k.F_N].tolist()
    assert new_ti[0, [k.T_FIRST, k.T_COUNT]].tolist() == [1, 2]
    assert new_ti[1, [k.T_FIRST, k.T_COUNT]].tolist() == [3, 1]


def test_a_leaf_has_the_value_of_the_utility_function() -> None:
    assert UtilityFunction(0.0, 0.0, 3.0).outcome_terms(0.75, 3.0, 2.0) == (0.5, 0.75, 3.0, 13.0)
    by_points = UtilityFunction(1.0, 0.0, 3.0).outcome_terms(0.75, 3.0, 2.0)
    assert by_points[0] == pytest.approx(0.5)  # `reach` points are half of all


# ----- Clocks -----


def test_a_pace_tells_what_is_left_and_when_a_report_is_due() -> None:
    clock = iter([0.0, 0.4, 1.1, 1.2, 2.5, 4.0, 4.0]).__next__
    limits = SearchLimits(clock, 3.0, True, lambda: False, 1.0)
    assert [limits.due() for _ in range(4)] == [False, True, False, True]
    assert limits.left() == -1.0 and limits.spent() == 4.0
    assert SearchLimits(lambda: 0.0, None, False, lambda: False, 1.0).left() is None


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


def test_a_position_has_another_value_after_a_pass(network: SymmetryNetwork) -> None:
    search, limits = AlphaBetaSearch(network, None, None), (1, -1000.0, 1000.0)
    board = Board.from_ascii(".X.XX\nXXXXX\nOOOOO\nOOOOO\n.O.OO")
    open_value, _ = search.value(board, *limits)
    board.play("pass", WHITE)
    assert search.value(board, *limits)[0] == -12.5 != open_value


def test_scores_of_all_moves_at_once_are_those_one_by_one() -> None:
    board = Board(7, moves="B D4 W C3 B E3 W D3")
    network = SymmetryNetwork.load("isn-best")
    moves = candidates(board)
    # Sorted by liberties: no history in the inputs.
    both = scores_after(network, board, moves), values_after(network, board, moves)
    assert np.allclose(*both, atol=1e-3)
