"""Run named steps once each and keep their results as JSON, so that a killed laboratory goes on.

An `Experiment` is a function of a `Context` and a size, and `quick` and `full` are two sizes of it;
a `Step` is one of them, ready to run. Its result is written atomically when it is done; a step with
a result is not run again, and a step that was killed finds what it kept by `Context.once` and what
its learner's checkpoints hold. Nothing here knows what the steps do.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import tomli_w

from tengen import __version__
from tengen.errors import TengenError
from tengen.lab.content import Result
from tengen.lab.cost import Meter
from tengen.models import write_atomic

QUICK, FULL = "quick", "full"
"""The sizes of the laboratory: minutes without any games, days with a corpus."""

_Value = TypeVar("_Value")
_Size = TypeVar("_Size")


@dataclass(frozen=True)
class Context:
    """What every step is given: the folder of the run, its seed and workers, ways to speak."""

    folder: Path
    seed: int
    workers: int
    at: Callable[[float, str], None] = lambda share, note: None
    """Hears what share of the step is done, and a few words on what is going on."""
    corpus: Path | None = None
    """Folder of game collections, for steps that need some."""
    ray: str | None = None
    """Address of a Ray cluster that does the work instead of the workers."""

    def place(self, name: str) -> Path:
        """Return a folder of a step's own, for checkpoints and databases."""
        place = self.folder / name
        place.mkdir(parents=True, exist_ok=True)
        return place

    def once(self, name: str, compute: Callable[[], _Value]) -> _Value:
        """Compute a part of a step once: a step that was killed does not do it again.

        `name` is a path below the run's folder, without ending; the value must be plain data.
        """
        path = self.folder / f"{name}.json"
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, json.dumps(compute(), allow_nan=False))
        # Always what was read, so that a resumed run sees what the first one saw.
        return _read(path)  # type: ignore[no-any-return]

    def games(self, name: str) -> Path:
        """Return a collection of the corpus.

        Raises
        ------
        TengenError
            If there is no corpus, or no such file in it.
        """
        if self.corpus is None:
            raise TengenError(f"{name}: this step needs --collection DIR, the folder of the games")
        path = self.corpus / name
        if not path.is_file():
            raise TengenError(f"{path}: no such file; docs/guide/games.md says where to get it")
        return path

    def between(self, low: float, high: float, note: str) -> Callable[[int, int], None]:
        """Return a counter (done, of) that moves the step's share from `low` to `high`."""

        def tell(done: int, of: int) -> None:
            self.at(low + (high - low) * done / max(of, 1), f"{note} {done}/{of}")

        return tell


@dataclass(frozen=True)
class Step:
    """A piece of work with a name, the part of the report it belongs to, and about how long."""

    name: str
    part: str
    title: str
    run: Callable[[Context], Result]
    minutes: float = 1.0
    """About how long it takes on two cores, to foretell the end."""
    needs: tuple[str, ...] = ()
    """Files of the corpus that it reads."""


@dataclass(frozen=True)
class Experiment(Generic[_Size]):
    """A piece of work that has sizes; without `quick` or `full` it is no part of that laboratory.

    A size is a frozen dataclass of numbers and words, so that a command may run the experiment at
    any other: `experiment.run(context, replace(experiment.full, games=200))`.
    """

    name: str
    part: str
    title: str
    run: Callable[[Context, _Size], Result]
    quick: _Size | None = None
    full: _Size | None = None
    minutes: tuple[float, float] = (1.0, 60.0)
    """About how long the two take on two cores."""
    needs: tuple[str, ...] = ()
    """Files of the corpus that the full size reads."""

    def step(self, mode: str) -> Step | None:
        """Return it as a step of the quick or the full laboratory, None where it is in neither."""
        size = self.quick if mode == QUICK else self.full
        if size is None:
            return None
        minutes = self.minutes[0] if mode == QUICK else self.minutes[1]
        needs = () if mode == QUICK else self.needs
        return Step(self.name, self.part, self.title, partial(_at, self.run, size), minutes, needs)


def _at(run: Callable[[Context, _Size], Result], size: _Size, context: Context) -> Result:
    return run(context, size)


@dataclass(frozen=True)
class Kept:
    """A step's result with what it cost, as it lies in the run's folder."""

    result: Result
    seconds: float
    processor: float = 0.0
    """Processor seconds, all processes together."""
    memory: float = 0.0
    """Bytes at the highest."""
    version: str = ""


class Watch:
    """Somebody who watches a run; this one looks away."""

    def plan(self, steps: Sequence[Step], done: set[str]) -> None:
        """Hear what is to be done, and what is there already."""

    def begin(self, step: Step) -> None:
        """Hear that a step begins."""

    def at(self, step: Step, share: float, note: str) -> None:
        """Hear how far it is."""

    def end(self, step: Step, seconds: float) -> None:
        """Hear that its result is written."""


def results(folder: Path) -> dict[str, Kept]:
    """Return what is finished in a folder: step name -> result and cost."""
    return {path.stem: _kept(path) for path in sorted((folder / "steps").glob("*.json"))}


def run_steps(
    steps: Sequence[Step], context: Context, *, mode: str = QUICK, watch: Watch | None = None
) -> dict[str, Kept]:
    """Run what has no result yet, in order, and return all results.

    Raises
    ------
    TengenError
        If the folder holds a run of another seed or mode, or a file of the corpus is missing.
    """
    watch = watch or Watch()
    place = context.folder / "steps"
    place.mkdir(parents=True, exist_ok=True)
    _claim(context, mode)
    done = results(context.folder)
    waiting = [step for step in steps if step.name not in done]
    for step in waiting:
        for name in step.needs:
            context.games(name)
    watch.plan(steps, set(done))
    for step in waiting:
        watch.begin(step)

        def at(share: float, note: str = "", step: Step = step) -> None:
            watch.at(step, min(max(share, 0.0), 1.0), note)

        # Time that an earlier, killed attempt took is not lost: cost is what it really was.
        with Meter(place / f"{step.name}.cost") as meter:
            result = step.run(replace(context, at=at))
        kept = {"result": result.json(), **meter.cost(), "version": __version__}
        write_atomic(place / f"{step.name}.json", json.dumps(kept, allow_nan=False))
        meter.forget()
        done[step.name] = _kept(place / f"{step.name}.json")
        watch.end(step, done[step.name].seconds)
    return done


def settings_of(folder: Path) -> dict[str, Any]:
    """Return what the run in a folder was started with."""
    path = folder / "config.toml"
    return tomllib.loads(path.read_text()) if path.is_file() else {}


def _claim(context: Context, mode: str) -> None:
    """Write down seed and mode of a new run; refuse a folder of another."""
    path = context.folder / "config.toml"
    ours = {"seed": context.seed, "mode": mode, "version": __version__}
    if not path.exists():
        write_atomic(path, tomli_w.dumps(ours))
        return
    theirs = settings_of(context.folder)
    for name in ("seed", "mode"):
        if theirs.get(name) != ours[name]:
            raise TengenError(
                f"{context.folder}: holds a run with {name} = {theirs.get(name)}, "
                f"not {ours[name]}; choose another --out"
            )


def _kept(path: Path) -> Kept:
    value = _read(path)
    if not isinstance(value, dict) or "seconds" not in value:
        raise TengenError(f"{path}: is no result of a step; remove it to run it again")
    return Kept(**{**value, "result": Result.from_json(value.get("result"), str(path))})


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except ValueError:
        raise TengenError(f"{path}: is no result of a step; remove it to run it again") from None
