"""Measure what a block of work uses: elapsed time, processor time, peak memory.

The usage of an attempt that was killed is kept in a small file and added to the next attempt's.
Memory is sampled over this process and its children; shared memory is counted once per process.
"""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from tengen.models import write_atomic

_SAMPLE = 0.5
_WRITE = 2.0
"""Seconds between samples of the memory, and between writes of the file."""


class Resources:
    """Measure a `with` block; `path` stores the usage of attempts that did not finish."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._before = _read(path)
        self._peak = self._before["memory"]
        self._stop = threading.Event()

    def __enter__(self) -> Self:
        self._clock, self._processor = time.monotonic(), _processor_seconds()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._stop.set()
        self._thread.join()
        self._sample()
        if kind is not None:
            write_atomic(self.path, json.dumps(self.used()))

    def used(self) -> dict[str, float]:
        """Return seconds, processor seconds and peak memory in bytes, all attempts together."""
        return {
            "seconds": round(self._before["seconds"] + time.monotonic() - self._clock, 2),
            "processor": round(
                self._before["processor"] + _processor_seconds() - self._processor, 2
            ),
            "memory": self._peak,
        }

    def forget(self) -> None:
        """Remove the file, once the usage is stored with the result."""
        self.path.unlink(missing_ok=True)

    def _watch(self) -> None:
        written = time.monotonic()
        while not self._stop.wait(_SAMPLE):
            self._sample()
            if time.monotonic() - written > _WRITE:
                written = time.monotonic()
                with suppress(OSError):
                    write_atomic(self.path, json.dumps(self.used()))

    def _sample(self) -> None:
        self._peak = max(self._peak, memory_in_use())


def _read(path: Path) -> dict[str, float]:
    """Return the usage so far; zeros if there is no file or it cannot be read."""
    nothing = {"seconds": 0.0, "processor": 0.0, "memory": 0.0}
    with suppress(OSError, ValueError):
        return {**nothing, **json.loads(path.read_text())}
    return nothing


def _processor_seconds() -> float:
    """Return the processor time of this process and of its finished children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def memory_in_use() -> float:
    """Return the bytes in memory of this process and its descendants; 0 where unknown."""
    page = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
    total, waiting = 0.0, [os.getpid()]
    while waiting:
        number = waiting.pop()
        with suppress(OSError, ValueError, IndexError):
            fields = Path(f"/proc/{number}/statm").read_text().split()
            total += int(fields[1]) * page
            for task in Path(f"/proc/{number}/task").iterdir():
                waiting += [int(n) for n in (task / "children").read_text().split()]
    return total
