"""Split a loop among threads, for kernels that release the GIL."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

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
