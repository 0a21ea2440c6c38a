"""The games of a tournament, each with its seed.

A game is identified by its pairing and its number. Its seed follows from the tournament's seed, the
two names and the number, so that more games or more players do not change the others. Each opening
is played twice, with colours changed, so that it need not be fair.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from tengen.arena.config import Conditions, Entrant, OpeningSettings, Tournament
from tengen.board import BLACK, PASS, WHITE, Board, play_random
from tengen.board.symmetry import elements, transform
from tengen.errors import SpecError, TengenError
from tengen.parallel import spawn_seeds

Opening = tuple[int, ...]
"""Points, Black first."""

# Draws of a random opening before a repetition is accepted: small boards have few.
_TRIES = 50


def openings_of(
    openings: OpeningSettings, conditions: Conditions, *, count: int, seed: int
) -> list[Opening]:
    """Return `count` openings; a longer list begins like a shorter one.

    Random ones differ from each other, also by symmetry, as long as there are enough.
    """
    if openings.file is not None:
        known = read_openings(openings.file, openings.plies, conditions)
        order = np.random.default_rng(seed).permutation(len(known))
        return [known[int(order[i % len(known)])] for i in range(count)]
    return random_openings(openings.plies, conditions, count=count, seed=seed)


def random_openings(plies: int, conditions: Conditions, *, count: int, seed: int) -> list[Opening]:
    """Return openings of uniformly random legal moves; no passes."""
    rng = np.random.default_rng(seed)
    found: list[Opening] = []
    seen: set[bytes] = set()
    for _ in range(count):
        for _ in range(_TRIES):
            board = play_random(_empty(conditions), plies, rng)
            picture = canonical(board)
            if picture not in seen:
                break
        seen.add(picture)
        found.append(tuple(point for _, point in board.moves))
    return found


@lru_cache(maxsize=8)
def read_openings(path: str, plies: int, conditions: Conditions) -> list[Opening]:
    """Return the first plies of every game of a file that fits the board, each opening once.

    Shorter games and games with setup stones, passes or moves out of turn are left out.
    """
    from tengen.records import read_games

    found: dict[bytes, Opening] = {}
    for record in read_games(path, on_fault=lambda fault: None):
        if (record.rows, record.cols) != (conditions.rows, conditions.cols) or record.setup:
            continue
        moves = record.moves[:plies]
        colours = ([BLACK, WHITE] * plies)[:plies]
        if [c for c, _ in moves] != colours or any(point == PASS for _, point in moves):
            continue
        board = _empty(conditions)
        try:
            for colour, point in moves:
                board.play(point, colour)
        except TengenError:
            continue
        found.setdefault(canonical(board), tuple(point for _, point in moves))
    if not found:
        raise SpecError(
            f"{path}: no opening of {plies} plies for a {conditions.rows}x{conditions.cols} board"
        )
    return list(found.values())


def canonical(board: Board) -> bytes:
    """Return bytes of the stones that are the same for all turned and mirrored boards."""
    grid = board.grid()
    pictures = (transform(grid, element) for element in elements(board.rows, board.cols))
    return min(np.ascontiguousarray(picture).tobytes() for picture in pictures)


def _empty(conditions: Conditions) -> Board:
    return Board(conditions.rows, conditions.cols, rules=conditions.rules, komi=conditions.komi)


# ----- Games -----

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
