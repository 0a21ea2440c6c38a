"""The first moves of games, so that deterministic players do not repeat a game.

An opening is a tuple of points, Black first. Each is played twice, with colours changed, so that it
need not be fair.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tengen.arena.config import Conditions, OpeningSettings
from tengen.board import BLACK, PASS, WHITE, Board, play_random
from tengen.board.symmetry import elements, transform
from tengen.errors import SpecError, TengenError

Opening = tuple[int, ...]

# Draws of a random opening before a repetition is accepted: small boards have few.
_TRIES = 50


def openings_of(
    openings: OpeningSettings, conditions: Conditions, *, count: int, seed: int
) -> list[Opening]:
    """Return `count` openings; a longer list begins like a shorter one.

    Random ones differ from each other, also by symmetry, as long as there are enough.

    Raises `SpecError` if a file of openings has none for this board.
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

    Raises `SpecError` if none is left.
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
