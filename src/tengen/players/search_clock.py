"""The clock of a search, and its methods `choose` and `analyse`."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from tengen.board import Board, Point
from tengen.contracts import Report


@dataclass
class Pace:
    """A clock that starts now, with the limits of the search."""

    now: Callable[[], float]
    """Seconds by the wall's clock, or by the processor's."""
    budget: float | None
    """Seconds to search; None for no limit of time."""
    limited: bool
    """Whether the search ends where a move is to be played."""
    stop: Callable[[], bool]
    interval: float
    """Seconds between two reports."""
    _start: float = field(init=False)
    _reported: float = field(init=False)

    def __post_init__(self) -> None:
        self._start = self._reported = self.now()

    def spent(self) -> float:
        """Return the seconds since the start."""
        return self.now() - self._start

    def left(self) -> float | None:
        """Return the seconds that are left; None without a limit."""
        return None if self.budget is None else self.budget - self.spent()

    def due(self) -> bool:
        """Return whether it is time for a report; the next one is due an interval later."""
        now = self.now()
        if now - self._reported < self.interval:
            return False
        self._reported = now
        return True


class Searching(ABC):
    """A player that searches for so many seconds, or as far as it decides itself."""

    seconds: float | None
    clock: str

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Search and return a move, a pass when the game is over, or a resignation."""
        *_, last = self.analyse(board, rng, interval=1e9, limited=True)
        return board.answer(last.choice)

    def analyse(
        self,
        board: Board,
        rng: np.random.Generator,
        *,
        interval: float = 1.0,
        limited: bool = False,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[Report]:
        """Yield what the search says every `interval` seconds; with `limited` until the budget
        ends.
        """
        clock = time.thread_time if self.clock == "processor" else time.monotonic
        pace = Pace(clock, self.seconds if limited else None, limited, stop, interval)
        yield from self._think(board, rng, pace)

    @abstractmethod
    def _think(self, board: Board, rng: np.random.Generator, pace: Pace) -> Iterator[Report]:
        """Yield a report whenever one is due, and one at the end."""
