"""Ask what random play to the end says of a position: mean score, chances, who owns each point."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Literal, get_args

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import kernels
from tengen.board.board import Board
from tengen.board.playout_kernels import run_chunk
from tengen.board.shapes import shape_table
from tengen.errors import TengenError
from tengen.parallel import share

Kind = Literal["light", "heavy"]

_SHARE = 32
"""Playouts below which another thread is not worth waking."""


@dataclass(frozen=True)
class PlayoutResult:
    """What many playouts from one position said, from Black's view."""

    scores: FloatArray
    """Final score of each playout, komi included; > 0 means Black won."""
    ownership: FloatArray
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
        1 runs on the calling thread; otherwise one thread a core shares the work.
    """
    if kind not in get_args(Kind) or n < 0:
        raise TengenError(f"{n} playouts of kind {kind!r}: there are {', '.join(get_args(Kind))}")
    scores = np.zeros(n, np.int32)
    ownership = np.zeros(board.rows * board.cols, np.int32)
    limit = 3 * board.rows * board.cols
    adding = Lock()
    state = kernels.copied(board.state)  # the board may go on in another thread

    def run(first: int, last: int) -> None:
        part = np.zeros_like(ownership)
        run_chunk(
            *(state, shape_table(), kind == "heavy", first, last - first, seed, limit),
            *(scores, part),
        )
        with adding:
            ownership[:] += part

    if threads == 1:
        run(0, n)
    else:
        share(run, n, least=_SHARE)
    return PlayoutResult(scores.astype(np.float64) - board.white_bonus, ownership / max(n, 1))
