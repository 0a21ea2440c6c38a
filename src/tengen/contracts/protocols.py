"""Protocols of players, models and experts, and the values they return.

A class implements a protocol by having its methods. `TimedPlayer`, `Analyser`, `Explainer`,
`OwnershipEvaluator` and `ScoreEstimator` are optional: test with `isinstance`.

Moves are points of the bordered board, PASS = 0, RESIGN = -1. Win rates, scores and ownership are
from Black's view: positive means that Black is ahead, komi included. Arrays over the board are flat
and row-major.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, Self, TypedDict, runtime_checkable

import numpy as np

from tengen.arrays import FloatArray

if TYPE_CHECKING:
    from tengen.board import Board, Point

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


# ----- Protocols -----


@runtime_checkable
class Player(Protocol):
    """A function of a position and a random generator.

    It keeps no state between calls that changes its moves. A player that holds resources (a
    process) has `close()`; one that cannot play on every board has `supports(rows, cols) -> bool`.
    """

    name: str

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose a move for `board.turn`: legal, PASS or RESIGN. Do not change the board."""
        ...


@runtime_checkable
class TimedPlayer(Player, Protocol):
    """A player that can keep to a time limit."""

    def within(self, seconds: float) -> Player:
        """Return the same player with at most `seconds` per move."""
        ...


class AnalyseOptions(TypedDict, total=False):
    """The keyword arguments of `Analyser.analyse`."""

    interval: float
    limited: bool
    stop: Callable[[], bool]


@runtime_checkable
class Analyser(Player, Protocol):
    """A player that reports while it thinks."""

    def analyse(
        self,
        board: Board,
        rng: np.random.Generator,
        *,
        interval: float = 1.0,
        limited: bool = False,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[Report]:
        """Yield a report every `interval` seconds until `stop()` or the end, at least one.

        With `limited` it ends where `choose` would, and the last report's `choice` is the move.
        `stop` is called at least every 0.1 s or so.
        """
        ...


@runtime_checkable
class NarrowablePlayer(Player, Protocol):
    """A player that can be restricted to some moves of a position."""

    def only(self, moves: Collection[int]) -> Player:
        """Return the same player, restricted to these moves (at least one)."""
        ...


@runtime_checkable
class Explainer(Player, Protocol):
    """A player that explains its moves in words."""

    def explain(self, board: Board, move: int) -> str:
        """Explain `move` on `board`, the position before it."""
        ...


@runtime_checkable
class Evaluator(Protocol):
    """A model that evaluates positions; its optional `scale` is for `win_probability`."""

    def values(self, boards: Sequence[Board]) -> FloatArray:
        """Return the expected final score for Black, komi included, one per board."""
        ...


@runtime_checkable
class OwnershipEvaluator(Evaluator, Protocol):
    """An evaluator that also evaluates single points."""

    def ownership(self, board: Board) -> FloatArray:
        """Return a flat array of rows * columns numbers, +1 (Black's) to -1 (White's)."""
        ...


@runtime_checkable
class Policy(Protocol):
    """A model that predicts moves."""

    def priors(self, board: Board) -> FloatArray:
        """Return a flat array of rows * columns + 1, pass last; zero where illegal; sum 1."""
        ...


@runtime_checkable
class Scorer(Protocol):
    """A model that finds the dead stones at the end of a game."""

    def status(self, board: Board) -> Verdict:
        """Return the status of every block, and whether it is safe to score."""
        ...


@runtime_checkable
class ScoreEstimator(Protocol):
    """A scorer that also counts, under the rules of the board."""

    def score(self, board: Board) -> ScoreEstimate:
        """Count the position under its rules without the dead stones."""
        ...


@runtime_checkable
class Expert(Protocol):
    """Finishes games for both sides and counts them (papers 1 and 5)."""

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> FloatArray:
        """Return the final score for Black, komi included, one per board; do not change boards."""
        ...


@runtime_checkable
class Learner(Protocol):
    """An estimator: keyword-only `__init__` that only stores; learned names end in `_`."""

    def fit(self, *args: Any, **kwargs: Any) -> Self:
        """Learn and return self; a second call starts anew."""
        ...

    def save(self, path: str | PathLike[str]) -> None:
        """Write a safetensors file with its card."""
        ...

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read what `save` wrote; raise `ModelError` for anything else."""
        ...


# ----- Effort -----


def plays_on(player: object, rows: int, cols: int) -> bool:
    """Tell whether a player plays on boards of this size; most play on all."""
    supports = getattr(player, "supports", None)
    return supports is None or bool(supports(rows, cols))


def limit_visits(player: Player, visits: int) -> Player:
    """Return the player with this limit on visits if it has one, else itself."""
    names = getattr(player, "__dataclass_fields__", {})
    limit = next((name for name in ("visits", "playouts") if name in names), None)
    if limit is None:
        return player
    known: Any = player
    others = {name: None for name in ("seconds", "level") if name in names}
    limited: Player = replace(known, **{limit: visits, **others})
    return limited
