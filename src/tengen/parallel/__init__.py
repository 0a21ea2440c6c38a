"""Run independent jobs: in this process, in local processes, or on a Ray cluster.

`map_jobs` runs jobs once, `Team` keeps its workers for several rounds, `share` splits a loop among
threads. The results do not depend on where jobs run, since every job has its seed (`spawn_seeds`).
A *job* is one picklable argument; functions must be importable by name. Nothing here knows of Go.
"""

from __future__ import annotations

import os
import pickle
import traceback
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from tengen.errors import TengenError

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
    `host:port`, or `local` to start one; needs the extra `ray`). A job whose worker was
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


class _Workers(Protocol):
    """What runs jobs elsewhere: `Processes` or `Cluster`."""

    size: int

    def submit(self, job: Any) -> Future[Any]: ...
    def loss(self, failure: Exception) -> tuple[str, int] | None: ...
    def close(self, *, at_once: bool = False) -> None: ...


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
        self._function = function
        self._workers: _Workers | None = None
        if ray is not None:
            from tengen.parallel.cluster import Cluster

            self._workers = Cluster(function, ray, retries)
        elif workers > 1:
            from tengen.parallel.processes import Processes

            self._workers = Processes(function, workers, retries)

    def map(self, jobs: Iterable[_Job]) -> list[_Result]:
        """Return the results of one round of jobs, in their order."""
        return list(self.iterate(jobs))

    def iterate(self, jobs: Iterable[_Job], *, ordered: bool = True) -> Iterator[_Result]:
        """Yield the results of one round of jobs; closing the iterator early ends the workers."""
        if self._workers is None:
            for number, job in enumerate(jobs):
                try:
                    result = self._function(job)
                except Exception as failure:
                    failure.add_note(f"while working on job {number}")
                    raise
                yield result
        else:
            yield from _Round(self._workers, jobs).results(ordered)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self._workers is not None:
            self._workers.close(at_once=kind is not None)


class _Round:
    """One round of jobs of a team."""

    def __init__(self, workers: _Workers, jobs: Iterable[Any]) -> None:
        self.workers = workers
        self.source = enumerate(jobs)
        self.running: dict[Future[Any], tuple[int, Any]] = {}
        self.lost: deque[tuple[int, Any]] = deque()  # jobs to give out again
        self.losses: Counter[tuple[int, str]] = Counter()

    def results(self, ordered: bool) -> Iterator[Any]:
        """Yield the results in the order of the jobs or as they come."""
        waiting: dict[int, Any] = {}
        due = 0
        try:
            while True:
                self._hand_out(len(waiting))
                if not self.running:
                    return
                for future in wait(self.running, return_when=FIRST_COMPLETED).done:
                    waiting |= self._collect(future)
                while waiting and (not ordered or due in waiting):
                    yield waiting.pop(due if ordered else next(iter(waiting)))
                    due += 1
        finally:
            if self.running:  # nobody wants what these jobs still do
                self.workers.close(at_once=True)

    def _hand_out(self, waiting: int) -> None:
        # Twice the workers, so that none waits between two jobs.
        while len(self.running) < 2 * self.workers.size:
            if self.lost:
                entry = self.lost.popleft()
            elif waiting >= LOOKAHEAD_PER_WORKER * self.workers.size:
                return
            elif (following := next(self.source, None)) is not None:
                entry = following
            else:
                return
            self.running[self.workers.submit(entry[1])] = entry

    def _collect(self, future: Future[Any]) -> dict[int, Any]:
        """Return the result by its number; nothing if the job was lost."""
        number, job = self.running.pop(future)
        try:
            failure, result = future.result()
        except Exception as trouble:
            if (loss := self.workers.loss(trouble)) is not None:
                what, most = loss
                self.losses[number, what] += 1
                if self.losses[number, what] > most:
                    text = f"job {number} lost {most + 1} {what}: {trouble}"
                    raise WorkerLostError(text) from None
                self.lost.append((number, job))
                return {}
            failure, result = trouble, None  # it could not be sent
        if failure is not None:
            failure.add_note(f"while working on job {number}")
            raise failure
        return {number: result}


def attempt(function: Callable[[Any], Any], job: Any) -> tuple[Exception | None, Any]:
    """Do a job in a worker; return its failure, which the parent can read, or its result."""
    try:
        return None, function(job)
    except Exception as raised:
        try:
            failure: Exception = pickle.loads(pickle.dumps(raised))
        except Exception:
            failure = RuntimeError(f"{type(raised).__name__}: {raised}")
        failure.add_note(f"in the worker:\n{''.join(traceback.format_exception(raised))}")
        return failure, None


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
