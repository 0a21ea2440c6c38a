"""Evolved openings as an estimator: fit, evaluate positions, choose moves, save and load."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import BLACK, Board, Point
from tengen.errors import ModelError
from tengen.learners.opening_evolution.networks import Shape, Weights
from tengen.learners.opening_evolution.settings import DEFAULTS, EvolutionSettings
from tengen.learners.opening_evolution.training import Breeding, Measure, NetworkPlayer, evolve
from tengen.models import Card, StoredLearner
from tengen.models.runs import Run
from tengen.models.settings import from_recipe, to_plain
from tengen.models.store import Tensors

KIND = "opening-evolution"


class OpeningEvolution(StoredLearner):
    """A network evolved to play openings, after Kendall 2004.

    Parameters
    ----------
    settings
        What to evolve and how; see `EvolutionSettings`.
    """

    kind = KIND
    weights_: Weights

    def __init__(self, *, settings: EvolutionSettings = DEFAULTS) -> None:
        self.settings = settings

    @property
    def shape(self) -> Shape:
        """The kind of network."""
        return self.settings.shape()

    def fit(
        self,
        measure: Measure,
        *,
        run: Run[EvolutionSettings] | None = None,
        on_generation: Callable[[Breeding], None] = lambda breeding: None,
    ) -> Self:
        """Evolve; `measure_with` and `measure_on` make a measure from opponent and expert.

        With a run the evolution continues there and writes checkpoints and snapshots.
        """

        def keep(generation: int, weights: Weights) -> None:
            if run:
                twin = type(self)(settings=self.settings)
                twin.weights_ = weights
                twin.save(run.snapshot(generation))

        breeding = evolve(
            self.settings, measure, run=run, on_best=keep, on_generation=on_generation
        )
        self.weights_ = breeding.best.copy()
        return self

    def _about(self) -> dict[str, Any]:
        return {"what": "an evolved opening player", "recipe": to_plain(self.settings)}

    def _tensors(self) -> Tensors:
        return {"weights": self.weights_}

    @classmethod
    def _restored(cls, tensors: Tensors, card: Card) -> Self:
        model = cls(settings=from_recipe(EvolutionSettings, card.recipe))
        model.weights_ = np.asarray(tensors["weights"], np.float64)
        size = model.shape.n_weights
        if model.weights_.shape != (size,):
            raise ModelError(f"{model.weights_.shape} weights for a network of {size}")
        return model

    # ----- Evaluating and playing -----

    def values(self, boards: Sequence[Board]) -> FloatArray:
        """Return the network's output from Black's view, scaled to the points of the board.

        The output has no unit of its own.
        """
        return np.array([self._value(board) for board in boards])

    def _value(self, board: Board) -> float:
        self._check(board)
        # Positions are evaluated after a move, for the side that made it.
        me = 3 - board.turn
        value = self.shape.value(self.weights_, board, me) * board.rows * board.cols
        # Evolved under one komi; another one changes the score by the difference.
        return (value if me == BLACK else -value) - (board.white_bonus - self.settings.komi)

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose the network's move, look-ahead included; a pass if it is illegal."""
        self._check(board)
        return self.player().choose(board, rng)

    def player(self) -> NetworkPlayer:
        """Return the network as a player that does not check the board's size."""
        return NetworkPlayer(self.shape, self.weights_, self.name)

    @property
    def opening_plies(self) -> int:
        """The number of plies of a game that it evolved for."""
        return 2 * self.settings.moves

    @property
    def name(self) -> str:
        """The model's name."""
        return self.card_.name if self.card_ else "evolved"

    def _check(self, board: Board) -> None:
        rows, cols = self.shape.rows, self.shape.cols
        if (board.rows, board.cols) != (rows, cols):
            raise ModelError(
                f"model {self.name} plays on {rows}x{cols}, not on {board.rows}x{board.cols}"
            )
        if not hasattr(self, "weights_"):
            raise ModelError(f"model {self.name} has evolved nothing yet: call fit")
