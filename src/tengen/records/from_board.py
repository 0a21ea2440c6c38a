"""Write the game of a board as a record; `tengen.records.record` reads them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tengen.arrays import BoolArray
from tengen.board import BLACK, WHITE, Board, Rules, point_at
from tengen.board.counting import Count
from tengen.records import GameRecord
from tengen.records.sgf_properties import format_point, format_text, parse_result


def start_of(
    board: Board, *, rules: Rules | None = None, komi: float | None = None, empty: bool = False
) -> Board:
    """Return the position before the first move of a game, or the empty board, without moves."""
    rules = board.rules if rules is None else rules
    komi = board.komi if komi is None else komi
    if empty:
        return Board(board.rows, board.cols, rules=rules, komi=komi)
    past = board.copy()
    while past.moves:
        past.undo()
    fresh = Board.from_grid(past.grid(), to_play=past.turn or BLACK, rules=rules, komi=komi)
    fresh.handicap = board.handicap
    return fresh


def record_of_board(board: Board) -> GameRecord:
    """Return a board's game as a record."""
    start = start_of(board)
    setup = [(block.colour, stone) for block in start.blocks() for stone in block.stones]
    return GameRecord(
        rows=board.rows, cols=board.cols, moves=list(board.moves), komi=board.komi,
        rules=board.rules.name, handicap=board.handicap, setup=setup,
        first=start.turn if setup else 0,
    )  # fmt: skip


def sgf_of_board(board: Board) -> str:
    """Return a board's game as SGF."""
    return record_of_board(board).sgf().decode("utf-8")


def sgf_of_game(board: Board, names: Mapping[int, str], result: str, count: Count | None) -> bytes:
    """Return a board's game as SGF with the players' names, the result, and counted territory."""
    record = record_of_board(board)
    record.result = parse_result(result)
    root = record.tree.nodes[0]
    root["PB"], root["PW"] = [format_text(names[BLACK])], [format_text(names[WHITE])]
    root["AP"] = [b"tengen"]
    if count is not None:
        record.tree.nodes[-1].update(territory_marks(count))
    return record.sgf() + b"\n"


def territory_marks(count: Count) -> dict[str, list[bytes]]:
    """Return the properties TB and TW for a count's territory, without empty ones."""
    return owner_marks(count.territory(BLACK), count.territory(WHITE))


def owner_marks(black: BoolArray, white: BoolArray) -> dict[str, list[bytes]]:
    """Return the properties TB and TW for points of either side, without empty ones."""
    rows, cols = black.shape
    marks = {
        name: [
            format_point(point_at(int(index), rows, cols), rows, cols)
            for index in np.flatnonzero(points)
        ]
        for name, points in (("TB", black), ("TW", white))
    }
    return {name: points for name, points in marks.items() if points}
