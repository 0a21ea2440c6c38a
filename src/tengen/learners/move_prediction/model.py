"""Hold the weights of the full recipe and call the kernels with them; write no files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import Float32Array, FloatArray, IntArray
from tengen.errors import TengenError
from tengen.learners.move_prediction import network_kernels as net
from tengen.learners.move_prediction.evaluation import TOPS, Measured
from tengen.learners.move_prediction.feature_kernels import DIRECT, RECENT
from tengen.learners.move_prediction.tables import Dictionary, Tables

if TYPE_CHECKING:
    from tengen.board import Board
    from tengen.records.arrays import GameArrays


_SMALLEST_SCALE = 2.0**-14
"""Of a stored vector: the smallest number that half precision holds at full accuracy."""


@dataclass
class FullModel:
    """The features' weights and vectors, the network, and the dictionary of patterns.

    `absolute` says whether coordinates of the 19x19 board are features; without them the model
    serves every size.
    """

    dictionary: Dictionary
    weights: Float32Array
    vectors: Float32Array
    dense: Float32Array
    absolute: bool

    @classmethod
    def new(cls, keys: IntArray, *, absolute: bool, seed: int) -> FullModel:
        """Make an untrained model for a dictionary of these keys."""
        rng = np.random.default_rng(seed)
        features = DIRECT + len(keys)
        vectors = rng.standard_normal((features, net.DIM), dtype=np.float32) * np.float32(0.05)
        parts: list[NDArray[Any]] = []
        for _ in range(net.LAYERS):
            own = rng.standard_normal((net.SEEN, net.DIM)) / np.sqrt(net.DIM)
            own[net.DIM :] *= 0.25  # sums over four neighbours
            board = rng.standard_normal((net.DIM, net.DIM)) * np.sqrt(0.1 / net.DIM)
            parts += [own.ravel(), board.ravel(), np.zeros(net.DIM)]
        parts.append(rng.standard_normal(net.DIM) * 0.1)
        return cls(
            Dictionary.of(keys, DIRECT),
            np.zeros(features, np.float32),
            vectors,
            np.concatenate(parts).astype(np.float32),
            absolute,
        )

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return what is stored: vectors in eight bits with a scale each, weights in sixteen."""
        scales = np.maximum(np.abs(self.vectors).max(axis=1) / 127, _SMALLEST_SCALE)
        scales = scales.astype(np.float16)
        steps = np.rint(self.vectors / scales.astype(np.float32)[:, None])
        return {
            "keys": self.dictionary.keys,
            "weights": self.weights.astype(np.float16),
            "vectors": np.clip(steps, -127, 127).astype(np.int8),
            "scales": scales,
            "dense": self.dense,
        }

    @classmethod
    def from_tensors(cls, tensors: dict[str, NDArray[Any]], *, absolute: bool) -> FullModel:
        """Rebuild a model from what `tensors` or `exact` returned."""
        vectors = tensors["vectors"].astype(np.float32)
        if "scales" in tensors:
            vectors *= tensors["scales"].astype(np.float32)[:, None]
        # The kernels look at no bounds, so that a foreign file must be found out here.
        features = DIRECT + len(tensors["keys"])
        weights, dense = tensors["weights"].astype(np.float32), tensors["dense"].astype(np.float32)
        shapes = vectors.shape, weights.shape, dense.shape
        if shapes != ((features, net.DIM), (features,), (net.DENSE_SIZE,)):
            raise ValueError(f"shapes {shapes} do not fit {features} features")
        return cls(Dictionary.of(tensors["keys"], DIRECT), weights, vectors, dense, absolute)

    def exact(self) -> dict[str, NDArray[Any]]:
        """Return everything in full precision, for checkpoints and further training."""
        return {
            "keys": self.dictionary.keys,
            "weights": self.weights,
            "vectors": self.vectors,
            "dense": self.dense,
        }

    def blended(self, other: FullModel, share: float) -> FullModel:
        """Return a model between this one and another of the same dictionary.

        `share` 0 is this one, 1 the other. A model and its further training lie in one valley, so
        that what lies between keeps much of what both know.

        Raises
        ------
        TengenError
            If the two know other patterns.
        """
        if not np.array_equal(self.dictionary.keys, other.dictionary.keys):
            raise TengenError("only models of the same dictionary of patterns can be blended")
        ours, theirs = self.exact(), other.exact()
        parts = {
            name: ours[name] + np.float32(share) * (theirs[name] - ours[name])
            for name in ("weights", "vectors", "dense")
        }
        absolute = self.absolute and other.absolute
        return FullModel.from_tensors({**parts, "keys": ours["keys"]}, absolute=absolute)

    @property
    def features(self) -> int:
        """Return how many features have weights."""
        return len(self.weights)

    def arrays(self, rows: int, cols: int) -> tuple[Any, ...]:
        """Return the tables and weights in the order of `kernels.priors_kernel`."""
        tables = Tables.of(rows, cols)
        flags = np.array([int(self.absolute)], np.int64)
        return (
            tables.empty, tables.hash_keys, tables.ring_of, tables.marks,
            self.dictionary.table, self.dictionary.values,
            self.weights, self.vectors, self.dense, flags,
        )  # fmt: skip

    def priors(
        self, board: Board, rooms: dict[tuple[int, int], Any]
    ) -> tuple[IntArray, FloatArray]:
        """Return the legal points (simple ko) and their probabilities; `rooms` keeps workspaces."""
        from tengen.learners.move_prediction import kernels

        size = (board.rows, board.cols)
        if size not in rooms:
            rooms[size] = (self.arrays(*size), kernels.workspace(*size))
        model, room = rooms[size]
        area = board.rows * board.cols
        points, priors = np.zeros(area, np.int64), np.zeros(area)
        n = kernels.priors_kernel(board.state, recent_moves(board), model, room, points, priors)
        return points[:n], priors[:n]

    def evaluate(self, games: GameArrays, measured: Measured, first_ply: int = 0) -> None:
        """Add what all moves from a ply on give to what was measured before."""
        from tengen.learners.move_prediction.training_kernels import evaluate_games

        for rows, cols in sorted(set(zip(games.rows.tolist(), games.cols.tolist(), strict=True))):
            which = np.flatnonzero((games.rows == rows) & (games.cols == cols))
            measured.loss += evaluate_games(
                games.moves, games.colours, games.offsets, which, rows, cols,
                self.arrays(rows, cols), first_ply, np.array(TOPS), measured.hits,
                measured.counts,
            )  # fmt: skip


def recent_moves(board: Board) -> IntArray:
    """Return the last moves of a board, latest first, -1 where there was none."""
    recent = np.full(RECENT, -1, np.int64)
    for k, (_, point) in enumerate(reversed(board.moves[-RECENT:])):
        recent[k] = point
    return recent
