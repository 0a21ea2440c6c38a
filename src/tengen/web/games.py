"""The games of the server.

The service runs in the server's event loop, so no other request changes a game while code here
runs. Workers choose the machine's moves; every change is stored before it is shown. Pages ask for
changes again and again: a browser has few connections, and a stream would hold one for each page.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from tengen.arena.placing import elo_of, fair_handicap
from tengen.board import BLACK, HANDICAP_KOMI, WHITE, Board
from tengen.board.rules import most_handicap
from tengen.errors import IllegalMoveError, TengenError
from tengen.game.clock import Clock, Side
from tengen.game.session import BOTH, Session
from tengen.records.from_board import sgf_of_game, start_of
from tengen.web.machines import PERSON, Opponent, next_rung
from tengen.web.positions import (
    COLOURS,
    NAMES,
    counted,
    illegal_points,
    named_moves,
    position_of,
    rows_of,
    to_board,
    to_value,
    vertices,
)
from tengen.web.store import (
    StorageError,
    Store,
    keep_problems,
    worst_lessons,
)
from tengen.web.workers import (
    BRIEF,
    GRACE,
    CancelledJob,
    Job,
    Json,
    Lane,
    OverloadedError,
)

GAME = "game"
HINT_PLAYER = "tengen:seconds=0.8"
_MOST_OPEN = 500  # games held in memory; the others are read again when needed
_MOST_ENGINES = 8  # games with a process for an opponent from the command line
_PAUSE = 10.0  # seconds until the machine tries again to move, or to store its move
_STORED = (  # attributes of a game that are stored unchanged
    *("id", "human", "opponent", "seed", "ladder", "version", "teach", "lesson", "lessons"),
    *("resigned", "timed_out", "accepted", "stopped", "open", "names"),
)
_CLOCK = ("main", "increment", "period", "stones", "periods")  # settings of a clock
_SHOWN = ("id", "version", "teach", "lesson", "trouble", "open")  # attributes shown unchanged

Colour = Literal["black", "white"]


class StaleMoveError(TengenError):
    """The page showed a position that is out of date."""


class NewGame(BaseModel, extra="forbid"):
    """A game to begin."""

    size: Annotated[int, Field(ge=2, le=25)] = 9
    colour: Colour = "black"
    opponent: Annotated[str, Field(max_length=40)] = "level-1"
    handicap: Annotated[int, Field(ge=0, le=9)] = 0
    komi: Annotated[float | None, Field(ge=-200, le=200)] = None
    rules: Literal["cgos", "chinese", "japanese", "aga", "new_zealand", "tromp_taylor"] = "cgos"
    minutes: Annotated[float, Field(ge=0, le=600)] = 0  # main time; 0 with a clock: none
    clock: Literal["none", "fischer", "japanese", "canadian"] | None = None
    increment: Annotated[float, Field(ge=0, le=600)] = 0  # of a Fischer clock, in seconds
    period: Annotated[float, Field(ge=1, le=3600)] = 30  # of byo-yomi, in seconds
    periods: Annotated[int, Field(ge=1, le=100)] = 5  # of Japanese byo-yomi
    stones: Annotated[int, Field(ge=1, le=100)] = 15  # of Canadian byo-yomi, in each period
    # Names of two people.
    black: Annotated[str, Field(max_length=60)] = ""
    white: Annotated[str, Field(max_length=60)] = ""
    ladder: bool = False
    # Stop the game after moves that lose at least this many points; 0 for no teacher.
    teach: Annotated[float, Field(ge=0, le=100)] = 0

    def make_clock(self) -> Clock:
        """Return the clock of this game; without a kind, minutes mean a Fischer clock."""
        main = 60 * self.minutes
        match self.clock or ("fischer" if self.minutes else "none"):
            case "fischer":
                if main + self.increment <= 0:
                    raise TengenError("a clock needs main time or an increment")
                return Clock.fischer(main or self.increment, self.increment)
            case "japanese":
                return Clock.japanese(main, self.period, self.periods)
            case "canadian":
                return Clock.settings(main, self.period, self.stones)
        return Clock()


@dataclass(eq=False)
class WebGame(Session):
    """A game of the server: a session with an id, an opponent, a version and a teacher."""

    id: str = field(default_factory=lambda: secrets.token_urlsafe(9))
    opponent: str = ""  # the opponent's id in the server's list
    ladder: bool = False
    version: int = 0
    trouble: str = ""  # what went wrong with the machine's last search, for display
    teach: float = 0.0  # points that a move must lose for the teacher to stop the game
    # The review of the person's last move; `asks` is true while the person has to decide.
    lesson: Json | None = None
    lessons: list[Json] = field(default_factory=list)  # all mistakes, taken back or not
    names: dict[str, str] = field(default_factory=dict)  # of two people, by colour
    job: Job | None = None  # the worker's job for this game
    alarm: asyncio.TimerHandle | None = None  # rings when time is up, or for a retry
    engine: Lane | None = None  # for an opponent from the command line, which may hang

    @classmethod
    def start(cls, new: NewGame, board: Board | None = None) -> WebGame:
        """Begin a game, or continue one from a given board."""
        if board is None:
            komi = HANDICAP_KOMI if new.komi is None and new.handicap else new.komi
            board = Board(new.size, rules=new.rules, komi=komi)
            if new.handicap:
                board.place_handicap(new.handicap)
        human = BOTH if new.opponent == PERSON else COLOURS[new.colour]
        game = cls(board, human, secrets.randbits(31), opponent=new.opponent)
        game.ladder, game.teach = new.ladder, new.teach
        if human == BOTH:
            game.names = {"black": new.black.strip(), "white": new.white.strip()}
        game.clock = new.make_clock()
        return game

    @property
    def won(self) -> bool | None:
        """Whether the person won; None for a draw or a game that goes on."""
        result = self.result if self.is_over else ""
        if result[:2] not in ("B+", "W+") or self.human == BOTH:
            return None
        return (result[0] == "B") == (self.human == BLACK)

    def cancel(self) -> None:
        """Stop the job and the alarm."""
        if self.job is not None:
            self.job.cancel()
        if self.alarm is not None:
            self.alarm.cancel()
        self.job = self.alarm = None

    def leave(self) -> None:
        """Stop everything, also the process of the opponent."""
        self.cancel()
        self.end_engine()

    def end_engine(self) -> None:
        """End the process of an opponent from the command line; its next move starts another."""
        if self.engine is not None:
            self.engine.close()
        self.engine = None

    def changed(self) -> None:
        """Record a change: raise the version and clear the trouble."""
        self.version += 1
        self.trouble = ""

    @property
    def needs_lesson(self) -> bool:
        """Whether the teacher has to review the person's last move."""
        moves = self.board.moves
        if not self.teach or not moves or self.human == BOTH or moves[-1][0] != self.human:
            return False
        return self.lesson is None or self.lesson["number"] != len(moves)

    def learn(self, found: Json) -> None:
        """Store the review of the last move; stop the game if the move lost too much."""
        asks = bool(found["verdict"]) and found["points_lost"] >= self.teach
        self.lesson = {**found, "asks": asks}
        if found["verdict"]:
            before = self.board.copy()
            before.undo()
            self.lessons.append({**found, "board": to_value(before)})

    def go_on(self) -> None:
        """Keep a move although it lost points."""
        if self.lesson is not None:
            self.lesson["asks"] = False

    def undo(self, now: float = 0.0) -> None:
        """Take back the person's last move; see `Session`."""
        super().undo(now)
        self.lesson = None

    @property
    def status(self) -> str:
        """The state of the game: `playing`, `counting` or `over`."""
        return "over" if self.is_over else "counting" if self.is_counting else "playing"

    def state(self, now: float) -> Json:
        """Return everything that a page shows."""
        board, count = self.board, self.count()
        worst = worst_lessons(self.lessons) if self.is_over else []
        return {
            **self.summary(),
            **position_of(board),
            **{name: getattr(self, name) for name in _SHOWN},
            "size": [board.rows, board.cols],
            "komi": board.komi,
            "scoring": board.rules.scoring,
            "start": rows_of(start_of(board)),
            "worst": [{k: v for k, v in one.items() if k != "board"} for one in worst],
            "moves": named_moves(board),
            "captures": {"black": board.prisoners[0], "white": board.prisoners[1]},
            "illegal": illegal_points(board),
            "thinking": self.job is not None and self.waits_for_machine,
            "dead": None if self.dead is None else vertices(sorted(self.dead), board),
            "count": None if count is None else counted(count),
            "clock": self._clock_state(now),
        }

    def _clock_state(self, now: float) -> Json | None:
        clock = self.clock
        if not clock.limited:
            return None
        times = {NAMES[colour]: self.time_of(colour, now) for colour in (BLACK, WHITE)}
        return {
            **{name: side.left for name, side in times.items()},
            # Stones to be played in this period, 0 in main time, and the periods left.
            "stages": {name: [side.stones, side.periods] for name, side in times.items()},
            **{name: getattr(clock, name) for name in _CLOCK},
            "running": clock.since is not None and self.status == "playing",
        }

    def summary(self) -> Json:
        """Return what a list of games shows."""
        return {
            **{name: getattr(self, name) for name in ("opponent", "ladder", "won", "status")},
            "size": self.board.rows,
            "you": NAMES.get(self.human, "both"),
            "names": self.names,
            "moves": len(self.board.moves),
            "handicap": self.board.handicap,
            "result": self.result if self.is_over else None,
        }

    def body(self, now: float) -> Json:
        """Return everything that `from_body` needs to restore this game."""
        clock = self._clock_state(now)
        return {
            "board": to_value(self.board),
            "dead": None if self.dead is None else sorted(self.dead),
            "clock": clock
            and {
                "left": [clock["black"], clock["white"]],
                **{name: clock[name] for name in ("stages", *_CLOCK)},
            },
            **{name: getattr(self, name) for name in _STORED},
        }

    @classmethod
    def from_body(cls, body: Json) -> WebGame:
        """Restore a game from its `body`; its clock is stopped until the game is opened."""
        # Games stored by older versions lack some attributes.
        stored = {name: body[name] for name in _STORED if name in body}
        game = cls(to_board(body["board"]), **stored)
        game.dead = None if body["dead"] is None else set(body["dead"])
        if clock := body["clock"]:
            # Older versions stored Fischer clocks only, without main time and stages.
            settings = {name: clock[name] for name in _CLOCK if name in clock}
            game.clock = Clock(**{"main": max(clock["left"]), **settings}, limited=True)
            stages = clock.get("stages", {})
            for colour, left in zip((BLACK, WHITE), clock["left"], strict=True):
                stones, periods = stages.get(NAMES[colour], (0, 1))
                game.clock.sides[colour] = Side(left, stones, periods)
        return game

    def sgf(self, machine: str) -> bytes:
        """Return the game as SGF; two people have the names that they gave."""
        if self.human != BOTH:
            return super().sgf(machine)
        names = {c: self.names.get(n) or n.capitalize() for c, n in NAMES.items()}
        return sgf_of_game(self.board, names, self.result, self.count())


class GameService:
    """All games, by id."""

    def __init__(self, store: Store, lane: Lane, opponents: dict[str, Opponent]) -> None:
        self.opponents = opponents
        self._store, self._lane = store, lane
        self._open: dict[str, WebGame] = {}
        self.now = time.monotonic  # clocks keep what is left, whatever the system's time

    def add(self, game: WebGame) -> Json:
        """Open a new game and let the machine begin if it is its turn."""
        opponent = self.opponents.get(game.opponent)
        if opponent is None:
            raise TengenError(f"there is no opponent {game.opponent!r}")
        rows, cols = game.board.rows, game.board.cols
        if rows != cols or (opponent.sizes and rows not in opponent.sizes):
            raise TengenError(f"{opponent.name} does not play on this board")
        self._hold(game)
        self._settle(game)
        return game.state(self.now())

    def state(self, key: str) -> Json:
        """Return a game as a page shows it; if it is the machine's turn, it goes on thinking."""
        return self.game(key).state(self.now())

    def game(self, key: str) -> WebGame:
        """Return a game, to be read but not changed."""
        if key not in self._open:
            self._continue(self._hold(WebGame.from_body(self._store.get(GAME, key))))
        self._open[key] = self._open.pop(key)  # the last, and so the last to be dropped
        return self._open[key]

    def change(self, key: str, version: int | None, act: Callable[[WebGame, float], None]) -> Json:
        """Change a game, store it, and let the machine think if it is its turn.

        `version`, if given, must be the game's. If the time of the side to move is up, its loss is
        stored instead and `IllegalMoveError` raised.
        """
        game = self.game(key)
        if version is not None and version != game.version:
            raise StaleMoveError("the game has changed meanwhile; look again")
        now = self.now()
        if self._is_late(game, now):
            raise IllegalMoveError("time is up")
        act(game, now)
        game.changed()
        self._settle(game)
        return game.state(self.now())

    def retry(self, key: str) -> Json:
        """Let the machine think again after trouble."""
        game = self.game(key)
        if game.job is None and game.waits_for_machine:
            game.trouble = ""
            self._settle(game)
        return game.state(self.now())

    def on_ladder(self, new: NewGame) -> NewGame:
        """Return a game with the opponent and handicap that follow from the last results."""
        won = [
            entry["won"]
            for entry in reversed(self._store.list(GAME, limit=None))
            if entry["ladder"] and entry["status"] == "over" and entry["size"] == new.size
        ]
        levels = [one for one in self.opponents.values() if one.level]
        board = f"{new.size}x{new.size}"
        elo = {one.level or 0: one.ratings[board] for one in levels if board in one.ratings}
        rung = next_rung(won, len(levels), elo, new.size**2)
        changes = {"opponent": f"level-{rung.level}", "handicap": rung.handicap}
        if rung.handicap:
            changes["colour"] = "black"
        return new.model_copy(update=changes)

    def fair_game(
        self, size: int, you: str, other: str | None = None, opponent: str | None = None
    ) -> Json:
        """Return opponent, colour, handicap and komi of an even game for a person of a rank.

        The other side is a person of another rank, an opponent of the list, or the nearest level.
        """
        own, board = elo_of(you), f"{size}x{size}"
        if other is not None:
            found, theirs = PERSON, elo_of(other)
        else:
            everyone = self.opponents.values()
            rated = {one.id: one.ratings[board] for one in everyone if board in one.ratings}
            levels = {key: elo for key, elo in rated.items() if self.opponents[key].level}
            found = opponent or min(levels, key=lambda key: abs(levels[key] - own), default="")
            if not found:
                raise TengenError(f"no level is rated on {board}")
            if found not in rated:
                raise TengenError(f"{found} is not rated on {board}")
            theirs = rated[found]
        handicap = fair_handicap(min(own, theirs), max(own, theirs), size * size)
        colour = "white" if own > theirs and handicap.komi is not None else "black"
        return {
            "opponent": found,
            "colour": colour,
            "handicap": min(handicap.stones, most_handicap(size, size)),
            "komi": handicap.komi,
        }

    def delete(self, key: str) -> None:
        """Delete a game."""
        self._store.delete(GAME, key)
        if game := self._open.pop(key, None):
            game.leave()

    def close(self) -> None:
        """Cancel all jobs; games continue when a server opens the database again."""
        for game in self._open.values():
            game.leave()
        self._open.clear()

    def sgf(self, key: str) -> bytes:
        """Return a game as SGF, with the opponent's name."""
        game = self.game(key)
        opponent = self.opponents.get(game.opponent)
        return game.sgf(opponent.name if opponent else game.opponent)

    # ----- Internals -----

    def _hold(self, game: WebGame) -> WebGame:
        """Hold a game in memory; drop idle games if there are too many."""
        quiet = [k for k, g in self._open.items() if g.job is None]
        for key in quiet[: max(len(self._open) - _MOST_OPEN + 1, 0)]:
            self._open.pop(key).leave()
        game.clock.since = self.now()
        self._open[game.id] = game
        return game

    def _settle(self, game: WebGame) -> None:
        """Store a change, and start what follows from it."""
        game.cancel()
        try:
            self._store.put(GAME, game.id, game.summary(), game.body(self.now()))
            if game.is_over:
                keep_problems(self._store, game.id, game.lessons, time.time())
        except StorageError:
            self._reload(game)
            raise
        self._continue(game)
        if game.is_over:
            game.end_engine()

    def _reload(self, game: WebGame) -> None:
        """Return to the stored game, which undoes a change that could not be stored."""
        self._open.pop(game.id, None)
        game.leave()
        if not self._store.has(GAME, game.id):
            return
        stored = self._hold(WebGame.from_body(self._store.get(GAME, game.id)))
        if not stored.waits_for_machine:  # else it would fail to store its move forever
            self._continue(stored)

    @contextmanager
    def _postponing(self, game: WebGame) -> Iterator[None]:
        """Try again later if a change by the machine or the clock cannot be stored."""
        try:
            yield
        except StorageError as failure:
            game = self._open.get(game.id, game)  # as it is stored
            game.cancel()
            game.trouble = str(failure)
            game.alarm = asyncio.get_running_loop().call_later(_PAUSE, self._continue, game)

    def _continue(self, game: WebGame) -> None:
        """Start what comes next: the teacher's review, the search, the judge, the clock's alarm."""
        is_begun = True
        if game.waits_for_machine and game.needs_lesson:
            is_begun = self._submit(game, "tasks.lesson")
        elif game.waits_for_machine and not (game.lesson and game.lesson["asks"]):
            opponent = self.opponents.get(game.opponent)
            if opponent is None:
                game.trouble = "this opponent is not on the server's list any more"
                return
            more = {"player": opponent.spec, "seed": game.seed, "seconds": game.budget()}
            own = opponent.kind == "own"
            is_begun = self._submit(game, "tasks.choose", GRACE, own=own, **more)
        elif game.is_counting and game.dead is None:
            is_begun = self._submit(game, "tasks.judge")
        if is_begun and game.clock.limited and game.status == "playing":
            left = game.clock.until_lost(game.board.turn, game.board.turn, self.now())
            game.alarm = asyncio.get_running_loop().call_later(left + 0.05, self._ring, game)

    def _engine(self, game: WebGame) -> Lane:
        """Return a game's own lane; for it, an engine that is not thinking may have to end."""
        if game.engine is None:
            others = [other for other in self._open.values() if other.engine is not None]
            if len(others) >= _MOST_ENGINES:
                idle = next((other for other in others if other.job is None), None)
                if idle is None:
                    raise OverloadedError("the engines of other games think; this one has to wait")
                idle.end_engine()
            game.engine = Lane()
        return game.engine

    def _submit(
        self, game: WebGame, task: str, grace: float = BRIEF, *, own: bool = False, **more: Any
    ) -> bool:
        """Begin a job for a game; if too many others run, try again later and return False."""
        loop = asyncio.get_running_loop()
        arguments = {"board": to_value(game.board), **more}
        try:
            lane = self._engine(game) if own else self._lane
            job = game.job = lane.submit(task, arguments, grace=grace)
        except OverloadedError as busy:
            game.trouble = str(busy)
            game.alarm = loop.call_later(_PAUSE, self._continue, game)
            return False
        job.future.add_done_callback(
            lambda _: loop.is_closed() or loop.call_soon_threadsafe(self._finish, game, job)
        )
        return True

    def _ring(self, game: WebGame) -> None:
        with self._postponing(game):
            self._is_late(game, self.now())

    def _is_late(self, game: WebGame, now: float) -> bool:
        """End the game if the time of the side to move is up; return whether it was."""
        late = game.check_clock(now)
        if late:
            game.changed()
            self._settle(game)
        return late

    def _finish(self, game: WebGame, job: Job) -> None:
        """Apply a worker's result, unless the game has changed in the meantime."""
        if game.job is not job or isinstance(job.future.exception(), CancelledJob):
            return
        game.job = None
        with self._postponing(game):
            if not self._is_late(game, self.now()):
                self._take(game, job)

    def _take(self, game: WebGame, job: Job) -> None:
        """Apply a worker's move, review or dead stones to the game, or record what went wrong."""
        try:
            found = job.future.result()
            if job.task == "tasks.choose":
                game.play(found["move"], self.now())
            elif job.task == "tasks.lesson":
                game.learn(found)
            else:
                game.mark_dead({game.board.point(v) for v in found["dead"]}, open=found["open"])
            game.changed()
        except Exception as problem:
            if job.task == "tasks.judge":
                game.mark_dead(set())
            elif job.task == "tasks.lesson":  # the game goes on without a teacher
                game.teach = 0.0
            game.changed()
            game.trouble = f"The machine could not go on: {problem}"
            return
        self._settle(game)
