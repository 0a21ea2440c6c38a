"""Save and find the states of a training, so that it goes on exactly where it was stopped.

A checkpoint is one file `STEP.safetensors`: arrays, and a JSON state in its header with a checksum
of both. It is written atomically, so a kill costs at most the work since the last one.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.errors import ModelError
from tengen.files import write_atomic
from tengen.models.store import Tensors, checksum, pack, unpack

_STATE_KEY = "tengen.state"


@dataclass(frozen=True)
class Checkpoint:
    """A state of a training: its step, its arrays, and whatever else is JSON."""

    step: int
    arrays: Tensors
    state: dict[str, Any]


class Checkpoints:
    """The checkpoints of one training in one folder, of which the last few are kept.

    Put random generators into the state with `generator_state`: `load` and `latest` return what was
    saved, bit for bit. `run` names the training: files of another one in the same folder are
    neither listed nor deleted. Without it all are.
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, keep: int = 3, run: str | None = None
    ) -> None:
        self.folder = Path(folder)
        self.keep = max(1, keep)
        self.run = run
        self._kept: list[int] | None = None

    def save(self, step: int, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> Path:
        """Write the checkpoint of a step and forget those written longest ago."""
        # By when they were written, not by number: a new training may count from 0 again.
        kept = self.steps() if self._kept is None else self._kept
        path = self.path(step)
        stored = {"step": step, "run": self.run, "state": dict(state)}
        stored["sha256"] = checksum(arrays, json.dumps(stored))
        write_atomic(path, pack(arrays, {_STATE_KEY: json.dumps(stored)}))
        self._kept = [*(old for old in kept if old != step), step]
        while len(self._kept) > self.keep:
            self.path(self._kept.pop(0)).unlink(missing_ok=True)
        return path

    def steps(self) -> list[int]:
        """List the steps that have a checkpoint of this training, in ascending order."""
        return [step for step in self._files() if self.run is None or self._is_ours(step)]

    def _files(self) -> list[int]:
        """List the steps that have a file, whatever is in it."""
        stems = (path.stem for path in self.folder.glob("*.safetensors"))
        return sorted(int(stem) for stem in stems if stem.isdecimal())

    def _is_ours(self, step: int) -> bool:
        """Tell whether a file surely belongs to this training."""
        try:
            _, metadata = unpack(self.path(step), names=())
            return bool(json.loads(metadata[_STATE_KEY])["run"] == self.run)
        except (KeyError, TypeError, ValueError):
            return False

    def load(self, step: int) -> Checkpoint:
        """Read one checkpoint.

        Raises
        ------
        ModelError
            If it is missing or damaged.
        """
        return self._load(step)[0]

    def _load(self, step: int) -> tuple[Checkpoint, str | None]:
        """Read a checkpoint and the name of its training."""
        path = self.path(step)
        arrays, metadata = unpack(path)
        try:
            stored = json.loads(metadata[_STATE_KEY])
            written = stored.pop("sha256", None)  # version 0.2 wrote none
            found = Checkpoint(int(stored["step"]), arrays, dict(stored["state"]))
            run = stored["run"]
        except (AttributeError, KeyError, TypeError, ValueError):
            raise ModelError(f"{path}: is not a checkpoint of tengen") from None
        if written not in (None, checksum(arrays, json.dumps(stored))):
            raise ModelError(f"{path}: damaged: its checksum does not match")
        return found, run

    def latest(self) -> Checkpoint | None:
        """Read the newest whole checkpoint; None if there is none.

        Warns if newer ones were damaged.
        """
        damaged = ""
        for step in reversed(self._files()):
            try:
                found, run = self._load(step)
            except ModelError as failure:
                damaged = damaged or str(failure)
                continue
            if self.run is None or run == self.run:
                if damaged:
                    warnings.warn(f"{damaged}; going on from step {found.step}", stacklevel=2)
                return found
        return None

    def path(self, step: int) -> Path:
        """Name the file of a step."""
        return self.folder / f"{step:09d}.safetensors"


def generator_state(rng: np.random.Generator) -> dict[str, Any]:
    """Return the state of a generator (numpy's default, PCG64) as JSON can hold it."""
    return json.loads(json.dumps(rng.bit_generator.state))  # type: ignore[no-any-return]


def restore_generator(state: Mapping[str, Any]) -> np.random.Generator:
    """Make a generator that goes on where `generator_state` was taken.

    >>> rng = np.random.default_rng(1)
    >>> restore_generator(generator_state(rng)).random() == rng.random()
    True
    """
    if state.get("bit_generator") != "PCG64":
        raise ModelError(f"cannot restore a generator of kind {state.get('bit_generator')!r}")
    bits = np.random.PCG64()
    bits.state = dict(state)  # type: ignore[assignment]
    return np.random.Generator(bits)
