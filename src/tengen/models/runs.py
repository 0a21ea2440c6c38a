"""Keep a training run in a folder, so that it can be stopped at any time and resumed exactly.

    FOLDER/config.toml    the learner, its settings, fingerprints of its data, our version
    FOLDER/metrics.jsonl  a row every so many steps: {"step": 200, "loss": 1.9, ...}
    FOLDER/checkpoints/   the last few states, `STEP.safetensors`
    FOLDER/events...      the metrics for TensorBoard, with the extra `tensorboard`
    FOLDER/snapshots/     intermediate models, kept permanently, if the learner saves any

A folder belongs to one run and is locked while a trainer works in it. A learner notes
the rows of a step before it saves its state: a kill loses only the work since the last state, and
the resumed run repeats the same rows.
"""

from __future__ import annotations

import dataclasses
import json
import os
import time
import tomllib
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Generic, Self, TypeVar

import numpy as np
import tomli_w
from filelock import FileLock
from numpy.typing import NDArray

from tengen import __version__
from tengen.errors import ModelError, RunError, SpecError
from tengen.files import lock, sweep, write_atomic
from tengen.models.curves import Curves
from tengen.models.settings import differences, fields_of, fingerprint, fixed, from_plain, to_plain
from tengen.models.store import LARGEST_STATE, Tensors, checksum, pack, unpack

_CONFIG, _METRICS, _LOCK = "config.toml", "metrics.jsonl", ".lock"
_CHECKPOINTS, SNAPSHOTS = "checkpoints", "snapshots"
_STATE_KEY = "tengen.state"
_ELSEWHERE = "choose another folder"
_KEPT = 2  # checkpoints of a run

_Settings = TypeVar("_Settings")


@dataclass(frozen=True)
class Checkpoint:
    """A state of a training: its step, its arrays, any other values as JSON, the run's name."""

    step: int
    arrays: Tensors
    state: dict[str, Any]
    run: str | None
    rows: int  # of metrics noted before


class Checkpoints:
    """The checkpoints of one training in one folder, of which the last two are kept.

    A checkpoint is one file with arrays and, in its header, a JSON state and a checksum of both.
    With the name `run`, files of another training are neither listed nor deleted.
    """

    def __init__(self, folder: str | os.PathLike[str], *, run: str | None = None) -> None:
        self.folder, self.run = Path(folder), run
        self._kept: list[int] | None = None

    def save(
        self,
        step: int,
        arrays: Mapping[str, NDArray[Any]],
        state: Mapping[str, Any],
        *,
        rows: int = 0,
    ) -> None:
        """Write the checkpoint of a step and delete the oldest ones."""
        # By when they were written, not by number: a new training may count from 0 again.
        kept = self.steps() if self._kept is None else self._kept
        stored = {"step": step, "run": self.run, "rows": rows, "state": dict(state)}
        stored["sha256"] = checksum(arrays, json.dumps(stored))
        write_atomic(self.path(step), pack(arrays, {_STATE_KEY: json.dumps(stored)}))
        self._kept = [*(old for old in kept if old != step), step]
        while len(self._kept) > _KEPT:
            self.path(self._kept.pop(0)).unlink(missing_ok=True)

    def steps(self) -> list[int]:
        """List the steps that have a checkpoint of this training, in ascending order."""

        def ours(step: int) -> bool:
            try:
                _, metadata = unpack(self.path(step), names=(), limit=LARGEST_STATE)
                return bool(json.loads(metadata[_STATE_KEY])["run"] == self.run)
            except (KeyError, TypeError, ValueError):
                return False

        return [step for step in self._files() if self.run is None or ours(step)]

    def _files(self) -> list[int]:
        stems = (path.stem for path in self.folder.glob("*.safetensors"))
        return sorted(int(stem) for stem in stems if stem.isdecimal())

    def load(self, step: int) -> Checkpoint:
        """Read one checkpoint; raise `ModelError` if it is missing or damaged."""
        path = self.path(step)
        arrays, metadata = unpack(path, limit=LARGEST_STATE)
        try:
            stored = json.loads(metadata[_STATE_KEY])
            written = stored.pop("sha256", None)  # version 0.2 wrote none
            found = Checkpoint(
                int(stored["step"]), arrays, dict(stored["state"]), stored["run"],
                int(stored.get("rows", 0)),
            )  # fmt: skip
        except (AttributeError, KeyError, TypeError, ValueError):
            raise ModelError(f"{path}: is not a checkpoint of tengen") from None
        if written not in (None, checksum(arrays, json.dumps(stored))):
            raise ModelError(f"{path}: damaged: its checksum does not match")
        return found

    def latest(self) -> Checkpoint | None:
        """Read the newest intact checkpoint, if any; warn about newer ones that are damaged."""
        damaged = ""
        for step in reversed(self._files()):
            try:
                found = self.load(step)
            except ModelError as failure:
                damaged = damaged or str(failure)
                continue
            if self.run is None or found.run == self.run:
                if damaged:
                    warnings.warn(f"{damaged}; going on from step {found.step}", stacklevel=2)
                return found
        return None

    def path(self, step: int) -> Path:
        """Return the file of a step."""
        return self.folder / f"{step:09d}.safetensors"


@dataclass(frozen=True)
class RunInfo:
    """The content of a run's `config.toml`."""

    learner: str
    version: str
    settings: dict[str, Any]  # plain, as `settings.to_plain` gives them
    data: dict[str, str]  # a fingerprint or name of each data source


class Run(Generic[_Settings]):
    """A run locked by this process; opened by `Run.open`, released by `close` or `with`.

    `start` is the state to continue from, None at the beginning.
    """

    def __init__(
        self, folder: Path, settings: _Settings, checkpoints: Checkpoints, held: FileLock
    ) -> None:
        self.folder, self.settings = folder, settings
        self.start: Checkpoint | None = None
        self._checkpoints, self._lock = checkpoints, held
        self._rows: BinaryIO | None = None
        self._curves: Curves | None = None
        self._noted = 0  # rows of metrics
        self._step = -1  # of the newest state
        self._saved_at = time.monotonic()

    @classmethod
    def open(
        cls,
        folder: str | os.PathLike[str],
        learner: str,
        settings: _Settings,
        *,
        data: Mapping[str, str] | None = None,
        resume: bool = False,
    ) -> Self:
        """Claim a folder for a run of `learner`; with `resume`, continue the run in it, if any.

        `data` has a `fingerprint` of each data source. A run that may not be continued like this is
        left unchanged and `RunError` is raised.
        """
        place, sources = Path(folder), dict(data or {})
        found = _look(place, learner, settings, sources, resume)
        held = _claim(place)
        try:
            # Another process may have begun a run here in the meantime.
            found = _look(place, learner, settings, sources, resume)
            name = fingerprint(learner, fixed(settings), sources)
            run = cls(place, settings, Checkpoints(place / _CHECKPOINTS, run=name), held)
            run._begin(learner, sources, found)
        except BaseException:
            held.release()
            raise
        return run

    def note(self, step: int, **values: Any) -> None:
        """Add a row of metrics before `step` is saved; no times, so that resumed runs repeat it."""
        if step <= self._step:
            raise RuntimeError(f"row of step {step} after its state was saved")
        for name, value in values.items():
            if isinstance(value, float | np.floating) and not np.isfinite(value):
                raise RunError(f"{self.folder}: {name} is {value} at step {step}: it diverged")
        assert self._rows is not None, "the run is closed"
        line = json.dumps({"step": step, **values}, default=lambda number: number.item())
        self._rows.write(f"{line}\n".encode())
        self._noted += 1
        if self._curves is not None:
            self._curves.add(json.loads(line))

    def save(
        self, step: int, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any] | None = None
    ) -> None:
        """Save everything that the steps after `step` depend on; `state` must be JSON."""
        assert self._rows is not None, "the run is closed"
        os.fsync(self._rows.fileno())  # Rows up to here must not be lost when the state is not.
        self._checkpoints.save(step, arrays, state or {}, rows=self._noted)
        self._step = step
        self._saved_at = time.monotonic()

    def due(self, seconds: float = 30.0) -> bool:
        """Return whether `seconds` have passed since the last save; for cheap steps."""
        return time.monotonic() - self._saved_at >= seconds

    def rows(self) -> list[dict[str, Any]]:
        """Return the metrics noted so far."""
        return read_metrics(self.folder)

    def snapshot(self, step: int) -> Path:
        """Return the path of the snapshot after `step`, which is kept permanently."""
        return self.folder / SNAPSHOTS / f"{step:09d}.safetensors"

    def close(self) -> None:
        """Release the folder."""
        if self._rows is not None:
            self._rows.close()
            self._rows = None
        if self._curves is not None:
            self._curves.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, failure: BaseException | None, trace: object) -> None:
        """Release the folder; after an interrupt, add a note with the step reached."""
        if isinstance(failure, KeyboardInterrupt):
            at = f"is at step {self._step} and " if self._step >= 0 else ""
            failure.add_note(f"{self.folder} {at}can be resumed")
        self.close()

    def _begin(self, learner: str, data: dict[str, str], found: RunInfo | None) -> None:
        """Write the config and reset the folder to the newest saved state."""
        for part in (self.folder, self.folder / _CHECKPOINTS, self.folder / SNAPSHOTS):
            sweep(part)
        if found is not None:
            self.start = self._checkpoints.latest()
            if self.start is None and any((self.folder / _CHECKPOINTS).glob("*.safetensors")):
                raise RunError(f"{self.folder}: none of its checkpoints is whole; {_ELSEWHERE}")
        self._step = self.start.step if self.start else -1
        self._noted = _cut_metrics(self.folder, self.start)
        config = {"learner": learner, "tengen": __version__, "settings": to_plain(self.settings)}
        write_atomic(self.folder / _CONFIG, tomli_w.dumps({**config, "data": data}))
        self._rows = (self.folder / _METRICS).open("ab", buffering=0)
        self._curves = Curves.open(self.folder, read_metrics(self.folder))


def read_run(folder: str | os.PathLike[str]) -> RunInfo | None:
    """Read the config of a folder's run without claiming it; None if there is no run."""
    place = Path(folder)
    path = place / _CONFIG
    if not path.exists():
        if place.exists() and not place.is_dir():
            raise RunError(f"{place}: is not a folder; {_ELSEWHERE}")
        left = [name for name in (_METRICS, _CHECKPOINTS) if (place / name).exists()]
        if left:
            raise RunError(f"{place}: half a run, {left[0]} without {_CONFIG}; {_ELSEWHERE}")
        return None
    try:
        config = tomllib.loads(path.read_text())
        return RunInfo(
            str(config["learner"]),
            str(config["tengen"]),
            dict(config["settings"]),
            {str(name): str(value) for name, value in dict(config["data"]).items()},
        )
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as failure:
        raise RunError(f"{path}: damaged ({failure})") from None
    except (KeyError, TypeError, ValueError):
        raise RunError(f"{path}: is not of a run of this tengen; {_ELSEWHERE}") from None


def read_metrics(folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the rows of a run's metrics, without an incomplete last one."""
    path = Path(folder) / _METRICS
    rows: list[dict[str, Any]] = []
    lines = path.read_bytes().split(b"\n") if path.exists() else [b""]
    for number, line in enumerate(lines[:-1], start=1):
        try:
            row = json.loads(line, parse_constant=lambda _: None)  # NaN and infinity become None
            rows.append({"step": int(row["step"]), **row})
        except (KeyError, TypeError, ValueError):
            raise RunError(f"{path}: line {number} is damaged") from None
    return rows


def resumed_settings(
    folder: str | os.PathLike[str], settings: _Settings, given: Collection[str]
) -> _Settings:
    """Return the settings of the run in a folder, if any, with changes to those in `given`."""
    found = read_run(folder)
    if found is None:
        return settings
    try:
        there = from_plain(type(settings), found.settings, where=f"{Path(folder) / _CONFIG}")
    except SpecError:
        return settings  # another learner's run, or a damaged one: `Run.open` says which
    theirs = {field.name for field in fields_of(type(settings))}
    changes = {name: getattr(settings, name) for name in given if name in theirs}
    return dataclasses.replace(there, **changes)  # type: ignore[type-var]


def _look(
    folder: Path, learner: str, settings: Any, data: dict[str, str], resume: bool
) -> RunInfo | None:
    """Return the run in a folder if it may be resumed; None if there is none. Changes nothing."""
    found = read_run(folder)
    if found is None:
        return None
    if found.learner != learner:
        raise RunError(f"{folder}: holds a run of {found.learner}, not of {learner}; {_ELSEWHERE}")
    if not resume:
        raise RunError(f"{folder}: holds a run; resume it or {_ELSEWHERE}")
    if found.version != __version__:
        raise RunError(
            f"{folder}: was begun by tengen {found.version}, this is {__version__}; {_ELSEWHERE}"
        )
    try:
        there = from_plain(type(settings), found.settings, where=f"{folder / _CONFIG}")
    except SpecError as failure:
        raise RunError(str(failure)) from None
    if different := differences(there, settings):
        raise RunError(f"{folder}: begun with other settings: {'; '.join(different)}")
    for name in sorted({*found.data, *data}):
        if found.data.get(name) != data.get(name):
            there_is, asked = found.data.get(name, "none"), data.get(name, "none")
            raise RunError(f"{folder}: begun with other {name} ({there_is}, not {asked})")
    return found


def _claim(folder: Path) -> FileLock:
    """Lock a folder, creating it if needed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError("no permission to write there")
        return lock(folder / _LOCK, folder, _ELSEWHERE)
    except (OSError, NotImplementedError) as failure:
        reason = getattr(failure, "strerror", None) or failure
        raise RunError(f"{folder}: cannot be written ({reason}); {_ELSEWHERE}") from None


def _cut_metrics(folder: Path, start: Checkpoint | None) -> int:
    """Drop the rows after a state, which will be computed again; return how many are left."""
    path = folder / _METRICS
    text = path.read_bytes() if path.exists() else b""
    step, written = (start.step, start.rows) if start else (-1, 0)
    kept = sum(1 for row in read_metrics(folder) if row["step"] <= step)
    if kept < written:
        raise RunError(f"{path}: has lost {written - kept} of {written} rows; {_ELSEWHERE}")
    whole = b"".join(line + b"\n" for line in text.split(b"\n")[:kept])
    if whole != text:
        write_atomic(path, whole)
    return kept
