"""What is promised of the shipped predictor, whatever it was trained on."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.board import Board, parse_gtp
from tengen.learners.move_prediction import MovePredictor
from tengen.models import list_models

# Ataris, a ladder, a capture and a ko on nine lines; on nineteen they lie in a corner.
FIGHT = "E5 E4 D4 F5 F4 G4 D5 F3 G5 F6 E6 G6 C3 D3 C4 H5 F4 E3 E7 F7 D6 B4 B5 C6 C5 D7"


def fought(size: int, symmetry: int, swap: bool) -> Board:
    """Play the fight as it is seen in one of eight views of the board."""
    board = Board(size)
    for ply, vertex in enumerate(FIGHT.split()):
        row, col = divmod(parse_gtp(vertex, size, size), size + 1)
        row, col = seen(row - 1, col - 1, size, symmetry)
        colour = 1 + (ply + swap) % 2
        board.push((row + 1) * (size + 1) + col + 1, colour)
    return board


def seen(row: int, col: int, size: int, symmetry: int) -> tuple[int, int]:
    if symmetry & 4:
        row, col = col, row
    if symmetry & 1:
        row = size - 1 - row
    return (row, size - 1 - col) if symmetry & 2 else (row, col)


def test_priors_are_a_distribution_that_no_view_changes() -> None:
    size = 19
    predictor = MovePredictor.load("predictor-paper")
    plain = predictor.priors(fought(size, 0, False))
    assert 0.2 < plain.max() < 1
    for swap in (False, True):
        for symmetry in range(8):
            board = fought(size, symmetry, swap)
            priors = predictor.priors(board)
            assert np.array_equal(priors > 0, board.legal_mask())
            assert priors.sum() == pytest.approx(1.0, abs=1e-9)
            turned = np.zeros(size * size)
            for index in range(size * size):
                row, col = seen(*divmod(index, size), size, symmetry)
                turned[index] = priors[row * size + col]
            assert np.allclose(turned, plain[:-1], rtol=1e-3, atol=1e-6)


def test_the_card_tells_what_was_measured_and_the_file_is_small() -> None:
    info = next(info for info in list_models() if info.name == "predictor-paper")
    assert info.path.stat().st_size <= 2.2e6
    assert info.card is not None and info.card.data and info.card.results
    assert all(result.how and result.count for result in info.card.results)
    assert info.card.sizes == [(19, 19)]
