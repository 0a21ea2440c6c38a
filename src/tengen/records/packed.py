"""Pack games for worker processes and clusters: the bytes of a game, and where it came from.

Nothing here knows what the workers do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tengen.errors import RecordError
from tengen.records.faults import Fault
from tengen.records.reader import loads, read_games
from tengen.records.record import GameRecord


@dataclass(frozen=True)
class PackedGame:
    """One game that can travel."""

    number: int
    """Its place among all games that were read, from 1."""
    sgf: bytes
    file: str
    game: int
    """Its place in its file, from 1."""

    def record(self) -> GameRecord:
        """Read the game."""
        [record] = loads(self.sgf, self.file)
        record.file, record.game = self.file, self.game
        return record


def packed_games(paths: Sequence[str], on_fault: Callable[[str], None]) -> Iterator[PackedGame]:
    """Yield the games of files, folders, archives and standard input.

    Games that cannot be read are told. So are paths of several that cannot be opened or hold no
    game; a single one raises `OSError` or `RecordError`.
    """
    number = 0
    for path in paths:
        faults: list[Fault] = []
        before = number
        try:
            for record in read_games(path, on_fault=faults.append):
                number += 1
                yield PackedGame(number, record.utf8_sgf(), record.file, record.game)
        except OSError as failure:
            if len(paths) == 1:
                raise
            on_fault(f"{path}: {failure.strerror or failure}")
            continue
        refused = [fault for fault in faults if not fault.repaired]
        if number == before and not refused:
            on_fault(f"{path}: no game in it")
        if number == before and len(paths) == 1:
            raise refused[0].error() if refused else RecordError(f"{path}: no game in it")
        for fault in refused:
            on_fault(str(fault))
