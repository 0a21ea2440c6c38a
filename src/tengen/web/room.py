"""Keep the open games: let machines think, store every change, tell everybody who watches.

Runs in the server's event loop, so that nothing happens to a game in between two lines here.
Thinking is the workers'; what is legal is the table's.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tengen.errors import IllegalMoveError, TengenError
from tengen.gtp.clock import Clock as Budget
from tengen.web.opponents import Opponent
from tengen.web.positions import to_value
from tengen.web.store import Store
from tengen.web.table import Table
from tengen.web.waiting import tell
from tengen.web.workers import BRIEF, CancelledJob, Job, Lane

KIND = "game"
_MOST_OPEN = 500
"""Games held in memory; the others are read again when asked for."""


class UnknownGameError(TengenError):
    """No game goes by this id."""


class StaleMoveError(TengenError):
    """The page saw another position than the game has now."""


@dataclass(eq=False)
class _Open:
    """A game in memory, with the job that thinks about it and the queues that watch it."""

    table: Table
    job: Job | None = None
    watchers: set[asyncio.Queue[None]] = field(default_factory=set)
    alarm: asyncio.TimerHandle | None = None


class Room:
    """All games, by id."""

    def __init__(self, store: Store, lane: Lane, opponents: dict[str, Opponent]) -> None:
        self.opponents = opponents
        self._store, self._lane = store, lane
        self._open: dict[str, _Open] = {}
        self._now = time.time

    # ----- Games -----

    def add(self, table: Table) -> dict[str, Any]:
        """Open a new game and let the machine begin if it is its turn."""
        if table.opponent not in self.opponents:
            raise TengenError(f"there is no opponent {table.opponent!r}")
        opponent = self.opponents[table.opponent]
        if table.board.rows != table.board.cols or not opponent.plays_on(table.board.rows):
            raise TengenError(f"{opponent.name} does not play on this board")
        self._make_place()
        opened = self._open[table.id] = _Open(table)
        if table.clock is not None:
            table.clock.since = self._now()
        self._settle(opened)
        return self._state(opened)

    def state(self, key: str) -> dict[str, Any]:
        """Return a game as a page shows it; the machine goes on thinking if it was."""
        return self._state(self._find(key))

    def change(
        self, key: str, version: int | None, act: Callable[[Table, float], None]
    ) -> dict[str, Any]:
        """Change a game, store it, and let the machine think if it is its turn.

        Raises
        ------
        StaleMoveError
            If `version` is not the game's.
        IllegalMoveError
            If the time of the side to move is up; the loss is stored and told.
        """
        opened = self._find(key)
        if version is not None and version != opened.table.version:
            raise StaleMoveError("the game has changed meanwhile; look again")
        now = self._now()
        if self._is_late(opened, now):
            raise IllegalMoveError("time is up")
        act(opened.table, now)
        self._settle(opened)
        return self._state(opened)

    def ladder(self, size: int) -> list[bool | None]:
        """Return whether the person won each game of the ladder on a board, oldest first."""
        return [
            entry["won"]
            for entry in reversed(self._store.list(KIND, limit=None))
            if entry["ladder"] and entry["status"] == "over" and entry["size"] == size
        ]

    def list(self) -> list[dict[str, Any]]:
        """Return the latest 200 games, latest first."""
        return self._store.list(KIND)

    def delete(self, key: str) -> None:
        """Forget a game."""
        opened = self._open.pop(key, None)
        if opened is not None:
            self._cancel(opened)
        if not self._store.delete(KIND, key):
            raise UnknownGameError("there is no such game")
        if opened is not None:
            tell(opened.watchers)

    def close(self) -> None:
        """Take in nothing more; games go on when a server opens the database."""
        for opened in self._open.values():
            self._cancel(opened)
        self._open.clear()

    def table(self, key: str) -> Table:
        """Return the game itself, to be read only."""
        return self._find(key).table

    def sgf(self, key: str) -> bytes:
        """Write a game as SGF, its opponent by name."""
        table = self.table(key)
        opponent = self.opponents.get(table.opponent)
        return table.sgf(opponent.name if opponent else table.opponent)

    # ----- Watching -----

    def watch(self, key: str) -> asyncio.Queue[None]:
        """Return a queue that gets an item at every change; hand it back with `unwatch`."""
        queue: asyncio.Queue[None] = asyncio.Queue(maxsize=1)
        self._find(key).watchers.add(queue)
        return queue

    def unwatch(self, key: str, queue: asyncio.Queue[None]) -> None:
        """Stop watching."""
        if key in self._open:
            self._open[key].watchers.discard(queue)

    # ----- Inside -----

    def _find(self, key: str) -> _Open:
        if key not in self._open:
            body = self._store.get(KIND, key)
            if body is None:
                raise UnknownGameError("there is no such game")
            self._make_place()
            opened = self._open[key] = _Open(Table.from_body(body))
            if opened.table.clock is not None:
                opened.table.clock.since = self._now()
            self._continue(opened)
        return self._open[key]

    def _make_place(self) -> None:
        quiet = [k for k, o in self._open.items() if o.job is None and not o.watchers]
        for key in quiet[: max(len(self._open) - _MOST_OPEN + 1, 0)]:
            self._cancel(self._open.pop(key))

    def _state(self, opened: _Open) -> dict[str, Any]:
        thinking = opened.job is not None and opened.table.waits_for_machine
        return opened.table.state(self._now(), thinking=thinking)

    def _settle(self, opened: _Open) -> None:
        """Store a change, go on from there, and tell it."""
        self._cancel(opened)
        table = opened.table
        self._store.put(KIND, table.id, table.summary(), table.body(self._now()))
        self._continue(opened)
        tell(opened.watchers)

    def _cancel(self, opened: _Open) -> None:
        if opened.job is not None:
            opened.job.cancel()
            opened.job = None
        if opened.alarm is not None:
            opened.alarm.cancel()
            opened.alarm = None

    def _continue(self, opened: _Open) -> None:
        """Start what the position asks for: the machine's search, the judge, the clock's alarm."""
        table = opened.table
        board = to_value(table.board)
        if table.waits_for_machine:
            opponent = self.opponents.get(table.opponent)
            if opponent is None:
                table.trouble = "this opponent is not on the server's list any more"
                return
            arguments = {"board": board, "player": opponent.spec, "seed": table.seed}
            arguments["seconds"] = self._budget(table)
            opened.job = self._lane.submit("choose", arguments)
            self._await(opened, opened.job)
        elif table.is_counting and table.dead is None:
            opened.job = self._lane.submit("judge", {"board": board}, grace=BRIEF)
            self._await(opened, opened.job)
        if table.clock is not None and not (table.is_over or table.is_counting):
            turn = table.board.turn
            left = table.clock.remaining(turn, turn, self._now())
            loop = asyncio.get_running_loop()
            opened.alarm = loop.call_later(left + 0.05, self._ring, opened)

    def _budget(self, table: Table) -> float | None:
        """Return how long the machine may think under a clock."""
        if table.clock is None:
            return None
        turn, board = table.board.turn, table.board
        budget = Budget.settings(table.clock.left[turn], 0.0, 0)
        budget.set_left(turn, table.clock.remaining(turn, turn, self._now()), 0)
        share = budget.budget(turn, board.rows * board.cols, len(board.moves)) or 1.0
        return share + 0.5 * table.clock.increment

    def _ring(self, opened: _Open) -> None:
        opened.alarm = None
        self._is_late(opened, self._now())

    def _is_late(self, opened: _Open, now: float) -> bool:
        """End the game of a side whose time is up; tell whether it was."""
        late = opened.table.check_clock(now)
        if late:
            self._settle(opened)
        return late

    def _await(self, opened: _Open, job: Job) -> None:
        loop = asyncio.get_running_loop()
        job.future.add_done_callback(
            lambda _: loop.is_closed() or loop.call_soon_threadsafe(self._finish, opened, job)
        )

    def _finish(self, opened: _Open, job: Job) -> None:
        """Take in what a worker found, unless the game has gone another way meanwhile."""
        failure = job.future.exception()
        if opened.job is not job or isinstance(failure, CancelledJob):
            return
        table, now = opened.table, self._now()
        opened.job = None
        if self._is_late(opened, now):
            return
        try:
            if failure is not None:
                raise failure
            found = job.future.result()
            if job.task == "choose":
                table.play(found["move"], now)
            else:
                table.judge(found["dead"], open=found["open"])
        except Exception as problem:
            if job.task == "judge":
                table.judge([])
            table.trouble = f"The machine could not go on: {problem}"
            table.version += 1
            tell(opened.watchers)
            return
        self._settle(opened)

    def retry(self, key: str) -> dict[str, Any]:
        """Let the machine think again after trouble."""
        opened = self._find(key)
        if opened.job is None and opened.table.waits_for_machine:
            opened.table.trouble = ""
            self._settle(opened)
        return self._state(opened)
