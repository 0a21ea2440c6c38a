"""Kill arena, review, laboratory, web server and trainers, or fill their disk: nothing is lost."""

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

from seen import Seen
from victims import (
    START,
    Victim,
    compare,
    files_of,
    games_of,
    make_games,
    start_server,
    tengen,
    training_of,
    wait_for_server,
)

TESTS = Path(__file__).parents[1]
MOSTLY_FIRST = ("first", "first", "below", "all")
SELF_PLAY = (
    "train", "self-play", "--size", 5, "--design", "tiny", "--games", 8, "--evaluations", 4,
    "--considered", 2, "--batch", 16, "--window", 1000, "--warm-up", 5, "--komi", 1,
    "--device", "cpu",
)  # fmt: skip
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
    before: dict[Path, dict[Any, Any]] = {}

    def run(path: Path) -> list[object]:
        words = ("arena", "run", folder / "t.toml", "--out", path, "--workers", 2)
        return tengen(*words, "--quiet", "--json")

    def look(path: Path) -> None:
        now = games_of(path)
        if before.get(path, {}).items() - now.items():
            seen.fault("a game was lost or played again")
        before[path] = now

    def read(path: Path) -> dict[Any, Any]:
        look(path)
        return {key: row[:-1] for key, row in games_of(path).items()}

    kinds = ("first", "below", "below", "all")
    compare(seen, kills, rng, folder, run, read, parts=6, kinds=kinds, look=look)


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

    def command(path: Path) -> list[object]:
        words = ("review", games, "--out", path, "--player", "mcts", "--visits", 20)
        return tengen(*words, "--workers", 2, "--resume", "--quiet")

    compare(seen, kills, rng, folder, command, files_of, parts=2, kinds=MOSTLY_FIRST)


LABORATORY = """
import sys
from pathlib import Path
from tengen.lab import experiments
from tengen.lab.steps import LabContext, run_steps

SIZES = {
    "opening-td": "games=60; seeds=1",
    "opening-evolution": "generations=4; seeds=1; starts=2",
    "opening-evolution-dense": "generations=4; every=2; seeds=1; starts=2",
}
if __name__ == "__main__":
    folder = Path(sys.argv[1])
    known = {each.name: each for each in experiments()}
    steps = [known[name].step("quick", size.split("; ")) for name, size in SIZES.items()]
    try:
        run_steps(steps, LabContext(folder, 7, 2))
    except (ValueError, OSError) as failure:  # a full disk, as the command line says it
        print(f"tengen: {failure}", file=sys.stderr)
        sys.exit(1)
"""


def attack_lab(seen: Seen, kills: int, rng: random.Random, folder: Path) -> None:
    """Kill a small laboratory with two workers: it ends with the same rows."""
    script = folder / "laboratory.py"
    script.write_text(LABORATORY)

    def read(path: Path) -> dict[str, Any]:
        return {
            str(file.relative_to(path)): file.read_bytes()
            for file in sorted((path / "data").rglob("rows.csv.gz"))
        }

    run = lambda path: [sys.executable, script, path]  # noqa: E731
    compare(seen, kills, rng, folder, run, read, parts=2, kinds=MOSTLY_FIRST)


def attack_web(seen: Seen, kills: int, rng: random.Random, folder: Path) -> None:
    """Kill the web server while games are played and reviewed: what was answered stays."""
    sgf = b"".join(b"(;SZ[5]KM[0.5];B[cc];W[b%c];B[cb])" % letter for letter in b"bcd")

    def reviewed(client: Any) -> list[Any]:
        deadline = time.monotonic() + 600
        while time.monotonic() < deadline:
            entries = client.get("/api/reviews").json()
            if all(entry["status"] == "done" for entry in entries):
                texts = [client.get(f"/api/reviews/{e['id']}/csv").text for e in entries]
                return sorted(texts)
            time.sleep(0.2)
        seen.fault("reviews are not done", entries)
        return []

    calm, client = start_server(seen, folder, "calm")
    client.post("/api/reviews?name=a.sgf&visits=50", content=sgf)
    expected = reviewed(client)
    calm.kill("first", rng)
    seen.tried = 0
    victim, client = start_server(seen, folder, "wild")
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
            victim.start()
            wait_for_server(victim, client)
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


Attack = Callable[[Seen, int, random.Random, Path], None]


def often(module: str, *words: object, **others: object) -> list[object]:
    """Return a command that saves its state every second; `others` are settings of the module."""
    changes = [f"m.{name} = {value}" for name, value in {"SAVE_SECONDS": 1.0, **others}.items()]
    start = f"import tengen.{module} as m; {'; '.join(changes)}; {START}"
    return [sys.executable, "-c", start, *words]


def trainers(games: Path) -> dict[str, Callable[[Path], list[object]]]:
    """Return the small training of each learner, to be given its folder."""

    def run(folder: Path, *words: object) -> list[object]:
        return tengen(*words, "--out", folder, "--resume", "--quiet")

    def file_run(folder: Path, *words: object) -> list[object]:
        where = ("--out", folder / "model.safetensors", "--run", folder, "--resume", "--quiet")
        return tengen(*words, *where)

    def self_play(folder: Path, *words: object) -> list[object]:
        return often("self_play.training", *run(folder, *SELF_PLAY, *words)[3:])

    evolution = ("--network", "spatial", "--size", 7, "--moves", 6, "--population", 6)
    network = ("--design", "tiny", "--batch", 16, "--device", "cpu", "--scorer", "none")
    return {
        "opening-evolution": lambda f: run(
            f, "train", "opening-evolution", *evolution, "--generations", 200, "--snapshot-every", 5
        ),
        "opening-td": lambda f: run(
            f, "train", "opening-td", "--size", 5, "--plies", 6, "--hidden", 3, "--games", 2000,
            "--curve-every", 100, "--curve-games", 4, "--expert", "playouts:1",
        ),
        "symmetry-network": lambda f: run(
            f, "train", "symmetry-network", "--size", 5, "--games", 1000, "--batch", 20,
            "--checkpoint-every", 50,
        ),
        "scoring": lambda f: run(
            f, "train", "scoring", games, "--members", 2, "--hidden", 4, "--epochs", 60
        ),
        "move-prediction": lambda f: file_run(
            f, "train", "move-prediction", games, "--size", 7, "--minimum", 3, "--passes", 60,
        ),
        "network": lambda f: often(
            "network.training",
            *file_run(f, "train", "network", games, *network, "--steps", 200)[3:], LOG_EVERY=20,
        ),
        "self-play": lambda f: self_play(f, "--positions", 1500),
        "self-play with workers": lambda f: self_play(
            f, "--positions", 1500, "--pieces", 2, "--workers", 2
        ),
    }  # fmt: skip


def attack_trainer(name: str) -> Attack:
    """Make the attack on one learner's training: weights and rows stay those of calm work."""

    def attack(seen: Seen, kills: int, rng: random.Random, folder: Path) -> None:
        states = 0

        def look(path: Path) -> None:
            nonlocal states
            states += any((*path.glob("checkpoints/*.safetensors"), *path.glob("features.npz")))
            # A kill before the first state tries the start anew, one after it the resumption.
            seen.note = f"{states} with a state to go on from"

        make = trainers(make_games(folder, 7, 80, ("maxlib", "random")))[name]
        kinds = MOSTLY_FIRST if name == "self-play with workers" else ("first",)
        compare(seen, kills, rng, folder, make, training_of, kinds=kinds, look=look)

    return attack


_BOTH: dict[str, Attack] = {
    "arena": attack_arena,
    "reviews": attack_reviews,
    "lab": attack_lab,
    "web": attack_web,
    **{name: attack_trainer(name) for name in trainers(Path())},
}
ATTACKS = {
    "kill review": attack_review,
    **{f"kill {name}": attack for name, attack in _BOTH.items()},
    **{f"full disk: {name}": attack for name, attack in _BOTH.items()},
}
