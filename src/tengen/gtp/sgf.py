"""Carry games between boards and SGF records for loadsgf and printsgf."""

from __future__ import annotations

from tengen.board import BLACK, WHITE, Board, Rules, point_at
from tengen.errors import TengenError
from tengen.gtp.game import start_of
from tengen.records import GameRecord


def board_of_record(record: GameRecord, rules: Rules, until: int | None = None) -> Board:
    """Replay a record's main line, or its first `until` moves, with checks.

    The record's own rules are taken where their name is known, `rules` otherwise.

    Raises
    ------
    TengenError
        For an illegal move or setup, and for stones put down in mid-game.
    """
    if record.edits:
        raise TengenError("the game puts stones on the board between moves")
    try:
        known = Rules.preset(record.rules) if record.rules else rules
    except TengenError:
        known = rules
    board = Board(record.rows, record.cols, rules=known, komi=record.komi)
    if record.setup:
        board.set_stones(
            black=[point for colour, point in record.setup if colour == BLACK],
            white=[point for colour, point in record.setup if colour == WHITE],
            to_play=record.turn,
        )
        board.handicap = record.handicap
    elif record.turn != BLACK:
        board.turn = record.turn
    for colour, point in record.moves[:until]:
        board.play(point, colour)
    return board


def record_of_board(board: Board) -> GameRecord:
    """Make a record of a board's game."""
    start = start_of(board)
    setup = [
        (int(colour), point_at(index, board.rows, board.cols))
        for index, colour in enumerate(start.grid().ravel())
        if colour
    ]
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
