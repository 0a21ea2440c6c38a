"""The chance of each block of a position to survive, from the ownership that a model expects.

A block survives when its colour owns its points at the end of the game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tengen.arrays import FloatArray
from tengen.board import BLACK, Board, Move, Point, index_of
from tengen.board.drawing import Mark

_DEAD = 0.5
"""Blocks with a smaller chance are drawn faint."""


@dataclass(frozen=True)
class BlockSurvival:
    """One block and its chance to survive."""

    stones: tuple[Point, ...]
    colour: int
    chance: float

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "colour": "black" if self.colour == BLACK else "white",
            "stones": [str(stone) for stone in self.stones],
            "survival": self.chance,
        }


def survival(board: Board, ownership: FloatArray) -> list[BlockSurvival]:
    """Return every block's chance to survive, the weakest first.

    `ownership` is row-major, from +1 for Black to -1 for White.
    """
    found = [
        BlockSurvival(block.stones, block.colour, _chance(block.stones, block.colour, ownership))
        for block in board.blocks()
    ]
    return sorted(found, key=lambda block: (block.chance, str(block.stones[0])))


def draw_survival(board: Board, blocks: Sequence[BlockSurvival]) -> str:
    """Draw the board as SVG with each block's chance in percent; doomed blocks are faint."""
    labels: dict[Move, str | Mark] = {b.stones[0]: f"{100 * b.chance:.0f}" for b in blocks}
    dead: list[Move] = [stone for b in blocks if b.chance < _DEAD for stone in b.stones]
    return board.svg(marks=labels, dead=dead)


def _chance(stones: tuple[Point, ...], colour: int, ownership: FloatArray) -> float:
    """Return the chance that a block's points end as its own."""
    places = [index_of(stone, stone.rows, stone.cols) for stone in stones]
    mine = float(ownership[places].mean()) * (1 if colour == BLACK else -1)
    return min(max((1 + mine) / 2, 0.0), 1.0)
