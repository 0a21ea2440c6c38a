"""Run jobs in local processes: `concurrent.futures`, and workers that end with their parent."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing.connection import Connection
from typing import Any

from tengen.errors import TengenError
from tengen.parallel import attempt

# Settings of libraries with threads; a worker gets its share of the cores.
_THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_CONTEXT = multiprocessing.get_context("spawn")


class Processes:
    """Worker processes that call one function; started when needed, also after `close`."""

    def __init__(self, function: Callable[[Any], Any], workers: int, retries: int) -> None:
        try:
            self._packed = pickle.dumps(function)
        except (pickle.PicklingError, AttributeError, TypeError) as failure:
            raise TengenError(
                f"{function!r} cannot be sent to a worker; define it at the top of a module "
                f"({failure})"
            ) from None
        self.size, self._retries = workers, retries
        self._pool: ProcessPoolExecutor | None = None

    def submit(self, job: Any) -> Future[Any]:
        """Hand a job to the workers."""
        try:
            return self._submit(job)
        except BrokenProcessPool:  # a worker has died since
            self.close()
            return self._submit(job)

    def _submit(self, job: Any) -> Future[Any]:
        if self._pool is None:
            # Nothing is ever sent: workers end when the other end is closed, by us or our death.
            held, self._leash = _CONTEXT.Pipe(duplex=False)
            self._pool = ProcessPoolExecutor(self.size, _CONTEXT, _begin, (self._packed, held))
        with _share_of_cores(self.size):
            return self._pool.submit(_call, job)

    def loss(self, failure: Exception) -> tuple[str, int] | None:
        """Return what took a job away, and how often it may; None if it was nothing of the kind.

        When one worker dies, the jobs of all workers are lost.
        """
        return ("workers", self._retries) if isinstance(failure, BrokenProcessPool) else None

    def close(self, *, at_once: bool = False) -> None:
        """End the workers, at once or after they have ended normally."""
        if self._pool is None:
            return
        pool, self._pool = self._pool, None
        if at_once:
            self._leash.close()
        pool.shutdown(cancel_futures=True)
        self._leash.close()


# ----- In the worker -----

_packed = b""


def _begin(packed: bytes, held: Connection) -> None:
    global _packed
    _packed = packed
    # Ctrl-C reaches the whole group; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(held,), daemon=True).start()


def _end_with_parent(held: Connection) -> None:
    with suppress(EOFError, OSError):
        held.recv_bytes()
    os._exit(0)


@cache
def _unpacked() -> Callable[[Any], Any]:
    function: Callable[[Any], Any] = pickle.loads(_packed)
    return function


def _function(job: Any) -> Any:
    return _unpacked()(job)  # unpacked here, because the parent hears of what fails in a job


def _call(job: Any) -> tuple[Exception | None, Any]:
    return attempt(_function, job)


@contextmanager
def _share_of_cores(workers: int) -> Iterator[None]:
    """Limit the threads of processes started in the block to their share of the cores."""
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    share = str(max(1, cores // workers))
    added = [name for name in _THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, share))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
