"""The state of one game being played: moves, undo, clock, count, result.

A session chooses no moves: players do (`choose_move`), a judge proposes dead stones, and the caller
passes the time. `LocalGame` is a session with a player in this process; it can be saved to a file,
move by move, and resumed later.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from tengen.board import BLACK, PASS, RESIGN, WHITE, Board, format_gtp, parse_gtp
from tengen.board.counting import Count
from tengen.contracts import Analyser, Candidate, Player, TimedPlayer
from tengen.errors import IllegalMoveError, RecordError, TengenError
from tengen.files import data_folder, lock, write_atomic
from tengen.game.clock import Clock, Side
from tengen.records import loads, read_game
from tengen.records.from_board import sgf_of_game
from tengen.records.record import board_at, rules_named
from tengen.records.sgf_properties import format_text, parse_text
from tengen.scoring.judging import Judge, Outlook, count_without

BOTH = BLACK | WHITE
_LONGEST = 3  # plies per point of the board after which a game is counted
_LEAST_AFTER_UNDO = 30.0  # least seconds that a person has after taking a move back
_OWNED = 0.6  # ownership beyond which an estimate gives a point to a side


@dataclass
class Session:
    """A game in progress or finished.

    `human` is the person's colour, `BOTH` for two people on one board, 0 if there is none.
    """

    board: Board
    human: int = 0
    seed: int = 0
    clock: Clock = field(default_factory=Clock)
    resigned: int = 0  # the colour that resigned, if any
    timed_out: int = 0  # the colour that ran out of time, if any
    stopped: bool = False  # whether the person asked for a count before both sides passed
    open: bool = False  # whether the judge finds that the game to be counted is not over
    dead: set[int] | None = None  # points of the stones that come off; None before they are judged
    accepted: bool = False  # whether the person accepted the count

    # ----- State -----

    @property
    def is_over(self) -> bool:
        """Whether the result is final."""
        return bool(self.resigned or self.timed_out or self.accepted)

    @property
    def is_counting(self) -> bool:
        """Whether play has ended and only the dead stones are left to agree on."""
        board = self.board
        too_long = len(board.moves) >= _LONGEST * board.rows * board.cols
        return (self.stopped or board.is_over or too_long) and not self.is_over

    @property
    def waits_for_machine(self) -> bool:
        """Whether the machine is to move."""
        return not (self.is_over or self.is_counting or self.board.turn & self.human)

    @property
    def result(self) -> str:
        """The result in SGF's RE format, from the current count where need be; empty before."""
        for loser, letter in ((self.resigned, "R"), (self.timed_out, "T")):
            if loser:
                return f"{'W' if loser == BLACK else 'B'}+{letter}"
        count = self.count()
        return "" if count is None else count.result

    def count(self) -> Count | None:
        """Return the count with the dead stones as marked now; None before they are judged."""
        return None if self.dead is None else count_without(self.board, self.dead)

    # ----- Changes -----

    def play(self, move: int | str, now: float = 0.0) -> None:
        """Play a move, a pass or a resignation for the side to move; text is a GTP vertex."""
        turn = self.board.turn
        if isinstance(move, str):
            move = parse_gtp(move, self.board.rows, self.board.cols)
        if move == RESIGN:
            self.resign(turn)
            return
        self._require_open()
        self.board.play(self.board.to_point(move))
        self.clock.press(turn, now)

    def resign(self, colour: int) -> None:
        """Resign for a side, whether it is to move or not."""
        self._require_open()
        self.resigned = colour

    def check_clock(self, now: float) -> bool:
        """End the game if the time of the side to move is up; return whether it is."""
        if not self.clock.limited or self.is_over or self.is_counting:
            return False
        if self.clock.remaining(self.board.turn, self.board.turn, now) > 0:
            return False
        self.timed_out = self.board.turn
        return True

    def undo(self, now: float = 0.0) -> None:
        """Take back the person's last move and what followed, or only the end of the game."""
        ended_it = self.human & (self.resigned | self.timed_out)
        turn, going = self.board.turn, not (self.is_over or self.is_counting)
        if not (self.stopped or ended_it):
            mine = [n for n, (colour, _) in enumerate(self.board.moves) if colour & self.human]
            if not mine:
                raise IllegalMoveError("there is no move of yours to take back")
            while len(self.board.moves) > mine[-1]:
                self.board.undo()
        self.resigned = self.timed_out = 0
        self.accepted, self.stopped, self.open, self.dead = False, False, False, None
        if self.clock.limited:
            if going:
                self.clock.sides[turn] = self.clock.side(turn, turn, now)
            self.clock.since = now
            for colour, side in self.clock.sides.items():
                if colour & self.human:
                    side.left = max(side.left, _LEAST_AFTER_UNDO)

    def stop(self) -> None:
        """Count the game as it stands, finished or not."""
        self._require_open()
        self.stopped = True

    def mark_dead(self, dead: set[int], *, open: bool = False) -> None:
        """Set the dead stones of a game that has ended."""
        self.dead, self.open = dead, open

    def toggle(self, vertex: str) -> None:
        """Change a block from dead to alive or back."""
        if not self.is_counting or self.dead is None:
            raise IllegalMoveError("stones are taken off after both sides have passed")
        stones = set(self.board.block(vertex).stones)
        self.dead = self.dead - stones if stones & self.dead else self.dead | stones

    def accept(self) -> None:
        """Accept the count."""
        if not self.is_counting or self.dead is None:
            raise IllegalMoveError("there is nothing to agree on yet")
        self.accepted = True

    def _require_open(self) -> None:
        if self.is_over or self.is_counting:
            raise IllegalMoveError("the game is over")

    # ----- Views -----

    def generator(self) -> np.random.Generator:
        """Return the random generator for the next move."""
        return move_generator(self.seed, self.board)

    def time_of(self, colour: int, now: float) -> Side:
        """Return what a side's clock shows; none runs after the end of play."""
        ended = (self.is_over or self.is_counting) and not self.timed_out
        side = self.clock.side(colour, 0 if ended else self.board.turn, now)
        return replace(side, left=max(side.left, 0.0))

    def left(self, colour: int, now: float) -> float:
        """Return the seconds that a side has left in main time or its period."""
        return self.time_of(colour, now).left

    def budget(self) -> float | None:
        """Return how many seconds the side to move may take; None without a limit."""
        board = self.board
        return self.clock.budget(board.turn, board.rows * board.cols, len(board.moves))

    def sgf(self, machine: str) -> bytes:
        """Return the game as SGF, with names, result, and territory when it was counted."""
        names = {BLACK: "Black", WHITE: "White"}
        if self.human != BOTH:
            names = {c: "You" if c == self.human else machine for c in (BLACK, WHITE)}
        return sgf_of_game(self.board, names, self.result, self.count())


def move_generator(seed: int, board: Board) -> np.random.Generator:
    """Return a random generator determined by a seed and the number of moves played."""
    return np.random.default_rng([seed & (2**64 - 1), len(board.moves)])


def choose_move(
    player: Player, board: Board, judge: Judge, *, seed: int, seconds: float | None = None
) -> int:
    """Let a player choose a move; answer a pass with a pass if the game is over."""
    if judge.accepts_pass(board):
        return PASS
    if seconds is not None and isinstance(player, TimedPlayer):
        player = player.within(seconds)
    return int(player.choose(board.copy(), move_generator(seed, board)))


@dataclass
class LocalGame(Session):
    """A game against a player in this process, counted as soon as it ends."""

    player: Player = field(kw_only=True)
    spec: str = ""  # the player's name on the command line, so that the game can be resumed
    judge: Judge = field(kw_only=True)

    @property
    def has_ended(self) -> bool:
        """Whether there is a result; dead stones may still be changed."""
        return self.is_over or self.is_counting

    def act(self, move: int) -> bool:
        """Play a move of the side to move; return False if its time was up."""
        now = time.monotonic()
        in_time = not self.check_clock(now)
        if in_time:
            self.play(move, now)
            if self.is_counting:
                self.finish()
        return in_time

    def answer(self) -> int:
        """Let the player move and return its move."""
        seconds = self.budget()
        move = choose_move(self.player, self.board, self.judge, seed=self.seed, seconds=seconds)
        self.act(move)
        return move

    def finish(self) -> None:
        """Count the game; dead stones come off only where the judge is sure."""
        open = not self.judge.is_over(self.board)
        self.mark_dead(set(self.judge.confident_dead_stones(self.board)), open=open)

    @property
    def loses_by_passing(self) -> bool:
        """Whether a move can still gain a point, so that a pass would lose some."""
        return not (self.has_ended or self.judge.is_over(self.board))

    def advice(self) -> list[Candidate] | int:
        """Return the player's candidates from the view of the side to move, or only its move."""
        self._require_open()
        # A weak level gives better advice than it plays.
        adviser: Player = getattr(self.player, "adviser", self.player)
        board, rng = self.board.copy(), self.generator()
        if not isinstance(adviser, Analyser):
            return int(adviser.choose(board, rng))
        *_, info = adviser.analyse(board, rng, interval=1e9, limited=True)
        return list(info.seen_by(board.turn).candidates)

    def estimate(self) -> tuple[Outlook, NDArray[np.int8] | None]:
        """Return the estimated result, and the likely owner of each point: 0, BLACK or WHITE."""
        outlook = self.judge.estimate(self.board)
        owners = outlook.ownership
        if owners is None:
            return outlook, None
        likely = np.where(np.asarray(owners) > 0, BLACK, WHITE)
        return outlook, np.where(np.abs(owners) > _OWNED, likely, 0).astype(np.int8)

    def summary(self) -> dict[str, Any]:
        """Return the game as plain values."""
        b = self.board
        return {
            "player": self.player.name,
            "colour": {BLACK: "black", WHITE: "white"}.get(self.human),
            "size": [b.rows, b.cols],
            "komi": b.komi,
            "handicap": b.handicap,
            "seed": self.seed,
            "result": self.result or None,
            "moves": [["-BW"[c], format_gtp(p, b.rows, b.cols)] for c, p in b.moves],
            "dead": [format_gtp(p, b.rows, b.cols) for p in sorted(self.dead or ())],
        }


# ----- Saved games -----
#
# A game is one SGF that any program can open; what is needed only to resume it (player, seed,
# clock) is in a private property, XT. No file of another game is ever overwritten.

_PROPERTY = "XT"
_Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _SavedClock(BaseModel, strict=True):
    main: _Seconds
    increment: _Seconds
    left: dict[Literal["1", "2"], _Seconds] = Field(min_length=2)  # by colour


class _Memo(BaseModel, strict=True):
    """What the property holds."""

    player: str
    human: int = Field(ge=0, le=BOTH)
    seed: int
    clock: _SavedClock | None


def default_folder() -> Path:
    """Return where games are saved when no file is named."""
    return data_folder() / "games"


def new_place(folder: Path, board: Board) -> Path:
    """Return an unused path for a game that begins now."""
    stem = f"{time.strftime('%Y-%m-%d-%H%M%S')}-{board.rows}x{board.cols}"
    names = [stem, *(f"{stem}-{number}" for number in range(2, 1000))]
    places = (folder / f"{name}.sgf" for name in names)
    return next(place for place in places if not (place.exists() or _lock_of(place).exists()))


def _lock_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.lock")


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Keep other processes from a game's file, which need not exist; `BusyError` if one has it."""
    if path.exists() and not path.is_file():  # a pipe or a device
        yield
        return
    beside = _lock_of(path.resolve())
    try:
        beside.parent.mkdir(parents=True, exist_ok=True)
        taken = lock(beside, path, "go on with the game there")
    except OSError as failure:  # which names the lock
        raise OSError(failure.errno, failure.strerror, str(path)) from None
    try:
        yield
    finally:
        with suppress(OSError):
            beside.unlink()
        taken.release()


def refuse_other(path: Path) -> None:
    """Raise `TengenError` if there is a file at this path."""
    if path.is_file():
        raise TengenError(f"{path}: already exists; name another file")


def save(game: LocalGame, path: Path) -> None:
    """Write a game; the caller has checked that the file belongs to it."""
    write_atomic(path, saved(game))


def saved(game: LocalGame) -> bytes:
    """Return what `read_saved` reads: the game with its player, seed and the time left."""
    [record] = loads(game.sgf(game.player.name))
    clock, kept = game.clock, None
    if clock.limited:
        now = time.monotonic()
        left: Any = {str(colour): game.left(colour, now) for colour in clock.sides}
        kept = _SavedClock(main=clock.main, increment=clock.increment, left=left)
    spec = game.spec or game.player.name
    memo = _Memo(player=spec, human=game.human, seed=game.seed, clock=kept)
    record.tree.nodes[0][_PROPERTY] = [format_text(memo.model_dump_json())]
    return record.utf8_sgf() + b"\n"


def read_saved(path: Path) -> tuple[Session, str]:
    """Read a game that `save` wrote and that is not over; return it with the player's spec."""
    record = read_game(path)
    stored = record.tree.nodes[0].get(_PROPERTY)
    if not stored:
        raise TengenError(f"{path}: was not saved by `tengen play`; open it with `tengen web`")
    if record.result.kind != "unknown":
        raise TengenError(f"{path}: the game is over ({record.result}); review it instead")
    board = board_at(record, rules=rules_named(record.rules))
    try:
        memo = _Memo.model_validate_json(parse_text(stored[0], record.encoding))
    except ValidationError as failure:
        first = failure.errors()[0]
        where = ".".join(map(str, first["loc"]))
        reason = f"{where}: {first['msg']}".removeprefix(": ")
        raise RecordError(f"{path}: its property {_PROPERTY} is damaged ({reason})") from None
    clock = Clock()
    if saved := memo.clock:
        left = {int(colour): seconds for colour, seconds in saved.left.items()}
        clock = Clock.fischer(saved.main, saved.increment, left)
    return Session(board, memo.human, memo.seed, clock), memo.player


def latest(folder: Path) -> Path:
    """Return the newest game in a folder that is not over."""
    for path in sorted(folder.glob("*.sgf"), key=lambda path: -path.stat().st_mtime):
        try:
            read_saved(path)
        except TengenError:
            continue
        return path
    raise TengenError(f"{folder}: no game to go on with")
