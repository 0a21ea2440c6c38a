"""Show parts of a board to people: a block of stones, the legal moves; change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tengen.board.colours import Colour
from tengen.board.coordinates import Point, point_from, points_at
from tengen.errors import IllegalMoveError

if TYPE_CHECKING:
    from tengen.board.board import Board


@dataclass(frozen=True)
class Block:
    """A maximal connected set of stones of one colour, with the empty points next to it."""

    colour: Colour
    stones: tuple[Point, ...]
    liberties: tuple[Point, ...]


class LegalMoves:
    """The moves a side may play, as a view: `in`, iteration over points, `len`, truth."""

    def __init__(self, board: Board, colour: Colour) -> None:
        self._board, self._colour = board, colour

    def __contains__(self, move: object) -> bool:
        try:
            return self._board.is_legal(move, self._colour)  # type: ignore[arg-type]
        except IllegalMoveError:
            if isinstance(move, (str, tuple, Point)):
                return False
            raise

    def __iter__(self) -> Iterator[Point]:
        board = self._board
        legal = np.flatnonzero(board.legal_mask(self._colour))
        for raw in points_at(legal, board.rows, board.cols).tolist():
            yield point_from(raw, board.rows, board.cols)

    def __len__(self) -> int:
        return int(self._board.legal_mask(self._colour).sum())

    def __repr__(self) -> str:
        return f"<legal moves: {' '.join(map(str, self))}>"
