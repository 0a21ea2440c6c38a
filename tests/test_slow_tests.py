"""Slow tests have an end: each is broken off in time, and none begins when the time is over."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import time
import pytest

@pytest.mark.slow
def test_endless() -> None:
    while True:
        time.sleep(1)

@pytest.mark.slow
def test_short() -> None:
    pass

def test_quick() -> None:
    pass
"""


def run(folder: Path, *options: str) -> str:
    shutil.copy(Path(__file__).with_name("conftest.py"), folder)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    (folder / "test_some.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", *options]
    root = Path(__file__).parents[1]  # what the copied file imports
    path = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    return done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="has no alarm")
def test_an_endless_one_is_broken_off(tmp_path: Path) -> None:
    told = run(tmp_path, "--slow-seconds", "3")
    assert "FAILED test_some.py::test_endless - Failed: broken off after 3 s" in told
    assert "1 failed, 2 passed" in told


def test_none_begins_when_the_time_is_over(tmp_path: Path) -> None:
    told = run(tmp_path, "--slow-minutes", "0")
    assert told.count("not begun: those before took 0 minutes") >= 2
    assert "1 passed, 2 errors" in told
