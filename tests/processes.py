"""Look at processes that a test has started or killed."""

from __future__ import annotations

import psutil


def is_running(pid: int) -> bool:
    """Return whether a process runs; a zombie, which nobody has reaped yet, does not."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
