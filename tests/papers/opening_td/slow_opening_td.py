"""The features and the learning rule once more: slow, dense, from grids alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.board.reference import around, spread

Grid = NDArray[np.int8]
Array = NDArray[np.float64]


def blocks_of(grid: Grid) -> set[frozenset[tuple[int, int]]]:
    """Return the blocks of stones by flood fill."""
    return {spread(grid, place) for place in np.ndindex(grid.shape) if grid[place]}


def images(grid: Grid) -> list[Grid]:
    """Return the symmetric images of the same shape."""
    every = [np.rot90(g, k) for g in (grid, np.fliplr(grid)) for k in range(4)]
    return [g for g in every if g.shape == grid.shape]


def normal_image(grid: Grid, friend: int) -> tuple[Grid, int]:
    """Return the image whose stones come first (friendly before enemy before empty), its number."""
    turned = images(grid)
    strings = [
        tuple(2 if v == friend else 1 if v else 0 for v in image.ravel()) for image in turned
    ]
    best = max(range(len(turned)), key=lambda i: (strings[i], -i))
    return turned[best], best


def number(
    value: float, first: int, last: int, binary: bool, unit: float, cut: float
) -> list[float]:
    """Encode one number: one node, or one for each value from `first` to `last` or more."""
    if binary:
        return [1.0 if min(value, last) == v else 0.0 for v in range(first, last + 1)]
    return [min(value, cut) / unit]


def inputs(
    grid: Grid,
    friend: int,
    lead: float,
    features: str,
    binary: dict[str, bool],
    edges: str = "everywhere",
) -> Array:
    """Return the dense inputs; `lead` is prisoners and komi from Black's view."""
    image, _ = normal_image(grid, friend)
    rows, cols = image.shape
    occupied = (image > 0).astype(float).ravel()
    friendly = np.where(image == friend, 1.0, np.where(image > 0, -1.0, 0.0)).ravel()
    parts = [occupied, friendly, np.array([(lead if friend == 1 else -lead) / 10])]
    facts = {}
    for block in blocks_of(image):
        colour = image[next(iter(block))]
        liberties = {q for p in block for q in around(image, p) if image[q] == 0}
        close = [
            q
            for q in np.ndindex(rows, cols)
            if image[q]
            and q not in block
            and min(abs(q[0] - p[0]) + abs(q[1] - p[1]) for p in block) <= 3
        ]
        mates = sum(1 for q in close if image[q] == colour)
        for p in block:
            facts[p] = (len(liberties), len(block), mates, len(close) - mates)
    for feature in features[1:]:
        for p in np.ndindex(rows, cols):
            flag = binary[feature]
            size = 5 if flag else 1
            if feature == "B" and edges == "stones" and p not in facts:
                parts.append(np.zeros(2 * size))
            elif feature == "B":
                for d in (min(p[1], cols - 1 - p[1]), min(p[0], rows - 1 - p[0])):
                    parts.append(np.array(number(d, 0, 4, flag, 4, 1000)))
            elif p not in facts:
                parts.append(np.zeros(size * (2 if feature == "E" else 1)))
            elif feature == "E":
                for n in facts[p][2:]:
                    parts.append(np.array(number(n, 0, 4, flag, 5, 10)))
            else:
                n = facts[p][0] if feature == "C" else facts[p][1]
                parts.append(np.array(number(n, 1, 5, flag, 5, 10)))
    return np.concatenate(parts)


def sigmoid(x: Any) -> Any:
    """Squash."""
    return 1 / (1 + np.exp(-x))


class SlowLearner:
    """A dense network that learns by TD(lambda) with explicit eligibility traces."""

    def __init__(self, weights: tuple[Array, ...], rate: float, trace: float) -> None:
        self.w1, self.b1, self.w2, self.b2 = (w.copy() for w in weights)
        self.rate, self.trace = rate, trace
        self.traces: list[Array] = []

    def output(self, x: Array) -> float:
        """Return the output."""
        return float(sigmoid(sigmoid(x @ self.w1 + self.b1) @ self.w2 + self.b2)[0])

    def black_view(self, x: Array, side: int) -> float:
        """Return the output from Black's view."""
        return self.output(x) if side == 1 else 1 - self.output(x)

    def learn(self, x: Array, side: int, target: float) -> None:
        """Take one step of TD(lambda) towards a target."""
        error = target - self.black_view(x, side)
        hidden, out = sigmoid(x @ self.w1 + self.b1), self.output(x)
        at_out = (1 if side == 1 else -1) * out * (1 - out)
        at_hidden = at_out * self.w2[:, 0] * hidden * (1 - hidden)
        fresh = [np.outer(x, at_hidden), at_hidden, at_out * hidden[:, None], np.array([at_out])]
        old = self.traces or [np.zeros_like(new) for new in fresh]
        self.traces = [self.trace * o + new for o, new in zip(old, fresh, strict=True)]
        for weights, trace in zip((self.w1, self.b1, self.w2, self.b2), self.traces, strict=True):
            weights += self.rate * error * trace
