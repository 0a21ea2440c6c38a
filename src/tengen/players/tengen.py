"""`tengen`, the strongest player for a board: `network_search`, or `mcts` where no network fits.

Its weaker levels sample moves that people play, then moves that the judge thinks best, at falling
temperatures; the stronger ones search with increasing visits. No level makes mistakes on purpose.
`arena.placing` has the measured ratings.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import Board, Point
from tengen.contracts import AnalyseOptions, SearchInfo
from tengen.errors import SpecError
from tengen.models import has_model, load_policy, load_scorer
from tengen.models.registry import DRAWN_FROM, JUDGE
from tengen.players.evaluators import make_network
from tengen.players.mcts import MctsPlayer
from tengen.players.network_search import RESIGN_BELOW, SearchNetwork, SearchPlayer
from tengen.players.simple import DrawingPlayer

_LEAST_VISITS = 2  # with fewer a search cannot compare moves
_LARGE = 13  # lines from which on a board is large


@dataclass(frozen=True)
class Level:
    """How a level plays: it samples from a network at a temperature, or searches."""

    share: float = 0.0
    """Visits of the search as a share of those at full strength; 0 samples."""
    temperature: float = 1.0
    """Below 1 likely moves become more frequent, above 1 less so; 0 takes the likeliest."""
    best: bool = False
    """Whether it samples from the judge's best moves instead of what people play."""
    on_large: Level | None = None
    """How it plays from 13 lines on, where mistakes cost more and few visits beat sampling."""

    def on(self, lines: int) -> Level:
        """Return how it plays on a board of `lines` lines."""
        return self if self.on_large is None or lines < _LARGE else self.on_large

    @property
    def searches(self) -> bool:
        """Whether it searches."""
        return self.share > 0

    def visits(self, full: int) -> int:
        """Return the visits of its search, given those at full strength."""
        return max(round(self.share * full), _LEAST_VISITS)

    @property
    def about(self) -> str:
        """A short description for display."""
        if self.on_large is not None:
            here = replace(self, on_large=None).about
            large = self.on_large.about.removeprefix(f"{here.partition(', ')[0]}, ")
            return f"{here} ({large} from {_LARGE}x{_LARGE} on)"
        if self.searches:
            few = f", {100 * self.share:g} % of the visits"
            return "searches at full strength" if self.share == 1 else f"searches{few}"
        moves = "the judge's best" if self.best else "people's"
        return f"samples {moves} moves, temperature {self.temperature:g}"


LEVELS: dict[int, Level] = {
    1: Level(temperature=4.0, on_large=Level(temperature=2.8)),
    2: Level(temperature=2.8, on_large=Level(temperature=2.2)),
    3: Level(temperature=2.2, on_large=Level(temperature=1.8)),
    4: Level(temperature=1.4),
    5: Level(temperature=1.0),
    6: Level(temperature=0.5, on_large=Level(temperature=0.55)),
    7: Level(share=0.02, on_large=Level(best=True, temperature=0.65)),
    8: Level(share=0.08, on_large=Level(best=True, temperature=0.4)),
    9: Level(share=0.4, on_large=Level(share=0.15)),
    10: Level(share=1.0),
}
"""The levels of `tengen:level=N` on every board."""


def find_level(number: int) -> Level:
    """Return a level by its number."""
    if number not in LEVELS:
        raise SpecError(f"there is no level {number}; there are 1 to {max(LEVELS)}")
    return LEVELS[number]


# ----- The player -----

_PLAYOUTS = 3000
"""Playouts per move without a network, unless visits are given."""
_TEMPERATURE = 0.5
"""Varies openings, among moves that are as good as the best."""
_SIZES = 4
"""Board sizes whose searches are kept, with their trees."""

_Inner = SearchPlayer | MctsPlayer


@dataclass(frozen=True)
class _BestMoves:
    """A policy of the moves that a network thinks best."""

    network: SearchNetwork

    def priors(self, board: Board) -> FloatArray:
        """Return the probability that each move is the best, the pass last."""
        return self.network.evaluate([board])[0].proposals


@dataclass(eq=False)
class TengenPlayer:
    """Search with the network where one fits, else by playouts; `level` is one of `LEVELS`."""

    level: int | None = None
    visits: int | None = None
    seconds: float | None = None
    threads: int = 1
    clock: str = "wall"
    resign: float = RESIGN_BELOW
    name: str = "tengen"
    root_moves: frozenset[int] | None = None
    _searches: dict[tuple[int, int], _Inner] = field(default_factory=dict, init=False, repr=False)
    _kept: dict[tuple[int, int], list[Any]] = field(default_factory=dict, repr=False)
    """What searches under a clock keep from move to move, whatever their time."""

    def __post_init__(self) -> None:
        if self.level is not None:
            find_level(self.level)
            if self.visits is not None or self.seconds is not None:
                raise SpecError("give a level, visits or seconds, not two of them")

    @property
    def adviser(self) -> TengenPlayer:
        """The same player at full strength, for advice."""
        return replace(self, level=None)

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Return a move, a pass when the game is over, or a resignation."""
        return (self.drawing_player(board) or self.search(board)).choose(board, rng)

    def analyse(
        self, board: Board, rng: np.random.Generator, **asked: Unpack[AnalyseOptions]
    ) -> Iterator[SearchInfo]:
        """Yield the search's evaluations; with `limited`, a level that samples shows its policy."""
        drawer = self.drawing_player(board) if asked.get("limited") else None
        if drawer is not None:
            yield from drawer.analyse(board, rng)
            return
        yield from self.search(board).analyse(board, rng, **asked)

    def within(self, seconds: float) -> TengenPlayer:
        """Return the same player with at most `seconds` per move; levels keep their strength."""
        return self if self.level is not None else replace(self, seconds=seconds)

    def only(self, moves: Collection[int]) -> TengenPlayer:
        """Return the same player that searches only these moves at the root."""
        return replace(self, root_moves=frozenset(int(move) for move in moves))

    def search(self, board: Board) -> _Inner:
        """Return the search for boards of this size; it keeps its tree under a clock."""
        size = (board.rows, board.cols)
        search = self._searches.get(size)
        if search is None:
            search = self._searches[size] = self._make(*size)
            search._kept = self._kept.setdefault(size, [])
            for known in (self._searches, self._kept):
                while len(known) > _SIZES:
                    oldest, *_ = known
                    known.pop(oldest, None)  # another thread may have done it
        return search

    def _level(self, rows: int, cols: int) -> Level | None:
        return None if self.level is None else find_level(self.level).on(min(rows, cols))

    def drawing_player(self, board: Board) -> DrawingPlayer | None:
        """Return the player that samples the moves of this level; None if it searches."""
        level = self._level(board.rows, board.cols)
        if level is None or level.searches or self.root_moves is not None:
            return None
        if not isinstance(search := self.search(board), SearchPlayer):
            return None  # where no network fits, all levels search
        policy = _BestMoves(search.network) if level.best else load_policy(DRAWN_FROM, shared=True)
        return DrawingPlayer(model=policy, temperature=level.temperature)

    def _make(self, rows: int, cols: int) -> _Inner:
        network = make_network(JUDGE, shared=True) if has_model(JUDGE) else None
        shared = ("seconds", "clock", "resign", "root_moves")
        same: dict[str, Any] = {name: getattr(self, name) for name in shared}
        if network is None or not network.supports(rows, cols):
            return MctsPlayer(playouts=self._playouts(), **same)
        visits = self.visits
        if visits is None and self.seconds is None:
            level, points = self._level(rows, cols), rows * cols
            visits = 200 if points < 13 * 13 else 100 if points < 19 * 19 else 64  # 0.4 to 2.4 s
            visits = level.visits(visits) if level is not None and level.searches else visits
        scorer = load_scorer("scorer", shared=True) if has_model("scorer") else None
        same |= {"visits": visits, "threads": self.threads, "scorer": scorer}
        return SearchPlayer(network, temperature=_TEMPERATURE, **same)

    def _playouts(self) -> int | None:
        """Return the playouts per move where no network fits; geometric in the level."""
        if self.level is not None:
            return round(math.pow(_PLAYOUTS, self.level / max(LEVELS)))
        if self.visits is not None:
            return self.visits
        return _PLAYOUTS if self.seconds is None else None
