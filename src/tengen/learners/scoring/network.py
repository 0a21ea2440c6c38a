"""Turn features of blocks into the probability to be alive: a small network and its gradient.

One hidden layer of tanh units, one logistic output. Features are bent by a signed logarithm (most
are counts) and standardised. Free functions on a list of arrays [W, b, v, c]; no Go in here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray
from tengen.learners.scoring.rprop import Rprop

# Beyond this a logit says nothing more; it also keeps exp in range.
LIMIT = 30.0


@dataclass
class Scaling:
    """Mean and deviation of the bent features; a constant feature is left at zero."""

    mean: FloatArray
    deviation: FloatArray

    @classmethod
    def of(cls, features: FloatArray) -> Scaling:
        """Measure the features of a training set."""
        bent = bend(features)
        deviation = bent.std(axis=0)
        return cls(bent.mean(axis=0), np.where(deviation > 1e-9, deviation, np.inf))

    def apply(self, features: FloatArray) -> FloatArray:
        """Return bent, standardised features, cut off at six deviations."""
        scaled: FloatArray = np.clip((bend(features) - self.mean) / self.deviation, -6.0, 6.0)
        return scaled


def bend(features: FloatArray) -> FloatArray:
    """Return sign(x) log(1 + |x|)."""
    bent: FloatArray = np.sign(features) * np.log1p(np.abs(features))
    return bent


def initial(inputs: int, hidden: int, seed: int) -> list[FloatArray]:
    """Return random small weights [W, b, v, c]."""
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
    raw: FloatArray = np.tanh(x @ w + b) @ v + c[0]
    return np.clip(raw, -LIMIT, LIMIT)


def sigmoid(z: FloatArray) -> FloatArray:
    """Return 1 / (1 + exp(-z))."""
    bent: FloatArray = 0.5 * (1.0 + np.tanh(0.5 * z))
    return bent


def loss_and_gradient(
    weights: Sequence[FloatArray],
    x: FloatArray,
    target: FloatArray,
    importance: FloatArray,
    decay: float,
) -> tuple[float, list[FloatArray]]:
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


def train(
    x: NDArray[Any],
    target: NDArray[Any],
    importance: NDArray[Any],
    *,
    hidden: int = 32,
    epochs: int = 100,
    decay: float = 1e-6,
    seed: int = 0,
    start: Sequence[NDArray[Any]] | None = None,
) -> tuple[list[FloatArray], float]:
    """Fit the network by iRprop- on the whole batch; return weights and the last loss.

    Works in the precision of its arguments: single is enough and twice as fast.
    """
    weights = initial(x.shape[1], hidden, seed) if start is None else [a.copy() for a in start]
    optimiser = Rprop(first=0.01, most=1.0)
    loss = np.inf
    for _ in range(epochs):
        loss, gradients = loss_and_gradient(weights, x, target, importance, decay)
        optimiser.step(weights, gradients)
    return weights, loss
