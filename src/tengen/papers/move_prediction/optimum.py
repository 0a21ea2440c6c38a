"""The optimum of the maximum-entropy model with inequality constraints of width W.

Its dual is L1-penalised logistic regression: minimise the loss over all samples plus W times the
sum of the weights' magnitudes. OWL-QN (Andrew and Gao 2007) does that: L-BFGS steps that do not
cross zero. The samples lie in a file that is mapped into memory; threads sum the loss over fixed
parts of it, so that the result does not depend on their number.
"""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray, IntArray
from tengen.papers.move_prediction import kernels
from tengen.papers.move_prediction.optimum_kernels import add_slope

if TYPE_CHECKING:
    from tengen.papers.move_prediction.model import PredictionModel
    from tengen.records.arrays import GameArrays

_PARTS = 16  # of the samples; each has a slope of its own while it is summed
_HISTORY = 6  # pairs of steps and turns that approximate the curvature
_WINDOW = 10  # iterations over which an improvement is measured
_HALVINGS = 30
_GAMES_PER_PART = 20

Loss = Callable[[FloatArray], tuple[float, FloatArray]]
"""Returns the loss of weights and its slope, in an array of its own."""
_State = Mapping[str, NDArray[Any]]


# ----- Samples -----


@dataclass(frozen=True)
class Samples:
    """The samples of the re-ranker: the numbers of their features, and whether each was played."""

    features: NDArray[np.int32]
    labels: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.labels)


def gather(
    games: GameArrays,
    which: IntArray,
    model: PredictionModel,
    top: int,
    *,
    workers: int = 1,
    history: bool = True,
) -> Samples:
    """Store the `top` candidates of every move, and the move, in temporary files.

    Without `history` the features of earlier moves are left out.
    """
    columns = kernels.WIDTH if history else kernels.WIDTH - 2 * kernels.EARLIER

    def part(first: int) -> tuple[bytes, bytes]:
        some = which[first : first + _GAMES_PER_PART]
        out = np.zeros((int(games.lengths()[some].sum()) * (top + 1), kernels.WIDTH + 1), np.int64)
        out = out[: int(model.rank_games(games, some, top=top, samples=out))]
        features = out[:, 1 : columns + 1].astype(np.int32)
        return features.tobytes(), out[:, 0].astype(np.uint8).tobytes()

    model.tables(int(games.rows[0]), int(games.cols[0]))  # made once, before the threads begin
    with (
        tempfile.TemporaryFile() as features,
        tempfile.TemporaryFile() as labels,
        ThreadPoolExecutor(workers) as pool,
    ):
        starts = range(0, len(which), _GAMES_PER_PART)
        for begin in range(0, len(starts), 4 * workers):  # few parts in memory at a time
            for pair in pool.map(part, starts[begin : begin + 4 * workers]):
                features.write(pair[0])  # not `tofile`, which ignores a full disk
                labels.write(pair[1])
        found = mapped(features, np.int32).reshape(-1, columns)
        return Samples(found, mapped(labels, np.uint8))


def mapped(file: Any, kind: type[np.generic]) -> NDArray[Any]:
    """Map the contents of a file as an array of the type that kernels know."""
    file.flush()
    # Writable, because Numba treats read-only arrays as another type.
    return np.asarray(np.memmap(file, dtype=kind, mode="r+"))


# ----- The optimum -----


@dataclass(frozen=True)
class Optimum:
    """Weights, their loss with the penalty, and how far they are from the optimum.

    `violation` is the largest entry of the slope along which the objective still falls.
    """

    weights: FloatArray
    objective: float
    violation: float
    iterations: int


def fit(samples: Samples, count: int, width: float, *, workers: int = 1, **options: Any) -> Optimum:
    """Return the optimum over `count` weights; see `minimise` for the options."""
    edges = [len(samples) * i // _PARTS for i in range(_PARTS + 1)]
    slopes = [np.zeros(count) for _ in range(_PARTS)]
    with ThreadPoolExecutor(workers) as pool:

        def part(weights: FloatArray, i: int) -> float:
            slopes[i][:] = 0.0
            found = add_slope(
                samples.features, samples.labels, edges[i], edges[i + 1], weights, slopes[i]
            )
            return float(found)

        def loss(weights: FloatArray) -> tuple[float, FloatArray]:
            total = sum(pool.map(lambda i: part(weights, i), range(_PARTS)))
            slope = slopes[0].copy()
            for other in slopes[1:]:
                slope += other
            return total, slope

        return minimise(loss, np.zeros(count), width, **options)


def minimise(
    loss: Loss,
    weights: FloatArray,
    width: float,
    *,
    limit: int = 300,
    tolerance: float = 1e-4,
    start: _State | None = None,
    on_step: Callable[[int, Optimum, Callable[[], _State]], None] = lambda step, at, state: None,
) -> Optimum:
    """Minimise a loss plus `width` times the L1 norm of the weights by OWL-QN.

    It stops when ten iterations have improved the objective by less than `tolerance` of it, after
    `limit` iterations, or at the optimum. `on_step` is called after each iteration with a function
    that returns the state, and `start` continues exactly from such a state. Without a penalty
    there may be no optimum; then it is the stop that keeps weights finite.
    """
    steps: deque[FloatArray] = deque(maxlen=_HISTORY)
    turns: deque[FloatArray] = deque(maxlen=_HISTORY)
    past: list[float] = []
    if start is not None:
        weights, past = start["weights"].copy(), start["objectives"].tolist()
        steps.extend(start["steps"])
        turns.extend(start["turns"])

    def state() -> _State:
        return {
            "weights": weights,
            "objectives": np.array(past),
            "steps": np.array(steps).reshape(-1, len(weights)),
            "turns": np.array(turns).reshape(-1, len(weights)),
        }

    value, slope = loss(weights)
    objective = value + width * float(np.abs(weights).sum())
    past = past or [objective]
    while True:
        downhill = _downhill(weights, slope, width)
        found = Optimum(weights, objective, float(np.abs(downhill).max()), len(past) - 1)
        if start is None or found.iterations > len(start["objectives"]) - 1:
            on_step(found.iterations, found, state)
        settled = len(past) > _WINDOW and past[-1 - _WINDOW] - past[-1] < tolerance * past[-1]
        if settled or found.iterations >= limit or found.violation == 0:
            return found
        direction = _turned(downhill, steps, turns)
        if width > 0:
            direction[direction * downhill <= 0] = 0.0
        size = 1.0 if steps else 1.0 / float(np.linalg.norm(downhill))
        moved = _step(loss, found, downhill, direction, width, size)
        if moved is None:
            return found  # as exact as rounding allows
        ahead, new_slope, reached = moved
        step, turn = ahead - weights, new_slope - slope
        if step @ turn > 1e-12:
            steps.append(step)
            turns.append(turn)
        weights, slope, objective = ahead, new_slope, reached
        past.append(objective)


def _step(
    loss: Loss, at: Optimum, downhill: FloatArray, direction: FloatArray, width: float, size: float
) -> tuple[FloatArray, FloatArray, float] | None:
    """Return better weights in a direction, their slope and objective; None if there are none."""
    weights = at.weights
    side = np.where(weights != 0, np.sign(weights), np.sign(downhill))
    for _ in range(_HALVINGS):
        ahead = weights + size * direction
        if width > 0:
            ahead[ahead * side < 0] = 0.0  # a weight stops at zero
        value, slope = loss(ahead)
        reached = value + width * float(np.abs(ahead).sum())
        if reached <= at.objective - 1e-4 * float(downhill @ (ahead - weights)):
            return ahead, slope, reached
        size /= 2
    return None


def _downhill(weights: FloatArray, slope: FloatArray, width: float) -> FloatArray:
    """Return the steepest descent of the penalised loss; 0 where a weight stays at zero."""
    at_zero = -np.sign(slope) * np.maximum(np.abs(slope) - width, 0.0)
    return np.where(weights != 0, -slope - width * np.sign(weights), at_zero)


def _turned(downhill: FloatArray, steps: deque[FloatArray], turns: deque[FloatArray]) -> FloatArray:
    """Return the direction of L-BFGS: `downhill` times the estimated inverse curvature."""
    direction = downhill.copy()
    shares = []
    for step, turn in zip(reversed(steps), reversed(turns), strict=True):
        share = float(step @ direction) / float(step @ turn)
        direction -= share * turn
        shares.append(share)
    if steps:
        direction *= float(steps[-1] @ turns[-1]) / float(turns[-1] @ turns[-1])
    for step, turn, share in zip(steps, turns, reversed(shares), strict=True):
        direction += (share - float(turn @ direction) / float(step @ turn)) * step
    return direction
