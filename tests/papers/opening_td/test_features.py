"""Features A to E equal the slow reference, on all board shapes and in all orientations."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tengen.board import BLACK, WHITE, Board
from tengen.board.coordinates import elements, transform
from tengen.papers.opening_td import TDSettings
from tengen.papers.opening_td.learner import dense_inputs
from tengen.papers.opening_td.settings import SETS

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


@pytest.mark.parametrize("edges", ["everywhere", "stones"])
@pytest.mark.parametrize("encoding", ["scalar", "binary", "mixed"])
@pytest.mark.parametrize("shape", [(9, 9), (5, 7), (13, 13)])
def test_inputs_equal_the_slow_reference(encoding: str, shape: tuple[int, int], edges: str) -> None:
    for number, board in enumerate(random_boards(*shape, 6, seed=len(encoding))):
        chosen = TDSettings(
            features=SETS[-1 - number], encoding=encoding, rows=shape[0], cols=shape[1],
            edges=edges,
        )  # fmt: skip
        for friend in (BLACK, WHITE):
            fast = dense_inputs(board, chosen, friend=friend, komi=5.5)
            want = slow.inputs(
                board.grid(), friend, lead(board, 5.5), chosen.features, dict(chosen.binary), edges
            )
            assert fast.shape == want.shape == (chosen.n_inputs,)
            np.testing.assert_allclose(fast, want, atol=1e-15, err_msg=f"{chosen}\n{board}")


@pytest.mark.parametrize(("rows", "cols"), [(9, 9), (6, 8)])
def test_all_symmetric_positions_give_the_same_inputs(rows: int, cols: int) -> None:
    chosen = TDSettings(rows=rows, cols=cols)
    for board in random_boards(rows, cols, 20, seed=3, share=0.6):
        first = dense_inputs(board, chosen, friend=BLACK, komi=5.5)
        for element in elements(rows, cols):
            grid = np.ascontiguousarray(transform(board.grid(), element))
            twin = Board.from_grid(grid, komi=5.5)
            # The komi that makes a board without prisoners look the same.
            inputs = dense_inputs(twin, chosen, friend=BLACK, komi=-lead(board, 5.5))
            assert np.array_equal(first, inputs), element


def test_positions_that_differ_give_other_inputs() -> None:
    chosen = TDSettings(features="A")
    seen = {
        dense_inputs(b, chosen, friend=BLACK, komi=5.5).tobytes()
        for b in random_boards(9, 9, 30, seed=5, share=0.3)
    }
    assert len(seen) >= 28


@pytest.mark.parametrize(
    ("features", "size", "scalar", "binary"),
    [
        ("A", 9, 163, 163), ("AB", 9, 325, 973), ("AC", 9, 244, 568), ("AD", 9, 244, 568),
        ("AE", 9, 325, 973), ("ABCDE", 9, 649, 2593), ("ABCDE", 19, 2889, 11553),
    ],
)  # fmt: skip
def test_numbers_of_inputs_are_the_papers(
    features: str, size: int, scalar: int, binary: int
) -> None:
    for encoding, count in (("scalar", scalar), ("binary", binary)):
        assert TDSettings(features=features, encoding=encoding, rows=size).n_inputs == count
    assert len(SETS) == 16 and SETS[0] == "A" and SETS[-1] == "ABCDE"


def test_feature_b_is_the_same_in_every_position_unless_only_stones_have_it() -> None:
    boards = random_boards(9, 9, 3, seed=1, share=0.4)
    for edges, same in (("everywhere", True), ("stones", False)):
        chosen = TDSettings(features="AB", encoding="scalar", edges=edges)
        found = {dense_inputs(b, chosen, friend=BLACK, komi=5.5)[163:].tobytes() for b in boards}
        assert (len(found) == 1) is same
