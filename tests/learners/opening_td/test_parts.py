"""Smaller parts of the learner by temporal differences, each by its own name."""

from __future__ import annotations

import numpy as np

from tengen.board import BLACK, WHITE, Board
from tengen.learners.opening_td import kernels as k
from tengen.learners.opening_td.features import FeatureSet, geometry
from tengen.learners.opening_td.game_kernels import NETWORK, RANDOM
from tengen.learners.opening_td.model import OpeningModel
from tengen.learners.opening_td.settings import TDSettings
from tengen.learners.opening_td.training import Lesson, TrainedOpening


class Even:
    """An expert for whom every opening is even."""

    def finish(self, boards: list[Board], seeds: list[int]) -> np.ndarray:
        return np.zeros(len(boards))


def keys_of(moves: str, friend: int) -> np.ndarray:
    board, tables = Board(5, moves=moves), geometry(5, 5)
    keys = np.zeros((len(tables.turned), 1), np.uint64)
    k.position_keys(board.state, friend, tables, keys)
    return keys


def test_the_orientation_of_a_turned_position_undoes_the_turn() -> None:
    straight, turned = keys_of("B B4 W C1", BLACK), keys_of("B B2 W C5", BLACK)
    best, other = int(k.best_orientation(straight)), int(k.best_orientation(turned))
    assert best != other and straight[best] == turned[other] == straight.max() == turned.max()
    assert set(keys_of("B B4 W C1", WHITE).ravel()) != set(straight.ravel())


def test_slots_and_steps_of_the_layout() -> None:
    slots = (
        *(k.A_OCCUPIED, k.A_FRIENDLY, k.A_HIDDEN, k.C_FIRST, k.C_BINARY),
        *(k.D_FIRST, k.D_BINARY, k.E_FIRST, k.E_BINARY),
    )
    assert sorted(slots) == list(range(k.N_SLOTS))
    layout = FeatureSet("ABCDE", "scalar").layout(5, 5)
    assert isinstance(layout, k.Layout) and (layout.slots[[k.C_FIRST, k.E_FIRST]] >= 0).all()
    left_out = FeatureSet("A", "scalar").layout(5, 5).slots
    assert left_out[k.D_FIRST] == left_out[k.E_FIRST] == -1
    assert k.CUT == 2 * k.STEPS and NETWORK != RANDOM


def test_constant_sums_are_biases_and_what_feature_b_adds() -> None:
    layout = FeatureSet("AB", "scalar").layout(5, 5)
    rng = np.random.default_rng(2)
    w1, b1 = rng.normal(size=(200, 3)), rng.normal(size=3)
    sums = np.empty(3)
    k.constant_sums(k.Net(w1, b1, np.zeros((3, 1)), np.zeros(1)), layout, sums)
    np.testing.assert_allclose(sums, b1 + layout.fixed_value @ w1[layout.fixed_index])


def test_a_game_is_counted_and_told() -> None:
    model = OpeningModel(settings=TDSettings(rows=5, plies=6, games=2)).draw()
    game = Lesson(model, Even()).one_game()  # type: ignore[arg-type]
    assert isinstance(game, TrainedOpening) and (len(game.moves), game.score) == (6, 0.0)
    assert model.games_ == 1
