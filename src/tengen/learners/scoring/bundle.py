"""Hold the last positions of many games of one board size with their blocks' features.

Made once and kept on disk, because playouts are the slow part of training. Labels are not in
here: the only thing known of a game is its recorded score.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, Float32Array, IntArray
from tengen.board.counting import territory_margins
from tengen.errors import TengenError
from tengen.files import write_atomic
from tengen.learners.scoring.blocks_context_kernels import flood_other
from tengen.learners.scoring.features import Described, bordered, describe
from tengen.records import GameArrays
from tengen.records.corpus import last_positions


@dataclass
class Bundle:
    """Many positions: blocks of game i are rows start[i] to start[i + 1]."""

    grids: NDArray[np.int8]
    parts: NDArray[np.int16]
    """Number of the part of every point, games x rows x columns."""
    ownership: Float32Array
    target: IntArray
    """Recorded score less komi and prisoners: what `territory_margins` should give."""
    known: BoolArray
    """Whether the recorded score is one that can come out."""
    start: IntArray
    block: IntArray
    """Number of the block within its game's parts."""
    area: IntArray
    """Number of the area of points without enemies in which a block lies, per game and colour."""
    bond: IntArray
    """Number of the first block that shares a block's fate, unlike for different games."""
    features: Float32Array

    def __len__(self) -> int:
        return len(self.grids)

    @property
    def game(self) -> IntArray:
        """Return the game of every block."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def save(self, path: Path) -> None:
        """Write everything into one .npz file, whole or not at all."""
        buffer = io.BytesIO()
        np.savez(buffer, **{item.name: getattr(self, item.name) for item in fields(self)})
        write_atomic(path, buffer.getvalue())

    @classmethod
    def load(cls, path: Path) -> Bundle:
        """Read what `save` wrote.

        Raises
        ------
        TengenError
            If it is something else.
        """
        try:
            with path.open("rb") as file, np.load(file) as stored:
                return cls(**{item.name: stored[item.name] for item in fields(cls)})
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as wrong:
            raise TengenError(f"{path}: no features of finished games ({wrong})") from None

    def take(self, games: IntArray) -> Bundle:
        """Return the positions of some games, in the order of their numbers."""
        games = np.unique(games)
        rows = np.isin(self.game, games)
        shift = np.repeat(games - np.arange(len(games)), np.diff(self.start)[games])
        per_block = {name: getattr(self, name)[rows] for name in ("block", "area", "features")}
        per_game = {
            name: getattr(self, name)[games]
            for name in ("grids", "parts", "ownership", "target", "known")
        }
        return Bundle(
            **per_block,
            **per_game,
            start=np.concatenate([[0], np.cumsum(np.diff(self.start)[games])]),
            bond=self.bond[rows] - shift * self.grids[0].size,
        )

    def dead(self, alive: BoolArray, games: IntArray) -> BoolArray:
        """Return the masks of dead stones of some games, given who of all blocks is alive."""
        masks = np.zeros((len(games), *self.grids.shape[1:]), np.bool_)
        for i, g in enumerate(games):
            rows = slice(int(self.start[g]), int(self.start[g + 1]))
            fallen = np.zeros(int(self.parts[g].max()) + 1, np.bool_)
            fallen[self.block[rows]] = ~alive[rows]
            masks[i] = fallen[self.parts[g]]
        return masks

    def exact(self, alive: BoolArray) -> BoolArray:
        """Tell for every game whether the careful count gives the recorded score."""
        fallen = self.dead(alive, np.arange(len(self)))
        right: BoolArray = (territory_margins(self.grids, fallen) == self.target) & self.known
        return right


def gather(
    games: GameArrays, share: float = 1.0, tell: Callable[[int], None] = lambda done: None
) -> Bundle:
    """Describe the last position of every game; all must be of one board size."""
    if len(games) == 0 or (games.rows != games.rows[0]).any() or (games.cols != games.rows).any():
        raise TengenError("training needs games on square boards of one size")
    grids, taken = last_positions(games, share)
    margin = games.score.astype(np.float64) + games.komi - (taken[:, 0] - taken[:, 1])
    known = np.isfinite(margin) & (np.abs(margin - np.round(margin)) < 1e-3)
    described = []
    for i, grid in enumerate(grids):
        described.append(describe(grid))
        tell(i + 1)
    blocks = [d.blocks for d in described]
    return Bundle(
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
    """Return for every block the number of the area without enemies it lies in."""
    width = described.grid.shape[1] + 1
    n = len(described.line)
    number, stack = np.empty(n, np.int64), np.empty(n, np.int64)
    found = np.zeros(len(described.colour), np.int64)
    for enemy in (1, 2):
        flood_other(described.line, width, enemy, number, stack)
        stones = np.flatnonzero(described.line == 3 - enemy)
        found[described.part[stones]] = 2 * number[stones] + enemy - 1
    return found[described.blocks]


def restore(bundle: Bundle, game: int) -> Described:
    """Return one game's position as `describe` gave it, less the features of empty regions."""
    grid, parts = bundle.grids[game], bundle.parts[game].astype(np.int64)
    count = int(parts.max()) + 1
    colour = np.zeros(count, np.int64)
    colour[parts.ravel()] = grid.ravel()
    rows = slice(int(bundle.start[game]), int(bundle.start[game + 1]))
    features = np.zeros((count, bundle.features.shape[1]))
    features[bundle.block[rows]] = bundle.features[rows]
    bond = np.arange(count)
    bond[bundle.block[rows]] = bundle.bond[rows] - game * grid.size
    return Described(
        grid,
        bordered(grid.astype(np.int64), 3).astype(np.int64),
        bordered(parts, -1).astype(np.int64),
        colour,
        np.bincount(parts.ravel(), minlength=count),
        bond,
        features,
        bundle.ownership[game].astype(np.float64),
        True,
    )
