"""Describe positions in the middle of games: blocks that may live or die, points that may be won.

Blocks have the scorer's features, less those that tell the size of the board, and two of the
moment: whose turn it is, and how open playouts leave the board. A point is described by who owned
it in playouts and by the influence of the stones around it, each weighted by its chance to live.
All is seen from the block's own side, or Black's; nothing here judges.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray, IntArray
from tengen.board import BLACK, WHITE
from tengen.learners.scoring.blocks_kernels import PAPER
from tengen.learners.scoring.features import INPUTS, Described
from tengen.records import GameArrays
from tengen.records.corpus import last_positions

_MOMENT = 2
_OF_SIZE = (PAPER + 38, PAPER + 39)
"""The scorer's features that are shares of the board: all that is learned from is 19x19."""
KEPT = np.setdiff1d(np.arange(INPUTS), _OF_SIZE)
"""The scorer's features that are looked at."""
BLOCK_INPUTS = len(KEPT) + _MOMENT
_SPREADS = (1, 2, 4, 8, 16)
"""Steps of diffusion after which influence is looked at."""
ODD = 4 + 2 * len(_SPREADS) + 1
"""Numbers of a point that change their sign when the colours are swapped."""
_EVEN = 4
POINT_INPUTS = ODD + _EVEN


def cut(games: GameArrays, plies: IntArray) -> tuple[GameArrays, NDArray[np.int8]]:
    """Return the games up to `plies` moves each, and whose turn it is then.

    After the last move the turn is that of whoever did not play it; without moves, the first's.
    """
    lengths = games.lengths()
    plies = np.minimum(plies, lengths)
    number = np.arange(len(games.moves)) - np.repeat(games.offsets[:-1], lengths)
    kept = number < np.repeat(plies, lengths)
    short = replace(
        games,
        moves=games.moves[kept],
        colours=games.colours[kept],
        offsets=np.concatenate([[0], np.cumsum(plies)]),
    )
    turn = games.first.astype(np.int8).copy()
    turn[turn == 0] = BLACK
    for g in range(len(games)):
        at = games.offsets[g] + plies[g]
        if plies[g] < lengths[g]:
            turn[g] = games.colours[at]
        elif lengths[g]:
            turn[g] = 3 - games.colours[at - 1]
    return short, turn


def grids_at(games: GameArrays, plies: IntArray) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return the positions after `plies` moves of each game and whose turn it is."""
    short, turn = cut(games, plies)
    return last_positions(short)[0], turn


def block_inputs(described: Described, turn: int) -> FloatArray:
    """Return BLOCK_INPUTS numbers of every block, in the order of `described.blocks`."""
    blocks = described.blocks
    moment = np.empty((len(blocks), _MOMENT))
    moment[:, 0] = np.where(described.colour[blocks] == turn, 1.0, -1.0)
    moment[:, 1] = _openness(described)
    return np.concatenate([described.features[blocks][:, KEPT], moment], axis=1)


def _openness(described: Described) -> float:
    """Return how little playouts agree, 10 at most; a measure of the phase on boards of any size.

    The share of empty points is not one: small boards end emptier than large ones.
    """
    return 10.0 * float(1.0 - np.abs(described.ownership).mean())


def point_inputs(described: Described, alive: FloatArray, turn: int) -> FloatArray:
    """Return POINT_INPUTS numbers of every point as Black sees it, row-major.

    `alive` is the chance to live of every part; the first ODD columns change their sign when the
    colours and the turn are swapped, the others stay.
    """
    grid = described.grid
    rows, cols = grid.shape
    points = rows * cols
    assert described.means is not None
    mover = 0 if turn == BLACK else 1
    light, light_other = described.means[mover], described.means[1 - mover]
    heavy, heavy_other = described.means[2 + mover], described.means[3 - mover]
    colour = np.where(grid == BLACK, 1.0, np.where(grid == WHITE, -1.0, 0.0))
    life = alive[described.part_grid]
    out = np.empty((points, POINT_INPUTS))
    out[:, 0], out[:, 1] = 3 * heavy, 3 * light
    out[:, 2], out[:, 3] = 3 * heavy_other, 3 * light_other
    sure = np.where(grid > 0, colour * (2 * life - 1), 0.0)
    # Influence without an end: what is laid down spreads, and stones keep laying down.
    column = 4
    field, walled = np.zeros_like(sure), np.zeros_like(sure)
    for step in range(1, _SPREADS[-1] + 1):
        field = _spread(field + sure)
        walled = np.where(grid > 0, sure, _spread(walled + sure))
        if step in _SPREADS:
            out[:, column], out[:, column + 1] = 4 * field.ravel(), 4 * walled.ravel()
            column += 2
    out[:, column] = 1.0 if turn == BLACK else -1.0
    r, c = np.indices(grid.shape)
    edges = np.sort(
        np.stack([np.minimum(r, rows - 1 - r).ravel(), np.minimum(c, cols - 1 - c).ravel()]), axis=0
    )
    out[:, ODD], out[:, ODD + 1] = edges[0], edges[1]
    out[:, ODD + 2] = _openness(described)
    near = np.abs(sure)
    for _ in range(3):
        near = _spread(near)
    out[:, ODD + 3] = 8 * near.ravel()
    return out


def swapped(inputs: FloatArray) -> FloatArray:
    """Return the inputs of points as White sees them."""
    other = inputs.copy()
    other[:, :ODD] *= -1.0
    return other


def _spread(field: FloatArray) -> FloatArray:
    """Return every point's mean of itself and its neighbours; the edge gives back what it gets."""
    padded = np.pad(field, 1, mode="edge")
    mean: FloatArray = (
        4 * field + padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    ) / 8
    return mean
