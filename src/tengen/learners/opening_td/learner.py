"""The estimator: `fit` trains an opening player, `save` and `load` keep it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Self

import numpy as np

from tengen.contracts import Expert, Player
from tengen.errors import ModelError
from tengen.learners.opening_td import kernels
from tengen.learners.opening_td.model import OpeningModel
from tengen.learners.opening_td.settings import TDSettings
from tengen.learners.opening_td.training import train
from tengen.models import Card, Measurement, load_model, save_model
from tengen.models.runs import Run
from tengen.models.settings import from_recipe, to_plain

KIND = "opening-td"


class OpeningTD(OpeningModel):
    """An opening player that learns by temporal differences, after Huang 2003.

    Parameters
    ----------
    settings
        What it is and how it is trained; see `TDSettings`.
    """

    def fit(
        self,
        expert: Expert,
        opponent: Player | None = None,
        *,
        referee: Expert | None = None,
        run: Run[TDSettings] | None = None,
        on_game: Callable[[int], None] = lambda games: None,
    ) -> Self:
        """Learn from the start, or from where `run` stands: openings that the expert finishes.

        Without an opponent it plays against itself. With a run it leaves states there, and a
        learning curve judged by `referee` (the expert, if not said). `on_game` hears how many
        openings were played.
        """
        train(self, expert, opponent, referee=referee, run=run, on_game=on_game)
        return self

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        name: str | None = None,
        what: str = "",
        data: str = "",
        results: Sequence[Measurement] = (),
        scale: float | None = None,
    ) -> None:
        """Write a safetensors file with its card; weights are stored as float32."""
        settings = self.settings
        rows, cols = settings.shape
        card = Card(
            name=name or f"td-{settings.features.lower()}-{rows}x{cols}",
            kind=KIND,
            what=what or f"Opening player {self.name}, learned by temporal differences.",
            data=data,
            recipe={**to_plain(settings), "games_played": self.games_},
            seed=settings.seed,
            results=list(results),
            scale=scale,
            sizes=[(rows, cols)],
        )
        tensors = {key: array.astype(np.float32) for key, array in self.net_._asdict().items()}
        self.card = save_model(path, tensors, card)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote; raise `ModelError` for anything else."""
        tensors, card = load_model(path, kind=KIND)
        settings = from_recipe(TDSettings, card.recipe, path)
        try:
            games = int(card.recipe["games_played"])
        except (KeyError, OverflowError, TypeError, ValueError) as failure:
            raise ModelError(f"{os.fspath(path)}: its recipe makes no sense ({failure})") from None
        inputs = settings.chosen.n_inputs(*settings.shape)
        shapes = {
            "w1": (inputs, settings.hidden),
            "b1": (settings.hidden,),
            "w2": (settings.hidden, settings.outputs),
            "b2": (settings.outputs,),
        }
        for key, shape in shapes.items():
            if key not in tensors or tensors[key].shape != shape:
                raise ModelError(f"{os.fspath(path)}: tensor {key!r} has not the shape {shape}")
        learner = cls(settings=settings)
        learner.net_ = kernels.Net(*(tensors[key].astype(np.float64) for key in shapes))
        learner.games_, learner.card = games, card
        return learner
