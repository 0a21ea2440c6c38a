"""Say of each block of a position how likely it lives: by the learned `life`, and by the network.

A block lives when its colour owns its points as the game ends. Models come as arguments or by their
usual names; nothing here trains or counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import BLACK, Board, Move, Point, index_of
from tengen.contracts import OwnershipEvaluator
from tengen.models import has_model, load_learner
from tengen.models.defaults import network_for

_LIFE = "life"
_CELL = 26
_DEAD = 0.5
"""Chance below which a block is drawn faint."""


@dataclass(frozen=True)
class Fate:
    """One block and its chances to live, by the name of who says so."""

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
class Fates:
    """All blocks of a position, those least sure to live first."""

    board: Board
    blocks: tuple[Fate, ...]
    models: tuple[str, ...]

    def svg(self) -> str:
        """Draw a board a model: percent on each block, the lost faint."""
        width, height = (self.board.cols + 1) * _CELL, (self.board.rows + 1) * _CELL
        out = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 '
            f'{(width + 12) * len(self.models):g} {height + 24:g}" '
            f'width="{(width + 12) * len(self.models):g}" height="{height + 24:g}" '
            f'font-family="sans-serif"><rect width="100%" height="100%" fill="#fff"/>'
        ]
        for number, model in enumerate(self.models):
            left = number * (width + 12)
            out.append(
                f'<g transform="translate({left:g} 0)"><text x="{width / 2:g}" y="16" '
                f'font-size="14" text-anchor="middle">{escape(model)}</text>'
                f'<g transform="translate(0 24)">{self._board(model)}</g></g>'
            )
        return "\n".join([*out, "</svg>"])

    def _board(self, model: str) -> str:
        labels: dict[Move, str] = {}
        dead: list[Move] = []
        for fate in self.blocks:
            chance = fate.chances[model]
            labels[fate.stones[0]] = f"{100 * chance:.0f}"
            if chance < _DEAD:
                dead += list(fate.stones)
        return self.board.svg(labels=labels, dead=dead, cell=_CELL)


def foretell(board: Board, models: dict[str, OwnershipEvaluator]) -> Fates:
    """Ask every model for the chances of every block of a position."""
    owners = {name: np.asarray(model.ownership(board)) for name, model in models.items()}
    found = [
        Fate(
            block.stones,
            block.colour,
            {name: _chance(block.stones, block.colour, owners[name], board) for name in owners},
        )
        for block in board.blocks()
    ]
    found.sort(key=lambda fate: (min(fate.chances.values()), fate.name))
    return Fates(board, tuple(found), tuple(models))


def usual_models(rows: int, cols: int) -> dict[str, OwnershipEvaluator]:
    """Load `life`, and the network for such boards, as far as they are installed."""
    names = (_LIFE, network_for(rows, cols))
    models = {name: load_learner(name) for name in names if name and has_model(name)}
    return {name: one for name, one in models.items() if isinstance(one, OwnershipEvaluator)}


def _chance(stones: tuple[Point, ...], colour: int, owner: FloatArray, board: Board) -> float:
    """Return how likely a block's points end as its own, given who owns what."""
    places = [index_of(stone, board.rows, board.cols) for stone in stones]
    mine = float(owner[places].mean()) * (1 if colour == BLACK else -1)
    return min(max((1 + mine) / 2, 0.0), 1.0)
