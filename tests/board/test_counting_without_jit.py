"""Counting and safety kernels give the same answers with the JIT switched off."""

from __future__ import annotations

import json
import os
import subprocess
import sys

PROGRAM = """
import json
import numpy as np
from tengen.board.counting import count_territory
from tengen.board.safety import eyes, in_atari, ladder, unconditional

rng = np.random.default_rng(11)
answers = []
for _ in range(60):
    size = rng.integers(3, 9, size=2)
    grid = rng.choice([0, 0, 1, 1, 2], size=size).astype(np.int8)
    dead = (rng.random(size) < 0.5) & (grid == 2)
    answers.append(count_territory(grid, dead).kinds.tolist())
    for colour in (1, 2):
        answers.append([mask.tolist() for mask in unconditional(grid, colour)])
        answers.append([mask.tolist() for mask in eyes(grid, colour)])
    atari = in_atari(grid)
    answers.append(atari.tolist())
    answers.append([ladder(grid, (int(r), int(c))) for r, c in np.argwhere(atari)[:5]])
print(json.dumps(answers))
"""


def _answers(jit_off: str) -> list[object]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "NUMBA_DISABLE_JIT": jit_off},
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[object] = json.loads(done.stdout)
    return found


def test_the_same_answers_with_and_without_the_jit() -> None:
    assert _answers("1") == _answers("0")
