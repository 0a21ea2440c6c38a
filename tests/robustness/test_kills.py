"""Commands that are killed, or whose disk is full, end with the results of an undisturbed run.

Mostly the first process alone is killed, so that workers and engines must end by themselves.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.needs import need

from tengen.arena import Database
from tengen.cli import run
from tengen.models import load_model, read_metrics

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes as Linux does"),
]
resource = pytest.importorskip("resource")
TIMES = 3  # kills and full disks of each command
UNLIMITED = resource.RLIM_INFINITY
MARK = "TENGEN_WORK_OF_A_TEST"
TOY = Path(__file__).parents[1] / "arena" / "toy_engine.py"
Command = Callable[[Path], Sequence[object]]
Read = Callable[[Path], dict[Any, Any]]


class Work:
    """A command that is started, and started again, until it is done."""

    def __init__(self, command: Sequence[object]) -> None:
        self.command = list(map(str, command))
        self.mark = uuid.uuid4().hex

    def start(self, room: int = UNLIMITED) -> subprocess.Popen[str]:
        """Start it; with `room`, no file may grow beyond so many bytes, as on a full disk."""
        return subprocess.Popen(
            self.command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, UNLIMITED)),
            # Half of a module's bytecode would go unnoticed.
            env={**os.environ, MARK: self.mark, "OMP_NUM_THREADS": "1",
                 "TENGEN_QUIET": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip

    def running(self) -> list[psutil.Process]:
        """Return its processes, found by a word in their environment, so that none hides."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.status() != psutil.STATUS_ZOMBIE:
                    found += [process] if process.environ().get(MARK) == self.mark else []
            except psutil.Error:
                continue
        return found

    def check_gone(self) -> None:
        deadline = time.monotonic() + 60
        while (left := self.running()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not left

    def finish(self) -> float:
        """Let it end by itself; return the seconds it took."""
        begun = time.monotonic()
        process = self.start()
        _, said = process.communicate(timeout=1200)
        assert process.returncode == 0, said
        self.check_gone()
        return time.monotonic() - begun

    def is_done_before_a_kill(self, rng: random.Random, span: float) -> bool:
        """Start it, and kill it or one of its workers within the span of seconds."""
        process = self.start()
        try:
            _, said = process.communicate(timeout=rng.random() * span)
        except subprocess.TimeoutExpired:
            below = [each for each in self.running() if each.pid != process.pid]
            if below and rng.random() < 0.4:
                rng.choice(below).kill()
                _, said = process.communicate(timeout=1200)
            else:
                process.kill()
                process.communicate(timeout=60)
                self.check_gone()
                return False
        assert process.returncode == 0, said
        return True

    def is_done_on_a_full_disk(self, room: int) -> bool:
        """Start it with little room; it ends, or fails in one line."""
        process = self.start(room)
        _, said = process.communicate(timeout=1200)
        assert process.returncode == 0 or (process.returncode, said.count("\n")) == (1, 1), said
        self.check_gone()
        return process.returncode == 0


def tengen(*words: object) -> list[object]:
    return [sys.executable, "-m", "tengen", *words]


def saving_often(module: str, words: list[object]) -> list[object]:
    """Return a command that saves its state every second."""
    program = f"import tengen.{module} as m; m.SAVE_SECONDS = 1.0; from tengen.cli import main"
    return [sys.executable, "-c", f"{program}; main()", *words[3:]]


def made_games(folder: Path) -> Path:
    """Make games to learn from: two players of ours, finished and counted."""
    base, out = str(folder / "made.sqlite"), folder / "made.sgf"
    match = "arena match maxlib random --size 7 --games 80 --quiet --out"
    assert run([*match.split(), base]) == 0
    assert run(["arena", "export", base, "--out", str(out)]) == 0
    return out


def training(folder: Path) -> dict[Any, Any]:
    """Return the rows and the tensors that a training has made."""
    found: dict[Any, Any] = {"rows": read_metrics(folder)}
    for path in sorted(folder.rglob("*.safetensors")):
        if path.parent.name != "checkpoints":
            for name, tensor in load_model(path)[0].items():
                found[path.relative_to(folder), name] = tensor.tobytes()
    return found


def trainer(words: str, module: str = "", model: bool = False) -> Callable[[Path], Command]:
    """Return a small training; GAMES stands for a file of games."""

    def commands(place: Path) -> Command:
        games = made_games(place) if "GAMES" in words else place

        def command(folder: Path) -> list[object]:
            out = (folder / "model.safetensors", "--run", folder) if model else (folder,)
            given = [games if word == "GAMES" else word for word in words.split()]
            made = tengen("train", *given, "--resume", "--quiet", "--out", *out)
            return saving_often(module, made) if module else made

        return command

    return commands


def tournament(place: Path) -> Command:
    players = {"toy": f"gtp:{sys.executable} -S {TOY} --delay 0.03", "maxlib": "maxlib",
               "search": "mcts:playouts=20"}  # fmt: skip
    lines = ['kind = "round-robin"', "games = 8", "size = 5", "seed = 8", "max_failures = 99"]
    for name, spec in players.items():
        lines += [f"[players.{name}]", f"spec = {json.dumps(spec)}"]
    (place / "t.toml").write_text("\n".join(lines))
    words = ("arena", "run", place / "t.toml", "--workers", 2, "--quiet", "--json", "--out")
    return lambda folder: tengen(*words, folder / "t.sqlite")


def games_of(folder: Path) -> dict[Any, Any]:
    with Database.look(folder / "t.sqlite") as database:
        return {row.key: (row.moves, row.result, row.winner) for row in database.games()}


def reviews(place: Path) -> Command:
    words = ("review", made_games(place), "--player", "mcts", "--visits", 5, "--workers", 2)
    return lambda folder: tengen(*words, "--resume", "--quiet", "--out", folder)


def experiment(place: Path) -> Command:
    size = ("--set", "games=60", "--set", "trainings=1", "--set", "curve_every=20")
    words = ("lab", "opening-td", *size, "--workers", 2, "--seed", 7)
    return lambda folder: tengen(*words, "--out", folder)


def files_of(pattern: str) -> Read:
    """Return a reader of the files of a folder but locks."""
    return lambda folder: {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob(pattern)
        if path.is_file() and path.name != ".lock"
    }


SELF_PLAY = (
    "self-play --size 5 --design tiny --games 8 --evaluations 4 --considered 2 --batch 16 "
    "--window 1000 --warm-up 5 --komi 1 --device cpu --positions 1500"
)
NETWORK = "network GAMES --design tiny --batch 16 --device cpu --scorer none --steps 200"
WORKS: dict[str, tuple[Callable[[Path], Command], Read]] = {
    "arena": (tournament, games_of),
    "reviews": (reviews, files_of("*")),
    "lab": (experiment, files_of("rows.csv.gz")),
    "opening-evolution": (trainer("opening-evolution --network spatial --size 7 --moves 6 "
        "--population 6 --generations 200 --snapshot-every 5"), training),
    "opening-td": (trainer("opening-td --size 5 --plies 6 --hidden 3 --games 2000 "
        "--curve-every 100 --curve-games 4 --expert playouts:1"), training),
    "symmetry-network": (trainer("symmetry-network --size 5 --games 1000 --batch 20 "
        "--checkpoint-every 50"), training),
    "scoring": (trainer("scoring GAMES --members 2 --hidden 4 --epochs 60"), training),
    "move-prediction": (
        trainer("move-prediction GAMES --size 7 --minimum 3 --passes 60", model=True), training),
    "network": (trainer(NETWORK, "network.training", model=True), training),
    "self-play": (trainer(SELF_PLAY, "self_play.training"), training),
    "self-play with workers": (
        trainer(f"{SELF_PLAY} --pieces 2 --workers 2", "self_play.training"), training),
}  # fmt: skip


@pytest.fixture
def work_on() -> Iterator[Callable[[Sequence[object]], Work]]:
    """Make works; what is left of them ends with the test."""
    made: list[Work] = []

    def make(command: Sequence[object]) -> Work:
        made.append(Work(command))
        return made[-1]

    yield make
    for process in [each for work in made for each in work.running()]:
        process.kill()


@pytest.mark.parametrize("name", WORKS)
def test_kills_and_full_disks_change_nothing(
    name: str, tmp_path: Path, work_on: Callable[[Sequence[object]], Work]
) -> None:
    if name.startswith(("network", "self-play")):
        need("torch")
    make, read = WORKS[name]
    command, rng = make(tmp_path), random.Random(2)
    calm, killed, full = (tmp_path / each for each in ("calm", "killed", "full"))
    for folder in (calm, killed, full):
        folder.mkdir()
    span = work_on(command(calm)).finish()
    expected = read(calm)

    work = work_on(command(killed))
    for _ in range(TIMES):
        if work.is_done_before_a_kill(rng, span / 2):
            break
    work.finish()
    assert read(killed) == expected

    work = work_on(command(full))
    for _ in range(TIMES):
        if work.is_done_on_a_full_disk(int(10 ** rng.uniform(3.7, 5.7))):
            break
    work.finish()
    assert read(full) == expected
