"""Go positions: coordinates, rules, boards, symmetries, counting, tactics, drawing, playouts."""

from tengen.board.batch import BatchBoard
from tengen.board.board import PLANES, Block, Board, LegalMoves
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
    point_of,
    points_at,
    row_col,
)
from tengen.board.playing import play_random, play_to_end, random_point
from tengen.board.playouts import PlayoutResult, playouts
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
