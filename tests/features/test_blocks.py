"""Compare the block features with a slow reference written from the paper's definitions."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.board.shapes import shape_table
from tengen.features.blocks_attack_kernels import FALLS, HOLDS, attack
from tengen.features.blocks_context_kernels import GROUPS, SURROUNDINGS, flood_other
from tengen.features.blocks_kernels import PAPER, describe_blocks
from tengen.features.blocks_playout_kernels import finish


def line_of(grid):
    rows, cols = grid.shape
    out = np.full((rows + 2, cols + 1), 3, np.int64)
    out[1 : rows + 1, 1:] = grid
    return np.append(out.ravel(), 3)


def grid_of(picture):
    rows = [row.split() for row in picture.strip().splitlines()]
    return np.array([[".XO".index(c) for c in row] for row in rows], np.int8)


def random_grid(rng, rows, cols, moves):
    """Return a position of random legal moves, captures included."""
    from tengen.board import Board

    board = Board(rows, cols)
    for _ in range(moves):
        legal = [m for m in board.legal_moves if m > 0]
        if not legal:
            break
        board.play(int(rng.choice(legal)))
    return board.grid()


class Reference:
    """The paper's features with sets of points; slow on purpose."""

    def __init__(self, grid):
        self.grid = grid
        self.rows, self.cols = grid.shape
        self.points = [(r, c) for r in range(self.rows) for c in range(self.cols)]
        seen, self.parts = {}, []
        for p in self.points:
            if p not in seen:
                part, todo = {p}, [p]
                while todo:
                    for q in self.near(todo.pop()):
                        if q not in part and grid[q] == grid[p]:
                            part.add(q)
                            todo.append(q)
                for q in part:
                    seen[q] = len(self.parts)
                self.parts.append(frozenset(part))
        self.number = seen

    def near(self, p):
        r, c = p
        around = ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1))
        return [(a, b) for a, b in around if 0 <= a < self.rows and 0 <= b < self.cols]

    def rim(self, points):
        return {q for p in points for q in self.near(p)} - set(points)

    def libs(self, points):
        return {q for q in self.rim(points) if self.grid[q] == 0}

    def colour(self, part):
        return int(self.grid[next(iter(part))])

    def after(self, p, colour):
        """Return the liberties of the block at p once `colour` has played there."""
        grid = self.grid.copy()
        grid[p] = colour
        for q in self.near(p):
            if grid[q] == 3 - colour:
                block = self.parts[self.number[q]]
                if self.libs(block) == {p}:
                    for stone in block:
                        grid[stone] = 0
        block, todo = {p}, [p]
        while todo:
            for q in self.near(todo.pop()):
                if q not in block and grid[q] == colour:
                    block.add(q)
                    todo.append(q)
        return len({q for q in self.rim(block) if grid[q] == 0})

    def edges(self, p):
        return sorted((p[0], self.rows - 1 - p[0], p[1], self.cols - 1 - p[1]))[:2]

    def touching(self, region):
        return {int(self.grid[q]) for q in self.rim(region)}

    def regions(self, points, free, colour):
        near = [self.parts[i] for i in sorted({self.number[q] for q in self.libs(points)})]
        closed = [r for r in near if self.touching(r) == {colour}]
        eyes = [r for r in closed if len(r) < 5]
        open_ = [r for r in near if self.touching(r) == {1, 2}]
        cells = [p for r in closed for p in r]
        mean = np.mean([self.edges(p) for p in cells], axis=0) if cells else (0, 0)
        disputed = {p for r in open_ for p in r}

        def beside(c):
            return {p for p in disputed if any(self.grid[q] == c for q in self.near(p))}

        return [
            len(closed), len(cells), sum(len(self.rim(r)) for r in closed), *mean,
            len(eyes), sum(map(len, eyes)), sum(len(self.rim(r)) for r in eyes),
            len(open_), len(disputed & free), len(beside(colour)), len(beside(3 - colour)),
        ]  # fmt: skip

    def enemy(self, block, free):
        if block is None:
            return [0, 0, 0]
        return [len(self.rim(block)), len(self.libs(block)), len(self.libs(block) & free)]

    def weakest(self, numbers):
        return sorted(numbers, key=lambda i: (len(self.libs(self.parts[i])), len(self.parts[i]), i))

    def describe(self, i, below):
        block = self.parts[i]
        colour = self.colour(block)
        rim, free = self.rim(block), self.libs(block)
        second = {q for p in free for q in self.near(p) if self.grid[q] == 0} - free
        third = {q for p in second for q in self.near(p) if self.grid[q] == 0} - free - second
        rows, cols = [p[0] for p in block], [p[1] for p in block]
        foes = {self.number[q] for q in rim if self.grid[q] == 3 - colour}
        local = [
            len(block), len(rim), len(rim) - len(free), len(free),
            sum(self.after(p, 3 - colour) < below for p in free),
            sum(self.after(p, colour) == 1 for p in free),
            len(second), len(third), len(foes),
            *np.mean([self.edges(p) for p in block], axis=0),
            (max(rows) - min(rows) + 1) * (max(cols) - min(cols) + 1),
        ]  # fmt: skip
        chain = {i}
        while True:
            shared = set().union(*(self.libs(self.parts[j]) for j in chain))
            more = {
                self.number[q] for p in shared for q in self.near(p) if self.grid[q] == colour
            } | chain
            if more == chain:
                break
            chain = more
        stones = set().union(*(self.parts[j] for j in chain))
        chain_free = self.libs(stones)
        chain_foes = {
            self.number[q]
            for p in chain_free | stones
            for q in self.near(p)
            if self.grid[q] == 3 - colour
        }
        order = [self.parts[j] for j in self.weakest(foes)] + [None, None]
        last = [self.parts[j] for j in self.weakest(chain_foes)] + [None]
        return np.array([
            *local, *self.regions(block, free, colour),
            len(chain), len(stones), len(self.rim(stones)),
            *self.regions(stones, chain_free, colour),
            *self.enemy(order[0], free), *self.enemy(order[1], free),
            *self.enemy(last[0], chain_free),
        ], float)  # fmt: skip


def ours(grid, below=1):
    line = line_of(grid)
    n = len(line)
    part, chain = np.empty(n, np.int64), np.zeros(n, np.int64)
    colour, size = np.zeros(n, np.int64), np.zeros(n, np.int64)
    out = np.zeros((n, PAPER))
    count = describe_blocks(line, *grid.shape, below, part, colour, size, chain, out)
    return count, colour[:count], out[:count]


@pytest.mark.parametrize("shape", [(9, 9), (5, 7), (2, 2), (13, 13)])
@pytest.mark.parametrize("below", [1, 2])
def test_paper_features_agree_with_the_reference(shape, below):
    rng = np.random.default_rng(7)
    for moves in (3, 30, shape[0] * shape[1]):
        grid = random_grid(rng, *shape, moves)
        reference = Reference(grid)
        count, colour, features = ours(grid, below)
        assert count == len(reference.parts)
        for i in range(count):
            if colour[i]:
                np.testing.assert_allclose(features[i], reference.describe(i, below), atol=1e-9)
            else:
                assert not features[i].any()


def test_there_are_forty_six_and_forty_eight():
    from tengen.lab.scoring import SECOND_DISTANCES

    assert PAPER == 48
    assert PAPER - len(SECOND_DISTANCES) == 46


def test_a_block_without_liberty_is_not_played_out():
    grid = grid_of("X O .\nO O .\n. . .")
    counts = np.zeros((4, 9), np.int32)
    assert not finish(line_of(grid), 3, 3, 2, 2, 1, shape_table(), counts)
    assert not counts.any()


def test_playouts_keep_two_eyes_and_take_a_lone_stone():
    grid = grid_of(
        """
        . X . X O O O
        X X X X O . O
        O O O O O O .
        . O . O . . O
        O . O . O O .
        . X O O . O .
        . O . . O . O
        """
    )
    counts = np.zeros((4, 49), np.int32)
    assert finish(line_of(grid), 7, 7, 40, 40, 1, shape_table(), counts)
    assert (counts[:, 1] == 40).all()  # two eyes
    assert (counts[:, 5 * 7 + 1] < -30).all()


def reads(picture, target, first):
    grid = grid_of(picture)
    line = line_of(grid)
    width = grid.shape[1] + 1
    point = (target[0] + 1) * width + target[1] + 1
    area, stack = np.empty(len(line), np.int64), np.empty(len(line), np.int64)
    flood_other(line, width, 3 - line[point], area, stack)
    inside = (area == area[point]) & (line == 0)
    return attack(line, width, point, inside, first)


def test_the_search_knows_two_eyes_and_one():
    two = "X . X . X O .\nX X X X X O ."
    one = "X . O . .\nX X O . ."
    assert reads(two, (0, 0), 2) == HOLDS
    for first in (1, 2):
        assert reads(one, (0, 0), first) == FALLS


def test_the_search_knows_seki():
    # Two shared liberties between eyeless groups: whoever plays there is taken.
    seki = ". O X . O X .\n. O X . O X ."
    assert reads(seki, (0, 2), 2) == HOLDS
    assert reads(seki, (0, 4), 1) == HOLDS
    # One liberty less for Black, and White takes him.
    lost = ". O X . O O .\n. O X O . O ."
    assert reads(lost, (0, 2), 2) == FALLS


def test_lengths_are_what_the_scorer_expects():
    from tengen.learners.scoring.features import INPUTS, describe

    described = describe(grid_of("X . O\nX . O\nX . O"))
    assert described.features.shape == (3, INPUTS)
    assert PAPER + SURROUNDINGS + GROUPS < INPUTS
    assert described.sound
    assert list(described.colour) == [1, 0, 2]
