"""Describe blocks slowly, from the paper's definitions, with sets of points."""

from __future__ import annotations

import numpy as np
from tests.board.reference import around, spread

from tengen.board import Board, play_random
from tengen.board.counting import count_territory, unconditional


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
    return play_random(Board(rows, cols), moves, rng).grid()


class Reference:
    """The paper's features with sets of points; slow on purpose."""

    def __init__(self, grid):
        self.grid = grid
        self.rows, self.cols = grid.shape
        self.points = [(r, c) for r in range(self.rows) for c in range(self.cols)]
        self.number, self.parts = {}, []
        for p in self.points:
            if p not in self.number:
                self.parts.append(spread(grid, p))
                self.number |= dict.fromkeys(self.parts[-1], len(self.parts) - 1)

    def near(self, p):
        return around(self.grid, p)

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
        return len({q for q in self.rim(spread(grid, p)) if grid[q] == 0})

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
        chain = self.chain(i)
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

    def chain(self, i):
        """Return the blocks of a colour that shared liberties join to block i."""
        colour, chain = self.colour(self.parts[i]), {i}
        while True:
            free = set().union(*(self.libs(self.parts[j]) for j in chain))
            more = {self.number[q] for p in free for q in self.near(p) if self.grid[q] == colour}
            if more <= chain:
                return chain
            chain = chain | more

    def areas(self, colour):
        """Return the connected sets of points that do not hold a colour."""
        other = self.grid != colour
        return {spread(other, p) for p in self.points if other[p]}


class Context(Reference):
    """What surrounds a block, given who owned what in playouts (4 grids: kind * 2 + mover)."""

    def __init__(self, grid, owned):
        super().__init__(grid)
        self.owned = owned
        self.light, self.heavy = (owned[0] + owned[1]) / 2, (owned[2] + owned[3]) / 2
        self.safe = {c: unconditional(grid, c) for c in (1, 2)}
        self.sign = {1: 1.0, 2: -1.0}

    def eye(self, p):
        """Return whose one-point eye p is, his negative for a false one, 0 for none."""
        around = {int(self.grid[q]) for q in self.near(p)}
        if self.grid[p] != 0 or len(around) != 1 or 0 in around:
            return 0
        [owner] = around
        corners = [(p[0] + r, p[1] + c) for r in (-1, 1) for c in (-1, 1)]
        inside = [q for q in corners if q in self.number]
        enemies = sum(self.grid[q] == 3 - owner for q in inside)
        return -owner if enemies + (len(inside) < 4) >= 2 else owner

    def mean(self, block, ownership):
        return self.sign[self.colour(block)] * np.mean([ownership[p] for p in block])

    def spread(self, blocks):
        """Return the least, the largest and the mean by stones of blocks' heavy ownership."""
        means = [self.mean(b, self.heavy) for b in blocks]
        return [min(means), max(means), np.average(means, weights=[len(b) for b in blocks])]

    def beside(self, points, colour):
        numbers = {self.number[q] for q in self.rim(points) if self.grid[q] == colour}
        return [self.parts[i] for i in sorted(numbers)]

    def surroundings(self, i):
        block = self.parts[i]
        colour = self.colour(block)
        sign, enemy = self.sign[colour], 3 - colour
        f = np.zeros(40)
        first = colour - 1
        for at, kind in ((0, 0), (2, 2)):
            f[at] = sign * np.mean([self.owned[kind + first][p] for p in block])
            f[at + 1] = sign * np.mean([self.owned[kind + 1 - first][p] for p in block])
        f[4], f[5] = self.mean(block, self.heavy), self.mean(block, self.light)
        f[6] = any(self.safe[colour].stones[p] for p in block)
        f[7] = any(self.safe[enemy].points[p] for p in block)
        f[8] = min(sign * self.heavy[p] for p in block)
        free = self.libs(block)
        if free:
            f[9] = sign * np.mean([self.heavy[p] for p in free])
            f[10] = sign * np.mean([self.light[p] for p in free])
        f[11] = sum(self.eye(p) == colour for p in free)
        f[12] = sum(self.eye(p) == -colour for p in free)
        foes = self.beside(block, enemy)
        f[13] = sum(self.safe[enemy].stones[next(iter(b))] for b in foes)
        near = [a for a in self.areas(colour) if a & self.rim(block)]
        f[14] = len(near)
        means = [sign * np.mean([self.heavy[p] for p in a]) for a in near]
        mine = [a for a, mean in zip(near, means, strict=True) if mean > 0.4]
        f[15], f[16] = len(mine), sum(map(len, mine))
        f[17] = max(map(len, mine), default=0)
        f[18] = sum(self.grid[p] != 0 for a in mine for p in a)
        f[19] = max([0.0, *means])
        around = [q for p in block for q in self.points if abs(p[0] - q[0]) + abs(p[1] - q[1]) < 3]
        own, other = (sum(self.grid[q] == c for q in around) for c in (colour, enemy))
        f[20] = (own - other) / (own + other)
        if foes:
            f[21:24] = self.spread(foes)
        else:
            f[24] = 1
        chain = [self.parts[j] for j in sorted(self.chain(i))]
        sizes = [len(b) for b in chain]
        f[25] = np.average([self.mean(b, self.heavy) for b in chain], weights=sizes)
        f[26] = np.average([self.mean(b, self.light) for b in chain], weights=sizes)
        f[27] = max((self.mean(b, self.heavy) for b in chain if b != block), default=f[4])
        [home] = [a for a in self.areas(enemy) if block <= a]
        f[28], f[29] = len(home), sum(self.grid[p] != 0 for p in home)
        f[30] = sign * np.mean([self.heavy[p] for p in home])
        f[31] = sum(self.eye(p) == colour for p in home)
        f[32] = sum(self.eye(p) == -colour for p in home)
        friends = {self.number[p] for p in home if self.grid[p] == colour}
        f[33] = len(friends)
        f[34] = sum(self.safe[colour].stones[next(iter(self.parts[j]))] for j in friends)
        foes = self.beside(home, enemy)
        if foes:
            f[35:38] = self.spread(foes)
        f[38], f[39] = len(home) / self.grid.size, len(block) / self.grid.size
        return f


class Groups(Reference):
    """What becomes of the groups when the blocks below one half are taken off."""

    def __init__(self, grid, alive):
        super().__init__(grid)
        self.alive = alive
        dead = np.zeros(grid.shape, np.bool_)
        for p in self.points:
            dead[p] = grid[p] > 0 and alive[self.number[p]] < 0.5
        self.left = Reference(np.where(dead, 0, grid))
        self.fields = [f for f in self.left.parts if self.left.colour(f) == 0]
        self.seki = count_territory(grid, dead).seki
        self.group = {i: {i} for i in range(len(self.parts)) if self.lives(i)}
        for field in self.fields:
            around = {self.number[q] for q in self.left.rim(field)}
            if len({self.colour(self.parts[i]) for i in around}) == 1:
                joined = set().union(*(self.group[i] for i in around))
                for i in joined:
                    self.group[i] = joined

    def lives(self, i):
        return self.colour(self.parts[i]) > 0 and self.alive[i] >= 0.5

    def is_own(self, field, group):
        """Tell whether only this group touches a field."""
        around = {self.number[q] for q in self.left.rim(field)}
        return bool(around) and around <= group

    def facts(self, i):
        """Return what the group of a living block has, by name."""
        group = self.group[i]
        enemy = 3 - self.colour(self.parts[i])
        stones = set().union(*(self.parts[j] for j in group))
        own = [f for f in self.fields if self.is_own(f, group)]
        prey = [p for f in own for p in f if self.grid[p] == enemy]
        shared = [f for f in self.fields if self.left.touching(f) == {1, 2}]
        disputed = set().union(*shared)
        return {
            "fields": len(own),
            "ground": sum(map(len, own)),
            "largest": max(map(len, own), default=0),
            "stones": len(stones),
            "blocks": len(group),
            "mean": sum(self.alive[j] * len(self.parts[j]) for j in group) / len(stones),
            "least": min(self.alive[j] for j in group),
            "prey": len(prey),
            "doubt": max((self.alive[self.number[p]] for p in prey), default=0),
            "dame": sum(q in disputed for p in stones for q in self.near(p)),
            "seki": any(self.seki[p] for p in stones),
        }

    def describe(self, i):
        block = self.parts[i]
        colour = self.colour(block)
        f = np.zeros(26)
        f[0], f[9], f[14], f[18] = self.alive[i], 1, 9, 1
        place = block
        if self.lives(i):
            own = self.facts(i)
            names = ("fields", "ground", "largest", "stones", "blocks", "mean", "least")
            f[1:9] = [1, *(own[name] for name in names)]
            f[10:14] = own["prey"], own["doubt"], own["dame"], own["seki"]
            f[21] = self.seki[next(iter(block))]
        else:
            [place] = [field for field in self.fields if block <= field]
            f[22] = len(place)
            f[23] = sum(self.grid[p] == colour for p in place)
            f[24] = sum(self.grid[p] == 3 - colour for p in place)
            f[25] = any(self.left.grid[q] == colour for q in self.left.rim(place))
        near = [q for p in place for q in self.near(p) if self.left.grid[q] == 3 - colour]
        for own in (self.facts(self.number[q]) for q in near):
            f[14], f[15] = min(f[14], own["fields"]), max(f[15], own["ground"])
            f[16], f[17] = max(f[16], own["seki"]), max(f[17], own["stones"])
            f[18], f[20] = min(f[18], own["mean"]), max(f[20], own["least"])
            f[9] = min(f[9], own["least"])
        fallen = [q for q in self.rim(block) if self.grid[q] > 0 and self.left.grid[q] == 0]
        f[19] = max((self.alive[self.number[q]] for q in fallen), default=0)
        return f


class Bonds(Context):
    """Blocks of one colour and area whose playouts agree, and the weakest enemies beside them."""

    HEAVY_GAP, LIGHT_GAP = 0.06, 0.15

    def __init__(self, grid, mean_h, mean_l):
        super().__init__(grid, np.zeros((4, *grid.shape)))
        self.mean_h = mean_h
        stones = [i for i, b in enumerate(self.parts) if self.colour(b)]
        self.bond = {i: {i} for i in stones}
        for i in stones:
            for j in stones:
                alike = abs(mean_h[i] - mean_h[j]) < self.HEAVY_GAP
                alike &= abs(mean_l[i] - mean_l[j]) < self.LIGHT_GAP
                if alike and self.home(i) == self.home(j):
                    joined = self.bond[i] | self.bond[j]
                    for k in joined:
                        self.bond[k] = joined

    def home(self, i):
        """Return the colour of a block and the area without enemies that it lies in."""
        colour = self.colour(self.parts[i])
        [area] = [a for a in self.areas(3 - colour) if self.parts[i] <= a]
        return colour, frozenset(area)

    def stones(self, bond):
        return set().union(*(self.parts[j] for j in bond))

    def mean_of(self, bond):
        weights = [len(self.parts[j]) for j in sorted(bond)]
        return np.average([self.mean_h[j] for j in sorted(bond)], weights=weights)

    def facts(self, bond):
        stones = self.stones(bond)
        colour = int(self.grid[next(iter(stones))])
        free = self.libs(stones)
        mine = {p: self.after(p, colour) for p in free}
        theirs = {p: self.after(p, 3 - colour) for p in free}
        regions = {self.number[p] for p in free}
        own = [self.parts[r] for r in regions if self.touching(self.parts[r]) == {colour}]
        return [
            len(bond), len(stones), self.mean_of(bond), len(free),
            sum(theirs[p] < 1 for p in free), sum(theirs[p] < 2 for p in free),
            sum(mine[p] < 2 for p in free), sum(mine[p] < 2 and theirs[p] < 2 for p in free),
            sum(all(self.grid[q] != 3 - colour for q in self.near(p)) for p in free),
            sum(self.eye(p) == colour for p in free), sum(self.eye(p) == -colour for p in free),
            len(regions), len(own), sum(map(len, own)),
        ]  # fmt: skip

    def describe(self, i):
        bond = self.bond[i]
        stones = self.stones(bond)
        own = self.facts(bond)
        f = np.zeros(24)
        f[:14] = own
        enemy = 3 - self.colour(self.parts[i])
        foes = [self.bond[self.number[q]] for q in self.rim(stones) if self.grid[q] == enemy]
        if foes:
            weakest = min(foes, key=lambda b: (self.mean_of(b), min(b)))
            other = self.facts(weakest)
            shared = self.libs(stones) & self.libs(self.stones(weakest))
            f[14:] = [1, other[2], other[1], other[3], other[8], other[9], other[12], len(shared),
                      own[3] - other[3], other[5]]  # fmt: skip
        return f
