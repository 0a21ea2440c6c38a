"""Common parts of searches: limits, a clock, and the methods `choose` and `analyse`."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from tengen.board import Board, Point
from tengen.contracts import SearchInfo
from tengen.errors import SpecError


@dataclass
class SearchLimits:
    """A clock that starts now, with the limits of a search.

    A `limited` search is one for a move to be played, and ends by itself; `budget` is its time
    limit in seconds, if any. Reports are `interval` seconds apart.
    """

    now: Callable[[], float]
    budget: float | None
    limited: bool
    stop: Callable[[], bool]
    interval: float

    def __post_init__(self) -> None:
        self._start = self._shown = self.now()

    def spent(self) -> float:
        """Return the seconds since the start."""
        return self.now() - self._start

    def left(self) -> float | None:
        """Return the seconds that are left; None without a limit."""
        return None if self.budget is None else self.budget - self.spent()

    def due(self) -> bool:
        """Return whether it is time for an evaluation; the next one is due an interval later."""
        now = self.now()
        if now - self._shown < self.interval:
            return False
        self._shown = now
        return True


@dataclass(eq=False, kw_only=True)
class SearchBase(ABC):
    """A player that searches for `seconds` per move, by the clock `wall` or `processor`.

    Only `root_moves` are searched at the root, if they are given.
    """

    seconds: float | None = None
    clock: str = "wall"
    root_moves: frozenset[int] | None = None
    _kept: list[Any] = field(default_factory=list, repr=False, compare=False)
    """The search that is kept from move to move, under a clock; nothing while it is in use."""

    def __post_init__(self) -> None:
        if self.seconds is not None and not self.seconds > 0:
            raise SpecError(f"a search cannot think for {self.seconds} seconds")

    def within(self, seconds: float) -> Self:
        """Return the same player with at most `seconds` per move."""
        return replace(self, seconds=seconds, _kept=self._kept)

    def only(self, moves: Collection[int]) -> Self:
        """Return the same player that searches only these moves at the root."""
        return replace(self, root_moves=frozenset(int(move) for move in moves), _kept=[])

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Search and return a move, a pass when the game is over, or a resignation."""
        *_, last = self.analyse(board, rng, interval=1e9, limited=True)
        return board.to_point(last.choice)

    def analyse(
        self,
        board: Board,
        rng: np.random.Generator,
        *,
        interval: float = 1.0,
        limited: bool = False,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[SearchInfo]:
        """Yield an evaluation every `interval` seconds and one at the end of the search."""
        clock = time.thread_time if self.clock == "processor" else time.monotonic
        limits = SearchLimits(clock, self.seconds if limited else None, limited, stop, interval)
        yield from self._think(board, rng, limits)

    @property
    def _keeps(self) -> bool:
        return self.seconds is not None and self.root_moves is None

    def _take(self) -> Any:
        """Return the kept search, which no other thread gets before it is kept again, or None."""
        with suppress(IndexError):
            return self._kept.pop() if self._keeps else None
        return None

    @contextmanager
    def _keeping(self, search: object) -> Iterator[None]:
        """Keep a search once it has ended, unless by an error, which may leave it incomplete."""
        try:
            yield
        except GeneratorExit:
            self._keep(search)
            raise
        self._keep(search)

    def _keep(self, search: object) -> None:
        if self._keeps:
            self._kept[:] = [search]

    @abstractmethod
    def _think(
        self, board: Board, rng: np.random.Generator, limits: SearchLimits
    ) -> Iterator[SearchInfo]:
        """Yield an evaluation whenever one is due, and one at the end."""
