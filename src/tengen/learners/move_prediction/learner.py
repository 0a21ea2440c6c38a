"""Offer move prediction as an estimator and a policy: fit, save, load, priors, evaluate.

Two recipes share the class. `full` is a softmax over all legal moves with tactical features,
patterns and a small network; `paper` is the pipeline of Araki et al. 2007. Which one a model file
holds stands in its card.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tengen.errors import ModelError, TengenError
from tengen.learners.move_prediction.evaluation import PHASE, PHASES, TOPS, Measured, Stopwatch
from tengen.learners.move_prediction.reading import suitable
from tengen.models import Card, Measurement, load_model, save_model

if TYPE_CHECKING:
    from tengen.board import Board
    from tengen.learners.move_prediction.model import FullModel
    from tengen.learners.move_prediction.paper_model import PaperModel
    from tengen.records.arrays import GameArrays

KIND = "move-prediction"
PASS_PRIOR = 1e-4
"""What is left for a pass while there are other legal moves: passes are not predicted."""


class MovePredictor:
    """Say how likely a strong player is to choose each legal move.

    Parameters
    ----------
    recipe
        `full` or `paper`.
    settings
        Keyword arguments of `training.Settings` (full) or `paper.PaperSettings` (paper).

    It does not judge positions, and it never foresees a pass.
    """

    def __init__(self, *, recipe: str = "full", settings: dict[str, Any] | None = None) -> None:
        self.recipe = recipe
        self.settings = settings

    # ----- Learning -----

    def fit(
        self,
        games: GameArrays,
        *,
        run: Path | None = None,
        resume: bool = False,
        workers: int = 1,
        ray: str | None = None,
        start: MovePredictor | None = None,
        on_report: Any = None,
    ) -> Self:
        """Learn from games of one size; see `training.train_full` and `paper.train_paper`.

        `start` is a predictor of the full recipe whose dictionary and weights are the beginning.
        """
        usable, self.left_out_ = usable_games(games)
        options: dict[str, Any] = {"run": run, "resume": resume, "workers": workers, "ray": ray}
        if on_report is not None:
            options["on_report"] = on_report
        given = self.settings or {}
        if self.recipe == "full":
            from tengen.learners.move_prediction.training import Settings, train_full

            if start is not None:
                options["start"] = _beginning(start, bool(given.get("absolute", True)))
            self.model_: FullModel | PaperModel = train_full(usable, Settings(**given), **options)
        elif self.recipe == "paper":
            from tengen.learners.move_prediction.paper import PaperSettings, train_paper

            self.model_ = train_paper(usable, PaperSettings(**given), **options)
        else:
            raise TengenError(f"recipe {self.recipe!r} is neither 'full' nor 'paper'")
        self.sizes_ = self._served(int(usable.rows[0]), int(usable.cols[0]))
        self.card_: Card | None = None
        self._rooms: dict[tuple[int, int], Any] = {}
        return self

    def _served(self, rows: int, cols: int) -> list[tuple[int, int]]:
        """Return the sizes a model can serve; empty for all."""
        return [(rows, cols)] if self.model_.absolute else []

    def blended(self, other: MovePredictor, share: float) -> MovePredictor:
        """Return a predictor between this one (share 0) and another (share 1); full recipe only."""
        from tengen.learners.move_prediction.model import FullModel

        if not (isinstance(self.model_, FullModel) and isinstance(other.model_, FullModel)):
            raise TengenError("only models of the full recipe can be blended")
        mixed = MovePredictor(settings=other.settings)
        mixed.model_ = self.model_.blended(other.model_, share)
        mixed.sizes_ = [size for size in self.sizes_ if size in other.sizes_]
        mixed.left_out_, mixed.card_, mixed._rooms = 0, None, {}
        return mixed

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
            recipe={"recipe": self.recipe, "settings": self.settings or {}},
            seed=int((self.settings or {}).get("seed", 0)),
            results=results or [],
            sizes=self.sizes_,
        )
        save_model(path, tensors, card)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read what `save` wrote; raise `ModelError` for anything else."""
        tensors, card = load_model(path, kind=KIND)
        recipe = str(card.recipe.get("recipe", "full"))
        learner = cls(recipe=recipe, settings=card.recipe.get("settings") or None)
        absolute = bool(card.sizes)
        try:
            if recipe == "paper":
                from tengen.learners.move_prediction.paper_model import PaperModel

                learner.model_ = PaperModel.from_tensors(tensors, card.sizes)
            else:
                from tengen.learners.move_prediction.model import FullModel

                learner.model_ = FullModel.from_tensors(tensors, absolute=absolute)
        except (IndexError, KeyError, ValueError) as failure:
            raise ModelError(f"{path}: not a whole {recipe} predictor ({failure})") from None
        learner.sizes_ = [(int(rows), int(cols)) for rows, cols in card.sizes]
        learner.card_ = card
        learner.left_out_ = 0
        learner._rooms = {}
        return learner

    # ----- Use -----

    def check_size(self, rows: int, cols: int) -> None:
        """Raise `ModelError` if the model cannot serve boards of this size."""
        if self.sizes_ and (rows, cols) not in self.sizes_:
            served = ", ".join(f"{r}x{c}" for r, c in self.sizes_)
            card: Card | None = getattr(self, "card_", None)
            name = "this predictor" if card is None else card.name
            raise ModelError(
                f"{name} serves {served}, not {rows}x{cols}; one trained with --anywhere, such as "
                "predictor-small, serves every size"
            )

    def priors(self, board: Board) -> NDArray[np.float64]:
        """Return rows x columns + 1 probabilities, pass last; zero where illegal; sum 1.

        A pass gets PASS_PRIOR, and everything when nothing else is legal.
        """
        self.check_size(board.rows, board.cols)
        out: NDArray[np.float64] = np.zeros(board.rows * board.cols + 1)
        legal = board.legal_mask()
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
            out *= (1.0 - PASS_PRIOR) / total
        out[-1] = 1.0 - out[:-1].sum() if total <= 0.0 else PASS_PRIOR
        shares: NDArray[np.float64] = out / out.sum()
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
        usable, self.left_out_ = usable_games(games)
        measured = Measured(games=len(usable))
        for rows, cols in sorted(set(zip(usable.rows, usable.cols, strict=True))):
            self.check_size(int(rows), int(cols))
        # Compile before the clock starts.
        self.model_.evaluate(usable.take([0]), np.array(TOPS), *_blank())
        with Stopwatch() as watch:
            measured.loss = self.model_.evaluate(
                usable, np.array(TOPS), measured.hits, measured.counts, first_ply
            )
        measured.seconds = watch.seconds
        return measured


def _beginning(start: MovePredictor, absolute: bool) -> FullModel:
    """Return a copy of a predictor's model to go on from."""
    from tengen.learners.move_prediction.model import FullModel

    if not isinstance(start.model_, FullModel):
        raise TengenError("only a model of the full recipe can be a start")
    tensors = {name: array.copy() for name, array in start.model_.exact().items()}
    return FullModel.from_tensors(tensors, absolute=absolute)


def _blank() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return counters to throw away."""
    measured = Measured()
    return measured.hits, measured.counts


def usable_games(games: GameArrays) -> tuple[GameArrays, int]:
    """Return the games to learn from, and how many others there were.

    Games with handicap or other stones set before the first move are left out, and games of
    fewer than ten moves.
    """
    good = suitable(games)
    if not good.any():
        raise TengenError("no usable games: all have stones set up or fewer than ten moves")
    # Games that are all good are not copied: they may be more than memory holds.
    return games if good.all() else games.where(good), int(len(games) - good.sum())


__all__ = ["KIND", "PASS_PRIOR", "PHASE", "PHASES", "MovePredictor", "usable_games"]
