"""Start commands, kill them at random moments or fill their disk, and compare what they made.

Mostly the first process is killed alone, and its children must end by themselves; sometimes a
worker or an engine is killed, sometimes all at once. Processes are found by a word in their
environment, so that none hides in a group of its own. For Linux.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from seen import Seen

WORD = "TENGEN_ATTACK"
GONE = 15.0  # seconds within which what a killed process started must be gone
START = "import sys; from tengen.cli import main; main()"


class Victim:
    """A command that can be started, killed and started again."""

    every: ClassVar[list[Victim]] = []

    def __init__(self, seen: Seen, command: Sequence[object], folder: Path) -> None:
        self.seen, self.folder = seen, folder
        self.command = [str(word) for word in command]
        self.mark = uuid.uuid4().hex
        self.process: subprocess.Popen[bytes] | None = None
        Victim.every.append(self)

    def start(self, room: int = resource.RLIM_INFINITY) -> subprocess.Popen[bytes]:
        """Start it; with `room`, no file may grow beyond so many bytes, as on a full disk."""

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))

        with (self.folder / "errors").open("ab") as errors:
            self.process = subprocess.Popen(
                self.command,
                cwd=self.folder,
                stdout=subprocess.DEVNULL,
                stderr=errors if room == resource.RLIM_INFINITY else subprocess.PIPE,
                preexec_fn=limit,
                # On cores that others want too, small tensors only wait for a second thread.
                env={
                    **os.environ,
                    WORD: self.mark,
                    "TENGEN_QUIET": "1",
                    "OMP_NUM_THREADS": "1",
                    "PYTHONDONTWRITEBYTECODE": "1",  # half of a module's bytecode goes unnoticed
                },
                start_new_session=True,
            )
        return self.process

    def finish(self) -> float:
        begun = time.monotonic()
        if self.start().wait(1200) != 0:
            self.seen.fault(f"ended with {self.process and self.process.returncode}", self.errors())
        self.nothing_left()
        return time.monotonic() - begun

    def kill(self, kind: str, rng: random.Random) -> None:
        """Kill it, something below it, or everything."""
        assert self.process is not None
        pids = [self.process.pid]
        if kind != "first":
            below = [pid for pid in self.left() if pid != self.process.pid]
            pids = [*below, *pids] if kind == "all" else [rng.choice(below)] if below else []
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.seen.tried += bool(pids)
        if self.process.pid in pids:
            self.process.wait()
            self.nothing_left()

    def left(self) -> list[int]:
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with suppress(OSError):
                    running = (entry / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
                    if (
                        running
                        and f"{WORD}={self.mark}".encode() in (entry / "environ").read_bytes()
                    ):
                        found.append(int(entry.name))
        return found

    def nothing_left(self) -> None:
        """Wait until all are gone; blame and kill those that are not."""
        deadline = time.monotonic() + GONE
        while (there := self.left()) and time.monotonic() < deadline:
            time.sleep(0.05)
        for pid in there:
            with suppress(OSError):
                program, *words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
                self.seen.fault("left behind", [Path(program).name, *words])
                os.kill(pid, signal.SIGKILL)

    def errors(self) -> str:
        return (self.folder / "errors").read_text(errors="replace")[-1500:]


def end_victims() -> None:
    for victim in Victim.every:
        for pid in victim.left():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def fill_until_done(
    victim: Victim, times: int, rng: random.Random, look: Callable[[], None]
) -> None:
    """Start with too little room on the disk, again and again, and at last with enough."""
    while victim.seen.go_on(times):
        process = victim.start(room=int(10 ** rng.uniform(3.7, 5.7)))
        told = process.communicate(timeout=1200)[1].decode(errors="replace")
        victim.nothing_left()
        if process.returncode == 0:
            return
        victim.seen.tried += 1
        if process.returncode != 1 or told.count("\n") != 1:
            victim.seen.fault(f"ended with {process.returncode}", told[-1500:])
        look()
    victim.finish()


def kill_until_done(
    victim: Victim,
    kills: int,
    rng: random.Random,
    span: float,
    kinds: Sequence[str] = ("first",),
    look: Callable[[], None] = lambda: None,
) -> None:
    """Start and kill within a span of seconds until it is done or was killed often enough.

    `look` is called after each kill. Where the attack is a full disk, the disk is filled instead.
    """
    if victim.seen.fills:
        fill_until_done(victim, kills, rng, look)
        return
    process: subprocess.Popen[bytes] | None = None
    while victim.seen.go_on(kills):
        process = victim.start()
        deadline = time.monotonic() + rng.random() * span
        while True:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(deadline - time.monotonic(), 0.0))
                if process.returncode != 0:
                    victim.seen.fault(f"ended with {process.returncode}", victim.errors())
                victim.nothing_left()
                return
            kind = rng.choice(kinds)
            victim.kill(kind, rng)
            look()
            if kind in ("first", "all"):
                break
            if not victim.seen.go_on(kills):
                break
            deadline = time.monotonic() + rng.random() * span
    if process is None or process.wait(1200) != 0:
        victim.finish()


def compare(
    seen: Seen,
    kills: int,
    rng: random.Random,
    folder: Path,
    command: Callable[[Path], Sequence[object]],
    read: Callable[[Path], Mapping[Any, Any]],
    *,
    parts: int = 1,
    kinds: Sequence[str] = ("first",),
    look: Callable[[Path], None] = lambda path: None,
) -> None:
    """Compare what a command makes undisturbed with what it makes while it is killed.

    Kills come within the time of undisturbed work divided by `parts`.
    """
    span = Victim(seen, command(folder / "calm"), folder).finish() / parts
    calm, number = read(folder / "calm"), 0
    while seen.go_on(kills):
        wild = folder / f"wild-{number}"
        victim = Victim(seen, command(wild), folder)
        kill_until_done(victim, kills, rng, span, kinds, lambda wild=wild: look(wild))
        if others := different(calm, read(wild)):
            seen.fault("other results", others)
        number += 1


def tengen(*words: object) -> list[object]:
    return [sys.executable, "-c", START, *words]


def start_server(seen: Seen, folder: Path, name: str = "games") -> tuple[Victim, Any]:
    """Start a web server on a free port; return it with a client."""
    import httpx

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ("web", "--no-browser", "--port", port, "--database", folder / f"{name}.sqlite")
    victim = Victim(seen, tengen(*words, "--runs", folder / "runs"), folder)
    client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)
    victim.start()
    wait_for_server(victim, client)
    return victim, client


def wait_for_server(victim: Victim, client: Any) -> None:
    import httpx

    deadline = time.monotonic() + 400
    while time.monotonic() < deadline:
        with suppress(httpx.HTTPError):
            client.get("/api/games")
            return
        time.sleep(0.1)
    raise AssertionError(victim.errors())


def make_games(folder: Path, size: int, games: int, players: tuple[str, str]) -> Path:
    """Make games to learn from: two players of ours, finished and counted."""
    base, out = folder / "made.sqlite", folder / "made.sgf"
    match = tengen("arena", "match", *players, "--size", size, "--games", games, "--out", base)
    subprocess.run([*map(str, match), "--quiet", "--json"], check=True, capture_output=True)
    export = tengen("arena", "export", base, "--out", out)
    subprocess.run([*map(str, export)], check=True, capture_output=True)
    return out


# ----- What work has made -----


def different(calm: Mapping[Any, Any], found: Mapping[Any, Any]) -> list[Any]:
    """List the names under which two hold other things, or only one holds anything."""
    both = calm.keys() & found.keys()
    return sorted(calm.keys() ^ found.keys()) + sorted(
        key for key in both if not _same(calm[key], found[key])
    )


def _same(a: Any, b: Any) -> bool:
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else bool(a == b)


def files_of(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder but its lock."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def games_of(path: Path) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Return the finished games of a tournament; the last of each row is when it began."""
    if not path.exists():
        return {}
    connection = sqlite3.connect(path)
    try:
        found = connection.execute("SELECT a, b, number, moves, result, winner, started FROM games")
        return {(a, b, number): tuple(rest) for a, b, number, *rest in found}
    except sqlite3.OperationalError:  # killed before its tables were made
        return {}
    finally:
        connection.close()


def training_of(folder: Path) -> dict[str, Any]:
    """Return what a training has made: rows, tensors, and the names of files but its states."""
    from tengen.models import load_model, read_metrics

    found: dict[str, Any] = {"rows": read_metrics(folder)}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name.startswith("checkpoints") or not path.is_file():
            continue
        found[name] = True
        if path.suffix == ".safetensors":
            for part, array in load_model(path)[0].items():
                found[f"{name}/{part}"] = array
    return found
