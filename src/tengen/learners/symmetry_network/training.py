"""Train a symmetry network by self-play with TD(lambda).

A round plays `batch` games with the same weights and adds their gradients in the order of the
games, so the result depends on `batch` but never on the number of workers. Game i draws its random
numbers from stream i of the seed: a training that is stopped and resumed gives the same weights,
bit for bit.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import Float32Array, FloatArray, IntArray
from tengen.errors import RunError, SpecError, TengenError
from tengen.learners.symmetry_network.game_kernels import self_play
from tengen.learners.symmetry_network.kernels import (
    CELL,
    FIRST_OUT,
    HIDDEN,
    OUT,
    REACH,
    Net,
    Side,
)
from tengen.learners.symmetry_network.network import (
    INPUTS,
    OUTPUTS,
    Architecture,
    target_table,
    value_table,
)
from tengen.learners.symmetry_network.settings import SymmetrySettings
from tengen.models.runs import Run, read_run

# ----- Weights as kernels take them -----

_TABLE = 9 * INPUTS * CELL
_SIZE = _TABLE + CELL + HIDDEN * REACH


class Packing:
    """The map from an architecture's free parameters to the kernels' arrays, and back.

    A `Net` holds every copy of every weight in float32. Its arrays are views of one flat array.
    Cells of fewer than 12 hidden units are padded with zeros.
    """

    size = _SIZE

    def __init__(self, architecture: Architecture) -> None:
        if architecture.hidden > HIDDEN:
            raise SpecError(f"{architecture.hidden} hidden units; at most {HIDDEN} are possible")
        self.architecture = architecture
        places = _places(architecture.hidden)
        where, source, sign = [], [], []
        for name, at in architecture.slices.items():
            tying = architecture.parts[name]
            where.append(places[name].reshape(-1)[tying.where])
            source.append(tying.source + at.start)
            sign.append(tying.sign)
        self._where = np.concatenate(where)
        self._source = np.concatenate(source)
        self._sign = np.concatenate(sign)

    def flat(self, free: FloatArray) -> Float32Array:
        """Return all weights in one array of length `size`."""
        values = self._sign * free[self._source]
        return np.bincount(self._where, weights=values, minlength=_SIZE).astype(np.float32)

    def net(self, free: FloatArray) -> Net:
        """Return the kernels' arrays for these free parameters."""
        return split(self.flat(free))

    def collect(self, flat: NDArray[np.floating]) -> FloatArray:
        """Return the gradient of the free parameters: the signed sum over their copies."""
        values = self._sign * flat.astype(np.float64)[self._where]
        size = self.architecture.size
        return np.bincount(self._source, weights=values, minlength=size).astype(np.float64)


def split(flat: Float32Array) -> Net:
    """Return a flat array as the arrays of a Net, sharing its memory."""
    table, bias, oh = np.split(flat, (_TABLE, _TABLE + CELL))
    return Net(table.reshape(-1, CELL), bias, oh)


def _places(hidden: int) -> dict[str, IntArray]:
    """Return where the dense weights of each part are in the flat array, in their shape."""
    table, bias, oh = np.split(np.arange(_SIZE, dtype=np.int64), (_TABLE, _TABLE + CELL))
    table, oh = table.reshape(9, INPUTS, CELL), oh.reshape(HIDDEN, 9, OUT)
    outputs = slice(FIRST_OUT, FIRST_OUT + len(OUTPUTS))
    return {
        "HI": table[:, :, :hidden].transpose(0, 2, 1),
        "OI": table[:, :, outputs].transpose(0, 2, 1),
        "OH": oh[:hidden, :, : len(OUTPUTS)].transpose(1, 2, 0),
        "BH": bias[:hidden],
        "BO": bias[outputs],
    }


# ----- Self-play -----


@dataclass(frozen=True)
class SelfPlayReport:
    """What happened in some games of a training: means over them."""

    games: int  # finished so far
    plies: float
    ended: float  # share that ended by two passes
    score: float  # area for Black
    error: float  # mean squared error of the outputs that apply
    seconds: float  # spent on these games


class SelfPlay:
    """A training in progress: `free` parameters, games `done`; `advance` plays one round."""

    def __init__(self, settings: SymmetrySettings, *, workers: int = 1) -> None:
        self.settings = settings
        self.workers = workers
        self.packing = Packing(settings.architecture)
        self.free: FloatArray = settings.architecture.initial(settings.seed, settings.hidden_scale)
        self.done = 0
        self._table = value_table(settings.capture, settings.stone).astype(np.float32)
        self._targets = target_table(settings.capture).astype(np.float32)
        self._linear = np.zeros(settings.architecture.size, bool)
        for name in ("OI", "BO"):
            self._linear[settings.architecture.slices[name]] = True

    def advance(self, pool: ThreadPoolExecutor | None = None) -> FloatArray:
        """Play one round and learn from it; return plies, ended, score, error, terms per game."""
        s = self.settings
        net = self.packing.net(self.free)
        # Floats even where an integer was given: another type would be compiled again.
        side = Side(net, s.sorting, self._table, float(s.capture), float(s.beta))
        linear = self.done < s.linear_games
        games = range(self.done, self.done + s.batch)
        grads = np.zeros((s.batch, self.packing.size), np.float32)

        def play(i: int) -> tuple[float, ...]:
            found = self_play(
                *(side, self._targets, s.size, s.size, float(s.trace), 3 * s.size**2, s.seed, i),
                *(linear, split(grads[i - games.start])),
            )
            return tuple(float(value) for value in found)

        results = list(pool.map(play, games)) if pool is not None else [play(i) for i in games]
        total = np.zeros(self.packing.size)
        for row in grads:
            total += row
        gradient = self.packing.collect(total)
        if linear:
            gradient[~self._linear] = 0
        self.free = self.free + s.rate_at(self.done) * gradient
        self.free[: s.architecture.weights] *= s.decay**s.batch
        if not np.all(np.isfinite(self.free)):
            raise TengenError(f"training diverged at game {self.done}: lower the rate")
        self.done += s.batch
        return np.array(results)

    def train(
        self,
        *,
        until: int | None = None,
        run: Run[SymmetrySettings] | None = None,
        keep: Callable[[SelfPlay, Path], None] = lambda _training, _path: None,
        watch: Callable[[SelfPlayReport], None] = lambda _: None,
    ) -> None:
        """Play until `until` games are done, by default all of the settings.

        With a run, training continues from its last checkpoint. It writes metrics and a checkpoint
        every `checkpoint_every` games, when `watch` gets a report too, and calls
        `keep(training, path)` to write a model every `snapshot_every` games.
        """
        settings = self.settings
        goal = settings.games if until is None else until
        if run is not None and run.start is not None:
            self.free, self.done = run.start.arrays["free"].copy(), run.start.step
        elif run is not None:
            keep(self, run.snapshot(0))
        with ThreadPoolExecutor(self.workers) as pool:
            rows: list[FloatArray] = []
            begin = time.perf_counter()
            while self.done < goal:
                before = self.done
                rows.append(self.advance(pool if self.workers > 1 else None))
                kept = self._passed(before, settings.snapshot_every)
                if run is not None and kept:
                    keep(self, run.snapshot(kept))
                if self.done >= goal or self._passed(before, settings.checkpoint_every):
                    report = self._report(np.concatenate(rows), time.perf_counter() - begin)
                    self._save(run, report)
                    watch(report)
                    rows, begin = [], time.perf_counter()

    def _passed(self, before: int, every: int) -> int:
        """Return the multiple of `every` that the last round reached or passed, else 0."""
        mark = self.done // every
        return mark * every if mark > before // every else 0

    def _report(self, rows: FloatArray, seconds: float) -> SelfPlayReport:
        """Return the means over the games of some rounds."""
        plies, ended, score, square, terms = rows.T
        error = float(square.sum() / max(terms.sum(), 1))
        means = float(plies.mean()), float(ended.mean()), float(score.mean())
        return SelfPlayReport(self.done, *means, error, seconds)

    def _save(self, run: Run[SymmetrySettings] | None, report: SelfPlayReport) -> None:
        """Write a row of metrics and the checkpoint."""
        if run is not None:
            names = ("plies", "ended", "score", "error")
            run.note(self.done, **{name: getattr(report, name) for name in names})
            run.save(self.done, {"free": self.free})


def open_run(folder: Path, settings: SymmetrySettings, *, resume: bool) -> Run[SymmetrySettings]:
    """Create a run folder for self-play, or continue the run in it.

    Raises
    ------
    RunError
        As `Run.open`; also for another number of games where the learning rate depends on it.
    """
    found = read_run(folder)
    if resume and found is not None and settings.anneal > 0:
        there = found.settings.get("games", settings.games)
        if there != settings.games:
            raise RunError(f"{folder}: the rate falls towards game {there}, not {settings.games}")
    return Run.open(folder, "symmetry-network", settings, resume=resume)
