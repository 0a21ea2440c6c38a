"""Protocols of players, models and experts, the values they return, and checks of both.

A class implements a protocol by having its methods. Some protocols are optional additions to
another: test with `isinstance`. Moves are points of the bordered board, PASS = 0, RESIGN = -1. Win
rates, scores and ownership are from Black's view, komi included. Arrays over the board are flat and
row-major.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypedDict, runtime_checkable

import numpy as np

from tengen.arrays import FloatArray
from tengen.errors import IllegalMoveError

if TYPE_CHECKING:
    from tengen.board import Board, Point

# Repeated from `tengen.board`, whose import loads all kernels.
_BLACK, _PASS, _RESIGN = 1, 0, -1


class Status(StrEnum):
    """The status of a block when the game is counted."""

    ALIVE = "alive"
    DEAD = "dead"
    SEKI = "seki"


@dataclass(frozen=True, slots=True)
class BlockStatus:
    """The status of one block and its probability; points are in ascending order."""

    stones: tuple[int, ...]
    colour: int
    status: Status
    probability: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """The status of every block of a position, and whether it is safe to score it now."""

    blocks: tuple[BlockStatus, ...]
    safe: bool
    safe_probability: float = math.nan  # that counting with these statuses is right
    ownership: FloatArray | None = None

    def stones(self, status: Status | str) -> tuple[int, ...]:
        """List the points of all blocks of one status in ascending order."""
        wanted = Status(status)
        return tuple(sorted(p for b in self.blocks if b.status is wanted for p in b.stones))


@dataclass(frozen=True, slots=True)
class ScoreEstimate:
    """The score of a position and the points of each side, komi included."""

    score: float
    black: float = math.nan
    white: float = math.nan
    ownership: FloatArray | None = None
    safe: bool = True  # whether the game is over: this is a count rather than a guess


@dataclass(frozen=True, slots=True)
class Candidate:
    """A player's evaluation of one move; `pv` starts with it. Unknown values keep defaults."""

    move: int
    visits: int
    winrate: float
    score: float = 0.0
    prior: float = 0.0
    pv: tuple[int, ...] = ()
    utility: float = math.nan  # what the search maximises, from -1 to 1
    spread: float = math.nan  # standard deviation of the final score
    pv_visits: tuple[int, ...] = ()
    owners: tuple[FloatArray, FloatArray] | None = field(default=None, compare=False)
    """Ownership after the move, and its standard deviation."""


@dataclass(frozen=True, slots=True)
class SearchInfo:
    """A player's evaluation of a position: candidates, best first, and overall values.

    `raw_...` are a network's values without search; `human_policy` predicts the moves of humans.
    """

    candidates: tuple[Candidate, ...]
    choice: int  # the move to play now
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
    def of_choice(cls, move: int) -> SearchInfo:
        """Return what is known of a player that only chooses; resigning has no candidate."""
        candidates = () if move == _RESIGN else (Candidate(move, 1, 0.5, prior=1.0, pv=(move,)),)
        return cls(candidates, move, visits=1)

    def seen_by(self, colour: int) -> SearchInfo:
        """Return the same evaluation from one side's view, for protocols that need it."""
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
    """Turn an expected score into a probability of winning; a model's card gives `scale`."""
    bent = value / scale
    if bent < 0:
        grown = math.exp(max(bent, -700.0))
        return grown / (1.0 + grown) if bent > -700.0 else 0.0
    return 1.0 / (1.0 + math.exp(-min(bent, 700.0)))


# ----- Protocols -----


@runtime_checkable
class Player(Protocol):
    """A function of a position and a random generator, without state that changes its moves.

    It may have `close()`, to release resources, and `supports(rows, cols) -> bool`.
    """

    name: str

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose a move for `board.turn`: legal, PASS or RESIGN. Do not change the board."""


@runtime_checkable
class TimedPlayer(Player, Protocol):
    """A player that can keep to a time limit."""

    def within(self, seconds: float) -> Player:
        """Return the same player with at most `seconds` per move."""


class AnalyseOptions(TypedDict, total=False):
    """The keyword arguments of `Analyser.analyse`."""

    interval: float
    limited: bool
    stop: Callable[[], bool]


@runtime_checkable
class Analyser(Player, Protocol):
    """A player that shows how it evaluates while it thinks."""

    def analyse(
        self,
        board: Board,
        rng: np.random.Generator,
        *,
        interval: float = 1.0,
        limited: bool = False,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[SearchInfo]:
        """Yield an evaluation every `interval` seconds, at least one, until `stop()` or the end.

        With `limited` it ends where `choose` would. `stop` is called about every 0.1 s.
        """


@runtime_checkable
class NarrowablePlayer(Player, Protocol):
    """A player that can be restricted to some moves of a position."""

    def only(self, moves: Collection[int]) -> Player:
        """Return the same player, restricted to these moves (at least one)."""


@runtime_checkable
class Explainer(Player, Protocol):
    """A player that explains its moves in words."""

    def explain(self, board: Board, move: int) -> str:
        """Explain `move` on `board`, the position before it."""


@runtime_checkable
class Evaluator(Protocol):
    """A model that evaluates positions; its optional `scale` is for `win_probability`."""

    def values(self, boards: Sequence[Board]) -> FloatArray:
        """Return the expected final score for Black, komi included, one per board."""


@runtime_checkable
class OwnershipEvaluator(Evaluator, Protocol):
    """An evaluator that also evaluates single points."""

    def ownership(self, board: Board) -> FloatArray:
        """Return a flat array of rows * columns numbers, +1 (Black's) to -1 (White's)."""


@runtime_checkable
class Policy(Protocol):
    """A model that predicts moves."""

    def priors(self, board: Board) -> FloatArray:
        """Return a flat array of rows * columns + 1, pass last; zero where illegal; sum 1."""


@runtime_checkable
class Scorer(Protocol):
    """A model that finds the dead stones at the end of a game."""

    def status(self, board: Board) -> Verdict:
        """Return the status of every block, and whether it is safe to score."""


@runtime_checkable
class ScoreEstimator(Protocol):
    """A scorer that also counts, under the rules of the board."""

    def score(self, board: Board) -> ScoreEstimate:
        """Count the position under its rules without the dead stones."""


@runtime_checkable
class Expert(Protocol):
    """Finishes games for both sides and counts them (papers 1 and 5)."""

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> FloatArray:
        """Return the final score for Black, komi included, one per board; do not change boards."""


@runtime_checkable
class Learner(Protocol):
    """An estimator: `__init__` only stores its keyword-only arguments; learned names end in `_`."""

    def fit(self, *args: Any, **kwargs: Any) -> Self:
        """Learn and return self; a second call starts from scratch."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write a safetensors file with its card."""

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read what `save` wrote; raise `ModelError` for anything else."""


# ----- Effort -----


def plays_on(player: object, rows: int, cols: int) -> bool:
    """Return whether a player supports boards of this size; most support all."""
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


# ----- Checks -----


class ContractBroken(AssertionError):
    """An implementation breaks its protocol."""


def sample_boards(seed: int = 0, sizes: Sequence[tuple[int, int]] = ()) -> list[Board]:
    """Make empty boards, boards in play and nearly full ones; by default 9x9, 5x5 and 7x6."""
    from tengen.board import Board, play_random

    rng = np.random.default_rng(seed)
    boards = []
    for rows, cols in sizes or ((9, 9), (5, 5), (7, 6)):
        for share in (0.0, 0.4, 1.2):
            board = Board(rows, cols, komi=6.5)
            boards.append(play_random(board, int(share * rows * cols), rng))
    return boards


def check_player(
    player: Player, *, boards: Sequence[Board] = (), repeatable: bool = True, plies: int = 30
) -> None:
    """Check that a player's moves are legal, also in `plies` plies of self-play, and reproducible.

    `repeatable=False` is for players limited by a clock and engines without a seed.
    """
    _need(isinstance(player, Player), f"{player!r} lacks `name` or `choose`")
    _need(isinstance(player.name, str) and bool(player.name), f"name {player.name!r} is no name")
    boards = boards or sample_boards()
    first = [_try_choose(player, board, 0) for board in boards]
    if repeatable:
        again = [_try_choose(player, board, 0) for board in reversed(boards)][::-1]
        _need(first == again, f"same seed, other moves: {first} then {again}")
    board, passes = boards[0].copy(), 0
    for ply in range(plies):
        move = _try_choose(player, board, ply)
        passes = passes + 1 if move == _PASS else 0
        if move == _RESIGN or passes == 2:
            break
        board.play(move)
    if isinstance(player, Analyser):
        _check_analyse(player, boards[0])


def check_policy(policy: Policy, *, boards: Sequence[Board] = ()) -> None:
    """Check that priors are probabilities of legal moves and pass, the same each time."""
    _need(isinstance(policy, Policy), f"{policy!r} lacks `priors`")
    for board in boards or sample_boards():
        where, size = _where(board), board.rows * board.cols + 1
        with _unchanged(board):
            priors = policy.priors(board)
            _need(isinstance(priors, np.ndarray), f"priors are a {type(priors).__name__} {where}")
            _need(priors.shape == (size,), f"priors of shape {priors.shape}, not ({size},) {where}")
            _need(priors.dtype.kind == "f", f"priors are {priors.dtype}, not floats {where}")
            _need(bool(np.all(np.isfinite(priors))), f"a prior is not finite {where}")
            _need(bool(np.all(priors >= 0)), f"a prior is negative {where}")
            _need(abs(float(priors.sum()) - 1) < 1e-5, f"priors sum to {priors.sum()} {where}")
            bad = np.flatnonzero((priors > 0) & ~board.legal_mask())
            _need(len(bad) == 0, f"illegal moves {bad[:5]} have a prior {where}")
            same = np.array_equal(priors, policy.priors(board))
            _need(same, f"priors change when repeated {where}")


def check_evaluator(
    evaluator: Evaluator, *, boards: Sequence[Board] = (), tolerance: float = 1e-6
) -> None:
    """Check that values are finite, independent of their batch, and fall when komi rises."""
    _need(isinstance(evaluator, Evaluator), f"{evaluator!r} lacks `values`")
    boards = boards or sample_boards()
    with _unchanged(*boards):
        values = np.asarray(evaluator.values(boards))
        _need(values.shape == (len(boards),), f"{len(boards)} boards gave values {values.shape}")
        _need(values.dtype.kind == "f", f"values are {values.dtype}, not floats")
        _need(bool(np.all(np.isfinite(values))), f"a value is not finite: {values}")
        for board, value in zip(boards, values, strict=True):
            single = float(evaluator.values([board])[0])
            _need(abs(single - value) <= tolerance, f"{single} alone, {value} in a batch")
            dearer = board.copy()
            dearer.komi = board.komi + 10
            lower = float(evaluator.values([dearer])[0]) < value
            _need(lower, f"10 points more komi do not lower the value {value} {_where(board)}")
            if isinstance(evaluator, OwnershipEvaluator):
                _check_ownership(evaluator.ownership(board), board)


def check_scorer(scorer: Scorer, *, boards: Sequence[Board] = ()) -> None:
    """Check that every stone has exactly one status with a valid probability."""
    _need(isinstance(scorer, Scorer), f"{scorer!r} lacks `status`")
    for board in boards or sample_boards():
        where = _where(board)
        with _unchanged(board):
            verdict = scorer.status(board)
        seen: set[int] = set()
        for block in verdict.blocks:
            _need(isinstance(block.status, Status), f"{block.status!r} is no Status {where}")
            _need(0 <= block.probability <= 1, f"probability {block.probability} {where}")
            for stone in block.stones:
                _need(stone not in seen, f"point {stone} has two statuses {where}")
                seen.add(stone)
                point = board.to_point(stone)
                _need(board[point] == block.colour, f"no such stone on {point} {where}")
        _need(len(seen) == int(np.count_nonzero(board.grid())), f"a stone has no status {where}")
        _need(verdict.safe in (True, False), f"safe is {verdict.safe!r} {where}")
        _check_ownership(verdict.ownership, board)


def check_expert(expert: Expert, *, boards: Sequence[Board] = (), repeatable: bool = True) -> None:
    """Check that an expert's scores are possible, repeatable, and that boards do not change."""
    _need(isinstance(expert, Expert), f"{expert!r} lacks `finish`")
    boards = boards or sample_boards()
    seeds = list(range(len(boards)))
    with _unchanged(*boards):
        scores = np.asarray(expert.finish(boards, seeds))
        _need(scores.shape == (len(boards),), f"{len(boards)} boards gave scores {scores.shape}")
        for board, score in zip(boards, scores, strict=True):
            limit = board.rows * board.cols * 2 + abs(board.komi)
            _need(math.isfinite(score) and abs(score) <= limit, f"score {score} {_where(board)}")
        if repeatable:
            again = np.asarray(expert.finish(boards[::-1], seeds[::-1]))[::-1]
            _need(np.array_equal(scores, again), f"same seeds, other scores: {scores}, {again}")


def check_learner(
    kind: type[Any], fit: Callable[[Any], Any], folder: Path, *, same: Callable[[Any, Any], bool]
) -> Any:
    """Check an estimator's `__init__`, `fit`, `save` and `load`; return it fitted.

    `fit(learner)` calls the learner's `fit` with small data; `same(a, b)` compares two learners.
    """
    who, learner = kind.__name__, kind()
    _need(isinstance(learner, Learner), f"{who} lacks `fit`, `save` or `load`")
    for name, parameter in list(inspect.signature(kind.__init__).parameters.items())[1:]:
        _need(parameter.kind is parameter.KEYWORD_ONLY, f"{who}: {name} not keyword-only")
        _need(hasattr(learner, name), f"{who} does not store {name}")
        _need(getattr(learner, name) == parameter.default, f"{name} stored otherwise")
    learned = [n for n in vars(learner) if n.endswith("_") and not n.startswith("_")]
    _need(not learned, f"{who} has learned {learned} before fit")
    _need(fit(learner) is learner, f"{who}.fit does not return self")
    path = folder / "checked.safetensors"
    learner.save(path)
    _need(same(learner, kind.load(path)), f"{who} differs after save and load")
    _need(same(learner, fit(kind())), f"{who} differs when fitted again")
    return learner


def _try_choose(player: Player, board: Board, seed: int) -> Point:
    with _unchanged(board):
        move = player.choose(board, np.random.default_rng(seed))
    where = _where(board)
    try:
        point = board.to_point(move)
    except IllegalMoveError:
        raise ContractBroken(f"{player.name} chose {move!r}, no move {where}") from None
    legal = point == _RESIGN or board.is_legal(point)
    _need(legal, f"{player.name} chose {point}, which is illegal {where}")
    return point


def _check_analyse(player: Analyser, board: Board) -> None:
    with _unchanged(board):
        rng = np.random.default_rng(0)
        found = list(player.analyse(board, rng, interval=0.05, limited=True))
    _need(bool(found), f"{player.name} analysed without an evaluation")
    moves = [c.move for c in found[-1].candidates]
    _need(len(set(moves)) == len(moves), f"{player.name} names a candidate twice")
    for c in found[-1].candidates:
        _need(0 <= c.winrate <= 1, f"{player.name}: winrate {c.winrate}")
        _need(not c.pv or c.pv[0] == c.move, f"{player.name}: pv does not start with its move")
    _check_ownership(found[-1].ownership, board)


def _check_ownership(ownership: FloatArray | None, board: Board) -> None:
    """Check an ownership map, if there is one."""
    if ownership is not None:
        size = board.rows * board.cols
        _need(ownership.shape == (size,), f"ownership has shape {ownership.shape}, not ({size},)")
        _need(bool(np.all(np.abs(ownership) <= 1 + 1e-9)), "ownership outside -1 to +1")


@contextmanager
def _unchanged(*boards: Board) -> Iterator[None]:
    """Check that the block leaves the boards as they are."""

    def picture() -> list[object]:
        return [(b.grid().tobytes(), b.turn, b.komi, b.hash, len(b.moves)) for b in boards]

    before = picture()
    yield
    _need(picture() == before, "it changed the board")


def _where(board: Board) -> str:
    return f"on {board.rows}x{board.cols} after {len(board.moves)} plies"


def _need(kept: bool, reason: str) -> None:
    if not kept:
        raise ContractBroken(reason)
