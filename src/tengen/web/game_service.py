"""The games of the server: ask workers for moves, store every change, notify who watches.

Runs in the server's event loop, so that nothing happens to a game between two lines here.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tengen.board import BLACK, HANDICAP_KOMI, WHITE, Board
from tengen.errors import IllegalMoveError, TengenError
from tengen.game.clock import Clock
from tengen.game.session import BOTH, Session
from tengen.game.sgf import start_of
from tengen.web.opponents import PERSON, Opponent
from tengen.web.positions import (
    COLOURS,
    NAMES,
    counted,
    illegal_points,
    last_vertex,
    named_moves,
    rows_of,
    to_board,
    to_value,
    vertices,
)
from tengen.web.problems import keep
from tengen.web.services import tell
from tengen.web.store import StorageError, Store
from tengen.web.workers import BRIEF, CancelledJob, Job, Lane

KIND = "game"
_WORST = 3
"""Expensive moves that are kept as problems."""
_MOST_OPEN = 500
"""Games held in memory; the others are read again when asked for."""
_PAUSE = 10.0
"""Seconds until the machine tries again to store its move."""
_STORED = (
    *("id", "human", "opponent", "seed", "ladder", "version", "teach", "lesson", "lessons"),
    *("resigned", "timed_out", "accepted", "stopped", "open"),
)
"""Plain values of a game that are stored as they are."""


class UnknownGameError(TengenError):
    """No game goes by this id."""


class StaleMoveError(TengenError):
    """The page saw another position than the game has now."""


@dataclass
class WebGame(Session):
    """A game of the server: a session with an id, an opponent and a version."""

    id: str = field(default_factory=lambda: secrets.token_urlsafe(9))
    opponent: str = ""
    """The opponent's id in the server's list."""
    ladder: bool = False
    version: int = 0
    trouble: str = ""
    """What went wrong with the machine's last search, for people."""
    teach: float = 0.0
    """Points that a move must lose for the teacher to stop the game; 0 without a teacher."""
    lesson: dict[str, Any] | None = None
    """The review of the person's last move; `asks` while the person has to decide."""
    lessons: list[dict[str, Any]] = field(default_factory=list)
    """All moves that the teacher found wanting, taken back or not."""

    @classmethod
    def start(
        cls,
        *,
        size: int,
        human: str,
        opponent: str,
        handicap: int = 0,
        komi: float | None = None,
        rules: str = "cgos",
        minutes: float = 0.0,
        increment: float = 0.0,
        ladder: bool = False,
        teach: float = 0.0,
    ) -> WebGame:
        """Begin a game.

        Raises
        ------
        TengenError
            For rules, handicaps and boards that do not exist.
        """
        if komi is None and handicap:
            komi = HANDICAP_KOMI
        board = Board(size, rules=rules, komi=komi)
        if handicap:
            board.place_handicap(handicap)
        game = cls.resume(board, human=human, opponent=opponent)
        game.ladder, game.teach = ladder, teach
        if minutes > 0:
            game.clock = Clock.fischer(60 * minutes, increment)
        return game

    @classmethod
    def resume(cls, board: Board, *, human: str, opponent: str) -> WebGame:
        """Go on with a game that was played elsewhere."""
        sides = BOTH if opponent == PERSON else COLOURS[human]
        return cls(board, sides, secrets.randbits(31), opponent=opponent)

    @property
    def won(self) -> bool | None:
        """Whether the person won; None for a draw or a game that goes on."""
        result = self.result if self.is_over else ""
        if result[:2] not in ("B+", "W+") or self.human == BOTH:
            return None
        return (result[0] == "B") == (self.human == BLACK)

    def changed(self) -> None:
        """Note a change, so that pages ask again."""
        self.version += 1
        self.trouble = ""

    # ----- Teaching -----

    @property
    def needs_lesson(self) -> bool:
        """Whether the teacher has to look at the person's last move."""
        moves = self.board.moves
        if not self.teach or not moves or self.human == BOTH or moves[-1][0] != self.human:
            return False
        return self.lesson is None or self.lesson["number"] != len(moves)

    def learn(self, found: dict[str, Any]) -> None:
        """Take in the review of the last move; stop the game where it lost too much."""
        asks = bool(found["verdict"]) and found["points_lost"] >= self.teach
        self.lesson = {**found, "asks": asks}
        if found["verdict"]:
            before = self.board.copy()
            before.undo()
            self.lessons.append({**found, "after": None, "board": to_value(before)})

    def go_on(self) -> None:
        """Leave a move as it is although it lost points."""
        if self.lesson is not None:
            self.lesson["asks"] = False

    def undo(self, now: float = 0.0) -> None:
        """Take back the person's last move; see `Session`."""
        super().undo(now)
        self.lesson = None

    @property
    def worst(self) -> list[dict[str, Any]]:
        """The most expensive moves of the person, taken back or not."""
        dear = sorted(self.lessons, key=lambda one: -one["points_lost"])
        return list({one["number"]: one for one in reversed(dear)}.values())[::-1][:_WORST]

    @property
    def status(self) -> str:
        """The state of the game in a word."""
        return "over" if self.is_over else "counting" if self.is_counting else "playing"

    def state(self, now: float, *, thinking: bool = False) -> dict[str, Any]:
        """Return everything that a page shows."""
        board, count = self.board, self.count()
        return {
            "id": self.id,
            "version": self.version,
            "size": [board.rows, board.cols],
            "komi": board.komi,
            "handicap": board.handicap,
            "scoring": board.rules.scoring,
            "you": NAMES.get(self.human, "both"),
            "opponent": self.opponent,
            "ladder": self.ladder,
            "start": rows_of(start_of(board)),
            "teach": self.teach,
            "lesson": self.lesson,
            "worst": [_without_board(one) for one in self.worst] if self.is_over else [],
            "stones": rows_of(board),
            "turn": NAMES[board.turn],
            "moves": named_moves(board),
            "last": last_vertex(board),
            "captures": {"black": board.prisoners[0], "white": board.prisoners[1]},
            "illegal": illegal_points(board),
            "status": self.status,
            "thinking": thinking,
            "trouble": self.trouble,
            "open": self.open,
            "dead": None if self.dead is None else vertices(sorted(self.dead), board),
            "count": None if count is None else counted(count),
            "result": self.result if self.is_over else None,
            "won": self.won,
            "clock": self._clock_state(now),
        }

    def _clock_state(self, now: float) -> dict[str, Any] | None:
        if not self.clock.limited:
            return None
        turn = self.board.turn
        return {
            "black": self.clock.remaining(BLACK, turn, now),
            "white": self.clock.remaining(WHITE, turn, now),
            "increment": self.clock.increment,
            "running": self.clock.since is not None and self.status == "playing",
        }

    def summary(self) -> dict[str, Any]:
        """Return what a list of games shows."""
        return {
            "size": self.board.rows,
            "you": NAMES.get(self.human, "both"),
            "opponent": self.opponent,
            "moves": len(self.board.moves),
            "handicap": self.board.handicap,
            "ladder": self.ladder,
            "result": self.result if self.is_over else None,
            "won": self.won,
            "status": self.status,
        }

    def body(self, now: float) -> dict[str, Any]:
        """Return everything that makes this game again with `from_body`."""
        clock = self._clock_state(now)
        return {
            "board": to_value(self.board),
            "dead": None if self.dead is None else sorted(self.dead),
            "clock": clock
            and {"left": [clock["black"], clock["white"]], "increment": clock["increment"]},
            **{name: getattr(self, name) for name in _STORED},
        }

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> WebGame:
        """Make the game that `body` described; its clock stands still until somebody looks."""
        # Games of older versions lack some names.
        game = cls(
            to_board(body["board"]), **{name: body[name] for name in _STORED if name in body}
        )
        game.dead = None if body["dead"] is None else set(body["dead"])
        if clock := body["clock"]:
            game.clock = Clock.fischer(max(clock["left"]), clock["increment"])
            for colour, left in zip((BLACK, WHITE), clock["left"], strict=True):
                game.clock.set_left(colour, left, 0)
        return game


def _without_board(lesson: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in lesson.items() if name != "board"}


@dataclass(eq=False)
class _Open:
    """A game in memory, with the job that thinks about it and the queues that watch it."""

    game: WebGame
    job: Job | None = None
    watchers: set[asyncio.Queue[None]] = field(default_factory=set)
    alarm: asyncio.TimerHandle | None = None


class GameService:
    """All games, by id."""

    def __init__(self, store: Store, lane: Lane, opponents: dict[str, Opponent]) -> None:
        self.opponents = opponents
        self._store, self._lane = store, lane
        self._open: dict[str, _Open] = {}
        self._now = time.time

    # ----- Games -----

    def add(self, game: WebGame) -> dict[str, Any]:
        """Open a new game and let the machine begin if it is its turn."""
        if game.opponent not in self.opponents:
            raise TengenError(f"there is no opponent {game.opponent!r}")
        opponent = self.opponents[game.opponent]
        if game.board.rows != game.board.cols or not opponent.plays_on(game.board.rows):
            raise TengenError(f"{opponent.name} does not play on this board")
        self._make_place()
        opened = self._open[game.id] = _Open(game)
        game.clock.since = self._now()
        self._settle(opened)
        return self._state(opened)

    def state(self, key: str) -> dict[str, Any]:
        """Return a game as a page shows it; the machine goes on thinking if it was."""
        return self._state(self._find(key))

    def change(
        self, key: str, version: int | None, act: Callable[[WebGame, float], None]
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
        if version is not None and version != opened.game.version:
            raise StaleMoveError("the game has changed meanwhile; look again")
        now = self._now()
        if self._is_late(opened, now):
            raise IllegalMoveError("time is up")
        act(opened.game, now)
        opened.game.changed()
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

    def game(self, key: str) -> WebGame:
        """Return the game itself, to be read only."""
        return self._find(key).game

    def sgf(self, key: str) -> bytes:
        """Write a game as SGF, its opponent by name."""
        game = self.game(key)
        opponent = self.opponents.get(game.opponent)
        return game.sgf(opponent.name if opponent else game.opponent)

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
            opened = self._open[key] = _Open(WebGame.from_body(body))
            opened.game.clock.since = self._now()
            self._continue(opened)
        return self._open[key]

    def _make_place(self) -> None:
        quiet = [k for k, o in self._open.items() if o.job is None and not o.watchers]
        for key in quiet[: max(len(self._open) - _MOST_OPEN + 1, 0)]:
            self._cancel(self._open.pop(key))

    def _state(self, opened: _Open) -> dict[str, Any]:
        thinking = opened.job is not None and opened.game.waits_for_machine
        return opened.game.state(self._now(), thinking=thinking)

    def _settle(self, opened: _Open) -> None:
        """Store a change, go on from there, and tell it."""
        self._cancel(opened)
        game = opened.game
        try:
            self._store.put(KIND, game.id, game.summary(), game.body(self._now()))
            if game.is_over:
                keep(self._store, game.id, game.worst, self._now())
        except StorageError:
            self._reload(opened)
            raise
        self._continue(opened)
        tell(opened.watchers)

    def _reload(self, opened: _Open) -> None:
        """Return to the stored game; what could not be stored was never played."""
        body = self._store.get(KIND, opened.game.id)
        if body is None:
            self._open.pop(opened.game.id, None)
            return
        opened.game = WebGame.from_body(body)
        opened.game.clock.since = self._now()
        if not opened.game.waits_for_machine:  # else it would fail to store its move forever
            self._continue(opened)
        tell(opened.watchers)

    @contextmanager
    def _postponing(self, opened: _Open) -> Iterator[None]:
        """Try again later what the machine or the clock did and what could not be stored."""
        try:
            yield
        except StorageError as failure:
            self._cancel(opened)
            opened.game.trouble = str(failure)
            loop = asyncio.get_running_loop()
            opened.alarm = loop.call_later(_PAUSE, self._continue, opened)
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
        game = opened.game
        board = to_value(game.board)
        if game.waits_for_machine and game.needs_lesson:
            opened.job = self._lane.submit("lesson", {"board": board}, grace=BRIEF)
            self._await(opened, opened.job)
        elif game.waits_for_machine and not (game.lesson and game.lesson["asks"]):
            opponent = self.opponents.get(game.opponent)
            if opponent is None:
                game.trouble = "this opponent is not on the server's list any more"
                return
            arguments = {"board": board, "player": opponent.spec, "seed": game.seed}
            arguments["seconds"] = game.budget()
            opened.job = self._lane.submit("choose", arguments)
            self._await(opened, opened.job)
        elif game.is_counting and game.dead is None:
            opened.job = self._lane.submit("judge", {"board": board}, grace=BRIEF)
            self._await(opened, opened.job)
        if game.clock.limited and game.status == "playing":
            turn = game.board.turn
            left = game.clock.remaining(turn, turn, self._now())
            loop = asyncio.get_running_loop()
            opened.alarm = loop.call_later(left + 0.05, self._ring, opened)

    def _ring(self, opened: _Open) -> None:
        opened.alarm = None
        with self._postponing(opened):
            self._is_late(opened, self._now())

    def _is_late(self, opened: _Open, now: float) -> bool:
        """End the game of a side whose time is up; tell whether it was."""
        late = opened.game.check_clock(now)
        if late:
            opened.game.changed()
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
        opened.job = None
        with self._postponing(opened):
            if not self._is_late(opened, self._now()):
                self._take(opened, job, failure)

    def _take(self, opened: _Open, job: Job, failure: BaseException | None) -> None:
        """Play the move or mark the stones that a worker found, or say what went wrong."""
        game, now = opened.game, self._now()
        try:
            if failure is not None:
                raise failure
            found = job.future.result()
            if job.task == "choose":
                game.play(found["move"], now)
            elif job.task == "lesson":
                game.learn(found)
            else:
                game.mark_dead({game.board.point(v) for v in found["dead"]}, open=found["open"])
            game.changed()
        except Exception as problem:
            if job.task == "judge":
                game.mark_dead(set())
            elif job.task == "lesson":  # the game goes on without
                game.teach = 0.0
            game.changed()
            game.trouble = f"The machine could not go on: {problem}"
            tell(opened.watchers)
            return
        self._settle(opened)

    def retry(self, key: str) -> dict[str, Any]:
        """Let the machine think again after trouble."""
        opened = self._find(key)
        if opened.job is None and opened.game.waits_for_machine:
            opened.game.trouble = ""
            self._settle(opened)
        return self._state(opened)
