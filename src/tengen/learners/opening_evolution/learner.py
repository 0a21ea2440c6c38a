"""The estimator: fit evolves a network, save and load keep it, players and evaluators use it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tengen.board import BLACK, Board
from tengen.errors import ModelError
from tengen.learners.opening_evolution.games import NetworkPlayer
from tengen.learners.opening_evolution.networks import SHAPES, Shape, Weights
from tengen.learners.opening_evolution.training import Evolution, Measure, Plan, evolve
from tengen.models import Card, load_model, save_model

KIND = "opening-evolution"


class OpeningEvolution:
    """A network evolved to play openings.

    Parameters
    ----------
    plan
        What to evolve and how; see `Plan`.
    """

    def __init__(self, *, plan: Plan | None = None) -> None:
        self.plan = plan

    weights_: Weights
    first_best_: Weights
    shape_: Shape
    card_: Card

    def fit(
        self,
        measure: Measure,
        *,
        folder: Path | None = None,
        resume: bool = False,
        on_generation: Callable[[Evolution], None] = lambda run: None,
    ) -> Self:
        """Evolve; `measure_with` and `measure_on` make a measure from opponent and expert."""
        plan = self.plan or Plan()
        run = evolve(
            plan,
            measure,
            folder=folder,
            resume=resume,
            on_generation=on_generation,
        )
        self.weights_, self.shape_ = run.best.copy(), plan.shape()
        self.first_best_ = run.first_best.copy()
        return self

    def first_best(self) -> Self:
        """Return the best of generation 0 of the same run, for comparison."""
        twin = type(self)(plan=self.plan)
        twin.weights_, twin.shape_ = self.first_best_, self.shape_
        return twin

    def save(self, path: str | PathLike[str], card: Card | None = None) -> None:
        """Write the network with its card."""
        plan = self.plan or Plan()
        card = card or Card(name=Path(path).stem, kind=KIND, what="an evolved opening player")
        recipe: dict[str, Any] = {**card.recipe, **asdict(plan)}
        save_model(path, {"weights": self.weights_}, card.model_copy(update={"recipe": recipe}))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read what `save` wrote.

        Raises
        ------
        ModelError
            For any other file.
        """
        tensors, card = load_model(path, kind=KIND)
        known = Plan.__dataclass_fields__
        try:
            plan = Plan(**{key: value for key, value in card.recipe.items() if key in known})
            model = cls(plan=plan)
            model.weights_ = np.asarray(tensors["weights"], np.float64)
        except (KeyError, TypeError, ValueError) as fault:
            raise ModelError(f"{path}: no evolved network in it ({fault})") from None
        model.shape_, model.card_ = plan.shape(), card
        if model.weights_.shape != (model.shape_.n_weights,):
            raise ModelError(
                f"{path}: {model.weights_.shape} weights for a network of {model.shape_.n_weights}"
            )
        return model

    # ----- What it offers -----

    def values(self, boards: Sequence[Board]) -> NDArray[np.float64]:
        """Return what the network thinks, from Black's view.

        The output has no unit; it is stretched to the points of the board, which keeps its order.
        """
        return np.array([self._value(board) for board in boards])

    def _value(self, board: Board) -> float:
        self._check(board)
        # Positions are judged after a move, by the side that made it.
        me = 3 - board.turn
        value = self.shape_.value(self.weights_, board, me)
        return (value if me == BLACK else -value) * board.rows * board.cols

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        """Choose the network's move, look-ahead included; a pass if it is illegal."""
        self._check(board)
        return self.player().choose(board, rng)

    def player(self) -> NetworkPlayer:
        """Return the network as a player that does not ask for the board's size."""
        chances = self.plan.chances if self.plan else 0
        return NetworkPlayer(self.shape_, self.weights_, self.name, chances)

    @property
    def opening_plies(self) -> int:
        """How many plies of a game it evolved for."""
        return 2 * (self.plan or Plan()).moves

    @property
    def name(self) -> str:
        """The model's name."""
        return (getattr(self, "card_", None) and self.card_.name) or "evolved"

    def _check(self, board: Board) -> None:
        if (board.rows, board.cols) != (self.shape_.rows, self.shape_.cols):
            raise ModelError(
                f"model {self.name} plays on {self.shape_.rows}x{self.shape_.cols}, "
                f"not on {board.rows}x{board.cols}"
            )


__all__ = ["KIND", "SHAPES", "OpeningEvolution"]
