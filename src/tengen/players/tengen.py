"""`tengen`, the strongest player for a board.

Where a network fits the board, that is the search around it (`network_search`); elsewhere, and
where no network is installed, the search by playouts (`mcts`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Unpack

import numpy as np

from tengen.board import Board, Point
from tengen.contracts import Report
from tengen.contracts.protocols import AnalyseOptions
from tengen.errors import SpecError
from tengen.models import has_model, load_policy, load_scorer
from tengen.models.registry import BY_SIZE, OTHER_SIZES
from tengen.players.evaluators import make_network
from tengen.players.levels import LEVELS, Level, find_level
from tengen.players.mcts import MctsPlayer
from tengen.players.network_search import RESIGN_BELOW, SearchNetwork, SearchPlayer
from tengen.players.simple import DrawingPlayer

NETWORK = OTHER_SIZES.plays
NETWORKS = {size: networks.plays for size, networks in BY_SIZE.items()}
"""Networks that play, by board size; `NETWORK` on all other boards."""
JUDGES = {size: networks.judges for size, networks in BY_SIZE.items()}
"""Networks of `judge`, by board size."""
_SELF_TAUGHT = ("zero-9x9",)
"""Networks trained without games of people."""
_VISITS, _VISITS_13, _VISITS_19 = 200, 100, 64
"""Default visits per move, up to 9x9, 13x13 and beyond: 0.4 to 2.4 seconds."""
_PLAYOUTS = 3000
_PLAYOUTS_PER_VISIT = 8
"""Default playouts per move of the search without a network."""
_TEMPERATURE = 0.5
"""So that openings vary, among moves that are as good as the best."""

_SIZES = 4
"""Boards whose searches are kept, with their trees."""

_Inner = SearchPlayer | MctsPlayer


@dataclass(eq=False)
class TengenPlayer:
    """Search with the network where it is stronger, by playouts where they are.

    Parameters
    ----------
    level
        From 1, a beginner, to 10; see `levels.LEVELS`.
    visits, seconds
        Visits or seconds per move, instead of a level.
    threads, clock, resign
        As of the searches.
    judging
        Whether it evaluates positions instead of playing; see `judge`.
    """

    level: int | None = None
    visits: int | None = None
    seconds: float | None = None
    threads: int = 1
    clock: str = "wall"
    resign: float = RESIGN_BELOW
    name: str = "tengen"
    root_moves: frozenset[int] | None = None
    judging: bool = False
    _searches: dict[tuple[int, int], _Inner] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.level is not None and (self.visits is not None or self.seconds is not None):
            raise SpecError("give a level, visits or seconds, not two of them")
        if self.level is not None:
            find_level(self.level)

    @property
    def adviser(self) -> TengenPlayer:
        """The same player at full strength, for advice."""
        return replace(self, level=None)

    @property
    def judge(self) -> TengenPlayer:
        """The same player for evaluations of positions."""
        return replace(self, judging=True)

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Return a move, a pass when the game is over, or a resignation."""
        return (self._drawer(board) or self.search(board)).choose(board, rng)

    def analyse(
        self, board: Board, rng: np.random.Generator, **asked: Unpack[AnalyseOptions]
    ) -> Iterator[Report]:
        """Yield what the search says every `interval` seconds.

        With `limited`, when a move is to be played, a level that draws says what it draws from.
        """
        drawer = self._drawer(board) if asked.get("limited") else None
        if drawer is not None:
            yield from drawer.analyse(board, rng)
            return
        search = self.search(board)
        reports = search.analyse(board, rng, **asked)
        if not isinstance(search, SearchPlayer) or not self._taught_itself(search):
            yield from reports
            return
        # The usual network learned from people, whose moves a self-taught one cannot predict.
        likely = _network(NETWORK).evaluate([board])[0].priors
        for report in reports:
            yield replace(report, human_policy=likely)

    def _taught_itself(self, search: SearchPlayer) -> bool:
        """Return whether a network searches that has never seen a game of people."""
        known = [name for name in _SELF_TAUGHT if has_model(name)]
        return has_model(NETWORK) and any(search.network is _network(name) for name in known)

    def within(self, seconds: float) -> TengenPlayer:
        """Return the same player with at most `seconds` per move; levels keep their strength."""
        if self.level is not None:
            return self
        twin = replace(self, seconds=seconds)
        for size, search in self._searches.items():
            twin._searches[size] = twin._make(*size)
            # The searches share their trees with ours, so that nothing found is lost.
            twin._searches[size]._kept = search._kept
        return twin

    def only(self, moves: Collection[int]) -> TengenPlayer:
        """Return the same player that searches only these moves at the root."""
        return replace(self, root_moves=frozenset(int(move) for move in moves))

    def search(self, board: Board) -> _Inner:
        """Return the search for boards of this size; it keeps its tree under a clock."""
        size = (board.rows, board.cols)
        if size not in self._searches:
            if len(self._searches) >= _SIZES:
                del self._searches[next(iter(self._searches))]
            self._searches[size] = self._make(*size)
        return self._searches[size]

    def _level(self, rows: int, cols: int) -> Level | None:
        return None if self.level is None else find_level(self.level).on(min(rows, cols))

    def _drawer(self, board: Board) -> DrawingPlayer | None:
        """Return who draws the moves of this level; None where it searches."""
        level = self._level(board.rows, board.cols)
        if level is None or level.searches or self.root_moves is not None:
            return None
        if not isinstance(self.search(board), SearchPlayer):
            return None  # where no network fits, all levels search
        return DrawingPlayer(
            model=load_policy(NETWORK, shared=True),
            temperature=level.temperature,
        )

    def _make(self, rows: int, cols: int) -> _Inner:
        size = rows, cols
        names = [NETWORKS.get(size, NETWORK), NETWORK]
        if self.judging and size in JUDGES:
            names.insert(0, JUDGES[size])
        network = next((_network(name) for name in names if has_model(name)), None)
        if network is None or not network.supports(rows, cols):
            return MctsPlayer(
                playouts=self._playouts(),
                seconds=self.seconds,
                threads=self.threads,
                clock=self.clock,
                resign=self.resign,
                root_moves=self.root_moves,
            )
        visits = self.visits
        if visits is None and self.seconds is None:
            level, visits = self._level(rows, cols), _usual_visits(rows * cols)
            visits = level.visits(visits) if level is not None and level.searches else visits
        return SearchPlayer(
            network,
            visits=visits,
            seconds=self.seconds,
            threads=self.threads,
            clock=self.clock,
            resign=self.resign,
            temperature=_TEMPERATURE,
            scorer=load_scorer("scorer", shared=True) if has_model("scorer") else None,
            root_moves=self.root_moves,
        )

    def _playouts(self) -> int | None:
        """Return the playouts per move where no network fits; those of levels grow evenly."""
        if self.level is not None:
            return round(math.pow(_PLAYOUTS, self.level / max(LEVELS)))
        if self.visits is not None:
            return _PLAYOUTS_PER_VISIT * self.visits
        return _PLAYOUTS if self.seconds is None else None


def _usual_visits(points: int) -> int:
    if points >= 19 * 19:
        return _VISITS_19
    return _VISITS_13 if points >= 13 * 13 else _VISITS


def _network(name: str) -> SearchNetwork:
    return make_network(name, shared=True)
