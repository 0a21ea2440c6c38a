"""Run jobs in local processes that may be killed at any moment without losing a job.

Each worker has its own pipe, so that a dying worker cannot corrupt the messages of others. Workers
exit normally, running their `atexit` functions, even when their parent is gone.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import queue
import signal
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from types import FrameType
from typing import Any, TypeVar

from tengen.errors import TengenError
from tengen.parallel import LOOKAHEAD_PER_WORKER, WorkerLostError

_Job = TypeVar("_Job")

# Jobs per worker: one running, one waiting, so that it never waits for the parent.
_HELD = 2
# Settings of libraries with threads; a worker gets its share of the cores.
_THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# Seconds for a worker to release its resources, when its work is done and when it is interrupted.
_FAREWELL, _BREAKING_OFF = 12.0, 3.0

_CONTEXT = multiprocessing.get_context("spawn")


class _Worker:
    """One process, its pipe, and the jobs it holds."""

    def __init__(self, packed: bytes, workers: int) -> None:
        self.pipe, far_end = _CONTEXT.Pipe()
        self.process = _CONTEXT.Process(target=_work, args=(far_end,), daemon=True)
        with _share_of_cores(workers):
            self.process.start()
        far_end.close()
        self.held: deque[int] = deque()
        self.send(packed)

    def send(self, message: Any) -> None:
        """Send, unless the worker is gone, which `wait` will report."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self.pipe.send(message)

    def close(self) -> int | None:
        """End the process and return its exit status."""
        self.pipe.close()
        self.process.terminate()
        self.process.join(_BREAKING_OFF)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        status = self.process.exitcode
        self.process.close()
        return status


class Pool:
    """Distributes jobs, collects results, replaces lost workers; workers stay until `close`."""

    def __init__(self, function: Callable[[Any], Any], workers: int, retries: int) -> None:
        try:
            self.packed = pickle.dumps(function)
        except (pickle.PicklingError, AttributeError, TypeError) as failure:
            raise TengenError(
                f"{function!r} cannot be sent to a worker; define it at the top of a module "
                f"({failure})"
            ) from None
        self.size, self.retries = workers, retries
        self.workers: list[_Worker] = []
        self.again: deque[int] = deque()
        self.losses: Counter[int] = Counter()
        self.open: dict[int, Any] = {}

    def run(self, jobs: Iterable[_Job]) -> Generator[tuple[int, Any], int, None]:
        """Yield results until all jobs are done; may be called again."""
        source = enumerate(jobs)
        undelivered = 0
        self._hand_out(source, undelivered)
        while self.open:
            for number, result in self._collect():
                del self.open[number], self.losses[number]
                undelivered = (yield number, result) or 0
            self._hand_out(source, undelivered)

    def close(self, *, at_once: bool = False) -> None:
        """End all workers, after they have released their resources or at once."""
        if not at_once:
            for worker in self.workers:
                worker.pipe.close()
            deadline = time.monotonic() + _FAREWELL
            for worker in self.workers:
                worker.process.join(max(deadline - time.monotonic(), 0.0))
        for worker in self.workers:
            with suppress(ValueError):
                worker.process.terminate()
        for worker in self.workers:
            worker.close()
        self.workers = []

    def _hand_out(self, source: Iterator[tuple[int, Any]], undelivered: int) -> None:
        """Give jobs to the workers with the fewest, starting workers as needed."""
        while True:
            idlest = min(self.workers, key=lambda w: len(w.held), default=None)
            if len(self.workers) < self.size and (idlest is None or idlest.held):
                idlest = None
            elif idlest is None or len(idlest.held) >= _HELD:
                return
            number = self._next_job(source, undelivered)
            if number is None:
                return
            if idlest is None:
                idlest = _Worker(self.packed, self.size)
                self.workers.append(idlest)
            idlest.held.append(number)
            idlest.send((number, pickle.dumps(self.open[number])))

    def _next_job(self, source: Iterator[tuple[int, Any]], undelivered: int) -> int | None:
        """Return a job of a lost worker, or a new one unless too many results wait."""
        if self.again:
            return self.again.popleft()
        if undelivered >= LOOKAHEAD_PER_WORKER * self.size:
            return None
        for number, job in source:
            self.open[number] = job
            return number
        return None

    def _collect(self) -> Iterator[tuple[int, Any]]:
        """Wait for messages and yield the results."""
        by_pipe = {worker.pipe: worker for worker in self.workers}
        for pipe in wait(list(by_pipe)):
            worker = by_pipe[pipe]  # type: ignore[index]
            try:
                number, failure, result = worker.pipe.recv()
            except (EOFError, OSError):
                self._lost(worker)
                continue
            if failure is not None:
                raise failure
            worker.held.remove(number)
            yield number, result

    def _lost(self, worker: _Worker) -> None:
        """Requeue the jobs of a lost worker; count the loss for the job it was running."""
        self.workers.remove(worker)
        status = worker.close()
        if worker.held:
            number = worker.held[0]
            self.losses[number] += 1
            if self.losses[number] > self.retries:
                raise WorkerLostError(
                    f"job {number} lost {self.losses[number]} workers; the last ended with exit "
                    f"status {status}"
                )
        self.again.extend(worker.held)


def _work(pipe: Connection) -> None:
    """Run jobs in a worker until the parent goes away."""
    # Ctrl-C reaches the whole group; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _told_to_end)
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    try:
        packed = pipe.recv()
    except (EOFError, OSError):
        return
    idle = threading.Event()
    threading.Thread(target=_listen, args=(pipe, inbox, idle), daemon=True).start()
    function: Any = None
    while True:
        idle.set()
        message = inbox.get()
        if message is None:
            break
        idle.clear()
        number, packed_job = message
        result, failure = None, None
        try:
            if function is None:
                function = pickle.loads(packed)
            result = function(pickle.loads(packed_job))
        except Exception as raised:
            failure = _portable(raised, number)
        try:
            _reply(pipe, number, failure, result)
        except (BrokenPipeError, ConnectionResetError):
            _end_within(_FAREWELL)
            break
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it is ending


def _told_to_end(number: int, frame: FrameType | None) -> None:
    """Interrupt the job, but not the cleanup after it."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _end_within(_BREAKING_OFF)
    raise SystemExit(0)


def _end_within(seconds: float) -> None:
    """Set a timer, where there is one, in case the shutdown hangs; only the first call counts."""
    if hasattr(signal, "setitimer") and not signal.getitimer(signal.ITIMER_REAL)[0]:
        signal.setitimer(signal.ITIMER_REAL, seconds + 0.5)


def _listen(pipe: Connection, inbox: queue.SimpleQueue[Any], idle: threading.Event) -> None:
    """Receive jobs while others run, so that sending never blocks; end when the parent is gone."""
    with suppress(EOFError, OSError):
        while True:
            inbox.put(pipe.recv())
    patience = _FAREWELL
    if not idle.is_set():  # its result is no longer needed
        patience = _BREAKING_OFF if hasattr(signal, "pthread_kill") else 0.0
    _end_within(patience)
    inbox.put(None)
    if patience == _BREAKING_OFF:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
    time.sleep(patience)
    os._exit(0)


def _reply(pipe: Connection, number: int, failure: Exception | None, result: Any) -> None:
    """Send a result, or the failure to pickle it."""
    try:
        pipe.send((number, failure, result))
    except (pickle.PicklingError, AttributeError, TypeError) as failure:
        pipe.send((number, _portable(failure, number), None))


def _portable(raised: Exception, number: int) -> Exception:
    """Return an exception that can be pickled, with the worker's traceback as a note."""
    import traceback

    trace = "".join(traceback.format_exception(raised))
    try:
        portable: Exception = pickle.loads(pickle.dumps(raised))
    except Exception:
        portable = RuntimeError(f"{type(raised).__name__}: {raised}")
    portable.add_note(f"while working on job {number}; in the worker:\n{trace}")
    return portable


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
