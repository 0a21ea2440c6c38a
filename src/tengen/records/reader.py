"""Read games from anything: choose the reader by name and content, and yield records.

The order of the games is the order of the files (sorted) and within them. Does not check the
rules of Go.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from tengen.errors import RecordError
from tengen.records import sgf
from tengen.records.archives import open_sources
from tengen.records.faults import Fault
from tengen.records.record import GameRecord
from tengen.records.sgf import OnFault


def read_games(path: str | Path, *, on_fault: OnFault | None = None) -> Iterator[GameRecord]:
    """Yield every game of a file, folder, archive or standard input (`-`).

    Without `on_fault` a damaged game raises `RecordError`. With it, damaged games are told and
    passed over, mended ones are told and yielded.
    """
    tell = on_fault or _refuse
    for source in open_sources(path, tell):
        yield from sgf.read_stream(source.stream, source.name, tell)


def read_game(path: str | Path, number: int = 1) -> GameRecord:
    """Return one game of a file, by its number from 1; raises `RecordError` if there is none."""
    faults: list[Fault] = []
    for record in read_games(path, on_fault=faults.append):
        if record.game == number:
            return record
    for fault in faults:
        if not fault.repaired and fault.game in (number, None):
            raise fault.error()
    raise RecordError(f"{path}: there is no game {number}")


def loads(data: bytes | str, name: str = "text") -> list[GameRecord]:
    """Return the games of SGF at hand; raises `RecordError` at the first damaged one.

    >>> [record] = loads("(;SZ[9]KM[5.5];B[ee];W[])")
    >>> record.rows, record.komi, record.moves
    (9, 5.5, [(1, 55), (2, 0)])
    """
    raw = data.encode("utf-8") if isinstance(data, str) else data
    return list(sgf.read_stream(cast(BinaryIO, io.BytesIO(raw)), name, _refuse))


def _refuse(fault: Fault) -> None:
    if not fault.repaired:
        raise fault.error()
