"""The move predictor: the estimator and policy around its model."""

from __future__ import annotations

import time
from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tengen.arrays import FloatArray
from tengen.board.coordinates import indices_of
from tengen.errors import ModelError
from tengen.models import Card, Run, StoredLearner, View, fingerprint, from_plain, to_plain
from tengen.models.params import only_processor
from tengen.models.store import Tensors
from tengen.papers.move_prediction.kernels import RINGS
from tengen.papers.move_prediction.model import Measured, PredictionModel, feature_count
from tengen.papers.move_prediction.settings import PredictionSettings

if TYPE_CHECKING:
    from tengen.board import Board
    from tengen.records.arrays import GameArrays

_PASS_PRIOR = 1e-4  # prior of a pass while other moves are legal: passes are not predicted
_DEFAULTS = PredictionSettings()


class MovePredictor(StoredLearner):
    """Predict how likely a strong player is to choose each legal move; never a pass."""

    kind = "move-prediction"
    view = View(
        "Move predictor",
        "Patterns of experts' games, re-ranked by maximum entropy, give every move a probability.",
        {"19x19": "predictor-paper"}, order=4,
    )  # fmt: skip

    def __init__(self, *, settings: PredictionSettings = _DEFAULTS) -> None:
        self.settings = settings

    # ----- Learning -----

    def fit(
        self,
        games: GameArrays,
        *,
        device: str = "auto",
        run: Run[Any] | None = None,
        workers: int = 1,
        ray: str | None = None,
        on_line: Callable[[str], None] = lambda line: None,
    ) -> Self:
        """Learn from games of one size, as returned by `training.read_games`.

        With `run`, an interrupted training continues from its last checkpoint there.
        """
        from tengen.papers.move_prediction.training import refuse_unsuitable, train

        only_processor(device)
        refuse_unsuitable(games)
        self.model_ = train(
            games, self.settings, run=run, workers=workers, ray=ray, on_line=on_line
        )
        self.card_ = None
        return self

    def open_run(
        self, folder: str | PathLike[str], games: GameArrays, *, resume: bool = False
    ) -> Run[PredictionSettings]:
        """Open a run folder for training on these games; pass the result to `fit`."""
        data = {"games": fingerprint(games.moves, games.colours, games.offsets)}
        return Run.open(folder, self.kind, self.settings, data=data, resume=resume)

    @classmethod
    def of(cls, model: PredictionModel, settings: PredictionSettings) -> Self:
        """Return a predictor with an existing model."""
        predictor = cls(settings=settings)
        predictor.model_ = model
        return predictor

    # ----- Files -----

    def _about(self) -> dict[str, Any]:
        return {
            "what": f"Predicts experts' moves by maximum entropy ({self.model_.features} features)",
            "recipe": {"settings": to_plain(self.settings)},
            "seed": self.settings.seed,
            "sizes": self.model_.sizes,
        }

    def _tensors(self) -> Tensors:
        model = self.model_
        used = np.flatnonzero(model.weights)  # zero weights are left out
        return {
            "keys": model.keys,
            "frequency": model.frequency.astype(np.float32),
            "weight_index": used.astype(np.uint32),
            "weights": model.weights[used].astype(np.float16),
            "templates": model.templates,
            "top": np.array([model.top], np.int64),
        }

    @classmethod
    def _restored(cls, tensors: Tensors, card: Card) -> Self:
        settings = from_plain(PredictionSettings, card.recipe.get("settings") or {})
        keys, frequency = tensors["keys"], tensors["frequency"].astype(np.float64)
        weights = np.zeros(feature_count(len(frequency)))
        weights[tensors["weight_index"]] = tensors["weights"]
        top, templates = int(tensors["top"][0]), tensors["templates"]
        # The kernels check no bounds, so foreign files must be rejected here.
        if len(frequency) != len(keys) + 1 or not card.sizes:
            raise ModelError(f"{len(frequency)} frequencies for {len(keys)} patterns")
        if top < 0 or list(templates) != sorted(set(templates) & set(range(RINGS))):
            raise ModelError(f"templates {templates.tolist()}, {top} candidates")
        sizes = [(int(rows), int(cols)) for rows, cols in card.sizes]
        return cls.of(PredictionModel(keys, frequency, weights, templates, top, sizes), settings)

    # ----- Use -----

    def check_size(self, rows: int, cols: int) -> None:
        """Raise `ModelError` if the model was trained for other board sizes."""
        if (rows, cols) not in self.model_.sizes:
            known = ", ".join(f"{r}x{c}" for r, c in self.model_.sizes)
            name = "this predictor" if self.card_ is None else self.card_.name
            raise ModelError(f"{name} predicts moves on {known}, not on {rows}x{cols}")

    def priors(self, board: Board) -> FloatArray:
        """Return rows x columns + 1 probabilities, pass last; zero where illegal; sum 1."""
        self.check_size(board.rows, board.cols)
        points, priors = self.model_.priors(board)
        out: FloatArray = np.zeros(board.rows * board.cols + 1)
        out[indices_of(points, board.rows, board.cols)] = priors
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
        from tengen.papers.move_prediction.training import refuse_unsuitable

        refuse_unsuitable(games)
        for rows, cols in sorted(set(zip(games.rows, games.cols, strict=True))):
            self.check_size(int(rows), int(cols))
        model, everything = self.model_, np.arange(len(games))
        # Compile on the first game, before the clock starts.
        model.rank_games(games, everything[:1], top=model.top, measured=Measured())
        measured = Measured(games=len(games))
        began = time.process_time()
        measured.loss = model.rank_games(games, everything, top=model.top, measured=measured)
        measured.seconds = time.process_time() - began
        return measured
