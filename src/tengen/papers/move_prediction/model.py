"""The model of the move predictor: known patterns, their frequencies, and the re-ranker.

A pattern is the arrangement of own stones, enemy stones, empty points and edge on a template around
a point.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray, IntArray
from tengen.papers.move_prediction import kernels
from tengen.papers.move_prediction.kernels import PLIES_PER_PHASE, REACH, RING_LIMITS, RINGS, SPAN
from tengen.statistics import wilson

if TYPE_CHECKING:
    from tengen.board import Board
    from tengen.records.arrays import GameArrays

TOPS = (1, 5, 10, 20, 40, 60, 80)  # ranks at which cumulative accuracy is measured
_KEY_SEED = 20070401  # of the hash keys; model files contain hashes, so it never changes
_PHASES = 10
_NONE = np.zeros((0, 2))


@lru_cache(maxsize=16)
def hash_tables(rows: int, cols: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return (rings of the empty board, keys by orientation, ring of each offset) for one size."""
    generator = np.random.Generator(np.random.PCG64(_KEY_SEED))
    high, size = np.iinfo(np.int64).max, (SPAN * SPAN, 3)
    base = generator.integers(-high - 1, high, size=size, dtype=np.int64, endpoint=True)
    dr, dc = (each - REACH for each in np.divmod(np.arange(SPAN * SPAN), SPAN))
    keys = np.empty((*size, kernels.ORIENTATIONS), np.int64)
    for o in range(kernels.ORIENTATIONS):
        row, col = (dc, dr) if o & 4 else (dr, dc)
        row, col = (-row if o & 1 else row), (-col if o & 2 else col)
        keys[:, :, o] = base[(row + REACH) * SPAN + col + REACH]
    distance = abs(dr) + abs(dc) + np.maximum(abs(dr), abs(dc))
    ring_of = np.where(distance > 0, np.searchsorted(RING_LIMITS, distance), -1)
    # On the empty board only off-board points are hashed, ring by ring.
    order = np.argsort(ring_of, kind="stable")[1:]
    starts = np.searchsorted(ring_of[order], np.arange(RINGS))
    rings = np.empty((2, rows * cols, RINGS, kernels.ORIENTATIONS), np.int64)
    for i in range(rows * cols):
        row, col = i // cols + dr[order], i % cols + dc[order]
        outside = (row < 0) | (row >= rows) | (col < 0) | (col >= cols)
        hashed = np.where(outside[:, None], keys[order, 2], 0)
        rings[:, i] = np.bitwise_xor.reduceat(hashed, starts, axis=0)
    return rings, keys, ring_of


def feature_count(n_patterns: int) -> int:
    """Return the number of features for `n_patterns` patterns, including "no pattern"."""
    each = kernels.EARLIER * (n_patterns + kernels.OFFSETS)
    return n_patterns + kernels.PLACES + each


@dataclass
class Measured:
    """Accuracy of a predictor on games; rates are fractions."""

    games: int = 0
    hits: FloatArray = field(default_factory=lambda: np.zeros((_PHASES, len(TOPS))))
    counts: FloatArray = field(default_factory=lambda: np.zeros(_PHASES))
    loss: float = 0.0
    seconds: float = 0.0  # processor time

    @property
    def positions(self) -> int:
        """Number of predicted moves."""
        return int(self.counts.sum())

    def rate(self, top: int) -> float:
        """Return the fraction of moves that were among the best `top` candidates."""
        return float(self.hits[:, TOPS.index(top)].sum() / max(self.positions, 1))

    def interval(self, top: int) -> tuple[float, float]:
        """Return the 95 % interval of `rate`, treating positions as independent."""
        return wilson(float(self.hits[:, TOPS.index(top)].sum()), self.positions)

    def phases(self) -> list[dict[str, float]]:
        """Return the top-1 accuracy per 30 plies."""
        return [
            {
                "from_ply": PLIES_PER_PHASE * k,
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
    _tables: dict[tuple[int, int], Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def features(self) -> int:
        """Number of features whose weight is not zero."""
        return int(np.count_nonzero(self.weights))

    def tables(self, rows: int, cols: int) -> tuple[NDArray[Any], ...]:
        """Return the `tables` of the kernels for one board size."""
        if (rows, cols) in self._tables:
            return self._tables[rows, cols]  # type: ignore[no-any-return]
        n = max(len(self.keys), 1)
        size = 1 << max(4, int(np.ceil(np.log2(2.2 * n))))
        table, values = np.zeros(size, np.int64), np.zeros(size, np.int32)
        numbers = np.arange(1, len(self.keys) + 1, dtype=np.int32)
        kernels.store_all(table, values, np.ascontiguousarray(self.keys), numbers)
        bits = np.zeros(64 << max(0, int(np.ceil(np.log2(n / 8)))), np.bool_)  # a byte per key
        bits[(self.keys >> kernels.SIEVE_SHIFT) & (len(bits) - 1)] = True
        sieve = np.packbits(bits, bitorder="little").view(np.uint64)
        found = *hash_tables(rows, cols), self.templates, table, values, sieve
        self._tables[rows, cols] = found
        return found

    def rank_games(
        self,
        games: GameArrays,
        which: IntArray,
        *,
        top: int,
        memory: FloatArray = _NONE,
        penalty: float = 0.0,
        alpha: float = 1.0,
        samples: IntArray | None = None,
        measured: Measured | None = None,
    ) -> float:
        """Learn from games, store their samples, or measure on them; see `kernels.rank_games`."""
        rows, cols = int(games.rows[0]), int(games.cols[0])
        stored = np.zeros((0, 0), np.int64) if samples is None else samples
        found = measured or Measured(hits=np.zeros((0, len(TOPS))), counts=np.zeros(0))
        return float(
            kernels.rank_games(
                (games.moves, games.colours, games.offsets, which), rows, cols,
                self.tables(rows, cols), self.frequency, top, self.weights,
                (memory, penalty, alpha), stored, (np.array(TOPS), found.hits, found.counts),
            )
        )  # fmt: skip

    def priors(self, board: Board) -> tuple[IntArray, FloatArray]:
        """Return the legal points (simple ko) and their normalised scores."""
        tables = self.tables(board.rows, board.cols)
        earlier = np.zeros((2, kernels.EARLIER), np.int64)
        earlier[0] = -1
        past = board.copy()  # undo the last moves here to find the patterns they were played on
        for k in range(min(kernels.EARLIER, len(past.moves))):
            colour, point = past.undo()
            earlier[0, k] = point
            if point > 0:
                state = np.ascontiguousarray(past.state)
                earlier[1, k] = kernels.pattern_at(state, colour, point, tables)
        points = np.zeros(board.rows * board.cols, np.int64)
        final = np.zeros(board.rows * board.cols)
        n = kernels.score_board(
            np.ascontiguousarray(board.state), earlier, tables, self.frequency, self.weights,
            self.top, points, final,
        )  # fmt: skip
        shares = np.exp(final[:n] - final[:n].max(initial=-np.inf))
        return points[:n], shares / shares.sum()
