"""Smaller parts of the symmetry network, each by its own name."""

from __future__ import annotations

import numpy as np

from tengen.board import Board
from tengen.board import layout_kernels as layout
from tengen.learners.symmetry_network import evaluation_kernels as k
from tengen.learners.symmetry_network import features
from tengen.learners.symmetry_network.packing import MUTE
from tengen.learners.symmetry_network.representations import TYPES, Irreducible
from tengen.learners.symmetry_network.wide_kernels import gather_all, look_up_all, units_of


def test_each_type_keeps_the_laws_of_the_square() -> None:
    assert list(TYPES) == ["T", "S", "D", "C", "F"]
    for kind in TYPES.values():
        assert isinstance(kind, Irreducible)
        r, s, one = kind.of("r"), kind.of("s"), np.eye(kind.size, dtype=np.int64)
        assert (np.linalg.matrix_power(r, 4) == one).all() and (s @ s == one).all()
        assert (s @ r @ s == np.linalg.matrix_power(r, 3)).all()
        assert (kind.of("colours") == one).all()
    assert sum(kind.size**2 for kind in TYPES.values()) == 8  # all there are


def test_kernels_and_features_agree_on_numbers() -> None:
    assert k.OFF_BOARD == features.OFF_BOARD == features.INPUTS - 1 == k.EMPTY_POINT + 1
    assert 2 * features.CATEGORIES == k.EMPTY_POINT  # stones of either colour come first
    assert k.HIDDEN <= k.FIRST_OUT and k.FIRST_OUT + k.OUT == k.CELL
    assert k.READS.max() < k.OUT and len(k.READS) == 3
    assert (k.ZERO, k.HALF, k.UNIT) == (0, 0.5, 1) and k.ZERO.dtype == np.float32
    modes = features.CATEGORY_MODES
    assert len(set(modes.values())) == len(modes) and "eyes" in modes
    assert 1 / (1 + np.exp(-MUTE)) < 1e-6


def test_a_wide_layer_adds_up_what_neighbours_give() -> None:
    board = Board(3, moves="B B2")
    state, points = board.state, board.state.shape[1]
    offset = np.array([-5, -4, -3, -1, 0, 1, 3, 4, 5])
    inside = state[layout.COLOUR] != layout.BORDER
    rng = np.random.default_rng(1)
    x = np.where(inside, rng.integers(0, 2, points), 2)
    table = rng.normal(size=(9 * 3, 2)).astype(np.float32)
    bias = rng.normal(size=2).astype(np.float32)
    net = np.zeros((points, 2), np.float32)
    look_up_all(state, x, offset, table, bias, net)
    for p in np.flatnonzero(inside):
        wanted = bias + sum(table[nu * 3 + x[p + offset[nu]]] for nu in range(9))
        np.testing.assert_allclose(net[p], wanted, rtol=1e-5)
    assert not net[~inside].any()
    units = np.empty((points, 2), np.float32)
    units_of(state, net, 2, units)
    np.testing.assert_allclose(units[inside], np.tanh(net[inside]), atol=1e-6)
    assert not units[~inside].any()
    product = rng.normal(size=(points, 18)).astype(np.float32)
    product[~inside] = 0
    after = net.copy()
    gather_all(state, offset, product, bias, after)
    p = int(board.point("B2"))
    given = sum(product[p + offset[nu], 2 * nu : 2 * nu + 2] for nu in range(9))
    np.testing.assert_allclose(after[p], net[p] + bias + given, rtol=1e-5)
