"""`tengen`: the network searches where it is installed, playouts elsewhere; levels and limits."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from tengen.board import Board
from tengen.contracts import SearchInfo
from tengen.errors import SpecError
from tengen.network import DESIGNS
from tengen.network.learner import untrained
from tengen.players import make_player, tengen
from tengen.players.evaluators import make_network
from tengen.players.mcts import MctsPlayer
from tengen.players.network_search import SearchPlayer
from tengen.players.tengen import TengenPlayer


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tiny.safetensors"
    untrained(DESIGNS["tiny"]).save(path)
    monkeypatch.setattr(tengen, "JUDGE", str(path))
    monkeypatch.setattr(tengen, "DRAWN_FROM", str(path))


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tengen, "JUDGE", "no-such-network")


def made(spec: str) -> TengenPlayer:
    player = make_player(spec)
    assert isinstance(player, TengenPlayer)
    return player


def test_it_searches_with_the_network_where_it_can(network: None) -> None:
    player = made("tengen:visits=12")
    search = player.search(Board(9))
    assert isinstance(search, SearchPlayer) and search.visits == 12
    assert isinstance(player.search(Board(3)), MctsPlayer)
    board = Board(9, moves="B E5")
    *_, report = player.analyse(board, np.random.default_rng(1), limited=True)
    assert report.visits == 12 and board.is_legal(board.to_point(report.choice))


def test_a_network_that_never_saw_territory_counted_judges_as_by_area() -> None:
    moves = "B E5 W C5 B G6 W G3"
    boards = [Board(9, rules=rules, komi=6.5, moves=moves) for rules in ("chinese", "japanese")]
    one, other = make_network("zero-9x9").evaluate(boards)
    assert one.score == other.score and (one.priors == other.priors).all()


def test_a_clock_keeps_the_tree(network: None) -> None:
    player = made("tengen")
    board = Board(9)
    search = player.within(0.05).search(board)
    assert isinstance(search, SearchPlayer) and search.seconds == 0.05

    def looked(times: int) -> SearchInfo:
        looks, rng = itertools.count(1), np.random.default_rng(1)
        stop = lambda: next(looks) > times  # noqa: E731
        *_, report = player.within(60.0).analyse(board, rng, limited=True, stop=stop)
        return report

    assert looked(0).visits == 1
    best = looked(40).candidates[0]
    board.play(board.to_point(best.move))
    assert looked(0).visits == best.visits > 1


def test_without_a_network_playouts_search(nothing: None) -> None:
    search = made("tengen:visits=30").search(Board(9))
    assert isinstance(search, MctsPlayer) and search.playouts == 30
    wanted = {Board(9).point("C3")}
    narrowed = made("tengen:visits=30").only(wanted)
    assert narrowed.choose(Board(9), np.random.default_rng(1)) in wanted


def test_the_shipped_network_opens_in_the_corners_in_more_ways_than_one() -> None:
    player, empty = made("tengen:visits=8"), Board(19)
    moves = {player.choose(empty, np.random.default_rng(seed)) for seed in range(6)}
    lines = {tuple(sorted(min(c, 18 - c) for c in divmod(move.index, 19))) for move in moves}
    assert lines <= {(2, 2), (2, 3), (3, 3), (2, 4), (3, 4)}
    assert len(moves) > 1


def test_the_shipped_network_leaves_living_stones_to_their_owner() -> None:
    board = Board(9, moves="B C5 W G5 B E5 W G7")
    *_, report = made("tengen:visits=8").analyse(board, np.random.default_rng(1), limited=True)
    assert report.ownership is not None
    owners = report.ownership.reshape(9, 9)
    assert min(owners[4, 2], owners[4, 4]) > 0.5 and max(owners[4, 6], owners[2, 6]) < -0.5
    # Searched by the network that taught itself; what people play is another's word.
    assert report.human_policy is not None and report.raw_policy is not None
    assert not np.array_equal(report.human_policy, report.raw_policy)


@pytest.mark.parametrize("spec", ["tengen:level=11", "tengen:level=3,visits=5", "tengen:visits=0"])
def test_bad_specs(spec: str) -> None:
    with pytest.raises(SpecError, match="tengen"):
        make_player(spec)


def test_searches_of_a_few_sizes_are_kept() -> None:
    """A server that is asked about ever other boards must not grow."""
    player = TengenPlayer(visits=2)
    kept = [player.search(Board(size)) for size in range(5, 10)]
    assert player.search(Board(9)) is kept[-1] and player.search(Board(6)) is kept[1]
    assert player.search(Board(5)) is not kept[0]
