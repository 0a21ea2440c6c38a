"""A model of the paper's assumption: a stone is worth the same whenever it is played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from monte_carlo_go.player import HEAT, move_values
from tengen.arrays import FloatArray
from tengen.board import BLACK, WHITE, Board, points_at
from tengen.errors import TengenError
from tengen.models import (
    Card,
    CheckedSettings,
    StoredLearner,
    check_shapes,
    from_plain,
    setting,
    to_plain,
)
from tengen.parallel import spawn_seeds


@dataclass(frozen=True)
class FirstMovesSettings(CheckedSettings):
    """How the moves on the empty board are valued."""

    size: int = setting(9, "Board size.", least=2, most=25)
    evaluations: int = setting(100, "Evaluations of the empty board, each from nothing.", least=1)
    games: int = setting(2000, "Games per evaluation.", least=1)
    heat: float = setting(HEAT, "Temperature of the first game.", least=0)
    seed: int = setting(0, "Seed of all random choices.", least=0)


DEFAULTS = FirstMovesSettings()


class FirstMoves(StoredLearner):
    """The sum of the values of Black's stones, less that of White's; nothing but the place counts.

    Learned: `values_`, points that a stone gains beyond the mean, one per row and column.
    """

    kind = "monte-carlo-go"

    def __init__(self, *, settings: FirstMovesSettings = DEFAULTS) -> None:
        self.settings = settings

    def fit(self) -> Self:
        """Average evaluations of the empty board, and all its symmetries."""
        how, found = self.settings, []
        board, points = Board(how.size), points_at(np.arange(how.size**2), how.size, how.size)
        for seed in spawn_seeds(how.seed, how.evaluations):
            values, mean = move_values(board, how.games, seed, heat=how.heat)
            found.append(np.where(np.isnan(values), mean, values)[points])
        grid = np.mean(found, axis=0).reshape(how.size, how.size)
        turned = [np.rot90(each, turn) for each in (grid, grid.T) for turn in range(4)]
        self.values_: FloatArray = np.mean(turned, axis=0) - grid.mean()
        return self

    def values(self, boards: Sequence[Board]) -> FloatArray:
        """Return the expected final score for Black, komi included, one per board."""
        return np.array([self._value(board) for board in boards], np.float64)

    def _value(self, board: Board) -> float:
        if (board.rows, board.cols) != self.values_.shape:
            raise TengenError(f"this model is for boards of size {self.settings.size}")
        stones = board.grid()
        black, white = (self.values_[stones == colour].sum() for colour in (BLACK, WHITE))
        return float(black - white - board.white_bonus)

    def _tensors(self) -> Mapping[str, FloatArray]:
        return {"values": self.values_}

    def _about(self) -> dict[str, Any]:
        size = self.settings.size
        return {
            "what": "Values of a stone by its place, from all moves as first.",
            "data": f"random games from the empty board of size {size}",
            "recipe": to_plain(self.settings), "seed": self.settings.seed, "sizes": [(size, size)],
        }  # fmt: skip

    @classmethod
    def _restored(cls, tensors: dict[str, FloatArray], card: Card) -> Self:
        made = cls(settings=from_plain(FirstMovesSettings, card.recipe))
        check_shapes(tensors, {"values": (made.settings.size, made.settings.size)})
        made.values_ = tensors["values"]
        return made
