"""Run tasks in separate processes, so that searches never block the server.

A task is a function in a module of this package, named `MODULE.FUNCTION`; the processes exchange
only JSON. A `Lane` has a few processes and a queue. A job can be cancelled at any time: a task that
does not stop soon is killed with its process. When a process dies in the middle of a job, it is
replaced and the job is run once more.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
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

Json = dict[str, Any]

GRACE = 1.0  # seconds that a cancelled task has to stop before its process is killed
BRIEF = 30.0  # the same for short tasks: a new process would take longer to load models
_NICE = 8  # priority of background work: about a sixth of the time of a busy processor
_ATTEMPTS = 2  # how often a job is tried when its process dies
_MOST_JOBS = 500  # most jobs that run or wait in a lane


class CancelledJob(Exception):
    """The job was cancelled before it was done."""


class WorkerDiedError(TengenError):
    """The process died on every attempt at the job."""


class OverloadedError(TengenError):
    """More jobs are waiting than a server can hold."""


@dataclass(frozen=True)
class Context:
    """Callbacks for a task: report a part of the result, and ask whether to stop."""

    tell: Callable[[Any], None]
    stop: Callable[[], bool]


@dataclass(eq=False)
class Job:
    """One task to be done within `limit` seconds of processor time; `future` holds its result."""

    task: str
    arguments: Json
    on_part: Callable[[Any], None] = lambda part: None
    grace: float = GRACE
    limit: float = math.inf
    future: Future[Any] = field(default_factory=Future, init=False)
    is_cancelled: bool = field(default=False, init=False)

    def cancel(self) -> None:
        """Cancel the job, whether it is queued or running."""
        self.is_cancelled = True


class Lane:
    """Processes for one kind of work, started when needed, and the jobs that wait for them.

    Jobs begin in order; those that run share the processors. With `background` the processes have
    a low priority. If those of the module `kernels` are not compiled when one starts, it runs all
    kernels as plain Python.
    """

    def __init__(self, processes: int = 1, *, background: bool = False, kernels: str = "") -> None:
        self._options = background, kernels
        self._pool = ThreadPoolExecutor(processes, thread_name_prefix="lane")
        self._children: set[_Child] = set()
        self._idle: list[_Child] = []  # the one that was used last comes first: it has most loaded
        self._jobs: set[Job] = set()
        self._closed = False

    def submit(
        self,
        task: str,
        arguments: Json,
        on_part: Callable[[Any], None] = lambda part: None,
        **limits: float,
    ) -> Job:
        """Queue a job; `on_part` gets, in another thread, each part of the result."""
        if sum(not job.is_cancelled for job in list(self._jobs)) >= _MOST_JOBS:
            raise OverloadedError("too many others are waiting; try again later")
        job = Job(task, arguments, on_part, **limits)
        self._jobs.add(job)
        job.future = self._pool.submit(self._run, job)
        job.future.add_done_callback(lambda _: self._jobs.discard(job))
        return job

    def close(self) -> None:
        """Cancel everything and end the processes."""
        self._closed = True
        for child in list(self._children):
            child.process.kill()  # a thread that works with it closes the pipe
        self._pool.shutdown()

    def _run(self, job: Job) -> Any:
        for _ in range(_ATTEMPTS):
            if job.is_cancelled or self._closed:
                raise CancelledJob
            child = self._free_child()
            try:
                if self._closed:  # while the process was started
                    raise CancelledJob
                return child.run(job)
            except (EOFError, OSError):
                continue
            finally:
                if self._closed or not child.is_idle:
                    self._children.discard(child)
                    child.kill()
                else:
                    self._idle.append(child)
        raise WorkerDiedError(f"the process that worked on this ({job.task}) died twice")

    def _free_child(self) -> _Child:
        """Return an idle process, or a new one."""
        with contextlib.suppress(IndexError):
            while True:
                child = self._idle.pop()
                if child.process.is_alive():
                    return child
                self._children.discard(child)
        child = _Child(*self._options)
        self._children.add(child)
        return child


class _Child:
    """One process and the pipe to it; used by one thread only."""

    def __init__(self, background: bool, kernels: str) -> None:
        # A spawned process inherits neither locks nor sockets.
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._stop = context.RawValue(ctypes.c_bool, False)
        arguments = (background, kernels, theirs, self._stop)
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
                raise TengenError(f"given up after {job.limit:g} seconds")
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
    """End this process as soon as the server is gone, even in the middle of a job."""
    server = multiprocessing.parent_process()
    assert server is not None
    wait([server.sentinel])
    os._exit(0)


class Compilation:
    """Compiles all kernels in a process of low priority that ends with the server."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._steps = context.Array("i", [0, 0])
        self._process = context.Process(target=_compile, args=(self._steps,), daemon=True)
        self._process.start()

    def steps(self) -> tuple[int, int] | None:
        """Return the steps done and their number, 0 before it is known; None at the end."""
        done, total = self._steps[:]
        return (done, total) if self._process.is_alive() else None


def _compile(steps: Any) -> None:
    from tengen import warming

    _begin(background=True)
    todo = warming.steps().values()
    steps[1] = len(todo)
    for step in todo:
        step()
        steps[0] += 1


def _begin(*, background: bool) -> None:
    """Prepare a child process: it ignores Ctrl-C and ends with the server."""
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_server, daemon=True).start()
    if background and hasattr(os, "nice"):
        os.nice(_NICE)


def _serve(background: bool, kernels: str, pipe: Any, stop: Any) -> None:
    """Do jobs until the server is gone; runs in the child process."""
    _begin(background=background)  # first: the server may end while modules are imported
    if kernels:
        from tengen import compiling

        compiling.disable_jit_unless_cached(kernels)
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
            module, _, name = task.rpartition(".")
            function = getattr(importlib.import_module(f"tengen.web.{module}"), name)
            send("begun", None)
            send("done", function(arguments, context))
        except BrokenPipeError:
            return
        except (TengenError, OSError) as mistake:
            send("refused", str(mistake))
        except Exception as failure:
            traceback.print_exc()
            send("failed", f"{type(failure).__name__}: {failure}")
