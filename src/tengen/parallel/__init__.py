"""Run independent jobs: in this process, in local processes, or on a Ray cluster.

`map_jobs` runs jobs once, `Team` keeps its workers for several rounds, `share` splits a loop among
threads. The results do not depend on where jobs run, since every job has its seed (`spawn_seeds`).
A *job* is one picklable argument; a *backend* takes numbered jobs and yields numbered results in
the order in which they finish.
"""

from __future__ import annotations

import os
import threading
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Generic, Self, TypeVar

import numpy as np

from tengen.errors import TengenError

if TYPE_CHECKING:
    from tengen.parallel.processes import Pool

__all__ = ["Team", "WorkerLostError", "map_jobs", "share", "spawn_seeds"]

LOOKAHEAD_PER_WORKER = 32
"""Results per worker that may wait for an earlier job before no new job is started."""

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
    """Yield `function(job)` for every job; work starts with the first `next`.

    Parameters
    ----------
    workers
        1 runs in this process; more start that many processes (by spawn, so that a script needs
        its `if __name__ == "__main__":`).
    ray
        Address of a Ray cluster (`auto`, `host:port`, or `local` to start one), used instead of
        `workers`. Needs the extra: `pip install tengen[ray]`.
    retries
        How often a job is tried again after its worker was lost, not counting lost nodes. A job
        that raises is not tried again: its exception is raised here, with a note.
    ordered
        Yield in the order of the jobs; otherwise as they finish.

    `jobs` may be endless: it is read only a little ahead. Closing the iterator, or an interrupt,
    ends the workers at once. With processes or Ray, functions must be importable by name. Raises
    `WorkerLostError` when one job lost `retries` + 1 workers.

    >>> list(map_jobs(abs, [-1, -2]))
    [1, 2]
    """
    if workers < 1:
        raise TengenError(f"workers must be at least 1, not {workers}")
    return _deliver(_backend(function, jobs, workers, ray, retries), ordered)


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
    ) -> None:
        self._begin = partial(_backend, function, workers=workers, ray=ray, retries=_RETRIES)
        self._pool: Pool | None = None
        if workers > 1 and ray is None:
            from tengen.parallel.processes import Pool

            self._pool = Pool(function, workers, _RETRIES)

    def map(self, jobs: Iterable[_Job]) -> list[_Result]:
        """Return the results of one round of jobs, in their order."""
        backend = self._begin(jobs) if self._pool is None else self._pool.run(jobs)
        return list(_deliver(backend, ordered=True))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close(at_once=kind is not None)

    def close(self, *, at_once: bool = False) -> None:
        """End the workers after they release their resources, or at once."""
        if self._pool is not None:
            if not at_once:
                self._pool.finish()
            self._pool.close()


def spawn_seeds(seed: int, count: int, *key: int | str) -> list[int]:
    """Derive `count` independent seeds (below 2**63) from one; longer lists start like shorter.

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


_Backend = Generator[tuple[int, _Result], int, None]
"""Yields (job number, result); receives the number of results not delivered yet."""


def _backend(
    function: Callable[[_Job], _Result],
    jobs: Iterable[_Job],
    workers: int,
    ray: str | None,
    retries: int,
) -> _Backend[_Result]:
    if ray is not None:
        from tengen.parallel.cluster import run_on_ray

        return run_on_ray(function, jobs, address=ray, retries=retries)
    if workers > 1:
        from tengen.parallel.processes import run_in_processes

        return run_in_processes(function, jobs, workers=workers, retries=retries)
    return _run_here(function, jobs)


def _run_here(function: Callable[[_Job], _Result], jobs: Iterable[_Job]) -> _Backend[_Result]:
    for number, job in enumerate(jobs):
        try:
            result = function(job)
        except Exception as failure:
            failure.add_note(f"while working on job {number}")
            raise
        yield number, result


def _deliver(backend: _Backend[_Result], ordered: bool) -> Iterator[_Result]:
    """Yield the results, in order if asked for."""
    waiting: dict[int, _Result] = {}
    due = 0
    try:
        finished = next(backend, None)
        while finished is not None:
            number, result = finished
            if ordered:
                waiting[number] = result
                while due in waiting:
                    yield waiting.pop(due)
                    due += 1
            else:
                yield result
            try:
                finished = backend.send(len(waiting))
            except StopIteration:
                finished = None
    finally:
        backend.close()


# ----- Threads -----

_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None


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


def _threads() -> ThreadPoolExecutor:
    """Return the threads, started once: that costs more than many loops."""
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="tengen")
        return _pool


def _forget() -> None:
    """Forget the parent's threads in a forked child."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
