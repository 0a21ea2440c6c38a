"""Run jobs on a Ray cluster, an optional extra; the only module that imports Ray.

Every node needs tengen installed. Jobs of lost nodes and workers are given to others.
"""

from __future__ import annotations

import importlib
import signal
import socket
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeVar

from tengen.errors import TengenError
from tengen.parallel import LOOKAHEAD_PER_WORKER, WorkerLostError

# Seconds within which a cluster must answer; Ray itself would try for minutes.
PATIENCE = 5.0
# How often a job may be lost with its node.
ACCIDENTS = 20
# The first bytes of a gRPC client, since Ray's head is a gRPC server: HTTP/2 with empty settings.
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")


def run_on_ray(
    function: Callable[[_Job], _Result], jobs: Iterable[_Job], *, address: str, retries: int
) -> Generator[tuple[int, _Result], int, None]:
    """Yield (number, result) as jobs finish; cancel running jobs when closed."""
    ray = _connect(address)
    # Retried here, because Ray does not distinguish lost nodes from lost workers.
    task = ray.remote(max_retries=0, retry_exceptions=False)(_call)
    shared = ray.put(function)
    cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
    source = enumerate(jobs)
    running: dict[Any, tuple[int, _Job]] = {}
    losses: Counter[tuple[int, str]] = Counter()
    undelivered = 0
    try:
        while True:
            # Twice the cores, so that no node waits between two jobs.
            while len(running) < 2 * cores and undelivered < LOOKAHEAD_PER_WORKER * cores:
                entry = next(source, None)
                if entry is None:
                    break
                running[task.remote(shared, entry[1])] = entry
            if not running:
                return
            ready, _ = ray.wait(list(running), num_returns=1)
            number, job = running.pop(ready[0])
            try:
                failure, result = ray.get(ready[0])
            except ray.exceptions.RayError as trouble:
                _count_loss(losses, ray.exceptions, trouble, number, retries)
                running[task.remote(shared, job)] = number, job
                continue
            if failure is not None:
                failure.add_note(f"while working on job {number}")
                raise failure
            undelivered = (yield number, result) or 0
    finally:
        for reference in running:
            ray.cancel(reference, force=True)


def _connect(address: str) -> Any:
    """Import Ray and join the cluster, unless this process has joined one."""
    try:
        ray = importlib.import_module("ray")
    except ImportError:
        raise TengenError("Ray is not installed; run `pip install 'tengen[ray]'`") from None
    if not ray.is_initialized():
        _knock(address)
        ending = signal.getsignal(signal.SIGTERM)
        try:
            ray.init(
                address=None if address == "local" else address,
                log_to_driver=False,
                include_dashboard=False if address == "local" else None,
                logging_level="warning",
            )
        except (ConnectionError, ValueError) as failure:
            raise TengenError(f"no Ray cluster at {address}: {failure}") from None
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, ending)  # Ray has replaced it
    return ray


def _knock(address: str) -> None:
    """Raise `TengenError` unless a cluster answers at the address."""
    if address in ("auto", "local"):
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not (port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise TengenError(f"{address!r} is no address of a Ray cluster: auto, local or host:port")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), PATIENCE) as line:
            line.sendall(_GREETING)
            answer = line.recv(9)
    except OSError as failure:
        reason = failure.strerror or failure
        raise TengenError(f"no Ray cluster at {address}: {reason}") from None
    if answer[3:4] != _GREETING[-6:-5]:
        raise TengenError(f"no Ray cluster at {address}: what answers there is something else")


def _call(function: Callable[[Any], Any], job: Any) -> tuple[Exception | None, Any]:
    """Run one job on a node; exceptions are returned, so that Ray does not wrap them."""
    try:
        return None, function(job)
    except Exception as failure:
        return failure, None


def _count_loss(
    losses: Counter[tuple[int, str]], errors: Any, trouble: Exception, number: int, retries: int
) -> None:
    """Count a lost job; raise `WorkerLostError` if it was lost too often, or for other errors."""
    # A lost worker may be the job's fault; a lost node or a lack of memory mostly is not.
    accidents = errors.NodeDiedError, errors.ObjectLostError, errors.OutOfMemoryError
    if isinstance(trouble, errors.WorkerCrashedError):
        what, most = "workers", retries
    elif isinstance(trouble, accidents):
        what, most = "nodes", ACCIDENTS
    else:
        raise WorkerLostError(f"job {number} failed on the cluster: {trouble}") from None
    losses[number, what] += 1
    if losses[number, what] > most:
        raise WorkerLostError(f"job {number} lost {most + 1} {what}: {trouble}") from None
