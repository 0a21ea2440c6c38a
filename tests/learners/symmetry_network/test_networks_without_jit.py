"""Symmetry networks learn, judge and play the same with the JIT switched off."""

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
from tengen.board import Board, point_at
from tengen.learners.symmetry_network import SymmetryNetwork, SymmetrySettings
from tengen.learners.symmetry_network.imitation_kernels import choices
from tengen.learners.symmetry_network.matches import play_match

board = Board(3, moves="B B2 W A1 B C1")
answers = []
for more in ({}, {"turn": True, "maxlib": 1.0, "categories": "liberties"}, {"layers": 2}):
    settings = SymmetrySettings(games=2, linear_games=1, rate=1e-3, size=3, seed=1, **more)
    network = SymmetryNetwork(settings=settings).fit()
    rated = network.move_values(board)
    answers += [network.free_.tolist(), network.values([board]).tolist()]
    answers.append(rated[rated > -99].tolist())
first = SymmetryNetwork(settings=SymmetrySettings(size=3)).fit(games=1)
for opponent, beta in (("random", 20.0), ("maxlib", 1e9)):
    rate = play_match(first, opponent, games=1, size=3, beta=beta, openings=2)
    answers.append([rate.win_rate, rate.mean_score])
stack = SymmetrySettings(layers=2, turn=True, categories="liberties")
free = np.random.default_rng(2).normal(0, 0.2, stack.architecture.size)
rated = SymmetryNetwork.from_free(free, stack).move_values(board)
boards, counts = np.zeros((2, 4, 9), np.uint8), np.zeros(2, np.int64)
moves = np.array([point_at(i, 3, 3) for i in (4, 0, 8)], np.int16)
choices(moves, np.array([1, 2, 1], np.int8), np.array([0, 3]), np.array([0]), 3, 3, 2, False,
        stack.sorting.packed(), 0, 0, boards, counts)
answers += [rated[rated > -99].tolist(), boards.ravel().tolist(), counts.tolist()]
print(json.dumps(answers))
"""


def answers(jit_off: str) -> list[Any]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "NUMBA_DISABLE_JIT": jit_off},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found


def test_the_same_without_the_jit() -> None:
    without, compiled = answers("1"), answers("0")
    assert len(without) == len(compiled) == 14
    for ours, theirs in zip(without, compiled, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-5)
