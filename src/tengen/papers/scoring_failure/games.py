"""Finished games as the paper's network sees them: blocks with 46 features, and empty regions."""

from __future__ import annotations

import io
import zipfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, FloatArray, IntArray
from tengen.board import BLACK, WHITE
from tengen.board.counting_kernels import territory_margin
from tengen.errors import TengenError
from tengen.files import write_atomic
from tengen.records import GameArrays
from tengen.records.corpus import last_positions
from tengen.scoring import BlockScorer
from tengen.scoring.features import PositionFeatures

SECOND_DISTANCES = (16, 31)  # columns of the 48 features that the 46 leave out
FEATURES = 46
UNKNOWN = -1  # status of a block whose game's recorded score is not explained


@dataclass
class PaperGames:
    """Games as flat arrays: blocks, empty regions, their adjacency, and the recorded scores."""

    x: FloatArray  # features of all blocks of all games
    colour: IntArray
    size: FloatArray
    block_game: IntArray
    region_game: IntArray
    region_size: FloatArray
    edge_region: IntArray
    edge_block: IntArray
    offset: FloatArray  # per game: komi minus Black's prisoners plus White's
    score: FloatArray  # per game: the recorded score, White-positive
    alive: IntArray  # per block: 1, 0 or UNKNOWN; only for the measurement
    grids: Sequence[NDArray[np.int8]] = ()  # the positions
    source: str = ""  # where a file of described games comes from

    def __len__(self) -> int:
        return len(self.score)

    @property
    def sign(self) -> FloatArray:
        """1 for black blocks and -1 for white ones."""
        return np.where(self.colour == WHITE, -1.0, 1.0)

    def totals(self, start: Any, regions: NDArray[Any], blocks: NDArray[Any]) -> FloatArray:
        """Return `start` plus the values of each game's regions and blocks."""
        found: FloatArray = start + np.bincount(self.region_game, regions, len(self.score))
        return found + np.bincount(self.block_game, blocks, len(self.score))

    def where(self, chosen: BoolArray) -> PaperGames:
        """Return some of the games."""
        blocks, regions = chosen[self.block_game], chosen[self.region_game]
        edges = regions[self.edge_region]
        kinds = {
            **dict.fromkeys(("x", "colour", "size", "alive"), blocks), "region_size": regions,
            "offset": chosen, "score": chosen,
        }  # fmt: skip
        taken = {name: getattr(self, name)[mask] for name, mask in kinds.items()}
        game, block, region = (np.cumsum(mask) - 1 for mask in (chosen, blocks, regions))
        return PaperGames(
            block_game=game[self.block_game[blocks]],
            region_game=game[self.region_game[regions]],
            edge_region=region[self.edge_region[edges]],
            edge_block=block[self.edge_block[edges]],
            grids=[grid for grid, mine in zip(self.grids, chosen, strict=True) if mine],
            **taken,
        )

    def save(self, path: Path) -> None:
        """Save as one .npz file, atomically."""
        arrays = {name: value for name, value in vars(self).items() if name != "grids"}
        shapes = np.array([grid.shape for grid in self.grids])
        points = np.concatenate([grid.ravel() for grid in self.grids])
        buffer = io.BytesIO()
        np.savez(buffer, **arrays, shapes=shapes, points=points)
        write_atomic(path, buffer.getvalue())

    @classmethod
    def load(cls, path: Path) -> PaperGames:
        """Load a file written by `save`."""
        try:
            with path.open("rb") as file, np.load(file) as stored:
                found: dict[str, Any] = dict(stored)
            shapes, points = found.pop("shapes"), found.pop("points")
            ends = np.cumsum(shapes.prod(axis=1))[:-1]
            grids = [
                part.reshape(shape)
                for part, shape in zip(np.split(points, ends), shapes, strict=True)
            ]
            found |= {"source": str(found["source"]), "grids": grids}
            return cls(**found)
        except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as wrong:
            raise TengenError(f"{path}: no features of finished games ({wrong})") from None

    def explained(self) -> BoolArray:
        """Return which games have blocks of known status."""
        return np.bincount(self.block_game, self.alive != UNKNOWN, len(self)) > 0

    def region_vectors(self, r: FloatArray) -> FloatArray:
        """Return a region's black and white blocks, their sums of `r`, and its size: a row each."""
        white = self.colour[self.edge_block] == WHITE
        n = len(self.region_game)
        vectors = np.zeros((n, 5))
        for side, mask in ((0, ~white), (1, white)):
            at, blocks = self.edge_region[mask], self.edge_block[mask]
            vectors[:, side] = np.bincount(at, minlength=n)
            vectors[:, 2 + side] = np.bincount(at, weights=r[blocks], minlength=n)
        vectors[:, 4] = self.region_size
        return vectors

    def one_by_one(self) -> list[PaperGames]:
        """Return every game alone, without its grid."""
        counts = [
            np.bincount(of, minlength=len(self))
            for of in (self.block_game, self.region_game, self.region_game[self.edge_region])
        ]
        blocks, regions, edges = (np.concatenate([[0], np.cumsum(each)]) for each in counts)
        found = []
        for g in range(len(self)):
            b, e = slice(blocks[g], blocks[g + 1]), slice(regions[g], regions[g + 1])
            edge = slice(edges[g], edges[g + 1])
            found.append(
                PaperGames(
                    x=self.x[b], colour=self.colour[b], size=self.size[b], alive=self.alive[b],
                    block_game=self.block_game[b] - g, region_game=self.region_game[e] - g,
                    region_size=self.region_size[e],
                    edge_region=self.edge_region[edge] - regions[g],
                    edge_block=self.edge_block[edge] - blocks[g],
                    offset=self.offset[g : g + 1], score=self.score[g : g + 1],
                )
            )  # fmt: skip
        return found


@dataclass(frozen=True)
class Scaling:
    """Standardises features; the paper mentions no scaling."""

    mean: FloatArray
    deviation: FloatArray

    @classmethod
    def of(cls, games: PaperGames) -> Scaling:
        """Learn it from games."""
        return cls(games.x.mean(axis=0), np.maximum(games.x.std(axis=0), 1e-9))

    def __call__(self, games: PaperGames) -> PaperGames:
        """Return the games with standardised features."""
        return replace(games, x=(games.x - self.mean) / self.deviation)


def paper_games(
    games: GameArrays,
    scorer: BlockScorer | None = None,
    done: Callable[[int], None] = lambda number: None,
) -> PaperGames:
    """Describe finished games by the paper's 46 features.

    A `scorer` tells which blocks live in the games whose recorded score it explains.
    """
    padded, taken = last_positions(games)
    offset = games.komi.astype(np.float64) - taken[:, BLACK - 1] + taken[:, WHITE - 1]
    sizes = zip(padded, games.rows, games.cols, strict=True)
    grids = [np.ascontiguousarray(grid[:rows, :cols]) for grid, rows, cols in sizes]
    return described(grids, offset, -games.score.astype(np.float64), scorer, done)


def described(
    grids: Sequence[NDArray[np.int8]],
    offset: FloatArray,
    score: FloatArray,
    scorer: BlockScorer | None = None,
    done: Callable[[int], None] = lambda number: None,
) -> PaperGames:
    """Describe positions as `paper_games` does; `offset` and `score` are White's, one per game."""
    parts: dict[str, list[Any]] = defaultdict(list)
    blocks = regions = 0
    for g, grid in enumerate(grids):
        position = PositionFeatures(grid)
        stones = position.colour > 0
        number = np.where(stones, blocks + np.cumsum(stones) - 1, regions + np.cumsum(~stones) - 1)
        edges = number[np.argwhere(position.adjacent & ~stones[:, None] & stones)]
        status = np.full(len(position.size), UNKNOWN)
        if scorer is not None:
            dead = scorer.read(grid).dead
            if abs(counted(grid, dead) - (offset[g] - score[g])) < 0.01:
                status[:] = 1
                status[position.part[dead]] = 0
        parts["alive"].append(status[stones])
        parts["x"].append(position.paper()[stones])
        parts["colour"].append(position.colour[stones])
        parts["size"].append(position.size[stones].astype(np.float64))
        parts["block_game"].append(np.full(int(stones.sum()), g))
        parts["region_game"].append(np.full(int((~stones).sum()), g))
        parts["region_size"].append(position.size[~stones].astype(np.float64))
        parts["edge_region"].append(edges[:, 0])
        parts["edge_block"].append(edges[:, 1])
        blocks += int(stones.sum())
        regions += int((~stones).sum())
        done(g + 1)
    joined: dict[str, Any] = {name: np.concatenate(each) for name, each in parts.items()}
    x = np.delete(joined.pop("x"), SECOND_DISTANCES, axis=1)
    return PaperGames(x=x, offset=offset, score=score, grids=grids, **joined)


def counted(grid: NDArray[np.int8], dead: BoolArray) -> int:
    """Return Black's margin by the careful count, without komi and prisoners."""
    return int(territory_margin(grid, dead, True, np.zeros(grid.shape, np.int8)))
