"""Wait for what another thread puts into a queue, for so many seconds and no longer.

Time in which this process itself was stopped, by Ctrl-Z or a sleeping computer, does not count: who
was waited for may have been stopped too. Nothing here knows engines.
"""

from __future__ import annotations

import math
import queue
import time
from typing import TypeVar

# It is waited so long at a time; a wait that took so much longer was interrupted by a stop.
_TURN, _STOPPED = 0.5, 1.0

_Item = TypeVar("_Item")


class Patience:
    """Seconds that are left to wait, and seconds that have been waited; None is for ever."""

    def __init__(self, seconds: float | None) -> None:
        self.left = math.inf if seconds is None else seconds
        self.spent = 0.0

    def take(self, line: queue.SimpleQueue[_Item] | queue.Queue[_Item]) -> _Item:
        """Take the next item of a queue; raise `TimeoutError` when there is none in time."""
        while True:
            turn = max(min(self.left, _TURN), 0.0)
            begin = time.monotonic()
            try:
                return line.get(timeout=turn)
            except queue.Empty:
                if self.left <= turn:
                    raise TimeoutError from None
            finally:
                took = time.monotonic() - begin
                took = took if took < turn + _STOPPED else turn
                self.left -= took
                self.spent += took
