"""Small finished games whose right count is known, for tests of the scorer."""

from __future__ import annotations

from tengen.board import PASS, Board
from tengen.records import GameRecord
from tengen.records.sgf_properties import Result

WALLS = """
. . X O . . .
. O X O . . .
. . X O . . .
. . X O . O .
. . X O . . .
. . X O . . .
. . X O . . .
"""
"""Two walls, a white stone that is dead in Black's corner, and one that lives at home."""
SCORE = 14 + 1 - 20 - 0.5
"""What it counts for Black, by territory with komi 0.5."""


def lone_stone(dead: bool = True) -> GameRecord:
    """Return a game that ends so, with that score, or with one that no count explains."""
    board = Board.from_ascii(WALLS)
    score = SCORE if dead else 0.5
    return GameRecord(
        rows=board.rows,
        cols=board.cols,
        setup=[(block.colour, p) for block in board.blocks() for p in block.stones],
        moves=[(1, PASS), (2, PASS)],
        komi=0.5,
        result=Result("score", 1 if score > 0 else 2, abs(score)),
    )
