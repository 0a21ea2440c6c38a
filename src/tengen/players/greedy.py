"""Play the move after which a model likes the position best; look no further than one ply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import BLACK, PASS, Board, Point, index_of
from tengen.contracts import Evaluator, Policy
from tengen.contracts.values import Analysis
from tengen.errors import SpecError
from tengen.players.passing import candidates, sensible
from tengen.players.policy import SamplePlayer, playable_priors


@dataclass(eq=False, kw_only=True)
class GreedyPlayer:
    """Play the best move by an evaluator after one ply, or a policy's likeliest move.

    With `temperature` > 0 (in points of the evaluator) moves are drawn with probability
    proportional to exp(value / temperature); ties are broken at random. With an evaluator and a
    policy only the policy's best `width` moves are tried. Own eyes are never filled.
    """

    model: Evaluator | None = None
    policy: Policy | None = None
    temperature: float = 0.0
    width: int | None = None
    resign: bool = False
    name: str = "greedy"

    def __post_init__(self) -> None:
        if self.model is None and self.policy is None:
            raise SpecError("greedy needs model=... or policy=...")
        if self.width is not None and self.policy is None:
            raise SpecError("width=... needs policy=...")

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose the best move, or draw one by its value."""
        if self.model is None:
            assert self.policy is not None
            return SamplePlayer(model=self.policy, temperature=self.temperature).choose(board, rng)
        moves = best_by_policy(self.policy, board, self.width or 8) if self.policy else None
        moves = candidates(board) if moves is None else moves
        if not moves:
            return sensible(board, PASS, resign=self.resign)
        rate = getattr(self.model, "move_values", None)
        if rate is None:
            values = values_after(self.model, board, moves)
        else:
            # A model that values moves itself (row-major, pass last), in its own units.
            rated = np.asarray(rate(board), np.float64)
            values = rated[[index_of(move, board.rows, board.cols) for move in moves]]
        if self.temperature > 0:
            weights = np.exp((values - values.max()) / self.temperature)
            move = moves[int(rng.choice(len(moves), p=weights / weights.sum()))]
        else:
            best = np.flatnonzero(values >= values.max() - 1e-12)
            move = moves[int(rng.choice(best))]
        return sensible(board, move, resign=self.resign)

    def analyse(self, board: Board, rng: np.random.Generator, **how: object) -> Iterator[Analysis]:
        """Report once: a policy's likeliest moves, or the one that an evaluator chooses."""
        if self.model is None:
            assert self.policy is not None
            player = SamplePlayer(model=self.policy, temperature=self.temperature)
            yield from player.analyse(board, rng)
            return
        yield Analysis.of_choice(self.choose(board, rng))

    def explain(self, board: Board, move: int) -> str:
        """Say how likely the policy finds the move; an evaluator's choice has no words."""
        if self.model is not None or self.policy is None:
            return ""
        return SamplePlayer(model=self.policy).explain(board, move)


def values_after(model: Evaluator, board: Board, moves: Sequence[int]) -> FloatArray:
    """Return the value of each move for the side to move: the model's after playing it."""
    after = []
    for move in moves:
        child = board.copy()
        child.push(move)
        after.append(child)
    values = np.asarray(model.values(after), np.float64)
    return values if board.turn == BLACK else -values


def scores_after(model: Evaluator, board: Board, moves: Sequence[int]) -> FloatArray:
    """Return the same as `values_after`, all at once if the model has `move_scores` (row-major)."""
    rate = getattr(model, "move_scores", None)
    if rate is None:
        return values_after(model, board, moves)
    cells = [index_of(move, board.rows, board.cols) for move in moves]
    return np.asarray(rate(board), np.float64)[cells]


def best_by_policy(policy: Policy, board: Board, width: int) -> list[int]:
    """List the policy's best `width` moves that fill no own eye, best first."""
    priors = playable_priors(policy, board)
    moves = candidates(board)
    moves.sort(key=lambda p: -priors[index_of(p, board.rows, board.cols)])
    return moves[:width]
