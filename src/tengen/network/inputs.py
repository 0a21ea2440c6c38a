"""Positions as the network reads them: packed (see `inputs_kernels`), and laid out as planes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, Float32Array
from tengen.board import PASS, Board, index_of
from tengen.board import layout_kernels as layout
from tengen.network.inputs_kernels import (
    CATCHES_BIT,
    ENEMY,
    HISTORY,
    KO_BIT,
    LADDER,
    LIBERTIES,
    NOWHERE,
    OWN,
    TAKES,
    encode,
)

POINT_PLANES = (
    "own stone", "enemy stone", "board", "one liberty", "two liberties", "three liberties",
    "lost in a ladder", "may not be played", "one liberty after", "two liberties after",
    "takes stones", "catches in a ladder", "ko",
)  # fmt: skip
"""Planes that follow from the byte of a point."""
KOMI_SCALE = 10.0  # points of komi that make a plane of ones
# Constant planes, each with a function that computes it from `Positions` (NumPy or PyTorch).
BOARD_PLANES: dict[str, Callable[[Any], Any]] = {
    "komi for the side to move": lambda positions: positions.komi / KOMI_SCALE,
    "territory is counted": lambda positions: positions.territory,
    "the last move was a pass": lambda positions: positions.passed,
}
PLANES = (*POINT_PLANES, *(f"move {n + 1} ago" for n in range(HISTORY)), *BOARD_PLANES)
N_PLANES = len(PLANES)
FIRST_BOARD_PLANE = N_PLANES - len(BOARD_PLANES)
KOMI_PLANE, TERRITORY_PLANE = FIRST_BOARD_PLANE, FIRST_BOARD_PLANE + 1


def _point_planes(code: int) -> list[bool]:
    colour, liberties = code & 3, code >> LIBERTIES & 3
    stone, empty = colour in (OWN, ENEMY), colour == 0
    legal = empty and liberties > 0
    return [
        colour == OWN, colour == ENEMY, True,
        stone and liberties == 0, stone and liberties == 1, stone and liberties == 2,
        stone and bool(code & LADDER),
        empty and not legal, legal and liberties == 1, legal and liberties == 2,
        legal and bool(code & TAKES), legal and bool(code & CATCHES_BIT),
        empty and bool(code & KO_BIT),
    ]  # fmt: skip


TABLE: Float32Array = np.array([_point_planes(code) for code in range(128)], np.float32)
"""Row `code` holds the planes of a point with that byte."""


@dataclass(frozen=True)
class Positions:
    """Packed inputs of the network for some positions of one board size."""

    rows: int
    cols: int
    codes: NDArray[np.uint8]  # positions x points: a byte per point
    history: NDArray[np.int16]  # positions x HISTORY: the last moves, latest first, or NOWHERE
    passed: BoolArray  # whether the last move was a pass
    komi: Float32Array  # points the side to move receives, or pays; see `Board.white_bonus`
    territory: BoolArray

    def __len__(self) -> int:
        return len(self.codes)

    def part(self, cut: slice) -> Positions:
        """Return some of the positions, in their order."""
        arrays: Any = self.codes, self.history, self.passed, self.komi, self.territory
        return Positions(self.rows, self.cols, *(array[cut] for array in arrays))

    def facts(self) -> Float32Array:
        """Return the numbers of the constant planes: positions x BOARD_PLANES."""
        return np.stack([fact(self) for fact in BOARD_PLANES.values()], 1).astype(np.float32)

    def planes(self) -> Float32Array:
        """Return positions x planes x rows x columns, as the network reads them."""
        points = self.rows * self.cols
        out = np.empty((len(self), points, N_PLANES), np.float32)
        out[..., : len(POINT_PLANES)] = TABLE[self.codes]
        places = np.arange(points)
        moves = slice(len(POINT_PLANES), FIRST_BOARD_PLANE)
        out[..., moves] = self.history[:, None, :] == places[None, :, None]
        out[..., FIRST_BOARD_PLANE:] = self.facts()[:, None, :]
        grid = out.reshape(len(self), self.rows, self.cols, N_PLANES)
        return np.ascontiguousarray(grid.transpose(0, 3, 1, 2))


def of_boards(boards: Sequence[Board], *, ladders: bool = True) -> Positions:
    """Pack boards of one size, each seen from its side to move."""
    rows, cols = boards[0].rows, boards[0].cols
    codes = np.empty((len(boards), rows * cols), np.uint8)
    history = np.full((len(boards), HISTORY), NOWHERE, np.int16)
    passed = np.zeros(len(boards), np.bool_)
    for i, board in enumerate(boards):
        encode(board.state, board.turn, ladders, codes[i])
        for ago, (_, point) in enumerate(reversed(board.moves[-HISTORY:])):
            if point != PASS:
                history[i, ago] = index_of(point, rows, cols)
        passed[i] = bool(board.moves) and board.moves[-1][1] == PASS
    komi = np.array([(1 if b.turn == layout.WHITE else -1) * b.white_bonus for b in boards])
    territory = np.array([b.rules.scoring == "territory" for b in boards], np.bool_)
    return Positions(rows, cols, codes, history, passed, komi.astype(np.float32), territory)
