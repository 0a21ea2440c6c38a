"""Every kernel gives the answers of ordinary Python: each is run with the JIT on and off."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / "tests" / "scenarios_for_jit.py"
SCENARIOS = re.findall(r"^def (\w+)\(\) -> list\[Any\]:", PROGRAM.read_text(), re.M)
QUICK = ("board", "counting", "records")
KERNEL = re.compile(r"^@(?:hot_|inner_)?kernel\b.*\n(?:@.*\n)*def (\w+)", re.M)


@cache
def outcome(scenario: str, jit: bool) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), scenario],
        env={**os.environ, "NUMBA_DISABLE_JIT": "0" if jit else "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_every_kernel_is_run_without_the_jit() -> None:
    source = ROOT / "src" / "tengen"
    there = {
        f"{'.'.join(path.relative_to(source).with_suffix('').parts)}.{name}"
        for path in source.rglob("*kernels.py")
        for name in KERNEL.findall(path.read_text())
    }
    used = {name for scenario in SCENARIOS for name in outcome(scenario, False)["used"]}
    assert len(there) > 300
    assert sorted(there - used) == []


@pytest.mark.parametrize(
    "scenario",
    [pytest.param(s, marks=[] if s in QUICK else [pytest.mark.slow]) for s in SCENARIOS],
)
def test_answers_do_not_depend_on_the_jit(scenario: str) -> None:
    off, on = outcome(scenario, False)["answers"], outcome(scenario, True)["answers"]
    assert len(off) == len(on) > 2
    assert [place for place, pair in enumerate(zip(off, on, strict=True)) if not close(*pair)] == []


def close(slow: Any, fast: Any) -> bool:
    """Compare answers; real ones may differ as far as single precision makes them."""
    if isinstance(slow, list) and isinstance(fast, list):
        return len(slow) == len(fast) and all(map(close, slow, fast))
    if isinstance(slow, float) and isinstance(fast, float):
        return math.isclose(slow, fast, rel_tol=1e-4, abs_tol=1e-5)
    return bool(slow == fast)
