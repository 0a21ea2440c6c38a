"""Finished games with recorded scores, and the accuracy of a scorer on them.

A count is exact if it equals the recorded score under the rules that the record names (RU).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray
from tengen.board import Rules
from tengen.board.counting import Method, count_by_rules
from tengen.errors import TengenError
from tengen.learners.scoring.learner import BlockScorer
from tengen.records import Corpus, GameArrays, GameRecord
from tengen.records.corpus import last_positions
from tengen.records.record import rules_named
from tengen.statistics import wilson

Grid = NDArray[np.int8]
Progress = Callable[[str, int, int], None]
"""Called with the name of a scorer, the games done and their number."""
_ROUNDING = 0.01
"""Scores that differ by less are equal."""


@dataclass
class ScoredGame:
    """A finished game: its last position and its recorded score."""

    grid: Grid
    taken: tuple[int, int]
    komi: float
    handicap: int
    rules: Rules
    score: float
    record: Callable[[], GameRecord]
    """Return the game's record."""

    def margin(self, dead: BoolArray, method: Method) -> float:
        """Return the score for Black, komi included, given the dead stones."""
        return count_by_rules(
            self.grid, dead, self.rules, method=method, komi=self.komi, prisoners=self.taken,
            handicap=self.handicap,
        ).score  # fmt: skip


def read_scored_games(files: Sequence[str | Path]) -> list[ScoredGame]:
    """Read the last positions of all games with a counted result.

    Raises
    ------
    TengenError
        If there are none.
    """
    games: GameArrays = Corpus(list(files)).as_arrays()
    games = games.where(np.isfinite(games.score))
    if not len(games):
        raise TengenError(f"{', '.join(map(str, files))}: no games with a counted result")
    grids, taken = last_positions(games)
    return [
        ScoredGame(
            np.ascontiguousarray(grids[i][: games.rows[i], : games.cols[i]]),
            (int(taken[i, 0]), int(taken[i, 1])),
            float(games.komi[i]),
            int(games.handicap[i]),
            rules_named(str(games.rules[i])),
            float(games.score[i]),
            lambda i=i: games.record(i),  # type: ignore[misc]
        )
        for i in range(len(games))
    ]


@dataclass
class Accuracy:
    """The accuracy of counts against recorded results."""

    off: list[float] = field(default_factory=list)
    """The error of each count in points; infinite if there is none."""
    winners: int = 0
    """Games with the right winner."""
    seconds: float = 0.0

    @property
    def games(self) -> int:
        """The number of games, including those without a count."""
        return len(self.off)

    def add(self, margin: float, game: ScoredGame) -> bool:
        """Compare one count with the record; return whether it is exact."""
        self.off.append(abs(margin - game.score))
        self.winners += bool(np.sign(margin) == np.sign(game.score))
        return self.off[-1] < _ROUNDING

    def fail(self) -> None:
        """Add a game that could not be counted."""
        self.off.append(np.inf)

    def within(self, points: int) -> int:
        """Return how many counts are off by at most this many points."""
        return sum(off < points + _ROUNDING for off in self.off)

    def rates(self) -> dict[str, Any]:
        """Return the fractions of exact games (with Wilson's interval) and right winners."""
        n = max(self.games, 1)
        return {
            "exact": self.within(0) / n,
            "exact_interval": list(wilson(self.within(0), self.games)),
            "winner": self.winners / n,
            "seconds_per_game": self.seconds / n,
        }


def evaluate(
    scorer: BlockScorer,
    games: Sequence[ScoredGame],
    *,
    method: Method = "careful",
    progress: Progress = lambda name, done, of: None,
) -> dict[str, Any]:
    """Score games and compare with their recorded results."""
    scorer.read(np.array([[0, 1, 2], [1, 1, 2], [0, 1, 2]], np.int8))  # compiles before the clock
    ours = Accuracy()
    begin = time.process_time()
    safe = exact_when_safe = 0
    for number, game in enumerate(games, 1):
        reading = scorer.read(game.grid)
        exact = ours.add(game.margin(reading.dead, method), game)
        safe += reading.safe
        exact_when_safe += reading.safe and exact
        progress("tengen", number, len(games))
    ours.seconds = time.process_time() - begin
    return {
        "games": ours.games,
        **ours.rates(),
        "within1": ours.within(1) / ours.games,
        "safe": safe / ours.games,
        "exact_when_safe": exact_when_safe / safe if safe else None,
        "count": method,
    }
