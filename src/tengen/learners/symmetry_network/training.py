"""Train a network by TD(lambda) self-play in rounds; know no files but a run's.

A round plays `batch` games on the same weights (1 is the paper) and adds their gradients in the
order of the games: the result depends on `batch` and never on the number of workers. Game i draws
its random numbers from stream i of the seed, so a training that is stopped and resumed gives the
same weights, bit for bit.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tengen.arrays import Float32Array, FloatArray
from tengen.errors import RunError, TengenError
from tengen.learners.symmetry_network.evaluation_kernels import Side
from tengen.learners.symmetry_network.game_kernels import self_play
from tengen.learners.symmetry_network.packing import Packing
from tengen.learners.symmetry_network.rewards import target_table, value_table
from tengen.learners.symmetry_network.settings import SymmetrySettings
from tengen.models.runs import Run, read_run


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
    """A training under way: `free` numbers, games `done`; `advance` plays one round."""

    def __init__(self, settings: SymmetrySettings, *, workers: int = 1) -> None:
        self.settings = settings
        self.workers = workers
        self.packing = Packing(settings.architecture)
        self.free: FloatArray = settings.architecture.initial(settings.seed, settings.hidden_scale)
        self.done = 0
        self._cats = settings.sorting.packed()
        capture, stone = settings.rewards
        self._table = value_table(capture, stone).astype(np.float32)
        self._targets = target_table(capture).astype(np.float32)
        self._decayed = settings.architecture.weights
        slices = settings.architecture.slices
        self._linear = np.zeros(settings.architecture.size, bool)
        for name in ("OI", "BO"):
            self._linear[slices[name]] = True

    def advance(self, pool: ThreadPoolExecutor | None = None) -> FloatArray:
        """Play one round and learn from it; return plies, ended, score, error, terms."""
        settings = self.settings
        flat = self.packing.flat(self.free)
        other = self.packing.exchanged(flat) if settings.turn else flat
        games = range(self.done, self.done + settings.batch)
        sides = 2 if settings.turn else 1
        grads = np.zeros((settings.batch, sides, self.packing.size), np.float32)
        linear = self.done < settings.linear_games

        def play(i: int) -> tuple[float, ...]:
            return self._play((flat, other), i, linear, grads[i - self.done])

        results = list(pool.map(play, games)) if pool is not None else [play(i) for i in games]
        total = np.zeros((sides, self.packing.size))
        for row in grads:
            total += row
        if settings.turn:
            total[0] += self.packing.exchanged(total[1])
        gradient = self.packing.collect(total[0])
        if linear:
            gradient[~self._linear] = 0
        self.free = self.free + settings.rate_at(self.done) * gradient
        self.free[: self._decayed] *= settings.decay**settings.batch
        if not np.all(np.isfinite(self.free)):
            raise TengenError(f"training diverged at game {self.done}: lower the rate")
        self.done += settings.batch
        return np.array(results)

    def _play(
        self,
        flats: tuple[Float32Array, Float32Array],
        index: int,
        linear: bool,
        grads: Float32Array,
    ) -> tuple[float, ...]:
        """Play one game and write its gradient, by who has just moved if the network knows it."""
        split, s = self.packing.split, self.settings
        nets = split(flats[0]), split(flats[1])
        # Floats even where a whole number was given: another type would be compiled anew.
        side = Side(nets, self._cats, self._table, s.rewards[0], float(s.beta))
        found = self_play(
            *(side, self._targets, s.size, s.size, float(s.trace), 3 * s.size**2, s.seed, index),
            *(linear, float(s.maxlib), s.turn, (split(grads[0]), split(grads[-1]))),
        )
        return tuple(float(value) for value in found)

    def train(
        self,
        *,
        until: int | None = None,
        run: Run[SymmetrySettings] | None = None,
        keep: Callable[[SelfPlay, Path], None] = lambda _training, _path: None,
        watch: Callable[[SelfPlayReport], None] = lambda _: None,
    ) -> None:
        """Play until `until` games are done, all of the settings' by default.

        In a run it goes on where that stands; every `checkpoint_every` games a row and a state are
        written, every `snapshot_every` games `keep(training, path)` is to write a model. `watch`
        hears reports as often.
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
        """Return the multiple of `every` that the last round reached or passed, 0 for none."""
        mark = self.done // every
        return mark * every if mark > before // every else 0

    def _report(self, rows: FloatArray, seconds: float) -> SelfPlayReport:
        """Return the means over the games of some rounds."""
        plies, ended, score, square, terms = rows.T
        error = float(square.sum() / max(terms.sum(), 1))
        means = float(plies.mean()), float(ended.mean()), float(score.mean())
        return SelfPlayReport(self.done, *means, error, seconds)

    def _save(self, run: Run[SymmetrySettings] | None, report: SelfPlayReport) -> None:
        """Write a row and the state that belongs to it."""
        if run is not None:
            names = ("plies", "ended", "score", "error")
            run.note(self.done, **{name: getattr(report, name) for name in names})
            run.save(self.done, {"free": self.free})


def open_run(folder: Path, settings: SymmetrySettings, *, resume: bool) -> Run[SymmetrySettings]:
    """Claim a folder for self-play, or go on with the run in it.

    Raises
    ------
    RunError
        As `Run.open`; also for another number of games where the rate depends on it.
    """
    found = read_run(folder)
    if resume and found is not None and settings.anneal > 0:
        there = found.settings.get("games", settings.games)
        if there != settings.games:
            raise RunError(f"{folder}: the rate falls towards game {there}, not {settings.games}")
    return Run.open(folder, "symmetry-network", settings, resume=resume)
