"""Kill arena, review, laboratory and web server, or fill their disk: nothing is lost or doubled."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import killing_nodes
import killing_trainers
from results import different, files_of, games_of
from seen import Seen
from victims import Victim, kill_until_done, make_games, tengen

TESTS = Path(__file__).parents[1]
GNUGO = shutil.which("gnugo", path=os.environ.get("PATH", "") + ":/usr/games")


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


def attack_review(seen: Seen, kills: int, rng: random.Random, folder: Path) -> None:
    """Kill a review: the record is missing or complete."""
    moves = ";".join(
        f"{'BW'[i % 2]}[{'abcdefghi'[i * 4 % 9]}{'abcdefghi'[i // 2 % 9]}]" for i in range(18)
    )
    (folder / "game.sgf").write_text(f"(;SZ[9]KM[7.5];{moves})")

    def review(name: str) -> Victim:
        words = ("review", "game.sgf", "--out", f"{name}.sgf", "--quiet")
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


def attack_reviews(seen: Seen, kills: int, rng: random.Random, folder: Path) -> None:
    """Kill the review of many games with two workers, and its workers: the same files."""
    games = make_games(folder, 5, 30, ("maxlib", "random"))

    def reviews(name: str) -> Victim:
        judge = ("--player", "mcts", "--visits", 20)
        words = ("review", games, "--out", folder / name, *judge, "--workers", 2)
        return Victim(seen, tengen(*words, "--resume", "--quiet"), folder)

    span = reviews("calm").finish()
    calm, number = files_of(folder / "calm"), 0
    while seen.go_on(kills):
        name = f"wild-{number}"
        kinds = ("first", "first", "below", "all")
        kill_until_done(reviews(name), kills, rng, span / 2, kinds)
        if (found := files_of(folder / name)) != calm:
            seen.fault("other files", different(calm, found))
        number += 1


MAIN, WORK = 'if __name__ == "__main__":', "def work():"
AT_THE_END = """
if __name__ == "__main__":
    try:
        work()
    except (ValueError, OSError) as failure:
        print(f"tengen: {failure}", file=sys.stderr)
        sys.exit(1)
"""


def attack_lab(seen: Seen, kills: int, rng: random.Random, folder: Path) -> None:
    """Kill a small laboratory with two workers: a training, a table and a breeding."""
    sys.path.insert(0, str(TESTS / "lab"))
    from test_resume import SCRIPT, numbers, page

    script = folder / "laboratory.py"
    # What the command line says of a full disk, it says of every command.
    script.write_text(SCRIPT.replace(MAIN, WORK) + AT_THE_END)
    steps = ("opening-td", "opening-td-inputs", "opening-evolution")
    span = Victim(seen, [sys.executable, script, folder / "calm", *steps], folder).finish()
    number = 0
    while seen.go_on(kills):
        wild = folder / f"wild-{number}"
        victim = Victim(seen, [sys.executable, script, wild, *steps], folder)
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
        words = ("web", "--no-browser", "--port", port, "--database", folder / f"{name}.sqlite")
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
    client.post("/api/reviews?name=a.sgf&visits=50", content=sgf)
    expected = reviewed(client)
    calm.kill("first", rng)
    seen.tried = 0
    victim, port = server("wild")
    client = listening(victim, port)
    client.post("/api/reviews?name=a.sgf&visits=50", content=sgf)
    game = client.post("/api/games", json={"size": 9, "opponent": "level-1"}).json()
    kept: list[Any] = []
    while seen.go_on(kills):
        if len(kept) > 60:
            game, kept = client.post("/api/games", json={"size": 9}).json(), []
        for full in (False, True) if seen.fills else (False,):
            if full:
                assert victim.process is not None
                room = 1, resource.RLIM_INFINITY
                resource.prlimit(victim.process.pid, resource.RLIMIT_FSIZE, room)
            deadline = time.monotonic() + 4 * rng.random()
            while time.monotonic() < deadline:
                kept = play(client, game["id"], kept, rng, seen)
        victim.kill("first" if seen.fills else rng.choice(("first", "first", "below")), rng)
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


_BOTH: dict[str, Callable[[Seen, int, random.Random, Path], None]] = {
    "arena": attack_arena,
    "reviews": attack_reviews,
    "lab": attack_lab,
    "web": attack_web,
    **killing_trainers.ATTACKS,
}
ATTACKS = {
    "kill review": attack_review,
    **{f"kill {name}": attack for name, attack in _BOTH.items()},
    **{f"full disk: {name}": attack for name, attack in _BOTH.items()},
    **killing_nodes.ATTACKS,
}
