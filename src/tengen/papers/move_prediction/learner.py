"""The move predictor: its model, and the estimator and policy around it.

A pattern is the arrangement of own stones, enemy stones, empty points and edge on a template around
a point.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray, IntArray
from tengen.errors import ModelError
from tengen.models import Card, Run, StoredLearner, View, fingerprint, from_plain, to_plain
from tengen.models.store import Tensors
from tengen.papers.move_prediction import kernels
from tengen.papers.move_prediction.kernels import PLIES_PER_PHASE, REACH, RING_LIMITS, RINGS, SPAN
from tengen.papers.move_prediction.settings import PredictionSettings
from tengen.statistics import wilson

if TYPE_CHECKING:
    from tengen.board import Board
    from tengen.records.arrays import GameArrays

TOPS = (1, 5, 10, 20, 40, 60, 80)  # ranks at which cumulative accuracy is measured
_KEY_SEED = 20070401  # of the hash keys; model files contain hashes, so it never changes
_PHASES = 10
_PASS_PRIOR = 1e-4  # prior of a pass while other moves are legal: passes are not predicted
_DEFAULTS = PredictionSettings()
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
                self.tables(rows, cols), self.frequency, top, self.weights, memory, penalty, alpha,
                stored, np.array(TOPS), found.hits, found.counts,
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


class MovePredictor(StoredLearner):
    """Predict how likely a strong player is to choose each legal move; never a pass."""

    kind = "move-prediction"
    view = View(
        "Move predictor",
        "Patterns of experts' games, re-ranked by maximum entropy, give every move a probability.",
        {"19x19": "predictor-paper"}, order=4,
    )  # fmt: skip

    def __init__(self, *, settings: PredictionSettings = _DEFAULTS) -> None:
        self.settings = settings

    # ----- Learning -----

    def fit(
        self,
        games: GameArrays,
        *,
        run: Run[Any] | None = None,
        workers: int = 1,
        ray: str | None = None,
        on_report: Callable[[str], None] = lambda line: None,
    ) -> Self:
        """Learn from games of one size, as returned by `training.read_games`.

        With `run`, an interrupted training continues from its last checkpoint there.
        """
        from tengen.papers.move_prediction.training import refuse_unsuitable, train

        refuse_unsuitable(games)
        self.model_ = train(
            games, self.settings, run=run, workers=workers, ray=ray, on_report=on_report
        )
        self.card_ = None
        return self

    def open_run(
        self, folder: str | PathLike[str], games: GameArrays, *, resume: bool = False
    ) -> Run[PredictionSettings]:
        """Open a run folder for training on these games; pass the result to `fit`."""
        data = {"games": fingerprint(games.moves, games.colours, games.offsets)}
        return Run.open(folder, self.kind, self.settings, data=data, resume=resume)

    @classmethod
    def of(cls, model: PredictionModel, settings: PredictionSettings) -> Self:
        """Return a predictor with an existing model."""
        predictor = cls(settings=settings)
        predictor.model_ = model
        return predictor

    # ----- Files -----

    def _about(self) -> dict[str, Any]:
        return {
            "what": f"Predicts experts' moves by maximum entropy ({self.model_.features} features)",
            "recipe": {"settings": to_plain(self.settings)},
            "seed": self.settings.seed,
            "sizes": self.model_.sizes,
        }

    def _tensors(self) -> Tensors:
        model = self.model_
        used = np.flatnonzero(model.weights)  # zero weights are left out
        return {
            "keys": model.keys,
            "frequency": model.frequency.astype(np.float32),
            "weight_index": used.astype(np.uint32),
            "weights": model.weights[used].astype(np.float16),
            "templates": model.templates,
            "top": np.array([model.top], np.int64),
        }

    @classmethod
    def _restored(cls, tensors: Tensors, card: Card) -> Self:
        settings = from_plain(PredictionSettings, card.recipe.get("settings") or {})
        keys, frequency = tensors["keys"], tensors["frequency"].astype(np.float64)
        weights = np.zeros(feature_count(len(frequency)))
        weights[tensors["weight_index"]] = tensors["weights"]
        top, templates = int(tensors["top"][0]), tensors["templates"]
        # The kernels check no bounds, so foreign files must be rejected here.
        if len(frequency) != len(keys) + 1 or not card.sizes:
            raise ModelError(f"{len(frequency)} frequencies for {len(keys)} patterns")
        if top < 0 or list(templates) != sorted(set(templates) & set(range(RINGS))):
            raise ModelError(f"templates {templates.tolist()}, {top} candidates")
        sizes = [(int(rows), int(cols)) for rows, cols in card.sizes]
        return cls.of(PredictionModel(keys, frequency, weights, templates, top, sizes), settings)

    # ----- Use -----

    def check_size(self, rows: int, cols: int) -> None:
        """Raise `ModelError` if the model was trained for other board sizes."""
        if (rows, cols) not in self.model_.sizes:
            known = ", ".join(f"{r}x{c}" for r, c in self.model_.sizes)
            name = "this predictor" if self.card_ is None else self.card_.name
            raise ModelError(f"{name} predicts moves on {known}, not on {rows}x{cols}")

    def priors(self, board: Board) -> FloatArray:
        """Return rows x columns + 1 probabilities, pass last; zero where illegal; sum 1."""
        self.check_size(board.rows, board.cols)
        points, priors = self.model_.priors(board)
        out: FloatArray = np.zeros(board.rows * board.cols + 1)
        width = board.cols + 1
        out[(points // width - 1) * board.cols + points % width - 1] = priors
        legal = board.legal_mask()[:-1]
        out[:-1][~legal] = 0.0  # superko
        if legal.any() and out.sum() <= 0.0:
            out[:-1][legal] = 1.0  # superko forbids every move that has any weight
        if legal.any():
            out *= (1.0 - _PASS_PRIOR) / out.sum()
        out[-1] = _PASS_PRIOR if legal.any() else 1.0
        shares: FloatArray = out / out.sum()
        return shares

    def evaluate(self, games: GameArrays) -> Measured:
        """Predict every move of the games and compare; ties share credit, passes are left out."""
        from tengen.papers.move_prediction.training import refuse_unsuitable

        refuse_unsuitable(games)
        for rows, cols in sorted(set(zip(games.rows, games.cols, strict=True))):
            self.check_size(int(rows), int(cols))
        model, everything = self.model_, np.arange(len(games))
        # Compile on the first game, before the clock starts.
        model.rank_games(games, everything[:1], top=model.top, measured=Measured())
        measured = Measured(games=len(games))
        began = time.process_time()
        measured.loss = model.rank_games(games, everything, top=model.top, measured=measured)
        measured.seconds = time.process_time() - began
        return measured
