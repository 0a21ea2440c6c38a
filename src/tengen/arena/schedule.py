"""The games of a tournament, each with its seed.

A game is identified by its pairing and its number. Its seed follows from the tournament's seed, the
two names and the number, so that more games or more players do not change the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from tengen.arena.config import Conditions, Entrant, Tournament
from tengen.arena.openings import openings_of
from tengen.board import PASS
from tengen.parallel import spawn_seeds

GameKey = tuple[str, str, int]
"""The two players of the pairing and the number of the game from 0; even: the first is Black."""


@dataclass(frozen=True)
class GameJob:
    """Everything needed to play one game anywhere."""

    key: GameKey
    black: Entrant
    white: Entrant
    conditions: Conditions
    opening: tuple[int, ...]
    """Points the game begins with, Black first."""
    seed: int


def pairings(tournament: Tournament) -> list[tuple[str, str]]:
    """List who meets whom, each pairing once, in the order in which they are played."""
    names = [entrant.name for entrant in tournament.entrants]
    if tournament.kind == "gauntlet":
        others = [name for name in names if name not in tournament.challengers]
        found = [(challenger, other) for challenger in tournament.challengers for other in others]
    elif tournament.kind == "ladder":
        near = combinations(range(len(names)), 2)
        found = [(names[i], names[j]) for i, j in near if j - i <= tournament.reach]
    elif tournament.kind == "pairs":
        found = []
    else:
        found = list(combinations(names, 2))
    for pair in tournament.pairs:
        if pair not in found and pair[::-1] not in found:
            found.append(pair)
    return found


def schedule(tournament: Tournament) -> list[GameJob]:
    """List all games; every pairing gets its first opening before any gets its second."""
    plans = [list(_pairing_games(tournament, pair)) for pair in pairings(tournament)]
    rounds = range(0, tournament.games, 2)
    return [job for start in rounds for plan in plans for job in plan[start : start + 2]]


def _pairing_games(tournament: Tournament, pair: tuple[str, str]) -> Iterator[GameJob]:
    """Yield the games of one pairing: each opening twice, with colours changed."""
    first, second = (tournament.entrant(name) for name in pair)
    openings = openings_of(
        tournament.openings,
        tournament.conditions,
        count=(tournament.games + 1) // 2,
        seed=spawn_seeds(tournament.seed, 1, "openings", *pair)[0],
    )
    seeds = spawn_seeds(tournament.seed, tournament.games, "games", *pair)
    for number in range(tournament.games):
        swapped = number % 2 == 1
        opening = openings[number // 2]
        assert PASS not in opening
        yield GameJob(
            key=(*pair, number),
            black=second if swapped else first,
            white=first if swapped else second,
            conditions=tournament.conditions,
            opening=opening,
            seed=seeds[number],
        )
