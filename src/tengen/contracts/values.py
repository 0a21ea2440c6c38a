"""The values that players and models return.

Moves are points of the bordered board, PASS = 0, RESIGN = -1. Win rates, scores and ownership are
from Black's view: positive means that Black is ahead, komi included. Arrays over the board are flat
and row-major.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import StrEnum

from tengen.arrays import FloatArray as FloatArray

# Repeated from `tengen.board`, whose import loads all kernels.
_BLACK, _RESIGN = 1, -1


class Status(StrEnum):
    """The fate of a block when the game is counted."""

    ALIVE = "alive"
    DEAD = "dead"
    SEKI = "seki"


@dataclass(frozen=True, slots=True)
class BlockStatus:
    """The status of one block: its points in ascending order, its colour, how sure it is."""

    stones: tuple[int, ...]
    colour: int
    status: Status
    probability: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """The status of every block of a position, and whether it is safe to score it now.

    `safe_probability` is the probability that counting with these statuses is right.
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
    """The score of a position; `black` and `white` are the points of each side, komi included.

    `safe` says whether the game is over, so that this is a count rather than a guess.
    """

    score: float
    black: float = math.nan
    white: float = math.nan
    ownership: FloatArray | None = None
    safe: bool = True


@dataclass(frozen=True, slots=True)
class Candidate:
    """A player's opinion of one move; `pv` starts with `move`.

    Optional: `utility` (from -1 to 1, what the search maximises), `spread` (standard deviation of
    the final score), `pv_visits` (visits of each move of `pv`), `owners` (ownership after the move
    and its standard deviation).
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
class Report:
    """A player's opinion of a position: candidates, best first, and the whole.

    `choice` is the move the player would play now. Optional: `spread` (standard deviation of the
    final score), `ownership_spread`, and a network's opinion without search: `raw_winrate`,
    `raw_score`, `raw_spread`, `raw_policy` (pass last). `human_policy` is how likely people play
    each move, where another model says so.
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
    def of_choice(cls, move: int) -> Report:
        """Return the report of a player that names only a move; resigning has no candidate.

        >>> Report.of_choice(12).candidates[0].pv
        (12,)
        """
        told = () if move == _RESIGN else (Candidate(move, 1, 0.5, prior=1.0, pv=(move,)),)
        return cls(told, move, visits=1)

    def seen_by(self, colour: int) -> Report:
        """Return the same opinion from one side's view, for protocols that want it.

        >>> Report((), 0, winrate=0.75, score=2.0).seen_by(2).winrate
        0.25
        """
        if colour == _BLACK:
            return self
        candidates = tuple(
            replace(
                c,
                winrate=1 - c.winrate,
                score=0 - c.score,
                utility=0 - c.utility,
                owners=None if c.owners is None else (-c.owners[0], c.owners[1]),
            )
            for c in self.candidates
        )
        return replace(
            self,
            candidates=candidates,
            winrate=1 - self.winrate,
            score=0 - self.score,
            ownership=None if self.ownership is None else -self.ownership,
            raw_winrate=1 - self.raw_winrate,
            raw_score=0 - self.raw_score,
        )


def win_probability(value: float, scale: float = 1.0) -> float:
    """Turn an expected score into a probability of winning; a model's card gives `scale`.

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
