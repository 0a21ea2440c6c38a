"""Hold what the recipe of Araki et al. 2007 has learned and score moves with it; train nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tengen.errors import TengenError
from tengen.features.pattern_kernels import RINGS
from tengen.learners.move_prediction import paper_kernels
from tengen.learners.move_prediction.tables import Dictionary, Tables

if TYPE_CHECKING:
    from tengen.board import Board
    from tengen.records.arrays import GameArrays

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


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

    def evaluate(
        self,
        games: GameArrays,
        tops: IntArray,
        hits: FloatArray,
        counts: FloatArray,
        first_ply: int = 0,
    ) -> float:
        """Add credit and counts over all moves of the games; return the loss."""
        if first_ply:
            raise TengenError("the paper's recipe is measured on whole games only")
        rows, cols = int(games.rows[0]), int(games.cols[0])
        which = np.arange(len(games))
        return follow(
            2, games, which, rows, cols, self.dictionary, self.templates, frequency=self.frequency,
            top=self.top, weights=self.weights, tops=tops, hits=hits, counts=counts,
            rank_history=self.history_rank,
        )  # fmt: skip

    def priors(
        self, board: Board, rooms: dict[tuple[int, int], Any]
    ) -> tuple[IntArray, FloatArray]:
        """Return the legal points (simple ko) and their shares of the two rankings' scores."""
        points, final = board_scores(self, board)
        shares = np.exp(final - final.max()) if len(final) else final
        return points, shares / shares.sum() if len(final) else shares


def board_scores(model: PaperModel, board: Board) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the legal points (simple ko) and the logarithms of their scores.

    The moves that led to the board are replayed for the patterns they were played on; earlier moves
    of a board that was set up by hand count as none.
    """
    tables = Tables.of(board.rows, board.cols)
    earlier, patterns = _history(model, board, tables)
    points = np.zeros(board.rows * board.cols, np.int64)
    final = np.zeros(board.rows * board.cols)
    n = paper_kernels.score_board(
        np.ascontiguousarray(board.state), earlier, patterns, tables.empty, tables.hash_keys,
        tables.ring_of, model.templates, model.dictionary.table, model.dictionary.values,
        model.frequency, model.weights, model.top, points, final,
    )  # fmt: skip
    return points[:n], final[:n]


def _history(
    model: PaperModel, board: Board, tables: Tables
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the last moves, latest first, and the patterns they were played on."""
    earlier = np.full(paper_kernels.EARLIER, -1, np.int64)
    patterns = np.zeros(paper_kernels.EARLIER, np.int64)
    past = board.copy()
    for k in range(min(paper_kernels.EARLIER, len(past.moves))):
        colour, point = past.undo()
        earlier[k] = point
        if point > 0:
            patterns[k] = paper_kernels.pattern_at(
                np.ascontiguousarray(past.state), colour, point, tables.empty, tables.hash_keys,
                tables.ring_of, model.templates, model.dictionary.table, model.dictionary.values,
            )  # fmt: skip
    return earlier, patterns


def follow(
    mode: int,
    games: GameArrays,
    which: IntArray,
    rows: int,
    cols: int,
    dictionary: Dictionary,
    templates: IntArray,
    **given: Any,
) -> float:
    """Call `follow_games` with empty arrays for what a mode does not need."""
    tables = Tables.of(rows, cols)
    ints, floats = np.zeros(0, np.int64), np.zeros(0)
    return float(
        paper_kernels.follow_games(
            mode, games.moves, games.colours, games.offsets, which, rows, cols,
            tables.empty, tables.hash_keys, tables.ring_of, templates,
            dictionary.table, dictionary.values,
            given.get("used", ints), given.get("unused", ints), given.get("frequency", floats),
            given.get("top", 0), given.get("memory", np.zeros((0, 2))),
            float(given.get("penalty", 0.0)), float(given.get("alpha", 0.1)),
            given.get("weights", floats), given.get("tops", ints),
            given.get("hits", np.zeros((0, 0))), given.get("counts", floats),
            given.get("samples", np.zeros((0, 0), np.int64)), given.get("rank_history", 0),
        )
    )  # fmt: skip
