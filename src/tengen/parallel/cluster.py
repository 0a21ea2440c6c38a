"""Run jobs on a Ray cluster, an optional extra; the only module that imports Ray.

Every node needs tengen installed. Jobs of lost nodes and workers are given to others.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from tengen.errors import TengenError
from tengen.extras import import_extra
from tengen.parallel import attempt

# Seconds within which a cluster must answer; Ray itself would try for minutes.
PATIENCE = 5.0
# How often a job may be lost with its node.
ACCIDENTS = 20
# The first bytes of a gRPC client, since Ray's head is a gRPC server: HTTP/2 with empty settings.
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])


class Cluster:
    """The workers of a cluster, which call one function."""

    def __init__(self, function: Callable[[Any], Any], address: str, retries: int) -> None:
        self._ray = ray = _connect(address)
        self._retries = retries
        # Retried by us, because Ray does not distinguish lost nodes from lost workers.
        self._task = ray.remote(max_retries=0, retry_exceptions=False)(attempt)
        self._function = ray.put(function)
        self._running: dict[Future[Any], Any] = {}
        self.size = max(1, int(ray.cluster_resources().get("CPU", 1)))

    def submit(self, job: Any) -> Future[Any]:
        """Hand a job to the cluster."""
        reference = self._task.remote(self._function, job)
        future: Future[Any] = reference.future()
        self._running[future] = reference
        future.add_done_callback(lambda done: self._running.pop(done, None))
        return future

    def loss(self, failure: Exception) -> tuple[str, int] | None:
        """Return what took a job away, and how often it may; None if it was nothing of the kind.

        A lost worker may be the job's fault; a lost node or a lack of memory mostly is not.
        """
        errors = self._ray.exceptions
        if isinstance(failure, errors.WorkerCrashedError):
            return "workers", self._retries
        if isinstance(
            failure, (errors.NodeDiedError, errors.ObjectLostError, errors.OutOfMemoryError)
        ):
            return "nodes", ACCIDENTS
        return ("clusters", 0) if isinstance(failure, errors.RayError) else None

    def close(self, *, at_once: bool = False) -> None:
        """Cancel the jobs that are running."""
        for reference in list(self._running.values()):
            self._ray.cancel(reference, force=True)


def _connect(address: str) -> Any:
    """Import Ray and join the cluster, unless this process has joined one."""
    ray = import_extra("ray", "ray")
    if not ray.is_initialized():
        check_address(address)
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


def check_address(address: str) -> None:
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
