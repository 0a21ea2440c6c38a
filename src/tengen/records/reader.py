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
from tengen.records import bulk, foreign, oneline, sgf
from tengen.records.archives import BrokenStreamError, Source, open_sources
from tengen.records.bulk import Batch
from tengen.records.faults import Fault
from tengen.records.record import GameRecord
from tengen.records.sgf import OnFault

_LOOK = 1 << 12  # bytes by which a format is known
_SHORT = 1 << 15
"""Bytes of a file that the user named, below which it is read without compiled kernels."""


def read_games(path: str | Path, *, on_fault: OnFault | None = None) -> Iterator[GameRecord]:
    """Yield every game of a file, folder, archive or standard input (`-`).

    Without `on_fault` a damaged game raises `RecordError`. With it, damaged games are told and
    passed over, mended ones are told and yielded.
    """
    for batch in read_batches(path, on_fault=on_fault):
        yield from batch.records()


def read_batches(path: str | Path, *, on_fault: OnFault | None = None) -> Iterator[Batch]:
    """Yield the games that `read_games` yields as batches of arrays, main lines only, fast."""
    tell = on_fault or _refuse
    for source in open_sources(path, tell):
        try:
            yield from _read_source(source, tell)
        except BrokenStreamError as broken:
            tell(Fault(source.name, None, broken.offset, str(broken)))


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
    (9, 5.5, [(1, Point('E5', 9, 9)), (2, PASS)])
    """
    raw = data.encode("utf-8") if isinstance(data, str) else data
    return list(sgf.read_stream(cast(BinaryIO, io.BytesIO(raw)), name, _refuse))


def _read_source(source: Source, on_fault: OnFault) -> Iterator[Batch]:
    """Yield the batches of one source by the reader that fits it."""
    lower = source.name.lower()
    if lower.endswith((".gib", ".ngf")):
        yield from _batches(foreign.read_stream(source.stream, source.name, lower[-3:], on_fault))
        return
    stream = _Peekable(source.stream, _SHORT if source.asked else 0)
    if oneline.looks_oneline(stream.beginning):
        yield from _batches(oneline.read_stream(stream.buffered(), source.name, on_fault))
    elif source.asked and stream.whole is not None:
        # A game or two: compiling the bulk reader would take longer than reading them exactly.
        yield from _batches(sgf.read_stream(io.BytesIO(stream.whole), source.name, on_fault))
    elif source.asked or lower.endswith(".sgf") or b"(" in stream.beginning:
        # Text beside the games, such as a README.txt, is no damaged record.
        yield from bulk.read_batches(cast(BinaryIO, stream), source.name, on_fault)


def _batches(records: Iterator[GameRecord]) -> Iterator[Batch]:
    held: list[GameRecord] = []
    for record in records:
        held.append(record)
        if len(held) == bulk.EXACT_BATCH:
            yield bulk.batch_of(held)
            held = []
    if held:
        yield bulk.batch_of(held)


class _Peekable(io.RawIOBase):
    """A stream whose beginning was looked at; `whole` is all of it where it is short."""

    def __init__(self, stream: BinaryIO, short: int) -> None:
        self._stream = stream
        piece = self.beginning = self._held = stream.read(_LOOK)
        while piece and len(self._held) < short:
            piece = stream.read(_LOOK)
            self._held += piece
        self.whole = None if piece else self._held

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Return what was looked at first, then the rest."""
        if not self._held:
            return self._stream.read(size)
        taken = self._held if size < 0 else self._held[:size]
        self._held = self._held[len(taken) :]
        return taken

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Serve a buffered reader on top."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def buffered(self) -> BinaryIO:
        """Return a reader with `readline`."""
        return cast(BinaryIO, io.BufferedReader(self, 1 << 20))


def _refuse(fault: Fault) -> None:
    if not fault.repaired:
        raise fault.error()
