"""Go positions: coordinates, rules, boards, symmetries, counting, tactics, drawing, playouts.

`Board` is one position, `BatchBoard` many; the kernels hold the rules. No files, models or players.
"""

from tengen.board.batch import BatchBoard
from tengen.board.board import PLANES, Block, Board
from tengen.board.coordinates import (
    BLACK,
    BORDER,
    COLOUR_NAMES,
    EMPTY,
    PASS,
    RESIGN,
    WHITE,
    Colour,
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
    points_at,
    row_col,
)
from tengen.board.playouts import PlayoutResult, play_random, play_to_end, playouts, random_point
from tengen.board.rules import HANDICAP_KOMI, Rules, handicap_points
from tengen.errors import IllegalMoveError

__all__ = [
    "BLACK",
    "BORDER",
    "COLOUR_NAMES",
    "EMPTY",
    "HANDICAP_KOMI",
    "PASS",
    "PLANES",
    "RESIGN",
    "WHITE",
    "BatchBoard",
    "Block",
    "Board",
    "Colour",
    "IllegalMoveError",
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
    "points_at",
    "random_point",
    "row_col",
]
