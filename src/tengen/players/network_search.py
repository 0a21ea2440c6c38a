"""Tree search with the network: PUCT over its moves and values, leaves evaluated in batches.

`network_tree` has the tree, `network_leaves` the evaluation. With `visits` a move is a function of
position and generator; with `seconds` a clock decides and the tree is kept from move to move.
Superko is exact: every leaf is reached by playing the moves on a board with the game's history.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import BLACK, PASS, RESIGN, Board, indices_of
from tengen.contracts import Candidate, Report, Scorer
from tengen.errors import SpecError
from tengen.game import judging
from tengen.game.endgame import (
    cleanup_move,
    is_over,
    only_the_count_is_left,
    points_left,
)
from tengen.players.network_leaves import (
    Leaf,
    LeafEvaluator,
    SearchNetwork,
    Taste,
    likely_moves,
    without_mirror_images,
)
from tengen.players.network_tree import Exploring, NetworkTree
from tengen.players.search_clock import Pace, Searching

_USUAL = Exploring()
_VISITS = 400
"""Default visits per move."""
_BATCHES = {(9, 9): 8, (13, 13): 8}
_SMALL_BATCH = 4
"""Leaves per batch; batches pay most on small boards (1.8 instead of 2.5 ms per leaf on 9x9)."""
_GATHERED = 8
"""Visits of the tree for every further leaf of a batch: a young tree is a poor guide."""
_LINE = 24
"""Longest line in a report."""
_LEAST_LEFT = 0.5
"""Share of a leaf's time that must be left to start another."""
_OPENING_SHARE = 16
"""One ply in so many points is the opening, where a temperature varies the moves."""
RESIGN_BELOW = 0.02
"""Of 136 positions of experts' games to which `tengen-small` gave so little, 3 were won."""
_TRUSTED_SHARE = 0.7
"""Share of the first move's visits from which a move's score is trusted."""
_LEAST_TO_RESIGN = 16
"""Visits before a search may resign."""
_GOOD_SHARE, _GOOD_LOSS = 0.2, 0.05
"""A move is as good as the best if it has this share of its visits and costs no more utility."""


@dataclass
class NetworkSearch:
    """A tree with the game at its root."""

    board: Board
    tree: NetworkTree
    taste: Taste
    policy: FloatArray
    """Priors at the root, row-major, pass last."""
    pace: float = 0.0
    """Measured seconds per leaf."""
    people: FloatArray | None = None
    """The moves people would play at the root, if the network distinguishes them."""
    final: FloatArray | None = None
    """Ownership by the scorer, where the game is over."""
    may_pass: bool = True
    """False after a pass in a game that is not over: another pass would end it."""

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
        black_moves = board.turn == BLACK
        return node if black_moves == (self.tree.turn[node] > 0) else None

    def moved(self, board: Board, node: int) -> NetworkSearch:
        """Return the search with a node as its root."""
        if node == 0:
            return self
        tree = self.tree.below(node)
        policy = np.zeros(board.rows * board.cols + 1)
        edges = slice(tree.first[0], tree.first[0] + tree.count[0])
        places = indices_of(tree.edge_move[edges].astype(np.int64), board.rows, board.cols)
        policy[places] = tree.edge_prior[edges]
        return NetworkSearch(board.copy(), tree, self.taste, policy, self.pace)


@dataclass(eq=False)
class NetworkPlayer(Searching):
    """Choose the move that most of the search went through.

    Parameters
    ----------
    visits, seconds
        Limits per move; 400 visits if neither is given.
    clock
        `wall`, or `processor` to count only this program's time.
    threads
        Parts of a batch evaluated in parallel.
    batch
        Leaves per batch; by board size if not given.
    resign
        Resign when the win rate falls below this.
    temperature
        Above 0, early moves are drawn among those that are as good as the best.
    noise
        Share of random priors at the root, for self-play.
    playouts_per_leaf, mix
        Playouts per leaf, and their share in the evaluation.
    explore, urgency, score_share
        Weight of the priors; penalty of moves without visits; share of the score in the utility.
    scorer
        Decides whether a game under territory rules is over, if given.
    most_nodes
        Positions in the tree before the search ends; each takes about 1,200 bytes on 19x19.
    """

    network: SearchNetwork
    visits: int | None = None
    seconds: float | None = None
    clock: str = "wall"
    threads: int = 1
    batch: int | None = None
    resign: float = RESIGN_BELOW
    temperature: float = 0.0
    noise: float = 0.0
    playouts_per_leaf: int = 0
    mix: float = 0.0
    scorer: Scorer | None = None
    explore: float = _USUAL.explore
    urgency: float = _USUAL.urgency
    score_share: float = 0.1
    most_nodes: int = 200_000
    root_moves: frozenset[int] | None = None
    """Search only these moves at the root; see `only`."""
    name: str = "search"
    _kept: list[NetworkSearch] = field(default_factory=list, repr=False, compare=False)

    def __post_init__(self) -> None:
        given = [count for count in (self.visits, self.threads, self.batch) if count is not None]
        if min(given) < 1:
            raise SpecError("a search needs at least one visit, one thread and one leaf at once")
        if self.seconds is not None and not self.seconds > 0:
            raise SpecError(f"a search cannot think for {self.seconds} seconds")
        shares = {"noise": self.noise, "mix": self.mix, "share": self.score_share}
        for name, share in shares.items():
            if not 0 <= share <= 1:
                raise SpecError(f"{name} is a share from 0 to 1, not {share}")
        if self.clock == "processor" and self.threads > 1:
            raise SpecError("the processor's clock is for one thread")

    def supports(self, rows: int, cols: int) -> bool:
        """Return whether the network evaluates boards of this size."""
        return self.network.supports(rows, cols)

    def within(self, seconds: float) -> NetworkPlayer:
        """Return the same player with at most `seconds` per move."""
        return replace(self, seconds=seconds, _kept=self._kept)

    def only(self, moves: Collection[int]) -> NetworkPlayer:
        """Return the same player that searches only these moves at the root."""
        return replace(self, root_moves=frozenset(int(m) for m in moves), _kept=[])

    def _think(self, board: Board, rng: np.random.Generator, pace: Pace) -> Iterator[Report]:
        if not self.supports(board.rows, board.cols):
            raise SpecError(f"{self.name} does not play on {board.rows}x{board.cols}")
        goal = self.visits if self.seconds is not None else self.visits or _VISITS
        goal = goal if pace.limited else None
        with ThreadPoolExecutor(self.threads) as pool:
            workers = pool if self.threads > 1 else None
            search = self._begin(board, rng, to_play=pace.limited)
            search.pace = search.pace or pace.spent()
            search.final = self._final_owners(board)
            while not pace.stop():
                begin, left = pace.now(), pace.left()
                room = self._room(search, left, goal)
                if room < 1 or self._decided(search, left):
                    break
                if pace.due():
                    yield self._report(search, rng)
                if judged := self._grow(search, room, workers):
                    search.pace = 0.7 * search.pace + 0.3 * (pace.now() - begin) / judged
        yield self._report(search, rng)

    @property
    def _judge(self) -> LeafEvaluator:
        return LeafEvaluator(self.network, self.playouts_per_leaf, self.mix)

    @property
    def _exploring(self) -> Exploring:
        return Exploring(self.explore, self.urgency)

    # ----- Searching -----

    def _begin(
        self, board: Board, rng: np.random.Generator, *, to_play: bool = False
    ) -> NetworkSearch:
        """Return the kept search if the position lies below it, or a new one.

        Where a move is to be played, a pass that would end an open game is not searched.
        """
        keep = self.seconds is not None and self.root_moves is None and not self.noise
        ends = to_play and board.last_move == PASS and self.root_moves is None
        may_pass = not ends or is_over(board)
        if keep and self._kept and may_pass:
            kept = self._kept[0]
            node = kept.descend(board)
            whole = node != 0 or kept.may_pass
            if node is not None and whole and kept.tree.judged[node] and not kept.tree.over[node]:
                self._kept[:] = [kept.moved(board, node)]
                return self._kept[0]
        made = self._plant(board, rng, may_pass=may_pass)
        if keep:
            self._kept[:] = [made]
        return made

    def _plant(self, board: Board, rng: np.random.Generator, *, may_pass: bool) -> NetworkSearch:
        """Evaluate a position and make it the root of a tree."""
        fresh = board.copy()
        (view,) = self.network.evaluate([fresh])
        points = board.rows * board.cols
        moves, priors = likely_moves(fresh, view.proposals, width=points, only=self.root_moves)
        if not may_pass and len(moves) > 1:
            moves, priors = moves[moves != PASS], priors[moves != PASS]
            priors = priors / max(float(priors.sum()), 1e-300)
        if self.root_moves is None and self.noise == 0:
            moves, priors = without_mirror_images(fresh, moves, priors)
        if self.noise > 0:
            random = rng.dirichlet(np.full(len(moves), 10.0 / len(moves)))
            priors = (1 - self.noise) * priors + self.noise * random
            order = np.argsort(-priors, kind="stable")
            moves, priors = moves[order], priors[order]
        win, score, owners = self._judge.outcome(fresh, view)
        leaf = Leaf(win, score, view.spread, owners, moves, priors)
        taste = Taste.around(board, score, self.score_share)
        tree = NetworkTree(points, 1 if board.turn == BLACK else -1)
        path = tree.descend(self._exploring)
        tree.judge(0, leaf.worth(taste), leaf.ownership, moves, priors)
        tree.back_up(path)
        people = None if view.best is None else view.priors
        return NetworkSearch(fresh, tree, taste, view.proposals, people=people, may_pass=may_pass)

    def _room(self, search: NetworkSearch, left: float | None, goal: int | None) -> int:
        """Return how many leaves the next batch may have; 0 to end the search."""
        tree = search.tree
        visits = int(tree.visits[0])
        if tree.count[0] == 0:
            return 0
        if tree.used >= self.most_nodes:
            text = f"{self.name}: the tree is full with {tree.used} positions"
            warnings.warn(text, stacklevel=3)
            return 0
        usual = _BATCHES.get((search.board.rows, search.board.cols), _SMALL_BATCH)
        size = self.batch or usual * max(self.threads, getattr(self.network, "at_once", 1))
        size = min(size, 1 + visits // _GATHERED)
        if goal is not None:
            size = min(size, goal - visits)
        if left is not None:
            size = min(size, int(left / max(search.pace, 1e-6) + 1 - _LEAST_LEFT))
        return min(size, self.most_nodes - tree.used)

    def _decided(self, search: NetworkSearch, left: float | None) -> bool:
        """Return whether no other move can catch up in the time that is left."""
        if left is None:
            return False
        visits = search.tree.visits[search.tree.children()]
        if search.tree.count[0] == 1:
            return len(visits) > 0
        second = int(visits[1]) if len(visits) > 1 else 0
        rest = left / max(search.pace, 1e-6)
        return len(visits) > 0 and int(visits[0]) - second > rest

    def _grow(self, search: NetworkSearch, room: int, pool: ThreadPoolExecutor | None) -> int:
        """Evaluate the next leaves; return how many the network evaluated."""
        tree = search.tree
        ways: list[list[int]] = []
        boards: list[Board] = []
        how = self._exploring
        for _ in range(room):
            path = tree.descend(how)
            leaf = path[-1]
            if tree.over[leaf]:
                tree.back_up(path)
                continue
            if tree.waiting[leaf] > 1:
                tree.give_up(path)
                break
            ways.append(path)
            boards.append(self._position(search, path))
        if not ways:
            return 0
        try:
            leaves = self._judge(boards, pool=pool, threads=self.threads)
        except BaseException:
            self._kept.clear()  # positions still wait in this tree
            raise
        for path, leaf_found in zip(ways, leaves, strict=True):
            tree.judge(
                path[-1],
                leaf_found.worth(search.taste),
                leaf_found.ownership,
                leaf_found.moves,
                leaf_found.priors,
                over=leaf_found.over,
            )
            tree.back_up(path)
        return len(ways)

    def _position(self, search: NetworkSearch, path: list[int]) -> Board:
        board = search.board.copy()
        for move in search.tree.move[path[1:]].tolist():
            board.push(move)
        return board

    def _final_owners(self, board: Board) -> FloatArray | None:
        """Return the scorer's ownership once the game is over; None before."""
        if self.scorer is None or points_left(board):
            return None
        verdict = judging.Judge(self.scorer).finished(board)
        return None if verdict is None else verdict.ownership

    # ----- Reporting -----

    def _report(self, search: NetworkSearch, rng: np.random.Generator) -> Report:
        tree = search.tree
        branches = tree.branches()
        candidates = []
        for child in tree.children().tolist():
            utility, win, score, spread = tree.means(child)
            line = tree.line(child, _LINE)
            candidates.append(
                Candidate(
                    move=int(tree.move[child]),
                    visits=int(tree.visits[child]),
                    winrate=win,
                    score=score,
                    prior=tree.prior(child),
                    pv=tuple(int(m) for m in tree.move[line]),
                    utility=utility,
                    spread=spread,
                    pv_visits=tuple(int(n) for n in tree.visits[line]),
                    owners=tree.owners(branches == child),
                )
            )
        owners, owners_spread = tree.owners(slice(None))
        _, raw_winrate, raw_score, square = tree.own[0].tolist()
        raw_spread = max(square - raw_score**2, 0.0) ** 0.5
        best = candidates[0] if candidates else None
        found = Report(
            tuple(candidates),
            PASS,
            int(tree.visits[0]),
            best.winrate if best else raw_winrate,
            _lead(candidates, search.board.turn) if candidates else raw_score,
            owners if search.final is None else search.final,
            spread=best.spread if best else raw_spread,
            ownership_spread=owners_spread,
            raw_winrate=raw_winrate,
            raw_score=raw_score,
            raw_spread=raw_spread,
            raw_policy=search.policy,
            human_policy=search.people,
        )
        return replace(found, choice=self._choice(search, found, rng))

    def _choice(self, search: NetworkSearch, found: Report, rng: np.random.Generator) -> int:
        """Return the most visited move (or likeliest), or one that ends the game."""
        board = search.board
        first = _first_choice(search, found)
        if self.root_moves is not None:
            return first
        if only_the_count_is_left(board):
            return PASS
        standing = board.area_score() * (1 if board.turn == BLACK else -1)
        by_area = board.rules.scoring == "area"
        if by_area and standing > 0 and board.last_move == PASS and search.may_pass:
            return PASS
        if self._is_hopeless(search, found):
            return RESIGN
        passing = first == PASS or search.policy[-1] >= search.policy.max()
        if by_area and standing <= 0 and passing:
            move = self._play_out(search, found)
        elif self._is_early(board) and found.candidates:
            move = self._drawn(found.seen_by(board.turn), rng)
        else:
            move = first
        if move == PASS and not is_over(board):
            return _best_point(search, found)
        return move

    def _is_hopeless(self, search: NetworkSearch, found: Report) -> bool:
        """Return whether both the best move and the mean of the search are lost."""
        board = search.board
        if len(board.moves) * 4 < board.rows * board.cols or found.visits < _LEAST_TO_RESIGN:
            return False
        hopes = found.winrate, search.tree.means(0)[1]
        hope = max(hopes) if board.turn == BLACK else 1 - min(hopes)
        return hope < self.resign

    def _play_out(self, search: NetworkSearch, found: Report) -> int:
        """Return a move where the network would pass and lose the count.

        It learned from people, who remove dead stones by agreement; here they must be captured.
        """
        board, first = search.board, _first_choice(search, found)
        assert found.ownership is not None
        move = cleanup_move(board, found.ownership)
        if move != PASS or first != PASS or not points_left(board):
            return move if move != PASS else first
        return _best_point(search, found)

    def _is_early(self, board: Board) -> bool:
        return self.temperature > 0 and len(board.moves) * _OPENING_SHARE < board.rows * board.cols

    def _drawn(self, found: Report, rng: np.random.Generator) -> int:
        """Draw one of the moves that are as good as the best."""
        best = found.candidates[0]
        good = [
            c
            for c in found.candidates
            if c.visits >= _GOOD_SHARE * best.visits and c.utility >= best.utility - _GOOD_LOSS
        ]
        weights = np.array([c.visits for c in good], np.float64) ** (1 / self.temperature)
        return good[int(rng.choice(len(good), p=weights / weights.sum()))].move


def _first_choice(search: NetworkSearch, found: Report) -> int:
    """Return the most visited move, or the likeliest without visits."""
    if found.candidates:
        return found.candidates[0].move
    return int(search.tree.edge_move[0]) if search.tree.edges else PASS


def _best_point(search: NetworkSearch, found: Report) -> int:
    """Return the best move other than a pass, if there is one."""
    tried = [c.move for c in found.candidates]
    untried = search.tree.edge_move[: search.tree.count[0]].tolist()
    return next((int(move) for move in [*tried, *untried] if move != PASS), PASS)


def _lead(candidates: list[Candidate], turn: int) -> float:
    """Return the best score for the side to move among the moves visited nearly as often."""
    enough = _TRUSTED_SHARE * candidates[0].visits
    scores = [c.score for c in candidates if c.visits >= enough]
    return max(scores) if turn == BLACK else min(scores)
