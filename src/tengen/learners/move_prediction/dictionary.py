"""Count the patterns at experts' moves and choose those that become features of the full recipe.

Games are counted in jobs of a few hundred; counts of jobs are added, so the result does not depend
on how many processes share the work. Memory grows with the number of distinct patterns, not with
the games.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import IntArray
from tengen.learners.move_prediction import pattern_kernels
from tengen.learners.move_prediction.family_kernels import FAMILIES
from tengen.learners.move_prediction.pattern_kernels import RINGS
from tengen.learners.move_prediction.tables import Tables
from tengen.learners.move_prediction.training_kernels import expert_keys
from tengen.parallel import map_jobs
from tengen.records.arrays import GameArrays

Counts = tuple[IntArray, IntArray]
"""Distinct keys and how often each occurred."""

GAMES_PER_JOB = 250


class PatternCounter:
    """Count 64-bit keys in a hash table that grows."""

    def __init__(self, size: int = 1 << 16) -> None:
        self._table = np.zeros(size, np.int64)
        self._counts = np.zeros(size, np.int64)
        self._used = np.zeros(1, np.int64)

    def add(self, keys: IntArray, amounts: IntArray) -> None:
        """Add amounts to the counts of keys; key 0 is left out."""
        done = 0
        while done < len(keys):
            done += int(
                pattern_kernels.add_counts(
                    self._table, self._counts, self._used, keys[done:], amounts[done:]
                )
            )
            if done < len(keys):
                self._grow()

    def __len__(self) -> int:
        return int(self._used[0])

    def chosen(self, minimum: int) -> Counts:
        """Return the keys that occurred at least `minimum` times, ascending, with their counts."""
        keep = (self._table != 0) & (self._counts >= minimum)
        keys, counts = self._table[keep], self._counts[keep]
        order = np.argsort(keys)
        return keys[order], counts[order]

    def _grow(self) -> None:
        old, counts = self._table, self._counts
        keep = old != 0
        self._table = np.zeros(4 * len(old), np.int64)
        self._counts = np.zeros(4 * len(old), np.int64)
        self._used[0] = 0
        self.add(old[keep], counts[keep])


@dataclass(frozen=True)
class Job:
    """Some games whose patterns are to be counted."""

    points: NDArray[np.int16]
    colours: NDArray[np.int8]
    offsets: IntArray
    rows: int
    cols: int
    families: tuple[int, ...] = tuple(range(FAMILIES))


def _count(job: Job) -> Counts:
    """Count the patterns of one job's games."""
    tables = Tables.of(job.rows, job.cols)
    out = np.zeros((len(job.points), FAMILIES * RINGS), np.int64)
    games = np.arange(len(job.offsets) - 1)
    n = expert_keys(
        job.points, job.colours, job.offsets, games, job.rows, job.cols,
        tables.empty, tables.hash_keys, tables.ring_of, tables.marks, out,
    )  # fmt: skip
    wanted = [family * RINGS + ring for family in job.families for ring in range(RINGS)]
    met = out[:n, wanted]
    keys, counts = np.unique(met[met != 0], return_counts=True)
    return keys, counts.astype(np.int64)


def count_patterns(
    games: GameArrays,
    rows: int,
    cols: int,
    *,
    which: IntArray | None = None,
    families: tuple[int, ...] = tuple(range(FAMILIES)),
    workers: int = 1,
    ray: str | None = None,
    on_games: Callable[[int], None] = lambda games: None,
) -> PatternCounter:
    """Count every pattern of these families at the experts' moves of games (all of one size).

    `which` are the numbers of the games to count; all by default.
    """
    counter = PatternCounter()
    chosen = np.arange(len(games)) if which is None else which
    jobs = (replace(job, families=families) for job in cut_into_jobs(games, chosen, rows, cols))
    for keys, counts in map_jobs(_count, jobs, workers=workers, ray=ray):
        counter.add(keys, counts)
        on_games(GAMES_PER_JOB)
    return counter


def cut_into_jobs(games: GameArrays, which: IntArray, rows: int, cols: int) -> Iterator[Job]:
    """Yield the games numbered `which` in jobs of GAMES_PER_JOB, copying one job at a time."""
    for first in range(0, len(which), GAMES_PER_JOB):
        part = games.take(which[first : first + GAMES_PER_JOB])
        yield Job(part.moves, part.colours, part.offsets, rows, cols)
