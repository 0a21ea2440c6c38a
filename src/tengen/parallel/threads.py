"""Share a loop over numbers among threads, for kernels that hold no GIL; knows no kernel."""

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

    The shares run side by side, one a core; the call returns when all are done.

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
    """Start the threads once: to start them costs more than many a loop."""
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="tengen")
        return _pool


def _forget() -> None:
    """Leave the parent's threads alone in a forked child, which has none of them."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
