"""Kernels give the same answers as ordinary Python code, with the JIT switched off."""

from __future__ import annotations

import json
import os
import subprocess
import sys

PROGRAM = """
import json, warnings
import numpy as np
warnings.simplefilter("ignore", RuntimeWarning)  # unsigned words wrap around by design
from tengen.board import Board, BatchBoard, playouts

rng = np.random.default_rng(3)
answers = []
for rules in ("japanese", "cgos", "aga", "tromp_taylor"):
    board = Board(4, 5, rules=rules)
    for _ in range(60):
        mask = board.legal_mask()
        board.play(board.answer(rng.choice(list(board.legal_moves))))
        answers.append([mask.tolist(), board.grid().tolist(), board.hash, board.prisoners])
    board.undo()
    answers.append([board.hash, board.area_score(), [b.liberties for b in board.blocks()]])
for kind in ("light", "heavy"):
    result = playouts(Board(5, moves="B C3 W C2"), 8, seed=2, kind=kind, threads=1)
    answers.append([result.scores.tolist(), result.ownership.tolist()])
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
    answers: list[object] = json.loads(done.stdout)
    return answers


def test_the_same_with_and_without_the_jit() -> None:
    assert _answers("1") == _answers("0")
