"""Small networks with one hidden layer of tanh units and one logistic output, and their training.

Inputs pass through a signed logarithm (most are counts) and are standardised. The weights are a
list of arrays [W, b, v, c]. The memory layout of the inputs affects the last digits of products.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray
from tengen.errors import ModelError

LIMIT = 30.0  # logits are clipped here; it keeps exp in range
_STEP_UP, _STEP_DOWN, _LEAST_STEP = 1.2, 0.5, 1e-6
"""Factors of RPROP's steps where signs agree and where they flip, and the smallest step."""


def bend(features: FloatArray) -> FloatArray:
    """Return sign(x) log(1 + |x|)."""
    return np.sign(features) * np.log1p(np.abs(features))


def initial(inputs: int, hidden: int, seed: int) -> list[FloatArray]:
    """Return small random weights [W, b, v, c]."""
    rng = np.random.default_rng(seed)
    return [
        rng.normal(0.0, 1.0 / np.sqrt(inputs), (inputs, hidden)),
        np.zeros(hidden),
        rng.normal(0.0, 1.0 / np.sqrt(hidden), hidden),
        np.zeros(1),
    ]


def logits(weights: Sequence[FloatArray], x: FloatArray) -> FloatArray:
    """Return the logit of being alive for every row."""
    w, b, v, c = weights
    return np.clip(np.tanh(x @ w + b) @ v + c[0], -LIMIT, LIMIT)


def sigmoid(z: FloatArray) -> FloatArray:
    """Return 1 / (1 + exp(-z))."""
    return 0.5 * (1.0 + np.tanh(0.5 * z))


def loss_and_gradient(
    weights: Sequence[NDArray[Any]],
    x: NDArray[Any],
    target: NDArray[Any],
    importance: NDArray[Any],
    decay: float,
) -> tuple[float, list[NDArray[Any]]]:
    """Return the mean weighted cross-entropy with weight decay, and its gradient."""
    w, b, v, c = weights
    hidden = np.tanh(x @ w + b)
    z = np.clip(hidden @ v + c[0], -LIMIT, LIMIT)
    p = sigmoid(z)
    mass = importance.sum()
    losses = np.maximum(z, 0) - z * target + np.log1p(np.exp(-np.abs(z)))
    loss = float((losses * importance).sum() / mass + decay * ((w**2).sum() + (v**2).sum()))
    dz = (p - target) * importance / mass
    dh = np.outer(dz, v) * (1.0 - hidden**2)
    return loss, [
        x.T @ dh + 2 * decay * w,
        dh.sum(axis=0),
        hidden.T @ dz + 2 * decay * v,
        np.array([dz.sum()]),
    ]


class Rprop:
    """iRprop- (Igel and Husken) for full batches; steps begin at `first` and stay below `most`.

    A step grows while the gradient keeps its sign and shrinks when it flips.
    """

    def __init__(self, *, first: float = 0.1, most: float = 50.0) -> None:
        self.first, self.most = first, most
        self._steps: list[FloatArray] = []
        self._last: list[FloatArray] = []

    def step(
        self, arrays: Sequence[NDArray[Any]], gradients: Sequence[NDArray[Any]], error: float = 0.0
    ) -> None:
        """Update the arrays in place; `error` is ignored."""
        if not self._steps:
            self._steps = [np.full(a.shape, self.first) for a in arrays]
            self._last = [np.zeros(a.shape) for a in arrays]
        for array, gradient, steps, last in zip(
            arrays, gradients, self._steps, self._last, strict=True
        ):
            agreement = gradient * last
            steps[agreement > 0] *= _STEP_UP
            steps[agreement < 0] *= _STEP_DOWN
            np.clip(steps, _LEAST_STEP, self.most, out=steps)
            kept = np.where(agreement < 0, 0.0, gradient)
            array -= np.sign(kept) * steps
            last[...] = kept


# ----- Ensembles -----

NAMES = ("mean", "scale", "w", "b", "v", "c")


@dataclass
class Ensemble:
    """Stacked networks of one shape that vote, and the scaling of their inputs."""

    mean: FloatArray
    scale: FloatArray
    w: FloatArray
    b: FloatArray
    v: FloatArray
    c: FloatArray

    def scaled(self, inputs: NDArray[Any]) -> FloatArray:
        """Return bent, standardised inputs, clipped at six deviations."""
        return np.clip((bend(inputs) - self.mean) * self.scale, -6.0, 6.0)

    def vote(self, inputs: NDArray[Any]) -> FloatArray:
        """Return the mean logit of each row."""
        x = self.scaled(inputs)
        members = zip(self.w, self.b, self.v, self.c, strict=True)
        return np.mean([logits(weights, x) for weights in members], axis=0)

    def tensors(self, prefix: str = "") -> dict[str, FloatArray]:
        """Return the arrays under their names in a model file."""
        return {prefix + name: getattr(self, name) for name in NAMES}

    @classmethod
    def read(cls, tensors: Mapping[str, NDArray[Any]], inputs: int, prefix: str = "") -> Self:
        """Read what `tensors` returned; raise `ModelError` if it does not have `inputs` inputs."""
        made = cls(*(tensors[prefix + name].astype(np.float64) for name in NAMES))
        members, _, hidden = made.w.shape
        layer = members, hidden
        if [getattr(made, name).shape for name in NAMES] != [
            (inputs,), (inputs,), (members, inputs, hidden), layer, layer, (members, 1),
        ]:  # fmt: skip
            raise ModelError("its tensors do not fit together")
        return made


def train_ensemble(
    inputs: NDArray[Any],
    target: NDArray[Any],
    weight: NDArray[Any],
    *,
    seeds: Sequence[int],
    hidden: int,
    epochs: int,
    decay: float,
) -> Ensemble:
    """Fit one network per seed by iRprop- on the whole batch, in single precision."""
    bent = bend(inputs)
    deviation = bent.std(axis=0)
    scale = np.where(deviation > 1e-9, 1.0 / np.maximum(deviation, 1e-9), 0.0)
    nothing = np.zeros(0)
    ensemble = Ensemble(bent.mean(axis=0), scale, nothing, nothing, nothing, nothing)
    x, wanted, importance = (
        array.astype(np.float32) for array in (ensemble.scaled(inputs), target, weight)
    )
    members = []
    for seed in seeds:
        weights = [array.astype(np.float32) for array in initial(x.shape[1], hidden, seed)]
        optimiser = Rprop(first=0.01, most=1.0)
        for _ in range(epochs):
            _, gradients = loss_and_gradient(weights, x, wanted, importance, decay)
            optimiser.step(weights, gradients)
        members.append(weights)
    for k, name in enumerate(NAMES[2:]):
        setattr(ensemble, name, np.stack([member[k] for member in members]).astype(np.float64))
    return ensemble
