"""The chance of each block of a position to survive, by one or more models.

A block survives when its colour owns its points at the end of the game.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import BLACK, Board, Move, Point, index_of
from tengen.board.drawing import panels
from tengen.contracts import OwnershipEvaluator
from tengen.models import has_model, load_learner
from tengen.models.defaults import network_for

_CELL = 26
_DEAD = 0.5
"""Blocks with a smaller chance are drawn faint."""


@dataclass(frozen=True)
class BlockSurvival:
    """One block and its chance to survive, by model name."""

    stones: tuple[Point, ...]
    colour: int
    chances: dict[str, float]

    @property
    def name(self) -> str:
        """The block's first stone."""
        return str(self.stones[0])

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "block": self.name,
            "colour": "black" if self.colour == BLACK else "white",
            "stones": [str(stone) for stone in self.stones],
            "chances": self.chances,
        }


@dataclass(frozen=True)
class Survival:
    """All blocks of a position, the weakest first."""

    board: Board
    blocks: tuple[BlockSurvival, ...]
    models: tuple[str, ...]

    def svg(self) -> str:
        """Draw one board per model: each block with its chance in percent, dead blocks faint."""
        return panels([(model, self._board(model)) for model in self.models], columns=2)

    def _board(self, model: str) -> str:
        marks: dict[Move, str] = {}
        dead: list[Move] = []
        for block in self.blocks:
            chance = block.chances[model]
            marks[block.stones[0]] = f"{100 * chance:.0f}"
            if chance < _DEAD:
                dead += list(block.stones)
        return self.board.svg(marks=marks, dead=dead, cell=_CELL)


def survival(board: Board, models: dict[str, OwnershipEvaluator]) -> Survival:
    """Return every block's chance to survive according to each model."""
    owners = {name: np.asarray(model.ownership(board)) for name, model in models.items()}
    found = [
        BlockSurvival(
            block.stones,
            block.colour,
            {name: _chance(block.stones, block.colour, owners[name], board) for name in owners},
        )
        for block in board.blocks()
    ]
    found.sort(key=lambda block: (min(block.chances.values()), block.name))
    return Survival(board, tuple(found), tuple(models))


def default_models(rows: int, cols: int) -> dict[str, OwnershipEvaluator]:
    """Load the models for boards of this size: `life` and the network, where installed."""
    names = ("life", network_for(rows, cols))
    models = {name: load_learner(name) for name in names if name and has_model(name)}
    return {name: one for name, one in models.items() if isinstance(one, OwnershipEvaluator)}


def _chance(stones: tuple[Point, ...], colour: int, owner: FloatArray, board: Board) -> float:
    """Return the chance that a block's points end as its own, from an ownership map."""
    places = [index_of(stone, board.rows, board.cols) for stone in stones]
    mine = float(owner[places].mean()) * (1 if colour == BLACK else -1)
    return min(max((1 + mine) / 2, 0.0), 1.0)
