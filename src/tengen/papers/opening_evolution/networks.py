"""The evolved networks: how a flat vector of weights is split up, and which move it chooses.

`Tiled` and `Shared` are the paper's networks `Dense` and `Spatial` with few free weights, tied by
the board's eight symmetries; they unfold into a plain network. Weights are one float64 vector.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, FloatArray, IntArray
from tengen.board import PASS, Board, point_at
from tengen.errors import ModelError
from tengen.papers.opening_evolution import kernels

Weights = FloatArray  # all weights and biases of one network in a row

_HIDDEN_SHARE = 3  # the paper's hidden layers have a third of the units below them


@dataclass(frozen=True)
class Shape:
    """A kind of network: layers over windows of the board, or over the board itself."""

    rows: int = 13
    cols: int = 13
    free: bool = False
    """Whether illegal points are candidates too, for which the player then passes."""
    plies: int = 1  # look-ahead: 1 for the position after the own move, 2 for all replies too

    @property
    def hidden(self) -> int:
        """Units in the layer below the output."""
        raise NotImplementedError

    @cached_property
    def windows(self) -> IntArray:
        """One row per window: first cell, side, index of its first weight."""
        return np.zeros((0, 3), np.int64)

    @property
    def n_weights(self) -> int:
        """Length of the weight vector, biases included."""
        return sum(self._sizes) + self.hidden + 1

    @cached_property
    def _sizes(self) -> tuple[int, int]:
        """Weights of the windows and of the layer above them, biases included."""
        below = len(self.windows) or self.rows * self.cols
        own = sum(int(m) * int(m) + 1 for _, m, _ in self.windows)
        return own, (below + 1) * self.hidden

    def cut(self, weights: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return the windows' weights, the layer above them, the output; biases come last."""
        _check(weights, self.n_weights)
        first, second = np.cumsum(self._sizes)
        return weights[:first], weights[first:second].reshape(-1, self.hidden), weights[second:]

    def unfold(self, weights: Weights) -> tuple[Shape, Weights]:
        """Return the equivalent plain network and its weights."""
        return self, weights

    @cached_property
    def _cover(self) -> tuple[IntArray, IntArray]:
        """The windows over each cell (-1 after the last), and the index of its weight in each."""
        over: list[list[tuple[int, int]]] = [[] for _ in range(self.rows * self.cols)]
        for u, (start, m, place) in enumerate(self.windows):
            for r, c in np.ndindex(m, m):
                over[start + r * self.cols + c].append((u, place + r * m + c))
        table = np.full((2, len(over), max(map(len, over)) + 1), -1, np.int64)
        for i, cell in enumerate(over):
            for j, pair in enumerate(cell):
                table[:, i, j] = pair
        return np.ascontiguousarray(table[0]), np.ascontiguousarray(table[1])

    @cached_property
    def _columns(self) -> tuple[IntArray, ...]:
        """Sides and first weights of the windows, as kernels take them."""
        return tuple(np.ascontiguousarray(column) for column in self.windows.T[1:])

    def choose(
        self, weights: Weights, board: Board, rng: np.random.Generator | None = None
    ) -> tuple[int, bool]:
        """Return a point of the highest value, PASS if there is none; superko is not checked.

        With `rng` it is one of the equal ones at random, else the first. Also return whether chance
        chose.
        """
        values, first = self.move_values(weights, board)
        best = values.max()
        if best == kernels.NO_VALUE:
            return PASS, False
        equal = np.flatnonzero(values == best)
        if rng is None or len(equal) == 1:
            return point_at(first, self.rows, self.cols), False
        # All but one of the equal values are only bounds: find one that holds.
        for i in rng.permutation(equal).tolist():
            among = np.arange(len(values)) == i
            if i == first or self.move_values(weights, board, among)[0][i] == best:
                break
        return point_at(i, self.rows, self.cols), True

    def move_values(
        self, weights: Weights, board: Board, among: BoolArray | None = None
    ) -> tuple[FloatArray, int]:
        """Return the value of each move by look-ahead and the best, see `kernels.move_values`."""
        plain, full = self.unfold(weights)
        values = np.empty(self.rows * self.cols)
        parts = plain.cut(full), plain._columns, plain._cover
        chosen = np.ones(len(values), np.bool_) if among is None else among
        first = kernels.move_values(board.state, *parts, self.free, self.plies, chosen, values)
        return values, int(first)

    def value(self, weights: Weights, board: Board, colour: int) -> float:
        """Return the output of the network playing `colour`, from -1 to +1."""
        plain, full = self.unfold(weights)
        w0, w1, w2 = plain.cut(full)
        grid = board.grid().ravel()
        x = np.where(grid == 0, 0.0, np.where(grid == colour, 1.0, -1.0))
        if len(plain.windows):
            (over, places), (sides, starts) = plain._cover, plain._columns
            sums = w0[starts + sides * sides]
            inside = over >= 0
            np.add.at(sums, over[inside], (x[:, None] * w0[places])[inside])
            x = np.tanh(sums)
        hidden = np.tanh(np.append(x, 1.0) @ w1)
        return float(np.tanh(np.append(hidden, 1.0) @ w2))


@dataclass(frozen=True)
class Dense(Shape):
    """A hidden layer and an output: 169-55-1 on 13x13, 9,406 weights with biases."""

    plies: int = 2

    @property
    def hidden(self) -> int:
        """Units in the hidden layer."""
        return max(self.rows * self.cols // _HIDDEN_SHARE - 1, 2)


@dataclass(frozen=True)
class Spatial(Shape):
    """One unit per m x m window (m = 3, 5, ...), a second layer, an output: 36,445 on 13x13."""

    units: int = 0  # units in the second layer; 0 for a third of the windows, as in the paper

    @cached_property
    def windows(self) -> IntArray:
        """One row per window: first cell, side, index of its first weight."""
        found, place = [], 0
        for m in _sides(self.rows, self.cols):
            for r, c in np.ndindex(self.rows - m + 1, self.cols - m + 1):
                found.append((r * self.cols + c, m, place))
                place += m * m + 1
        return np.array(found, np.int64)

    @property
    def hidden(self) -> int:
        """Units in the second layer."""
        return self.units or max(len(self.windows) // _HIDDEN_SHARE, 2)


@dataclass(frozen=True)
class _Folded(Shape):
    """A network whose weights are copies of a few free ones."""

    @cached_property
    def _copies(self) -> tuple[Shape, IntArray, int]:
        """The plain network, the free weight (0: none) that each weight copies, their number."""
        raise NotImplementedError

    @property
    def n_weights(self) -> int:
        """Number of free weights."""
        return self._copies[2]

    def unfold(self, weights: Weights) -> tuple[Shape, Weights]:
        """Return the equivalent plain network and its weights."""
        _check(weights, self.n_weights)
        shape, source, _ = self._copies
        return shape, np.concatenate(([0.0], weights))[source]


@dataclass(frozen=True)
class Tiled(_Folded):
    """The dense network with one symmetric window that most of its units share: 202 on 13x13.

    There 49 units cover 7x7 points each, with shared weights and one output weight per orbit of
    their places; the other six have one weight per orbit of points.
    """

    plies: int = 2

    @cached_property
    def _copies(self) -> tuple[Shape, IntArray, int]:
        full = Dense(self.rows, self.cols, self.free, self.plies)
        # Weights not named below stay 0: a unit covers only its window.
        source, names = np.zeros(full.n_weights, np.int64), _numbers()
        _, w1, w2 = full.cut(source)
        m = 1  # becomes the smallest window size for which the units suffice
        while (self.rows - m + 1) * (self.cols - m + 1) > full.hidden:
            m += 1
        rows, cols = self.rows - m + 1, self.cols - m + 1
        for unit in range(rows * cols):
            top, left = divmod(unit, cols)
            for r, c in np.ndindex(m, m):
                w1[(top + r) * self.cols + left + c, unit] = names["window", _orbit(r, c, m, m)]
            w1[-1, unit] = names["window bias"]
            w2[unit] = names["place", _orbit(top, left, rows, cols)]
        for unit in range(rows * cols, full.hidden):
            for cell in range(self.rows * self.cols):
                orbit = _orbit(*divmod(cell, self.cols), self.rows, self.cols)
                w1[cell, unit] = names["point", unit, orbit]
            w1[-1, unit], w2[unit] = names["unit bias", unit], names["output", unit]
        w2[-1] = names["output bias"]
        return full, source, len(names)


@dataclass(frozen=True)
class Shared(_Folded):
    """The spatial network with one symmetric kernel per window size: 158 weights on 13x13.

    The second layer has one unit per size, with one weight per orbit of the windows' places.
    """

    @cached_property
    def _copies(self) -> tuple[Shape, IntArray, int]:
        sides = _sides(self.rows, self.cols)
        full = Spatial(self.rows, self.cols, self.free, self.plies, units=len(sides))
        # Weights not named below stay 0: each second-layer unit reads only windows of one size.
        source, names = np.zeros(full.n_weights, np.int64), _numbers()
        w0, w1, w2 = full.cut(source)
        u = 0
        for unit, m in enumerate(sides):
            rows, cols = self.rows - m + 1, self.cols - m + 1
            for top, left in np.ndindex(rows, cols):
                place = int(full.windows[u, 2])
                for r, c in np.ndindex(m, m):
                    w0[place + r * m + c] = names["window", m, _orbit(r, c, m, m)]
                w0[place + m * m] = names["window bias", m]
                w1[u, unit] = names["place", m, _orbit(top, left, rows, cols)]
                u += 1
        for unit in range(len(sides)):
            w1[-1, unit], w2[unit] = names["unit bias", unit], names["output", unit]
        w2[-1] = names["output bias"]
        return full, source, len(names)


def _numbers() -> defaultdict[object, int]:
    """Number keys from 1 in the order of their first use."""
    return defaultdict(count(1).__next__)


def _sides(rows: int, cols: int) -> range:
    """Return the side lengths of the windows."""
    return range(3, min(rows, cols) + 1, 2)


def _orbit(r: int, c: int, rows: int, cols: int) -> tuple[int, int]:
    """Return the orbit of a cell under the symmetries of a rows x cols rectangle."""
    a, b = min(r, rows - 1 - r), min(c, cols - 1 - c)
    return (min(a, b), max(a, b)) if rows == cols else (a, b)


def _check(weights: NDArray[Any], expected: int) -> None:
    if weights.shape != (expected,):
        raise ModelError(f"this network has {expected} weights, not {weights.shape}")


SHAPES: dict[str, type[Shape]] = {s.__name__.lower(): s for s in (Dense, Spatial, Tiled, Shared)}
"""The kinds of networks by name."""
