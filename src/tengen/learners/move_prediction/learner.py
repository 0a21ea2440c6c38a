"""The move predictor as an estimator and a policy: fit, save, load, priors, evaluate."""

from __future__ import annotations

import time
from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tengen.arrays import FloatArray
from tengen.errors import ModelError
from tengen.learners.move_prediction.model import Measured, PredictionModel
from tengen.learners.move_prediction.settings import PredictionSettings
from tengen.learners.move_prediction.training import refuse_unsuitable
from tengen.models import Card, Run, StoredLearner, fingerprint, from_plain, to_plain
from tengen.models.store import Tensors

if TYPE_CHECKING:
    from tengen.board import Board
    from tengen.records.arrays import GameArrays

_PASS_PRIOR = 1e-4
"""Prior of a pass while other moves are legal: passes are not predicted."""
_DEFAULTS = PredictionSettings()


class MovePredictor(StoredLearner):
    """Predict how likely a strong player is to choose each legal move.

    It does not evaluate positions, and it never predicts a pass.
    """

    kind = "move-prediction"

    def __init__(self, *, settings: PredictionSettings = _DEFAULTS) -> None:
        self.settings = settings

    # ----- Learning -----

    def fit(
        self,
        games: GameArrays,
        *,
        run: Run[Any] | None = None,
        workers: int = 1,
        ray: str | None = None,
        on_report: Callable[[str], None] = lambda line: None,
    ) -> Self:
        """Learn from games of one size, as returned by `reading.read_games`.

        With `run`, checkpoints are saved there and an interrupted training continues from the last
        one. Games with setup stones or fewer than ten moves raise `TengenError`.
        """
        from tengen.learners.move_prediction.training import train

        refuse_unsuitable(games)
        model = train(games, self.settings, run=run, workers=workers, ray=ray, on_report=on_report)
        self.card_ = None
        return self._set(model)

    def open_run(
        self, folder: str | PathLike[str], games: GameArrays, *, resume: bool = False
    ) -> Run[PredictionSettings]:
        """Open the folder of a training on these games, for `fit`.

        Raises
        ------
        RunError
            If it holds another run, or the same one without `resume`.
        """
        data = {"games": fingerprint(games.moves, games.colours, games.offsets)}
        return Run.open(folder, self.kind, self.settings, data=data, resume=resume)

    @classmethod
    def of(cls, model: PredictionModel, settings: PredictionSettings) -> Self:
        """Return a predictor with an existing model."""
        return cls(settings=settings)._set(model)

    def _set(self, model: PredictionModel) -> Self:
        self.model_ = model
        self.sizes_ = model.sizes
        self._tables: dict[tuple[int, int], Any] = {}
        return self

    # ----- Files -----

    def _about(self) -> dict[str, Any]:
        return {
            "what": f"Predicts experts' moves by maximum entropy ({self.model_.features} features)",
            "recipe": {"settings": to_plain(self.settings)},
            "seed": self.settings.seed,
            "sizes": self.sizes_,
        }

    def _tensors(self) -> Tensors:
        return self.model_.tensors()

    @classmethod
    def _restored(cls, tensors: Tensors, card: Card) -> Self:
        sizes = [(int(rows), int(cols)) for rows, cols in card.sizes]
        try:
            settings = from_plain(PredictionSettings, card.recipe.get("settings") or {})
            model = PredictionModel.from_tensors(tensors, sizes)
        except (LookupError, ValueError) as failure:
            raise ModelError(f"not a complete move predictor ({failure})") from None
        return cls.of(model, settings)

    # ----- Use -----

    def check_size(self, rows: int, cols: int) -> None:
        """Raise `ModelError` if the model was trained for other board sizes."""
        if (rows, cols) not in self.sizes_:
            known = ", ".join(f"{r}x{c}" for r, c in self.sizes_)
            name = "this predictor" if self.card_ is None else self.card_.name
            raise ModelError(f"{name} predicts moves on {known}, not on {rows}x{cols}")

    def priors(self, board: Board) -> FloatArray:
        """Return rows x columns + 1 probabilities, pass last; zero where illegal; sum 1.

        A pass gets 0.0001, or 1 if nothing else is legal.
        """
        size = board.rows, board.cols
        self.check_size(*size)
        if size not in self._tables:
            self._tables[size] = self.model_.tables(*size)
        points, priors = self.model_.priors(board, self._tables[size])
        out: FloatArray = np.zeros(board.rows * board.cols + 1)
        width = board.cols + 1
        out[(points // width - 1) * board.cols + points % width - 1] = priors
        legal = board.legal_mask()[:-1]
        out[:-1][~legal] = 0.0  # superko
        if legal.any() and out.sum() <= 0.0:
            out[:-1][legal] = 1.0  # superko forbids every move that has any weight
        if legal.any():
            out *= (1.0 - _PASS_PRIOR) / out.sum()
        out[-1] = _PASS_PRIOR if legal.any() else 1.0
        shares: FloatArray = out / out.sum()
        return shares

    def evaluate(self, games: GameArrays) -> Measured:
        """Predict every move of the games and compare; ties share credit, passes are left out."""
        refuse_unsuitable(games)
        for rows, cols in sorted(set(zip(games.rows, games.cols, strict=True))):
            self.check_size(int(rows), int(cols))
        self.model_.evaluate(games.take([0]), Measured())  # compiles before the clock starts
        measured = Measured(games=len(games))
        began = time.process_time()
        self.model_.evaluate(games, measured)
        measured.seconds = time.process_time() - began
        return measured
