"""Tournament truth: whoever is killed, every finished game is there once and is the right one."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

TOY = Path(__file__).with_name("toy_engine.py")
GNUGO = shutil.which("gnugo", path=os.environ.get("PATH", "") + ":/usr/games")
KILLS = 20

pytestmark = pytest.mark.slow


def config(games: int) -> str:
    """Return a round robin of engines and players that are repeatable."""
    players = {
        "toy": f"gtp:{sys.executable} -S {TOY} --delay 0.03",
        "maxlib": "maxlib",
        "search": "mcts:playouts=20",
    }
    if GNUGO:
        players["gnugo"] = f"gtp:{GNUGO} --mode gtp --level 0 --chinese-rules --capture-all-dead"
    lines = [
        'kind = "round-robin"',
        f"games = {games}",
        "size = 5",
        "seed = 8",
        "max_failures = 99",
    ]
    for name, spec in players.items():
        lines += [f"[players.{name}]", f"spec = {json.dumps(spec)}"]
    return "\n".join(lines)


def start(folder: Path, name: str) -> subprocess.Popen[bytes]:
    """Start the tournament in a process of its own."""
    command = ["run", str(folder / "t.toml"), "--out", str(folder / f"{name}.sqlite"), "--quiet"]
    code = "import sys; from tengen.cli import run; sys.exit(run(sys.argv[1:]))"
    return subprocess.Popen(
        [sys.executable, "-c", code, "arena", *command, "--workers", "2", "--json"],
        stdout=subprocess.DEVNULL,
    )


def children(pid: int) -> list[int]:
    """List the children of a process."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = (entry / "stat").read_text()
            except OSError:
                continue
            if int(status.rpartition(")")[2].split()[1]) == pid:
                found.append(int(entry.name))
    return found


def is_engine(pid: int) -> bool:
    """Tell whether a process is one of the engines."""
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return b"toy_engine" in line or b"gnugo" in line


def workers(arena: int) -> list[int]:
    """List the workers of an arena; multiprocessing's resource tracker is none."""
    found = []
    for pid in children(arena):
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if b"spawn_main" in line:
            found.append(pid)
    return found


def kill_one(arena: int, kind: str, rng: random.Random) -> bool:
    """Kill the arena, a worker or an engine; False when there is none at the moment."""
    if kind == "arena":
        victims = [arena]
    elif kind == "worker":
        victims = workers(arena)
    else:
        victims = [e for w in workers(arena) for e in children(w) if is_engine(e)]
    if not victims:
        return False
    try:
        os.kill(rng.choice(victims), signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def rows(path: Path) -> dict[tuple[str, str, int], tuple[str, ...]]:
    """Read what must never change of each finished game."""
    if not path.exists():
        return {}
    connection = sqlite3.connect(path)
    try:
        found = connection.execute("SELECT a, b, number, moves, result, winner, started FROM games")
        return {(a, b, n): tuple(rest) for a, b, n, *rest in found}
    except sqlite3.OperationalError:
        return {}
    finally:
        connection.close()


def table(path: Path) -> object:
    """Read the final table without the times."""
    from tengen.arena import results_of
    from tengen.arena.database import reading
    from tengen.arena.export import results_value

    with reading(path) as database:
        value = results_value(results_of(database, resamples=50))
    for standing in value["standings"]:
        del standing["seconds_per_move"], standing["voids"]
    del value["faults"]
    return value


def test_twenty_kills_change_nothing(tmp_path) -> None:
    (tmp_path / "t.toml").write_text(config(games=30))
    assert start(tmp_path, "calm").wait(1200) == 0
    calm = rows(tmp_path / "calm.sqlite")
    assert len(calm) == 30 * (6 if GNUGO else 3)

    rng = random.Random(1)
    path = tmp_path / "wild.sqlite"
    arena = start(tmp_path, "wild")
    seen: dict[tuple[str, str, int], tuple[str, ...]] = {}
    for number in range(KILLS):
        kind = ("arena", "worker", "engine")[number % 3]
        # Some games have to end between two kills, or nothing ever would.
        wait_for_games(path, len(seen) + rng.randint(1, 6), arena)
        time.sleep(rng.random() * 0.5)
        while not kill_one(arena.pid, kind, rng):
            assert arena.poll() is None, "over before all were killed"
            time.sleep(0.02)
        if kind == "arena":
            arena.wait()
            arena = start(tmp_path, "wild")
        now = rows(path)
        assert all(now.get(key) == row for key, row in seen.items()), "a game was lost or replayed"
        seen = now
    assert arena.wait(1200) == 0
    final = rows(path)
    assert all(final[key] == row for key, row in seen.items())
    assert {k: v[:3] for k, v in final.items()} == {k: v[:3] for k, v in calm.items()}
    assert table(path) == table(tmp_path / "calm.sqlite")


def wait_for_games(path: Path, count: int, arena: subprocess.Popen[bytes]) -> None:
    """Wait until so many games are there."""
    deadline = time.monotonic() + 300
    while len(rows(path)) < count:
        assert arena.poll() is None, "over before all were killed"
        assert time.monotonic() < deadline
        time.sleep(0.05)
