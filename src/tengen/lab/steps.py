"""Experiments, and the steps of a run: each runs once, and its rows are stored.

An `Experiment` is a function of a `LabContext` and a size that returns rows; a `Step` is one at a
given size. A step that was killed continues from its `Journal` and its learner's checkpoints.

RUN/data/PAPER/ROWS/   rows and run record of each experiment, laid out like the papers' own `data`
RUN/steps/STEP.json    what a finished step wrote and used
"""

from __future__ import annotations

import json
import os
import shlex
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, is_dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Generic, Self, TypeVar, get_origin, get_type_hints

import psutil
from pydantic import TypeAdapter, ValidationError

from tengen import __version__
from tengen.errors import SpecError, TengenError
from tengen.files import write_atomic
from tengen.lab.evidence import NewRows, record_of, write_evidence
from tengen.models import Run
from tengen.models.settings import fingerprint, to_plain
from tengen.parallel import map_jobs
from tengen.progress import OnStep, Progress, span

QUICK, FULL = "quick", "full"
"""The sizes of the laboratory: minutes without game collections, or days with them."""
DATA = "data"
"""The folder of a run's rows, laid out like the `data` of the papers."""
LABORATORY = "laboratory"  # name of the learner in the folder of a run

_Value = TypeVar("_Value")
_Size = TypeVar("_Size")
_Job = TypeVar("_Job")


@dataclass(frozen=True)
class LabContext:
    """What every step receives: the folder of the run, seed, workers, and a progress callback."""

    folder: Path
    seed: int
    workers: int
    at: Callable[[float, str], None] = lambda share, note: None  # share of the step that is done
    collection: Path | None = None  # folder of game collections, for steps that need some
    ray: str | None = None  # address of a Ray cluster that does the work instead of the workers
    step: str = ""  # the running step with its settings, set by `run_steps`

    def place(self, name: str) -> Path:
        """Return a folder for a step's checkpoints and databases."""
        place = self.folder / name
        place.mkdir(parents=True, exist_ok=True)
        return place

    def once(self, name: str, compute: Callable[[], _Value]) -> _Value:
        """Return a part of a step as plain data, computed unless a killed attempt already did.

        An attempt with other settings of the step does not count.
        """
        journal, key = Journal(self.folder / "parts.jsonl"), f"{self.step} {name}"
        row = journal.rows().get(key) or journal.append({"key": key, "value": compute()})
        return row["value"]  # type: ignore[no-any-return]

    def games(self, name: str) -> Path:
        """Return the path of a collection of games, which must exist."""
        path = Path(name) if self.collection is None else self.collection / name
        if path.is_file():
            return path
        if self.collection is None:
            raise TengenError(f"{name}: this step needs the folder of the game collections")
        raise TengenError(f"{path}: no such file; `tengen games build` makes the collections")

    def between(self, low: float, high: float, note: str) -> OnStep:
        """Return a callback (done, total) that moves the step's share from `low` to `high`."""

        def on_step(done: int, total: int) -> None:
            self.at(low + (high - low) * done / max(total, 1), f"{note} {done}/{total}")

        return on_step


@dataclass(frozen=True)
class Step:
    """A piece of work with a name, the folder of its paper, and an estimated time."""

    name: str
    paper: str
    title: str
    run: Callable[[LabContext], Sequence[NewRows]]
    command: str = ""  # the command that runs it, without the seed
    minutes: float = 1.0  # estimated time on two cores
    changed: bool = False  # whether it has other settings than those `minutes` is for
    needs: tuple[str, ...] = ()  # files of the collection that it reads
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment(Generic[_Size]):
    """A piece of work; its sizes in the quick and full laboratory are dataclasses of plain values.

    One that is `named_only` runs at its full size, and only when it is named.
    """

    name: str
    title: str
    run: Callable[[LabContext, _Size], Sequence[NewRows]]
    paper: str = ""  # the folder of its paper, set by `Paper.experiments`
    quick: _Size | None = None
    full: _Size | None = None
    minutes: tuple[float, float] = (1.0, 60.0)  # estimated times of the two sizes on two cores
    needs: Callable[[_Size], Sequence[str]] = lambda size: ()  # files of the collection it reads
    named_only: bool = False

    def size(self, mode: str) -> _Size | None:
        """Return the size in the quick or the full laboratory."""
        return self.quick if mode == QUICK and not self.named_only else self.full

    def step(self, mode: str, settings: Sequence[str] = ()) -> Step | None:
        """Return it as a step, with settings changed; None if it has no such size."""
        size = self.size(mode)
        if size is None:
            return None
        size = change(size, settings, self.name)
        words = ["tengen", "lab", self.name, *(["--full"] if mode == FULL else [])]
        words += [word for setting in settings for word in ("--set", setting)]
        return Step(
            self.name, self.paper, self.title, lambda context: self.run(context, size),
            shlex.join(words), self.minutes[mode == FULL], bool(settings),
            tuple(self.needs(size)), to_plain(size),
        )  # fmt: skip


def change(size: _Size, settings: Sequence[str], name: str) -> _Size:
    """Return a size with settings changed; each is `name=value`, lists are separated by commas."""
    assert is_dataclass(size)
    kinds = get_type_hints(type(size))
    values: dict[str, Any] = {}
    for text in settings:
        key, equals, value = text.partition("=")
        if not equals or key not in kinds:
            known = ", ".join(f"{name}={value}" for name, value in vars(size).items())
            raise SpecError(f"{name} has no setting {text!r}; it has {known or 'none'}")
        many = get_origin(kinds[key]) is tuple
        given: Any = [part for part in value.split(",") if part] if many else value
        try:
            values[key] = TypeAdapter(kinds[key]).validate_python(given)
        except ValidationError:
            raise SpecError(f"{name}: {key}={value} is not of type {kinds[key]}") from None
    return replace(size, **values)  # type: ignore[type-var]


# ----- Running steps -----


@dataclass(frozen=True)
class LabSettings:
    """Settings of a folder; a run with another seed or size needs another folder."""

    seed: int
    mode: str = QUICK


@dataclass(frozen=True)
class StepResult:
    """The experiments whose rows a step wrote, and the resources it used."""

    rows: Sequence[str]
    seconds: float
    processor: float = 0.0  # processor seconds of all processes
    memory: float = 0.0  # peak memory in bytes
    version: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)


def results(folder: Path) -> dict[str, StepResult]:
    """Return the finished steps of a folder by name."""
    return {path.stem: _step_result(path) for path in sorted((folder / "steps").glob("*.json"))}


def run_steps(
    steps: Sequence[Step],
    context: LabContext,
    *,
    mode: str = QUICK,
    progress: Progress | None = None,
) -> dict[str, StepResult]:
    """Run the steps that have no result yet, in order, and return all results."""
    folder = context.folder
    with Run.open(folder, LABORATORY, LabSettings(context.seed, mode), resume=True):
        done = results(folder)
        for step in steps:
            if step.name in done and done[step.name].settings not in ({}, step.settings):
                raise TengenError(f"{folder}: holds {step.name} with other settings; take another")
        waiting = [step for step in steps if step.name not in done]
        for name in (name for step in waiting for name in step.needs):
            context.games(name)
        return done | _run(waiting, len(steps), context, progress or Progress(quiet=True))


def _run(
    waiting: list[Step], total: int, context: LabContext, progress: Progress
) -> dict[str, StepResult]:
    place, done = context.place("steps"), {}
    if finished := total - len(waiting):
        progress.say(f"{finished} of {total} steps are already finished")
    minutes, all_minutes = 0.0, sum(step.minutes for step in waiting)
    unknown = any(step.changed for step in waiting)
    began = time.monotonic()
    for number, step in enumerate(waiting, finished + 1):
        # Estimates are for a certain machine: this one has shown its pace.
        pace = (time.monotonic() - began) / minutes if minutes else 60.0
        left = "" if unknown else f", about {span(pace * (all_minutes - minutes))} left"
        progress.say(f"[{number}/{total}] {step.title} ({step.name}): begins{left}")

        def at(share: float, note: str, step: Step = step, minutes: float = minutes) -> None:
            share = (minutes + share * step.minutes) / all_minutes
            progress("lab", share, 1.0, f"{step.name}: {note}")

        at(0.0, "")
        # The time of an earlier, killed attempt is included.
        with Resources(place / f"{step.name}.cost") as resources:
            key = f"{step.name} {fingerprint(step.settings)}"
            parts = step.run(replace(context, at=at, step=key))
            made = [replace(each, rows=rows) for each in parts if (rows := list(each.rows))]
        _write_rows(step, made, context, resources.used)
        path = place / f"{step.name}.json"
        more = {"version": __version__, "settings": step.settings}
        value = {"rows": [each.name for each in made], **resources.used, **more}
        write_atomic(path, json.dumps(value, allow_nan=False))
        resources.path.unlink(missing_ok=True)
        done[step.name] = _step_result(path)
        minutes += step.minutes
        progress.say(f"{step.name}: done in {span(done[step.name].seconds)}")
    return done


def _write_rows(
    step: Step, made: Sequence[NewRows], context: LabContext, used: Mapping[str, float]
) -> None:
    """Write what a step made into the run's `data`."""
    command = f"{step.command} --seed {context.seed}"
    for each in made:
        run = record_of(
            command, each.seeds, each.settings,
            seconds=used["seconds"], cpu_seconds=used["processor"],
        )  # fmt: skip
        write_evidence(context.folder / DATA / step.paper / each.name, each.rows, run)


def _step_result(path: Path) -> StepResult:
    try:
        return TypeAdapter(StepResult).validate_json(path.read_bytes())
    except ValidationError:
        raise TengenError(f"{path}: not a result of a step; remove it to run it again") from None


# ----- Many small jobs within a step -----

Row = dict[str, Any]


class Journal:
    """A file of finished jobs as JSON lines, each with its key; without a path nothing is stored.

    An incomplete last line, left by a killed process, is dropped when the journal is read.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def rows(self) -> dict[str, Row]:
        """Return the finished jobs by key."""
        if self.path is None or not self.path.is_file():
            return {}
        text = self.path.read_text(errors="replace")
        *lines, torn = text.split("\n")
        try:
            known = {str(row["key"]): row for row in map(json.loads, lines)}
        except (ValueError, TypeError, KeyError):
            raise TengenError(f"{self.path}: is damaged; remove it to play again") from None
        if torn:
            write_atomic(self.path, text[: len(text) - len(torn)])
        return known

    def append(self, row: Row) -> Row:
        """Store a finished job; return it as it will be read."""
        line = json.dumps(row, allow_nan=False)
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a") as file:
                file.write(line + "\n")
        return json.loads(line)  # type: ignore[no-any-return]

    def complete(
        self,
        jobs: Mapping[str, _Job],
        work: Callable[[_Job], Row],
        *,
        workers: int = 1,
        ray: str | None = None,
        on_step: OnStep = lambda done, total: None,
    ) -> list[Row]:
        """Do the jobs that are not finished yet; return the rows of all jobs, in their order."""
        known = self.rows()
        todo = [(key, job) for key, job in jobs.items() if key not in known]
        finished = map_jobs(partial(_do, work), todo, workers=workers, ray=ray, ordered=False)
        for number, row in enumerate(finished, len(jobs) - len(todo) + 1):
            known[row["key"]] = self.append(row)
            on_step(number, len(jobs))
        return [known[key] for key in jobs]


def _do(work: Callable[[Any], Row], job: tuple[str, Any]) -> Row:
    key, what = job
    return {"key": key, **work(what)}


# ----- Time and memory of a step -----

_SAMPLE = 0.5  # seconds between samples
_WRITE = 4  # samples between writes of the file


class Resources:
    """Measure the seconds, processor seconds and peak memory in bytes of a `with` block.

    `path` stores the usage of an attempt that was killed; it is added to that of the next attempt.
    Memory is sampled over this process and its children; shared memory counts once per process.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.used = {"seconds": 0.0, "processor": 0.0, "memory": 0.0}
        with suppress(OSError, ValueError):
            self.used |= json.loads(path.read_text())
        self._last = _clocks()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._stop.set()
        self._thread.join()
        self._sample()
        if kind is not None:
            write_atomic(self.path, json.dumps(self.used))

    def _watch(self) -> None:
        for number in count(1):
            if self._stop.wait(_SAMPLE):
                return
            self._sample()
            if number % _WRITE == 0:
                with suppress(OSError):
                    write_atomic(self.path, json.dumps(self.used))

    def _sample(self) -> None:
        before, self._last = self._last, _clocks()
        self.used["seconds"] += self._last[0] - before[0]
        self.used["processor"] += self._last[1] - before[1]
        self.used["memory"] = max(self.used["memory"], memory_in_use())


def _clocks() -> tuple[float, float]:
    """Return the time, and the processor time of this process and of its finished children."""
    return time.monotonic(), sum(os.times()[:4])


def memory_in_use() -> float:
    """Return the bytes in memory of this process and its descendants."""
    total, this = 0.0, psutil.Process()
    for process in (this, *this.children(recursive=True)):
        with suppress(psutil.Error):
            total += process.memory_info().rss
    return total
