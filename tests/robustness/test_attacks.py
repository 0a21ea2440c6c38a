"""Damaged inputs and kills, fewer than `attack.py` makes by itself; the page tells what it saw."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.needs import need

sys.path.insert(0, str(Path(__file__).parent))
import fuzzing
import killing
import victims

INPUTS, KILLS, SECONDS = 1000, 3, "300"


def attack(name: str, count: int, seed: int) -> None:
    """Attack in a process of its own; the output has the seed."""
    words = [name, "--count", str(count), "--seed", str(seed), "--seconds", SECONDS]
    command = [sys.executable, str(Path(__file__).with_name("attack.py")), *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as done:
        try:
            told, errors = done.communicate()
        except BaseException:
            done.terminate()  # not killed: it ends its victims
            raise
    print(errors)
    seen = json.loads(told)
    assert seen["faults"] == []
    assert seen["tried"] > 0
    assert done.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(fuzzing.ATTACKS))
def test_damaged_inputs_end_in_a_line(name: str) -> None:
    attack(name, INPUTS, seed=2)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes as Linux does")
@pytest.mark.parametrize("name", sorted(killing.ATTACKS))
def test_kills_change_nothing(name: str) -> None:
    if name.endswith(" network") or "self-play" in name:
        need("torch")
    attack(name, KILLS, seed=2)


def test_a_fault_is_found(tmp_path: Path) -> None:
    """The watchers see what they are there for."""
    seen = fuzzing.Seen("none")
    seen.took(1e6, "slow")
    seen.holds(700.0)
    assert len(json.loads(seen.line())["faults"]) == 2
    victim = victims.Victim(seen, ["sh", "-c", "setsid sleep 100 & sleep 100"], tmp_path)
    victim.start()
    while len(victim.left()) < 3:
        pass
    victims.GONE, gone = 0.2, victims.GONE
    victim.kill("first", random.Random(1))
    victims.GONE = gone
    assert len(seen.faults) == 4 and "left behind" in seen.faults[-1]
    deadline = time.monotonic() + 60
    while victim.left() and time.monotonic() < deadline:  # a busy machine ends them later
        time.sleep(0.05)
    assert victim.left() == []
