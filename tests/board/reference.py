"""Slow and obviously right: what is connected on a grid, and a Go board without caches."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

Place = tuple[int, int]


def around(grid: np.ndarray, place: Place) -> list[Place]:
    """Return the neighbours of a point."""
    (r, c), (rows, cols) = place, grid.shape
    near = ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1))
    return [(y, x) for y, x in near if 0 <= y < rows and 0 <= x < cols]


def spread(grid: np.ndarray, place: Place, values: Collection[int] = ()) -> frozenset[Place]:
    """Return the connected points with these values, its own by default, that contain `place`."""
    wanted, seen, todo = values or {grid[place]}, {place}, [place]
    while todo:
        for q in around(grid, todo.pop()):
            if q not in seen and grid[q] in wanted:
                seen.add(q)
                todo.append(q)
    return frozenset(seen)


class ReferenceBoard:
    """Positions are frozen dictionaries; every rule is applied by its definition."""

    def __init__(self, rows: int, cols: int, ko: str, suicide: bool) -> None:
        self.rows, self.cols, self.ko, self.suicide = rows, cols, ko, suicide
        self.stones: dict[Place, int] = {}
        self.turn = 1
        self.prisoners = {1: 0, 2: 0}
        self.seen: set[tuple[frozenset[tuple[Place, int]], int]] = set()
        self.before: dict[Place, int] | None = None  # the position before the last move
        self._note()

    def _note(self) -> None:
        key = frozenset(self.stones.items())
        self.seen.add((key, self.turn if self.ko == "situational" else 0))

    def neighbours(self, place: Place) -> Iterator[Place]:
        row, col = place
        for r, c in ((row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)):
            if 0 <= r < self.rows and 0 <= c < self.cols:
                yield r, c

    def block(self, stones: dict[Place, int], place: Place) -> tuple[set[Place], set[Place]]:
        colour, members, liberties, todo = stones[place], {place}, set(), [place]
        while todo:
            for q in self.neighbours(todo.pop()):
                if q not in stones:
                    liberties.add(q)
                elif stones[q] == colour and q not in members:
                    members.add(q)
                    todo.append(q)
        return members, liberties

    def after(self, place: Place, colour: int) -> tuple[dict[Place, int], int, int]:
        """Return the position after a stone, the enemy stones taken and the own stones lost."""
        stones = dict(self.stones)
        stones[place] = colour
        taken: set[Place] = set()
        for q in self.neighbours(place):
            if stones.get(q) == 3 - colour:
                members, liberties = self.block(stones, q)
                if not liberties:
                    taken |= members
        for q in taken:
            del stones[q]
        lost: set[Place] = set()
        members, liberties = self.block(stones, place)
        if not liberties:
            lost = members
            for q in lost:
                del stones[q]
        return stones, len(taken), len(lost)

    def is_legal(self, place: Place, colour: int) -> bool:
        if place in self.stones:
            return False
        stones, _, lost = self.after(place, colour)
        if lost == 1 or (lost and not self.suicide):
            return False  # a lone suicide changes nothing and is refused everywhere
        if self.ko == "simple":
            return stones != self.before
        key = frozenset(stones.items())
        return (key, 3 - colour if self.ko == "situational" else 0) not in self.seen

    def play(self, place: Place | None, colour: int) -> None:
        if place is None:
            self.before = None
        else:
            stones, taken, lost = self.after(place, colour)
            self.before, self.stones = self.stones, stones
            self.prisoners[colour] += taken
            self.prisoners[3 - colour] += lost
        self.turn = 3 - colour
        self._note()

    def area(self) -> int:
        score = sum(1 if c == 1 else -1 for c in self.stones.values())
        done: set[Place] = set()
        for row in range(self.rows):
            for col in range(self.cols):
                if (row, col) in self.stones or (row, col) in done:
                    continue
                region, todo, touches = {(row, col)}, [(row, col)], set()
                while todo:
                    for q in self.neighbours(todo.pop()):
                        if q in self.stones:
                            touches.add(self.stones[q])
                        elif q not in region:
                            region.add(q)
                            todo.append(q)
                done |= region
                if touches == {1}:
                    score += len(region)
                elif touches == {2}:
                    score -= len(region)
        return score
