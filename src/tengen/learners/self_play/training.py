"""Carry self-play from nothing to a network, with rows, states and snapshots on the way.

    FOLDER/config.toml, metrics.jsonl, checkpoints/   as in every run, see `models.runs`
    FOLDER/clock.jsonl       when each row was written: {"step": 40, "seconds": 61.2}
    FOLDER/snapshots/        the network at every twentieth of the run, for the ladder of itself
    FOLDER/model.safetensors the network at the end

A checkpoint holds the weights, the optimizer, the games under way and the window (see `docs`); on
one processor a stopped run goes on exactly, bit for bit.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tengen.errors import RunError, SpecError
from tengen.files import write_atomic
from tengen.learners.network import DeepNetwork
from tengen.learners.network.fitting import chosen_device, torch_or_refuse
from tengen.learners.self_play.parallel_games import Tally
from tengen.learners.self_play.settings import SelfPlaySettings, design_of
from tengen.models.runs import Run, read_metrics, read_run
from tengen.models.settings import fields_of
from tengen.parallel import Team

if TYPE_CHECKING:
    from tengen.learners.self_play.loop import Loop

LEARNER = "self-play"
CLOCK, MODEL = "clock.jsonl", "model.safetensors"
_ROWS, _SNAPSHOTS = 200, 20
"""Rows of metrics and snapshots in a run."""
SAVE_SECONDS = 60.0
"""A killed run loses no more than this, and the work of one row."""
_WINDOW_ON_DISK = 500_000
"""Positions of each window that a state keeps; a larger window fills again after a resumption."""


def train(
    settings: SelfPlaySettings,
    run: Run[SelfPlaySettings],
    *,
    device: str = "cpu",
    start: DeepNetwork | None = None,
    workers: int = 1,
    ray: str | None = None,
    on_report: Callable[[dict[str, Any]], None] = lambda row: None,
) -> DeepNetwork:
    """Play and learn until the run is done, from where it stands; return the network."""
    check(settings, device=device, start=start, alone=workers == 1 and ray is None)
    with _opened_loop(settings, device, workers, ray) as loop:
        if start is not None:
            loop.pupil.load_weights(start.weights_)
        return _carry_on(loop, settings, run, on_report)


def _carry_on(
    loop: Loop,
    settings: SelfPlaySettings,
    run: Run[SelfPlaySettings],
    on_report: Callable[[dict[str, Any]], None],
) -> DeepNetwork:
    """Play and learn on from the run's last state."""
    clock = _Clock(run.folder / CLOCK)
    if run.start is not None:
        loop.restore(run.start.arrays, run.start.state["counts"])
        clock.resume(run.start.state["seconds"], run.start.step)
    reporter = _Reporter(loop)
    done = _progress(settings, loop, clock)
    while done < 1:
        loop.advance(done)
        after = _progress(settings, loop, clock)
        if int(after * _ROWS) > int(done * _ROWS) or after >= 1:
            row = reporter.row()
            run.note(loop.rounds, **row)
            clock.note(loop.rounds)
            on_report({**row, **reporter.pace(clock.seconds, after)})
            if int(after * _SNAPSHOTS) > int(done * _SNAPSHOTS) or after >= 1:
                _save(loop, run.snapshot(loop.rounds), settings)
            if run.due(SAVE_SECONDS) or after >= 1:
                state = {"counts": loop.counts(), "seconds": clock.seconds}
                run.save(loop.rounds, loop.tensors(_WINDOW_ON_DISK), state)
        done = after
    return _save(loop, run.folder / MODEL, settings)


def check(
    settings: SelfPlaySettings, *, device: str, start: DeepNetwork | None, alone: bool = True
) -> None:
    """Refuse what cannot be trained here, before a folder is made for it.

    Raises
    ------
    SpecError
        For a missing GPU, workers that would share one, or a start of another shape.
    """
    if chosen_device(device) != "cpu" and not alone:
        raise SpecError(f"device {device}: worker processes need the device cpu")
    if start is not None and replace(start.design_, ladders=False) != design_of(settings):
        raise SpecError(f"start: the network's design is not {settings.design}")


@contextmanager
def _opened_loop(
    settings: SelfPlaySettings, device: str, workers: int, ray: str | None
) -> Iterator[Loop]:
    """Make a loop; workers, if there are any, stay until it is left."""
    torch = torch_or_refuse()
    from tengen.learners.self_play.loop import make_loop, make_remote_loop, play_piece

    if workers == 1 and ray is None:
        yield make_loop(settings, torch.device(chosen_device(device)))
        return
    with Team(play_piece, workers=workers, ray=ray) as team:
        yield make_remote_loop(settings, team)


def _progress(settings: SelfPlaySettings, loop: Loop, clock: _Clock) -> float:
    """Return how much of the run is done."""
    if settings.minutes:
        return min(1.0, clock.seconds / (60 * settings.minutes))
    return min(1.0, loop.moves / settings.positions)


def _save(loop: Loop, path: Path, settings: SelfPlaySettings) -> DeepNetwork:
    """Write the network as it is now and return it."""
    from tengen.learners.network.torch_network import network_arrays

    network = DeepNetwork()
    network.design_ = design_of(settings)
    arrays = network_arrays(loop.pupil.network)
    network.weights_ = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    games = sum(room.games.tally.games for room in loop.rooms)
    sizes = " and ".join(f"{lines}x{lines}" for lines in settings.size)
    path.parent.mkdir(parents=True, exist_ok=True)
    data = f"{games} games against itself on {sizes}"
    boards = [(lines, lines) for lines in settings.size]
    network.save(path, name=path.stem, data=data, remake=_command_for(settings), sizes=boards)
    return network


def _command_for(settings: SelfPlaySettings) -> str:
    """Return the command that trains so; on a GPU, with --device cuda.

    >>> _command_for(SelfPlaySettings(size=(7, 9), komi=9.0))
    'tengen train self-play --size 7 --size 9 --komi 9.0 --out runs/self-play'
    """
    words = ["tengen train self-play"]
    for field in fields_of(SelfPlaySettings):
        value = getattr(settings, field.name)
        if value != field.default:
            words += [f"--{field.option} {each}" for each in (value if field.many else (value,))]
    return " ".join([*words, "--out runs/self-play"])


class _Clock:
    """Seconds of a run, over all its pieces, and when its rows were written."""

    def __init__(self, path: Path) -> None:
        self._path, self._before, self._began = path, 0.0, time.monotonic()
        self._rows: list[dict[str, float]] = []

    @property
    def seconds(self) -> float:
        return self._before + time.monotonic() - self._began

    def resume(self, seconds: float, step: int) -> None:
        self._before = float(seconds)
        self._rows = [row for row in read_clock(self._path) if row["step"] <= step]

    def note(self, step: int) -> None:
        self._rows.append({"step": step, "seconds": round(self.seconds, 1)})
        text = "".join(json.dumps(row) + "\n" for row in self._rows)
        write_atomic(self._path, text)


def read_clock(path: Path) -> list[dict[str, float]]:
    """Return when the rows of a run were written."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def history(folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the rows of a run with the seconds at which they were written.

    Raises
    ------
    RunError
        If the folder holds no run of self-play.
    """
    found = read_run(folder)
    if found is None or found.learner != LEARNER:
        raise RunError(f"{os.fspath(folder)}: holds no run of {LEARNER}")
    seconds = {row["step"]: row["seconds"] for row in read_clock(Path(folder) / CLOCK)}
    rows = read_metrics(folder)
    return [{**row, "seconds": seconds.get(row["step"], 0.0)} for row in rows]


class _Reporter:
    """Say what happened since the last row."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._seen = self._counts()
        self._first, self._began = self._seen, time.monotonic()

    def _counts(self) -> dict[str, int]:
        return Tally().plus(*(room.games.tally for room in self._loop.rooms))._asdict()

    def row(self) -> dict[str, Any]:
        now = self._counts()
        new = {name: now[name] - self._seen[name] for name in now}
        row: dict[str, Any] = {
            "games": now["games"],
            "positions": now["moves"],
            "batches": self._loop.pupil.step,
            "loss": self._loop.pupil.report(),
        }
        if new["games"]:
            row["length"] = round(new["positions"] / new["games"], 2)
            row["black_wins"] = round(new["black_wins"] / new["games"], 4)
            row["resigned"] = round(new["resigned"] / new["games"], 4)
        self._seen = now
        return row

    def pace(self, seconds: float, progress: float) -> dict[str, float]:
        now, passed = self._counts(), time.monotonic() - self._began
        moves = (now["moves"] - self._first["moves"]) / passed
        return {
            "progress": progress,
            "seconds": seconds,
            "games_per_second": (now["games"] - self._first["games"]) / passed,
            "evaluations_per_second": moves * self._loop.settings.evaluations,
            "left": seconds / progress - seconds,
        }
