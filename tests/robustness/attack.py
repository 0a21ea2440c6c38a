"""Attack parts of Tengen and record the outcome in the table of `docs/results/robustness.md`.

    python tests/robustness/attack.py hostile --note            # all of them, at most 40 minutes
    python tests/robustness/attack.py hostile --short           # a few minutes
    python tests/robustness/attack.py SGF GTP --count 10000 --seed 1 --note

prints a line of JSON for each attack and exits with 1 if anything went wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import fuzzing
import killing
import victims
from seen import Seen, note

ATTACKS = {**fuzzing.ATTACKS, **killing.ATTACKS}
SHORT = (*fuzzing.ATTACKS, "kill web", "kill arena", "full disk: web", "full disk: opening-td")
COUNTS = {"archives": 200, "models": 500}
TOGETHER = 2  # attacks that run side by side
MINUTES = 40.0
"""Most minutes of all attacks together; those that run out of time have smaller counts."""


def count_of(name: str, *, short: bool = False) -> int:
    """Return how many inputs, kills or full disks an attack tries."""
    count = COUNTS.get(name, 20 if name in killing.ATTACKS else 10_000)
    return max(count // 20, 2) if short else count


def weight(name: str) -> int:
    """Return how much of the time an attack gets: thousands of inputs take longest."""
    return 4 if name in ("web", "analysis", "GTP") else 1


def attack(name: str, count: int, seed: int, seconds: float) -> Seen:
    if name in killing.ATTACKS:
        # Undisturbed work that compiles takes so long that most kills would come after the end.
        subprocess.run([*map(str, victims.tengen("compile"))], check=True, stdout=sys.stderr)
    until = time.monotonic() + seconds
    date = datetime.now(UTC).date().isoformat()
    seen = Seen(name, seed=seed, date=date, until=until, asked=count)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            ATTACKS[name](seen, count, random.Random(seed), Path(folder))
        finally:
            victims.end_victims()
    return seen


def main() -> None:
    """Run each attack in a process of its own, so that memory is its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("attacks", nargs="+", choices=["hostile", *ATTACKS], metavar="ATTACK")
    parser.add_argument("--count", type=int, help="inputs (10000), kills or full disks (20)")
    parser.add_argument("--short", action="store_true", help="fewer attacks, fewer inputs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, help="begin no more in an attack after that")
    parser.add_argument("--note", action="store_true", help="write the outcome into the docs")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that victims are ended, too
    names = given.attacks
    if names == ["hostile"]:
        names = SHORT if given.short else list(ATTACKS)
    end, waiting = time.monotonic() + MINUTES * 60, list(names)

    def run(name: str) -> Seen:
        count = given.count or count_of(name, short=given.short)
        share = min(TOGETHER * weight(name) / sum(map(weight, waiting)), 1.0)
        waiting.remove(name)
        seconds = given.seconds or share * (end - time.monotonic())
        if len(names) == 1:
            print(f"{name}: {count} times, seed {given.seed}", file=sys.stderr)
            return attack(name, count, given.seed, seconds)
        words = ["--count", count, "--seed", given.seed, "--seconds", seconds]
        command = [sys.executable, __file__, name, *map(str, words)]
        done = subprocess.run(command, stdout=subprocess.PIPE)
        return Seen(**json.loads(done.stdout))

    failed = False
    with ThreadPoolExecutor(TOGETHER) as pool:
        for seen in (pool.map if len(names) > 1 else map)(run, names):
            print(seen.line(), flush=True)
            failed |= bool(seen.faults)
            if given.note:
                note(seen)
    sys.exit(failed)


if __name__ == "__main__":
    main()
