"""Run tasks in processes of their own, so that thinking never blocks the server; know no task.

A `Lane` has one or more processes and a queue. A job can be cancelled at any time: a task that
does not stop by itself soon is killed with its process. A process that dies in the middle of a job
is replaced and the job is run once more. Only JSON travels between the processes.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import Any

import psutil

from tengen.errors import TengenError

_GRACE = 1.0
"""Seconds that a cancelled task has to stop before its process is killed."""
BRIEF = 30.0
"""The same for tasks that are over soon anyway: a new process would take longer to load models."""
_NICE = 8
"""Priority of background work: about a sixth of the time of a busy processor."""
_ATTEMPTS = 2
"""How often a job is tried when its process dies."""

Task = Callable[[dict[str, Any], "Context"], Any]
"""What a process runs: plain values in, plain values out."""


class CancelledJob(Exception):
    """The job was cancelled before it was done."""


class WorkerDiedError(TengenError):
    """The process died again and again while it worked on the job."""


class TooLongError(TengenError):
    """The job took longer than it may."""


@dataclass(frozen=True)
class Context:
    """What a task can do besides its work: tell parts of its result, and ask whether to stop."""

    tell: Callable[[Any], None]
    stop: Callable[[], bool]


@dataclass(eq=False)
class Job:
    """One task to be done; `future` holds its result."""

    task: str
    arguments: dict[str, Any]
    on_part: Callable[[Any], None] = lambda part: None
    grace: float = _GRACE
    limit: float = math.inf
    future: Future[Any] = field(default_factory=Future)
    _stopping: threading.Event = field(default_factory=threading.Event)

    def cancel(self) -> None:
        """Give the job up, whether it waits or runs."""
        self._stopping.set()

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody gave it up."""
        return self._stopping.is_set()


class Lane:
    """Processes that do one kind of work, and the jobs that wait for them.

    With `background` they take only the processor time that others leave. Until the kernels named
    `spare` are compiled, they run all kernels as plain Python.
    """

    def __init__(
        self, tasks: str, workers: int = 1, *, background: bool = False, spare: str = ""
    ) -> None:
        self._options = tasks, background, spare
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="lane")
        self._local = threading.local()
        self._children: set[_Child] = set()
        self._waiting: set[Job] = set()
        self._closed = False

    def submit(
        self,
        task: str,
        arguments: dict[str, Any],
        on_part: Callable[[Any], None] = lambda part: None,
        *,
        grace: float = _GRACE,
        limit: float = math.inf,
    ) -> Job:
        """Queue a job that may use `limit` seconds of processor time.

        `on_part` is called, from another thread, with each part of the result.
        """
        job = Job(task, arguments, on_part, grace, limit)
        self._waiting.add(job)
        self._pool.submit(self._work, job)
        return job

    def close(self) -> None:
        """Cancel everything and end the processes."""
        self._closed = True
        for job in list(self._waiting):
            job.cancel()
        for child in list(self._children):
            child.kill()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _work(self, job: Job) -> None:
        try:
            result = self._attempt(job)
        except BaseException as failure:
            job.future.set_exception(failure)
        else:
            job.future.set_result(result)
        finally:
            self._waiting.discard(job)

    def _attempt(self, job: Job) -> Any:
        for _ in range(_ATTEMPTS):
            if job.is_cancelled or self._closed:
                raise CancelledJob
            child = self._child()
            try:
                return child.run(job)
            except TooLongError:
                self._drop(child)
                raise
            except (EOFError, OSError):
                self._drop(child)
            except CancelledJob:
                if not child.is_idle:
                    self._drop(child)
                raise
        raise WorkerDiedError(f"the process that worked on this ({job.task}) died twice")

    def _child(self) -> _Child:
        child: _Child | None = getattr(self._local, "child", None)
        if child is None or not child.process.is_alive():
            child = _Child(*self._options)
            self._local.child = child
            self._children.add(child)
            if self._closed:  # meanwhile, and without this process
                self._drop(child)
                raise CancelledJob
        return child

    def _drop(self, child: _Child) -> None:
        child.kill()
        self._children.discard(child)
        self._local.child = None


class _Child:
    """One process and the pipe to it; used by one thread only."""

    def __init__(self, tasks: str, background: bool, spare: str) -> None:
        # A spawned process inherits nothing of ours, neither locks nor sockets.
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._stop = context.RawValue(ctypes.c_bool, False)
        arguments = (tasks, background, spare, theirs, self._stop)
        self.process = context.Process(target=_serve, args=arguments, daemon=True)
        self.process.start()
        theirs.close()
        self.is_idle = True

    def run(self, job: Job) -> Any:
        """Do one job; raises EOFError or OSError if the process dies."""
        self._stop.value = False
        self.is_idle = False
        self._pipe.send_bytes(json.dumps([job.task, job.arguments]).encode())
        asked, used = 0.0, 0.0
        while True:
            if self._pipe.poll(0.05):
                kind, value = json.loads(self._pipe.recv_bytes())
                if kind == "begun":  # a new process has been loading until now
                    used = self._used()
                    continue
                if kind == "part":
                    job.on_part(value)
                    continue
                self.is_idle = True
                if job.is_cancelled:
                    raise CancelledJob
                if kind == "done":
                    return value
                raise TengenError(value) if kind == "refused" else RuntimeError(value)
            if used and self._used() - used > job.limit:
                raise TooLongError(f"given up after {job.limit:g} seconds")
            if job.is_cancelled:
                self._stop.value = True
                asked = asked or time.monotonic()
                if time.monotonic() - asked > job.grace:
                    raise CancelledJob

    def _used(self) -> float:
        """Return the seconds of processor time that the process has used."""
        try:
            times = psutil.Process(self.process.pid).cpu_times()
        except psutil.Error as gone:
            raise EOFError from gone
        return float(times.user + times.system)

    def kill(self) -> None:
        """End the process at once."""
        self.process.kill()
        self.process.join(5)
        self._pipe.close()


def _leave_with_server() -> None:
    """End this process as soon as the server is gone, whatever it does: nobody wants the result."""
    server = multiprocessing.parent_process()
    assert server is not None
    wait([server.sentinel])
    os._exit(0)


def compile_kernels() -> None:
    """Compile all kernels in a process of low priority that ends with the server."""
    multiprocessing.get_context("spawn").Process(target=_compile, daemon=True).start()


def _compile() -> None:
    from tengen import warming

    _begin(background=True)
    for package in warming.STEPS:
        warming.warm_up(package)


def _begin(*, background: bool) -> None:
    """Prepare a child process: Ctrl-C is for the server, and the child ends with it."""
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_server, daemon=True).start()
    if background and hasattr(os, "nice"):
        os.nice(_NICE)


def _serve(tasks: str, background: bool, spare: str, pipe: Any, stop: Any) -> None:
    """Do jobs until the server is gone; runs in the child process."""
    import importlib

    _begin(background=background)  # first: the server may end while modules are imported
    from tengen import compiling

    if spare:
        compiling.spare(spare, quiet=True)
    table: dict[str, Task] = importlib.import_module(tasks).TASKS
    parent = os.getppid()

    def send(kind: str, value: Any) -> None:
        pipe.send_bytes(json.dumps([kind, value], allow_nan=False).encode())

    context = Context(
        tell=lambda part: send("part", part),
        stop=lambda: bool(stop.value) or os.getppid() != parent,
    )
    while True:
        try:
            task, arguments = json.loads(pipe.recv_bytes())
        except (EOFError, OSError):
            return
        try:
            send("begun", None)
            send("done", table[task](arguments, context))
        except BrokenPipeError:
            return
        except (TengenError, OSError) as mistake:
            send("refused", str(mistake))
        except Exception as failure:
            traceback.print_exc()
            send("failed", f"{type(failure).__name__}: {failure}")
