"""The player, and what Tengen has to know of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from monte_carlo_go.kernels import simulate
from tengen.arrays import FloatArray
from tengen.board import BLACK, PASS, Board, Point
from tengen.game.endgame import candidates
from tengen.players import Option, PlayerKind

HEAT = 40.0  # places; half the points of the board: the first orders are nearly random


def move_values(
    board: Board, games: int, seed: int, *, heat: float = HEAT, cooling: bool = True
) -> tuple[FloatArray, float]:
    """Return each point's mean score for the side to move (NaN if never played), and of all games.

    >>> values, mean = move_values(Board(5), 200, seed=1)
    >>> board = Board(5)
    >>> bool(values[board.point("C3")] > values[board.point("A1")])
    True
    """
    shape = (3, board.state.shape[1])
    totals, counts = np.zeros(shape), np.zeros(shape, np.int64)
    mean = simulate(board.state, games, heat, cooling, seed, totals, counts)
    with np.errstate(invalid="ignore"):
        values: FloatArray = (totals / counts)[board.turn]
    return values, mean if board.turn == BLACK else -mean


@dataclass(eq=False, kw_only=True)
class GobblePlayer:
    """Play the move with the best mean score."""

    games: int = 2000
    heat: float = HEAT
    cooling: bool = True
    name: str = "gobble"

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose the move of the highest value; pass if only own eyes are left."""
        seed = int(rng.integers(2**62))
        values, _ = move_values(board, self.games, seed, heat=self.heat, cooling=self.cooling)
        points = [point for point in candidates(board) if np.isfinite(values[point])]
        return board.to_point(max(points, key=lambda p: values[p])) if points else PASS


KIND = PlayerKind(
    "gobble",
    "monte_carlo_go.player:GobblePlayer",
    "Monte Carlo Go of 1993: all moves as first, and simulated annealing.",
    (
        Option("games", "int", "games per move", "2000", 1),
        Option("heat", "float", "temperature of the first game, in places of the order", "40", 0),
        Option("cooling", "bool", "lower the temperature to nothing", "yes"),
    ),
    "gobble:games=500",
)
