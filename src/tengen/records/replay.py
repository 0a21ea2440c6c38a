"""Put records on the board: positions of a game, and checking moves against the rules.

By default records are replayed with simple ko and the suicide rule of their RU: superko rules
of old servers differed, and a record is not wrong because it broke ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from tengen.board import BLACK, BORDER, PASS, WHITE, Board, Point, Rules
from tengen.board.replay_kernels import TRUSTED, replay_games
from tengen.board.rules import KO_NUMBERS
from tengen.errors import IllegalMoveError, RecordError, TengenError
from tengen.records.arrays import GameArrays
from tengen.records.corpus import Corpus
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


def check(corpus: Corpus, rules: Rules | None = None) -> Iterator[GameArrays | Refusal]:
    """Replay every game of a corpus; yield each batch of games when done, after its refusals.

    A kernel replays by simple ko without suicide. What it refuses, and games with setup, edits or
    other ko rules, are played on a `Board`, which decides and says why. Does not judge results.
    """
    for batch in corpus.record_batches():
        unsure = replay_refusals(batch.arrays) | (np.diff(batch.arrays.setup_offsets) > 0)
        if batch.exact is not None:
            unsure |= np.array([bool(record.edits) for record in batch.exact])
        if rules is not None and rules.ko != "simple":
            unsure[:] = True
        for record in batch.where(unsure).records():
            try:
                board_at(record, rules=rules)
            except IllegalMoveError as wrong:
                yield _refusal(record, str(wrong))
        yield batch.arrays


def replay_refusals(games: GameArrays) -> NDArray[np.bool_]:
    """Tell which games have a move that simple ko without suicide forbids."""
    nothing = np.empty((0, 0, 0), np.int8)
    _, ends = _replay(games, KO_NUMBERS["simple"], 1.0, nothing)
    return np.asarray(ends[:, 0] >= 0, dtype=np.bool_)


def last_positions(
    games: GameArrays, share: float = 1.0
) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Return the grids after `share` of each game's moves, and the stones each side has taken.

    Every move is trusted; one onto a stone is left out. Grids of smaller boards are padded with
    BORDER.
    """
    rows, cols = (int(side.max(initial=0)) for side in (games.rows, games.cols))
    grids = np.full((len(games), rows, cols), BORDER, np.int8)
    _, ends = _replay(games, TRUSTED, share, grids)
    return grids, ends[:, 1:]


def replay_all(games: GameArrays) -> int:
    """Replay games with every move checked; return how many moves were played."""
    return _replay(games, KO_NUMBERS["simple"], 1.0, np.empty((0, 0, 0), np.int8))[0]


def _replay(
    games: GameArrays, ko_rule: int, share: float, grids: NDArray[np.int8]
) -> tuple[int, NDArray[np.int64]]:
    """Return the moves played, and how each game ended: see `replay_games`."""
    ends = np.empty((len(games), 3), np.int64)
    played = replay_games(
        games.moves, games.colours, games.offsets, games.rows, games.cols, games.setup,
        games.setup_colours, games.setup_offsets, ko_rule, share, ends, grids,
    )  # fmt: skip
    return int(played), ends


def _refusal(record: GameRecord, message: str) -> Refusal:
    head = f"{record.file}: game {record.game}, move "
    number, _, reason = message.removeprefix(head).partition(": ")
    return Refusal(record.file, record.game, int(number), reason)


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
