"""Keep a game between a person and a player: moves, clock, undo, advice, the count, its SGF.

Knows whose turn it is, who has given up or run out of time; draws nothing and reads no words. It
takes the player's time itself and is told the person's. `tengen play` is this game in a terminal;
`saving` keeps it in a file.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.board import (
    BLACK,
    PASS,
    RESIGN,
    WHITE,
    Board,
    format_gtp,
    index_of,
)
from tengen.board.counting import Count
from tengen.contracts import Analyser, Candidate, Player, TimedPlayer
from tengen.errors import IllegalMoveError
from tengen.gtp.clock import Clock
from tengen.gtp.judging import Judge, Outlook, PlayoutScorer, agrees, count_without
from tengen.gtp.sgf import sgf_of_game

_OWNED = 0.6
"""Ownership beyond which an estimate gives a point to somebody."""


@dataclass
class Table:
    """A game under way: `human` is the person's colour, 0 for somebody who only watches."""

    board: Board
    player: Player
    human: int
    seed: int
    resigned: int = 0
    """Who gave up, if anybody."""
    dead: set[int] = field(default_factory=set)
    """Points of the stones that are taken off at the end."""
    counted: Count | None = None
    """The count of a game that ended by two passes."""
    spec: str = ""
    """How the player is named on the command line, so that the game can go on later."""
    clock: Clock | None = None
    late: int = 0
    """Who ran out of time, if anybody."""

    # ----- Moves -----

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.resigned or self.late) or self.counted is not None

    @property
    def waits(self) -> bool:
        """Whether the player has to move."""
        return not self.over and self.board.turn != self.human

    def play(self, move: int) -> None:
        """Play a move, a pass or a resignation of the side to move; count if it ends the game.

        Raises
        ------
        IllegalMoveError
            If the rules forbid it, or the game is over.
        """
        if self.over:
            raise IllegalMoveError("the game is over; undo takes it back, quit leaves")
        if move == RESIGN:
            self.resigned = self.board.turn
            return
        self.board.play(self.board.answer(move))
        if self.board.is_over:
            self.finish()

    def answer(self) -> int | None:
        """Let the player move and return what it played.

        A game that nobody takes part in is counted, with None, when it has gone on for too long.
        """
        board = self.board
        if not self.human and len(board.moves) >= 3 * board.rows * board.cols:
            self.finish()
            return None
        begin = time.monotonic()
        if agrees(self.judge, board):
            move: int = PASS
        else:
            move = int(self._hurried().choose(board.copy(), self._generator()))
        if self.spend(time.monotonic() - begin):
            self.play(move)
        return move

    def _hurried(self) -> Player:
        """Return the player, limited to its share of the time left where it can keep to it."""
        board, player = self.board, self.player
        seconds = None
        if self.clock is not None:
            points = board.rows * board.cols
            seconds = self.clock.budget(board.turn, points, len(board.moves))
        return player.within(seconds) if seconds and isinstance(player, TimedPlayer) else player

    def spend(self, seconds: float) -> bool:
        """Count time down for the side to move; False if it had not so much, which ends the game.

        Call it before the move is played.
        """
        if self.clock is None or self.over:
            return True
        turn = self.board.turn
        if seconds > self.clock.sides[turn].left:
            self.late = turn
            self.clock.sides[turn].left = 0.0
            return False
        self.clock.spend(turn, seconds)
        return True

    def undo(self) -> None:
        """Take moves back until it is the person's turn again."""
        if self.late:
            raise IllegalMoveError("time does not come back")
        if self.resigned:
            self.resigned = 0
            if self.board.turn == self.human:
                return
        mine = [n for n, (colour, _) in enumerate(self.board.moves) if colour == self.human]
        if not mine:
            raise IllegalMoveError("there is no move of yours to undo")
        while len(self.board.moves) > mine[-1]:
            self.board.undo()
        self.counted = None
        self.dead.clear()

    def _generator(self) -> np.random.Generator:
        """Return random numbers that follow from the seed and the number of moves."""
        return np.random.default_rng([self.seed, len(self.board.moves)])

    # ----- Advice -----

    def advice(self) -> list[Candidate] | int:
        """Return the moves that the player would think of here, or only its move."""
        if self.over:
            raise IllegalMoveError("the game is over")
        board, rng = self.board.copy(), self._generator()
        # A weak level gives better advice than it plays.
        adviser: Player = getattr(self.player, "adviser", self.player)
        if not isinstance(adviser, Analyser):
            return int(adviser.choose(board, rng))
        *_, report = adviser.analyse(board, rng, interval=1e9, limited=True)
        return list(report.candidates)

    def estimate(self) -> tuple[Outlook, NDArray[np.int8] | None]:
        """Return what the game comes to, and who seems to own each point: 0, BLACK or WHITE."""
        outlook = self.judge.estimate(self.board)
        owners = outlook.ownership
        if owners is None:
            return outlook, None
        likely = np.where(np.asarray(owners) > 0, BLACK, WHITE)
        return outlook, np.where(np.abs(owners) > _OWNED, likely, 0).astype(np.int8)

    # ----- The end -----

    @cached_property
    def judge(self) -> Judge:
        """Who says what is dead."""
        return Judge()

    @property
    def is_open(self) -> bool:
        """Whether somebody can still gain a point, by the judge's word."""
        return not self.over and self.judge.over(self.board) is None

    @property
    def judge_learned(self) -> bool:
        """Whether the judge is a learned scorer; without one, playouts decide."""
        return not isinstance(self.judge.scorer, PlayoutScorer)

    def finish(self) -> None:
        """Count the game; dead stones are taken off only where the judge is sure."""
        self.dead = set(self.judge.dead_for_sure(self.board))
        self.counted = count_without(self.board, self.dead)

    def turn_over(self, vertex: str) -> None:
        """Take a block for dead, or for alive again, and count anew."""
        if self.counted is None:
            raise IllegalMoveError("stones are taken off after both have passed")
        stones = set(self.board.block(vertex).stones)
        self.dead = self.dead - stones if stones & self.dead else self.dead | stones
        self.counted = count_without(self.board, self.dead)

    def territory(self) -> dict[int, list[int]]:
        """Return the row-major indices that a counted game gives to Black and to White."""
        assert self.counted is not None
        return {
            colour: np.flatnonzero(self.counted.territory(colour)).tolist()
            for colour in (BLACK, WHITE)
        }

    def fallen(self) -> list[int]:
        """Return the row-major indices of the dead stones."""
        return sorted(index_of(p, self.board.rows, self.board.cols) for p in self.dead)

    @property
    def result(self) -> str:
        """The result as SGF's RE writes it; empty while the game goes on."""
        if self.resigned:
            return "W+R" if self.resigned == BLACK else "B+R"
        if self.late:
            return "W+T" if self.late == BLACK else "B+T"
        return str(self.counted.result) if self.counted is not None else ""

    # ----- What remains -----

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
            "dead": [format_gtp(p, b.rows, b.cols) for p in sorted(self.dead)],
        }

    def sgf(self) -> bytes:
        """Return the game as SGF, with names, result, and territory when it was counted."""
        names = {c: "You" if c == self.human else self.player.name for c in (BLACK, WHITE)}
        return sgf_of_game(self.board, names, self.result, self.counted)
