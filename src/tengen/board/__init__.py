"""What a Go position is: coordinates, rules, boards, symmetries, drawing, counting, playouts.

Knows nothing of files, learners or players.
"""

from tengen.board.batch import BatchBoard
from tengen.board.board import Board
from tengen.board.colours import BLACK, BORDER, EMPTY, WHITE, Colour
from tengen.board.coordinates import (
    PASS,
    RESIGN,
    Move,
    Point,
    format_gtp,
    format_sgf,
    index_of,
    indices_of,
    parse_gtp,
    parse_sgf,
    point_at,
    point_from,
    point_of,
    points_at,
    row_col,
)
from tengen.board.playing import play_random, play_to_end, random_point
from tengen.board.playouts import PlayoutResult, playouts
from tengen.board.rules import Rules
from tengen.board.setups import handicap_points
from tengen.board.views import Block, LegalMoves
from tengen.errors import IllegalMoveError

__all__ = [
    "BLACK",
    "BORDER",
    "EMPTY",
    "PASS",
    "RESIGN",
    "WHITE",
    "BatchBoard",
    "Block",
    "Board",
    "Colour",
    "IllegalMoveError",
    "LegalMoves",
    "Move",
    "PlayoutResult",
    "Point",
    "Rules",
    "format_gtp",
    "format_sgf",
    "handicap_points",
    "index_of",
    "indices_of",
    "parse_gtp",
    "parse_sgf",
    "play_random",
    "play_to_end",
    "playouts",
    "point_at",
    "point_from",
    "point_of",
    "points_at",
    "random_point",
    "row_col",
]
