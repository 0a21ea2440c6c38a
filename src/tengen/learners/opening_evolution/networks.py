"""Describe the evolved networks: how a flat vector of weights is cut up, and what move it means.

`Dense` is the paper's 169-55-1 with look-ahead, `Spatial` its network of one unit a window,
`Shared` our spatial network whose windows of one size share weights that are tied by the board's
eight symmetries. A shape knows the size of its board; weights are one float64 vector, as evolution
wants them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tengen.board import Board
from tengen.errors import ModelError
from tengen.learners.opening_evolution import kernels

Weights = NDArray[np.float64]
"""All weights and biases of one network in a row."""

HIDDEN_SHARE = 3
"""The paper's hidden layers have a third of the units below them."""


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
    plies: int = 2
    free: bool = False
    """Whether illegal points are candidates too, for which the player then passes."""

    @property
    def hidden(self) -> int:
        """Units in the hidden layer."""
        return max(self.rows * self.cols // HIDDEN_SHARE - 1, 2)

    @property
    def n_weights(self) -> int:
        """Length of the weight vector, biases included: 9,406 on 13x13."""
        return (self.rows * self.cols + 1) * self.hidden + self.hidden + 1

    def cut(self, weights: Weights) -> tuple[Weights, Weights]:
        """Return the two layers; the last row of each is its bias."""
        _check(weights, self.n_weights)
        first = (self.rows * self.cols + 1) * self.hidden
        return weights[:first].reshape(-1, self.hidden), weights[first:]

    def move(self, weights: Weights, board: Board) -> int:
        """Choose a point by look-ahead."""
        return int(kernels.minimax_move(board.state, *self.cut(weights), self.plies, self.free))

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
    lookahead: int = 0
    """Own moves whose replies are searched too; 0 for none, as in the paper."""

    @cached_property
    def windows(self) -> NDArray[np.int64]:
        """One row a window: first cell, side, place of its first weight."""
        found, place = [], 0
        for m in range(3, min(self.rows, self.cols) + 1, 2):
            for r in range(self.rows - m + 1):
                for c in range(self.cols - m + 1):
                    found.append((r * self.cols + c, m, place))
                    place += m * m + 1
        return np.array(found, np.int64)

    @cached_property
    def cover(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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
        return max(len(self.windows) // HIDDEN_SHARE, 2)

    @property
    def n_weights(self) -> int:
        """Length of the weight vector, biases included."""
        _, m, place = (int(v) for v in self.windows[-1])
        return place + m * m + 1 + (len(self.windows) + 1) * self.hidden + self.hidden + 1

    def cut(self, weights: Weights) -> tuple[Weights, Weights, Weights]:
        """Return windows' weights, second layer, output."""
        _check(weights, self.n_weights)
        _, m, place = (int(v) for v in self.windows[-1])
        first = place + m * m + 1
        second = first + (len(self.windows) + 1) * self.hidden
        return weights[:first], weights[first:second].reshape(-1, self.hidden), weights[second:]

    @cached_property
    def _columns(self) -> tuple[NDArray[np.int64], ...]:
        return tuple(np.ascontiguousarray(column) for column in self.windows.T)

    def move(self, weights: Weights, board: Board) -> int:
        """Choose the point after which the network likes the position best."""
        parts = (*self.cut(weights), *self._columns, *self.cover)
        if self.lookahead:
            return int(kernels.spatial_minimax_move(board.state, *parts, self.lookahead))
        return int(kernels.spatial_move(board.state, *parts, self.free))

    def value(self, weights: Weights, board: Board, colour: int) -> float:
        """Return the output for the side playing `colour`."""
        parts = (*self.cut(weights), *self._columns)
        return float(np.tanh(kernels.spatial_value(board.state, colour, *parts)))


@dataclass(frozen=True)
class Shared:
    """The spatial network with few weights: windows of a size share one kernel tied by symmetry.

    Each window size has one weight per orbit of its cells under the eight symmetries and a bias;
    the second layer has one unit a size, fed by that size's windows with one weight per orbit of
    their places. A few hundred numbers instead of 36,445, and every orientation plays alike.
    """

    rows: int = 13
    cols: int = 13
    free: bool = False

    @cached_property
    def spatial(self) -> Spatial:
        """The full network that the shared weights unfold into."""
        return Spatial(self.rows, self.cols, self.free)

    @cached_property
    def _unfolding(self) -> tuple[NDArray[np.int64], int]:
        """For every weight of the full network the shared weight it copies (0: always zero)."""
        full = self.spatial
        _, m_last, place_last = (int(v) for v in full.windows[-1])
        source = np.zeros(full.n_weights, np.int64)
        names: dict[tuple[object, ...], int] = {}

        def name(*key: object) -> int:
            return names.setdefault(key, len(names) + 1)

        for _, m, place in full.windows:
            for r in range(m):
                for c in range(m):
                    source[place + r * m + c] = name("window", m, _orbit(r, c, int(m), int(m)))
            source[place + m * m] = name("window bias", m)
        first = place_last + m_last * m_last + 1
        sides = sorted({int(m) for m in full.windows[:, 1]})
        for u, (start, m, _) in enumerate(full.windows):
            unit = sides.index(int(m))
            r, c = divmod(int(start), self.cols)
            orbit = _orbit(r, c, self.rows - int(m) + 1, self.cols - int(m) + 1)
            if unit < full.hidden:
                source[first + u * full.hidden + unit] = name("place", m, orbit)
        second = first + (len(full.windows) + 1) * full.hidden
        for unit in range(min(len(sides), full.hidden)):
            source[first + len(full.windows) * full.hidden + unit] = name("unit bias", unit)
            source[second + unit] = name("output", unit)
        source[-1] = name("output bias")
        return source, len(names)

    @property
    def n_weights(self) -> int:
        """Length of the weight vector, biases included."""
        return self._unfolding[1]

    def unfold(self, weights: Weights) -> Weights:
        """Return the weights of the full spatial network."""
        _check(weights, self.n_weights)
        return np.concatenate(([0.0], weights))[self._unfolding[0]]

    def move(self, weights: Weights, board: Board) -> int:
        """Choose the point after which the network likes the position best."""
        return self.spatial.move(self.unfold(weights), board)

    def value(self, weights: Weights, board: Board, colour: int) -> float:
        """Return the output for the side playing `colour`."""
        return self.spatial.value(self.unfold(weights), board, colour)


def _orbit(r: int, c: int, rows: int, cols: int) -> tuple[int, int]:
    """Name the orbit of a cell under the symmetries of a rows x cols rectangle."""
    a, b = min(r, rows - 1 - r), min(c, cols - 1 - c)
    return (min(a, b), max(a, b)) if rows == cols else (a, b)


def _check(weights: Weights, expected: int) -> None:
    if weights.shape != (expected,):
        raise ModelError(f"this network has {expected} weights, not {weights.shape}")


SHAPES: dict[str, type[Dense] | type[Spatial] | type[Shared]] = {
    "dense": Dense,
    "spatial": Spatial,
    "shared": Shared,
}
"""The kinds of networks by the name under which models and commands know them."""
