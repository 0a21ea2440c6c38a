"""Score the moves of one board by the paper's recipe; train nothing, measure nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tengen.learners.move_prediction import paper_kernels
from tengen.learners.move_prediction.tables import Tables

if TYPE_CHECKING:
    from tengen.board import Board
    from tengen.learners.move_prediction.paper import PaperModel


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
