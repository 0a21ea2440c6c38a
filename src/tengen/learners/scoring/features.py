"""Features of the blocks of a position, and tables of the blocks of many games.

Playouts have a constant seed and start from both sides: the same stones always give the same
numbers. A table is computed once and saved, because playouts are the slow part of training. It has
no labels: only the recorded score of a game is known.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, Float32Array, FloatArray, IntArray
from tengen.board.counting import territory_margins
from tengen.board.playouts import shape_table
from tengen.errors import TengenError
from tengen.files import write_atomic
from tengen.learners.scoring.blocks_kernels import PAPER, describe_blocks
from tengen.learners.scoring.context_kernels import (
    GROUPS,
    SURROUNDINGS,
    describe_groups,
    describe_surroundings,
    flood_other,
)
from tengen.learners.scoring.group_kernels import (
    ATTACKS,
    BONDS,
    describe_attacks,
    describe_bonds,
)
from tengen.learners.scoring.kernels import finish
from tengen.learners.scoring.settings import FAMILIES
from tengen.records import GameArrays
from tengen.records.corpus import last_positions

_LIGHT, _HEAVY = 24, 20
"""Light and heavy playouts for each side to begin."""
_SEED = 11
_WIDTHS = dict(zip(FAMILIES, (PAPER, SURROUNDINGS, GROUPS, BONDS, ATTACKS), strict=True))
"""Number of features per family."""
INPUTS = sum(_WIDTHS.values())
# Of the surroundings: mean heavy and light ownership of the block's own stones, and Benson life.
HEAVY_MEAN, LIGHT_MEAN, UNCONDITIONAL = PAPER + 4, PAPER + 5, PAPER + 6


@dataclass
class Described:
    """The parts of a position (blocks and empty regions) and their features."""

    grid: NDArray[np.int8]
    line: IntArray
    part: IntArray
    """Number of the part of every bordered point, -1 on the border."""
    colour: IntArray
    size: IntArray
    bond: IntArray
    """Number of the first block that shares the fate of a block (see `group_kernels`)."""
    features: FloatArray
    """One row per part, INPUTS columns; zeros for empty regions."""
    ownership: FloatArray
    """Mean of the heavy playouts, flat and row-major, +1 Black to -1 White."""
    sound: bool
    """False if a block has no liberty, which makes playouts impossible."""

    @property
    def blocks(self) -> IntArray:
        """The numbers of the parts that are stones."""
        return np.flatnonzero(self.colour > 0)

    @property
    def part_grid(self) -> IntArray:
        """The number of the part of every point, as a grid."""
        return inside(self.part, *self.grid.shape)


def bordered(grid: NDArray[np.generic], border: float) -> NDArray[np.generic]:
    """Return a grid as a bordered line."""
    rows, cols = grid.shape
    out = np.full((rows + 2, cols + 1), border, grid.dtype)
    out[1 : rows + 1, 1:] = grid
    return np.append(out.ravel(), np.asarray(border, grid.dtype))


def inside(line: IntArray, rows: int, cols: int) -> IntArray:
    """Return the grid inside a bordered line."""
    return line[:-1].reshape(rows + 2, cols + 1)[1 : rows + 1, 1:]


def columns(families: Collection[str]) -> IntArray:
    """Return the columns of some families of features."""
    ends = dict(zip(FAMILIES, np.cumsum(list(_WIDTHS.values())), strict=True))
    return np.concatenate(
        [np.arange(ends[f] - _WIDTHS[f], ends[f]) for f in FAMILIES if f in families]
    )


def first_opinion(features: FloatArray) -> FloatArray:
    """Return every block's chance to live according to playouts alone."""
    mean = (features[:, LIGHT_MEAN] + 2 * features[:, HEAVY_MEAN]) / 3
    opinion: FloatArray = np.clip((1 + mean) / 2, 0.01, 0.99)
    return opinion


def describe(grid: NDArray[np.int8]) -> Described:
    """Describe every block of a position given as a grid of EMPTY, BLACK, WHITE."""
    light, heavy = _LIGHT, _HEAVY
    rows, cols = grid.shape
    line = bordered(grid.astype(np.int64), 3).astype(np.int64)
    n = len(line)
    counts = np.zeros((4, rows * cols), np.int32)
    sound = bool(finish(line, rows, cols, light, heavy, _SEED, shape_table(), counts))
    means = counts / np.array([[light], [light], [heavy], [heavy]])
    owned = np.stack([bordered(mean.reshape(rows, cols), 0.0) for mean in means])
    part, chain = np.empty(n, np.int64), np.zeros(n, np.int64)
    colour, size = np.zeros(n, np.int64), np.zeros(n, np.int64)
    paper = np.zeros((n, PAPER))
    count = describe_blocks(line, rows, cols, 1, part, colour, size, chain, paper)
    around = np.zeros((count, SURROUNDINGS))
    describe_surroundings(line, rows, cols, part, colour, size, chain, count, owned, around)
    features = np.zeros((count, INPUTS))
    features[:, : PAPER + SURROUNDINGS] = np.concatenate([paper[:count], around], axis=1)
    groups = np.zeros((count, GROUPS))
    opinion = first_opinion(features)
    describe_groups(line, rows, cols, part, colour, size, count, opinion, groups)
    bonds, attacks = np.zeros((count, BONDS)), np.zeros((count, ATTACKS))
    bond = np.zeros(count, np.int64)
    mean_h, mean_l = features[:, HEAVY_MEAN].copy(), features[:, LIGHT_MEAN].copy()
    describe_bonds(line, cols, part, colour, size, count, mean_h, mean_l, bond, bonds)
    describe_attacks(line, cols, part, colour, size, count, bond, mean_h, mean_l, attacks)
    features[:, PAPER + SURROUNDINGS :] = np.concatenate([groups, bonds, attacks], axis=1)
    return Described(
        grid, line, part, colour[:count].copy(), size[:count].copy(), bond, features,
        (means[2] + means[3]) / 2, sound,
    )  # fmt: skip


def pool(logit: FloatArray, size: IntArray, bond: IntArray) -> FloatArray:
    """Return logits averaged by size over the blocks of a bond, which live or die together."""
    _, number = np.unique(bond, return_inverse=True)
    mass = np.bincount(number, weights=size)
    pooled: FloatArray = (np.bincount(number, weights=logit * size) / mass)[number]
    return pooled


# ----- Many games -----


@dataclass
class BlockTable:
    """Blocks of many games of one board size: those of game i are rows start[i]:start[i + 1]."""

    grids: NDArray[np.int8]
    parts: NDArray[np.int16]
    """Number of the part of every point, games x rows x columns."""
    ownership: Float32Array
    target: IntArray
    """Recorded score less komi and prisoners: what `territory_margins` should return."""
    known: BoolArray
    """Whether the recorded score is possible."""
    start: IntArray
    block: IntArray
    """Number of the block within its game's parts."""
    area: IntArray
    """Number of the area of points without enemies in which a block lies, per game and colour."""
    bond: IntArray
    """Number of the first block that shares a block's fate; different for each game."""
    features: Float32Array

    def __len__(self) -> int:
        return len(self.grids)

    @property
    def game(self) -> IntArray:
        """The game of every block."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def save(self, path: Path) -> None:
        """Save as one .npz file, atomically."""
        buffer = io.BytesIO()
        np.savez(buffer, **{item.name: getattr(self, item.name) for item in fields(self)})
        write_atomic(path, buffer.getvalue())

    @classmethod
    def load(cls, path: Path) -> BlockTable:
        """Load a file written by `save`.

        Raises
        ------
        TengenError
            If the file holds something else.
        """
        try:
            with path.open("rb") as file, np.load(file) as stored:
                return cls(**{item.name: stored[item.name] for item in fields(cls)})
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as wrong:
            raise TengenError(f"{path}: no features of finished games ({wrong})") from None

    def take(self, games: IntArray) -> BlockTable:
        """Return the positions of some games, in the order of their numbers."""
        games = np.unique(games)
        rows = np.isin(self.game, games)
        shift = np.repeat(games - np.arange(len(games)), np.diff(self.start)[games])
        per_block = {name: getattr(self, name)[rows] for name in ("block", "area", "features")}
        per_game = {
            name: getattr(self, name)[games]
            for name in ("grids", "parts", "ownership", "target", "known")
        }
        return BlockTable(
            **per_block,
            **per_game,
            start=np.concatenate([[0], np.cumsum(np.diff(self.start)[games])]),
            bond=self.bond[rows] - shift * self.grids[0].size,
        )

    def dead(self, alive: BoolArray, games: IntArray) -> BoolArray:
        """Return the dead stones of some games as masks, given which blocks are alive."""
        masks = np.zeros((len(games), *self.grids.shape[1:]), np.bool_)
        for i, g in enumerate(games):
            rows = slice(int(self.start[g]), int(self.start[g + 1]))
            fallen = np.zeros(int(self.parts[g].max()) + 1, np.bool_)
            fallen[self.block[rows]] = ~alive[rows]
            masks[i] = fallen[self.parts[g]]
        return masks

    def exact(self, alive: BoolArray) -> BoolArray:
        """Return for every game whether the careful count gives the recorded score."""
        fallen = self.dead(alive, np.arange(len(self)))
        right: BoolArray = (territory_margins(self.grids, fallen) == self.target) & self.known
        return right


def describe_games(
    games: GameArrays, share: float = 1.0, progress: Callable[[int], None] = lambda done: None
) -> BlockTable:
    """Describe the last position of every game; all must be of one board size."""
    if len(games) == 0 or (games.rows != games.rows[0]).any() or (games.cols != games.rows).any():
        raise TengenError("training needs games on square boards of one size")
    grids, taken = last_positions(games, share)
    margin = games.score.astype(np.float64) + games.komi - (taken[:, 0] - taken[:, 1])
    known = np.isfinite(margin) & (np.abs(margin - np.round(margin)) < 1e-3)
    described = []
    for i, grid in enumerate(grids):
        described.append(describe(grid))
        progress(i + 1)
    blocks = [d.blocks for d in described]
    return BlockTable(
        grids=grids,
        parts=np.stack([d.part_grid for d in described]).astype(np.int16),
        ownership=np.stack([d.ownership for d in described]).astype(np.float32),
        target=np.where(known, np.round(np.nan_to_num(margin)), 0).astype(np.int64),
        known=known,
        start=np.concatenate([[0], np.cumsum([len(b) for b in blocks])]),
        block=np.concatenate(blocks),
        area=np.concatenate([areas(d) for d in described]),
        bond=np.concatenate(
            [
                d.bond[b] + i * grids[0].size
                for i, (d, b) in enumerate(zip(described, blocks, strict=True))
            ]
        ),
        features=np.concatenate(
            [d.features[b] for d, b in zip(described, blocks, strict=True)]
        ).astype(np.float32),
    )


def areas(described: Described) -> IntArray:
    """Return for every block the number of its area without enemies."""
    width = described.grid.shape[1] + 1
    n = len(described.line)
    number, stack = np.empty(n, np.int64), np.empty(n, np.int64)
    found = np.zeros(len(described.colour), np.int64)
    for enemy in (1, 2):
        flood_other(described.line, width, enemy, number, stack)
        stones = np.flatnonzero(described.line == 3 - enemy)
        found[described.part[stones]] = 2 * number[stones] + enemy - 1
    return found[described.blocks]


def restore(table: BlockTable, game: int) -> Described:
    """Return one game's position as `describe` returned it, without empty regions' features."""
    grid, parts = table.grids[game], table.parts[game].astype(np.int64)
    count = int(parts.max()) + 1
    colour = np.zeros(count, np.int64)
    colour[parts.ravel()] = grid.ravel()
    rows = slice(int(table.start[game]), int(table.start[game + 1]))
    features = np.zeros((count, table.features.shape[1]))
    features[table.block[rows]] = table.features[rows]
    bond = np.arange(count)
    bond[table.block[rows]] = table.bond[rows] - game * grid.size
    return Described(
        grid,
        bordered(grid.astype(np.int64), 3).astype(np.int64),
        bordered(parts, -1).astype(np.int64),
        colour,
        np.bincount(parts.ravel(), minlength=count),
        bond,
        features,
        table.ownership[game].astype(np.float64),
        True,
    )
