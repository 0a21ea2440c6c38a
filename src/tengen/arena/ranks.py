"""Approximate kyu and dan ranks of ratings, and fair handicaps.

GNU Go 3.8 at level 10, at 1800 Elo on all ladders, is commonly put at 8 to 10 kyu; here it is 9 kyu
and 100 Elo are one rank. This rule of thumb was measured against nobody with a rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tengen.arena.placing import RECORD, recorded
from tengen.errors import SpecError
from tengen.players.levels import LEVELS, find_level

_ANCHOR = 1800.0
"""Elo of GNU Go 3.8 at level 10."""
_ANCHOR_KYU = 9
ELO_PER_RANK = 100.0
_WEAKEST_KYU, _STRONGEST_DAN = 30, 9
_MOST_STONES = 9
_FULL_BOARD = 19 * 19
"""Points of a board on which one rank is one stone; on smaller boards a stone is worth more."""


def rank_of(elo: float) -> str:
    """Return the approximate rank of a rating.

    >>> rank_of(1800), rank_of(2660), rank_of(-500)
    ('9 kyu', '1 dan', '30 kyu')
    """
    above = round((elo - _ANCHOR) / ELO_PER_RANK) - _ANCHOR_KYU
    if above < 0:
        return f"{min(-above, _WEAKEST_KYU)} kyu"
    return f"{min(above + 1, _STRONGEST_DAN)} dan"


@dataclass(frozen=True)
class LevelRating:
    """The measured rating of a level on a board."""

    level: int
    elo: float
    interval: tuple[float, float]
    games: int

    @property
    def rank(self) -> str:
        """The approximate rank."""
        return rank_of(self.elo)


def level_ratings(size: str, path: Path = RECORD) -> dict[int, LevelRating]:
    """Return the ratings of levels on a board such as `9x9`."""
    rated = {entry["player"]: entry for entry in recorded(path) if entry["size"] == size}
    return {
        level: LevelRating(level, entry["elo"], (entry["interval"][0], entry["interval"][1]), games)
        for level in LEVELS
        if (entry := rated.get(f"tengen:level={level}")) and (games := entry["games"])
    }


@dataclass(frozen=True)
class Handicap:
    """Handicap for Black, the weaker side: `stones` 0 or 2 to 9, `komi` None for the usual."""

    stones: int = 0
    komi: float | None = None

    def __str__(self) -> str:
        if self.stones:
            return f"{self.stones} stones, komi {self.komi:g}"
        return "even" if self.komi is None else f"no stones, komi {self.komi:g}"


def fair_handicap(weaker: float, stronger: float, points: int) -> Handicap:
    """Return the handicap that makes a game between two ratings even on a board of `points` points.

    A rank is a stone on 19x19, and less on smaller boards in proportion to their points. Half a
    point of komi counts as the first stone, since Black then only moves first.

    >>> str(fair_handicap(1500, 1800, 19 * 19)), str(fair_handicap(1500, 1800, 9 * 9))
    ('3 stones, komi 0.5', 'no stones, komi 0.5')
    """
    steps = round(abs(stronger - weaker) / ELO_PER_RANK * points / _FULL_BOARD)
    if steps == 0:
        return Handicap()
    return Handicap(0 if steps == 1 else min(steps, _MOST_STONES), 0.5)


def advise(weaker: int, stronger: int, size: int, path: Path = RECORD) -> Handicap:
    """Return the handicap between two levels on a square board.

    Raises `SpecError` if there is no such level, or one was not rated on this board.
    """
    rated = level_ratings(f"{size}x{size}", path)
    for level in (weaker, stronger):
        find_level(level)
        if level not in rated:
            raise SpecError(f"level {level} is not rated on {size}x{size}")
    return fair_handicap(rated[weaker].elo, rated[stronger].elo, size * size)
