"""The player, and what Tengen has to know of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from brugmann1993.kernels import simulate
from tengen.arrays import FloatArray
from tengen.board import PASS, Board, Point
from tengen.game.endgame import candidates
from tengen.players import Option, PlayerKind


def move_values(board: Board, games: int, heat: float, seed: int) -> FloatArray:
    """Return each point's mean score for the side to move; NaN where it was never played."""
    shape = (3, board.state.shape[1])
    totals, counts = np.zeros(shape), np.zeros(shape, np.int64)
    simulate(board.state, games, heat, seed, totals, counts)
    with np.errstate(invalid="ignore"):
        values: FloatArray = (totals / counts)[board.turn]
    return values


@dataclass(eq=False, kw_only=True)
class AnnealingPlayer:
    """Play the move with the best mean score."""

    games: int = 2000
    heat: float = 20.0
    name: str = "annealing"

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose the move of the highest value; pass if only own eyes are left."""
        values = move_values(board, self.games, self.heat, int(rng.integers(2**62)))
        points = [point for point in candidates(board) if np.isfinite(values[point])]
        return board.to_point(max(points, key=lambda p: values[p])) if points else PASS


KIND = PlayerKind(
    "annealing",
    "brugmann1993.player:AnnealingPlayer",
    "Monte Carlo Go of 1993: all moves as first, and simulated annealing.",
    (
        Option("games", "int", "games per move", "2000", 1),
        Option("heat", "float", "noise of the first games, in points", "20", 0),
    ),
    "annealing:games=500",
)
