"""One game between a person and a machine: its rules, moves, clock, count and result.

Decides what may happen next and nothing about who thinks, stores or listens: `room` does that.
Times are seconds; the caller tells what time it is.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any

from tengen.board import BLACK, HANDICAP_KOMI, WHITE, Board, IllegalMoveError
from tengen.board.counting import Count
from tengen.gtp.judging import count_without
from tengen.gtp.sgf import sgf_of_game
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

_LONGEST = 3
"""Plies for each point of the board after which a game is counted."""


@dataclass
class Clock:
    """Fischer's clock: time for each side, and more after every move."""

    left: dict[int, float]
    increment: float
    since: float | None = None
    """When the side to move began to think; None while nobody's time runs."""

    def remaining(self, colour: int, turn: int, now: float) -> float:
        """Return what a side has left."""
        spent = now - self.since if self.since is not None and colour == turn else 0.0
        return max(self.left[colour] - spent, 0.0)

    def press(self, turn: int, now: float) -> None:
        """End the move of the side to move."""
        self.left[turn] = self.remaining(turn, turn, now) + self.increment
        self.since = now


@dataclass
class Table:
    """A game in progress or finished."""

    id: str
    board: Board
    human: int
    opponent: str
    """The opponent's id in the server's list."""
    seed: int
    ladder: bool = False
    dead: set[int] | None = None
    """Points of the stones that are taken off; None while nobody has judged them."""
    resigned: int = 0
    timed_out: int = 0
    accepted: bool = False
    stopped: bool = False
    """Whether the person asked for a count before both sides passed."""
    open: bool = False
    """Whether the judge finds that the game to be counted is not over."""
    clock: Clock | None = None
    version: int = 0
    trouble: str = ""
    """What went wrong with the machine's last search, for people."""
    _count: Count | None = field(default=None, repr=False)

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
    ) -> Table:
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
        table = cls(_new_id(), board, COLOURS[human], opponent, secrets.randbits(31), ladder)
        if minutes > 0:
            table.clock = Clock({BLACK: 60 * minutes, WHITE: 60 * minutes}, increment)
        return table

    @classmethod
    def resume(cls, board: Board, *, human: str, opponent: str) -> Table:
        """Go on with a game that was played elsewhere."""
        return cls(_new_id(), board, COLOURS[human], opponent, secrets.randbits(31))

    # ----- Asking -----

    @property
    def is_over(self) -> bool:
        """Whether the result stands."""
        return bool(self.resigned or self.timed_out or self.accepted)

    @property
    def is_counting(self) -> bool:
        """Whether nothing is left but to agree on the dead stones."""
        points = self.board.rows * self.board.cols
        ended = self.stopped or self.board.is_over or len(self.board.moves) >= _LONGEST * points
        return ended and not self.is_over

    @property
    def waits_for_machine(self) -> bool:
        """Whether the machine is to move."""
        return not self.is_over and not self.is_counting and self.board.turn != self.human

    @property
    def result(self) -> str:
        """The result as SGF's RE writes it; empty while the game goes on."""
        for loser, letter in ((self.resigned, "R"), (self.timed_out, "T")):
            if loser:
                return f"{'W' if loser == BLACK else 'B'}+{letter}"
        return self.count().result if self.accepted else ""

    @property
    def won(self) -> bool | None:
        """Whether the person won; None for a draw or a game that goes on."""
        result = self.result
        if result[:2] not in ("B+", "W+"):
            return None
        return (result[0] == "B") == (self.human == BLACK)

    def count(self) -> Count:
        """Count with the dead stones as they are marked now."""
        if self._count is None:
            self._count = count_without(self.board, self.dead or ())
        return self._count

    # ----- Changing -----

    def play(self, move: str, now: float) -> None:
        """Play a move of the side to move: a vertex, pass or resign.

        Whether its time is up is asked before, with `check_clock`: that loss has to be stored.

        Raises
        ------
        IllegalMoveError
            If the rules forbid it or the game is over.
        """
        turn = self.board.turn
        if move.strip().lower() == "resign":
            self.resign(turn)
            return
        self._require_open()
        self.board.play(move)
        if self.clock is not None:
            self.clock.press(turn, now)
        self._changed()

    def resign(self, colour: int) -> None:
        """Give the game up for a side, whether it is to move or not.

        Raises
        ------
        IllegalMoveError
            If the game is over.
        """
        self._require_open()
        self.resigned = colour
        self._changed()

    def _require_open(self) -> None:
        if self.is_over or self.is_counting:
            raise IllegalMoveError("the game is over")

    def check_clock(self, now: float) -> bool:
        """Lose the game for the side to move if its time is up; tell whether it was."""
        if self.clock is None or self.is_over or self.is_counting:
            return False
        if self.clock.remaining(self.board.turn, self.board.turn, now) > 0:
            return False
        self.timed_out = self.board.turn
        self._changed()
        return True

    def undo(self, now: float) -> None:
        """Take back the person's last move and what followed.

        Raises
        ------
        IllegalMoveError
            If there is none.
        """
        if self.resigned == self.human or self.timed_out == self.human:
            # Only the end is taken back, not the move before it.
            self.resigned = self.timed_out = 0
        elif self.stopped:
            pass  # the same here
        else:
            mine = [n for n, (colour, _) in enumerate(self.board.moves) if colour == self.human]
            if not mine:
                raise IllegalMoveError("there is no move of yours to take back")
            while len(self.board.moves) > mine[-1]:
                self.board.undo()
            self.resigned = self.timed_out = 0
        self.accepted, self.stopped, self.open, self.dead = False, False, False, None
        if self.clock is not None:
            self.clock.since = now
            self.clock.left[self.human] = max(self.clock.left[self.human], 30.0)
        self._changed()

    def toggle(self, name: str) -> None:
        """Take a block for dead, or for alive again.

        Raises
        ------
        IllegalMoveError
            Before the end of the game, and where no stone is.
        """
        if not self.is_counting or self.dead is None:
            raise IllegalMoveError("stones are taken off after both sides have passed")
        stones = set(self.board.block(name).stones)
        self.dead = self.dead - stones if stones & self.dead else self.dead | stones
        self._changed()

    def stop(self) -> None:
        """Count the game as it stands, finished or not."""
        self._require_open()
        self.stopped = True
        self._changed()

    def judge(self, dead: list[str], *, open: bool = False) -> None:
        """Take these stones for dead."""
        self.dead = {self.board.point(name) for name in dead}
        self.open = open
        self._changed()

    def accept(self) -> None:
        """Let the count stand."""
        if not self.is_counting or self.dead is None:
            raise IllegalMoveError("there is nothing to agree on yet")
        self.accepted = True
        self._changed()

    def _changed(self) -> None:
        self.version += 1
        self.trouble = ""
        self._count = None

    # ----- Telling -----

    def state(self, now: float, *, thinking: bool = False) -> dict[str, Any]:
        """Return everything that a page shows."""
        board = self.board
        counting = self.is_counting or self.accepted
        return {
            "id": self.id,
            "version": self.version,
            "size": [board.rows, board.cols],
            "komi": board.komi,
            "handicap": board.handicap,
            "scoring": board.rules.scoring,
            "you": NAMES[self.human],
            "opponent": self.opponent,
            "ladder": self.ladder,
            "stones": rows_of(board),
            "turn": NAMES[board.turn],
            "moves": named_moves(board),
            "last": last_vertex(board),
            "captures": {"black": board.prisoners[0], "white": board.prisoners[1]},
            "illegal": illegal_points(board),
            "status": "over" if self.is_over else "counting" if counting else "playing",
            "thinking": thinking,
            "trouble": self.trouble,
            "open": self.open,
            "dead": None if self.dead is None else vertices(sorted(self.dead), board),
            "count": counted(self.count()) if counting and self.dead is not None else None,
            "result": self.result or None,
            "won": self.won,
            "clock": self._clock_state(now),
        }

    def _clock_state(self, now: float) -> dict[str, Any] | None:
        if self.clock is None:
            return None
        turn = self.board.turn
        running = self.clock.since is not None and not (self.is_over or self.is_counting)
        return {
            "black": self.clock.remaining(BLACK, turn, now),
            "white": self.clock.remaining(WHITE, turn, now),
            "increment": self.clock.increment,
            "running": running,
        }

    def summary(self) -> dict[str, Any]:
        """Return what a list of games shows."""
        return {
            "size": self.board.rows,
            "you": NAMES[self.human],
            "opponent": self.opponent,
            "moves": len(self.board.moves),
            "handicap": self.board.handicap,
            "ladder": self.ladder,
            "result": self.result or None,
            "won": self.won,
            "status": "over" if self.is_over else "counting" if self.is_counting else "playing",
        }

    def body(self, now: float) -> dict[str, Any]:
        """Return everything that makes this table again with `from_body`."""
        clock = None
        if self.clock is not None:
            turn = self.board.turn
            left = [self.clock.remaining(c, turn, now) for c in (BLACK, WHITE)]
            clock = {"left": left, "increment": self.clock.increment}
        return {
            "id": self.id,
            "board": to_value(self.board),
            "human": self.human,
            "opponent": self.opponent,
            "seed": self.seed,
            "ladder": self.ladder,
            "dead": None if self.dead is None else sorted(self.dead),
            "resigned": self.resigned,
            "timed_out": self.timed_out,
            "accepted": self.accepted,
            "stopped": self.stopped,
            "open": self.open,
            "clock": clock,
            "version": self.version,
        }

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> Table:
        """Make the table that `body` described; its clock stands still until somebody looks."""
        clock = body["clock"]
        return cls(
            id=body["id"],
            board=to_board(body["board"]),
            human=body["human"],
            opponent=body["opponent"],
            seed=body["seed"],
            ladder=body["ladder"],
            dead=None if body["dead"] is None else set(body["dead"]),
            resigned=body["resigned"],
            timed_out=body["timed_out"],
            accepted=body["accepted"],
            stopped=body.get("stopped", False),
            open=body.get("open", False),
            clock=clock
            and Clock(dict(zip((BLACK, WHITE), clock["left"], strict=True)), clock["increment"]),
            version=body["version"],
        )

    def sgf(self, machine: str) -> bytes:
        """Write the game as SGF, with names, result, and territory when it was counted."""
        names = {c: "You" if c == self.human else machine for c in (BLACK, WHITE)}
        count = self.count() if self.accepted else None
        return sgf_of_game(self.board, names, self.result, count)


def _new_id() -> str:
    return secrets.token_urlsafe(9)
