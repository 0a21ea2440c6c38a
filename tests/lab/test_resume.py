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
from functools import partial
from pathlib import Path
from tengen.lab import tournaments, move_prediction, opening_evolution, opening_td
from tengen.lab.rendering import write_report
from tengen.lab.steps import LabContext, Step, run_steps

if __name__ == "__main__":
    curve = opening_td.CurveSize(games=120, curve_every=20, curve_games=10, shipped_games=10)
    td = opening_td.InputTables(games=30, pair_games=4, curve_games=0, features=("A", "ABCDE"))
    mp = move_prediction.PredictionTables(made=60, board=9, games=60, test_games=20, sizes=(30, 60),
                                    widths=(0.9,), reranked=(0, 20))
    small = (("rows", 9), ("moves", 6), ("population", 6))
    ev = opening_evolution.BreedingSize(network="spatial", method="better", generations=12, every=3,
                                        seeds=1, games=10, starts=1, changes=small)
    steps = [
        Step("ladder", "players", "L",
             partial(tournaments.simple_players, size=tournaments.PlayersSize(games=2))),
        Step("opening-td", "opening-td", "T", partial(opening_td.learning, size=curve)),
        Step("opening-td-inputs", "opening-td", "I", partial(opening_td.tables, size=td)),
        Step("move-prediction", "move-prediction", "M", partial(move_prediction.tables, size=mp)),
        Step("opening-evolution", "opening-evolution", "E",
             partial(opening_evolution.breeding, size=ev)),
    ]
    folder, wanted = Path(sys.argv[1]), sys.argv[2:]
    steps = [step for step in steps if not wanted or step.name in wanted]
    write_report(folder, steps, run_steps(steps, LabContext(folder, 7, 2)))
"""


def numbers(folder: Path) -> dict[str, object]:
    """Return every step's result without its cost."""
    return {p.stem: json.loads(p.read_text())["result"] for p in (folder / "steps").glob("*.json")}


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
