"""A laboratory that is killed at any moment goes on and ends with the same report."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = """
import sys
from pathlib import Path
from tengen.lab import experiments
from tengen.lab.rendering import write_report
from tengen.lab.steps import LabContext, run_steps

SIZES = {
    "players": "games=2",
    "opening-td": "games=120 curve_every=20 curve_games=10 shipped_games=10",
    "opening-td-inputs": "games=30 pair_games=4 features=A,ABCDE",
    "move-prediction": "made=60 games=60 test_games=20 sizes=30,60 widths=0.9 reranked=0,20",
    "opening-evolution": "generations=4 every=2 games=10 starts=1",
}
if __name__ == "__main__":
    folder = Path(sys.argv[1])
    known = {each.name: each for each in experiments()}
    steps = [known[name].step("quick", size.split()) for name, size in SIZES.items()]
    write_report(folder, steps, run_steps(steps, LabContext(folder, 7, 2)))
"""


def numbers(folder: Path) -> dict[str, object]:
    """Return every step's result without its cost, and without the times of trainings."""
    cost = r'"(seconds|processor_seconds|memory_gb)": [^,]*, '
    files = (folder / "steps").glob("*.json")
    return {
        p.stem: re.sub(cost, "", json.dumps(json.loads(p.read_text())["result"])) for p in files
    }


def page(folder: Path, name: str = "report.html") -> str:
    """Return the page without its timings."""
    text = (folder / name).read_text()
    text = re.sub(r'<(\w+) class="[^"]*\bcost\b[^"]*">.*?</\1>', "", text, flags=re.S)
    return re.sub(r"## Cost.*", "", text, flags=re.S)


def start(script: Path, folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(script), str(folder)]
    return subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)


@pytest.mark.slow
def test_five_kills_change_nothing(tmp_path: Path) -> None:
    script = tmp_path / "laboratory.py"
    script.write_text(SCRIPT)
    began = time.monotonic()
    assert start(script, tmp_path / "whole").wait() == 0
    took = time.monotonic() - began
    rng = random.Random(11)
    kills = 0
    while kills < 5:
        job = start(script, tmp_path / "killed")
        try:
            job.wait(2.0 + rng.random() * took / 3)
        except subprocess.TimeoutExpired:
            # The whole session: workers of its own die with it, as by an out-of-memory killer.
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()
            kills += 1
        else:
            break
    assert kills >= 2
    assert start(script, tmp_path / "killed").wait() == 0
    assert numbers(tmp_path / "killed") == numbers(tmp_path / "whole")
    for name in ("report.html", "results.md"):
        assert page(tmp_path / "killed", name) == page(tmp_path / "whole", name)
