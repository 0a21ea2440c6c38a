"""Collect positions from the middle of games, labelled by who owned what when they were counted.

The labels come from the last position: a scorer takes the dead off, and the game is believed if
the count then is the recorded one. Nothing here learns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, Float32Array, IntArray
from tengen.board import BLACK
from tengen.board import counting_kernels as k
from tengen.learners.scoring.features import MANY, Described, describe
from tengen.learners.scoring.learner import BlockScorer
from tengen.learners.scoring.life_features import block_inputs, grids_at
from tengen.records import GameArrays
from tengen.records.corpus import last_positions

Owners = NDArray[np.int8]
"""Games x rows x columns: 1 Black's, -1 White's, 0 nobody's at the end."""


def final_owner(grid: NDArray[np.int8], dead: BoolArray) -> NDArray[np.int8]:
    """Return who owns each point when the dead are taken off: 1, -1, or 0 for nobody."""
    kinds = np.zeros(grid.shape, np.int8)
    k.plain_kinds(grid, dead, kinds)
    owner = np.zeros(grid.shape, np.int8)
    owner[(kinds == k.BLACK_TERRITORY) | (kinds == k.BLACK_STONE)] = 1
    owner[(kinds == k.WHITE_TERRITORY) | (kinds == k.WHITE_STONE)] = -1
    return owner


def truth(games: GameArrays, scorer: BlockScorer) -> tuple[Owners, BoolArray]:
    """Return who owns each point at the end, and for which games that can be believed.

    A game is believed if counting without the stones that the scorer calls dead gives the
    recorded score: by territory, counted carefully or plainly, or by area.
    """
    grids, taken = last_positions(games)
    owners = np.zeros(grids.shape, np.int8)
    believed = np.zeros(len(games), np.bool_)
    for g, padded in enumerate(grids):
        rows, cols = int(games.rows[g]), int(games.cols[g])
        grid = np.ascontiguousarray(padded[:rows, :cols])
        dead = scorer.read(grid).dead
        owner = final_owner(grid, dead)
        owners[g, :rows, :cols] = owner
        prisoners = float(taken[g, 0] - taken[g, 1])
        margins = [float(owner.sum(dtype=np.int64))] + [
            prisoners + k.territory_margin(grid, dead, careful, np.zeros(grid.shape, np.int8))
            for careful in (True, False)
        ]
        recorded = float(games.score[g]) + float(games.komi[g])
        believed[g] = any(abs(margin - recorded) < 0.01 for margin in margins)
    return owners, believed


def block_fate(described: Described, owner: NDArray[np.int8]) -> tuple[BoolArray, BoolArray]:
    """Return which blocks' points mostly belong to their colour at the end, and which are unclear.

    The second is true where as many points are won as lost: there is no label then.
    """
    parts = described.part_grid.ravel()
    balance = np.bincount(parts, weights=owner.ravel(), minlength=len(described.colour))
    blocks = described.blocks
    mine = np.where(described.colour[blocks] == BLACK, 1, -1) * balance[blocks]
    return mine > 0, mine == 0


def moments(games: GameArrays, count: int, rng: np.random.Generator) -> list[IntArray]:
    """Choose `count` plies of every game, one in each part of it of the same length."""
    lengths = games.lengths()
    return [
        np.minimum(((i + rng.random(len(games))) / count * (lengths + 1)).astype(np.int64), lengths)
        for i in range(count)
    ]


@dataclass
class Sample:
    """One position on the way: whose turn it is, and where its blocks stand in the tables."""

    game: int
    turn: int
    described: Described
    """Without its features: those are in the table of all blocks."""
    rows: slice


@dataclass
class Samples:
    """Positions of many games and one table of all their blocks."""

    found: list[Sample]
    inputs: Float32Array
    lives: BoolArray
    unclear: BoolArray

    def rows_of(self, chosen: BoolArray) -> BoolArray:
        """Return the blocks of the samples marked in `chosen`."""
        mask = np.zeros(len(self.lives), np.bool_)
        for sample, taken in zip(self.found, chosen, strict=True):
            mask[sample.rows] = taken
        return mask


def collect(
    games: GameArrays,
    owners: Owners,
    plies: list[IntArray],
    advance: Callable[[int], None] = lambda done: None,
) -> Samples:
    """Describe the positions after `plies` moves of each game, with the fate of their blocks."""
    found, inputs, lives, unclear = [], [], [], []
    end = 0
    for some in plies:
        for g, (padded, turn) in enumerate(zip(*grids_at(games, some), strict=True)):
            advance(1)
            rows, cols = int(games.rows[g]), int(games.cols[g])
            described = describe(np.ascontiguousarray(padded[:rows, :cols]), MANY)
            if not len(described.blocks):
                continue
            fate, open_ = block_fate(described, owners[g, :rows, :cols])
            inputs.append(block_inputs(described, int(turn)).astype(np.float32))
            lives.append(fate)
            unclear.append(open_)
            described.features = np.zeros((0, 0))
            found.append(Sample(g, int(turn), described, slice(end, end + len(fate))))
            end += len(fate)
    return Samples(found, np.concatenate(inputs), np.concatenate(lives), np.concatenate(unclear))
