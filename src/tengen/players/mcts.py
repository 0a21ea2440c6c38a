"""Search by playouts (UCT with RAVE): the strongest player that needs no learned model.

Any policy can widen and order the search, any evaluator can judge its positions as they get
children. With `playouts` a move depends only on position and generator; with `seconds` the search
uses a clock and keeps its tree from move to move.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray, IntArray
from tengen.board import BLACK, PASS, RESIGN, Board, indices_of
from tengen.board.playouts import shape_table
from tengen.board.rules import KO_NUMBERS
from tengen.contracts import Candidate, Evaluator, Policy, SearchInfo, win_probability
from tengen.errors import SpecError
from tengen.players import tree_kernels as k
from tengen.players.network_search import SEARCHING_JUDGE
from tengen.players.search_clock import SearchBase, SearchLimits

_SLICE_SECONDS = 0.05  # of search between checks of the clock
_PLAYOUTS = 1000
_MOST_NODES = 400_000
_SCALE = 8.0  # lead that gives a win probability of 73 %, for an evaluator without a scale
_BARRED = 1e12  # prior visits, all lost, of a move that must not be searched


@dataclass
class PlayoutTree:
    """One search tree, with the board of its root and the game that led there."""

    board: Board
    ti: NDArray[np.int32]
    tf: FloatArray
    meta: IntArray
    ownership: NDArray[np.int32]
    seed: int
    scratch: IntArray
    rate: float = 500.0
    """Measured playouts per second."""
    narrowed: bool = False
    """Whether excluded moves are barred at the root."""

    @classmethod
    def grow(cls, board: Board, capacity: int, seed: int) -> PlayoutTree:
        """Return a tree with nothing but its root."""
        tf = np.zeros((capacity, k.F_WIDTH))
        tf[0, k.F_EVAL] = k.NO_EVAL
        meta = np.zeros(k.M_WIDTH, np.int64)
        meta[k.M_USED] = 1
        ti, ownership = (
            np.zeros(shape, np.int32) for shape in ((capacity, k.T_WIDTH), board.rows * board.cols)
        )
        return cls(board.copy(), ti, tf, meta, ownership, seed, board.state.copy())

    def descend(self, board: Board) -> bool:
        """Make the position of `board` the root if it is in the tree; return whether it is."""
        if not board.continues(self.board):
            return False
        node = 0
        for _, move in board.moves[len(self.board.moves) :]:
            here = np.flatnonzero(self.children(node)[0][:, k.T_MOVE] == move)
            if not here.size:
                return False
            node = int(self.ti[node, k.T_FIRST] + here[0])
        if node:
            ti, tf = np.zeros_like(self.ti), np.zeros_like(self.tf)
            k.keep_subtree(self.ti, self.tf, self.meta, node, ti, tf)
            self.ti, self.tf = ti, tf
            self.ownership[:] = 0
        self.board = board.copy()
        self.scratch = board.state.copy()
        return True

    def leaf(self) -> Board:
        """Return the position that the kernel stopped at."""
        board = self.board.copy()
        for move in self.meta[k.M_LINE : k.M_LINE + int(self.meta[k.M_DEPTH])].tolist():
            board.push(move)
        return board

    def narrow(self, moves: frozenset[int]) -> None:
        """Bar all moves but these at the root, once it has children."""
        rows, numbers = self.children()
        barred = ~np.isin(rows[:, k.T_MOVE], list(moves))
        numbers[barred, k.F_PN] = _BARRED
        numbers[barred, k.F_PW] = -_BARRED
        numbers[barred, k.F_POLICY] = 0.0
        self.narrowed = len(rows) > 0

    def children(self, node: int = 0) -> tuple[NDArray[np.int32], FloatArray]:
        """Return the rows of a node's children."""
        first = self.ti[node, k.T_FIRST]
        those = slice(first, first + self.ti[node, k.T_COUNT])
        return self.ti[those], self.tf[those]


@dataclass(eq=False)
class MctsPlayer(SearchBase):
    """Choose the move with the most playouts, of 1,000 by default."""

    playouts: int | None = None
    policy: Policy | None = None
    evaluator: Evaluator | None = None
    resign: float = 0.03
    """Win rate below which it resigns."""
    asks: bool = True
    """Whether it passes only when the judge says that the game is over."""
    name: str = "mcts"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.playouts is not None and self.playouts < 1:
            raise SpecError("mcts needs at least one playout")

    def _think(
        self, board: Board, rng: np.random.Generator, limits: SearchLimits
    ) -> Iterator[SearchInfo]:
        tree = self._tree(board, rng)
        goal = self._limit if limits.limited else None
        with self._keeping(tree):
            while not limits.stop():
                left = limits.left()
                if goal is not None and tree.tf[0, k.F_N] >= goal:
                    break
                if left is not None and (left <= 0 or self._decided(tree, limits, left)):
                    break
                if limits.due():
                    yield self._info(board, tree)
                if not self._advance(tree, self._slice(tree, left, goal)):
                    break
            yield self._info(board, tree)

    @property
    def _limit(self) -> int | None:
        """The most playouts per move; None where only time limits them."""
        return self.playouts if self.seconds is not None else self.playouts or _PLAYOUTS

    # ----- SearchBase -----

    def _tree(self, board: Board, rng: np.random.Generator) -> PlayoutTree:
        seed = int(rng.integers(0, 2**62, 1)[0])
        kept: PlayoutTree | None = self._take()
        if kept is not None and kept.descend(board):
            return kept
        room = _MOST_NODES
        if self._limit is not None and not self._keeps:
            # Each expansion adds at most one child per point, after `EXPAND` visits.
            per_leaf = board.rows * board.cols + 1
            room = min(room, int(self._limit / k.EXPAND + 2) * per_leaf + per_leaf)
        return PlayoutTree.grow(board, room, seed)

    def _slice(self, tree: PlayoutTree, left: float | None, goal: int | None) -> int:
        seconds = _SLICE_SECONDS if left is None else min(_SLICE_SECONDS, left)
        count = max(int(tree.rate * seconds), 1)
        if goal is not None:
            count = min(max(count, 256), goal - int(tree.tf[0, k.F_N]))
        return max(count, 0)

    def _advance(self, tree: PlayoutTree, count: int) -> int:
        """Run `count` playouts in one tree, calling the models where the kernel stops for them."""
        board = tree.board
        game = board.history, KO_NUMBERS[board.rules.ko], float(board.white_bonus)
        ask = self.policy is not None or self.evaluator is not None
        begin, ran = time.perf_counter(), 0
        while ran < count:
            fresh = self.root_moves is not None and not tree.narrowed
            done = k.search(
                tree.board.state, game, (tree.ti, tree.tf, tree.meta), shape_table(),
                tree.ownership, tree.seed, 1 if fresh else count - ran, ask, tree.scratch,
            )  # fmt: skip
            ran += done
            node = int(tree.meta[k.M_ASKS])
            if node >= 0:
                self._consult(tree, node)
            if fresh and self.root_moves is not None:
                tree.narrow(self.root_moves)
            elif node < 0:
                break
        spent = time.perf_counter() - begin
        if ran and spent > 0:
            tree.rate = 0.5 * tree.rate + 0.5 * ran / spent
        return ran

    def _consult(self, tree: PlayoutTree, node: int) -> None:
        """Store the models' evaluation of the position that the kernel stopped at."""
        board = tree.leaf()
        if self.policy is not None:
            priors = self.policy.priors(board)
            rows, numbers = tree.children(node)
            numbers[:, k.F_POLICY] = priors[indices_of(rows[:, k.T_MOVE], board.rows, board.cols)]
        if self.evaluator is not None:
            value = float(self.evaluator.values([board])[0])
            scale = getattr(self.evaluator, "scale", None) or _SCALE
            tree.tf[node, k.F_EVAL] = win_probability(value, float(scale))

    def _decided(self, tree: PlayoutTree, limits: SearchLimits, left: float) -> bool:
        """Return whether no other move can catch up in the time that is left."""
        if limits.budget is None or left > 0.8 * limits.budget:
            return False
        visits = np.sort(tree.children()[1][:, k.F_N])
        return len(visits) < 2 or bool(visits[-1] - visits[-2] > tree.rate * left)

    # ----- Reporting -----

    def _info(self, board: Board, tree: PlayoutTree) -> SearchInfo:
        rows, numbers = tree.children()
        black = board.turn == BLACK
        candidates = []
        for i in np.argsort(-numbers[:, k.F_N], kind="stable"):
            move, n = int(rows[i, k.T_MOVE]), numbers[i, k.F_N]
            if n > 0 and (self.root_moves is None or move in self.root_moves):
                won, score = float(numbers[i, k.F_W] / n), float(numbers[i, k.F_SCORE] / n)
                prior, line = float(numbers[i, k.F_POLICY]), _main_line(tree, move)
                winrate = won if black else 1 - won
                candidates.append(Candidate(move, int(n), winrate, score, prior, line))
        total = float(tree.tf[0, k.F_N])
        won = 1.0 - float(tree.tf[0, k.F_W]) / total if total else 0.5
        choice, winrate = self._choice(board, candidates, won), won if black else 1 - won
        score, owners = float(tree.tf[0, k.F_SCORE]) / max(total, 1.0), tree.ownership
        return SearchInfo(
            tuple(candidates), choice, int(total), winrate, score, owners / max(total, 1.0)
        )

    def _choice(self, board: Board, candidates: list[Candidate], won: float) -> int:
        if not candidates:
            return PASS
        if board.last_move == PASS:
            # The enemy passed: passing ends the game; do so when that wins as the board stands.
            score = board.area_score()
            if ((score > 0) if board.turn == BLACK else (score < 0)) and self._may_pass(board):
                return PASS
        best = candidates[0]
        if best.move == PASS and len(candidates) > 1 and not self._may_pass(board):
            best = candidates[1]
        hope = max(won, best.winrate if board.turn == BLACK else 1 - best.winrate)
        if hope < self.resign and best.visits >= 50:
            return RESIGN
        return best.move if board.is_legal(board.to_point(best.move)) else PASS

    def _may_pass(self, board: Board) -> bool:
        return not self.asks or SEARCHING_JUDGE.is_over(board)


def _main_line(tree: PlayoutTree, move: int, length: int = 12) -> tuple[int, ...]:
    """Follow the most visited children below a move."""
    found = np.flatnonzero(tree.children()[0][:, k.T_MOVE] == move)
    line, node = [move], int(tree.ti[0, k.T_FIRST] + found[0]) if len(found) else 0
    while node and tree.ti[node, k.T_COUNT] and len(line) < length:
        visits = tree.children(node)[1][:, k.F_N]
        if visits.max() < 1:
            break
        node = int(tree.ti[node, k.T_FIRST] + np.argmax(visits))
        line.append(int(tree.ti[node, k.T_MOVE]))
    return tuple(line)
