"""Describe blocks slowly, from the paper's definitions, with sets of points."""

from __future__ import annotations

import numpy as np


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
