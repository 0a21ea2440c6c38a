"""Describe the blocks of one position for the scorer: the paper's features and their surroundings.

Playouts are seeded by a constant, not by the game, and start from both sides: the same stones
always give the same numbers. Nothing here judges.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray, IntArray
from tengen.board.playouts import shape_table
from tengen.learners.scoring.blocks_attack_kernels import ATTACKS, describe_attacks
from tengen.learners.scoring.blocks_bond_kernels import BONDS, describe_bonds
from tengen.learners.scoring.blocks_context_kernels import (
    GROUPS,
    SURROUNDINGS,
    describe_groups,
    describe_surroundings,
)
from tengen.learners.scoring.blocks_kernels import PAPER, describe_blocks
from tengen.learners.scoring.blocks_playout_kernels import finish
from tengen.learners.scoring.settings import FAMILIES

FEW, MANY = (24, 20), (48, 40)
"""Light and heavy playouts for each side to begin: at the end of a game, and in its middle."""
_SEED = 11
_WIDTHS = dict(zip(FAMILIES, (PAPER, SURROUNDINGS, GROUPS, BONDS, ATTACKS), strict=True))
"""How many features each family has."""
INPUTS = sum(_WIDTHS.values())
# Of the surroundings: mean heavy and light ownership of the block's own stones, and Benson life.
HEAVY_MEAN, LIGHT_MEAN, UNCONDITIONAL = PAPER + 4, PAPER + 5, PAPER + 6


@dataclass
class Described:
    """A position's parts (blocks and empty regions) and what is known of them."""

    grid: NDArray[np.int8]
    line: IntArray
    part: IntArray
    """Number of the part of every bordered point, -1 on the border."""
    colour: IntArray
    size: IntArray
    bond: IntArray
    """Number of the first block that shares the fate of a block (see `bind`)."""
    features: FloatArray
    """One row a part, INPUTS columns; zeros for empty regions."""
    ownership: FloatArray
    """Mean of the heavy playouts, flat and row-major, +1 Black to -1 White."""
    sound: bool
    """False if a block has no liberty, so that nothing could be played out."""
    means: FloatArray | None = None
    """Ownership in light and heavy playouts, each with Black and with White to begin (4 x points);
    not kept in bundles."""

    @property
    def blocks(self) -> IntArray:
        """Return the numbers of the parts that are stones."""
        return np.flatnonzero(self.colour > 0)

    @property
    def part_grid(self) -> IntArray:
        """Return the number of the part of every point as a grid."""
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
    """Return the columns of some families of features, whatever their order."""
    ends = dict(zip(FAMILIES, np.cumsum(list(_WIDTHS.values())), strict=True))
    return np.concatenate(
        [np.arange(ends[f] - _WIDTHS[f], ends[f]) for f in FAMILIES if f in families]
    )


def first_opinion(features: FloatArray) -> FloatArray:
    """Return what playouts alone say of every block's chance to live."""
    mean = (features[:, LIGHT_MEAN] + 2 * features[:, HEAVY_MEAN]) / 3
    opinion: FloatArray = np.clip((1 + mean) / 2, 0.01, 0.99)
    return opinion


def describe(grid: NDArray[np.int8], playouts: tuple[int, int] = FEW) -> Described:
    """Describe every block of a position given as a grid of EMPTY, BLACK, WHITE."""
    light, heavy = playouts
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
        (means[2] + means[3]) / 2, sound, means,
    )  # fmt: skip


def pool(logit: FloatArray, size: IntArray, bond: IntArray) -> FloatArray:
    """Return logits averaged by size over blocks of one bond, which live or die together."""
    _, number = np.unique(bond, return_inverse=True)
    mass = np.bincount(number, weights=size)
    pooled: FloatArray = (np.bincount(number, weights=logit * size) / mass)[number]
    return pooled
