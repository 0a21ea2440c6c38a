"""Write the game of a board as a record; reading one is `tengen.records.replay`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tengen.board import BLACK, WHITE, Board, Rules, point_at
from tengen.board.counting import Count
from tengen.gtp.game import start_of
from tengen.records import GameRecord
from tengen.records.sgf_properties import format_point, format_text, parse_result


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
        record.tree.nodes[-1].update(territory_marks(count))
    return record.sgf() + b"\n"


def territory_marks(count: Count) -> dict[str, list[bytes]]:
    """Return the properties TB and TW that mark a count's territory; none that would be empty."""
    rows, cols = count.grid.shape
    marks = {
        name: [
            format_point(point_at(int(index), rows, cols), rows, cols)
            for index in np.flatnonzero(count.territory(colour))
        ]
        for name, colour in (("TB", BLACK), ("TW", WHITE))
    }
    return {name: points for name, points in marks.items() if points}


def _rules_name(rules: Rules) -> str:
    """Find the name under which rules are known, if any."""
    from tengen.board.rules import PRESETS

    return next((name for name, preset in PRESETS.items() if preset == rules), "")
