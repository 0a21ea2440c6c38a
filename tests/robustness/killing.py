"""Kill what works at random moments and let it go on: the end must be that of undisturbed work.

Mostly the first process is killed alone, and what it started has to go by itself; sometimes a
worker or an engine, sometimes all at once. Processes are known by a word in their environment, so
that none hides in a group of its own. For Linux.
"""

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
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from seen import Seen

TESTS = Path(__file__).parents[1]
GNUGO = shutil.which("gnugo", path=os.environ.get("PATH", "") + ":/usr/games")
WORD = "TENGEN_ATTACK"
GONE = 15.0
"""Seconds within which what a killed process started must be gone."""
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

    def start(self) -> subprocess.Popen[bytes]:
        """Start it."""
        with (self.folder / "errors").open("ab") as errors:
            self.process = subprocess.Popen(
                self.command,
                cwd=self.folder,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env={**os.environ, WORD: self.mark, "TENGEN_QUIET": "1"},
                start_new_session=True,
            )
        return self.process

    def finish(self) -> float:
        """Let it end by itself; return its seconds."""
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
        """List the processes that it started, directly or not, and itself."""
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
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                self.seen.fault("left behind", words)
                os.kill(pid, signal.SIGKILL)

    def errors(self) -> str:
        """Return the last of what it said."""
        return (self.folder / "errors").read_text(errors="replace")[-1500:]


def end_victims() -> None:
    """End what an attack that broke off left running."""
    for victim in Victim.every:
        for pid in victim.left():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def kill_until_done(
    victim: Victim,
    kills: int,
    rng: random.Random,
    span: float,
    kinds: Sequence[str] = ("first",),
    look: Callable[[], None] = lambda: None,
) -> None:
    """Start and kill within a span of seconds until it is done or was killed often enough.

    `look` is called after each kill.
    """
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


def tengen(*words: object) -> list[object]:
    """Return a command of the command line."""
    return [sys.executable, "-c", START, *words]


def make_games(folder: Path, size: int, games: int, players: tuple[str, str]) -> Path:
    """Make games to learn from: two players of ours, finished and counted."""
    base, out = folder / "made.sqlite", folder / "made.sgf"
    match = tengen("arena", "match", *players, "--size", size, "--games", games, "--out", base)
    subprocess.run([*map(str, match), "--quiet", "--json"], check=True, capture_output=True)
    export = tengen("arena", "export", base, "--out", out)
    subprocess.run([*map(str, export)], check=True, capture_output=True)
    return out


# ----- Trainers -----

NETWORK_START = f"import tengen.learners.deep_network.fitting as f; f.SAVE_SECONDS = 1.0; {START}"


def trainers(games: Path) -> dict[str, Callable[[Path], list[object]]]:
    """Return the small training of each learner, to be given its folder."""

    def run(folder: Path, *words: object) -> list[object]:
        return tengen(*words, "--out", folder, "--resume", "--quiet")

    def file_run(folder: Path, *words: object) -> list[object]:
        where = ("--out", folder / "model.safetensors", "--run", folder, "--resume", "--quiet")
        return tengen(*words, *where)

    evolution = ("--network", "spatial", "--size", 7, "--moves", 6, "--population", 6)
    network = ("--design", "tiny", "--batch", 16, "--device", "cpu", "--scorer", "none")
    return {
        "opening-evolution": lambda f: run(
            f, "opening-evolution", "train", *evolution, "--generations", 200, "--snapshot-every", 5
        ),
        "opening-td": lambda f: run(
            f, "opening-td", "train", "--size", 5, "--plies", 6, "--hidden", 3, "--games", 2000,
            "--curve-every", 100, "--curve-games", 4, "--expert", "playouts:1",
        ),
        "symmetry-network": lambda f: run(
            f, "symmetry-network", "train", "--size", 5, "--games", 1000, "--batch", 20,
            "--checkpoint-every", 50,
        ),
        "scoring": lambda f: run(
            f, "scoring", "train", games, "--members", 2, "--hidden", 4, "--epochs", 60
        ),
        "move-prediction": lambda f: file_run(
            f, "move-prediction", "train", games, "--size", 7, "--share", 0.5, "--minimum", 3,
            "--passes", 4,
        ),
        "network": lambda f: [
            sys.executable, "-c", NETWORK_START,
            *file_run(f, "network", "train", games, *network, "--steps", 60)[3:],
        ],
    }  # fmt: skip


def training_of(folder: Path) -> dict[str, Any]:
    """Return what a training has made: tensors and rows."""
    from tengen.models import load_model, read_metrics

    found: dict[str, Any] = {"rows": read_metrics(folder)}
    for path in sorted(folder.glob("*.safetensors")):
        for name, array in load_model(path)[0].items():
            found[f"{path.name}/{name}"] = array
    return found


def attack_trainer(name: str) -> Callable[[Seen, int, random.Random, Path], None]:
    """Make the attack on one learner's training."""

    def attack(seen: Seen, kills: int, rng: random.Random, folder: Path) -> None:
        games = make_games(folder, 7, 80, ("maxlib", "random"))
        make = trainers(games)[name]
        span = Victim(seen, make(folder / "calm"), folder).finish()
        calm = training_of(folder / "calm")
        number = 0
        while seen.go_on(kills):
            wild = folder / f"wild-{number}"
            kill_until_done(Victim(seen, make(wild), folder), kills, rng, span)
            found = training_of(wild)
            if calm.keys() != found.keys():
                seen.fault("other results", sorted(calm.keys() ^ found.keys()))
            elif not all(np.array_equal(calm[key], found[key]) for key in calm):
                seen.fault(
                    "other results", [k for k in calm if not np.array_equal(calm[k], found[k])]
                )
            number += 1

    return attack


# ----- The arena -----


def attack_arena(seen: Seen, kills: int, rng: random.Random, folder: Path) -> None:
    """Kill a tournament with engines and two workers, its workers, and its engines."""
    toy = TESTS / "arena" / "toy_engine.py"
    players = {
        "toy": f"gtp:{sys.executable} -S {toy} --delay 0.03",
        "maxlib": "maxlib",
        "search": "mcts:playouts=20",
    }
    if GNUGO:
        players["gnugo"] = f"gtp:{GNUGO} --mode gtp --level 0 --chinese-rules --capture-all-dead"
    lines = ['kind = "round-robin"', "games = 20", "size = 5", "seed = 8", "max_failures = 99"]
    for name, spec in players.items():
        lines += [f"[players.{name}]", f"spec = {json.dumps(spec)}"]
    (folder / "t.toml").write_text("\n".join(lines))
    seen.note = "with GNU Go" if GNUGO else "without GNU Go"

    def run(name: str) -> Victim:
        words = ("arena", "run", folder / "t.toml", "--out", folder / f"{name}.sqlite")
        return Victim(seen, tengen(*words, "--workers", 2, "--quiet", "--json"), folder)

    span = run("calm").finish()
    calm, number = games_of(folder / "calm.sqlite"), 0
    while seen.go_on(kills):
        path = folder / f"wild-{number}.sqlite"
        before: dict[Any, Any] = {}

        def look(path: Path = path, before: dict[Any, Any] = before) -> None:
            now = games_of(path)
            if any(now.get(key) != row for key, row in before.items()):
                seen.fault("a game was lost or played again")
            before.update(now)

        kinds = ("first", "below", "below", "all")
        kill_until_done(run(f"wild-{number}"), kills, rng, span / 6, kinds, look)
        look()
        found = games_of(path)
        if {k: v[:-1] for k, v in found.items()} != {k: v[:-1] for k, v in calm.items()}:
            seen.fault("other games")
        number += 1


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


# ----- Review, laboratory, web -----


def attack_review(seen: Seen, kills: int, rng: random.Random, folder: Path) -> None:
    """Kill a review: there is nothing of it, or all."""
    moves = ";".join(
        f"{'BW'[i % 2]}[{'abcdefghi'[i * 4 % 9]}{'abcdefghi'[i // 2 % 9]}]" for i in range(18)
    )
    (folder / "game.sgf").write_text(f"(;SZ[9]KM[7.5];{moves})")

    def review(name: str) -> Victim:
        words = ("review", "game.sgf", "--out", f"{name}.sgf", "--playouts", 200, "--quiet")
        return Victim(seen, tengen(*words), folder)

    span = review("calm").finish()
    calm = (folder / "calm.sgf").read_bytes()
    number = 0
    while seen.go_on(kills):
        victim = review(f"wild-{number}")
        sgf = folder / f"wild-{number}.sgf"
        process = victim.start()
        with suppress(subprocess.TimeoutExpired):
            process.wait(rng.random() * span)
        if process.poll() is None:
            victim.kill("first", rng)
        if sgf.exists() and sgf.read_bytes() != calm:
            seen.fault("other review")
        if list(folder.glob(".*.tmp")) and process.returncode == 0:
            seen.fault("half-written files", list(folder.glob(".*.tmp")))
        number += 1
    review("last").finish()
    if (folder / "last.sgf").read_bytes() != calm:
        seen.fault("other review")


def attack_lab(seen: Seen, kills: int, rng: random.Random, folder: Path) -> None:
    """Kill a small laboratory with all kinds of steps and two workers."""
    sys.path.insert(0, str(TESTS / "lab"))
    from test_resume import SCRIPT, numbers, page

    script = folder / "laboratory.py"
    script.write_text(SCRIPT)
    span = Victim(seen, [sys.executable, script, folder / "calm"], folder).finish()
    number = 0
    while seen.go_on(kills):
        wild = folder / f"wild-{number}"
        victim = Victim(seen, [sys.executable, script, wild], folder)
        kill_until_done(victim, kills, rng, span / 2, ("first", "first", "below", "all"))
        if numbers(wild) != numbers(folder / "calm"):
            seen.fault("other numbers")
        for name in ("report.html", "results.md"):
            if page(wild, name) != page(folder / "calm", name):
                seen.fault("another page", name)
        number += 1


def attack_web(seen: Seen, kills: int, rng: random.Random, folder: Path) -> None:
    """Kill the web server while games are played and reviewed: what was answered stays."""
    import httpx

    sgf = b"".join(b"(;SZ[5]KM[0.5];B[cc];W[b%c];B[cb])" % letter for letter in b"bcd")

    def listening(victim: Victim, port: int) -> httpx.Client:
        victim.start()
        client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)
        deadline = time.monotonic() + 400
        while time.monotonic() < deadline:
            with suppress(httpx.HTTPError):
                client.get("/api/games")
                return client
            time.sleep(0.1)
        raise AssertionError(victim.errors())

    def server(name: str) -> tuple[Victim, int]:
        import socket

        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        words = ("web", "--no-browser", "--port", port, "--games", folder / f"{name}.sqlite")
        return Victim(seen, tengen(*words, "--runs", folder / "runs"), folder), port

    def reviewed(client: httpx.Client) -> list[Any]:
        deadline = time.monotonic() + 600
        while time.monotonic() < deadline:
            entries = client.get("/api/reviews").json()
            if all(entry["status"] == "done" for entry in entries):
                texts = [client.get(f"/api/reviews/{e['id']}/csv").text for e in entries]
                return sorted(texts)
            time.sleep(0.2)
        seen.fault("reviews are not done", entries)
        return []

    calm, port = server("calm")
    client = listening(calm, port)
    client.post("/api/reviews?name=a.sgf&playouts=400", content=sgf)
    expected = reviewed(client)
    calm.kill("first", rng)
    seen.tried = 0
    victim, port = server("wild")
    client = listening(victim, port)
    client.post("/api/reviews?name=a.sgf&playouts=400", content=sgf)
    game = client.post("/api/games", json={"size": 9, "opponent": "level-1"}).json()
    kept: list[Any] = []
    while seen.go_on(kills):
        deadline = time.monotonic() + 4 * rng.random()
        while time.monotonic() < deadline:
            kept = play(client, game["id"], kept, rng, seen)
        victim.kill(rng.choice(("first", "first", "below")), rng)
        if victim.process is not None and victim.process.poll() is not None:
            client = listening(victim, port)
    if reviewed(client) != expected:
        seen.fault("other reviews")
    play(client, game["id"], kept, rng, seen)
    victim.kill("first", rng)
    seen.tried -= 1


def play(client: Any, key: str, kept: list[Any], rng: random.Random, seen: Seen) -> list[Any]:
    """Look whether the moves that were answered are there; play another one; return the moves."""
    state = client.get(f"/api/games/{key}").json()
    moves = state["moves"]
    if moves[: len(kept)] != kept:
        seen.fault("moves were lost", (kept, moves))
    vertex = f"{rng.choice('ABCDEFGHJ')}{rng.randint(1, 9)}"
    answer = client.post(f"/api/games/{key}/moves", json={"move": vertex})
    time.sleep(0.05)
    return answer.json()["moves"] if answer.status_code == 200 else moves


# ----- Ray -----


@contextmanager
def two_nodes() -> Iterator[tuple[Any, Any]]:
    """Run a cluster of two nodes on this machine."""
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    second = cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    try:
        yield cluster, second
    finally:
        ray.shutdown()
        cluster.shutdown()


def attack_ray(seen: Seen, kills: int, rng: random.Random, folder: Path) -> None:
    """Kill one of two nodes in the middle of a tournament."""
    sys.path.insert(0, str(TESTS / "arena"))
    from test_ray import Killer

    from conftest import make_tournament
    from tengen.arena import Database, run_tournament

    whole = make_tournament(games=20, conditions={"rows": 13, "cols": 13})
    with Database.open(None, whole) as database:
        run_tournament(whole, database)
        expected = {row.key: (row.moves, row.result) for row in database.games()}
    while seen.go_on(kills):
        number = seen.tried
        with two_nodes() as nodes, Database.open(folder / f"{number}.sqlite", whole) as database:
            run_tournament(whole, database, ray="auto", listener=Killer(*nodes))
            found = {row.key: (row.moves, row.result) for row in database.games()}
        seen.tried += 1
        if found != expected:
            seen.fault("other games")


ATTACKS: dict[str, Callable[[Seen, int, random.Random, Path], None]] = {
    "kill arena": attack_arena,
    "kill review": attack_review,
    "kill lab": attack_lab,
    "kill web": attack_web,
    "kill Ray node": attack_ray,
    **{f"kill {name}": attack_trainer(name) for name in trainers(Path())},
}
