"""Features A to E equal the slow reference, on all board shapes and in all orientations."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tengen.board import BLACK, WHITE, Board
from tengen.board.symmetry import elements, transform
from tengen.errors import TengenError
from tengen.learners.opening_td import SETS, FeatureSet
from tengen.learners.opening_td import kernels as k
from tengen.learners.opening_td.network import dense_inputs, geometry, layout_of

sys.path.insert(0, str(Path(__file__).parent))
import slow_opening_td as slow


def random_boards(rows: int, cols: int, count: int, seed: int, share: float = 1.3) -> list[Board]:
    rng = np.random.default_rng(seed)
    boards = []
    for _ in range(count):
        board = Board(rows, cols, komi=5.5)
        for _ in range(int(rng.integers(share * rows * cols))):
            moves = np.flatnonzero(board.legal_mask()[:-1])
            if len(moves) == 0:
                break
            cell = int(rng.choice(moves))
            board.play((cell // cols, cell % cols))
        boards.append(board)
    return boards


def lead(board: Board, komi: float) -> float:
    black, white = board.prisoners
    return black - white - komi


@pytest.mark.parametrize("encoding", ["scalar", "binary", "mixed"])
@pytest.mark.parametrize("shape", [(9, 9), (5, 7), (13, 13)])
def test_inputs_equal_the_slow_reference(encoding: str, shape: tuple[int, int]) -> None:
    for number, board in enumerate(random_boards(*shape, 6, seed=len(encoding))):
        chosen = FeatureSet(SETS[-1 - number], encoding)
        for friend in (BLACK, WHITE):
            fast = dense_inputs(board, chosen, friend=friend, komi=5.5)
            want = slow.inputs(
                board.grid(), friend, lead(board, 5.5), chosen.features, dict(chosen.binary())
            )
            assert fast.shape == want.shape == (chosen.n_inputs(*shape),)
            np.testing.assert_allclose(fast, want, atol=1e-15, err_msg=f"{chosen}\n{board}")


@pytest.mark.parametrize(("rows", "cols"), [(9, 9), (6, 8)])
def test_all_symmetric_positions_give_the_same_inputs(rows: int, cols: int) -> None:
    chosen = FeatureSet("ABCDE", "binary")
    for board in random_boards(rows, cols, 20, seed=3, share=0.6):
        first = dense_inputs(board, chosen, friend=BLACK, komi=5.5)
        for element in elements(rows, cols):
            grid = np.ascontiguousarray(transform(board.grid(), element))
            twin = Board.from_grid(grid, komi=5.5)
            inputs = dense_inputs(twin, chosen, friend=BLACK, komi=lead_as_komi(board))
            assert np.array_equal(first, inputs), element


def lead_as_komi(board: Board) -> float:
    """Return the komi that makes a board without prisoners look the same."""
    return -lead(board, 5.5)


def test_positions_that_differ_give_other_inputs() -> None:
    chosen = FeatureSet("A", "scalar")
    seen = {
        dense_inputs(b, chosen, friend=BLACK, komi=5.5).tobytes()
        for b in random_boards(9, 9, 30, seed=5, share=0.3)
    }
    assert len(seen) >= 28


def test_numbers_of_inputs_are_the_papers() -> None:
    assert FeatureSet("A").n_inputs(9, 9) == 163
    assert FeatureSet("ABCDE", "scalar").n_inputs(9, 9) == 649
    assert FeatureSet("ABCDE", "binary").n_inputs(9, 9) == 2593
    assert FeatureSet("A").n_inputs(19, 19) == 723
    assert FeatureSet("ABCDE", "binary").n_inputs(19, 19) == 11553
    assert FeatureSet("ABCDE", "scalar").n_inputs(19, 19) == 2889
    assert FeatureSet("ABCDE", "mixed").n_inputs(9, 9) == 1297
    for feature, scalar, binary in [
        ("B", 325, 973),
        ("C", 244, 568),
        ("D", 244, 568),
        ("E", 325, 973),
    ]:
        assert FeatureSet("A" + feature, "scalar").n_inputs(9, 9) == scalar
        assert FeatureSet("A" + feature, "binary").n_inputs(9, 9) == binary
    assert len(SETS) == 16 and SETS[0] == "A" and SETS[-1] == "ABCDE"


@pytest.mark.parametrize(
    ("features", "encoding"), [("BC", "binary"), ("ACB", "binary"), ("AX", "scalar"), ("A", "odd")]
)
def test_senseless_selections_are_refused(features: str, encoding: str) -> None:
    with pytest.raises(TengenError, match=features if encoding != "odd" else encoding):
        FeatureSet(features, encoding)


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


def test_constant_sums_are_biases_and_what_feature_b_adds() -> None:
    layout = layout_of(FeatureSet("AB", "scalar"), 5, 5)
    rng = np.random.default_rng(2)
    w1, b1 = rng.normal(size=(200, 3)), rng.normal(size=3)
    sums = np.empty(3)
    k.constant_sums(k.Net(w1, b1, np.zeros((3, 1)), np.zeros(1)), layout, sums)
    np.testing.assert_allclose(sums, b1 + layout.fixed_value @ w1[layout.fixed_index])
