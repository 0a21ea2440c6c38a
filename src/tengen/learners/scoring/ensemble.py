"""Let several small networks on the same inputs vote, and keep them as tensors; know no Go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray
from tengen.errors import ModelError
from tengen.learners.scoring import network
from tengen.learners.scoring.network import Scaling

# Names of the tensors of an ensemble, in the order of its fields.
NAMES = ("mean", "scale", "w", "b", "v", "c")


@dataclass
class Ensemble:
    """Networks of one shape, stacked, and how their inputs are scaled."""

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
        """Return how many numbers describe one thing."""
        return len(self.mean)

    def vote(self, inputs: NDArray[Any]) -> FloatArray:
        """Return the members' mean logit of every row."""
        x = np.clip((network.bend(inputs) - self.mean) * self.scale, -6.0, 6.0)
        votes = [
            network.logits([self.w[i], self.b[i], self.v[i], self.c[i]], x)
            for i in range(len(self.w))
        ]
        mean: FloatArray = np.mean(votes, axis=0)
        return mean

    def tensors(self, prefix: str = "", *, scale: str = "scale") -> dict[str, FloatArray]:
        """Return the arrays under the names of a model's file; `scale` renames that one."""
        arrays = (self.mean, self.scale, self.w, self.b, self.v, self.c)
        return dict(zip(names(prefix, scale), arrays, strict=True))

    @classmethod
    def read(
        cls, tensors: Mapping[str, NDArray[Any]], prefix: str = "", *, scale: str = "scale",
        path: str = "",
    ) -> Self:  # fmt: skip
        """Return what `tensors` gave, loaded.

        Raises
        ------
        ModelError
            If the arrays do not fit together.
        """
        made = cls(*(tensors[name].astype(np.float64) for name in names(prefix, scale)))
        members, inputs, hidden = made.w.shape
        wanted = {
            "mean": (inputs,), "scale": (inputs,), "b": (members, hidden), "v": (members, hidden),
            "c": (members, 1),
        }  # fmt: skip
        if any(getattr(made, name).shape != shape for name, shape in wanted.items()):
            raise ModelError(f"{path}: its tensors do not fit together")
        return made


def names(prefix: str = "", scale: str = "scale") -> list[str]:
    """Return the names under which an ensemble's tensors are kept."""
    return [prefix + (scale if name == "scale" else name) for name in NAMES]


def shapes(
    prefix: str = "", inputs: int | None = None, *, scale: str = "scale"
) -> dict[str, tuple[int | None, ...]]:
    """Return the shapes to expect in a file; None is any length."""
    of: tuple[tuple[int | None, ...], ...] = (
        (inputs,), (inputs,), (None, inputs, None), (None, None), (None, None), (None, 1),
    )  # fmt: skip
    return dict(zip(names(prefix, scale), of, strict=True))


def train(
    inputs: NDArray[Any],
    target: NDArray[Any],
    weight: NDArray[Any],
    *,
    seeds: Sequence[int],
    hidden: int,
    epochs: int,
    decay: float,
) -> Ensemble:
    """Train one member for each seed, in single precision."""
    scaling = Scaling.of(inputs)
    x = scaling.apply(inputs).astype(np.float32)
    members = []
    for seed in seeds:
        begin = network.initial(x.shape[1], hidden, seed)
        w, _ = network.train(
            x, target.astype(np.float32), weight.astype(np.float32), epochs=epochs, decay=decay,
            start=[a.astype(np.float32) for a in begin],
        )  # fmt: skip
        members.append([a.astype(np.float64) for a in w])
    return Ensemble.of(scaling, members)
