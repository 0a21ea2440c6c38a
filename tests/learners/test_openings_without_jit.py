"""Opening players learn and choose the same with the JIT switched off."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

PROGRAM = """
import json, warnings
import numpy as np
warnings.simplefilter("ignore", RuntimeWarning)  # unsigned words wrap around by design
from tengen.board import Board
from tengen.learners.opening_evolution import Dense, Spatial
from tengen.learners.opening_td import OpeningTD, TDSettings, play_match

class Counter:
    def finish(self, boards, seeds):
        return np.array([board.area_score() + seed % 7 - 3 for board, seed in zip(boards, seeds)])

answers = []
for more in ({}, {"encoding": "scalar", "target": "win", "trace": 0.6, "random_opponent": 0.5}):
    settings = TDSettings(rows=4, plies=8, hidden=3, games=3, explore=0.4, seed=2, **more)
    learner = OpeningTD(settings=settings).fit(Counter())
    match = play_match(learner, "random", Counter(), games=2, seed=3)
    board = Board(4, komi=5.5, moves="B C3 W B2")
    weights = [array.ravel().tolist() for array in learner.net_]
    answers.append([weights, match.openings, learner.best_move(board), learner.values([board])[0]])
rng = np.random.default_rng(1)
for shape in (Dense(4, 4), Spatial(4, 4), Spatial(4, 4, plies=2)):
    weights = rng.normal(0, 0.4, shape.n_weights)
    board = Board(4, moves="B C3 W B2 B B3 W C2")
    answers.append([shape.move(weights, board), shape.value(weights, board, 1)])
print(json.dumps(answers))
"""


def answers(jit_off: str) -> list[Any]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "NUMBA_DISABLE_JIT": jit_off},
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[Any] = json.loads(done.stdout)
    return found


def flat(value: Any) -> list[float]:
    """Return all numbers of nested lists."""
    return [n for part in value for n in flat(part)] if isinstance(value, list) else [value]


def test_the_same_without_the_jit() -> None:
    assert flat(answers("1")) == pytest.approx(flat(answers("0")), abs=1e-9)
