"""Features of the blocks of a position, and tables of the blocks of many games.

A *part* is a block of stones or an empty region. Sets of points are rows of boolean matrices with a
column per point (row-major), relations of parts are square boolean matrices, and most features are
sums over such sets. Ownership by playouts is from the block's own view: +1 is its own. Playouts
have a constant seed and start with either side, so the same stones always give the same numbers.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, Float32Array, FloatArray, IntArray
from tengen.board import BLACK, WHITE
from tengen.board.coordinates import point_at
from tengen.board.counting import territory_margins
from tengen.board.counting_kernels import BLACK_SEKI_STONE, WHITE_SEKI_STONE, careful_kinds
from tengen.board.layout_kernels import BORDER
from tengen.board.playouts import shape_table
from tengen.board.tactics_kernels import (
    FALLS,
    HOLDS,
    MOST_POINTS,
    UNKNOWN,
    benson,
    eye_map,
    liberties_if_played,
    read_fight,
)
from tengen.errors import TengenError
from tengen.files import write_atomic
from tengen.records import GameArrays
from tengen.records.corpus import last_positions
from tengen.scoring.kernels import add_up, connect, find_common, finish

PAPER = 48
INPUTS = PAPER + 40 + 26 + 24 + 4
"""Number of features: the paper's, then surroundings, groups, bonds and attacks."""
# Of the surroundings: mean heavy and light ownership of the block's own stones, and Benson life.
HEAVY_MEAN, LIGHT_MEAN, UNCONDITIONAL = PAPER + 4, PAPER + 5, PAPER + 6
_LIGHT, _HEAVY = 24, 20  # light and heavy playouts for each side to begin
_SEED = 11
_EYE_LIMIT = 5  # an enclosed region smaller than this is called eyespace
_HEAVY_GAP, _LIGHT_GAP = 0.06, 0.15  # blocks whose mean ownership differs by less are bound
_ENEMY = np.array([0, WHITE, BLACK])
_COLOURS = np.array([[0], [BLACK], [WHITE]])
_SIGN = np.array([[1.0], [1.0], [-1.0]])  # turns Black's view into each colour's


def bordered(grid: NDArray[Any], border: int) -> NDArray[Any]:
    """Flatten a grid into a bordered line of points; fill off-board points with `border`."""
    rows, cols = grid.shape
    out = np.full((rows + 2, cols + 1), border, grid.dtype)
    out[1 : rows + 1, 1:] = grid
    return np.append(out.ravel(), np.asarray(border, grid.dtype))


def meets(a: BoolArray, b: BoolArray) -> BoolArray:
    """Return whether the set in row i of `a` intersects the set in row j of `b`."""
    out = np.zeros((len(a), len(b)), np.bool_)
    find_common(np.ascontiguousarray(a), np.ascontiguousarray(b), out)
    return out


def closure(joined: BoolArray) -> BoolArray:
    """Return the reflexive and transitive closure of a symmetric relation."""
    linked = joined | np.eye(len(joined), dtype=np.bool_)
    while True:
        further = meets(linked, linked)
        if (further == linked).all():
            return linked
        linked = further


def sums(sets: BoolArray, colours: IntArray, *facts: NDArray[Any]) -> FloatArray:
    """Add facts up over sets, in order: one row per set, one column per fact.

    A fact has one number per item, or three rows of them, indexed by the colour of the set.
    """
    values = np.empty((3, sets.shape[1], len(facts)))
    for k, fact in enumerate(facts):
        values[:, :, k] = fact
    out = np.zeros((len(sets), len(facts)))
    add_up(np.ascontiguousarray(sets), colours, values, out)
    return out


@lru_cache(maxsize=8)
def _distances(rows: int, cols: int) -> tuple[FloatArray, BoolArray]:
    """Return the distances to the two nearest edges, and which points are within two steps."""
    row, col = np.divmod(np.arange(rows * cols), cols)
    edges = np.sort(np.stack([row, rows - 1 - row, col, cols - 1 - col]), axis=0)[:2]
    return edges.astype(np.float64), abs(row[:, None] - row) + abs(col[:, None] - col) <= 2


def by_kind(owned: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the ownership in heavy and in light playouts, averaged over who moves first."""
    return (owned[2] + owned[3]) / 2, (owned[0] + owned[1]) / 2


class Parts:
    """The parts of a position (grid of EMPTY, BLACK, WHITE), numbered by their first points."""

    def __init__(self, grid: NDArray[np.int8]) -> None:
        self.grid = np.ascontiguousarray(grid, np.int8)
        self.line = bordered(self.grid.astype(np.int64), BORDER)
        self.part = np.empty(grid.shape, np.int64)  # number of the part of every point
        connect(self.grid, self.part)
        self.size = np.bincount(self.part.ravel())
        self.colour = np.zeros(len(self.size), np.int64)
        self.colour[self.part.ravel()] = self.grid.ravel()
        self.blocks = np.flatnonzero(self.colour)  # numbers of the parts that are stones


class PositionFeatures(Parts):
    """The parts of a position and their features; methods take playout results."""

    def __init__(self, grid: NDArray[np.int8]) -> None:
        super().__init__(grid)
        width, colour, stones = grid.shape[1] + 1, self.colour, self.colour > 0
        # Sets of points: those of every part, those adjacent to it, the empty ones among these.
        self.points = self.part.ravel() == np.arange(len(self.size))[:, None]
        self.rim = (self._beside(self.points) > 0) & ~self.points
        self.liberties = self.rim & (self.grid.ravel() == 0)
        # For both colours: the connected areas without stones of that colour, and the colour.
        sets = [self._sets(np.where(self.grid == c, -1, 0))[1] for c in (BLACK, WHITE)]
        self._areas = np.concatenate(sets), np.repeat([BLACK, WHITE], [len(each) for each in sets])
        # Of every point: the liberties, at most two, that each colour would have there; the owner
        # if it is a one-point eye, negated if the eye is false, else 0; the adjacent stones of
        # each colour.
        played, eyes = np.zeros((3, len(self.line)), np.int64), np.zeros(len(self.line), np.int64)
        liberties_if_played(self.line, width, played)
        eye_map(self.line, width, eyes)
        self._played, self._eyes = self._inside(played), self._inside(eyes)
        self._stones_beside = self._beside(self.grid.ravel() == _COLOURS).astype(np.int64)
        # Relations of parts: which touch, which are touching enemies, which blocks have the same
        # colour or opposite ones, which are chained together by shared liberties.
        self.adjacent = meets(self.rim, self.points)
        self._enemies = self.adjacent & stones & stones[:, None]
        self._same = (colour == colour[:, None]) & stones
        self._opposite = colour == np.where(stones, 3 - colour, -1)[:, None]
        self._chains = closure(meets(self.liberties, self.liberties) & self._same)
        # Of every part: bit 1 if it touches Black, bit 2 if White; the number of the area without
        # enemies in which it lies; summed over its points, the distances to the edges and how many
        # points touch each colour.
        self._touch = np.bitwise_or.reduce(np.where(self.adjacent, colour, 0), axis=1)
        areas, without = self._areas
        inside = areas[:, self.points.argmax(axis=1)].T & (without == 3 - colour[:, None])
        self.home: IntArray = inside.argmax(axis=1)
        edges, _ = _distances(*grid.shape)
        self._edges = self._sum(self.points, *edges, *(self._stones_beside > 0)[1:]).T

    def _inside(self, line: NDArray[Any]) -> NDArray[Any]:
        """Return the points of bordered lines, row-major."""
        rows, cols = self.grid.shape
        shape = *line.shape[:-1], rows + 2, cols + 1
        return line[..., :-1].reshape(shape)[..., 1:-1, 1:].reshape(*line.shape[:-1], rows * cols)

    def _beside(self, masks: BoolArray) -> NDArray[np.int8]:
        """Return how many neighbours of each point are in each set."""
        stack = masks.reshape(-1, *self.grid.shape).astype(np.int8)
        out = np.zeros_like(stack)
        out[:, 1:] += stack[:, :-1]
        out[:, :-1] += stack[:, 1:]
        out[:, :, 1:] += stack[:, :, :-1]
        out[:, :, :-1] += stack[:, :, 1:]
        return out.reshape(masks.shape)

    def _sets(self, kind: NDArray[Any]) -> tuple[IntArray, BoolArray]:
        """Number the connected points of one kind; return the numbers and the sets of points."""
        number = np.empty(self.grid.shape, np.int64)
        count = connect(kind.astype(np.int8), number)
        return number.ravel(), number.ravel() == np.arange(max(count, 1))[:, None]

    def _sum(self, sets: BoolArray, *facts: NDArray[Any]) -> FloatArray:
        """Add facts up over sets of points or parts, one set per part."""
        return sums(sets, self.colour, *facts)

    def _of_blocks(self, columns: list[NDArray[Any]]) -> FloatArray:
        """Join columns into a table, with zeros for empty regions."""
        table: FloatArray = np.column_stack(columns).astype(np.float64)
        table[self.colour == 0] = 0.0
        return table

    def paper(self, protected_below: int = 1) -> FloatArray:
        """Return the 46 features of Burzillo's scoring paper; columns 16 and 31 are additions.

        A liberty where the enemy would have fewer than `protected_below` liberties is protected.
        """
        rows, cols = self.grid.shape
        free, chains, empty = self.liberties, self._chains, self.grid.ravel() == 0
        second = (self._beside(free) > 0) & empty & ~free
        third = (self._beside(second) > 0) & empty & ~free & ~second
        grids = self.points.reshape(-1, rows, cols)
        rims = self.rim.sum(axis=1)
        chain_rim = meets(chains, self.rim.T)
        chain_free = chain_rim & empty
        chain_enemies = meets(chains, self._enemies) | (meets(chain_free, free) & self._opposite)
        weakest, next_weakest = self._weakest(self._enemies, 2)
        [chain_weakest] = self._weakest(chain_enemies, 1)
        libs = self._sum(
            free, np.ones(free.shape[1]), self._played[_ENEMY] < protected_below, self._played == 1
        )
        return self._of_blocks([
            self.size, rims, rims - libs[:, 0], libs, second.sum(axis=1), third.sum(axis=1),
            self._enemies.sum(axis=1),
            (self._edges[:2] / self.size).T,
            grids.any(axis=2).sum(axis=1) * grids.any(axis=1).sum(axis=1),  # the bounding box
            self._regions(self.adjacent, free),
            chains.sum(axis=1), self._sum(chains, self.size), chain_rim.sum(axis=1),
            self._regions(meets(chains, self.adjacent), chain_free),
            self._enemy(weakest, free), self._enemy(next_weakest, free),
            self._enemy(chain_weakest, chain_free),
        ])  # fmt: skip

    def _regions(self, near: BoolArray, free: BoolArray) -> FloatArray:
        """Return features of the empty regions near blocks or chains with these liberties.

        Enclosed: number, size, perimeter, centre of mass (a pair); eyespace: number, size,
        perimeter; disputed: number, own liberties, friendly and enemy liberties in them.
        """
        near = near & (self.colour == 0)
        open_ = self._touch == BLACK + WHITE
        enclosed = near & (self._touch == self.colour[:, None])
        facts = np.ones(len(self.size)), self.size, self.rim.sum(axis=1)
        enclosed_facts = self._sum(enclosed, *facts, *self._edges[:2])
        enclosed_facts[:, 3:] /= np.maximum(enclosed_facts[:, 1:2], 1)
        shared = self._edges[[0, 2, 3]]
        table: FloatArray = np.column_stack([
            enclosed_facts, self._sum(enclosed & (self.size < _EYE_LIMIT), *facts),
            (near & open_).sum(axis=1), self._sum(free, open_[self.part.ravel()]),
            self._sum(near & open_, shared, shared[_ENEMY]),
        ])  # fmt: skip
        return table

    def _weakest(self, candidates: BoolArray, count: int) -> list[IntArray]:
        """Return the weakest candidates of each part (fewest liberties, smallest, first), or -1."""
        order = np.lexsort((self.size, self.liberties.sum(axis=1)))
        left, found = candidates[:, order], []
        for _ in range(count):
            place = left.argmax(axis=1)
            found.append(np.where(left.any(axis=1), order[place], -1))
            left[np.arange(len(left)), place] = False
        return found

    def _enemy(self, enemy: IntArray, free: BoolArray) -> IntArray:
        """Return perimeter, liberties and shared liberties of enemy blocks, zeros for none."""
        theirs = self.liberties[enemy]
        facts = [self.rim[enemy].sum(axis=1), theirs.sum(axis=1), (theirs & free).sum(axis=1)]
        return np.where(enemy < 0, 0, np.stack(facts)).T

    def means(self, owned: FloatArray) -> FloatArray:
        """Return the mean ownership of every part's stones in heavy and in light playouts."""
        size = self.size[self.part.ravel()]
        return self._sum(self.points, *(_SIGN * mean / size for mean in by_kind(owned))).T

    def _spread(self, masks: BoolArray, colours: IntArray, means: FloatArray) -> FloatArray:
        """Return the minimum, maximum and size-weighted mean over sets of parts; zeros if empty."""
        low = np.where(masks, means, 2.0).min(axis=1)
        high = np.where(masks, means, -2.0).max(axis=1)
        mass, weighted = sums(masks, colours, self.size, means * self.size).T
        spread = np.stack([low, high, weighted / np.maximum(mass, 1)])
        return np.where(mass > 0, spread, 0.0).T

    def surroundings(self, owned: FloatArray) -> FloatArray:
        """Return every block's features from playouts, Benson's algorithm and surrounding areas.

        `owned` is the mean ownership of each point, +1 Black to -1 White, as `finish` orders it.
        """
        points, colour, width = self.points, self.colour, self.grid.shape[1] + 1
        heavy, light = by_kind(owned)
        mean_h, mean_l = self.means(owned)
        safe = np.zeros((3, len(self.line)), np.int64)
        for c in (BLACK, WHITE):
            benson(self.line, width, c, safe[c])
        safe = self._inside(safe)
        near = sums(
            _distances(*self.grid.shape)[1], np.zeros(self.grid.size, np.int64),
            *(self.grid.ravel() == _COLOURS),
        ).T  # fmt: skip
        stones = self._sum(
            points,
            *(_SIGN * owned[order] for order in ([0, 0, 1], [1, 1, 0], [2, 2, 3], [3, 3, 2])),
            safe == 1, safe[_ENEMY] == 2, near, near[_ENEMY],
        )  # fmt: skip
        alive, own, other = stones[:, 4] > 0, stones[:, 6], stones[:, 7]
        free = self._sum(
            self.liberties, np.ones(points.shape[1]), _SIGN * heavy, _SIGN * light,
            self._eyes == _COLOURS, self._eyes == -_COLOURS,
        )  # fmt: skip
        # Areas without a colour: the blocks of that colour beside them, and the others inside.
        areas, without = self._areas
        beside = meets(self.rim, areas) & (without == colour[:, None])
        room, area_stones, owned_by, eyes, false = sums(
            areas, without, np.ones(points.shape[1]), self.grid.ravel() > 0, _SIGN * heavy,
            self._eyes == _COLOURS[_ENEMY], self._eyes == -_COLOURS[_ENEMY],
        ).T  # fmt: skip
        mean = owned_by / np.maximum(room, 1)
        mine = beside & (mean > 0.4)
        home = self.home
        lies = (np.arange(len(areas)) == home[:, None]) & (colour[:, None] > 0)
        friends = sums(lies.T, without, np.ones(len(colour)), alive)
        others = np.where(self._chains & ~np.eye(len(colour), dtype=np.bool_), mean_h, -2.0)
        mass, *chain_means = self._sum(
            self._chains, self.size, mean_h * self.size, mean_l * self.size
        ).T
        return self._of_blocks([
            stones[:, :4] / self.size[:, None], mean_h, mean_l, stones[:, 4:6] > 0,
            np.where(points, _SIGN[colour] * heavy, 2.0).min(axis=1),
            free[:, 1:3] / np.maximum(free[:, :1], 1), free[:, 3:],
            self._sum(self._enemies, alive), beside.sum(axis=1), mine.sum(axis=1),
            self._sum(mine, room), (mine * room).max(axis=1), self._sum(mine, area_stones),
            np.where(beside, mean, 0.0).max(axis=1, initial=0.0),
            (own - other) / np.maximum(own + other, 1),
            self._spread(self._enemies, colour, mean_h), self._enemies.sum(axis=1) == 0,
            np.stack(chain_means, axis=1) / mass[:, None],
            np.where((others > -2.0).any(axis=1), others.max(axis=1), mean_h),
            np.stack([room, area_stones, -mean, eyes, false], axis=1)[home], friends[home],
            self._spread(beside.T, without, mean_h)[home],
            room[home] / self.grid.size, self.size / self.grid.size,
        ])  # fmt: skip

    def groups(self, alive: FloatArray) -> FloatArray:
        """Return features of every block's group, given each block's probability of being alive.

        Blocks below one half are removed. Their points and the empty points form fields; living
        blocks of one colour that share a field which no living enemy touches form a group.
        """
        colour, size, points = self.colour, self.size, self.points
        living, dead = (colour > 0) & (alive >= 0.5), (colour > 0) & (alive < 0.5)
        dead_points = dead[self.part]
        kinds = np.zeros(self.grid.shape, np.int8)
        careful_kinds(self.grid, dead_points, kinds)
        number, fields = self._sets(np.where((self.grid == 0) | dead_points, 0, -1))
        lies = meets(fields, points) & dead
        touching = meets(self._beside(fields) > 0, points) & living
        touch = np.bitwise_or.reduce(np.where(touching, colour, 0), axis=1)
        room = fields.sum(axis=1)
        own = (touch == BLACK) | (touch == WHITE)
        groups = closure(meets(touching[own].T, touching[own].T))
        owned = meets(groups, touching) & own
        prey = meets(owned, lies.T) & self._opposite
        open_points = (touch == BLACK + WHITE)[number] & (number >= 0)
        in_seki = ((kinds == BLACK_SEKI_STONE) | (kinds == WHITE_SEKI_STONE)).ravel()
        dame, seki = self._sum(points, self._beside(open_points), in_seki).T
        ones = np.ones(len(size))
        stones, blocks, chance, dame, in_seki = self._sum(
            groups, size, ones, alive * size, dame, seki
        ).T
        n_fields, ground = self._sum(owned, np.ones(len(room)), room).T
        chance, least = chance / stones, np.where(groups, alive, 1.0).min(axis=1)
        own_group = [n_fields, ground, (owned * room).max(axis=1), stones, blocks, chance, least]
        fight = [self._sum(prey, size), np.where(prey, alive, 0.0).max(axis=1), dame, in_seki > 0]
        # The living enemies adjacent to a block, or to its field if it is dead.
        field = number[points.argmax(axis=1)]
        foes = np.where(living[:, None], self._enemies & living, touching[field] & self._opposite)
        left = [
            room[field], self._sum(lies[field] & self._same, size),
            self._sum(lies[field] & self._opposite, size), touch[field] & colour > 0,
        ]  # fmt: skip
        return self._of_blocks([
            alive, living, np.column_stack(own_group) * living[:, None],
            np.where(foes, least, 1.0).min(axis=1), np.column_stack(fight) * living[:, None],
            np.where(foes, n_fields, 9).min(axis=1), np.where(foes, ground, 0).max(axis=1),
            (foes & (in_seki > 0)).any(axis=1), np.where(foes, stones, 0).max(axis=1),
            np.where(foes, chance, 1.0).min(axis=1),
            np.where(self._enemies & dead, alive, 0.0).max(axis=1),
            np.where(foes, least, 0.0).max(axis=1), seki > 0,
            np.column_stack(left) * dead[:, None],
        ])  # fmt: skip

    def bonds(self, mean_h: FloatArray, mean_l: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return the number of the first block bound to each block, and the bonds' features.

        A *bond* is a set of blocks of one colour, in one area, that live or die together: what a
        player calls a group. Its features matter most for seki.
        """
        alike = self._same & (self.home == self.home[:, None])
        alike &= np.abs(mean_h - mean_h[:, None]) < _HEAVY_GAP
        alike &= np.abs(mean_l - mean_l[:, None]) < _LIGHT_GAP
        bonds = closure(alike)
        bond = bonds.argmax(axis=1)
        free = meets(bonds, self.liberties.T)
        mine, theirs = self._played, self._played[_ENEMY]
        enclosed = self._touch == _COLOURS
        members = self._sum(bonds, np.ones(len(bond)), self.size, mean_h * self.size)
        members[:, 2] /= members[:, 1]
        facts = np.column_stack([
            members,
            self._sum(
                free, np.ones(free.shape[1]), theirs < 1, theirs < 2, mine < 2,
                (mine < 2) & (theirs < 2), self._stones_beside[_ENEMY] == 0,
                self._eyes == _COLOURS, self._eyes == -_COLOURS,
            ),
            self._sum(
                meets(bonds, self.adjacent) & (self.colour == 0), np.ones(len(bond)), enclosed,
                enclosed * self.size,
            ),
        ])  # fmt: skip
        # The weakest adjacent enemy bond: the one with the least ownership of its own stones.
        order = np.lexsort((bond, facts[:, 2]))
        beside = meets(bonds, self._enemies)[:, order]
        there, weakest = beside.sum(axis=1) > 0, order[beside.argmax(axis=1)]
        other = np.column_stack([
            there, facts[weakest][:, [2, 1, 3, 8, 9, 12]], (free & free[weakest]).sum(axis=1),
            facts[:, 3] - facts[weakest, 3], facts[weakest, 5],
        ])  # fmt: skip
        return bond, self._of_blocks([facts, other * there[:, None]])

    def attacks(self, bond: IntArray, mean_h: FloatArray, mean_l: FloatArray) -> FloatArray:
        """Return whether a bond falls if attacked first, holds, falls if defended, or is not read.

        Bonds with too much space and those on which playouts are clear are not read.
        """
        out = np.zeros((len(bond), 4))
        out[self.blocks, 3] = 1.0
        width = self.grid.shape[1] + 1
        for first in np.unique(bond[self.blocks]):
            if mean_h[first] > 0.9 or (mean_h[first] < -0.97 and mean_l[first] < -0.6):
                continue
            members = np.flatnonzero(bond == first)
            largest = members[self.size[members].argmax()]
            inside = self._areas[0][self.home[largest]] & (self.grid.ravel() == 0)
            if inside.sum() > MOST_POINTS:
                continue
            start = point_at(int(self.points[largest].argmax()), *self.grid.shape)
            colour = int(self.colour[first])
            fight = (
                self.line, width, start,
                bordered(inside.reshape(self.grid.shape), 0),
            )  # fmt: skip
            attacked = read_fight(*fight, 3 - colour)
            if attacked != UNKNOWN:
                defended = read_fight(*fight, colour) if attacked == FALLS else HOLDS
                out[members] = [attacked == FALLS, attacked == HOLDS, defended == FALLS, 0.0]
        return out


# ----- One position -----


@dataclass
class Described:
    """A position with the features of its parts."""

    position: Parts
    bond: IntArray  # number of the first block of each block's bond
    features: FloatArray  # one row per part, INPUTS columns; zeros for empty regions
    ownership: FloatArray  # mean of the heavy playouts
    area: IntArray  # number of the area without enemies in which a block lies
    sound: bool = True  # False if a block has no liberties, so that playouts are impossible


def first_opinion(mean_h: FloatArray, mean_l: FloatArray) -> FloatArray:
    """Return every block's probability of being alive according to playouts alone."""
    return np.clip((1 + (mean_l + 2 * mean_h) / 3) / 2, 0.01, 0.99)


def describe(grid: NDArray[np.int8]) -> Described:
    """Describe every block of a position given as a grid of EMPTY, BLACK, WHITE."""
    position = PositionFeatures(grid)
    counts = np.zeros((4, grid.size), np.int32)
    sound = finish(position.line, *grid.shape, _LIGHT, _HEAVY, _SEED, shape_table(), counts)
    owned = counts / np.array([[_LIGHT], [_LIGHT], [_HEAVY], [_HEAVY]])
    means = position.means(owned)
    bond, bonds = position.bonds(*means)
    families = [
        position.paper(),
        position.surroundings(owned),
        position.groups(first_opinion(*means)),
        bonds,
        position.attacks(bond, *means),
    ]
    features = np.concatenate(families, axis=1)
    return Described(position, bond, features, by_kind(owned)[0], position.home, bool(sound))


def pool(logit: FloatArray, size: IntArray, bond: IntArray) -> FloatArray:
    """Return logits averaged, weighted by size, over the blocks of each bond."""
    _, number = np.unique(bond, return_inverse=True)
    mass = np.bincount(number, weights=size)
    return (np.bincount(number, weights=logit * size) / mass)[number]


# ----- Many games -----


@dataclass
class BlockTable:
    """Blocks of many games of one board size: those of game i are rows start[i]:start[i + 1]."""

    grids: NDArray[np.int8]
    parts: NDArray[np.int16]  # number of the part of every point, games x rows x columns
    ownership: Float32Array
    target: IntArray  # recorded score less komi and prisoners: what `territory_margins` returns
    known: BoolArray  # whether the recorded score is possible
    start: IntArray
    block: IntArray  # number of the block within its game's parts
    area: IntArray  # number of the area without enemies in which a block lies, per game
    bond: IntArray  # number of the first block of its bond; distinct across games
    features: Float32Array

    def __len__(self) -> int:
        return len(self.grids)

    @property
    def game(self) -> IntArray:
        """The game of every block."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def rows(self, game: int) -> slice:
        """Return the rows of a game."""
        return slice(int(self.start[game]), int(self.start[game + 1]))

    def save(self, path: Path) -> None:
        """Save as one .npz file, atomically."""
        buffer = io.BytesIO()
        np.savez(buffer, **vars(self))
        write_atomic(path, buffer.getvalue())

    @classmethod
    def load(cls, path: Path) -> BlockTable:
        """Load a file written by `save`."""
        try:
            with path.open("rb") as file, np.load(file) as stored:
                return cls(**{item.name: stored[item.name] for item in fields(cls)})
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as wrong:
            raise TengenError(f"{path}: no features of finished games ({wrong})") from None

    def take(self, games: IntArray) -> BlockTable:
        """Return the positions of some games, in the order of their numbers."""
        games = np.unique(games)
        lengths = np.diff(self.start)[games]
        rows = np.isin(self.game, games)
        shift = np.repeat(games - np.arange(len(games)), lengths)
        per_block = ("block", "area", "features", "bond")
        taken = {k: array[rows if k in per_block else games] for k, array in vars(self).items()
                 if k != "start"}  # fmt: skip
        taken["bond"] -= shift * self.grids[0].size
        return BlockTable(start=np.concatenate([[0], np.cumsum(lengths)]), **taken)

    def dead(self, game: int, alive: BoolArray) -> BoolArray:
        """Return the dead stones of a game, given which of its blocks are alive."""
        parts = self.parts[game]
        dead_parts = np.zeros(int(parts.max()) + 1, np.bool_)
        dead_parts[self.block[self.rows(game)]] = ~alive
        return dead_parts[parts]

    def exact(self, alive: BoolArray) -> BoolArray:
        """Return for every game whether the careful count gives the recorded score."""
        dead = np.stack([self.dead(game, alive[self.rows(game)]) for game in range(len(self))])
        return (territory_margins(self.grids, dead) == self.target) & self.known

    def described(self, game: int) -> Described:
        """Return one game's position as `describe` returned it, without features and areas."""
        position = Parts(self.grids[game])
        bond = np.arange(len(position.size))
        bond[position.blocks] = self.bond[self.rows(game)] - game * self.grids[0].size
        owned = self.ownership[game].astype(np.float64)
        return Described(position, bond, np.zeros((0, 0)), owned, np.zeros(0, np.int64))


def describe_games(
    games: GameArrays, share: float = 1.0, progress: Callable[[int], None] = lambda done: None
) -> BlockTable:
    """Describe the last position of every game; all must be of one board size."""
    if len(games) == 0 or (games.rows != games.rows[0]).any() or (games.cols != games.rows).any():
        raise TengenError("training needs games on square boards of one size")
    grids, taken = last_positions(games, share)
    margin = games.score.astype(np.float64) + games.komi - (taken[:, 0] - taken[:, 1])
    known = np.isfinite(margin) & (np.abs(margin - np.round(margin)) < 1e-3)
    found = []
    for i, grid in enumerate(grids):
        found.append(describe(grid))
        progress(i + 1)
    blocks = [each.position.blocks for each in found]
    first = np.arange(len(found)) * grids[0].size

    def rows(arrays: Iterable[NDArray[Any]]) -> NDArray[Any]:
        """Concatenate arrays over the parts of each game, keeping only the blocks."""
        return np.concatenate([array[block] for array, block in zip(arrays, blocks, strict=True)])

    return BlockTable(
        grids=grids,
        parts=np.stack([each.position.part for each in found]).astype(np.int16),
        ownership=np.stack([each.ownership for each in found]).astype(np.float32),
        target=np.where(known, np.round(np.nan_to_num(margin)), 0).astype(np.int64),
        known=known,
        start=np.concatenate([[0], np.cumsum([len(block) for block in blocks])]),
        block=np.concatenate(blocks),
        area=rows(each.area for each in found),
        bond=rows(each.bond + offset for each, offset in zip(found, first, strict=True)),
        features=rows(each.features for each in found).astype(np.float32),
    )
