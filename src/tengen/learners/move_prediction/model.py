"""The trained predictor: known patterns, their frequencies, the re-ranker's weights, and scoring.

A pattern is the arrangement of own stones, enemy stones, empty points and edge on a template around
a point. The fixed random keys that hash patterns are made here; `pattern_kernels` uses them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray, IntArray
from tengen.learners.move_prediction import kernels, pattern_kernels
from tengen.learners.move_prediction.pattern_kernels import RING_LIMITS, RINGS, SPAN
from tengen.statistics import wilson

if TYPE_CHECKING:
    from tengen.board import Board
    from tengen.records.arrays import GameArrays

TOPS = (1, 5, 10, 20, 40, 60, 80)
"""Ranks at which cumulative accuracy is measured."""

_KEY_SEED = 20070401
"""Seed of the hash keys. Model files contain hashes, so it never changes."""

_PLIES_PER_PHASE = 30
_PHASES = 10


@lru_cache(maxsize=1)
def base_keys() -> IntArray:
    """Return random 64-bit keys, one per offset and (own, enemy, border)."""
    generator = np.random.Generator(np.random.PCG64(_KEY_SEED))
    high, size = np.iinfo(np.int64).max, (SPAN * SPAN, 3)
    return generator.integers(-high - 1, high, size=size, dtype=np.int64, endpoint=True)


@lru_cache(maxsize=16)
def hash_tables(rows: int, cols: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return (rings of the empty board, keys by orientation, ring of each offset) for one size."""
    keys = pattern_kernels.spread_keys(base_keys())
    ring_of = pattern_kernels.ring_table(np.array(RING_LIMITS, np.int64))
    return pattern_kernels.empty_rings(rows, cols, keys, ring_of), keys, ring_of


@dataclass
class Measured:
    """Accuracy of a predictor on games; rates are fractions."""

    games: int = 0
    hits: FloatArray = field(default_factory=lambda: np.zeros((_PHASES, len(TOPS))))
    counts: FloatArray = field(default_factory=lambda: np.zeros(_PHASES))
    loss: float = 0.0
    seconds: float = 0.0
    """Processor time."""

    @property
    def positions(self) -> int:
        """Number of predicted moves."""
        return int(self.counts.sum())

    def rate(self, top: int) -> float:
        """Return the share of moves among the best `top`."""
        return float(self.hits[:, TOPS.index(top)].sum() / max(self.positions, 1))

    def interval(self, top: int) -> tuple[float, float]:
        """Return the 95 % interval of `rate`, treating positions as independent."""
        return wilson(float(self.hits[:, TOPS.index(top)].sum()), self.positions)

    def phases(self) -> list[dict[str, float]]:
        """Return the top-1 accuracy per 30 plies."""
        return [
            {
                "from_ply": _PLIES_PER_PHASE * k,
                "positions": int(self.counts[k]),
                "top1": float(self.hits[k, 0] / self.counts[k]),
            }
            for k in range(_PHASES)
            if self.counts[k] > 0
        ]

    def summary(self) -> dict[str, object]:
        """Return the figures as plain values for JSON."""
        n = max(self.positions, 1)
        return {
            "games": self.games,
            "positions": self.positions,
            **{f"top{top}": self.rate(top) for top in (1, 5, 10, 20)},
            "log_loss": self.loss / n,
            "seconds": self.seconds,
            "interval": list(self.interval(1)),
            "milliseconds_per_position": 1000 * self.seconds / n,
            "phases": self.phases(),
        }


@dataclass
class PredictionModel:
    """Known patterns `keys`, numbered from 1, with frequencies and the re-ranker's weights.

    Entry 0 of `frequency` is the frequency of "no known pattern".
    """

    keys: IntArray
    frequency: FloatArray
    weights: FloatArray
    templates: IntArray
    top: int
    sizes: list[tuple[int, int]]

    @property
    def features(self) -> int:
        """Number of features whose weight is not zero."""
        return int(np.count_nonzero(self.weights))

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a model file; zero weights are left out."""
        used = np.flatnonzero(self.weights)
        return {
            "keys": self.keys,
            "frequency": self.frequency.astype(np.float32),
            "weight_index": used.astype(np.uint32),
            "weights": self.weights[used].astype(np.float16),
            "templates": self.templates,
            "top": np.array([self.top], np.int64),
        }

    @classmethod
    def from_tensors(
        cls, tensors: dict[str, NDArray[Any]], sizes: list[tuple[int, int]]
    ) -> PredictionModel:
        """Rebuild a model from the arrays that `tensors` returned."""
        keys, frequency = tensors["keys"], tensors["frequency"].astype(np.float64)
        weights = np.zeros(kernels.feature_count(len(frequency)))
        weights[tensors["weight_index"]] = tensors["weights"]
        top, templates = int(tensors["top"][0]), tensors["templates"]
        # The kernels check no bounds, so foreign files must be rejected here.
        if len(frequency) != len(keys) + 1 or not sizes:
            raise ValueError(f"{len(frequency)} frequencies for {len(keys)} patterns")
        if top < 0 or list(templates) != sorted(set(templates) & set(range(RINGS))):
            raise ValueError(f"templates {templates.tolist()}, {top} candidates")
        return cls(keys, frequency, weights, templates, top, list(sizes))

    def tables(self, rows: int, cols: int) -> tuple[NDArray[Any], ...]:
        """Return the `tables` of the kernels for one board size."""
        n = max(len(self.keys), 1)
        size = 1 << max(4, int(np.ceil(np.log2(2.2 * n))))
        table, values = np.zeros(size, np.int64), np.zeros(size, np.int32)
        numbers = np.arange(1, len(self.keys) + 1, dtype=np.int32)
        pattern_kernels.store_all(table, values, np.ascontiguousarray(self.keys), numbers)
        sieve = np.zeros(1 << max(0, int(np.ceil(np.log2(n / 8)))), np.uint64)  # a byte per key
        kernels.fill_sieve(self.keys, sieve)
        return (*hash_tables(rows, cols), self.templates, table, values, sieve)

    def evaluate(self, games: GameArrays, measured: Measured) -> None:
        """Predict all moves of the games and add the result to `measured`."""
        rows, cols = int(games.rows[0]), int(games.cols[0])
        measured.loss += kernels.measure_games(
            games.moves, games.colours, games.offsets, np.arange(len(games)), rows, cols,
            self.tables(rows, cols), self.frequency, self.weights, self.top, np.array(TOPS),
            measured.hits, measured.counts,
        )  # fmt: skip

    def priors(self, board: Board, tables: tuple[NDArray[Any], ...]) -> tuple[IntArray, FloatArray]:
        """Return the legal points (simple ko) and their normalised scores.

        The last moves of the board are undone to find the patterns they were played on. A position
        that was set up without moves has no history.
        """
        points = np.zeros(board.rows * board.cols, np.int64)
        final = np.zeros(board.rows * board.cols)
        n = kernels.score_board(
            np.ascontiguousarray(board.state), _history(board, tables), tables, self.frequency,
            self.weights, self.top, points, final,
        )  # fmt: skip
        if n == 0:
            return points[:0], final[:0]
        shares = np.exp(final[:n] - final[:n].max())
        return points[:n], shares / shares.sum()


def _history(board: Board, tables: tuple[NDArray[Any], ...]) -> IntArray:
    """Return the points of the last moves, latest first, and the patterns they were played on."""
    earlier = np.zeros((2, kernels.EARLIER), np.int64)
    earlier[0] = -1
    past = board.copy()
    for k in range(min(kernels.EARLIER, len(past.moves))):
        colour, point = past.undo()
        earlier[0, k] = point
        if point > 0:
            state = np.ascontiguousarray(past.state)
            earlier[1, k] = kernels.pattern_at(state, colour, point, tables)
    return earlier
