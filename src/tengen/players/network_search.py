"""Tree search with a network: PUCT with its policy and value, leaves evaluated in batches.

`network_tree` has the tree. With `visits` a move depends only on position and generator; with
`seconds` a clock limits it and the tree is kept from move to move. Superko is exact: every leaf is
reached by playing the moves on a board with the game's history.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from tengen.arrays import FloatArray, IntArray
from tengen.board import BLACK, PASS, RESIGN, Board, indices_of, points_at
from tengen.board.coordinates import elements, permutation, transform
from tengen.contracts import Candidate, Scorer, SearchInfo
from tengen.errors import SpecError
from tengen.game.endgame import cleanup_move, is_ready_to_count, points_left
from tengen.network import Evaluation
from tengen.players.network_tree import NetworkTree
from tengen.players.search_clock import SearchBase, SearchLimits
from tengen.players.tree_kernels import keep_likely
from tengen.scoring.judging import Judge, count_without, dead_stones

_VISITS = 400  # default visits per move
BATCHES = {(9, 9): 8, (13, 13): 8}
SMALL_BATCH = 4
"""Leaves per batch; batches help most on small boards (1.8 instead of 2.5 ms per leaf on 9x9)."""
VISITS_PER_LEAF = 8
"""Root visits required per further leaf of a batch, since a small tree is a poor guide."""
WIDTH = 64
"""Likeliest moves kept per position; the root keeps all."""
CENTRE = 0.8
"""Share of the root's score around which scores are squashed."""
_BOARDS = 256
"""Positions kept as boards, so that a leaf is one move from one of them; 10 MB on 19x19."""
_LINE = 24  # longest line of a candidate
_LEAST_LEFT = 0.5  # share of a leaf's time that must be left to start another
_OPENING_SHARE = 16  # points per ply of the opening, in which a temperature varies moves
RESIGN_BELOW = 0.02
"""Of 136 positions of experts' games with a lower win rate by `tengen-small`, 3 were won."""
_TRUSTED_SHARE = 0.7  # share of the first move's visits from which a move's score is trusted
_JUDGED: dict[str, Any] = {"visits": 100, "score_share": 0.1}  # judges whether a game is over
_LEAST_TO_RESIGN = 16  # visits before a search may resign
_GOOD_SHARE, _GOOD_LOSS = 0.2, 0.05
"""A move is as good as the best with this share of its visits and at most this loss of utility."""


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
class UtilityFunction:
    """The utility of a search: the win, and a small share for the margin.

    The score is squashed around `centre`, near the expected one at the root, so that points count
    in decided games too; a margin of `reach` points counts half of the maximum.
    """

    share: float
    centre: float
    reach: float

    def outcome_terms(
        self, win: float, score: float, spread: float
    ) -> tuple[float, float, float, float]:
        """Return an outcome's terms in the sums: utility, win, score and its square, for Black."""
        margin = 2 / math.pi * math.atan((score - self.centre) / self.reach)
        utility = (1 - self.share) * (2 * win - 1) + self.share * margin
        return utility, win, score, score**2 + spread**2

    def evaluation_terms(self, view: Evaluation) -> tuple[float, float, float, float]:
        """Return an evaluated position's terms in the tree's sums."""
        return self.outcome_terms(view.win_probability, view.score, view.spread)


@dataclass
class NetworkSearch:
    """A search tree with the board of its root."""

    board: Board
    tree: NetworkTree
    utility: UtilityFunction
    policy: FloatArray
    """Priors at the root, row-major, pass last."""
    limits: float = 0.0
    """Measured seconds per leaf."""
    human_policy: FloatArray | None = None
    """Policy of human moves at the root, if the network has a separate one."""
    final: FloatArray | None = None
    """Ownership by the scorer, where the game is over."""
    may_pass: bool = True
    """False after a pass in a game that is not over: another pass would end it."""
    boards: dict[int, Board] = field(default_factory=dict, repr=False)
    """The positions of some nodes, most recently used last."""

    def position(self, path: list[int]) -> Board:
        """Return the board of the last node of a path, replayed from the nearest one kept."""
        start = next((n for n in range(len(path) - 2, 0, -1) if path[n] in self.boards), 0)
        board = self.board
        if start:
            board = self.boards[path[start]] = self.boards.pop(path[start])
        board = board.copy()
        for move in self.tree.move[path[start + 1 :]].tolist():
            board.push(move)
        self.boards[path[-1]] = board
        if len(self.boards) > _BOARDS:
            del self.boards[next(iter(self.boards))]
        return board

    def descend(self, board: Board) -> int | None:
        """Return the node of a position in the tree, or None."""
        if not board.continues(self.board):
            return None
        node = 0
        for colour, move in board.moves[len(self.board.moves) :]:
            right_side = (colour == BLACK) == (self.tree.turn[node] > 0)
            children = self.tree.children(node)
            found = children[self.tree.move[children] == int(move)]
            if not right_side or not len(found):
                return None
            node = int(found[0])
        return node if (board.turn == BLACK) == (self.tree.turn[node] > 0) else None

    def moved(self, board: Board, node: int, view: Evaluation) -> NetworkSearch:
        """Return the search with a node, whose evaluation is given, as its root."""
        tree, human_policy = self.tree.below(node), None if view.best is None else view.priors
        return NetworkSearch(
            board.copy(), tree, self.utility, view.proposals, self.limits, human_policy
        )


@dataclass(eq=False)
class SearchPlayer(SearchBase):
    """Choose the most visited move of a search, of 400 visits by default."""

    network: SearchNetwork
    visits: int | None = None
    threads: int = 1
    batch: int | None = None
    """Leaves per batch; by board size if not given."""
    resign: float = RESIGN_BELOW
    """Win rate below which it resigns."""
    temperature: float = 0.0
    """Above 0, early moves are drawn among those that are as good as the best."""
    scorer: Scorer | None = None
    """Gives the ownership once the game is over, if given."""
    score_share: float = 0.4
    """Share of the score in the utility."""
    most_nodes: int = 200_000
    """Positions in the tree before the search ends; each takes about 1,200 bytes on 19x19."""
    name: str = "search"

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(count for count in (self.visits, self.batch, self.threads) if count is not None) < 1:
            raise SpecError("a search needs at least one visit, one leaf at once and one thread")
        if self.clock == "processor" and self.threads > 1:
            raise SpecError("the processor's clock is for one thread")
        if not 0 <= self.score_share <= 1:
            raise SpecError(f"share is a share from 0 to 1, not {self.score_share}")

    def supports(self, rows: int, cols: int) -> bool:
        """Return whether the network evaluates boards of this size."""
        return self.network.supports(rows, cols)

    def _think(
        self, board: Board, rng: np.random.Generator, limits: SearchLimits
    ) -> Iterator[SearchInfo]:
        if not self.supports(board.rows, board.cols):
            raise SpecError(f"{self.name} does not play on {board.rows}x{board.cols}")
        goal = self.visits if self.seconds is not None else self.visits or _VISITS
        goal = goal if limits.limited else None
        with ThreadPoolExecutor(self.threads) as pool:
            workers = pool if self.threads > 1 else None
            search = self._begin(board, to_play=limits.limited)
            search.limits = search.limits or limits.spent()
            search.final = self._final_owners(board)
            with self._keeping(search):
                while not limits.stop():
                    begin, left = limits.now(), limits.left()
                    room = self._next_batch_size(search, left, goal)
                    if room < 1 or self._decided(search, left):
                        break
                    if limits.due():
                        yield self._info(search, rng)
                    if judged := self._expand_batch(search, room, workers):
                        search.limits = 0.7 * search.limits + 0.3 * (limits.now() - begin) / judged
                yield self._info(search, rng)

    def lead(self, board: Board) -> float:
        """Return Black's lead after the best move, without asking whether the game is over."""
        search = self.grow(board, self.visits)
        children = search.tree.children()
        return search.tree.means(int(children[0]) if len(children) else 0)[2]

    def grow(self, board: Board, visits: int | None) -> NetworkSearch:
        """Return the search of a position after so many visits, without a clock."""
        search = self._new_tree(board, may_pass=True)
        while (room := self._next_batch_size(search, None, visits)) > 0:
            self._expand_batch(search, room, None)
        return search

    # ----- SearchBase -----

    def _begin(self, board: Board, *, to_play: bool = False) -> NetworkSearch:
        """Return the kept search if the position is in its tree, or a new one."""
        ends = to_play and board.last_move == PASS and self.root_moves is None
        may_pass = not ends or SEARCHING_JUDGE.is_over(board)
        kept: NetworkSearch | None = self._take()
        if kept is not None and may_pass:
            node = kept.descend(board)
            whole = node != 0 or kept.may_pass
            if (
                node is not None
                and whole
                and kept.tree.evaluated[node]
                and not kept.tree.over[node]
            ):
                if node != 0:
                    (view,) = self.network.evaluate([board])
                    kept = kept.moved(board, node, view)
                return kept
        return self._new_tree(board, may_pass=may_pass)

    def _new_tree(self, board: Board, *, may_pass: bool) -> NetworkSearch:
        """Evaluate a position and make it the root of a tree."""
        fresh = board.copy()
        (view,) = self.network.evaluate([fresh])
        points = board.rows * board.cols
        moves, priors = likely_moves(fresh, view.proposals, width=points, only=self.root_moves)
        if not may_pass and len(moves) > 1:
            moves, priors = moves[moves != PASS], priors[moves != PASS]
            priors = priors / max(float(priors.sum()), 1e-300)
        if self.root_moves is None:
            moves, priors = without_mirror_images(fresh, moves, priors)
        utility = UtilityFunction(self.score_share, CENTRE * view.score, math.sqrt(points))
        tree = NetworkTree(points, 1 if board.turn == BLACK else -1)
        path = tree.descend()
        tree.store_evaluation(0, utility.evaluation_terms(view), view.ownership, moves, priors)
        tree.back_up(path)
        human_policy = None if view.best is None else view.priors
        return NetworkSearch(
            fresh, tree, utility, view.proposals, human_policy=human_policy, may_pass=may_pass
        )

    def _next_batch_size(self, search: NetworkSearch, left: float | None, goal: int | None) -> int:
        """Return how many leaves the next batch may have; 0 to end the search."""
        tree = search.tree
        visits = int(tree.visits[0])
        if tree.count[0] == 0:
            return 0
        if tree.used >= self.most_nodes:
            text = f"{self.name}: the tree is full with {tree.used} positions"
            warnings.warn(text, stacklevel=3)
            return 0
        usual = BATCHES.get((search.board.rows, search.board.cols), SMALL_BATCH)
        size = self.batch or usual * max(self.threads, getattr(self.network, "at_once", 1))
        size = min(size, 1 + visits // VISITS_PER_LEAF)
        if goal is not None:
            size = min(size, goal - visits)
        if left is not None:
            affordable = int(left / max(search.limits, 1e-6) + 1 - _LEAST_LEFT)
            # Loading kernels may have used up the time; one move is evaluated all the same.
            size = min(size, max(affordable, int(visits == 1)))
        return min(size, self.most_nodes - tree.used)

    def _decided(self, search: NetworkSearch, left: float | None) -> bool:
        """Return whether no other move can catch up in the time that is left."""
        if left is None:
            return False
        visits = search.tree.visits[search.tree.children()]
        if search.tree.count[0] == 1:
            return len(visits) > 0
        second = int(visits[1]) if len(visits) > 1 else 0
        rest = left / max(search.limits, 1e-6)
        return len(visits) > 0 and int(visits[0]) - second > rest

    def _expand_batch(
        self, search: NetworkSearch, room: int, pool: ThreadPoolExecutor | None
    ) -> int:
        """Evaluate the next leaves; return how many the network evaluated."""
        tree = search.tree
        ways: list[IntArray] = []
        boards: list[Board] = []
        for _ in range(room):
            path = tree.descend()
            leaf = path[-1]
            if tree.over[leaf]:
                tree.back_up(path)
                continue
            if tree.waiting[leaf] > 1:
                tree.cancel_visit(path)
                break
            ways.append(path)
            boards.append(search.position(path.tolist()))
        if not ways:
            return 0
        views = self._evaluate(boards, pool)
        for path, board, view in zip(ways, boards, views, strict=True):
            self._store_evaluation(search, int(path[-1]), board, view)
            tree.back_up(path)
        return len(ways)

    def _evaluate(
        self, boards: Sequence[Board], pool: ThreadPoolExecutor | None
    ) -> Sequence[Evaluation]:
        if pool is None or len(boards) < 2:
            return self.network.evaluate(boards)
        size = -(-len(boards) // self.threads)
        parts = [boards[i : i + size] for i in range(0, len(boards), size)]
        return [view for part in pool.map(self.network.evaluate, parts) for view in part]

    def _store_evaluation(
        self, search: NetworkSearch, node: int, board: Board, view: Evaluation
    ) -> None:
        """Store an evaluated position; the score of a game that is over is counted."""
        if board.is_over:
            counted = count_without(board, dead_stones(board, view.ownership)).score
            score = counted if board.rules.scoring == "territory" else board.area_score()
            utility, win, *_ = search.utility.outcome_terms(
                (float(np.sign(score)) + 1) / 2, score, 0.0
            )
            # Dead stones that nobody captured lower the utility, but say nothing about the lead.
            outcome_terms = utility, win, counted, counted**2
            search.tree.store_evaluation(
                node, outcome_terms, view.ownership, (), np.empty(0), over=True
            )
            return
        outcome_terms, moves = (
            search.utility.evaluation_terms(view),
            likely_moves(board, view.proposals),
        )
        search.tree.store_evaluation(node, outcome_terms, view.ownership, *moves)

    def _final_owners(self, board: Board) -> FloatArray | None:
        """Return the scorer's ownership once the game is over; None before."""
        if self.scorer is None or points_left(board):
            return None
        verdict = Judge(self.scorer).finished(board)
        return None if verdict is None else verdict.ownership

    # ----- Reporting -----

    def _info(self, search: NetworkSearch, rng: np.random.Generator) -> SearchInfo:
        tree = search.tree
        branches = tree.branches()
        candidates = []
        for child in tree.children().tolist():
            utility, win, score, spread = tree.means(child)
            line = tree.line(child, _LINE)
            moves, visits = tuple(tree.move[line].tolist()), tuple(tree.visits[line].tolist())
            candidate = Candidate(
                moves[0], visits[0], win, score, tree.prior(child), moves, utility, spread, visits,
                tree.owners(branches == child),
            )  # fmt: skip
            candidates.append(candidate)
        owners, owners_spread = tree.owners(slice(None))
        _, raw_winrate, raw_score, square = tree.own[0].tolist()
        raw_spread = max(square - raw_score**2, 0.0) ** 0.5
        winrate, score, spread = raw_winrate, raw_score, raw_spread
        if candidates:
            winrate, spread = candidates[0].winrate, candidates[0].spread
            # The best score for the side to move among the moves visited nearly as often.
            enough = _TRUSTED_SHARE * candidates[0].visits
            scores = [c.score for c in candidates if c.visits >= enough]
            score = max(scores) if search.board.turn == BLACK else min(scores)
        found = SearchInfo(
            tuple(candidates), PASS, int(tree.visits[0]), winrate, score,
            owners if search.final is None else search.final, spread, owners_spread,
            raw_winrate, raw_score, raw_spread, search.policy, search.human_policy,
        )  # fmt: skip
        return replace(found, choice=self._choice(search, found, rng))

    def _choice(self, search: NetworkSearch, found: SearchInfo, rng: np.random.Generator) -> int:
        """Return the most visited move (or likeliest), or one that ends the game."""
        board = search.board
        first = _first_choice(search, found)
        if self.root_moves is not None:
            return first
        if is_ready_to_count(board, SEARCHING_JUDGE):
            return PASS
        standing = board.area_score() * (1 if board.turn == BLACK else -1)
        by_area = board.rules.scoring == "area"
        if by_area and standing > 0 and board.last_move == PASS and search.may_pass:
            return PASS
        if self._is_hopeless(search, found):
            return RESIGN
        passing = first == PASS or search.policy[-1] >= search.policy.max()
        early = len(board.moves) * _OPENING_SHARE < board.rows * board.cols
        if by_area and standing <= 0 and passing:
            move = self._play_out(search, found)
        elif early and self.temperature > 0 and found.candidates:
            move = self._drawn(found.seen_by(board.turn), rng)
        else:
            move = first
        if move == PASS and not SEARCHING_JUDGE.is_over(board):
            return _best_point(search, found)
        return move

    def _is_hopeless(self, search: NetworkSearch, found: SearchInfo) -> bool:
        """Return whether both the best move and the mean of the search are lost."""
        board = search.board
        if len(board.moves) * 4 < board.rows * board.cols or found.visits < _LEAST_TO_RESIGN:
            return False
        hopes = found.winrate, search.tree.means(0)[1]
        hope = max(hopes) if board.turn == BLACK else 1 - min(hopes)
        return hope < self.resign

    def _play_out(self, search: NetworkSearch, found: SearchInfo) -> int:
        """Return a move to play instead of a pass, since dead stones still count."""
        board, first = search.board, _first_choice(search, found)
        assert found.ownership is not None
        move = cleanup_move(board, found.ownership)
        if move != PASS or first != PASS or not points_left(board):
            return move if move != PASS else first
        return _best_point(search, found)

    def _drawn(self, found: SearchInfo, rng: np.random.Generator) -> int:
        """Draw one of the moves that are as good as the best."""
        best = found.candidates[0]
        enough, least = _GOOD_SHARE * best.visits, best.utility - _GOOD_LOSS
        good = [c for c in found.candidates if c.visits >= enough and c.utility >= least]
        weights = np.array([c.visits for c in good], np.float64) ** (1 / self.temperature)
        return good[int(rng.choice(len(good), p=weights / weights.sum()))].move


def lead_by_search(network: SearchNetwork, board: Board) -> float:
    """Return Black's lead after a short search, by which a judge decides doubts."""
    return SearchPlayer(network, **_JUDGED).lead(board)


SEARCHING_JUDGE = Judge(search=lead_by_search)
"""Decides for all players whether a game is over, and what is dead."""


def _first_choice(search: NetworkSearch, found: SearchInfo) -> int:
    """Return the most visited move, or the likeliest without visits."""
    if found.candidates:
        return found.candidates[0].move
    return int(search.tree.edge_move[0]) if search.tree.edges else PASS


def _best_point(search: NetworkSearch, found: SearchInfo) -> int:
    """Return the best move other than a pass, if there is one."""
    tried = [c.move for c in found.candidates]
    untried = search.tree.edge_move[: search.tree.count[0]].tolist()
    return next((int(move) for move in [*tried, *untried] if move != PASS), PASS)


# ----- Leaves -----


def likely_moves(
    board: Board, priors: FloatArray, *, width: int = WIDTH, only: Collection[int] | None = None
) -> tuple[IntArray, FloatArray]:
    """Return the likeliest moves that fill no own eye and the pass, or `only`; priors sum to 1."""
    order = np.argsort(-priors, kind="stable")
    if only is None:
        moves, chances = np.empty(width + 2, np.int64), np.empty(width + 2)
        count = keep_likely(board.state, order[: width + 1], priors, moves, chances)
        moves, chances = moves[:count], chances[:count]
    else:
        order = order[priors[order] > 0]
        points = points_at(order, board.rows, board.cols)
        kept = np.isin(points, list(only))
        moves, chances = points[kept].astype(np.int64), priors[order[kept]]
    return moves, chances / max(float(chances.sum()), 1e-300)


def without_mirror_images(
    board: Board, moves: IntArray, priors: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Merge moves that are equal by symmetry into the one nearest to the upper right."""
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
