"""Write the game of a board as a record; reading one is `tengen.records.replay`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tengen.board import BLACK, WHITE, Board, Rules, format_sgf, point_at
from tengen.board.counting import Count
from tengen.gtp.game import start_of
from tengen.records import GameRecord
from tengen.records.sgf_properties import format_text, parse_result


def record_of_board(board: Board) -> GameRecord:
    """Make a record of a board's game."""
    start = start_of(board)
    setup = [(block.colour, stone) for block in start.blocks() for stone in block.stones]
    first = start.turn if setup else 0
    return GameRecord(
        rows=board.rows,
        cols=board.cols,
        moves=list(board.moves),
        komi=board.komi,
        handicap=board.handicap,
        setup=setup,
        first=first,
        rules=_rules_name(board.rules),
    )


def sgf_of_board(board: Board) -> str:
    """Write a board's game as SGF."""
    return record_of_board(board).sgf().decode("utf-8")


def sgf_of_game(board: Board, names: Mapping[int, str], result: str, count: Count | None) -> bytes:
    """Write a board's game as SGF for people: players by colour, result, territory if counted."""
    record = record_of_board(board)
    record.result = parse_result(result)
    root = record.tree.nodes[0]
    root["PB"], root["PW"] = [format_text(names[BLACK])], [format_text(names[WHITE])]
    root["AP"] = [b"tengen"]
    if count is not None:
        last = record.tree.nodes[-1]
        for name, colour in (("TB", BLACK), ("TW", WHITE)):
            points = [
                format_sgf(point_at(int(i), board.rows, board.cols), board.rows, board.cols)
                for i in np.flatnonzero(count.territory(colour))
            ]
            if points:
                last[name] = [point.encode("ascii") for point in points]
    return record.sgf() + b"\n"


def _rules_name(rules: Rules) -> str:
    """Find the name under which rules are known, if any."""
    from tengen.board.rules import PRESETS

    return next((name for name, preset in PRESETS.items() if preset == rules), "")
