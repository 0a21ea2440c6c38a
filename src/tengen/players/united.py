"""Unite what the five papers teach in one search by playouts: `tengen-playouts`, and its levels.

The search is that of `mcts`; this module only says which model speaks where: the move predictor
orders and widens the search, a learned opening adds its opinion at the root of early positions,
the symmetry network shares in judging leaves, and the learned scorer says when the game is over.
Which of them earn their place on which board was measured (docs/results/); `without` leaves parts
out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Unpack

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import PASS, Board, Point, index_of
from tengen.contracts import Analysis, Evaluator, Policy
from tengen.contracts.protocols import Asked
from tengen.errors import SpecError
from tengen.models import load_evaluator, load_policy
from tengen.models.defaults import predictor_for
from tengen.players.greedy import values_after
from tengen.players.mcts import MctsPlayer
from tengen.players.opening import opening_plies
from tengen.players.passing import candidates, only_the_count_is_left
from tengen.players.policy import SamplePlayer

PARTS = ("opening", "predictor", "network", "scorer")
"""What can be left out, in the order of a game."""

_PLAYOUTS = 3000
"""Playouts a move when nothing else is said: 0.3 s on 9x9, 1 s on 19x19."""

_OPENINGS = {(9, 9): "td-best-9x9", (13, 13): "evolved-spatial-13x13"}
"""Learned openings by board."""

_OPENING_SHARE = 0.25
"""Weight of the learned opening beside the predictor at the root of an early position."""

NETWORKS = {(9, 9): "isn-best"}
_NETWORK_MIX = 0.1
"""The evaluator at the leaves by board, and its weight against a playout. On larger boards it costs
a fifth of the playouts and earns nothing.
"""

_NETWORK_SCALE = 8.0
"""Points over which its values bend into chances: what the player was tuned and rated with. Its
card says 6, which fits its own games best.
"""

_EXPAND_AT = 6.0
"""Visits before a leaf asks the predictor: its opinion costs as much as several playouts."""


@dataclass(frozen=True)
class Level:
    """How strong the player is for people: playouts a move, or none and a draw from the predictor.

    `temperature` applies to that draw; below 1 the likelier moves come more often. A level makes no
    mistakes on purpose.
    """

    playouts: int
    temperature: float = 1.0


LEVELS: dict[int, Level] = {
    1: Level(0, 2.5),
    2: Level(0, 1.5),
    3: Level(0, 1.0),
    4: Level(0, 0.6),
    5: Level(15),
    6: Level(100),
    7: Level(300),
    8: Level(1000),
    9: Level(3000),
    10: Level(10000),
}
"""The levels of `tengen-playouts:level=N`, weakest first; `tengen`'s own are in `levels`."""


class RootPolicy:
    """Propose moves by the predictor, and at one position also by a learned opening."""

    def __init__(self, predictor: Policy, opening: Evaluator | None) -> None:
        self.predictor = predictor
        self.opening = opening
        self._root: tuple[int, FloatArray] | None = None

    def at_root(self, board: Board) -> None:
        """Ask the opening about the position to be searched, if it is early enough."""
        self._root = None
        if self.opening is None or len(board.moves) >= opening_plies(self.opening, board):
            return
        moves = candidates(board)
        if not moves:
            return
        values = values_after(self.opening, board, moves)
        spread = float(values.std()) or 1.0
        weights = np.exp(2.0 * (values - values.max()) / spread)
        share = np.zeros(board.rows * board.cols + 1)
        share[[index_of(p, board.rows, board.cols) for p in moves]] = weights / weights.sum()
        self._root = board.hash, share

    def priors(self, board: Board) -> FloatArray:
        """Return the probabilities of all moves."""
        priors = np.asarray(self.predictor.priors(board), np.float64)
        if self._root is None or self._root[0] != board.hash:
            return priors
        return (1 - _OPENING_SHARE) * priors + _OPENING_SHARE * self._root[1]


@dataclass(eq=False)
class UnitedPlayer:
    """Search with every learner in its place; load a model only when a board asks for it.

    Parameters
    ----------
    level
        From 1, a beginner, to 10; see `LEVELS`.
    playouts, seconds
        Playouts or seconds a move, instead of a level.
    without
        Parts to leave out, of `PARTS`.
    threads, clock, resign
        As of `mcts`.
    """

    level: int | None = None
    playouts: int | None = None
    seconds: float | None = None
    without: tuple[str, ...] = ()
    threads: int = 1
    clock: str = "wall"
    resign: float = 0.03
    name: str = "tengen-playouts"
    root_moves: frozenset[int] | None = None
    _searches: dict[tuple[int, int], MctsPlayer] = field(
        default_factory=dict, init=False, repr=False
    )

    def __post_init__(self) -> None:
        if self.level is not None and (self.playouts is not None or self.seconds is not None):
            raise SpecError("give a level, playouts or seconds, not two of them")
        if self.level is not None and self.level not in LEVELS:
            raise SpecError(f"there is no level {self.level}; there are 1 to {max(LEVELS)}")

    @property
    def adviser(self) -> UnitedPlayer:
        """The same player at its full strength, to be asked for advice."""
        return replace(self, level=None)

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Search and return a move, a pass when the game is over, or a resignation."""
        *_, last = self.analyse(board, rng, interval=1e9, limited=True)
        return board.answer(last.choice)

    def analyse(
        self, board: Board, rng: np.random.Generator, **asked: Unpack[Asked]
    ) -> Iterator[Analysis]:
        """Yield what the search says every `interval` seconds, as `mcts` does.

        With `limited`, when a move is to be played, a level that draws says what it draws from.
        """
        limits = LEVELS[self.level] if self.level is not None else None
        draws = limits is not None and limits.playouts == 0 and self.seconds is None
        if limits is not None and draws and asked.get("limited") and self.root_moves is None:
            weak = SamplePlayer(model=_predictor(board), temperature=limits.temperature)
            yield from weak.analyse(board, rng)
            return
        search = self.search(board)
        if isinstance(search.policy, RootPolicy):
            search.policy.at_root(board)
        for found in search.analyse(board, rng, **asked):
            yield replace(found, choice=PASS) if self._is_over(board) else found

    def within(self, seconds: float) -> UnitedPlayer:
        """Return the same player with at most `seconds` a move; levels keep their playouts."""
        if self.level is not None and self.seconds is None:
            return self
        twin = replace(self, seconds=seconds)
        # The searches share their trees with ours, so that nothing found is lost.
        twin._searches.update({size: s.within(seconds) for size, s in self._searches.items()})
        return twin

    def only(self, moves: Collection[int]) -> UnitedPlayer:
        """Return a player like this one that looks at none but these moves of a position."""
        return replace(self, root_moves=frozenset(moves))

    def search(self, board: Board) -> MctsPlayer:
        """Return the search for boards of this size; it keeps its tree under a clock."""
        size = (board.rows, board.cols)
        if size not in self._searches:
            self._searches[size] = self._make(board)
        return self._searches[size]

    def _make(self, board: Board) -> MctsPlayer:
        policy: Policy | None = None
        if "predictor" not in self.without:
            name = None if "opening" in self.without else _OPENINGS.get((board.rows, board.cols))
            policy = RootPolicy(_predictor(board), _evaluator(name))
        name = None if "network" in self.without else NETWORKS.get((board.rows, board.cols))
        network = _evaluator(name)
        playouts = LEVELS[self.level].playouts if self.level is not None else self.playouts
        return MctsPlayer(
            playouts=playouts or _PLAYOUTS,
            seconds=self.seconds,
            policy=policy,
            evaluator=network,
            mix=_NETWORK_MIX,
            scale=_NETWORK_SCALE,
            expand_at=_EXPAND_AT if policy is not None or network is not None else 2.0,
            threads=self.threads,
            clock=self.clock,
            resign=self.resign,
            root_moves=self.root_moves,
        )

    def _is_over(self, board: Board) -> bool:
        """Tell whether only the count is left, under rules where playing on costs points."""
        if "scorer" in self.without:
            return False
        return only_the_count_is_left(board)


def _predictor(board: Board) -> Policy:
    """Return the move predictor for a board of this size."""
    return load_policy(predictor_for(board.rows, board.cols), shared=True)


def _evaluator(name: str | None) -> Evaluator | None:
    """Return the evaluator of this name; None for nobody."""
    return None if name is None else load_evaluator(name, shared=True)
