"""The shipped networks answer as they did when they were measured, and play as they were."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tengen.board import BLACK, WHITE, Board
from tengen.cli import run
from tengen.contracts import check_evaluator
from tengen.learners.symmetry_network import SymmetryNetwork
from tengen.learners.symmetry_network.matches import play_match
from tengen.models.cards import NO_COMMAND
from tengen.players import make_player

POSITIONS = (
    (9, "B E5 W C3 B G7 W G3"),
    (9, "B E5 W C3 B G3 W C6 B F7 W G6 B G7 W H7 B H6 W H8 B F6 W H5"),
    (19, "B Q16 W D4 B Q3 W D17 B R5 W O17 B K10 W K9 B L9"),
)
# Of each position: value with komi 6.5, sum of all owners' sizes, the best move and its worth.
ANSWERS = {
    "isn-9x9": ((-9.015, 14.363, 20, 1.196), (-4.783, 21.524, 42, 4.156),
                (-14.877, 38.764, 181, 5.262)),
    "isn-best": ((-6.559, 12.555, 49, 2.423), (-3.217, 18.973, 42, 5.607),
                 (-2.873, 25.752, 52, 1.011)),
    "isn-early": ((-7.233, 6.900, 49, 3.307), (-2.652, 14.529, 41, 6.559),
                  (-0.221, 17.680, 52, 3.195)),
    "isn-evolved": ((-4.791, 8.597, 49, 2.549), (-1.796, 15.835, 41, 5.892),
                    (-12.705, 21.635, 52, -1.471)),
    "isn-taught": ((-28.671, 26.427, 58, 26.421), (-17.458, 23.051, 42, 10.500),
                   (193.607, 209.343, 181, 195.362)),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_do_not_change(name):
    network = SymmetryNetwork.load(name)
    for (size, moves), (value, owned, best, worth) in zip(POSITIONS, ANSWERS[name], strict=True):
        board = Board(size, moves=moves, komi=6.5)
        rated = network.move_values(board)
        assert network.values([board])[0] == pytest.approx(value, abs=2e-3)
        assert np.abs(network.ownership(board)).sum() == pytest.approx(owned, abs=2e-3)
        assert int(rated.argmax()) == best
        assert rated.max() == pytest.approx(worth, abs=2e-3)


@pytest.mark.parametrize(("name", "weights"), [("isn-9x9", 714), ("isn-best", 354)])
def test_shipped_networks(name, weights):
    network = SymmetryNetwork.load(name)
    assert network.architecture.weights == weights
    assert network.games_ == 860_000
    result = play_match(network, None, games=6, seed=2)
    assert result.win_rate == 1
    check_evaluator(network)


def test_the_evolved_network_holds_its_own_against_maxlib():
    network = SymmetryNetwork.load("isn-evolved")
    assert network.architecture.weights == 714 and network.settings.turn
    result = play_match(network, "maxlib", games=40, beta=1e9, komi=7.5, seed=6, openings=4)
    assert result.win_rate > 0.5


def test_the_taught_network_beats_maxlib_at_one_ply():
    network = SymmetryNetwork.load("isn-taught")
    assert network.architecture.weights == 12_203 and network.wide is not None
    check_evaluator(network)
    rng = np.random.default_rng(3)
    ours, theirs = make_player("greedy:model=isn-taught"), make_player("maxlib")
    for colour in (BLACK, WHITE):
        board = Board(9, komi=7.5)
        while not board.is_over and len(board.moves) < 250:
            board.play((ours if board.turn == colour else theirs).choose(board, rng))
        assert board.area_score() * (1 if colour == BLACK else -1) > 0


def test_cards_say_how_to_make_them_again_or_that_nothing_does(capsys):
    assert run(["models", "--json"]) == 0
    said = {entry["name"]: entry["remake"] for entry in json.loads(capsys.readouterr().out)}
    assert all(said[name] for name in ANSWERS)
    lost = [name for name in ANSWERS if said[name].startswith(NO_COMMAND)]
    assert lost == ["isn-early", "isn-taught"]
    assert run(["models"]) == 0
    told = capsys.readouterr().err
    assert "No command makes these again" in told and all(name in told for name in lost)
    assert run(["models", "isn-evolved"]) == 0
    assert "to make it again: tengen symmetry-network evolve" in capsys.readouterr().out
