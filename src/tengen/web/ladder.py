"""Choose the next game for a learner: level and handicap follow the last results.

Every win climbs one rung, every loss goes down one. Nothing is kept but the games themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tengen.arena.ranks import ELO_A_RANK, fair_handicap

FIRST = 2
"""The level of the first game, without handicap."""
_BELOW = (4, 3, 2)
"""Stones against level 1 for who loses to it."""


@dataclass(frozen=True)
class Rung:
    """One kind of game; the person plays Black with the handicap stones."""

    level: int
    handicap: int


def rungs(levels: int, ratings: Mapping[int, float], points: int) -> list[Rung]:
    """Return all rungs, easiest first: handicap stones below level 1, levels above.

    Where two levels are so far apart that the board knows a handicap of half the way, a game with
    that handicap comes between them. `ratings` are the levels' Elo as far as they were measured.
    """
    table = [Rung(1, stones) for stones in _BELOW] + [Rung(1, 0)]
    for level in range(2, levels + 1):
        if level - 1 in ratings and level in ratings:
            lower, upper = ratings[level - 1], ratings[level]
            half = fair_handicap((lower + upper) / 2, upper, points)
            if half.stones and upper - lower >= 2 * ELO_A_RANK:
                table.append(Rung(level, half.stones))
        table.append(Rung(level, 0))
    return table


def next_rung(
    results: Iterable[bool | None],
    levels: int,
    ratings: Mapping[int, float] | None = None,
    points: int = 81,
) -> Rung:
    """Return the rung after these results, oldest first; None is a draw.

    >>> next_rung([], 10), next_rung([True, True, False], 10)
    (Rung(level=2, handicap=0), Rung(level=3, handicap=0))
    """
    table = rungs(levels, ratings or {}, points)
    place = table.index(Rung(min(FIRST, levels), 0))
    for won in results:
        step = 0 if won is None else 1 if won else -1
        place = min(max(place + step, 0), len(table) - 1)
    return table[place]
