"""Alpha-beta search to a depth with a model at the leaves, best moves first.

All children of a node at depth one are evaluated in one batch. Values of positions are kept by
hash, so that transpositions are free.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace

import numpy as np

from tengen.board import BLACK, PASS, Board, Point
from tengen.contracts import Evaluator, Policy
from tengen.game.endgame import adjust_at_game_end, candidates
from tengen.players.network_search import SEARCHING_JUDGE
from tengen.players.simple import best_by_policy, scores_after

_MAX_DEPTH = 64
"""Deepest search under a clock; endgames reach it, nothing else does."""

_Key = tuple[int, int, int | None, bool]
_Entry = tuple[int, float, int, int]
"""Depth searched, value, its kind (-1: upper bound, 0: exact, 1: lower bound) and best move."""


class _OutOfTime(Exception):
    """Raised when time runs out during the search of one depth."""


@dataclass
class AlphaBetaSearch:
    """One search with its limits and transposition table; values are for the side to move."""

    model: Evaluator
    policy: Policy | None
    width: int | None
    deadline: float = math.inf
    seen: dict[_Key, _Entry] = field(default_factory=dict)
    nodes: int = 0

    def value(self, board: Board, depth: int, alpha: float, beta: float) -> tuple[float, int]:
        """Return the value of a position and the best move, searched `depth` plies."""
        if time.monotonic() > self.deadline:
            raise _OutOfTime
        self.nodes += 1
        if board.is_over or depth == 0:
            value = board.area_score() if board.is_over else float(self.model.values([board])[0])
            return value if board.turn == BLACK else -value, PASS
        key = (board.hash, board.turn, board.ko, board.last_move == PASS)
        reached, known, bound, good = self.seen.get(key, (-1, 0.0, 0, PASS))
        if reached >= depth and (not bound or (known >= beta if bound > 0 else known <= alpha)):
            return known, good
        moves = self.moves(board) or [PASS]
        if depth == 1 and moves != [PASS]:
            self.nodes += len(moves)
            values = scores_after(self.model, board, moves)
            best = int(values.argmax())
            self.seen[key] = 1, float(values[best]), 0, moves[best]
            return float(values[best]), moves[best]
        if reached >= 0 and good in moves:  # the best move of an earlier search first
            moves = [good, *(move for move in moves if move != good)]
        best_value, best_move = -math.inf, moves[0]
        for move in moves:
            child = board.copy()
            child.push(move)
            value = -self.value(child, depth - 1, -beta, -max(alpha, best_value))[0]
            if value > best_value:
                best_value, best_move = value, move
            if best_value >= beta:
                break
        bound = 1 if best_value >= beta else -1 if best_value <= alpha else 0
        self.seen[key] = depth, best_value, bound, best_move
        return best_value, best_move

    def moves(self, board: Board) -> list[int]:
        """List the moves to search, best first by the policy, or else by the evaluator."""
        if self.policy is not None:
            return best_by_policy(self.policy, board, self.width or 8)
        moves = candidates(board)
        if len(moves) < 2:
            return moves
        order = np.argsort(-scores_after(self.model, board, moves), kind="stable")
        return [moves[int(i)] for i in order[: self.width]]


@dataclass(eq=False, kw_only=True)
class AlphaBetaPlayer:
    """Search the best `width` moves to `depth` plies with a model at the leaves.

    Without `width` all moves are searched (8 with a policy). With `seconds` it deepens ply by ply
    until the clock stops it, but always finishes the first ply.
    """

    model: Evaluator
    policy: Policy | None = None
    depth: int | None = None
    width: int | None = None
    seconds: float | None = None
    resign: bool = False
    name: str = "alphabeta"
    nodes: int = field(default=0, init=False)
    """Positions evaluated so far, in all searches."""

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose the move with the best value; the generator is not used."""
        return adjust_at_game_end(board, self.search(board)[1], SEARCHING_JUDGE, resign=self.resign)

    def search(self, board: Board) -> tuple[float, int]:
        """Return the value for the side to move and the best move."""
        start = time.monotonic()
        search = AlphaBetaSearch(self.model, self.policy, self.width)
        last = self.depth or (_MAX_DEPTH if self.seconds is not None else 3)
        found: tuple[float, int] = 0.0, PASS
        for depth in range(1, last + 1):
            if self.seconds is not None and depth > 1:
                search.deadline = start + self.seconds
            try:
                found = search.value(board, depth, -math.inf, math.inf)
            except _OutOfTime:
                break
        self.nodes += search.nodes
        return found

    def within(self, seconds: float) -> AlphaBetaPlayer:
        """Return the same player with at most `seconds` per move."""
        return replace(self, seconds=seconds)
