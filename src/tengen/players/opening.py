"""Play a learned opening, then hand over to another player."""

from __future__ import annotations

import copy

import numpy as np

from tengen.board import Board, Point
from tengen.contracts import Evaluator, Player, TimedPlayer
from tengen.players.greedy import GreedyPlayer


class OpeningPlayer:
    """Play greedily by an evaluator for the first `moves` plies of the game, then as `then`.

    A model that is a player itself (evolved networks look ahead) chooses its own moves. Without
    `moves` the model's own `opening_plies` counts, else a quarter of the points.
    """

    def __init__(
        self, *, model: Evaluator, moves: int | None = None, then: Player | None = None
    ) -> None:
        if then is None:
            from tengen.players.spec import make_player

            then = make_player("mcts")
        self.name = "opening"
        self.model = model
        self.moves = moves
        self.then = then
        self._opening: Player = model if isinstance(model, Player) else GreedyPlayer(model=model)

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose by the opening's model or by the player after it."""
        if len(board.moves) < self.plies(board):
            return self._opening.choose(board, rng)
        return self.then.choose(board, rng)

    def plies(self, board: Board) -> int:
        """Return how many plies of a game on this board are the opening."""
        return self.moves if self.moves is not None else opening_plies(self.model, board)

    def within(self, seconds: float) -> OpeningPlayer:
        """Return the same player with the later player under a clock, where it knows clocks."""
        twin = copy.copy(self)
        if isinstance(self.then, TimedPlayer):
            twin.then = self.then.within(seconds)
        return twin

    def close(self) -> None:
        """Close the later player."""
        close = getattr(self.then, "close", None)
        if close is not None:
            close()


def opening_plies(model: Evaluator, board: Board) -> int:
    """Return how long a model's opening lasts: as it says itself, or a quarter of the points."""
    own = getattr(model, "opening_plies", None)
    return int(own) if own is not None else board.rows * board.cols // 4
