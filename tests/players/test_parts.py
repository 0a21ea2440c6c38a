"""The players' smaller parts, each by its own name: trees, values, experts, plugged classes."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator

import numpy as np
import pytest

from tengen.board import PASS, RESIGN, Board, index_of, play_random
from tengen.board import layout_kernels as layout
from tengen.board.shapes import shape_table
from tengen.contracts import Analysis
from tengen.errors import SpecError
from tengen.players import make_player
from tengen.players import mcts_kernels as k
from tengen.players.alphabeta import Entry, Search
from tengen.players.expert import PlayerExpert, StaticExpert
from tengen.players.greedy import best_by_policy
from tengen.players.ladder_kernels import WORK_ROWS
from tengen.players.network_leaves import Leaf, Taste
from tengen.players.network_search import RESIGN_BELOW, NetworkPlayer
from tengen.players.network_tree import Exploring, Tree, Worth
from tengen.players.options import PLAIN_READERS, Option
from tengen.players.pace import Pace, Searching
from tengen.players.passing import Judgement, judge, score_as_it_stands
from tengen.players.plugins import (
    PREFIX,
    checked_player,
    installed_players,
    make_plugged_evaluator,
    make_plugged_player,
    make_plugged_policy,
    split_target,
)
from tengen.players.simple import MaxlibPlayer
from tengen.players.static import StaticPlayer, move_values
from tengen.players.static_kernels import (
    DEFAULT_WEIGHTS,
    VALUE,
    W_PASS,
    new_work,
    static_values,
)


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


# ----- Trees -----


def test_a_way_that_is_given_up_leaves_no_trace_and_nodes_know_their_branch() -> None:
    tree, nobody = Tree(4, 1), np.zeros(4)
    even = Worth(0.0, 0.5, 0.0, 0.0)
    for _ in range(3):
        path = tree.descend(Exploring())
        tree.judge(path[-1], even, nobody, [1, 2], np.array([0.6, 0.4]))
        tree.back_up(path)
    path = tree.descend(Exploring())
    assert tree.waiting[path].tolist() == [1] * len(path)
    visits, sums = tree.visits.copy(), tree.sums.copy()
    tree.give_up(path)
    assert not tree.waiting.any()
    assert (tree.visits == visits).all() and (tree.sums == sums).all()
    for node, branch in enumerate(tree.branches().tolist()):
        above = node
        while above and tree.parent[above] != 0:
            above = int(tree.parent[above])
        assert branch == above


def test_a_choice_alone_is_a_report_too() -> None:
    told = Analysis.of_choice(7)
    assert (told.choice, told.visits, [c.move for c in told.candidates]) == (7, 1, [7])
    assert Analysis.of_choice(RESIGN) == Analysis((), RESIGN, visits=1)


def test_every_column_of_the_search_has_a_place_of_its_own() -> None:
    assert len({k.T_MOVE, k.T_FIRST, k.T_COUNT}) == 3 == k.T_WIDTH
    floats = {k.F_N, k.F_W, k.F_PN, k.F_PW, k.F_POLICY, k.F_SCORE, k.F_EVAL}
    assert len(floats) == 7 and max(floats) < k.F_WIDTH
    numbers = {k.M_USED, k.M_ASKS, k.M_DEPTH, k.M_LINE}
    assert len(numbers) == 4 and max(numbers) == k.M_LINE < k.M_WIDTH  # a line of moves ends it
    settings = {
        *(k.C_EXPAND, k.C_RAVE, k.C_POLICY, k.C_SCORE, k.C_MIX),
        *(k.C_KOMI, k.C_PRIOR, k.C_EXPLORE),
    }
    assert settings == set(range(k.C_WIDTH))
    assert k.NO_EVAL < 0  # no probability


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


def test_alpha_beta_remembers_what_it_found() -> None:
    class Corner:
        def values(self, boards: list[Board]) -> np.ndarray:
            return np.array([float(board["A1"] == 1) for board in boards])

    board = Board(3, moves="B B2 W C3")
    search = Search(Corner(), None, None)  # type: ignore[arg-type]
    value, move = search.value(board, 1, -9.0, 9.0)
    assert (value, str(board.answer(move))) == (1.0, "A1")
    assert list(search.seen.values()) == [Entry(1, 1.0, 0, move)]
    asked = search.nodes
    assert search.value(board, 1, -9.0, 9.0) == (value, move) and search.nodes == asked + 1


def test_a_leaf_is_worth_what_the_taste_says() -> None:
    leaf = Leaf(0.75, 3.0, 2.0, np.zeros(9), np.zeros(0, np.int64), np.zeros(0))
    assert leaf.worth(Taste(0.0, 0.0, 3.0)) == Worth(0.5, 0.75, 3.0, 13.0)
    by_points = leaf.worth(Taste(1.0, 0.0, 3.0))
    assert by_points.utility == pytest.approx(0.5)  # `reach` points are half of all


# ----- Clocks -----


def test_a_pace_tells_what_is_left_and_when_a_report_is_due() -> None:
    clock = iter([0.0, 0.4, 1.1, 1.2, 2.5, 4.0, 4.0]).__next__
    pace = Pace(clock, 3.0, True, lambda: False, 1.0)
    assert [pace.due() for _ in range(4)] == [False, True, False, True]
    assert pace.left() == -1.0 and pace.spent() == 4.0
    assert Pace(lambda: 0.0, None, False, lambda: False, 1.0).left() is None


def test_a_search_chooses_what_its_last_report_says() -> None:
    class Twice(Searching):
        seconds, clock = None, "wall"

        def _think(self, board: Board, rng: object, pace: Pace) -> Iterator[Analysis]:
            assert pace.limited and pace.budget is None
            for move in (board.point("A1"), board.point("B2")):
                yield Analysis((), move, 1, 0.5, 0.0)

    board = Board(3)
    assert str(Twice().choose(board, rng())) == "B2"


# ----- Rules and experts -----


def test_values_of_the_rules_are_finite_where_one_may_play() -> None:
    board = play_random(Board(7), 30, rng())
    work, floats = new_work(board.state.shape[1])
    static_values(
        board.state, board.turn, DEFAULT_WEIGHTS, shape_table(), np.empty_like(board.state), work,
        floats,
    )  # fmt: skip
    inside = board.state[layout.COLOUR] != layout.BORDER
    values, legal = floats[VALUE][inside], board.legal_mask()[:-1]
    assert np.isneginf(values[~legal]).all() and np.isfinite(values[legal]).any()
    assert len(work) >= WORK_ROWS
    player = make_player("static")
    assert isinstance(player, StaticPlayer)
    best = int(move_values(board).argmax())
    assert move_values(board)[best] > DEFAULT_WEIGHTS[W_PASS]
    assert index_of(player.choose(board, rng()), 7, 7) == best


def test_maxlib_joins_its_stones_for_liberties() -> None:
    player = make_player("maxlib")
    assert isinstance(player, MaxlibPlayer) and player.average == "block"
    board = Board.from_ascii(". . . . .\n. X . . .\n. . . . .\n. . . . .\n. . . . .")
    assert board.liberties("B4") == 4
    board.play(player.choose(board, rng()))
    assert len(board.blocks()) == 1 and board.liberties("B4") == 6


def test_experts_give_a_won_board_to_who_owns_it() -> None:
    board = Board.from_ascii("\n".join([". X X O . O ."] * 7), komi=0.5)
    won = Board.from_ascii("\n".join([". X . X X O ."] * 7), komi=0.5)
    for expert in (PlayerExpert(make_player("static")), StaticExpert(make_player("static"))):
        scores = expert.finish([board, won], [1, 2])
        assert scores[1] > scores[0]
    owned = PlayerExpert(make_player("random")).finish_ownership([won], [3])
    assert owned.shape == (1, 49) and set(owned.ravel().tolist()) <= {-1.0, 0.0, 1.0}


def test_a_judgement_knows_what_is_unconditionally_alive() -> None:
    board = Board.from_ascii(". X . X .\nX X X X X\n. . . . .\n. . . . .\n. . . . .", komi=0.5)
    said = judge(board, 8)
    assert isinstance(said, Judgement) and 0 <= said.win_rate <= 1
    assert (said.ownership[:10] == 1).all()
    assert score_as_it_stands(board, said) == board.area_score()


def test_the_best_by_policy_come_first_and_no_own_eye() -> None:
    class ByIndex:
        def priors(self, board: Board) -> np.ndarray:
            return np.arange(1, board.rows * board.cols + 2) / 1000.0

    board = Board.from_ascii(". X .\nX X X\n. X .")
    board.turn = 2
    assert best_by_policy(ByIndex(), board, 3) == []  # type: ignore[arg-type]  # no move at all
    moves = best_by_policy(ByIndex(), Board(3), 2)  # type: ignore[arg-type]
    assert [index_of(move, 3, 3) for move in moves] == [8, 7]


def test_nobody_resigns_what_may_be_won() -> None:
    assert 0 < RESIGN_BELOW < 0.1
    assert NetworkPlayer.__dataclass_fields__["resign"].default == RESIGN_BELOW


# ----- Options and plugged classes -----


def test_plain_options_are_read_or_refused() -> None:
    option = Option("x", "choice", "", choices=("a", "b"))
    assert PLAIN_READERS["int"]("7", option) == 7 and PLAIN_READERS["bool"]("off", option) is False
    assert PLAIN_READERS["choice"]("b", option) == "b"
    for kind in ("int", "float", "bool", "choice"):
        with pytest.raises(SpecError):
            PLAIN_READERS[kind]("seven?", option)


class Own:
    """A player, an evaluator and a policy of somebody's own."""

    def __init__(self, answer: str = "pass") -> None:
        self.answer = answer

    def choose(self, board: Board, rng: object) -> object:
        return 7 if self.answer == "seven" else self.answer

    def values(self, boards: list[Board]) -> list[float]:
        return [1.5] * len(boards)

    def priors(self, board: Board) -> list[float]:
        return [float(self.answer != "zero")] * (board.rows * board.cols + 1)


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> str:
    module = types.ModuleType("own_parts")
    Own.__module__ = "own_parts"
    module.Own = Own  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "own_parts", module)
    return "own_parts:Own"


def test_plugged_classes_are_checked_at_every_answer(own: str) -> None:
    board = Board(3)
    for answer, move in (("pass", PASS), ("resign", RESIGN), ("B2", board.point("B2"))):
        assert make_plugged_player(own, f"answer={answer}", "mine").choose(board, rng()) == move
    with pytest.raises(SpecError, match="mine: choose"):
        make_plugged_player(own, "answer=seven", "mine").choose(board, rng())
    assert make_plugged_evaluator(PREFIX + own).values([board, board]).tolist() == [1.5, 1.5]
    assert make_plugged_policy(PREFIX + own).priors(board).sum() == 10
    with pytest.raises(SpecError, match="no probabilities"):
        make_plugged_policy(f"{PREFIX}{own}:answer=zero").priors(board)
    with pytest.raises(SpecError, match="needs a method choose"):
        checked_player(object(), "mine")  # type: ignore[arg-type]
    assert checked_player(Own(), "mine").choose(board, rng()) == PASS  # type: ignore[arg-type]


def test_a_target_has_a_module_and_a_class() -> None:
    assert split_target("a.b:C:x=1", "s") == ("a.b:C", "x=1")
    with pytest.raises(SpecError, match=PREFIX):
        split_target("only.a.module", "s")
    assert all(":" in target for target in installed_players().values())
