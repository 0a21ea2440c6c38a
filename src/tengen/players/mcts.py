"""Search by playouts (UCT with RAVE): the strongest player that needs no learned model.

Any policy can widen and order the search, any evaluator can judge its leaves. With `playouts` it is
a function of position and generator; with `seconds` it uses a clock and keeps its tree from move to
move.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray, IntArray
from tengen.board import BLACK, PASS, RESIGN, WHITE, Board, indices_of
from tengen.board.playouts import shape_table
from tengen.board.rules import KO_NUMBERS
from tengen.contracts import Candidate, Evaluator, Policy, Report, win_probability
from tengen.errors import SpecError
from tengen.game.endgame import is_over
from tengen.players import mcts_kernels as k
from tengen.players.search_clock import Pace, Searching

_SLICE_SECONDS = 0.05
"""How long a thread searches before it checks the clock."""
_PLAYOUTS = 1000
_MOST_NODES = 400_000
_SCALE = 8.0
"""Points that turn even chances into 73 %, for an evaluator without a scale."""
_BARRED = 1e12
"""Prior visits, all lost, of a move that must not be searched."""


@dataclass
class PlayoutTree:
    """One search tree with the position at its root and the games' earlier positions."""

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
        return cls(
            board.copy(),
            np.zeros((capacity, k.T_WIDTH), np.int32),
            tf,
            meta,
            np.zeros(board.rows * board.cols, np.int32),
            seed,
            board.state.copy(),
        )

    def descend(self, board: Board) -> bool:
        """Make the position of `board` the root if it lies below; return whether it does."""
        if not board.continues(self.board):
            return False
        node = 0
        for _, move in board.moves[len(self.board.moves) :]:
            first, count = self.ti[node, k.T_FIRST], self.ti[node, k.T_COUNT]
            moves = self.ti[first : first + count, k.T_MOVE]
            here = np.flatnonzero(moves == move)
            if count == 0 or not here.size:
                return False
            node = int(first + here[0])
        if node:
            ti, tf = np.zeros_like(self.ti), np.zeros_like(self.tf)
            k.keep_subtree(self.ti, self.tf, self.meta, node, ti, tf)
            self.ti, self.tf = ti, tf
            self.ownership[:] = 0
        self.board = board.copy()
        self.scratch = board.state.copy()
        return True

    def leaf(self) -> Board:
        """Return the position that the kernel stopped at, with the moves that led there."""
        board = self.board.copy()
        board.state = self.scratch
        turn = self.board.turn
        for move in self.meta[k.M_LINE : k.M_LINE + int(self.meta[k.M_DEPTH])].tolist():
            board.moves.append((turn, board.answer(move)))
            turn = BLACK + WHITE - turn
        return board

    def narrow(self, moves: frozenset[int]) -> None:
        """Bar all moves but these at the root, once it has children."""
        rows, numbers = self.children()
        barred = ~np.isin(rows[:, k.T_MOVE], list(moves))
        numbers[barred, k.F_PN] = _BARRED
        numbers[barred, k.F_PW] = -_BARRED
        numbers[barred, k.F_POLICY] = 0.0
        self.narrowed = len(rows) > 0

    def children(self) -> tuple[NDArray[np.int32], FloatArray]:
        """Return the rows of the root's children."""
        first, count = self.ti[0, k.T_FIRST], self.ti[0, k.T_COUNT]
        return self.ti[first : first + count], self.tf[first : first + count]


@dataclass(eq=False)
class MctsPlayer(Searching):
    """Choose the move that most playouts went through, of 1,000 by default.

    `policy` widens the search, `evaluator` judges its leaves. Each thread grows a tree of its own;
    they are added up at the root.
    """

    playouts: int | None = None
    policy: Policy | None = None
    evaluator: Evaluator | None = None
    resign: float = 0.03
    """Win rate below which it resigns."""
    scale: float | None = None
    """Points of score that turn even chances into 73 %; the evaluator's own if not given."""
    name: str = "mcts"
    # Models keep workspaces of their own, which only one thread at a time may use.
    _models: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.playouts is not None and self.playouts < 1:
            raise SpecError("mcts needs at least one playout")
        if self.scale is not None and not self.scale > 0:
            raise SpecError(f"mcts cannot bend values over {self.scale} points")

    def _think(self, board: Board, rng: np.random.Generator, pace: Pace) -> Iterator[Report]:
        trees = self._trees(board, rng)
        goal = self._limit if pace.limited else None
        with ThreadPoolExecutor(self.threads) as pool:
            while not pace.stop():
                left = pace.left()
                done = sum(tree.tf[0, k.F_N] for tree in trees)
                if goal is not None and done >= goal:
                    break
                if left is not None and (left <= 0 or self._decided(trees, pace, left)):
                    break
                if pace.due():
                    yield self._report(board, trees)
                wanted = [self._slice(tree, left, goal, len(trees)) for tree in trees]
                run = pool.map if len(trees) > 1 else map
                if not any(list(run(self._advance, trees, wanted))):
                    break
        yield self._report(board, trees)

    @property
    def _limit(self) -> int | None:
        """The most playouts per move; None where only time limits them."""
        return self.playouts if self.seconds is not None else self.playouts or _PLAYOUTS

    # ----- Searching -----

    def _trees(self, board: Board, rng: np.random.Generator) -> list[PlayoutTree]:
        seeds = rng.integers(0, 2**62, self.threads)
        keep = self.seconds is not None and self.root_moves is None
        if keep and len(self._kept) == self.threads:
            if all(tree.descend(board) for tree in self._kept):
                return self._kept
        room = _MOST_NODES
        if self._limit is not None and not keep:
            # Each expansion adds at most one child a point, after `EXPAND` visits.
            per_leaf = board.rows * board.cols + 1
            room = min(room, int(self._limit / k.EXPAND + 2) * per_leaf + per_leaf)
        trees = [PlayoutTree.grow(board, room, int(seed)) for seed in seeds]
        if keep:
            self._kept[:] = trees
        return trees

    def _slice(self, tree: PlayoutTree, left: float | None, goal: int | None, trees: int) -> int:
        seconds = _SLICE_SECONDS if left is None else min(_SLICE_SECONDS, left)
        count = max(int(tree.rate * seconds), 1)
        if goal is not None:
            share = -(-goal // trees)
            count = min(max(count, 256), share - int(tree.tf[0, k.F_N]))
        return max(count, 0)

    def _advance(self, tree: PlayoutTree, count: int) -> int:
        """Run `count` playouts in one tree, asking the models where the kernel stops for them."""
        ko_rule = KO_NUMBERS[tree.board.rules.ko]
        ask = self.policy is not None or self.evaluator is not None
        begin, ran = time.perf_counter(), 0
        while ran < count:
            fresh = self.root_moves is not None and not tree.narrowed
            done = k.search(
                tree.board.state,
                tree.board._table,
                ko_rule,
                tree.ti,
                tree.tf,
                tree.meta,
                shape_table(),
                float(tree.board.white_bonus),
                tree.ownership,
                tree.seed,
                1 if fresh else count - ran,
                ask,
                tree.scratch,
            )
            ran += done
            node = int(tree.meta[k.M_ASKS])
            if node >= 0:
                with self._models:
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
        """Store the models' evaluation of the position in `scratch` in the tree."""
        board = tree.leaf()
        if self.policy is not None:
            priors = self.policy.priors(board)
            first, count = tree.ti[node, k.T_FIRST], tree.ti[node, k.T_COUNT]
            moves = tree.ti[first : first + count, k.T_MOVE]
            cells = indices_of(moves, board.rows, board.cols)
            tree.tf[first : first + count, k.F_POLICY] = priors[cells]
        if self.evaluator is not None:
            value = float(self.evaluator.values([board])[0])
            tree.tf[node, k.F_EVAL] = win_probability(value, self._scale)

    @property
    def _scale(self) -> float:
        """The scale in force: what was asked for, or what stands in the model's card."""
        own = getattr(self.evaluator, "scale", None) if self.scale is None else self.scale
        return _SCALE if own is None else float(own)

    def _decided(self, trees: list[PlayoutTree], pace: Pace, left: float) -> bool:
        """Return whether no other move can catch up in the time that is left."""
        if pace.budget is None or left > 0.8 * pace.budget:
            return False
        visits = np.sort(self._sum(trees)[1][:, k.F_N])
        rate = sum(tree.rate for tree in trees)
        return len(visits) < 2 or bool(visits[-1] - visits[-2] > rate * left)

    # ----- Reporting -----

    def _sum(self, trees: list[PlayoutTree]) -> tuple[list[int], FloatArray]:
        """Add up the root's children over the trees."""
        total: dict[int, FloatArray] = {}
        for tree in trees:
            rows, numbers = tree.children()
            for row, number in zip(rows, numbers, strict=True):
                move = int(row[k.T_MOVE])
                total[move] = total[move] + number if move in total else number.copy()
        if not total:
            return [PASS], np.zeros((1, k.F_WIDTH))
        return list(total), np.array(list(total.values()))

    def _report(self, board: Board, trees: list[PlayoutTree]) -> Report:
        moves, numbers = self._sum(trees)
        visits = numbers[:, k.F_N]
        order = np.argsort(-visits, kind="stable")
        black = board.turn == BLACK
        candidates = []
        for i in order:
            n = visits[i]
            if n > 0 and (self.root_moves is None or moves[i] in self.root_moves):
                won = float(numbers[i, k.F_W] / n)
                candidates.append(
                    Candidate(
                        move=moves[i],
                        visits=int(n),
                        winrate=won if black else 1 - won,
                        score=float(numbers[i, k.F_SCORE] / n),
                        prior=float(numbers[i, k.F_POLICY] / len(trees)),
                        pv=_main_line(trees[0], moves[i]),
                    )
                )
        total = sum(float(tree.tf[0, k.F_N]) for tree in trees)
        wins = sum(float(tree.tf[0, k.F_W]) for tree in trees)
        score = sum(float(tree.tf[0, k.F_SCORE]) for tree in trees) / max(total, 1.0)
        won = 1.0 - wins / total if total else 0.5
        owner = sum(tree.ownership for tree in trees) / max(total, 1.0)
        return Report(
            tuple(candidates),
            self._choice(board, candidates, won),
            int(total),
            won if black else 1 - won,
            score,
            np.asarray(owner, np.float64),
        )

    def _choice(self, board: Board, candidates: list[Candidate], won: float) -> int:
        if not candidates:
            return PASS
        if board.last_move == PASS:
            # The enemy passed: passing ends the game; do so when that wins as the board stands.
            score = board.area_score()
            if ((score > 0) if board.turn == BLACK else (score < 0)) and is_over(board):
                return PASS
        best = candidates[0]
        if best.move == PASS and len(candidates) > 1 and not is_over(board):
            best = candidates[1]
        hope = max(won, best.winrate if board.turn == BLACK else 1 - best.winrate)
        if hope < self.resign and best.visits >= 50:
            return RESIGN
        return best.move if board.is_legal(board.answer(best.move)) else PASS


def _main_line(tree: PlayoutTree, move: int, length: int = 12) -> tuple[int, ...]:
    """Follow the most visited children below a move."""
    line, node = [move], 0
    first, count = int(tree.ti[0, k.T_FIRST]), int(tree.ti[0, k.T_COUNT])
    for child in range(first, first + count):
        if tree.ti[child, k.T_MOVE] == move:
            node = child
    while node and tree.ti[node, k.T_COUNT] and len(line) < length:
        first, count = int(tree.ti[node, k.T_FIRST]), int(tree.ti[node, k.T_COUNT])
        visits = tree.tf[first : first + count, k.F_N]
        if visits.max() < 1:
            break
        node = first + int(np.argmax(visits))
        line.append(int(tree.ti[node, k.T_MOVE]))
    return tuple(line)
