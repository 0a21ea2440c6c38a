"""Turn game records into plain values for a page: who played, every position, every comment.

Text of a record stays text: nothing here is markup.
"""

from __future__ import annotations

from typing import Any

from tengen.board import BLACK, Board, format_gtp
from tengen.errors import IllegalMoveError
from tengen.records import GameRecord
from tengen.records.record import board_at, positions
from tengen.records.sgf_properties import parse_text
from tengen.review.batch import headline
from tengen.web.positions import NAMES, last_vertex, rows_of

_LONGEST_TEXT = 4000
"""Characters of a comment that are kept."""


def replayed(record: GameRecord) -> tuple[list[Board], str]:
    """Return every position, as far as the moves are legal, and what is wrong with the next one."""
    boards: list[Board] = []
    try:
        for board, _ in positions(record):
            boards.append(board)
        boards.append(board_at(record))
    except IllegalMoveError as wrong:
        if not boards:
            raise
        return boards, str(wrong)
    return boards, ""


def whole(record: GameRecord) -> dict[str, Any]:
    """Return a game with all its positions, the one before the first move first."""
    boards, remark = replayed(record)
    return {
        **headline(record),
        "remark": remark,
        "scoring": boards[0].rules.scoring,
        "positions": [position_of(board) for board in boards],
        # Stones put down in mid-game make a line of moves meaningless.
        "line": [] if record.edits else _line(record, len(boards) - 1),
        "comments": _comments(record, len(boards)),
    }


def position_of(board: Board) -> dict[str, Any]:
    """Return what a page needs to draw a position."""
    return {
        "stones": rows_of(board),
        "turn": NAMES[board.turn],
        "last": last_vertex(board),
        "captures": list(board.prisoners),
    }


def _line(record: GameRecord, count: int) -> list[list[str]]:
    """Return the first moves of a record as pairs such as `["B", "D4"]`."""
    return [
        ["B" if colour == BLACK else "W", format_gtp(point, record.rows, record.cols)]
        for colour, point in record.moves[:count]
    ]


def _comments(record: GameRecord, count: int) -> dict[str, str]:
    """Return the comments of the main line by the number of moves before them."""
    found: dict[str, str] = {}
    number = 0
    for index in record.tree.main_line():
        node = record.tree.nodes[index]
        number += len(node.get("B", ())) + len(node.get("W", ()))
        if node.get("C") and number < count:
            text = parse_text(node["C"][0], record.encoding).strip()[:_LONGEST_TEXT]
            key = str(number)
            found[key] = f"{found[key]}\n{text}" if key in found else text
    return found
