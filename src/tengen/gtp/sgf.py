"""Write the game of a board as a record; reading one is `tengen.records.replay`."""

from __future__ import annotations

from tengen.board import Board, Rules
from tengen.gtp.game import start_of
from tengen.records import GameRecord


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


def _rules_name(rules: Rules) -> str:
    """Find the name under which rules are known, if any."""
    from tengen.board.rules import PRESETS

    return next((name for name, preset in PRESETS.items() if preset == rules), "")
