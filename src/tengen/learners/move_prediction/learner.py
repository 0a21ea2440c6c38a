"""Offer move prediction as an estimator and a policy: fit, save, load, priors, evaluate.

Two recipes share the class, each with settings of its own: `full` is a softmax over all legal moves
with tactical features, patterns and a small network; `paper` is the pipeline of Araki et al. 2007.
Which one a model file holds stands in its card.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tengen.arrays import FloatArray
from tengen.errors import ModelError, SpecError, TengenError
from tengen.learners.move_prediction.evaluation import Measured
from tengen.learners.move_prediction.reading import refuse_unsuitable
from tengen.learners.move_prediction.settings import FullSettings, PaperSettings
from tengen.models import (
    Card,
    Measurement,
    Run,
    fingerprint,
    from_plain,
    load_model,
    save_model,
    to_plain,
)

if TYPE_CHECKING:
    from tengen.board import Board
    from tengen.learners.move_prediction.model import FullModel
    from tengen.learners.move_prediction.paper_model import PaperModel
    from tengen.records.arrays import GameArrays

KIND = "move-prediction"
_ONE_AT_A_TIME = Lock()
"""Workspaces are written to, and players on several threads share a predictor."""
_PASS_PRIOR = 1e-4
"""What is left for a pass while there are other legal moves: passes are not predicted."""
_RECIPES: dict[str, type[FullSettings | PaperSettings]] = {
    "full": FullSettings,
    "paper": PaperSettings,
}
_USUAL = FullSettings()


class MovePredictor:
    """Say how likely a strong player is to choose each legal move.

    `settings` are a `FullSettings` or a `PaperSettings`, and so choose the recipe. It judges no
    positions, and it never foresees a pass.
    """

    def __init__(self, *, settings: FullSettings | PaperSettings = _USUAL) -> None:
        self.settings = settings

    @property
    def recipe(self) -> str:
        """Return `full` or `paper`."""
        return "full" if isinstance(self.settings, FullSettings) else "paper"

    # ----- Learning -----

    def fit(
        self,
        games: GameArrays,
        *,
        run: Run[Any] | None = None,
        workers: int = 1,
        ray: str | None = None,
        start: MovePredictor | None = None,
        on_report: Callable[[Any], None] = lambda report: None,
    ) -> Self:
        """Learn from games of one size, as `reading.read_games` gives them.

        With `run` it keeps its states there and goes on from the last. `start` is a predictor of
        the full recipe whose dictionary and weights are the beginning. Games with stones set up
        or fewer than ten moves raise `TengenError`.
        """
        refuse_unsuitable(games)
        if isinstance(self.settings, FullSettings):
            from tengen.learners.move_prediction.training import train_full

            self.model_: FullModel | PaperModel = train_full(
                games, self.settings, run=run, workers=workers, ray=ray, on_report=on_report,
                start=None if start is None else _beginning(start, self.settings),
            )  # fmt: skip
        else:
            from tengen.learners.move_prediction.paper_training import train_paper

            self.model_ = train_paper(
                games, self.settings, run=run, workers=workers, ray=ray, on_report=on_report
            )
        size = int(games.rows[0]), int(games.cols[0])
        self.sizes_ = [size] if self.model_.absolute else []
        self.card_: Card | None = None
        self._rooms: dict[tuple[int, int], Any] = {}
        return self

    def open_run(
        self,
        folder: str | PathLike[str],
        games: GameArrays,
        *,
        start: MovePredictor | None = None,
        resume: bool = False,
    ) -> Run[FullSettings | PaperSettings]:
        """Claim a folder for the training of this predictor on these games, for `fit`.

        Raises
        ------
        RunError
            If it holds another run, or the same one without `resume`.
        """
        data = {"games": fingerprint(games.moves, games.colours, games.offsets)}
        if start is not None:
            data["start"] = fingerprint(*start.model_.tensors().values())
        name = f"{KIND}, {self.recipe} recipe"
        return Run.open(folder, name, self.settings, data=data, resume=resume)

    @classmethod
    def of(
        cls,
        model: FullModel | PaperModel,
        settings: FullSettings | PaperSettings,
        sizes: list[tuple[int, int]],
        card: Card | None = None,
    ) -> Self:
        """Make a predictor of a model that is there; `sizes` are those it serves, empty for all."""
        learner = cls(settings=settings)
        learner.model_, learner.sizes_, learner.card_ = model, sizes, card
        learner._rooms = {}
        return learner

    def blended(self, other: MovePredictor, share: float) -> MovePredictor:
        """Return a predictor between this one (share 0) and another (share 1); full recipe only."""
        from tengen.learners.move_prediction.model import FullModel

        if not (isinstance(self.model_, FullModel) and isinstance(other.model_, FullModel)):
            raise TengenError("only models of the full recipe can be blended")
        sizes = [size for size in self.sizes_ if size in other.sizes_]
        return MovePredictor.of(self.model_.blended(other.model_, share), other.settings, sizes)

    # ----- Files -----

    def save(
        self,
        path: str | PathLike[str],
        *,
        name: str | None = None,
        data: str = "",
        results: list[Measurement] | None = None,
    ) -> None:
        """Write a safetensors file with its card."""
        tensors = self.model_.tensors()
        card = Card(
            name=name or Path(path).stem,
            kind=KIND,
            what=f"Predicts experts' moves ({self.recipe} recipe, {self.model_.features} features)",
            data=data,
            recipe={"recipe": self.recipe, "settings": to_plain(self.settings)},
            seed=self.settings.seed,
            results=results or [],
            sizes=self.sizes_,
        )
        save_model(path, tensors, card)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read what `save` wrote; raise `ModelError` for anything else."""
        tensors, card = load_model(path, kind=KIND)
        recipe = str(card.recipe.get("recipe", "full"))
        model: FullModel | PaperModel
        try:
            settings = _settings(recipe, card.recipe.get("settings") or {})
            if recipe == "paper":
                from tengen.learners.move_prediction.paper_model import PaperModel

                model = PaperModel.from_tensors(tensors, card.sizes)
            else:
                from tengen.learners.move_prediction.model import FullModel

                model = FullModel.from_tensors(tensors, absolute=bool(card.sizes))
        except (IndexError, KeyError, SpecError, ValueError) as failure:
            raise ModelError(f"{path}: not a whole {recipe} predictor ({failure})") from None
        return cls.of(model, settings, [(int(rows), int(cols)) for rows, cols in card.sizes], card)

    # ----- Use -----

    def check_size(self, rows: int, cols: int) -> None:
        """Raise `ModelError` if the model cannot serve boards of this size."""
        if self.sizes_ and (rows, cols) not in self.sizes_:
            served = ", ".join(f"{r}x{c}" for r, c in self.sizes_)
            name = "this predictor" if self.card_ is None else self.card_.name
            raise ModelError(
                f"{name} serves {served}, not {rows}x{cols}; one trained with --anywhere, such as "
                "predictor-small, serves every size"
            )

    def priors(self, board: Board) -> FloatArray:
        """Return rows x columns + 1 probabilities, pass last; zero where illegal; sum 1.

        A pass gets 0.0001, and everything when nothing else is legal.
        """
        self.check_size(board.rows, board.cols)
        out: FloatArray = np.zeros(board.rows * board.cols + 1)
        legal = board.legal_mask()
        with _ONE_AT_A_TIME:
            points, priors = self.model_.priors(board, self._rooms)
        width = board.cols + 1
        index = (points // width - 1) * board.cols + points % width - 1
        out[index] = priors
        out[:-1][~legal[:-1]] = 0.0  # superko
        total = float(out.sum())
        if total <= 0.0:
            # All moves with any weight fall to superko: the rest share evenly.
            out[:-1][legal[:-1]] = 1.0
            total = float(out.sum())
        if total > 0.0:
            out *= (1.0 - _PASS_PRIOR) / total
        out[-1] = 1.0 - out[:-1].sum() if total <= 0.0 else _PASS_PRIOR
        shares: FloatArray = out / out.sum()
        return shares

    def arrays(self, rows: int, cols: int) -> tuple[Any, ...]:
        """Return the tuple that `kernels.priors_kernel` takes as its model (full recipe only)."""
        self.check_size(rows, cols)
        if self.recipe != "full":
            raise ModelError("only the full recipe serves kernels; this is a model of the paper's")
        return self.model_.arrays(rows, cols)  # type: ignore[union-attr]

    def evaluate(self, games: GameArrays, *, first_ply: int = 0) -> Measured:
        """Predict every move of the games and compare; ties share credit, passes are left out.

        Plies before `first_ply`, such as random openings, are left out too (full recipe only).
        """
        refuse_unsuitable(games)
        measured, spare = Measured(games=len(games)), Measured()
        for rows, cols in sorted(set(zip(games.rows, games.cols, strict=True))):
            self.check_size(int(rows), int(cols))
        # Compile before the clock starts.
        self.model_.evaluate(games.take([0]), spare)
        began = time.process_time()
        self.model_.evaluate(games, measured, first_ply)
        measured.seconds = time.process_time() - began
        return measured


def _settings(recipe: str, given: dict[str, Any]) -> FullSettings | PaperSettings:
    """Return the settings that a card tells; older cards say `absolute` for not `anywhere`."""
    if recipe not in _RECIPES:
        raise SpecError(f"recipe {recipe!r} is none of {', '.join(_RECIPES)}")
    known = {name: value for name, value in given.items() if name != "absolute"}
    if "absolute" in given:
        known["anywhere"] = not given["absolute"]
    return from_plain(_RECIPES[recipe], known)


def _beginning(start: MovePredictor, settings: FullSettings) -> FullModel:
    """Return a copy of a predictor's model to go on from."""
    from tengen.learners.move_prediction.model import FullModel

    if not isinstance(start.model_, FullModel):
        raise TengenError("only a model of the full recipe can be a start")
    tensors = {name: array.copy() for name, array in start.model_.exact().items()}
    return FullModel.from_tensors(tensors, absolute=not settings.anywhere)
