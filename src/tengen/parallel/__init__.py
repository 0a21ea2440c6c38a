"""Run independent jobs: in this process, in local processes, or on a Ray cluster.

`map_jobs` runs jobs once, `Team` keeps its workers for several rounds, `share` splits a loop among
threads. The results do not depend on where jobs run, since every job has its seed (`spawn_seeds`).
A *job* is one picklable argument; functions must be importable by name.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Generic, Self, TypeVar

import numpy as np

from tengen.errors import TengenError

if TYPE_CHECKING:
    from tengen.parallel.processes import Pool

__all__ = ["Team", "WorkerLostError", "map_jobs", "share", "spawn_seeds"]

LOOKAHEAD_PER_WORKER = 32  # results that may wait for an earlier job before new jobs are held back
_RETRIES = 2

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")


class WorkerLostError(TengenError):
    """A job took its worker down (killed, out of memory) more often than retries allow."""


def map_jobs(
    function: Callable[[_Job], _Result],
    jobs: Iterable[_Job],
    *,
    workers: int = 1,
    ray: str | None = None,
    retries: int = _RETRIES,
    ordered: bool = True,
) -> Iterator[_Result]:
    """Yield `function(job)` for every job, in their order or as they finish.

    One worker is this process; more are processes (by spawn, so that a script needs its
    `if __name__ == "__main__":`). `ray` is the address of a Ray cluster to use instead (`auto`,
    `host:port`, or `local` to start one; needs `pip install tengen[ray]`). A job whose worker was
    lost is tried again up to `retries` times; the exception of a job is raised here, with a note.

    `jobs` may be endless: it is read only a little ahead, and work starts with the first `next`.
    Closing the iterator, or an interrupt, ends the workers at once.

    >>> list(map_jobs(abs, [-1, -2]))
    [1, 2]
    """
    if workers < 1:
        raise TengenError(f"workers must be at least 1, not {workers}")

    def results() -> Iterator[_Result]:
        with Team(function, workers=workers, ray=ray, retries=retries) as team:
            yield from team.iterate(jobs, ordered=ordered)

    return results()


# Yields (job number, result); receives the number of results not delivered yet.
_Backend = Generator[tuple[int, _Result], int, None]


class Team(Generic[_Job, _Result]):
    """Like `map_jobs` for several rounds of jobs with the same workers; use it as a context.

    >>> with Team(abs) as team:
    ...     team.map([-1, -2]), team.map([-3])
    ([1, 2], [3])
    """

    def __init__(
        self,
        function: Callable[[_Job], _Result],
        *,
        workers: int = 1,
        ray: str | None = None,
        retries: int = _RETRIES,
    ) -> None:
        self._pool: Pool | None = None
        self._run: Callable[[Iterable[_Job]], _Backend[_Result]] = partial(_run_here, function)
        if ray is not None:
            from tengen.parallel.cluster import run_on_ray

            self._run = partial(run_on_ray, function, address=ray, retries=retries)
        elif workers > 1:
            from tengen.parallel.processes import Pool

            self._pool = Pool(function, workers, retries)
            self._run = self._pool.run

    def map(self, jobs: Iterable[_Job]) -> list[_Result]:
        """Return the results of one round of jobs, in their order."""
        return list(self.iterate(jobs))

    def iterate(self, jobs: Iterable[_Job], *, ordered: bool = True) -> Iterator[_Result]:
        """Yield the results of one round of jobs."""
        backend = self._run(jobs)
        waiting: dict[int, _Result] = {}
        due = 0
        with closing(backend), suppress(StopIteration):
            number, result = next(backend)
            while True:
                if ordered:
                    waiting[number] = result
                    while due in waiting:
                        yield waiting.pop(due)
                        due += 1
                else:
                    yield result
                number, result = backend.send(len(waiting))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self._pool is not None:
            self._pool.close(at_once=kind is not None)


def _run_here(function: Callable[[_Job], _Result], jobs: Iterable[_Job]) -> _Backend[_Result]:
    for number, job in enumerate(jobs):
        try:
            result = function(job)
        except Exception as failure:
            failure.add_note(f"while working on job {number}")
            raise
        yield number, result


def spawn_seeds(seed: int, count: int, *key: int | str) -> list[int]:
    """Derive `count` independent seeds (below 2**63) from one; longer lists extend shorter ones.

    `key` separates streams for different purposes, so that more games in one do not shift another.

    >>> spawn_seeds(7, 2) == spawn_seeds(7, 5)[:2]
    True
    >>> spawn_seeds(7, 1, "openings") == spawn_seeds(7, 1, "games")
    False
    """
    prefix = tuple(zlib.crc32(k.encode()) if isinstance(k, str) else k for k in key)
    return [
        int(np.random.SeedSequence(seed, spawn_key=(*prefix, i)).generate_state(1, np.uint64)[0])
        >> 1
        for i in range(count)
    ]


# ----- Threads -----


def share(work: Callable[[int, int], object], count: int, *, least: int = 1) -> None:
    """Call `work(first, last)` on shares of `range(count)`, each at least `least` long.

    The shares run in parallel, one per core; the call returns when all are done.

    >>> done = []
    >>> share(lambda first, last: done.extend(range(first, last)), 3)
    >>> sorted(done)
    [0, 1, 2]
    """
    shares = max(min(os.cpu_count() or 1, count // least), 1)
    edges = [count * i // shares for i in range(shares + 1)]
    pool = _threads() if shares > 1 else None
    if pool is None:
        work(0, count)
        return
    running = [pool.submit(work, *edge) for edge in pairwise(edges[1:])]
    work(edges[0], edges[1])
    for part in running:
        part.result()


@cache
def _threads() -> ThreadPoolExecutor:
    """Return the thread pool, started once because that costs more than many loops."""
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="tengen")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.cache_clear)  # a forked child has no threads
