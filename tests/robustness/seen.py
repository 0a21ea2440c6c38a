"""Watch what is attacked: how long it takes, how much memory it holds, what goes wrong.

The outcome of an attack is kept in a file, and the table of the results page is made of it.
"""

from __future__ import annotations

import json
import os
import queue
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

SLOWEST, LARGEST, BLOCKED = 10.0, 600.0, 0.5
"""Seconds of an answer, megabytes of a process, seconds that an event loop is blocked: at most."""


def crowd() -> float:
    """Return how much longer everything takes because others use the cores, too."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


@dataclass
class Seen:
    """What came of one attack."""

    attack: str
    tried: int = 0
    seed: int = 0
    slowest: float = 0.0  # seconds of the slowest answer
    peak: float = 0.0  # megabytes that the largest process held
    blocked: float = 0.0
    """Seconds that a second client of the web server waited at most for its answer."""
    asked: int = 0  # how many were to be tried
    faults: list[str] = field(default_factory=list)
    note: str = ""
    date: str = ""
    until: float = float("inf")  # when to begin no more, by the monotonic clock

    @property
    def fills(self) -> bool:
        return self.attack.startswith("full disk")

    def go_on(self, count: int) -> bool:
        """Tell whether fewer were tried than asked for, and there is time."""
        return self.tried < count and time.monotonic() < self.until

    @contextmanager
    def watching(self, what: object) -> Iterator[None]:
        """Take the time of one answer; any error but a `TengenError` is a fault."""
        from tengen.errors import TengenError

        begun = time.monotonic()
        try:
            yield
        except TengenError:
            pass
        except Exception as bug:
            self.fault(f"{type(bug).__name__}: {bug}", what)
        self.took(time.monotonic() - begun, what)

    def took(self, seconds: float, what: object) -> None:
        self.slowest = max(self.slowest, seconds)
        if seconds > SLOWEST * max(crowd(), 1.0):
            self.fault(f"took {seconds:.1f} s", what)

    def waited(self, seconds: float) -> None:
        self.blocked = max(self.blocked, seconds)
        if seconds > BLOCKED * max(crowd(), 1.0):
            self.fault(f"the event loop was blocked for {seconds:.2f} s")

    def holds(self, megabytes: float) -> None:
        self.peak = max(self.peak, megabytes)

    def fault(self, fault: str, what: object = "") -> None:
        shown = repr(what) if len(repr(what)) < 400 else repr(what)[:400] + "..."
        self.faults.append(f"{fault}: {shown}")
        print(f"{self.attack}: {self.faults[-1]}", file=sys.stderr, flush=True)

    def line(self) -> str:
        if self.peak > LARGEST:
            self.fault(f"held {self.peak:.0f} MB")
        self.slowest, self.peak = round(self.slowest, 2), round(self.peak)
        self.blocked = round(self.blocked, 2)
        return json.dumps(self.value())

    def value(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "until"}


RESULTS = Path(__file__).parents[2] / "docs" / "results"
DATA, PAGE = RESULTS / "robustness.json", RESULTS / "robustness.md"
BEGIN, END = "<!-- written by tests/robustness/attack.py -->", "<!-- up to here -->"


def note(seen: Seen) -> None:
    rows = {row["attack"]: row for row in json.loads(DATA.read_text())}
    rows[seen.attack] = seen.value()
    DATA.write_text(json.dumps(list(rows.values()), indent=1) + "\n")
    before, rest = PAGE.read_text().split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(list(rows.values()))}\n{END}{after}")


def table(rows: list[dict[str, Any]]) -> str:
    lines = ["| attack | how many | result | slowest answer | largest process | seed | date |"]
    lines.append("|---|---|---|---|---|---|---|")
    disturbing = ("kill", "full disk")
    for row in sorted(rows, key=lambda row: str(row["attack"]).startswith(disturbing)):
        well = "as undisturbed" if row["attack"].startswith(disturbing) else "no fault"
        well = well if row["tried"] else "not tried"
        result = f"faults: {len(row['faults'])}" if row["faults"] else well
        slowest = f"{row['slowest']:.2f} s" if row["slowest"] else ""
        peak = f"{row['peak']:.0f} MB" if row["peak"] else ""
        if row.get("blocked"):
            slowest += f", event loop blocked for {row['blocked']:.2f} s at most"
        name = row["attack"] + (f" ({row['note']})" if row["note"] else "")
        tried = f"{row['tried']:,}"
        if row["tried"] < row.get("asked", 0):
            tried += f" of {row['asked']:,}"
        cells = [name, tried, result, slowest, peak, row["seed"], row["date"]]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Break off what takes longer, such as a model whose card asks for a network without end."""
    if sys.platform == "win32":
        yield
        return

    def too_long(*_: object) -> None:
        raise TimeoutError(f"longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds * max(crowd(), 1.0))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def own_peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def peak_of(pid: int) -> float:
    """Return the most megabytes that a process or one of its children has held, on Linux."""
    most = 0.0
    for process in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            continue
        held = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
        most = max(most, int(held[0]) / 1024 if held else 0.0)
    return most


class Talk:
    """A conversation by lines with a server in a process of its own."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self.command, self.folder = [sys.executable, "-m", "tengen", *command], folder
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            self.command,
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "TENGEN_QUIET": "1"},
        )
        self.lines: queue.Queue[bytes] = queue.Queue()
        self.errors: list[bytes] = []
        for reader in (self._read, lambda: self.errors.extend(self.process.stderr or ())):
            threading.Thread(target=reader, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self.lines.put(line)
        self.lines.put(b"")

    def say(self, data: bytes) -> None:
        assert self.process.stdin
        with suppress(BrokenPipeError):
            self.process.stdin.write(data)
            self.process.stdin.flush()

    def wait_for(self, words: Sequence[bytes], seconds: float) -> bytes | None:
        """Read lines up to one with one of these words; None when too late, empty at the end."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self.lines.get(timeout=max(deadline - time.monotonic(), 0.0))
            except queue.Empty:
                return None
            if not line or any(word in line for word in words):
                return line

    def check(self, answer: bytes | None, seen: Seen, sent: bytes) -> None:
        """Note a fault, and start it again, if it did not answer or wrote a traceback."""
        if answer and not any(line.startswith(b"Traceback") for line in self.errors):
            return
        kind = "no answer" if answer is None else "traceback" if answer else "the end"
        seen.fault(kind, sent)
        print(b"".join(self.errors[-15:]).decode(errors="replace"), file=sys.stderr)
        self.end()
        self.start()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                with suppress(OSError):
                    pipe.close()
