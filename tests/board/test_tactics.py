"""Unconditional life, eyes and ladders against slow references that copy whole boards."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.board.reference import around, spread

from tengen.board.counting import unconditional
from tengen.board.layout_kernels import BLACK, BORDER, WHITE
from tengen.board.tactics_kernels import eye_map, read_ladder, safety_scratch
from tengen.errors import TengenError

STONES = {".": 0, "x": 1, "o": 2}
Spot = tuple[int, int]


def read(picture: str) -> np.ndarray:
    return np.array([[STONES[c] for c in line] for line in picture.split()], np.int8)


# ----- The slow reference -----


def block(grid: np.ndarray, spot: Spot) -> frozenset[Spot]:
    return spread(grid, spot)


def slow_liberties(grid: np.ndarray, spot: Spot) -> set[Spot]:
    return {q for p in block(grid, spot) for q in around(grid, p) if grid[q] == 0}


def put(grid: np.ndarray, spot: Spot, colour: int) -> tuple[np.ndarray, set[Spot]] | None:
    """Return the board after a move and the stones it took; None for suicide."""
    new = grid.copy()
    new[spot] = colour
    taken: set[Spot] = set()
    for q in around(new, spot):
        if new[q] == 3 - colour and not slow_liberties(new, q):
            taken |= block(new, q)
    for q in taken:
        new[q] = 0
    return (new, taken) if slow_liberties(new, spot) else None


def ko_after(new: np.ndarray, spot: Spot, taken: set[Spot]) -> Spot | None:
    if len(taken) == 1 and len(block(new, spot)) == 1 and len(slow_liberties(new, spot)) == 1:
        return next(iter(taken))
    return None


def slow_captured(grid: np.ndarray, spot: Spot, attacking: bool, ko: Spot | None) -> bool:
    """Tell whether the block at `spot` falls to nothing but atari."""
    colour = int(grid[spot])
    libs = slow_liberties(grid, spot)
    if attacking:
        if len(libs) == 1:
            return libs != {ko}
        if len(libs) > 2:
            return False
        for move in libs - {ko}:
            done = put(grid, move, 3 - colour)
            if done is not None and len(slow_liberties(done[0], spot)) == 1:
                if slow_captured(done[0], spot, False, ko_after(done[0], move, done[1])):
                    return True
        return False
    if len(libs) > 1:
        return False
    saves = set(libs)
    for p in block(grid, spot):
        for q in around(grid, p):
            if grid[q] == 3 - colour and len(slow_liberties(grid, q)) == 1:
                saves |= slow_liberties(grid, q)
    for move in saves - {ko}:
        done = put(grid, move, colour)
        if done is None:
            continue
        if len(slow_liberties(done[0], spot)) > 2:
            return False
        if not slow_captured(done[0], spot, True, ko_after(done[0], move, done[1])):
            return False
    return True


def slow_benson(grid: np.ndarray, colour: int) -> tuple[np.ndarray, np.ndarray]:
    """Follow Benson's paper with sets."""
    spots = [(r, c) for r in range(grid.shape[0]) for c in range(grid.shape[1])]
    blocks = {block(grid, p) for p in spots if grid[p] == colour}
    others = {0, 3 - colour}
    regions = {spread(grid, p, others) for p in spots if grid[p] != colour}

    def touches(b: frozenset[Spot], r: frozenset[Spot]) -> bool:
        return any(q in b for p in r for q in around(grid, p))

    def vital(b: frozenset[Spot], r: frozenset[Spot]) -> bool:
        empty = [p for p in r if grid[p] == 0]
        return bool(empty) and all(any(q in b for q in around(grid, p)) for p in empty)

    while True:
        kept = {b for b in blocks if sum(vital(b, r) for r in regions) >= 2}
        left = {r for r in regions if all(b in kept for b in blocks if touches(b, r))}
        if kept == blocks and left == regions:
            break
        # A region that touches a block that was dropped is lost for good.
        regions = {r for r in left if not any(touches(b, r) for b in blocks - kept)}
        blocks = kept
    stones = np.zeros(grid.shape, bool)
    points = np.zeros(grid.shape, bool)
    for b in blocks:
        for p in b:
            stones[p] = True
    for r in regions:
        if any(vital(b, r) for b in blocks):
            for p in r:
                points[p] = True
    return stones, points


def settle(grid: np.ndarray) -> np.ndarray:
    """Take off stones without liberties, Black's first, until the position can exist."""
    grid = grid.copy()
    for colour in (BLACK, WHITE):
        for r in range(grid.shape[0]):
            for c in range(grid.shape[1]):
                if grid[r, c] == colour and not slow_liberties(grid, (r, c)):
                    for p in block(grid, (r, c)):
                        grid[p] = 0
    return grid


def grids(letters: str, high: int) -> st.SearchStrategy[np.ndarray]:
    return st.tuples(st.integers(2, high), st.integers(2, high)).flatmap(
        lambda size: st.lists(
            st.lists(st.sampled_from(letters), min_size=size[1], max_size=size[1]),
            min_size=size[0],
            max_size=size[0],
        ).map(lambda rows: settle(np.array([[STONES[c] for c in row] for row in rows], np.int8)))
    )


# ----- Unconditional life -----


def test_two_eyes_live() -> None:
    grid = read("""
        .x.xo..
        xxxxo..
        ooooo..
        """)
    safe = unconditional(grid, BLACK)
    assert safe.stones.sum() == 6
    assert safe.points.sum() == 2
    assert not unconditional(grid, WHITE).stones.any()


def test_one_large_eye_is_not_unconditional_life() -> None:
    assert not unconditional(read("...xo\n...xo\nxxxxo\noooo."), BLACK).stones.any()


def test_shared_eyes_keep_several_blocks_alive() -> None:
    # Four blocks, each alive by the two regions it shares with its neighbours.
    grid = read("""
        .xxx.
        x.ox.
        xo.oo
        xx.o.
        ....o
        """)
    stones, points = slow_benson(grid, BLACK)
    safe = unconditional(grid, BLACK)
    assert np.array_equal(safe.stones, stones)
    assert np.array_equal(safe.points, points)
    ring = read("""
        x.xxo
        .xx.o
        xx.xo
        .xxxo
        ooooo
        """)
    assert unconditional(ring, BLACK).stones.sum() == np.count_nonzero(ring == BLACK)


def test_an_empty_region_off_the_block_is_not_vital() -> None:
    # Of the left region one point does not touch the block: White could make a stand there.
    grid = read("""
        ...xo
        ...xo
        ...xo
        xxx.x
        """)
    assert not unconditional(grid, BLACK).stones.any()


@settings(max_examples=300)
@given(grids(".xxxo", 5), st.sampled_from([BLACK, WHITE]))
def test_benson_follows_the_paper(grid: np.ndarray, colour: int) -> None:
    stones, points = slow_benson(grid, colour)
    safe = unconditional(grid, colour)
    assert np.array_equal(safe.stones, stones)
    assert np.array_equal(safe.points, points)


@settings(max_examples=60)
@given(grids(".xx", 4), st.integers(0, 2**32 - 1))
def test_what_is_safe_survives_any_attack(grid: np.ndarray, seed: int) -> None:
    safe = unconditional(grid, BLACK).stones
    assume(safe.any())
    rng = np.random.default_rng(seed)
    for _ in range(40):
        empty = np.argwhere(grid == 0)
        done = put(grid, tuple(rng.choice(empty)), WHITE)
        if done is not None:
            grid = done[0]
    assert (grid[safe] == BLACK).all()


# ----- Eyes -----


def line_of(grid: np.ndarray) -> np.ndarray:
    """Return the bordered line of a grid."""
    bordered = np.pad(grid, ((1, 1), (1, 0)), constant_values=BORDER)
    return np.append(bordered.ravel(), BORDER).astype(np.int64)


def eyes(grid: np.ndarray) -> np.ndarray:
    """Return the owner of each real eye, its negative for a false one."""
    line = line_of(grid)
    out = np.zeros_like(line)
    eye_map(line, grid.shape[1] + 1, out)
    return out[:-1].reshape(grid.shape[0] + 2, -1)[1:-1, 1:]


def test_real_and_false_eyes() -> None:
    found = eyes(read(".x.x. xxxxx oxox. x.xxx oxo.."))
    assert found[0].tolist() == [1, 0, 1, 0, 1]
    assert (found[2, 4], found[3, 1]) == (1, -1) and not (abs(found) == WHITE).any()


def slow_eye(grid: np.ndarray, spot: Spot, colour: int) -> int:
    """Return 1 for a real eye, -1 for a false one, 0 for none."""
    if grid[spot] != 0 or any(grid[q] != colour for q in around(grid, spot)):
        return 0
    r, c = spot
    corners = [(r + i, c + j) for i in (-1, 1) for j in (-1, 1)]
    inside = [q for q in corners if 0 <= q[0] < grid.shape[0] and 0 <= q[1] < grid.shape[1]]
    enemies = sum(grid[q] == 3 - colour for q in inside)
    return -1 if enemies > (1 if len(inside) == 4 else 0) else 1


@settings(max_examples=100)
@given(grids(".xxxxo", 6))
def test_eyes_follow_the_diagonal_rule(grid: np.ndarray) -> None:
    found = eyes(grid)
    for spot in np.ndindex(grid.shape):
        wanted = {colour * slow_eye(grid, spot, colour) for colour in (BLACK, WHITE)} - {0}
        assert {int(found[spot])} - {0} == wanted


# ----- Ladders -----


def ladder(grid: np.ndarray, spot: Spot, attacking: bool = True) -> Spot | None:
    """Return the move that decides the ladder on a block for the side to move, if there is one."""
    line, width = line_of(grid), grid.shape[1] + 1
    before, reads, scratch = line.copy(), np.zeros(1, np.int64), safety_scratch(len(line))
    point = (spot[0] + 1) * width + spot[1] + 1
    move = read_ladder(line, point, width, attacking, 0, reads, scratch)
    assert np.array_equal(line, before)
    return (move // width - 1, move % width - 1) if move else None


LADDER = """
    .........
    ..xx.....
    .xo......
    .........
    .........
    .........
    .........
    .........
    .........
    """


def test_a_ladder_works_until_something_stands_in_its_way() -> None:
    grid = read(LADDER)
    assert ladder(grid, (2, 2)) == (3, 2)
    grid[6, 6] = WHITE
    assert ladder(grid, (2, 2)) is None


def test_the_chased_block_may_capture_its_way_out() -> None:
    # Running leads nowhere, but a black stone next to the block is in atari itself.
    grid = read("""
        .ox...
        oxo.x.
        oxxx..
        oo....
        ......
        """)
    assert ladder(grid, (1, 2), False) == (0, 3)
    grid[0, 1] = 0
    assert ladder(grid, (1, 2), False) is None


@settings(max_examples=300)
@given(grids("...xxo", 5), st.integers(0, 24))
def test_ladders_agree_with_the_slow_reading(grid: np.ndarray, pick: int) -> None:
    stones = np.argwhere(grid > 0)
    assume(len(stones) > 0)
    spot: Spot = tuple(int(v) for v in stones[pick % len(stones)])
    libs = slow_liberties(grid, spot)
    if len(libs) == 1:
        assert (ladder(grid, spot, False) is None) == slow_captured(grid, spot, False, None)
    assert (ladder(grid, spot) is not None) == slow_captured(grid, spot, True, None)


def test_bad_input_is_named() -> None:
    with pytest.raises(TengenError, match="neither BLACK"):
        unconditional(read("..."), 0)
    with pytest.raises(TengenError, match="rows and columns"):
        unconditional(np.zeros(3, np.int8), BLACK)
