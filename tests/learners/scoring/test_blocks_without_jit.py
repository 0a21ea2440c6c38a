"""The kernels of all families give the same numbers as ordinary Python, with the JIT off."""

from __future__ import annotations

import json
import os
import subprocess
import sys

PROGRAM = """
import json, warnings
import numpy as np
warnings.simplefilter("ignore", RuntimeWarning)
from tengen.learners.scoring import blocks_attack_kernels as attack, blocks_bond_kernels as bond
from tengen.learners.scoring import blocks_context_kernels as context, blocks_kernels as blocks

rng = np.random.default_rng(5)
answers = []
for rows, cols, empty in ((5, 5, 0.3), (4, 6, 0.2), (7, 7, 0.4)):
    grid = rng.choice(3, (rows, cols), p=[empty, (1 - empty) / 2, (1 - empty) / 2])
    line = np.full((rows + 2, cols + 1), 3)
    line[1 : rows + 1, 1:] = grid
    line = np.append(line.ravel(), 3).astype(np.int64)
    n = len(line)
    part, chain = np.empty(n, np.int64), np.zeros(n, np.int64)
    colour, size = np.zeros(n, np.int64), np.zeros(n, np.int64)
    out = np.zeros((n, blocks.PAPER))
    count = blocks.describe_blocks(line, rows, cols, 1, part, colour, size, chain, out)
    found = [out[:count]]
    owned = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], (4, n))
    of = (line, rows, cols, part, colour)
    found.append(np.zeros((count, context.SURROUNDINGS)))
    context.describe_surroundings(*of, size, chain, count, owned, found[-1])
    found.append(np.zeros((count, context.GROUPS)))
    context.describe_groups(*of, size, count, rng.random(count), found[-1])
    heavy, light = rng.choice([-0.5, 0.0, 0.5], (2, count))
    fate = np.zeros(count, np.int64)
    found.append(np.zeros((count, bond.BONDS)))
    bond.describe_bonds(*of, size, count, heavy, light, fate, found[-1])
    found.append(np.zeros((count, attack.ATTACKS)))
    attack.describe_attacks(*of, size, count, fate, heavy, light, found[-1])
    answers.append([np.round(table, 9).tolist() for table in found])
print(json.dumps(answers))
"""


def _answers(jit_off: str) -> list[object]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "NUMBA_DISABLE_JIT": jit_off},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers: list[object] = json.loads(done.stdout)
    return answers


def test_the_same_with_and_without_the_jit() -> None:
    without, compiled = _answers("1"), _answers("0")
    assert without == compiled
    assert all(any(any(row) for row in table) for table in compiled[2])  # type: ignore[attr-defined]
