"""Choose the next game for a learner: level and handicap follow the last results.

Every win climbs one rung, every loss goes down one. Nothing is kept but the games themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

START = 4
"""The first rung: level 2 without handicap."""


@dataclass(frozen=True)
class Rung:
    """One kind of game; the person plays Black with the handicap stones."""

    level: int
    handicap: int


def rungs(levels: int) -> list[Rung]:
    """Return all rungs, easiest first: handicap stones below level 1, levels above."""
    return [Rung(1, stones) for stones in (4, 3, 2)] + [Rung(n, 0) for n in range(1, levels + 1)]


def next_rung(results: Iterable[bool | None], levels: int) -> Rung:
    """Return the rung after these results, oldest first; None is a draw.

    >>> next_rung([], 10), next_rung([True, True, False], 10)
    (Rung(level=2, handicap=0), Rung(level=3, handicap=0))
    """
    table = rungs(levels)
    place = START
    for won in results:
        step = 0 if won is None else 1 if won else -1
        place = min(max(place + step, 0), len(table) - 1)
    return table[place]
