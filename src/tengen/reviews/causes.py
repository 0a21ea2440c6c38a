"""Why a move lost points: the phase of the game, and what went wrong, from two evaluations."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import BLACK, PASS, Board, Point

PHASES = ("opening", "middle game", "endgame")
_CHANGED = 0.25  # ownership on either side of 0 from which stones count as one side's
_GROUP = 3  # stones that must change hands for a loss to be about them
_NEAR = 3  # lines between two points of one fight; more are another part of the board

SENTENCES = {
    "group": "It loses {stones} stones.",
    "escape": "It lets {stones} stones of the other side live.",
    "answer": "It leaves the last move unanswered.",
    "direction": "The better move is in another part of the board.",
    "local": "The better move is nearby.",
    "pass": "There was more to play for.",
}
"""What went wrong, by the names of the causes."""


class Cause(NamedTuple):
    """What went wrong with a move, and how many stones it is about."""

    name: str = ""
    stones: int = 0


NO_CAUSE = Cause()


class Evaluated(Protocol):
    """What a cause follows from; see `game.EvaluatedPosition`."""

    @property
    def board(self) -> Board:
        """The position."""

    @property
    def best(self) -> Point:
        """The best move."""

    @property
    def ownership(self) -> FloatArray | None:
        """Who will own each point, from Black's view, if known."""


def phase_of(number: int, rows: int, cols: int) -> str:
    """Return the phase of a move: opening to a sixth of the board's points, endgame from half."""
    points = rows * cols
    return PHASES[0 if 6 * number <= points else 1 if 2 * number <= points else 2]


def cause_of(colour: int, move: Point, before: Evaluated, after: Evaluated) -> Cause:
    """Return why a move is worse than the best one of the position before it.

    Stones that change hands come first; then the distance of the best move from the opponent's
    last one and from the one that was played.
    """
    board, best = before.board, before.best
    if move == PASS:
        return Cause("pass")
    if best == PASS:
        return NO_CAUSE
    if before.ownership is not None and after.ownership is not None:
        sign = 1.0 if colour == BLACK else -1.0
        was, now = sign * np.asarray(before.ownership), sign * np.asarray(after.ownership)
        lost = (was.ravel() > _CHANGED) & (now.ravel() < -_CHANGED)
        stones = board.grid().ravel()
        own = int((lost & (stones == colour)).sum())
        theirs = int((lost & (stones != colour) & (stones != 0)).sum())
        if max(own, theirs) >= _GROUP:
            return Cause("group", own) if own >= theirs else Cause("escape", theirs)
    if _distance(move, best) <= _NEAR:
        return Cause("local")
    last = board.last_move
    if last is not None and last != PASS and _distance(last, best) <= _NEAR:
        return Cause("answer")
    return Cause("direction")


def _distance(one: Point, other: Point) -> int:
    """Return the lines between two points, in the direction in which there are more."""
    return max(abs(one.row - other.row), abs(one.col - other.col))
