"""Ask what random play to the end says of a position: mean score, chances, who owns each point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tengen.board.board import Board
from tengen.board.playout_kernels import run_chunk, run_many
from tengen.board.shapes import shape_table

Kind = Literal["light", "heavy"]


@dataclass(frozen=True)
class PlayoutResult:
    """What many playouts from one position said, from Black's view."""

    scores: NDArray[np.float64]
    """Final score of each playout, komi included; > 0 means Black won."""
    ownership: NDArray[np.float64]
    """Row-major, +1 where Black owned the point every time, -1 where White did."""

    @property
    def mean_score(self) -> float:
        """Expected final score for Black."""
        return float(self.scores.mean())

    @property
    def win_rate(self) -> float:
        """Share of playouts that Black won, draws counting half."""
        return float((self.scores > 0).mean() + 0.5 * (self.scores == 0).mean())


def playouts(
    board: Board, n: int = 1000, *, seed: int = 0, kind: Kind = "light", threads: int | None = None
) -> PlayoutResult:
    """Run `n` playouts from the board's position; the same seed gives the same result everywhere.

    Light ones play uniformly random moves that fill no own eye; heavy ones capture, rescue and play
    shapes. Neither knows superko; a playout ends after two passes or 3 x points plies.

    >>> playouts(Board(9), 64, seed=1).ownership.shape
    (81,)

    Parameters
    ----------
    threads
        1 runs on the calling thread; otherwise Numba's threads share the work.
    """
    scores = np.zeros(n, np.int32)
    ownership = np.zeros(board.rows * board.cols, np.int32)
    limit = 3 * board.rows * board.cols
    heavy = kind == "heavy"
    if threads == 1:
        run_chunk(board.state, shape_table(), heavy, 0, n, seed, limit, scores, ownership)
    else:
        run_many(board.state, shape_table(), heavy, n, seed, limit, scores, ownership)
    return PlayoutResult(scores.astype(np.float64) - board.komi, ownership / max(n, 1))
