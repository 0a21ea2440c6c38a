"""Read games of any format, chosen by the name and content of a file; the rules are not checked.

Besides SGF these are the one-line form of the Tygem and Tom collections (`id<TAB>;B[qd];W[dp]...`),
GIB (Tygem) and NGF (wBaduk). Games come in the order of the files (sorted) and within them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

from tengen.errors import RecordError
from tengen.records import bulk, sgf_grammar
from tengen.records.archives import BrokenStreamError, RecordStream, open_sources
from tengen.records.bulk import GameBatch
from tengen.records.record import GameRecord, OnFault, read_stream, record_of
from tengen.records.sgf_grammar import Damage, Fault
from tengen.records.sgf_properties import guess_encoding

_LOOK = 1 << 12  # bytes by which a format is known
_SHORT = 1 << 15
"""Bytes of a file that the user named, below which it is read without compiled kernels."""


def read_games(path: str | Path, *, on_fault: OnFault | None = None) -> Iterator[GameRecord]:
    """Yield every game of a file, folder, archive or standard input (`-`).

    Without `on_fault` a damaged game raises `RecordError`. With it, damaged games are reported and
    skipped, repaired ones are reported and yielded.
    """
    for batch in read_batches(path, on_fault=on_fault):
        yield from batch.records()


def read_batches(path: str | Path, *, on_fault: OnFault | None = None) -> Iterator[GameBatch]:
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
    """Return the games of SGF text; raises `RecordError` at the first damaged one.

    >>> [record] = loads("(;SZ[9]KM[5.5];B[ee];W[])")
    >>> record.rows, record.komi, record.moves
    (9, 5.5, [(1, Point('E5', 9, 9)), (2, PASS)])
    """
    raw = data.encode("utf-8") if isinstance(data, str) else data
    return list(read_stream(cast(BinaryIO, io.BytesIO(raw)), name, _refuse))


def _read_source(source: RecordStream, on_fault: OnFault) -> Iterator[GameBatch]:
    """Yield the batches of one source by the reader that fits it."""
    lower = source.name.lower()
    if lower.endswith((".gib", ".ngf")):
        yield from _batches(_read_foreign(source.stream, source.name, lower[-3:], on_fault))
        return
    stream = _Peekable(source.stream, _SHORT if source.asked else 0)
    if _LINE.match(stream.beginning):
        buffered = cast(BinaryIO, io.BufferedReader(stream, _MAX_LINE))
        yield from _batches(_read_oneline(buffered, source.name, on_fault))
    elif source.asked and stream.whole is not None:
        # A game or two: compiling the bulk reader would take longer than reading them exactly.
        yield from _batches(read_stream(io.BytesIO(stream.whole), source.name, on_fault))
    elif source.asked or lower.endswith(".sgf") or b"(" in stream.beginning:
        # Text beside the games, such as a README.txt, is no damaged record.
        yield from bulk.read_batches(cast(BinaryIO, stream), source.name, on_fault)


def _batches(records: Iterator[GameRecord]) -> Iterator[GameBatch]:
    while held := list(islice(records, bulk.EXACT_BATCH)):
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


def _refuse(fault: Fault) -> None:
    if not fault.repaired:
        raise fault.error()


# ----- The one-line form: no parentheses and no root, komi and result in another file -----


_KOMI = 6.5
_LINE = re.compile(rb"[^\t\n()\[\];]{1,200}\t\s*+;\s*+[BW]\s*+\[")
_MAX_LINE = 1 << 20


def _read_oneline(stream: BinaryIO, file: str, on_fault: OnFault) -> Iterator[GameRecord]:
    """Yield the game of every line that is not empty; tell damaged lines to `on_fault`."""
    number = offset = 0
    while line := stream.readline(_MAX_LINE):
        body = line.partition(b"\t")[2].strip()
        if line.strip():
            number += 1
            start = offset + line.find(b"\t") + 1
            record = _read_line(body, start, file, number, on_fault)
            if record is not None:
                yield record
        offset += len(line)


def _read_line(
    body: bytes, start: int, file: str, number: int, on_fault: OnFault
) -> GameRecord | None:
    if not body.startswith(b";"):
        on_fault(Fault(file, number, start, "no moves behind a tab on this line"))
        return None
    raw = b"(;GM[1]FF[4]SZ[19]KM[%g]%b)" % (_KOMI, body)
    shift = start + len(body) + 1 - len(raw)
    try:
        parsed = sgf_grammar.parse_game(raw)
        if parsed.end != len(raw):
            raise Damage("a parenthesis among the moves", parsed.end)
        item: sgf_grammar.ParsedGame | Damage = sgf_grammar.shifted(parsed, shift)
    except Damage as damage:
        item = Damage(damage.reason, max(start, damage.offset + shift))
    record = record_of(item, raw, file, number, on_fault)
    if record is not None:
        record.offset = start
    return record


# ----- GIB and NGF, one game to a file, through pysgf -----


_MAX_BYTES = 1 << 22


def _read_foreign(
    stream: BinaryIO, file: str, kind: str, on_fault: OnFault
) -> Iterator[GameRecord]:
    """Yield the game of a GIB or NGF file (`kind` is `gib` or `ngf`), or tell why there is none."""
    from pysgf import GoGame, ParseError

    data = stream.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        on_fault(Fault(file, 1, _MAX_BYTES, f"too long for a {kind.upper()} file"))
        return
    text = data.decode(guess_encoding(data), "replace").replace("\r\n", "\n")
    try:
        root = GoGame.parse_gib(text) if kind == "gib" else GoGame.parse_ngf(text)
    except (ParseError, ValueError, IndexError, KeyError, OverflowError) as wrong:
        on_fault(Fault(file, 1, 0, f"not a {kind.upper()} record: {wrong}"))
        return
    try:
        item: sgf_grammar.ParsedGame | Damage = sgf_grammar.parse_game(root.sgf().encode("utf-8"))
    except Damage as damage:
        item = damage
    record = record_of(item, b"", file, 1, on_fault)
    if record is not None:
        record.offset = 0
        yield record
