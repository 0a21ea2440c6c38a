"""Train a network by TD(lambda) self-play in rounds, with checkpoints; know no files but a run's.

A round plays `batch` games on the same weights (1 is the paper) and adds their gradients in the
order of the games: the result depends on `batch` and never on the number of workers. Game i draws
its random numbers from stream i of the seed, so a training that is stopped and resumed gives the
same weights, bit for bit.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.errors import SpecError, TengenError
from tengen.learners.symmetry_network.evaluation_kernels import Side
from tengen.learners.symmetry_network.game_kernels import self_play
from tengen.learners.symmetry_network.packing import FlatArray, Packing
from tengen.learners.symmetry_network.rewards import target_table, value_table
from tengen.learners.symmetry_network.settings import Settings
from tengen.models.checkpoints import Checkpoints
from tengen.models.files import write_atomic

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Progress:
    """What happened in some games of a training: means over them."""

    games: int  # finished so far
    plies: float
    ended: float  # share that ended by two passes
    score: float  # area for Black
    error: float  # mean squared error of the outputs that apply
    seconds: float  # spent on these games


class Trainer:
    """A training under way: `free` numbers, games `done`; `advance` plays one round."""

    def __init__(self, settings: Settings, *, workers: int = 1) -> None:
        self.settings = settings
        self.workers = workers
        self.packing = Packing(settings.architecture)
        self.free: FloatArray = settings.architecture.initial(settings.seed, settings.hidden_scale)
        self.done = 0
        self._cats = settings.categories.packed()
        self._table = value_table(settings.capture, settings.stone).astype(np.float32)
        self._targets = target_table(settings.capture).astype(np.float32)
        self._decayed = settings.architecture.weights
        slices = settings.architecture.slices
        self._linear = np.zeros(settings.architecture.size, bool)
        for name in ("OI", "BO"):
            self._linear[slices[name]] = True

    def advance(self, pool: ThreadPoolExecutor | None = None) -> NDArray[np.float64]:
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
        self, flats: tuple[FlatArray, FlatArray], index: int, linear: bool, grads: FlatArray
    ) -> tuple[float, ...]:
        """Play one game and write its gradient, by who has just moved if the network knows it."""
        split, s = self.packing.split, self.settings
        nets = split(flats[0]), split(flats[1])
        side = Side(nets, self._cats, self._table, s.capture, s.beta)
        found = self_play(
            *(side, self._targets, s.size, s.size, s.trace, 3 * s.size**2, s.seed, index),
            *(linear, s.maxlib, s.turn, (split(grads[0]), split(grads[-1]))),
        )
        return tuple(float(value) for value in found)

    def run(self, until: int | None = None, *, report_every: int = 1000) -> Iterator[Progress]:
        """Train until `until` games are done, reporting about every so many of them."""
        goal = self.settings.games if until is None else until
        with ThreadPoolExecutor(self.workers) as pool:
            rows: list[NDArray[np.float64]] = []
            begin = time.perf_counter()
            while self.done < goal:
                mark = self.done // report_every
                rows.append(self.advance(pool if self.workers > 1 else None))
                if self.done // report_every != mark or self.done >= goal:
                    yield summarise(self.done, np.concatenate(rows), time.perf_counter() - begin)
                    rows, begin = [], time.perf_counter()


def summarise(done: int, rows: NDArray[np.float64], seconds: float) -> Progress:
    """Return the means over the games of some rounds."""
    plies, ended, score, square, terms = rows.T
    error = float(square.sum() / max(terms.sum(), 1))
    return Progress(done, plies.mean(), ended.mean(), score.mean(), error, seconds)


def train_run(
    settings: Settings,
    folder: Path,
    *,
    workers: int = 1,
    resume: bool = False,
    snapshot_every: int = 20_000,
    checkpoint_every: int = 2_000,
    save: Callable[[Trainer, Path], None] | None = None,
    watch: Callable[[Progress], None] = lambda _: None,
) -> Trainer:
    """Train in a run's folder: config, metrics, checkpoints, a snapshot every so many games.

    With `resume` it goes on from the newest checkpoint; only `games` may differ from then.
    `save(trainer, path)` writes a playable model.

    Raises
    ------
    SpecError
        If the folder has a training and `resume` is not given, or other settings than asked.
    """
    trainer = Trainer(settings, workers=workers)
    checkpoints = Checkpoints(folder / "checkpoints")
    stored = checkpoints.latest()
    if stored is not None:
        if not resume:
            raise SpecError(f"{folder}: has a training already; --resume continues it")
        _restore(trainer, stored.arrays["free"], stored.step, stored.state, folder)
    _write_config(settings, folder)
    metrics = folder / "metrics.jsonl"
    _cut_metrics(metrics, trainer.done)
    if save is not None and trainer.done == 0:
        save(trainer, folder / "snapshots" / _snapshot(0))
    for progress in trainer.run(report_every=min(checkpoint_every, snapshot_every)):
        with metrics.open("a") as file:
            file.write(json.dumps(asdict(progress)) + "\n")
        before = progress.games - settings.batch * (1 + checkpoint_every // settings.batch)
        if save is not None and progress.games // snapshot_every > max(before, 0) // snapshot_every:
            mark = progress.games // snapshot_every * snapshot_every
            path = folder / "snapshots" / _snapshot(mark)
            if mark and not path.exists():
                save(trainer, path)
        checkpoints.save(trainer.done, {"free": trainer.free}, {"recipe": settings.recipe})
        watch(progress)
    return trainer


def _snapshot(games: int) -> str:
    """Name the snapshot after so many games."""
    return f"isn-{games:07d}.safetensors"


def _restore(
    trainer: Trainer, free: FloatArray, done: int, state: dict[str, Any], folder: Path
) -> None:
    """Put a trainer where a checkpoint was."""
    asked, found = trainer.settings.recipe, dict(state["recipe"])
    asked, found = json.loads(json.dumps(asked)), json.loads(json.dumps(found))
    free_to_differ = {"games"} if not trainer.settings.anneal else set()
    # A setting that is younger than the checkpoint had its default.
    usual = json.loads(json.dumps(Settings().recipe))
    differing = [k for k in asked if k not in free_to_differ and asked[k] != found.get(k, usual[k])]
    if differing:
        raise SpecError(f"{folder}: was trained with other settings: {', '.join(differing)}")
    trainer.free, trainer.done = free.copy(), done


def _write_config(settings: Settings, folder: Path) -> None:
    """Write the resolved settings."""
    import tomli_w

    recipe = json.loads(json.dumps(settings.recipe))
    write_atomic(folder / "config.toml", tomli_w.dumps(recipe))


def _cut_metrics(path: Path, done: int) -> None:
    """Drop metrics of games after the checkpoint; they will be played again."""
    if path.exists():
        lines = [line for line in path.read_text().splitlines() if line.strip()]
        kept = [line for line in lines if json.loads(line)["games"] <= done]
        write_atomic(path, "".join(line + "\n" for line in kept))
