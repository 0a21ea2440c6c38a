"""Hold what the recipe of Araki et al. 2007 has learned and score moves with it; train nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray, IntArray
from tengen.errors import TengenError
from tengen.learners.move_prediction import paper_kernels
from tengen.learners.move_prediction.evaluation import TOPS, Measured
from tengen.learners.move_prediction.paper_games_kernels import measure_games
from tengen.learners.move_prediction.pattern_kernels import RINGS
from tengen.learners.move_prediction.tables import Dictionary, Tables

if TYPE_CHECKING:
    from tengen.board import Board
    from tengen.records.arrays import GameArrays


@dataclass
class PaperModel:
    """The dictionary, the frequencies (entry 0: no pattern) and the re-ranker's weights."""

    dictionary: Dictionary
    frequency: FloatArray
    weights: FloatArray
    templates: IntArray
    top: int
    sizes: list[tuple[int, int]]
    absolute: bool = True
    history_rank: int = 0

    @property
    def features(self) -> int:
        """Return how many features have a weight that is not zero."""
        return int(np.count_nonzero(self.weights))

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return what is stored; the re-ranker's weights without their zeros."""
        used = np.flatnonzero(self.weights)
        return {
            "keys": self.dictionary.keys,
            "frequency": self.frequency.astype(np.float32),
            "weight_index": used.astype(np.int64),
            "weights": self.weights[used].astype(np.float32),
            "templates": self.templates,
            "top": np.array([self.top], np.int64),
        }

    @classmethod
    def from_tensors(
        cls, tensors: dict[str, NDArray[Any]], sizes: list[tuple[int, int]]
    ) -> PaperModel:
        """Rebuild a model from what `tensors` returned."""
        frequency = tensors["frequency"].astype(np.float64)
        weights = np.zeros(paper_kernels.feature_count(len(frequency)))
        weights[tensors["weight_index"]] = tensors["weights"]
        dictionary = Dictionary.of(tensors["keys"], 1)
        top, templates = int(tensors["top"][0]), tensors["templates"]
        # The kernels look at no bounds, so that a foreign file must be found out here.
        if len(frequency) != len(tensors["keys"]) + 1 or not sizes:
            raise ValueError(f"{len(frequency)} frequencies for {len(tensors['keys'])} patterns")
        if top < 0 or list(templates) != sorted(set(templates) & set(range(RINGS))):
            raise ValueError(f"templates {templates.tolist()}, {top} candidates")
        return cls(dictionary, frequency, weights, templates, top, list(sizes))

    def tables(self, rows: int, cols: int) -> tuple[NDArray[Any], ...]:
        """Return the tables for one size in the order of `paper_kernels`."""
        fixed, known = Tables.of(rows, cols), self.dictionary
        words = 1 << max(0, int(np.ceil(np.log2(max(len(known.keys), 1) / 8))))  # a byte a key
        sieve = np.zeros(words, np.uint64)
        paper_kernels.fill_sieve(known.keys, sieve)
        return (
            fixed.empty, fixed.hash_keys, fixed.ring_of, self.templates, known.table, known.values,
            sieve,
        )  # fmt: skip

    def evaluate(self, games: GameArrays, measured: Measured, first_ply: int = 0) -> None:
        """Add what all moves of the games give to what was measured before."""
        if first_ply:
            raise TengenError("the paper's recipe is measured on whole games only")
        rows, cols = int(games.rows[0]), int(games.cols[0])
        which = np.arange(len(games))
        measured.loss += measure_games(
            games.moves, games.colours, games.offsets, which, rows, cols,
            self.tables(rows, cols), self.frequency, self.weights, self.top, np.array(TOPS),
            measured.hits, measured.counts, self.history_rank,
        )  # fmt: skip

    def priors(
        self, board: Board, rooms: dict[tuple[int, int], Any]
    ) -> tuple[IntArray, FloatArray]:
        """Return the legal points (simple ko) and their shares of the two rankings' scores."""
        points, final = _board_scores(self, board)
        shares = np.exp(final - final.max()) if len(final) else final
        return points, shares / shares.sum() if len(final) else shares


def _board_scores(model: PaperModel, board: Board) -> tuple[IntArray, FloatArray]:
    """Return the legal points (simple ko) and the logarithms of their scores.

    The moves that led to the board are replayed for the patterns they were played on; earlier moves
    of a board that was set up by hand count as none.
    """
    tables = model.tables(board.rows, board.cols)
    points = np.zeros(board.rows * board.cols, np.int64)
    final = np.zeros(board.rows * board.cols)
    n = paper_kernels.score_board(
        np.ascontiguousarray(board.state), _history(board, tables), tables, model.frequency,
        model.weights, model.top, points, final,
    )  # fmt: skip
    return points[:n], final[:n]


def _history(board: Board, tables: tuple[NDArray[Any], ...]) -> IntArray:
    """Return the points of the last moves, latest first, and the patterns they were played on."""
    earlier = np.zeros((2, paper_kernels.EARLIER), np.int64)
    earlier[0] = -1
    past = board.copy()
    for k in range(min(paper_kernels.EARLIER, len(past.moves))):
        colour, point = past.undo()
        earlier[0, k] = point
        if point > 0:
            state = np.ascontiguousarray(past.state)
            earlier[1, k] = paper_kernels.pattern_at(state, colour, point, tables)
    return earlier
