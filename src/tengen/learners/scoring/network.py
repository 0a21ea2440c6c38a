"""Small networks with one hidden layer of tanh units and one logistic output, and their training.

Inputs pass through a signed logarithm (most are counts) and are standardised. The weights are a
list of arrays [W, b, v, c].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray
from tengen.errors import ModelError

LIMIT = 30.0
"""Logits are clipped here; it keeps exp in range."""
_STEP_UP, _STEP_DOWN, _LEAST_STEP = 1.2, 0.5, 1e-6
"""Factors of RPROP's steps where signs agree and where they flip, and the smallest step."""


@dataclass
class Scaling:
    """Mean and deviation of the bent features; constant features become zero."""

    mean: FloatArray
    deviation: FloatArray

    @classmethod
    def of(cls, features: FloatArray) -> Scaling:
        """Measure the features of a training set."""
        bent = bend(features)
        deviation = bent.std(axis=0)
        return cls(bent.mean(axis=0), np.where(deviation > 1e-9, deviation, np.inf))

    def apply(self, features: FloatArray) -> FloatArray:
        """Return bent, standardised features, clipped at six deviations."""
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


class Rprop:
    """iRprop- (Igel and Husken) for full batches; steps begin at `first` and stay below `most`.

    Only the signs of the gradient matter: the step of each number grows while its gradient keeps
    its sign and shrinks when it flips.
    """

    def __init__(self, *, first: float = 0.1, most: float = 50.0) -> None:
        self.first, self.most = first, most
        self._steps: list[FloatArray] = []
        self._last: list[FloatArray] = []

    def step(
        self, arrays: Sequence[FloatArray], gradients: Sequence[FloatArray], error: float = 0.0
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

    @classmethod
    def of(cls, scaling: Scaling, members: Sequence[Sequence[FloatArray]]) -> Self:
        """Stack trained members."""
        stacked = (np.stack([member[i] for member in members]) for i in range(4))
        return cls(scaling.mean, 1.0 / scaling.deviation, *stacked)

    @property
    def inputs(self) -> int:
        """The number of inputs."""
        return len(self.mean)

    def vote(self, inputs: NDArray[Any]) -> FloatArray:
        """Return the mean logit of each row."""
        x = np.clip((bend(inputs) - self.mean) * self.scale, -6.0, 6.0)
        votes = [
            logits([self.w[i], self.b[i], self.v[i], self.c[i]], x) for i in range(len(self.w))
        ]
        mean: FloatArray = np.mean(votes, axis=0)
        return mean

    def tensors(self, prefix: str = "") -> dict[str, FloatArray]:
        """Return the arrays under their names in a model file."""
        arrays = (self.mean, self.scale, self.w, self.b, self.v, self.c)
        return dict(zip(names(prefix), arrays, strict=True))

    @classmethod
    def read(
        cls, tensors: Mapping[str, NDArray[Any]], prefix: str = "",
        path: str = "",
    ) -> Self:  # fmt: skip
        """Return what `tensors` gave, loaded.

        Raises
        ------
        ModelError
            If the arrays do not fit together.
        """
        made = cls(*(tensors[name].astype(np.float64) for name in names(prefix)))
        members, inputs, hidden = made.w.shape
        wanted = {
            "mean": (inputs,), "scale": (inputs,), "b": (members, hidden), "v": (members, hidden),
            "c": (members, 1),
        }  # fmt: skip
        if any(getattr(made, name).shape != shape for name, shape in wanted.items()):
            raise ModelError(f"{path}: its tensors do not fit together")
        return made


def names(prefix: str = "") -> list[str]:
    """Return the names of an ensemble's tensors in a file."""
    return [prefix + name for name in NAMES]


def shapes(prefix: str = "", inputs: int | None = None) -> dict[str, tuple[int | None, ...]]:
    """Return the shapes expected in a file; None is any length."""
    of: tuple[tuple[int | None, ...], ...] = (
        (inputs,), (inputs,), (None, inputs, None), (None, None), (None, None), (None, 1),
    )  # fmt: skip
    return dict(zip(names(prefix), of, strict=True))


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
    """Train one member per seed, in single precision."""
    scaling = Scaling.of(inputs)
    x = scaling.apply(inputs).astype(np.float32)
    members = []
    for seed in seeds:
        begin = initial(x.shape[1], hidden, seed)
        w, _ = train(
            x, target.astype(np.float32), weight.astype(np.float32), epochs=epochs, decay=decay,
            start=[a.astype(np.float32) for a in begin],
        )  # fmt: skip
        members.append([a.astype(np.float64) for a in w])
    return Ensemble.of(scaling, members)
