"""Run named steps once each and keep their results as JSON, so that a killed laboratory goes on.

A step is a function of a `Context` that returns plain data. Its result is written atomically when
it is done; a step with a result is not run again. Nothing here knows what the steps do.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tengen import __version__
from tengen.errors import TengenError
from tengen.models import write_atomic

Result = dict[str, Any]


@dataclass(frozen=True)
class Context:
    """What every step is given: the folder of the run, its seed and workers, a way to speak."""

    folder: Path
    seed: int
    workers: int
    say: Callable[[str], None]

    def place(self, name: str) -> Path:
        """Return a folder of a step's own, for checkpoints and databases."""
        place = self.folder / name
        place.mkdir(parents=True, exist_ok=True)
        return place


@dataclass(frozen=True)
class Step:
    """A named piece of work; `part` says under which heading of the report it belongs."""

    name: str
    part: str
    title: str
    run: Callable[[Context], Result]
    minutes: float = 1.0
    """About how long it takes on two cores, to foretell the end."""


def results(folder: Path) -> dict[str, Result]:
    """Return what is finished in a folder: step name -> result."""
    found = {}
    for path in sorted((folder / "steps").glob("*.json")):
        try:
            found[path.stem] = json.loads(path.read_text())
        except ValueError:
            raise TengenError(
                f"{path}: is no result of a step; remove it to run it again"
            ) from None
    return found


def run_steps(
    steps: Sequence[Step],
    context: Context,
    on_step: Callable[[Step, bool, float], None] = lambda step, done, left: None,
) -> dict[str, Result]:
    """Run what has no result yet, in order, and return all results.

    `on_step` hears of each step before (False) and after (True) it, with the minutes left.

    Raises
    ------
    TengenError
        If the folder holds a run of another seed.
    """
    place = context.folder / "steps"
    place.mkdir(parents=True, exist_ok=True)
    _claim(context)
    done = results(context.folder)
    left = sum(step.minutes for step in steps if step.name not in done)
    for step in steps:
        if step.name in done:
            continue
        on_step(step, False, left)
        start = time.perf_counter()
        result = step.run(context)
        seconds = time.perf_counter() - start
        kept = {"result": result, "seconds": round(seconds, 1), "version": __version__}
        write_atomic(place / f"{step.name}.json", json.dumps(kept, allow_nan=False).encode())
        done[step.name] = kept
        left -= step.minutes
        on_step(step, True, left)
    return done


def _claim(context: Context) -> None:
    """Write down the seed of a new run; refuse a folder of another."""
    path = context.folder / "config.toml"
    text = f'seed = {context.seed}\nversion = "{__version__}"\n'
    if not path.exists():
        write_atomic(path, text.encode())
        return
    first = path.read_text().splitlines()[0]
    if first != f"seed = {context.seed}":
        raise TengenError(f"{context.folder}: holds a run with {first}; choose another --out")
