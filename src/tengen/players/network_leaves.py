"""Leaves of a search tree: positions evaluated by the network and the rules.

Games that are over are counted: under area scoring by Tromp-Taylor, under territory scoring without
the stones that the network takes for dead.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from tengen.arrays import FloatArray, IntArray
from tengen.board import PASS, Board, indices_of, playouts, points_at
from tengen.board.symmetry import elements, permutation, transform
from tengen.game.judging import count_without, dead_stones
from tengen.learners.network import Evaluation
from tengen.players.network_kernels import own_eyes
from tengen.players.network_tree import Worth

_WIDTH = 64
"""Moves of a position that are kept, the likeliest; the root keeps all."""


@runtime_checkable
class SearchNetwork(Protocol):
    """The methods of a network that a search uses."""

    def evaluate(self, boards: Sequence[Board]) -> list[Evaluation]:
        """Evaluate boards, from Black's view."""
        ...

    def supports(self, rows: int, cols: int) -> bool:
        """Return whether it evaluates boards of this size."""
        ...


@dataclass(frozen=True)
class Taste:
    """The utility of a search: to win, and a little to win by much.

    The score's share is bent around `centre`, near the expected score at the root, so that points
    count also in games that are won or lost.
    """

    share: float
    centre: float
    reach: float
    """Points of score that count half as much as any number of points."""

    def utility(self, win: float, score: float) -> float:
        """Return the utility of an outcome for Black, from -1 to 1."""
        margin = 2 / math.pi * math.atan((score - self.centre) / self.reach)
        return (1 - self.share) * (2 * win - 1) + self.share * margin

    @classmethod
    def around(cls, board: Board, score: float, share: float) -> Taste:
        """Return the utility for a game with this expected score."""
        return cls(share, 0.8 * score, math.sqrt(board.rows * board.cols))


@dataclass(frozen=True)
class Leaf:
    """An evaluated position: moves likeliest first; none where the game is over."""

    win: float
    score: float
    spread: float
    ownership: FloatArray
    moves: IntArray
    priors: FloatArray
    over: bool = False

    def worth(self, taste: Taste) -> Worth:
        """Return the sums for the tree."""
        utility = taste.utility(self.win, self.score)
        return Worth(utility, self.win, self.score, self.score**2 + self.spread**2)


@dataclass(frozen=True)
class LeafEvaluator:
    """Evaluates positions by the network, optionally mixed with playouts."""

    network: SearchNetwork
    playouts: int = 0
    """Playouts from each position."""
    mix: float = 0.0
    """Their share in the evaluation."""

    def __call__(
        self, boards: Sequence[Board], *, pool: ThreadPoolExecutor | None = None, threads: int = 1
    ) -> list[Leaf]:
        """Evaluate positions, also those that are over, in `threads` parts."""
        if pool is None or len(boards) < 2:
            return self._judge(boards)
        size = -(-len(boards) // threads)
        parts = [boards[i : i + size] for i in range(0, len(boards), size)]
        return [leaf for part in pool.map(self._judge, parts) for leaf in part]

    def _judge(self, boards: Sequence[Board]) -> list[Leaf]:
        views = self.network.evaluate(boards)
        return [self._leaf(board, view) for board, view in zip(boards, views, strict=True)]

    def _leaf(self, board: Board, view: Evaluation) -> Leaf:
        if board.is_over:
            return _ended(board, view)
        moves, priors = likely_moves(board, view.proposals)
        win, score, owners = self.outcome(board, view)
        return Leaf(win, score, view.spread, owners, moves, priors)

    def outcome(self, board: Board, view: Evaluation) -> tuple[float, float, FloatArray]:
        """Return Black's win rate, the score and the ownership."""
        if not self.playouts or not self.mix:
            return view.win_probability, view.score, view.ownership
        seed = board.hash >> 1
        found = playouts(board, self.playouts, seed=seed, kind="heavy", threads=1)
        return (
            view.win_probability + self.mix * (found.win_rate - view.win_probability),
            view.score + self.mix * (found.mean_score - view.score),
            view.ownership + self.mix * (found.ownership - view.ownership),
        )


def likely_moves(
    board: Board, priors: FloatArray, *, width: int = _WIDTH, only: Collection[int] | None = None
) -> tuple[IntArray, FloatArray]:
    """Return the likeliest legal moves that fill no own eye, and the pass; their sum is 1.

    With `only`, exactly those of them that are legal.
    """
    order = np.argsort(-priors, kind="stable")
    if only is None:
        order = order[: width + 1]
    order = order[priors[order] > 0]
    moves = points_at(order, board.rows, board.cols)
    if only is None:
        eyes = np.empty(len(moves), np.bool_)
        own_eyes(board.state, moves, board.turn, eyes)
        kept = ~eyes
    else:
        kept = np.isin(moves, list(only))
    moves, chances = moves[kept], priors[order[kept]]
    if only is None and PASS not in moves:
        moves, chances = np.append(moves, PASS), np.append(chances, priors[-1])
    return moves.astype(np.int64), chances / max(float(chances.sum()), 1e-300)


def without_mirror_images(
    board: Board, moves: IntArray, priors: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Keep one of the moves that the position's own symmetry makes equal, with their whole prior.

    The one nearest to the upper right corner stays, where players begin by custom.
    """
    rows, cols = board.rows, board.cols
    grid = board.grid()
    kept = [k for k in elements(rows, cols) if np.array_equal(transform(grid, k), grid)]
    if len(kept) == 1:
        return moves, priors
    row, col = np.divmod(np.arange(rows * cols + 1), cols)
    rank = (row - col) * cols - row
    places = indices_of(moves, rows, cols)
    images = np.stack([permutation(rows, cols, k)[places] for k in kept])
    orbit = images[rank[images].argmin(0), np.arange(len(moves))]
    order = np.lexsort((rank[places], orbit))
    begins = np.flatnonzero(np.diff(orbit[order], prepend=-1))
    sums = np.add.reduceat(priors[order], begins)
    likeliest = np.argsort(-sums, kind="stable")
    return moves[order[begins]][likeliest], sums[likeliest]


def _ended(board: Board, view: Evaluation) -> Leaf:
    """Count a game that is over."""
    if board.rules.scoring == "area":
        score = board.area_score()
    else:
        score = count_without(board, dead_stones(board, view.ownership)).score
    win = 0.5 if score == 0 else float(score > 0)
    nothing = np.empty(0)
    return Leaf(win, score, 0.0, view.ownership, nothing.astype(np.int64), nothing, over=True)
