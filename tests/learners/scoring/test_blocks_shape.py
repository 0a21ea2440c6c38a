"""Compare split points and ladders with slow references, and with known shapes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tengen.learners.scoring.blocks_kernels import number_parts
from tengen.learners.scoring.blocks_shape_kernels import (
    LADDERS,
    READS,
    SPLITS,
    describe_ladders,
    describe_splits,
)

sys.path.insert(0, str(Path(__file__).parent))
from blocks_reference import Reference, grid_of, line_of, random_grid


def ours(grid):
    line = line_of(grid)
    n = len(line)
    part = np.empty(n, np.int64)
    colour, size = np.zeros(n, np.int64), np.zeros(n, np.int64)
    count = number_parts(line, grid.shape[1] + 1, part, colour, size)
    splits, ladders = np.full((count, SPLITS), 7.0), np.full((count, LADDERS), 7.0)
    describe_splits(line, *grid.shape, part, colour, count, splits)
    describe_ladders(line, *grid.shape, part, colour, count, ladders)
    np.testing.assert_array_equal(line, line_of(grid))
    return splits, ladders


class Slow(Reference):
    """Areas, split points and ladders with sets of points and recursion."""

    def is_split(self, p, area):
        window = {(p[0] + r, p[1] + c) for r in (-1, 0, 1) for c in (-1, 0, 1)} & area - {p}
        sides = [q for q in self.near(p) if q in window]
        if not sides:
            return False
        reached, todo = {sides[0]}, [sides[0]]
        while todo:
            for q in self.near(todo.pop()):
                if q in window and q not in reached:
                    reached.add(q)
                    todo.append(q)
        return not set(sides) <= reached

    def splits(self, area):
        return {p for p in area if self.grid[p] == 0 and self.is_split(p, area)}

    def room(self, block):
        colour = self.colour(block)
        out = np.zeros(SPLITS)
        for area in self.areas(colour):
            free = {p for p in area if self.grid[p] == 0}
            near, splits = free & self.rim(block), self.splits(area)
            if near and near == free:
                out[:3] += 1, len(free), len(splits)
            elif near:
                out[3:7] += 1, len(near), len(free - near), len(splits - near)
        [home] = [area for area in self.areas(3 - colour) if block <= area]
        out[7] = len(self.splits(home))
        return out


class Ladder:
    """Chase one block by atari alone; the owner runs out or takes a chaser. Simple ko."""

    def __init__(self, grid, target):
        self.target, self.owner, self.reads = target, int(grid[target]), 0

    def play(self, grid, p, colour):
        """Return the board after a move and the point forbidden by ko, None for suicide."""
        grid = grid.copy()
        grid[p] = colour
        taken = []
        for q in Reference(grid).near(p):
            if grid[q] == 3 - colour:
                now = Reference(grid)
                block = now.parts[now.number[q]]
                if not now.libs(block):
                    taken += block
                    for stone in block:
                        grid[stone] = 0
        now = Reference(grid)
        block = now.parts[now.number[p]]
        if not now.libs(block):
            return None
        lone = len(taken) == 1 and len(block) == 1 and len(now.libs(block)) == 1
        return grid, taken[0] if lone else None

    def caught(self, grid, ko):
        """Tell whether the chaser, to move, takes the block."""
        self.reads += 1
        now = Reference(grid)
        libs = now.libs(now.parts[now.number[self.target]])
        if len(libs) == 1:
            return libs != {ko}
        if len(libs) != 2 or self.reads > READS:
            return False
        for p in sorted(libs - {ko}):
            after = self.play(grid, p, 3 - self.owner)
            if after is not None:
                then = Reference(after[0])
                free = then.libs(then.parts[then.number[self.target]])
                if len(free) == 1 and not self.escapes(*after):
                    return True
        return False

    def escapes(self, grid, ko):
        """Tell whether the owner, to move, gets the block out of atari for good."""
        self.reads += 1
        now = Reference(grid)
        block = now.parts[now.number[self.target]]
        chasers = {now.number[q] for q in now.rim(block) if grid[q] == 3 - self.owner}
        moves = set(now.libs(block))
        for number in chasers:
            if len(now.libs(now.parts[number])) == 1:
                moves |= now.libs(now.parts[number])
        for p in sorted(moves - {ko}):
            after = self.play(grid, p, self.owner)
            if after is not None and not self.caught(*after):
                return True
        return False


def slow_ladders(slow, block):
    """Return the four numbers of a block, None if the ladder is too long to compare."""
    target = min(block)
    free = len(slow.libs(block))
    if free not in (1, 2):
        return np.zeros(LADDERS)
    chase, run = Ladder(slow.grid, target), Ladder(slow.grid, target)
    caught = chase.caught(slow.grid, None)
    escapes = free == 1 and run.escapes(slow.grid, None)
    if max(chase.reads, run.reads) > READS // 4:
        return None
    one = free == 1
    return np.array([caught, one and not escapes, escapes, not one and not caught], float)


@pytest.mark.parametrize("shape", [(9, 9), (5, 7), (2, 2), (6, 6)])
def test_rooms_and_ladders_agree_with_the_references(shape):
    rng = np.random.default_rng(11)
    compared = np.zeros(LADDERS)
    for moves in (4, 12, 25, 40, shape[0] * shape[1]):
        slow = Slow(random_grid(rng, *shape, moves))
        splits, ladders = ours(slow.grid)
        for number, block in enumerate(slow.parts):
            if slow.colour(block) == 0:
                assert not splits[number].any() and not ladders[number].any()
                continue
            np.testing.assert_array_equal(splits[number], slow.room(block))
            wanted = slow_ladders(slow, block)
            if wanted is not None:
                np.testing.assert_array_equal(ladders[number], wanted)
                compared += wanted
    if shape == (9, 9):
        assert (compared > 0).all()  # all four kinds were met


def test_a_middle_point_splits_an_eye_of_three_and_a_square_has_none():
    straight = grid_of("X . . . X\nX X X X X\nO O O O O\n. . . . .")
    splits, _ = ours(straight)
    assert splits[0, :3].tolist() == [1, 3, 1]
    square = grid_of("X . . X O\nX . . X O\nX X X X O\nO O O O .")
    assert ours(square)[0][0, :3].tolist() == [1, 4, 0]
    # The middle of a pyramid of four splits it, and the block does not touch it.
    pyramid = grid_of("X . . . X\nX X . X X\nX X X X X\nO O O O O")
    assert ours(pyramid)[0][0, :7].tolist() == [0, 0, 0, 1, 3, 1, 1]


LADDER = """
. . . . . . .
. . X . . . .
. X O . . . .
. X O X . . .
. . X . . . .
. . . . . . .
"""


@pytest.mark.parametrize("breaker", [None, (1, 4)])
def test_a_ladder_works_until_a_stone_breaks_it(breaker):
    grid = grid_of(LADDER)
    if breaker:
        grid[breaker] = 2
    number = Slow(grid).number[(2, 2)]
    wanted = [1, 0, 1, 0] if breaker else [1, 1, 0, 0]
    assert ours(grid)[1][number].tolist() == wanted
