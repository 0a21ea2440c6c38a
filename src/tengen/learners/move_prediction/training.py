"""Train the full recipe on games: dictionary first, then gradient steps, with checkpoints.

The order of games, the choice of positions and the first weights follow from the seed; a training
that was stopped goes on from its last checkpoint and ends with the same weights.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import Float32Array, IntArray
from tengen.errors import TengenError
from tengen.learners.move_prediction import ablation
from tengen.learners.move_prediction.dictionary import count_patterns
from tengen.learners.move_prediction.model import FullModel
from tengen.learners.move_prediction.settings import FullSettings
from tengen.learners.move_prediction.training_kernels import train_games
from tengen.models import Run
from tengen.records.arrays import GameArrays

CHUNK = 200
"""Games between two reports, and between two possible checkpoints."""


@dataclass
class Report:
    """What a chunk of games showed, before it was learned from."""

    games: int
    total: int
    positions: int
    loss: float
    top1: float
    seconds: float  # of processor time since the start, this run only


def train_full(
    games: GameArrays,
    settings: FullSettings,
    *,
    run: Run[Any] | None = None,
    workers: int = 1,
    ray: str | None = None,
    start: FullModel | None = None,
    on_report: Callable[[Report], None] = lambda report: None,
) -> FullModel:
    """Train a model on games of one size; learning rates fall linearly to zero.

    With `run`, a state is kept after every chunk, and a training that was stopped goes on from it.
    With `start`, its dictionary and weights are the beginning.
    """
    rows, cols = _one_size(games)
    order = np.random.default_rng(settings.seed).permutation(len(games))[: settings.games]
    done = 0
    if run is not None and run.start is not None:
        done, state = run.start.step, _State.from_arrays(run.start.arrays, settings)
    elif start is not None:
        # Learned weights are not to be thrown about by the large first steps of a new training.
        state = _State.of(start, weight_squares=1.0, vector_squares=1e-2)
    else:
        chosen = np.sort(order[: settings.dictionary_games])
        families = ablation.families(settings.without)
        counter = count_patterns(
            games, rows, cols, which=chosen, families=families, workers=workers, ray=ray
        )
        keys, _ = counter.chosen(settings.minimum)
        absolute = not settings.anywhere
        state = _State.of(FullModel.new(keys, absolute=absolute, seed=settings.seed))
        state.freeze(settings.without)
    total = len(order) * settings.passes
    began = time.process_time()
    while done < total:
        chunk = order[done % len(order) :][: min(CHUNK, total - done)]
        loss, hits, positions = state.train(
            games, chunk, rows, cols, settings, 1.0 - done / total, settings.seed + done
        )
        done += len(chunk)
        n = max(positions, 1)
        if run is not None:
            run.note(done, positions=positions, loss=loss / n, top1=hits / n)
            run.save(done, state.arrays())
        seconds = time.process_time() - began
        on_report(Report(done, total, positions, loss / n, hits / n, seconds))
    return state.model


@dataclass
class _State:
    """A model with what its optimisers remember."""

    model: FullModel
    weight_squares: Float32Array
    vector_squares: Float32Array
    first: Float32Array
    second: Float32Array
    step: IntArray

    @classmethod
    def of(
        cls, model: FullModel, weight_squares: float = 1e-2, vector_squares: float = 1e-4
    ) -> _State:
        n = len(model.weights)
        return cls(
            model,
            np.full(n, weight_squares, np.float32),
            np.full(n, vector_squares, np.float32),
            np.zeros_like(model.dense),
            np.zeros_like(model.dense),
            np.zeros(1, np.int64),
        )

    def freeze(self, without: tuple[str, ...]) -> None:
        """Keep the features that are left out at zero: their steps become immeasurably small."""
        for first, last in ablation.ranges(without):
            self.model.weights[first:last] = 0
            self.model.vectors[first:last] = 0
            self.weight_squares[first:last] = 1e30
            self.vector_squares[first:last] = 1e30
        if "network" in without:
            self.model.vectors[:] = 0
            self.vector_squares[:] = 1e30

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything, in full precision."""
        return {
            **self.model.exact(),
            "weight_squares": self.weight_squares,
            "vector_squares": self.vector_squares,
            "first": self.first,
            "second": self.second,
            "step": self.step,
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]], settings: FullSettings) -> _State:
        names = ("weight_squares", "vector_squares", "first", "second", "step")
        model = FullModel.from_tensors(arrays, absolute=not settings.anywhere)
        return cls(model, *(arrays[name].copy() for name in names))

    def train(
        self,
        games: GameArrays,
        chunk: IntArray,
        rows: int,
        cols: int,
        settings: FullSettings,
        rate: float,
        seed: int,
    ) -> tuple[float, float, int]:
        """Learn from a chunk of games at a fraction `rate` of the full rates."""
        loss, hits, positions = train_games(
            games.moves, games.colours, games.offsets, chunk, rows, cols,
            self.model.arrays(rows, cols), self.weight_squares, self.vector_squares,
            self.first, self.second, self.step, np.full(len(self.model.weights), -1, np.int64),
            settings.first_ply, settings.side, settings.batch, settings.share, seed,
            *(rate * (settings.rate * full) for full in
              (settings.rate_weights, settings.rate_vectors, settings.rate_network)),
        )  # fmt: skip
        return float(loss), float(hits), int(positions)


def _one_size(games: GameArrays) -> tuple[int, int]:
    """Return the size of all games; refuse a mixture."""
    if len(games) == 0:
        raise TengenError("no games to train on")
    sizes = sorted(set(zip(games.rows.tolist(), games.cols.tolist(), strict=True)))
    if len(sizes) > 1:
        raise TengenError(f"games of several sizes {sizes}; choose one")
    return int(sizes[0][0]), int(sizes[0][1])
