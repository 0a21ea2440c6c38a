"""Search around a network: the tree adds up, ends are counted, superko holds, limits hold."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tengen.board import PASS, RESIGN, WHITE, Board, index_of, play_random, point_at
from tengen.board.coordinates import transform
from tengen.board.tactics_kernels import is_own_eye
from tengen.contracts import SearchInfo, check_player
from tengen.errors import SpecError
from tengen.models import load_scorer
from tengen.network import DESIGNS, Evaluation
from tengen.network.learner import untrained
from tengen.players import make_player
from tengen.players.mcts import MctsPlayer
from tengen.players.network_search import SearchPlayer, likely_moves, without_mirror_images
from tengen.players.tengen import TengenPlayer
from tengen.scoring.judging import count_without, dead_stones


class Counter:
    """A network that knows nothing but Tromp and Taylor's count, and likes all moves alike."""

    def __init__(self, passing: float = 0.01, seed: int | None = None) -> None:
        self.passing, self.seed, self.asked = passing, seed, 0

    def supports(self, rows: int, cols: int) -> bool:
        return min(rows, cols) >= 5

    def evaluate(self, boards: Sequence[Board]) -> list[Evaluation]:
        self.asked += len(boards)
        return [self._view(board) for board in boards]

    def _view(self, board: Board) -> Evaluation:
        legal = board.legal_mask().astype(float)
        if self.seed is not None:
            legal *= np.random.default_rng([self.seed, board.hash]).random(len(legal))
        legal[-1] = 0.0
        total = legal.sum()
        priors = legal * ((1 - self.passing) / total if total else 0.0)
        priors[-1] = 1 - priors.sum()
        score = board.area_score()
        owner = np.sign(np.where(board.grid() == 1, 1, 0) - np.where(board.grid() == 2, 1, 0))
        return Evaluation(
            priors, float(1 / (1 + np.exp(-score / 5))), score, 3.0, owner.ravel() * 1.0
        )


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


CAPTURE = Board(5, moves="B C3 W C2 B B2 W A5 B D2 W E5")
"""Black takes C2 by C1."""


def test_it_finds_a_capture_and_repeats_itself() -> None:
    player = SearchPlayer(Counter(), visits=300)
    first = player.choose(CAPTURE, rng(1))
    assert first == CAPTURE.point("C1")
    *_, a = player.analyse(CAPTURE, rng(1), limited=True)
    *_, b = SearchPlayer(Counter(), visits=300).analyse(CAPTURE, rng(2), limited=True)
    assert a.candidates == b.candidates and a.visits == b.visits == 300
    assert sum(c.visits for c in a.candidates) == 299


def test_sums_add_up_and_no_visit_is_pending() -> None:
    player = SearchPlayer(Counter(seed=3), visits=200, seconds=60.0, batch=8)
    search = player.grow(CAPTURE, 200)
    tree = search.tree
    used = slice(0, tree.used)
    assert not tree.waiting[used].any()
    assert tree.evaluated[used].all() and tree.visits[used].all()
    for node in range(tree.used):
        children = tree.children(node)
        own = 1 if not tree.over[node] else int(tree.visits[node])
        assert tree.visits[node] == own + tree.visits[children].sum()
        assert np.allclose(
            tree.sums[node], own * tree.own[node] + tree.sums[children].sum(0), atol=1e-6
        )


def test_a_subtree_keeps_its_numbers() -> None:
    player = SearchPlayer(Counter(seed=3), seconds=60.0)
    search = player.grow(CAPTURE, 300)
    old = search.tree
    child = int(old.children()[0])
    new = old.below(child)
    assert new.visits[0] == old.visits[child] and np.array_equal(new.sums[0], old.sums[child])
    old_lines = [tuple(old.move[old.line(int(c), 20)]) for c in old.children(child)]
    new_lines = [tuple(new.move[new.line(int(c), 20)]) for c in new.children()]
    assert old_lines == new_lines
    assert np.array_equal(old.ownership[child], new.ownership[0])
    new.back_up(new.descend())  # it can be walked on


def begun(player: Any, board: Board) -> SearchInfo:
    """Return what a search knows before it looks at a position."""
    return next(player.analyse(board, rng(), stop=lambda: True))


def test_the_tree_is_kept_from_move_to_move_under_a_clock() -> None:
    network = Counter(seed=5)
    player = SearchPlayer(network, seconds=60.0, visits=300)
    *_, info = player.analyse(CAPTURE, rng(), limited=True)
    board = CAPTURE.copy()
    for move in info.candidates[0].pv[:2]:
        board.play(board.to_point(move))
    asked = network.asked
    kept = begun(player, board)
    assert network.asked == asked + 1 and 1 < kept.visits < info.candidates[0].visits
    assert kept.raw_policy is not None
    assert kept.raw_policy.sum() == pytest.approx(1.0, abs=1e-5)
    assert begun(player, Board(5, moves="B A1")).visits == 1


@pytest.mark.parametrize("rules", ["cgos", "tromp-taylor", "japanese"])
def test_no_line_of_the_tree_breaks_the_rules(rules: str) -> None:
    ko = Board(5, moves="B B3 W C3 B A2 W D2 B B1 W C1 B C2 W B2", rules=rules)
    player = SearchPlayer(Counter(seed=2), seconds=60.0)
    search = player.grow(ko, 600)
    tree = search.tree
    for node in range(1, tree.used):
        path, n = [], node
        while n:
            path.append(int(tree.move[n]))
            n = int(tree.parent[n])
        board = ko.copy()
        for move in reversed(path):
            board.play(board.to_point(move))  # raises where the rules forbid it
        kept = search.boards.get(node, board)
        assert kept.moves == board.moves and (kept.legal_mask() == board.legal_mask()).all()
    assert len(search.boards) == 256


def test_two_passes_are_counted() -> None:
    board = Board.from_ascii(". X X O .\nX X X O O\nX X X O .\n. X X O O\nX X X O .", komi=0.5)
    board.turn = WHITE
    board.play(PASS)
    player = SearchPlayer(Counter(passing=0.9), visits=64)
    *_, report = player.analyse(board, rng(), limited=True)
    passed = next(c for c in report.candidates if c.move == PASS)
    assert passed.score == board.area_score() and passed.winrate == 1.0
    assert report.choice == PASS  # ahead as it stands, and the enemy has passed


@pytest.mark.parametrize("seconds", [None, 0.2])
def test_a_pass_in_an_open_game_is_not_answered_by_a_pass(seconds: float | None) -> None:
    board = Board(5, moves="B C3 W pass", komi=0.5)
    player = SearchPlayer(Counter(passing=0.9), visits=64, seconds=seconds)
    *_, report = player.analyse(board, rng(), limited=True)
    assert report.visits == 64 or seconds  # ends count as visits
    assert board.area_score() > 0 and report.choice != PASS
    assert PASS not in [c.move for c in report.candidates]
    # Whoever only wants to know what a pass is worth is told.
    for report in player.analyse(board, rng(), interval=0.0, stop=lambda: False):
        if report.visits >= 64:
            break
    assert PASS in [c.move for c in report.candidates]


def test_dead_stones_come_off_by_territory() -> None:
    rows = ". X . O .\n. X . O .\nX X . O O\n. X . O .\nO X . O ."
    board = Board.from_ascii(rows, rules="japanese")
    owner = np.tile([1.0, 1, 0, -1, -1], 5)
    assert dead_stones(board, owner) == [board.point("A1")]
    assert dead_stones(board, -0.3 * owner) == []


@pytest.mark.parametrize("visits", [1, 2])
def test_a_network_that_passes_too_early_captures_first(visits: int) -> None:
    # Black's wall holds; the white stone in it is dead, but Tromp and Taylor count it.
    board = Board.from_ascii(
        """
        . X O . O
        . X O O .
        X X O O O
        . X X X O
        O . X X X
        """,
        komi=-1.5,
    )

    class Passer(Counter):
        def _view(self, board: Board) -> Evaluation:
            mine = np.where(board.grid().ravel() == 2, -1.0, 1.0)
            mine[[3, 9]] = -1.0
            mine[20] = 1.0
            return replace(super()._view(board), ownership=mine)

    player = SearchPlayer(Passer(passing=0.99), visits=visits)
    assert board.area_score() > 0 and player.choose(board, rng()) == PASS
    board.komi = 30.0
    assert player.choose(board, rng()) in (board.point("A2"), board.point("B1"))
    board.komi = 0.0
    board.play(PASS)
    tree = player.grow(board, 64).tree
    passed = next(child for child in tree.children().tolist() if tree.move[child] == PASS)
    # The dead stone that nobody took counts in the utility, not in the lead.
    assert tree.means(passed)[2] == count_without(board, [board.point("A1")]).score


def test_it_resigns_only_late_and_only_when_it_may() -> None:
    late = Board(5, moves="B C3 W A1 B C2 W A2 B C4 W B1 B B2 W E5", komi=60.5)
    assert SearchPlayer(Counter(), visits=40).choose(late, rng()) == RESIGN
    assert SearchPlayer(Counter(), visits=40, resign=0.0).choose(late, rng()) != RESIGN
    assert SearchPlayer(Counter(), visits=40).choose(Board(5, komi=60.5), rng()) != RESIGN


def test_limits() -> None:
    network = Counter()
    player = SearchPlayer(network, visits=1)
    assert CAPTURE.is_legal(player.choose(CAPTURE, rng())) and network.asked == 1
    few = SearchPlayer(Counter(), seconds=60.0, most_nodes=50)
    with pytest.warns(UserWarning, match="full with 50 positions"):
        *_, last = few.analyse(Board(9), rng(), limited=True)
    assert last.visits == 50
    asks = iter([False, False, True])
    *_, last = SearchPlayer(Counter(), visits=10**9).analyse(
        Board(9), rng(), stop=lambda: next(asks)
    )
    assert 1 < last.visits < 10
    with pytest.raises(SpecError, match="3x3"):
        SearchPlayer(Counter()).choose(Board(3), rng())
    for wrong in ({"visits": 0}, {"seconds": 0.0}, {"threads": 0}, {"batch": 0}):
        with pytest.raises(SpecError):
            SearchPlayer(Counter(), **wrong)  # type: ignore[arg-type]


def test_a_narrowed_player_looks_at_nothing_else() -> None:
    board = Board(9, moves="B E5 W C3")
    wanted = {board.point("A1"), board.point("J9")}
    *_, report = SearchPlayer(Counter(), visits=40).only(wanted).analyse(board, rng(), limited=True)
    assert {c.move for c in report.candidates} == {int(p) for p in wanted}
    assert report.choice in wanted


def test_temperature_varies_the_opening_among_good_moves_only() -> None:
    player = SearchPlayer(Counter(), visits=120, temperature=1.0)
    found = {int(player.choose(Board(9), rng(seed))) for seed in range(6)}
    assert len(found) > 1
    assert {int(player.choose(CAPTURE, rng(seed))) for seed in range(3)} == {CAPTURE.point("C1")}


@pytest.mark.parametrize("seed", range(5))
def test_likely_moves_are_those_of_a_slow_search(seed: int) -> None:
    board = play_random(Board(5, 6), 6 * seed, rng(seed))
    priors = rng(seed).random(31).round(1) * board.legal_mask()
    moves, chances = likely_moves(board, priors, width=12)
    order = sorted(range(31), key=lambda i: -priors[i])[:13]
    points = [point_at(i, 5, 6) for i in order if priors[i] > 0]
    kept = [p for p in points if p == PASS or not is_own_eye(board.state, p, board.turn)]
    kept += [] if PASS in kept else [PASS]
    assert moves.tolist() == kept
    shares = priors[[index_of(point, 5, 6) for point in kept]]
    assert np.array_equal(chances, shares / shares.sum())


@pytest.mark.parametrize("played", ["", "E5", "C3", "E3 E7", "C4 G6 F2"])
def test_mirror_images_at_the_root_are_searched_once(played: str) -> None:
    board = Board(9)
    for vertex in played.split():
        board.play(vertex)
    moves = np.array([*(p for p in board.legal_moves if p), PASS])
    priors = np.arange(1.0, len(moves) + 1)
    kept, sums = without_mirror_images(board, moves, priors)
    assert sums.sum() == pytest.approx(priors.sum())
    assert set(kept) <= set(moves)
    assert PASS in kept

    def orbit(move: int) -> frozenset[bytes]:
        """Return all turned boards after a move."""
        after = board.copy()
        after.push(int(move))
        grids = [transform(after.grid(), k) for k in range(8)]
        return frozenset(np.ascontiguousarray(g).tobytes() for g in grids)

    assert len({orbit(m) for m in kept}) == len(kept)
    assert {orbit(m) for m in kept} == {orbit(m) for m in moves}
    if played == "C4 G6 F2":
        assert (kept == moves).all(), "without symmetry all moves stay"


def test_reports_tell_all_there_is() -> None:
    player = SearchPlayer(Counter(seed=1), visits=150)
    *_, report = player.analyse(Board(5, moves="B C3"), rng(), limited=True)
    best = report.candidates[0]
    trusted = [c.score for c in report.candidates if c.visits >= 0.7 * best.visits]
    assert report.winrate == best.winrate and report.score == min(trusted)  # White moves
    assert len(best.pv) == len(best.pv_visits) > 1 and best.pv[0] == best.move
    assert list(best.pv_visits) == sorted(best.pv_visits, reverse=True)
    assert best.owners is not None and best.owners[0].shape == (25,)
    assert report.ownership is not None and abs(report.ownership).max() <= 1
    assert report.ownership_spread is not None and report.ownership_spread.min() >= 0
    assert report.raw_policy is not None and report.raw_policy.sum() == pytest.approx(1)
    assert best.spread >= 3.0  # at least what the network itself does not know


def test_the_scorer_gives_ownership_only_at_the_end() -> None:
    wall = " ".join(f"B D{row} W E{row}" for row in range(1, 10))
    inside = " ".join(
        f"B {a} W {b}"
        for a, b in zip(["B2", "C4", "B6", "C8", "C2"], ["G2", "F4", "G6", "F8", "F2"], strict=True)
    )
    over = Board(9, moves=f"{wall} {inside}", rules="japanese")
    player = SearchPlayer(Counter(), visits=20, scorer=load_scorer("scorer"))
    *_, report = player.analyse(over, rng(), limited=True)
    assert report.ownership is not None and report.choice == PASS
    assert report.ownership.reshape(9, 9)[:, 0].min() > 0.5  # the network knows stones only
    early = Board(9, moves="B C5 W G5 B E5 W G7")
    *_, report = player.analyse(early, rng(), limited=True)
    assert report.ownership is not None
    assert report.ownership.reshape(9, 9)[4, 2] > 0.5


def test_threads_change_nothing() -> None:
    network = untrained(DESIGNS["tiny"])
    one = SearchPlayer(network, visits=40, batch=4)
    *_, a = one.analyse(CAPTURE, rng(), limited=True)
    *_, b = replace(one, threads=2).analyse(CAPTURE, rng(), limited=True)
    assert [c.move for c in a.candidates] == [c.move for c in b.candidates]


def test_the_spec(tmp_path: object) -> None:
    path = f"{tmp_path}/tiny.safetensors"
    untrained(DESIGNS["tiny"]).save(path)
    player = make_player(f"search:model={path},visits=8,batch=2,resign=0,share=0.2")
    assert isinstance(player, SearchPlayer) and player.visits == 8
    assert player.score_share == 0.2
    check_player(player)
    for wrong in ("", ":model=scorer", ":model=nothing", f":model={path},visits=0"):
        with pytest.raises(SpecError):
            make_player(f"search{wrong}")


def test_a_network_that_fails_leaves_no_tree_behind() -> None:
    class Dying(Counter):
        def evaluate(self, boards: Sequence[Board]) -> list[Evaluation]:
            if self.asked > 20:
                raise RuntimeError("the device is gone")
            return super().evaluate(boards)

    network = Dying()
    player = SearchPlayer(network, seconds=60.0)
    with pytest.raises(RuntimeError, match="the device is gone"):
        player.choose(Board(5), rng())
    network.asked = -(10**9)
    assert Board(5).is_legal(player.within(0.01).choose(Board(5), rng()))


def test_many_moves_leave_nothing_behind() -> None:
    player = SearchPlayer(Counter(seed=1), seconds=0.004, resign=0.0)
    board, held = Board(5), []
    for n in range(240):
        move = player.choose(board, rng(n))
        board.play(move)
        if board.is_over or len(board.moves) > 60:
            board = Board(5)
        if n == 80:
            gc.collect()
            tracemalloc.start()
            held.append(tracemalloc.get_traced_memory()[0])
    gc.collect()
    held.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert held[1] - held[0] < 20_000_000  # 160 trees of half a megabyte or more were made


def test_the_search_follows_the_best_moves_and_reports_people_s() -> None:
    class Torn(Counter):
        """People play A1; the best moves are E5, A4, B4 and so on."""

        def _view(self, board: Board) -> Evaluation:
            people, best = np.zeros(26), np.zeros(26)
            people[20], best[4 + len(board.moves)] = 1.0, 1.0
            return replace(super()._view(board), priors=people, best=best)

    *_, report = SearchPlayer(Torn(), visits=2).analyse(Board(5), rng(), limited=True)
    assert report.candidates[0].move == Board(5).point("E5")
    assert report.raw_policy is not None and report.raw_policy.argmax() == 4
    assert report.human_policy is not None and report.human_policy.argmax() == 20
    board, player = Board(5), SearchPlayer(Torn(), seconds=60.0, visits=4)
    for move in ("E5", "A4"):  # the second search continues in the tree of the first
        *_, report = player.analyse(board, rng(), limited=True)
        board.play(move)
    assert report.human_policy is not None and report.human_policy.argmax() == 20


def test_a_bound_on_visits_holds_under_a_clock() -> None:
    board = Board(5, moves="B C3")
    *_, report = SearchPlayer(Counter(), visits=2).within(60.0).analyse(board, rng(), limited=True)
    assert report.visits == 2
    *_, report = MctsPlayer(playouts=5).within(60.0).analyse(board, rng(), limited=True)
    assert report.visits == 5
    assert TengenPlayer(visits=2).within(60.0).search(Board(9)).visits == 2
    # What was never asked for is no bound.
    free = TengenPlayer()
    assert free.search(Board(9)).visits == 200
    assert free.within(60.0).search(Board(9)).visits is None


def test_a_player_with_another_time_goes_on_in_the_same_tree() -> None:
    player, board = TengenPlayer(), Board(9)
    running = player.within(60.0).analyse(board, rng(), interval=0.0)
    visits = max(next(running).visits for _ in range(4))
    running.close()
    assert begun(player.within(30.0), board).visits >= visits > 1


@pytest.mark.parametrize("kind", [MctsPlayer, lambda **same: SearchPlayer(Counter(), **same)])
def test_a_tree_in_use_is_not_given_to_another_search(kind: Any) -> None:
    player, board = kind(seconds=60.0), Board(5)
    running = player.analyse(board, rng(), interval=0.0)
    for _ in range(5):
        held = next(running).visits
    after = Board(5, moves="B C3")  # its root is in the tree
    assert held > 1 and max(begun(player, b).visits for b in (board, after)) <= 1
    assert next(running).visits > held
    running.close()
    assert begun(player, board).visits > held


def test_a_search_whose_time_is_up_at_once_still_names_a_move() -> None:
    player = SearchPlayer(untrained(DESIGNS["tiny"]), seconds=1e-9)
    *_, report = player.analyse(Board(9), np.random.default_rng(1), limited=True)
    assert report.visits == 2 and len(report.candidates) == 1
