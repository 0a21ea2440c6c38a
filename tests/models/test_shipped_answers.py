"""The shipped predictors and scorers answer as they did when their figures were measured.

`shipped_answers.json` was written by this file, run as a script, before the code was rearranged.
Write it again only together with the models.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.board import Board
from tengen.papers.move_prediction import MovePredictor
from tengen.scoring import BlockScorer

KEPT = Path(__file__).with_name("shipped_answers.json")

# Ataris, a ladder and a capture.
FIGHT = "E5 E4 D4 F5 F4 G4 D5 F3 G5 F6 E6 G6 C3 D3 C4 H5 B3 E3 E7 F7 D6 B4 B5 C6 C5 D7"
FINISHED = """
    . X . X O . O . .
    X X X X O O . O .
    . X O X O . O . O
    X . O X X O O O .
    . X X . X X O X .
    X . X X . X O . O
    . X O O X X X O O
    X O . O O O X X O
    . X O . O . O X .
    """


def boards(size: int) -> list[Board]:
    """Return the beginning, the middle and the end of one fight on a board of this size."""
    found = []
    for plies in (0, 7, 26):
        board = Board(size)
        for vertex in FIGHT.split()[:plies]:
            board.play(vertex)
        found.append(board)
    return found


def ended(size: int) -> Board:
    """Return the end of a game that random moves played: full of dead stones."""
    rng = np.random.default_rng(size)
    board = Board(size)
    for _ in range(size * size):
        board.push(int(rng.choice([p for p in board.legal_moves if p] or [0])))
    return board


def answers() -> dict[str, list[list[float]]]:
    """Ask every model about its positions."""
    told: dict[str, list[list[float]]] = {}
    policy = MovePredictor.load("predictor-paper")
    told["predictor-paper"] = [policy.priors(board).tolist() for board in boards(19)]
    positions = [Board.from_ascii(FINISHED), *boards(9), boards(13)[2], ended(19)]
    scorer = BlockScorer.load("scorer")
    told["scorer"] = []
    for board in positions:
        seen = scorer.read(board.grid())
        told["scorer"].append(
            [*seen.ownership.ravel(), *seen.alive.ravel(), seen.safe_probability, seen.safe,
             *seen.dead.ravel(), *seen.seki.ravel()]
        )  # fmt: skip
    return {
        name: [[round(float(x), 10) for x in one] for one in found] for name, found in told.items()
    }


@pytest.fixture(scope="module")
def told() -> dict[str, list[list[float]]]:
    return answers()


@pytest.mark.parametrize("name", ["predictor-paper", "scorer"])
def test_answers_are_those_of_before(name: str, told: dict[str, Any]) -> None:
    kept = json.loads(KEPT.read_text())[name]
    assert len(kept) == len(told[name])
    for ours, theirs in zip(told[name], kept, strict=True):
        assert np.allclose(ours, theirs, rtol=0, atol=1e-9)  # the order of sums may differ


if __name__ == "__main__":
    KEPT.write_text(json.dumps(answers()))
