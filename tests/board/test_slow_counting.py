"""Japanese counting, written down anew and slowly, and the board's."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.board.reference import around

from tengen.board import BLACK, PASS, WHITE, Board, play_random
from tengen.board.counting import count_area, count_territory

Place = tuple[int, int]


def colours_around(grid: np.ndarray, places: frozenset[Place]) -> set[int]:
    return {grid[q] for p in places for q in around(grid, p) if q not in places}


@settings(max_examples=60)
@given(st.integers(2, 7), st.integers(2, 7), st.booleans(), st.integers(0, 2**32 - 1))
def test_territory_and_area_differ_by_the_stones_played(
    rows: int, cols: int, suicide: bool, seed: int
) -> None:
    """Each stone is on the board, a prisoner or dead: the same game, counted in both ways."""
    rng, rules = np.random.default_rng(seed), "tromp_taylor" if suicide else "cgos"
    board = play_random(Board(rows, cols, rules=rules), int(rng.integers(3 * rows * cols)), rng)
    black, white = (
        sum(mover == colour and point != PASS for mover, point in board.moves)
        for colour in (BLACK, WHITE)
    )
    dead = np.zeros((rows, cols), np.bool_)
    for block in board.blocks():
        dead.flat[[stone.index for stone in block.stones]] = rng.random() < 0.3
    area = count_area(board.grid(), dead)
    territory = count_territory(board.grid(), dead, method="plain", prisoners=board.prisoners)
    assert area.score - territory.score == black - white


def hanging(grid: np.ndarray, place: Place, links: set[Place]) -> frozenset[Place]:
    """Return a stone's group: stones of its colour, and the links between them."""
    found, todo = {place}, [place]
    while todo:
        for q in around(grid, todo.pop()):
            if q not in found and (grid[q] == grid[place] or q in links):
                found.add(q)
                todo.append(q)
    return frozenset(found)


def count_slowly(grid: np.ndarray, colour: int) -> tuple[set[Place], set[Place]]:
    """Return a side's territory and what it has to fill; no two empty points are neighbours.

    A point is an eye of the one colour around it. Blocks hang together by their eyes and by the
    neutral points through which the enemy cannot cut. An eye is false if, without it, the blocks
    around it do not; it has to be filled if a side of it has no other eye. A group with fewer than
    two true eyes is in seki and has no territory.
    """
    empty = [p for p in np.ndindex(len(grid), len(grid[0])) if grid[p] == 0]
    eyes = {p for p in empty if colours_around(grid, frozenset([p])) == {colour}}
    links = eyes | {p for p in empty if not cut_at(grid, p, 3 - colour)}
    sides = {p: [hanging(grid, q, links - {p}) for q in around(grid, p)] for p in eyes}
    true = {p for p in eyes if len(set(sides[p])) == 1}
    living = {p for p in eyes if len(true & frozenset().union(*sides[p], {p})) >= 2}
    filled = {p for p in living - true if not all(side & true for side in sides[p])}
    return living - filled, filled


def cut_at(grid: np.ndarray, place: Place, enemy: int) -> bool:
    """Return whether a point lies between two stones of the enemy, or one and the edge."""
    (r, c), rows, cols = place, len(grid), len(grid[0])
    for pair in (((r - 1, c), (r + 1, c)), ((r, c - 1), (r, c + 1))):
        there = [grid[p] if 0 <= p[0] < rows and 0 <= p[1] < cols else None for p in pair]
        if enemy in there and set(there) <= {enemy, None}:
            return True
    return False


@st.composite
def full_boards(draw: st.DrawFn) -> np.ndarray:
    """Boards without neighbouring empty points: long blocks, many eyes."""
    rows, cols = draw(st.integers(2, 7)), draw(st.integers(2, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    split = np.add.outer(rng.normal(0, 1, rows), rng.normal(0, 1, cols))
    grid = np.where(split + rng.normal(0, 0.5, (rows, cols)) > 0, BLACK, WHITE)
    for r, c in rng.permutation(list(np.ndindex(rows, cols)))[: int(rng.integers(rows * cols))]:
        if all(grid[q] for q in around(grid, (r, c))):
            grid[r, c] = 0
    return grid.astype(np.int8)


@settings(max_examples=400)
@given(full_boards())
def test_territory_eyes_and_seki_are_those_of_the_slow_count(grid: np.ndarray) -> None:
    count = count_territory(grid)
    must_fill = set[Place]()
    for colour in (BLACK, WHITE):
        territory, filled = count_slowly(grid, colour)
        assert set(map(tuple, np.argwhere(count.territory(colour)).tolist())) == territory
        must_fill |= filled
    assert set(map(tuple, np.argwhere(count.false_eyes).tolist())) == must_fill
