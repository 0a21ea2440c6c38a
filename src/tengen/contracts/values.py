"""Hold the small values that players and models return; compute nothing about Go.

Moves are points of the bordered board, PASS = 0, RESIGN = -1. Values and scores are Black's:
positive means that Black is ahead, komi included. Arrays over the board are flat and row-major.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum

from tengen.arrays import FloatArray as FloatArray

"""An array of floats; its shape stands in the docstring of the name that has this type."""

_RESIGN = -1  # that of `tengen.board`, which would load all kernels


class Status(StrEnum):
    """What becomes of a block when the game is counted."""

    ALIVE = "alive"
    DEAD = "dead"
    SEKI = "seki"


@dataclass(frozen=True, slots=True)
class BlockStatus:
    """Tell what becomes of one block, and how surely.

    `stones` are the points of the block in ascending order, `colour` is BLACK or WHITE,
    `probability` is that of `status` being right.
    """

    stones: tuple[int, ...]
    colour: int
    status: Status
    probability: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """Tell the status of every block of a position, and whether it is safe to score it now.

    `safe_probability` is the probability that counting with these statuses is right;
    `ownership` (one number a point, flat, +1 Black to -1 White) is there where the scorer has it.
    """

    blocks: tuple[BlockStatus, ...]
    safe: bool
    safe_probability: float = math.nan
    ownership: FloatArray | None = None

    def stones(self, status: Status | str) -> tuple[int, ...]:
        """List the points of all blocks of one status in ascending order."""
        wanted = Status(status)
        return tuple(sorted(p for b in self.blocks if b.status is wanted for p in b.stones))


@dataclass(frozen=True, slots=True)
class ScoreEstimate:
    """Give the score of a position for Black, komi included.

    `black` and `white` are the two sides' points (white's with komi); `ownership` has one
    number a point, flat, from +1 (Black) to -1 (White); `safe` says whether the game is
    over, so that this is a count rather than a guess.
    """

    score: float
    black: float = math.nan
    white: float = math.nan
    ownership: FloatArray | None = None
    safe: bool = True


@dataclass(frozen=True, slots=True)
class Candidate:
    """Report what a player thinks of one move.

    `winrate` and `score` are those of the side TO MOVE in the analysed position, unlike values
    elsewhere, because that is how players compare moves; `pv` starts with `move`.

    Players that know more say more: `utility` (the mover's, -1 to 1: what the search maximises),
    `spread` (standard deviation of the final score), `pv_visits` (how often each move of `pv` was
    looked at), `owners` (ownership after the move and its standard deviation, flat, Black's).
    """

    move: int
    visits: int
    winrate: float
    score: float = 0.0
    prior: float = 0.0
    pv: tuple[int, ...] = ()
    utility: float = math.nan
    spread: float = math.nan
    pv_visits: tuple[int, ...] = ()
    owners: tuple[FloatArray, FloatArray] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Analysis:
    """Report what a player thinks of a position: candidates, best first, and the whole.

    `choice` is the move the player would play now; `winrate` and `score` are those of the side to
    move; `ownership` (flat, one number a point) stays Black's.

    Players that know more say more: `spread` (standard deviation of the final score),
    `ownership_spread`, and what a network says without any search: `raw_winrate`, `raw_score`,
    `raw_spread` (the mover's) and `raw_policy` (row-major, the pass last); `human_policy` is how
    likely people play each move, where that is another's word.
    """

    candidates: tuple[Candidate, ...]
    choice: int
    visits: int = 0
    winrate: float = 0.5
    score: float = 0.0
    ownership: FloatArray | None = field(default=None, compare=False)
    spread: float = math.nan
    ownership_spread: FloatArray | None = field(default=None, compare=False)
    raw_winrate: float = math.nan
    raw_score: float = math.nan
    raw_spread: float = math.nan
    raw_policy: FloatArray | None = field(default=None, compare=False)
    human_policy: FloatArray | None = field(default=None, compare=False)

    @classmethod
    def of_choice(cls, move: int) -> Analysis:
        """Return the report of a player that says its move alone; a resignation has no candidate.

        >>> Analysis.of_choice(12).candidates[0].pv
        (12,)
        """
        told = () if move == _RESIGN else (Candidate(move, 1, 0.5, prior=1.0, pv=(move,)),)
        return cls(told, move, visits=1)


def win_probability(value: float, scale: float = 1.0) -> float:
    """Turn an expected score into a probability of winning; `scale` stands in a model's card.

    >>> win_probability(0.0)
    0.5
    >>> win_probability(-1e9, 2.0)
    0.0
    """
    bent = value / scale
    if bent < 0:
        grown = math.exp(max(bent, -700.0))
        return grown / (1.0 + grown) if bent > -700.0 else 0.0
    return 1.0 / (1.0 + math.exp(-min(bent, 700.0)))
