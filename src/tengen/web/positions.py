"""Turn boards into plain values and back, for JSON and for worker processes; decide nothing."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np

from tengen.arrays import BoolArray, FloatArray
from tengen.board import BLACK, WHITE, Board, Rules, format_gtp, point_at
from tengen.board.counting import Count
from tengen.contracts import Verdict
from tengen.errors import IllegalMoveError
from tengen.game.sgf import start_of
from tengen.records import GameRecord
from tengen.records.record import board_at, positions
from tengen.records.sgf_properties import parse_text
from tengen.reviews.batch import headline

LETTERS = ".XO"
NAMES = {BLACK: "black", WHITE: "white"}
COLOURS = {"black": BLACK, "white": WHITE}


def to_value(board: Board) -> dict[str, Any]:
    """Return everything that makes this board again with `to_board`."""
    start = start_of(board)
    return {
        "rows": board.rows,
        "cols": board.cols,
        "rules": asdict(board.rules),
        "komi": board.komi,
        "handicap": board.handicap,
        "setup": "/".join(rows_of(start)) if start.grid().any() else "",
        "first": start.turn,
        "moves": [[colour, point] for colour, point in board.moves],
        "turn": board.turn,
    }


def to_board(value: dict[str, Any]) -> Board:
    """Make the board that `to_value` described."""
    board = Board(
        value["rows"],
        value["cols"],
        rules=Rules(**value["rules"]),
        komi=value["komi"],
        setup=value["setup"],
        to_play=value["first"],
        handicap=value["handicap"],
    )
    for colour, point in value["moves"]:
        board.play(board.answer(point), colour)
    board.turn = value["turn"]
    return board


def rows_of(board: Board) -> list[str]:
    """Return the stones as one string a row: `.` empty, `X` black, `O` white."""
    return ["".join(LETTERS[c] for c in row) for row in board.grid()]


def vertex(point: int, board: Board) -> str:
    """Name a point as GTP does."""
    return format_gtp(point, board.rows, board.cols)


def vertices(points: object, board: Board) -> list[str]:
    """Name points as GTP does."""
    return [vertex(int(p), board) for p in points]  # type: ignore[attr-defined]


def named_moves(board: Board) -> list[list[str]]:
    """Return the moves played as pairs such as `["B", "D4"]`."""
    return [["?BW"[colour], vertex(point, board)] for colour, point in board.moves]


def illegal_points(board: Board) -> list[str]:
    """Name the empty points that the side to move may not play."""
    mask = board.legal_mask()[:-1]
    empty = board.grid().ravel() == 0
    found = np.flatnonzero(empty & ~mask)
    return [vertex(point_at(int(i), board.rows, board.cols), board) for i in found]


def likely_moves(priors: FloatArray, board: Board, count: int) -> list[dict[str, Any]]:
    """Return the likeliest moves with their probabilities, likeliest first."""
    order = np.argsort(-priors, kind="stable")[:count]
    return [
        {
            "move": vertex(point_at(int(i), board.rows, board.cols), board),
            "probability": float(priors[i]),
        }
        for i in order
        if priors[i] > 0
    ]


def mask_rows(mask: BoolArray) -> list[str]:
    """Return a mask of the board as one string a row of `0` and `1`."""
    return ["".join("01"[int(cell)] for cell in row) for row in mask]


def counted(count: Count) -> dict[str, Any]:
    """Return a count in plain values, with the points of either side."""
    return {
        **count.to_dict(),
        "explanation": count.explain(),
        "black_points": mask_rows(count.territory(BLACK)),
        "white_points": mask_rows(count.territory(WHITE)),
    }


def judged_blocks(verdict: Verdict, board: Board) -> list[dict[str, Any]]:
    """Return what a scorer says of every block."""
    return [
        {
            "stones": vertices(block.stones, board),
            "status": str(block.status),
            "probability": finite(block.probability),
        }
        for block in verdict.blocks
    ]


def finite(value: float) -> float | None:
    """Return a number as JSON can write it: None for what is not a number."""
    return value if math.isfinite(value) else None


def last_vertex(board: Board) -> str | None:
    """Name the last move, None at the start."""
    last = board.last_move
    return None if last is None else vertex(last, board)


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
