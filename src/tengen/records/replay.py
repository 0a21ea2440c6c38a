"""Put a record on the board: the positions of one game, by the rules.

By default records are replayed with simple ko and the suicide rule of their RU: superko rules
of old servers differed, and a record is not wrong because it broke ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from tengen.board import BLACK, PASS, WHITE, Board, Point, Rules
from tengen.errors import IllegalMoveError, RecordError, TengenError

if TYPE_CHECKING:
    from tengen.records.record import GameRecord, Stone


@dataclass(frozen=True)
class Refusal:
    """A move (or a setup, move 0) of a record that the board refuses."""

    file: str
    game: int
    move: int
    """Number of the move, from 1; 0 for the setup."""
    reason: str

    def __str__(self) -> str:
        return f"{self.file}: game {self.game}, move {self.move}: {self.reason}"


def rules_of(record: GameRecord, otherwise: Rules | str = "japanese") -> Rules:
    """Return the rules that RU names, other ones when it names none we know."""
    return rules_named(record.rules, otherwise)


def rules_named(name: str, otherwise: Rules | str = "japanese") -> Rules:
    """Return the rules of a name as RU gives it, other ones when we know none of this name."""
    try:
        return Rules.preset(name)
    except TengenError:
        return Rules.preset(otherwise) if isinstance(otherwise, str) else otherwise


def board_at(record: GameRecord, move: int | None = None, *, rules: Rules | None = None) -> Board:
    """Return the position before move number `move` (from 1), or the final one.

    Raises
    ------
    RecordError
        If the game has no such move.
    IllegalMoveError
        If a move before it breaks the rules; the message names file, game and move.
    """
    last = len(record.moves) + 1
    if move is not None and not 1 <= move <= last:
        raise RecordError(f"{record.file}: game {record.game} has no move {move}")
    return next(islice(_replayed(record, rules), (move or last) - 1, None))


def positions(record: GameRecord, *, rules: Rules | None = None) -> Iterator[tuple[Board, Stone]]:
    """Yield the board before each move, the mover to play, and the move (colour, point).

    Every board is a copy of its own, to keep or to change.

    Raises
    ------
    IllegalMoveError
        At a move that breaks the rules; the message names file, game and move.
    """
    for board, move in zip(_replayed(record, rules), record.moves, strict=False):
        yield board.copy(), move


def _replayed(record: GameRecord, rules: Rules | None) -> Iterator[Board]:
    """Yield one board before each move and after the last; it is the same that goes on."""
    rules = rules_of(record).with_(ko="simple") if rules is None else rules
    board = Board(record.rows, record.cols, rules=rules, komi=record.komi)
    number = 0
    try:
        _set_up(board, record)
        edits = list(record.edits)
        for number, (colour, point) in enumerate([*record.moves, (0, PASS)], 1):
            while edits and edits[0][0] < number:
                edits = _edit(board, edits)
            if number > len(record.moves):
                yield board
                return
            board.turn = colour
            yield board
            board.play(point, colour)
    except TengenError as wrong:
        refusal = Refusal(record.file, record.game, number, str(wrong))
        raise IllegalMoveError(str(refusal)) from None


def _set_up(board: Board, record: GameRecord) -> None:
    black = [point for colour, point in record.setup if colour == BLACK]
    white = [point for colour, point in record.setup if colour == WHITE]
    board.set_stones(black=black, white=white, to_play=record.turn)
    board.handicap = record.handicap


def _edit(board: Board, edits: list[tuple[int, int, Point]]) -> list[tuple[int, int, Point]]:
    """Put and take the stones of one node; history and prisoners begin anew."""
    here = edits[0][0]
    stones = {stone: block.colour for block in board.blocks() for stone in block.stones}
    while edits and edits[0][0] == here:
        _, colour, point = edits.pop(0)
        stones[point] = colour
    black = [point for point, colour in stones.items() if colour == BLACK]
    white = [point for point, colour in stones.items() if colour == WHITE]
    board.set_stones(black=black, white=white, to_play=board.turn)
    return edits
