"""Kernels give the same answers with the JIT on and off.

    python tests/test_without_jit.py NAME

prints the answers of one scenario as JSON: one below, or a step of `tengen.warming`.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

from tengen import warming
from tengen.board import BatchBoard, Board, play_random, playouts


def boards(*sizes: tuple[int, int], seed: int = 1, share: float = 0.6) -> list[Board]:
    """Return boards in the middle of random games."""
    rng = np.random.default_rng(seed)
    return [
        play_random(Board(rows, cols, komi=5.5), int(share * rows * cols), rng)
        for rows, cols in sizes
    ]


def board() -> list[Any]:
    answers: list[Any] = []
    rng = np.random.default_rng(3)
    for rules in ("japanese", "cgos", "aga", "tromp_taylor"):
        position = Board(4, 5, rules=rules)
        for _ in range(60):
            mask = position.legal_mask()
            position.play(position.to_point(rng.choice(list(position.legal_moves))))
            answers += [mask, position.grid(), position.hash % 10**6, position.prisoners]
        position.undo()
        answers += [position.area_score(), [b.liberties for b in position.blocks()]]
    for kind in ("light", "heavy"):
        result = playouts(Board(5, moves="B C3 W C2"), 8, seed=2, kind=kind, threads=1)
        answers += [result.scores, result.ownership]
    answers.append(playouts(Board(5), 4, seed=2, kind="heavy").scores)
    long = Board(9)
    while len(long.moves) < 140:
        long.play(long.to_point(rng.choice(list(long.legal_moves)[:-1] or [0])))
    answers += [long.hash % 10**6, long.legal_mask()]
    many = BatchBoard(3, 5)
    for index in (0, 7, 12):
        many.play(np.array([index, index + 1, index + 2]))
        answers += [many.legal_masks(), many.area_scores(), many.over]
    return answers


def counting() -> list[Any]:
    from tengen.board.counting import count_area, count_territory, territory_margins, unconditional
    from tengen.board.counting_kernels import careful_kinds
    from tengen.board.layout_kernels import COLOUR
    from tengen.board.tactics_kernels import eye_map, read_ladder, safety_scratch

    answers: list[Any] = []
    rng = np.random.default_rng(11)
    for _ in range(300):
        size = rng.integers(3, 9, size=2)
        grid = rng.choice([0, 0, 1, 1, 2], size=size).astype(np.int8)
        dead = (rng.random(size) < 0.5) & (grid == 2)
        answers.append(count_territory(grid, dead).kinds)
    for position in boards((5, 5), (4, 6), (7, 7), share=1.1):
        grid = position.grid()
        for count in (count_area(grid), count_territory(grid)):
            answers += [count.score, count.black, count.white]
        for colour in (1, 2):
            answers += unconditional(grid, colour)
        owners = np.zeros(position.state.shape[1], np.int64)
        eye_map(position.state[COLOUR], position.cols + 1, owners)
        answers.append(owners)
        answers.append(territory_margins([grid], [np.zeros(grid.shape, bool)]))
        kinds = np.zeros(grid.shape, np.int8)
        careful_kinds(grid.astype(np.int8), np.zeros(grid.shape, np.bool_), kinds)
        answers.append(kinds)
        scratch = safety_scratch(position.state.shape[1])
        for block in position.blocks():
            for attacking in (True, False)[: 3 - min(len(block.liberties), 2)]:
                line, reads = position.state[COLOUR].copy(), np.zeros(1, np.int64)
                place = int(block.stones[0]), position.cols + 1
                answers.append(read_ladder(line, *place, attacking, 0, reads, scratch))
    return answers


SCENARIOS = {"board": board, "counting": counting}
SCENARIOS |= {name: step for name, step in warming.steps().items() if name != "board"}
QUICK = ("board", "counting", "records")


def outcome(scenario: str, jit: bool) -> list[Any]:
    done = subprocess.run(
        [sys.executable, __file__, scenario],
        env={**os.environ, "NUMBA_DISABLE_JIT": "0" if jit else "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    "scenario", [pytest.param(s, marks=[] if s in QUICK else [pytest.mark.slow]) for s in SCENARIOS]
)
def test_answers_do_not_depend_on_the_jit(scenario: str) -> None:
    off, on = outcome(scenario, False), outcome(scenario, True)
    assert len(off) == len(on) > 1
    assert [place for place, pair in enumerate(zip(off, on, strict=True)) if not close(*pair)] == []


def close(slow: Any, fast: Any) -> bool:
    """Compare answers; real ones may differ as far as single precision makes them."""
    if isinstance(slow, list) and isinstance(fast, list):
        return len(slow) == len(fast) and all(map(close, slow, fast))
    if isinstance(slow, float) and isinstance(fast, float):
        return math.isclose(slow, fast, rel_tol=1e-4, abs_tol=1e-5)
    return bool(slow == fast)


def plain(value: Any) -> Any:
    """Turn an answer into JSON."""
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(member) for member in value]
    return round(value, 6) if isinstance(value, float) else value


if __name__ == "__main__":
    # Unsigned words wrap around by design, which NumPy reports when the JIT is off.
    warnings.simplefilter("ignore", RuntimeWarning)
    print(json.dumps(plain(SCENARIOS[sys.argv[1]]())))
