"""Kernels give the same answers with the JIT on and off."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / "tests" / "scenarios_for_jit.py"
SCENARIOS = [
    "board",
    "counting",
    "records",
    "players",
    "move_prediction",
    "scoring",
    "symmetry_network",
    "opening_td",
    "opening_evolution",
    "network",
    "self_play",
    "explorer",
]
QUICK = ("board", "counting", "records")


def outcome(scenario: str, jit: bool) -> list[Any]:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), scenario],
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
    assert len(off) == len(on) > 2
    assert [place for place, pair in enumerate(zip(off, on, strict=True)) if not close(*pair)] == []


def close(slow: Any, fast: Any) -> bool:
    """Compare answers; real ones may differ as far as single precision makes them."""
    if isinstance(slow, list) and isinstance(fast, list):
        return len(slow) == len(fast) and all(map(close, slow, fast))
    if isinstance(slow, float) and isinstance(fast, float):
        return math.isclose(slow, fast, rel_tol=1e-4, abs_tol=1e-5)
    return bool(slow == fast)
