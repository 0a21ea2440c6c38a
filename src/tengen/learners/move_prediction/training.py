"""Train the full recipe on games: dictionary first, then gradient steps, with checkpoints.

The order of games, the choice of positions and the first weights follow from the seed; a training
that was stopped goes on from its last checkpoint and ends with the same weights.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.errors import ModelError, TengenError
from tengen.learners.move_prediction import ablation
from tengen.learners.move_prediction.dictionary import count_patterns
from tengen.learners.move_prediction.model import FullModel
from tengen.learners.move_prediction.training_kernels import train_games
from tengen.models import Checkpoints
from tengen.records.arrays import GameArrays

CHUNK = 200
"""Games between two reports, and between two possible checkpoints."""


@dataclass(frozen=True)
class Settings:
    """How to train; every number that the result depends on."""

    seed: int = 0
    games: int | None = None  # the first so many after the shuffle; all by default
    dictionary_games: int = 6000  # of these, so many make the dictionary
    minimum: int = 10  # occurrences that make a pattern a feature
    share: float = 1.0  # of the positions of each game
    passes: int = 1
    absolute: bool = True  # coordinates of the 19x19 board as features
    rate_weights: float = 0.1
    rate_vectors: float = 0.05
    rate_network: float = 0.001
    first_ply: int = 0  # earlier plies, such as random openings, are not learned from
    batch: int = 8
    side: int = 32  # games that are played side by side
    without: tuple[str, ...] = ()  # families of features to leave out, see `ablation.GROUPS`


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
    settings: Settings,
    *,
    run: Path | None = None,
    resume: bool = False,
    workers: int = 1,
    ray: str | None = None,
    start: FullModel | None = None,
    on_report: Callable[[Report], None] = lambda report: None,
) -> FullModel:
    """Train a model on games of one size; learning rates fall linearly to zero.

    With `run`, checkpoints are kept in that folder and `resume` goes on from the last. With
    `start`, its dictionary and weights are the beginning.
    """
    rows, cols = _one_size(games)
    order = np.random.default_rng(settings.seed).permutation(len(games))
    order = order[: settings.games]
    checkpoints = None if run is None else Checkpoints(run / "checkpoints", keep=2)
    found = checkpoints.latest() if checkpoints is not None and resume else None
    if found is not None:
        # A setting that came later than the checkpoint had what is now its default.
        begun = {**asdict(Settings()), **found.state["settings"]}
        if json.dumps(begun, sort_keys=True) != json.dumps(asdict(settings), sort_keys=True):
            raise ModelError(f"{run}: was begun with other settings; start afresh or use the same")
        state = _State.from_arrays(found.arrays, settings.absolute)
        done = found.step
    else:
        if start is None:
            chosen = np.sort(order[: settings.dictionary_games])
            families = ablation.families(settings.without)
            counter = count_patterns(
                games, rows, cols, which=chosen, families=families, workers=workers, ray=ray
            )
            keys, _ = counter.chosen(settings.minimum)
            start = FullModel.new(keys, absolute=settings.absolute, seed=settings.seed)
            state = _State.of(start)
            state.freeze(settings.without)
        else:
            # Learned weights are not to be thrown about by the large first steps of a new training.
            state = _State.of(start, weight_squares=1.0, vector_squares=1e-2)
        done = 0
    total = len(order) * settings.passes
    began = time.process_time()
    while done < total:
        chunk = order[done % len(order) :][: min(CHUNK, total - done)]
        loss, hits, positions = state.train(
            games, chunk, rows, cols, settings, 1.0 - done / total, settings.seed + done
        )
        done += len(chunk)
        if checkpoints is not None:
            checkpoints.save(done, state.arrays(), {"settings": asdict(settings)})
        n = max(positions, 1)
        seconds = time.process_time() - began
        on_report(Report(done, total, positions, loss / n, hits / n, seconds))
    return state.model


@dataclass
class _State:
    """A model with what its optimisers remember."""

    model: FullModel
    weight_squares: NDArray[np.float32]
    vector_squares: NDArray[np.float32]
    first: NDArray[np.float32]
    second: NDArray[np.float32]
    step: NDArray[np.int64]

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
    def from_arrays(cls, arrays: dict[str, NDArray[Any]], absolute: bool) -> _State:
        names = ("weight_squares", "vector_squares", "first", "second", "step")
        model = FullModel.from_tensors(arrays, absolute=absolute)
        return cls(model, *(arrays[name].copy() for name in names))

    def train(
        self,
        games: GameArrays,
        chunk: NDArray[np.int64],
        rows: int,
        cols: int,
        settings: Settings,
        rate: float,
        seed: int,
    ) -> tuple[float, float, int]:
        """Learn from a chunk of games at a fraction `rate` of the full rates."""
        loss, hits, positions = train_games(
            games.moves, games.colours, games.offsets, chunk, rows, cols,
            self.model.arrays(rows, cols), self.weight_squares, self.vector_squares,
            self.first, self.second, self.step, np.full(len(self.model.weights), -1, np.int64),
            settings.first_ply, settings.side, settings.batch, settings.share, seed,
            rate * settings.rate_weights, rate * settings.rate_vectors,
            rate * settings.rate_network,
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
