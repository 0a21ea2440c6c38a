"""Describe the evolved networks: how a flat vector of weights is cut up, and what move it means.

`Dense` is the paper's 169-55-1 with look-ahead, `Spatial` its network of one unit a window. `Tied`
and `Tiled`, `Shared` and `Rich` are the same networks with few free weights, tied by the board's
eight symmetries: theirs unfold into those of a plain network. A shape knows the size of its board;
weights are one float64 vector, as evolution wants them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray, IntArray
from tengen.board import Board
from tengen.errors import ModelError
from tengen.learners.opening_evolution import kernels

Weights = FloatArray
"""All weights and biases of one network in a row."""

_HIDDEN_SHARE = 3
"""The paper's hidden layers have a third of the units below them."""


_NO_WEIGHTS = np.zeros(0)
_NO_WINDOWS = (np.zeros(0, np.int64),) * 3
_NO_COVER = (np.zeros((0, 0), np.int64),) * 2
"""What a network without windows has in their place."""


class Shape(Protocol):
    """A kind of network: how many weights, what move, what value."""

    @property
    def rows(self) -> int:
        """Rows of the board it plays on."""
        ...

    @property
    def cols(self) -> int:
        """Columns of the board it plays on."""
        ...

    @property
    def n_weights(self) -> int:
        """Length of the weight vector, biases included."""
        ...

    def unfold(self, weights: Weights) -> tuple[Shape, Weights]:
        """Return the plain network that these weights stand for, and its weights."""
        ...

    def move(self, weights: Weights, board: Board) -> int:
        """Choose a point for the side to move; superko is the caller's."""
        ...

    def value(self, weights: Weights, board: Board, colour: int) -> float:
        """Return the output of the network playing `colour`, from -1 to +1."""
        ...


@dataclass(frozen=True)
class Dense:
    """A hidden layer and an output: 169-55-1 on 13x13, with one or two plies of look-ahead."""

    rows: int = 13
    cols: int = 13
    free: bool = False
    """Whether illegal points are candidates too, for which the player then passes."""
    plies: int = 2

    def unfold(self, weights: Weights) -> tuple[Shape, Weights]:
        """Return itself."""
        return self, weights

    @property
    def hidden(self) -> int:
        """Units in the hidden layer."""
        return max(self.rows * self.cols // _HIDDEN_SHARE - 1, 2)

    @property
    def n_weights(self) -> int:
        """Length of the weight vector, biases included: 9,406 on 13x13."""
        return (self.rows * self.cols + 1) * self.hidden + self.hidden + 1

    def cut(self, weights: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the two layers; the last row of each is its bias."""
        _check(weights, self.n_weights)
        first = (self.rows * self.cols + 1) * self.hidden
        return weights[:first].reshape(-1, self.hidden), weights[first:]

    def move(self, weights: Weights, board: Board) -> int:
        """Choose a point by look-ahead."""
        parts = (_NO_WEIGHTS, *self.cut(weights)), _NO_WINDOWS, _NO_COVER
        args = board.state, *parts, self.free
        return int(kernels.best_move(*args, self.rows * self.cols * (self.plies - 1)))

    def value(self, weights: Weights, board: Board, colour: int) -> float:
        """Return the output for the side playing `colour`."""
        return float(np.tanh(kernels.dense_value(board.state, colour, *self.cut(weights))))


@dataclass(frozen=True)
class Spatial:
    """One unit for every m x m window (m = 3, 5, ...), a second layer, an output; no look-ahead.

    On 13x13: 286 windows, 95 units, 36,445 weights with biases (36,063 without, as in the paper).
    """

    rows: int = 13
    cols: int = 13
    free: bool = False
    plies: int = 1
    """1 for no look-ahead, as in the paper; 2 for all replies too, which it dropped as too slow."""
    units: int = 0
    """Units in the second layer; 0 for a third of the windows, as in the paper."""
    kinds: int = 1
    """Units for each window of 3x3 and 5x5; 1 in the paper."""

    def unfold(self, weights: Weights) -> tuple[Shape, Weights]:
        """Return itself."""
        return self, weights

    @cached_property
    def windows(self) -> IntArray:
        """One row a window: first cell, side, place of its first weight."""
        found, place = [], 0
        for m, _ in _sides(self.rows, self.cols, self.kinds):
            for r in range(self.rows - m + 1):
                for c in range(self.cols - m + 1):
                    found.append((r * self.cols + c, m, place))
                    place += m * m + 1
        return np.array(found, np.int64)

    @cached_property
    def _cover(self) -> tuple[IntArray, IntArray]:
        """Which windows lie over each cell (-1 behind the last), and where its weight stands."""
        over: list[list[tuple[int, int]]] = [[] for _ in range(self.rows * self.cols)]
        for u, (start, m, place) in enumerate(self.windows):
            for r in range(m):
                for c in range(m):
                    over[start + r * self.cols + c].append((u, place + r * m + c))
        most = max(len(cell) for cell in over) + 1
        table = np.full((2, len(over), most), -1, np.int64)
        for i, cell in enumerate(over):
            table[:, i, : len(cell)] = np.array(cell).T
        return np.ascontiguousarray(table[0]), np.ascontiguousarray(table[1])

    @property
    def hidden(self) -> int:
        """Units in the second layer."""
        return self.units or max(len(self.windows) // _HIDDEN_SHARE, 2)

    @property
    def n_weights(self) -> int:
        """Length of the weight vector, biases included."""
        _, m, place = (int(v) for v in self.windows[-1])
        return place + m * m + 1 + (len(self.windows) + 1) * self.hidden + self.hidden + 1

    def cut(self, weights: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return windows' weights, second layer, output."""
        _check(weights, self.n_weights)
        _, m, place = (int(v) for v in self.windows[-1])
        first = place + m * m + 1
        second = first + (len(self.windows) + 1) * self.hidden
        return weights[:first], weights[first:second].reshape(-1, self.hidden), weights[second:]

    @cached_property
    def _columns(self) -> tuple[IntArray, ...]:
        return tuple(np.ascontiguousarray(column) for column in self.windows.T)

    def move(self, weights: Weights, board: Board) -> int:
        """Choose the point after which the network likes the position best."""
        parts = self.cut(weights), self._columns, self._cover
        args = board.state, *parts, self.free
        return int(kernels.best_move(*args, self.rows * self.cols * (self.plies - 1)))

    def value(self, weights: Weights, board: Board, colour: int) -> float:
        """Return the output for the side playing `colour`."""
        parts = self.cut(weights), self._columns
        return float(np.tanh(kernels.spatial_value(board.state, colour, *parts)))


class _Folded:
    """A network whose weights are copies of a few free ones; knows not which."""

    @cached_property
    def _copies(self) -> tuple[Shape, IntArray, int]:
        """The plain network, for each weight the free one it copies (from 1 on; 0 for none, which
        is always zero), and how many free ones there are.
        """
        raise NotImplementedError

    @property
    def n_weights(self) -> int:
        """Length of the weight vector, biases included."""
        return self._copies[2]

    def unfold(self, weights: Weights) -> tuple[Shape, Weights]:
        """Return the plain network that these weights stand for, and its weights."""
        _check(weights, self.n_weights)
        shape, source, _ = self._copies
        return shape, np.concatenate(([0.0], weights))[source]

    def move(self, weights: Weights, board: Board) -> int:
        """Choose a point as the plain network does."""
        shape, full = self.unfold(weights)
        return shape.move(full, board)

    def value(self, weights: Weights, board: Board, colour: int) -> float:
        """Return the output for the side playing `colour`."""
        shape, full = self.unfold(weights)
        return shape.value(full, board, colour)


@dataclass(frozen=True)
class _FoldedDense(_Folded):
    """A dense network some of whose weights are copies of others."""

    rows: int = 13
    cols: int = 13
    free: bool = False
    plies: int = 2

    @cached_property
    def _copies(self) -> tuple[Shape, IntArray, int]:
        full = Dense(self.rows, self.cols, self.free, self.plies)
        # What is not named stays 0.
        source, names = np.zeros(full.n_weights, np.int64), _Names()
        self._name(full, source, names)
        return full, source, len(names.known)

    def _name(self, full: Dense, source: IntArray, names: _Names) -> None:
        """Give every weight of the dense network the name of the one it copies."""
        raise NotImplementedError


@dataclass(frozen=True)
class Tied(_FoldedDense):
    """The dense network with one weight a unit and orbit of points: 1,651 on 13x13.

    It sees how many stones of each side stand in each orbit, so that every orientation plays alike.
    """

    def _name(self, full: Dense, source: IntArray, names: _Names) -> None:
        _tie_points(full, source, names, range(full.hidden))


@dataclass(frozen=True)
class Tiled(_FoldedDense):
    """The dense network, most of whose units are one symmetric window moved about: 202 on 13x13.

    On 13x13 49 units see 7x7 points each, with the same weights, and count by the orbit of their
    place; the other six are those of `Tied`. The window is the smallest that needs no more units.
    """

    def _name(self, full: Dense, source: IntArray, names: _Names) -> None:
        # A unit sees its window only.
        w1, w2 = full.cut(source)
        m = 1
        while (self.rows - m + 1) * (self.cols - m + 1) > full.hidden:
            m += 1
        rows, cols = self.rows - m + 1, self.cols - m + 1
        for unit in range(rows * cols):
            top, left = divmod(unit, cols)
            for r in range(m):
                for c in range(m):
                    cell = (top + r) * self.cols + left + c
                    w1[cell, unit] = names("window", _orbit(r, c, m, m))
            w1[-1, unit] = names("window bias")
            w2[unit] = names("place", _orbit(top, left, rows, cols))
        _tie_points(full, source, names, range(rows * cols, full.hidden))


@dataclass(frozen=True)
class Shared(_Folded):
    """The spatial network whose windows of a size share one kernel tied by symmetry: 158 on 13x13.

    Each window size has one weight per orbit of its cells under the eight symmetries and a bias;
    the second layer has one unit a size, fed by that size's windows with one weight per orbit of
    their places.
    """

    rows: int = 13
    cols: int = 13
    free: bool = False
    plies: int = 1
    kinds: int = 1
    """Kernels for the windows of 3x3 and of 5x5, each with a unit of the second layer."""

    @cached_property
    def _copies(self) -> tuple[Shape, IntArray, int]:
        sides = _sides(self.rows, self.cols, self.kinds)
        size = self.rows, self.cols, self.free, self.plies
        full = Spatial(*size, units=len(sides), kinds=self.kinds)
        # What is not named stays 0: a unit of the second layer sees the windows of one kernel.
        source, names = np.zeros(full.n_weights, np.int64), _Names()
        w0, w1, w2 = full.cut(source)
        u = 0
        for unit, (m, kind) in enumerate(sides):
            rows, cols = self.rows - m + 1, self.cols - m + 1
            for top in range(rows):
                for left in range(cols):
                    place = int(full.windows[u, 2])
                    for r in range(m):
                        for c in range(m):
                            w0[place + r * m + c] = names("window", m, kind, _orbit(r, c, m, m))
                    w0[place + m * m] = names("window bias", m, kind)
                    w1[u, unit] = names("place", m, kind, _orbit(top, left, rows, cols))
                    u += 1
        for unit in range(len(sides)):
            w1[-1, unit], w2[unit] = names("unit bias", unit), names("output", unit)
        w2[-1] = names("output bias")
        return full, source, len(names.known)


@dataclass(frozen=True)
class Rich(Shared):
    """`Shared` with four kernels each for windows of 3x3 and 5x5: 311 weights on 13x13."""

    kinds: int = 4


class _Names:
    """Number things from 1 on in the order in which they are first named."""

    def __init__(self) -> None:
        self.known: dict[tuple[object, ...], int] = {}

    def __call__(self, *key: object) -> int:
        return self.known.setdefault(key, len(self.known) + 1)


def _tie_points(full: Dense, source: IntArray, names: _Names, units: range) -> None:
    """Give units of a dense network one weight an orbit of points, and name the output's bias."""
    w1, w2 = full.cut(source)
    for unit in units:
        for cell in range(full.rows * full.cols):
            orbit = _orbit(*divmod(cell, full.cols), full.rows, full.cols)
            w1[cell, unit] = names("point", unit, orbit)
        w1[-1, unit], w2[unit] = names("unit bias", unit), names("output", unit)
    w2[-1] = names("output bias")


def _sides(rows: int, cols: int, kinds: int) -> list[tuple[int, int]]:
    """List the sides of windows, each with the number of its kind from 0 on."""
    sides = range(3, min(rows, cols) + 1, 2)
    return [(m, kind) for m in sides for kind in range(kinds if m <= 5 else 1)]


def _orbit(r: int, c: int, rows: int, cols: int) -> tuple[int, int]:
    """Name the orbit of a cell under the symmetries of a rows x cols rectangle."""
    a, b = min(r, rows - 1 - r), min(c, cols - 1 - c)
    return (min(a, b), max(a, b)) if rows == cols else (a, b)


def _check(weights: NDArray[Any], expected: int) -> None:
    if weights.shape != (expected,):
        raise ModelError(f"this network has {expected} weights, not {weights.shape}")


SHAPES: dict[str, type[Dense] | type[Spatial] | type[Tied] | type[Tiled] | type[Shared]] = {
    "dense": Dense,
    "spatial": Spatial,
    "tied": Tied,
    "tiled": Tiled,
    "shared": Shared,
    "rich": Rich,
}
"""The kinds of networks by the name under which models and commands know them."""
