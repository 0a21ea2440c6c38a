"""Say where handicap stones go, and which stones cannot stand before the first move; play none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tengen.board.colours import BLACK, COLOUR_NAMES, WHITE
from tengen.board.coordinates import Point, format_gtp, point_of, point_of_move
from tengen.errors import TengenError

HANDICAP_KOMI = 0.5
"""Komi of a game with handicap stones when nobody names one."""


def handicap_points(rows: int, cols: int, stones: int) -> list[Point]:
    """Return the usual points for handicap stones (GTP's fixed handicap).

    Raises
    ------
    TengenError
        If boards of this size have no usual points for so many stones.
    """
    odd = rows % 2 and cols % 2
    most = 0 if min(rows, cols) < 7 else 9 if odd and min(rows, cols) >= 9 else 4
    if not 2 <= stones <= most:
        there = f"2 to {most}" if most >= 2 else "none"
        raise TengenError(f"no fixed handicap of {stones} stones on {rows}x{cols} (there: {there})")

    def lines(n: int) -> tuple[int, int, int]:
        edge = 3 if n >= 13 else 2
        return edge, n // 2, n - 1 - edge

    (top, middle, bottom), (left, centre, right) = lines(rows), lines(cols)
    order = [(bottom, left), (top, right), (top, left), (bottom, right)]
    if stones >= 6:
        order += [(middle, left), (middle, right)]
    if stones >= 8:
        order += [(top, centre), (bottom, centre)]
    chosen = order[:stones]
    if stones in (5, 7, 9):
        chosen = [*order[: stones - 1], (middle, centre)]
    return [point_of_move(place, rows, cols) for place in chosen]


def refuse_dead_blocks(grid: NDArray[np.int8]) -> None:
    """Raise `TengenError` if a block of the grid has no liberty."""
    rows, cols = grid.shape
    free = np.zeros((rows, cols), bool)
    empty = np.pad(grid == 0, 1)
    free |= empty[:-2, 1:-1] | empty[2:, 1:-1] | empty[1:-1, :-2] | empty[1:-1, 2:]
    for colour in (BLACK, WHITE):
        stones = grid == colour
        alive = stones & free
        while True:
            wide = np.pad(alive, 1)
            near = wide[:-2, 1:-1] | wide[2:, 1:-1] | wide[1:-1, :-2] | wide[1:-1, 2:]
            grown = alive | (near & stones)
            if (grown == alive).all():
                break
            alive = grown
        lost = stones & ~alive
        if lost.any():
            row, col = (int(i[0]) for i in np.nonzero(lost))
            name = format_gtp(point_of(row, col, cols), rows, cols)
            raise TengenError(f"the {COLOUR_NAMES[colour]} stone on {name} has no liberty")
