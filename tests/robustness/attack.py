"""Attack parts of Tengen and note what was seen in the table of `docs/results/robustness.md`.

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
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import fuzzing
import killing
import victims
from page import note
from seen import Seen

ATTACKS = {**fuzzing.ATTACKS, **killing.ATTACKS}


def attack(name: str, count: int, seed: int, seconds: float) -> Seen:
    """Run one attack in a folder of its own."""
    if name in killing.ATTACKS:
        # Undisturbed work that compiles takes so long that most kills would come after the end.
        subprocess.run([*map(str, victims.tengen("compile"))], check=True, stdout=sys.stderr)
    until = time.monotonic() + seconds
    seen = Seen(name, seed=seed, date=datetime.now(UTC).date().isoformat(), until=until)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            ATTACKS[name](seen, count, random.Random(seed), Path(folder))
        finally:
            victims.end_victims()
    return seen


def main() -> None:
    """Run each attack in a process of its own, so that memory is its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("attacks", nargs="+", choices=list(ATTACKS), metavar="ATTACK")
    parser.add_argument("--count", type=int, default=0, help="inputs (10000) or kills (20)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1800.0, help="begin no more after that")
    parser.add_argument("--note", action="store_true", help="write what was seen into the docs")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that victims are ended, too
    failed = False
    for name in given.attacks:
        count = given.count or (20 if name in killing.ATTACKS else 10_000)
        if len(given.attacks) > 1:
            words = ["--count", count, "--seed", given.seed, "--seconds", given.seconds]
            command = [sys.executable, __file__, name, *map(str, words)]
            done = subprocess.run(command, stdout=subprocess.PIPE)
            seen = Seen(**json.loads(done.stdout))
        else:
            print(f"{name}: {count} times, seed {given.seed}", file=sys.stderr)
            seen = attack(name, count, given.seed, given.seconds)
        failed |= bool(seen.faults)
        print(seen.line(), flush=True)
        if given.note:
            note(seen)
    sys.exit(failed)


if __name__ == "__main__":
    main()
