"""Judge openings by playouts: an expert without search, for tests and quick looks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import Board, playouts
from tengen.contracts import Expert


@runtime_checkable
class OwnershipExpert(Expert, Protocol):
    """An expert that also says who ends up owning each point."""

    def finish_ownership(self, boards: Sequence[Board], seeds: Sequence[int]) -> FloatArray:
        """Return boards x cells, +1 Black's to -1 White's, row-major; leave boards alone."""
        ...


class PlayoutJudge:
    """Judge a position by the mean score of heavy playouts; plays no single game to the end."""

    def __init__(self, n: int = 64) -> None:
        self.n = n

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> FloatArray:
        """Return the mean score for Black, komi included, one per board."""
        return np.array(
            [
                playouts(b, self.n, seed=s, kind="heavy", threads=1).mean_score
                for b, s in zip(boards, seeds, strict=True)
            ]
        )

    def finish_ownership(self, boards: Sequence[Board], seeds: Sequence[int]) -> FloatArray:
        """Return the mean ownership of every point, one row per board."""
        return np.array(
            [
                playouts(b, self.n, seed=s, kind="heavy", threads=1).ownership
                for b, s in zip(boards, seeds, strict=True)
            ]
        )
