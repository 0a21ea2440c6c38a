"""The shipped networks answer as they did when they were measured, and play as they were."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.board import Board
from tengen.cli import run
from tengen.contracts import check_evaluator
from tengen.learners.symmetry_network.learner import SymmetryNetwork, play_games

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
    scores, _ = play_games(network, "random", games=6, seed=2)
    assert (scores > 0).all()
    check_evaluator(network)


def test_cards_say_how_to_train_them_again(capsys):
    assert run(["models", "show", "isn-best"]) == 0
    assert "to make it again: tengen train symmetry-network" in capsys.readouterr().out
