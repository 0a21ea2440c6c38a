"""Hold finished games as they are measured: last position, recorded score, and how counts compare.

A game counts as exact if counting with somebody's dead stones gives the recorded score, under
the rules its RU names. Nothing here judges stones.
"""

from __future__ import annotations

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
from tengen.records import Corpus, GameArrays, GameRecord
from tengen.records.corpus import last_positions
from tengen.records.record import rules_named
from tengen.statistics import wilson

Grid = NDArray[np.int8]
_ROUNDING = 0.01
"""Scores that differ by less are equal."""


@dataclass
class Case:
    """One finished game: its last position and what is known of its count."""

    grid: Grid
    taken: tuple[int, int]
    komi: float
    handicap: int
    rules: Rules
    score: float
    record: Callable[[], GameRecord]
    """Make the game's record, for those who want its moves."""

    def margin(self, dead: BoolArray, method: Method) -> float:
        """Return the score for Black, komi included, given the dead stones."""
        return count_by_rules(
            self.grid, dead, self.rules, method=method, komi=self.komi, prisoners=self.taken,
            handicap=self.handicap,
        ).score  # fmt: skip


def read_cases(files: Sequence[str | Path]) -> list[Case]:
    """Read all games with a counted result to their last position.

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
        Case(
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
class Comparison:
    """How one way of scoring compares with the recorded results."""

    off: list[float] = field(default_factory=list)
    """By how many points the count of each game is off; infinite where there is none."""
    winners: int = 0
    """Games whose winner is right."""
    seconds: float = 0.0

    @property
    def games(self) -> int:
        """How many games were compared, those without a count too."""
        return len(self.off)

    def add(self, margin: float, case: Case) -> bool:
        """Compare one count with the record; return whether it is exact."""
        self.off.append(abs(margin - case.score))
        self.winners += bool(np.sign(margin) == np.sign(case.score))
        return self.off[-1] < _ROUNDING

    def fail(self) -> None:
        """Note a game that could not be counted."""
        self.off.append(np.inf)

    def within(self, points: int) -> int:
        """Return how many counts are off by no more than so many points."""
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
