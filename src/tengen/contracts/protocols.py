"""Protocols of players, models and experts.

A class implements a protocol by having its methods. `TimedPlayer`, `Analyser`, `Explainer`,
`OwnershipEvaluator` and `ScoreEstimator` are optional: test with `isinstance`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, Self, TypedDict, runtime_checkable

import numpy as np

from tengen.arrays import FloatArray
from tengen.contracts.values import Report, ScoreEstimate, Verdict

if TYPE_CHECKING:
    from tengen.board import Board, Point


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
