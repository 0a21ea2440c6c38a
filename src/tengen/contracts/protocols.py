"""Name what each kind of thing offers, so that layers meet here and not in each other.

A class keeps a protocol by having its methods; nothing needs to be inherited. The small protocols
that a player or a model may keep besides (`TimedPlayer`, `Analyser`, `Explainer`,
`OwnershipEvaluator`, `ScoreEstimator`) are optional: ask with `isinstance`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, Self, TypedDict, runtime_checkable

import numpy as np

from tengen.arrays import FloatArray
from tengen.contracts.values import Analysis, ScoreEstimate, Verdict

if TYPE_CHECKING:
    from tengen.board import Board, Point


@runtime_checkable
class Player(Protocol):
    """A function of a position and a random generator.

    It keeps nothing between calls that changes what it plays (a cache may change how fast).
    A player that holds resources (a process) offers `close()`; one that cannot play on every board
    offers `supports(rows, cols) -> bool`.
    """

    name: str

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose a move for `board.turn`: legal, PASS or RESIGN. Leaves the board as it was."""
        ...


@runtime_checkable
class TimedPlayer(Player, Protocol):
    """A player that can work under a clock."""

    def within(self, seconds: float) -> Player:
        """Return a player like this one that takes at most `seconds` for a move."""
        ...


class AnalyseOptions(TypedDict, total=False):
    """What `Analyser.analyse` takes by name, for those who hand it on to another."""

    interval: float
    limited: bool
    stop: Callable[[], bool]


@runtime_checkable
class Analyser(Player, Protocol):
    """A player that can say what it thinks while it thinks."""

    def analyse(
        self,
        board: Board,
        rng: np.random.Generator,
        *,
        interval: float = 1.0,
        limited: bool = False,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[Analysis]:
        """Yield what it thinks about every `interval` seconds until `stop()` or the end.

        With `limited` it ends where `choose` would, and the last report's `choice` is the move;
        without, it goes on for as long as it is asked. It yields at least one report and asks
        `stop` at least every 0.1 s or so.
        """
        ...


@runtime_checkable
class NarrowablePlayer(Player, Protocol):
    """A player that can be told to look at some moves of a position only."""

    def only(self, moves: Collection[int]) -> Player:
        """Return a player like this one that looks at none but these moves; not empty."""
        ...


@runtime_checkable
class JudgingPlayer(Analyser, Protocol):
    """A player that has another mind for opinions of positions than for moves."""

    @property
    def judge(self) -> Analyser:
        """Whom to ask for opinions instead."""
        ...


@runtime_checkable
class Explainer(Player, Protocol):
    """A player that can say in words why it plays a move."""

    def explain(self, board: Board, move: int) -> str:
        """Explain `move` on `board`, the position before it, in a few words."""
        ...


@runtime_checkable
class Evaluator(Protocol):
    """A model that judges positions.

    Where it knows the scale of its win probabilities it has `scale`, see `win_probability`.
    """

    def values(self, boards: Sequence[Board]) -> FloatArray:
        """Return the expected final score for Black, komi included, one per board."""
        ...


@runtime_checkable
class OwnershipEvaluator(Evaluator, Protocol):
    """An evaluator that also judges single points."""

    def ownership(self, board: Board) -> FloatArray:
        """Return a flat array of rows * columns numbers, +1 (Black's) to -1 (White's)."""
        ...


@runtime_checkable
class Policy(Protocol):
    """A model that says how likely moves are."""

    def priors(self, board: Board) -> FloatArray:
        """Return a flat array of rows * columns + 1, pass last; zero where illegal; sum 1."""
        ...


@runtime_checkable
class Scorer(Protocol):
    """A model that says which stones are dead at the end of a game."""

    def status(self, board: Board) -> Verdict:
        """Judge every block: alive, dead or seki, with probability; and whether it is safe."""
        ...


@runtime_checkable
class ScoreEstimator(Protocol):
    """A scorer that also counts, under the rules of the board."""

    def score(self, board: Board) -> ScoreEstimate:
        """Count the position under its own rules after taking off what is dead."""
        ...


@runtime_checkable
class Expert(Protocol):
    """Somebody who finishes games for both sides and counts them (papers 1 and 5)."""

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> FloatArray:
        """Return the final score for Black, komi included, one per board; leave boards alone."""
        ...


@runtime_checkable
class Learner(Protocol):
    """An estimator: keyword-only `__init__` that only stores; learned names end in `_`."""

    def fit(self, *args: Any, **kwargs: Any) -> Self:
        """Learn and return self; fitting twice is fitting once."""
        ...

    def save(self, path: str | PathLike[str]) -> None:
        """Write a safetensors file with its card."""
        ...

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read what `save` wrote; raise `ModelError` for anything else."""
        ...


# ----- Effort -----


def limit_visits(player: Player, visits: int) -> Player:
    """Return the player with so many visits per position if it takes such a limit, else itself."""
    names = getattr(player, "__dataclass_fields__", {})
    limit = next((name for name in ("visits", "playouts") if name in names), None)
    if limit is None:
        return player
    known: Any = player
    others = {name: None for name in ("seconds", "level") if name in names}
    limited: Player = replace(known, **{limit: visits, **others})
    return limited
