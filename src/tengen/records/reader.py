"""Read games of any format, chosen by the name and content of a file; the rules are not checked.

Besides SGF these are the one-line form of the Tygem and Tom collections (`id<TAB>;B[qd];W[dp]...`),
GIB (Tygem) and NGF (wBaduk). Games come in the order of the files (sorted) and within them.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import re
import stat
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple, cast

from tengen.errors import RecordError
from tengen.records import arrays, sgf_grammar
from tengen.records.arrays import GameBatch
from tengen.records.record import GameRecord, OnFault, read_stream, record_of
from tengen.records.sgf_grammar import Damage, Fault
from tengen.records.sgf_properties import guess_encoding

_LOOK = 1 << 12  # bytes read to detect the format
_SHORT = 1 << 15  # bytes of a file named by the user, below which kernels are not needed


def read_games(path: str | Path, *, on_fault: OnFault | None = None) -> Iterator[GameRecord]:
    """Yield every game of a file, folder, archive or standard input (`-`).

    A damaged game raises `RecordError`, or is skipped and reported to `on_fault`, as repairs are.
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
    """Yield the batches of one source, with the reader for its format."""
    lower = source.name.lower()
    if lower.endswith((".gib", ".ngf")):
        yield from _batches(_read_foreign(source.stream, source.name, lower[-3:], on_fault))
        return
    head = b""
    while len(head) < (_SHORT if source.asked else _LOOK) and (more := source.stream.read(_LOOK)):
        head += more
    stream = _Rejoined(head, source.stream)
    if _LINE.match(head):
        lines = cast(BinaryIO, io.BufferedReader(stream, _MAX_LINE))
        yield from _batches(_read_oneline(lines, source.name, on_fault))
    elif source.asked and len(head) < _SHORT:
        # A game or two: compiling the bulk reader would take longer than reading them exactly.
        yield from _batches(read_stream(io.BytesIO(head), source.name, on_fault))
    elif source.asked or lower.endswith(".sgf") or b"(" in head:
        # Text next to the games, such as a README.txt, is not a damaged record.
        yield from arrays.read_in_bulk(cast(BinaryIO, stream), source.name, on_fault)


def _batches(records: Iterator[GameRecord]) -> Iterator[GameBatch]:
    while held := list(islice(records, arrays.EXACT_BATCH)):
        yield arrays.batch_of(held)


class _Rejoined(io.RawIOBase):
    """A stream with bytes that were already read put back in front."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._head, self._stream = head, stream

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        taken = self._head if size < 0 else self._head[:size]
        self._head = self._head[len(taken) :]
        return taken or self._stream.read(size)

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
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
    """Yield the game of every line that is not empty; report damaged lines to `on_fault`."""
    number = offset = 0
    while line := stream.readline(_MAX_LINE):
        start, body = offset + line.find(b"\t") + 1, line.partition(b"\t")[2].strip()
        offset += len(line)
        if not line.strip():
            continue
        number += 1
        raw = b"(;GM[1]FF[4]SZ[19]KM[%g]%b)" % (_KOMI, body)
        shift = start + len(body) + 1 - len(raw)
        try:
            if not body.startswith(b";"):
                raise Damage("no moves behind a tab on this line", start - shift)
            parsed = sgf_grammar.parse_game(raw)
            if parsed.end != len(raw):
                raise Damage("a parenthesis among the moves", parsed.end)
            item: sgf_grammar.ParsedGame | Damage = sgf_grammar.shifted(parsed, shift)
        except Damage as damage:
            item = Damage(damage.reason, max(start, damage.offset + shift))
        record = record_of(item, raw, file, number, on_fault)
        if record is not None:
            record.offset = start
            yield record


# ----- GIB and NGF, one game per file, through pysgf -----


_MAX_BYTES = 1 << 22


def _read_foreign(
    stream: BinaryIO, file: str, kind: str, on_fault: OnFault
) -> Iterator[GameRecord]:
    """Yield the game of a GIB or NGF file (`kind` is `gib` or `ngf`), or report why not."""
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
        yield record


# ----- The files behind a path: files, folders, archives, standard input -----
#
# Everything is streamed: an archive is never unpacked as a whole. Archives may lie about sizes and
# unpack to far more than they hold, so what is read of them is limited, and so is what a pipe may
# send. Archives inside archives are not opened.


_RECORD_SUFFIXES = (".sgf", ".mgt", ".gib", ".ngf", ".txt")
_TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tbz", ".tar.xz", ".txz")
_PACKED: dict[str, Callable[[BinaryIO], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}
_MAGIC = ((b"\x1f\x8b", ".gz"), (b"BZh", ".bz2"), (b"\xfd7zXZ\0", ".xz"))
MAX_PIPE_BYTES = 1 << 32  # how much standard input or a pipe may send
_MAX_UNPACKED = 1 << 36
_MAX_RATIO, FREE_UNPACKED = 250, 1 << 26
"""How many times its size an archive may unpack to, and what it may always unpack to; records
shrink to a fifth, rarely to less than a fiftieth."""
_MAX_READ = 1 << 24  # bytes that a header of an archive may request at once
BROKEN = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError),
    # Malformed numbers in a header, unsupported compression methods, encrypted members.
    *(ValueError, OverflowError, NotImplementedError, RuntimeError),
)


class RecordStream(NamedTuple):
    """A stream of records, its name, and whether the user `asked` for it by name."""

    name: str
    stream: BinaryIO
    asked: bool


def open_sources(path: str | Path, on_fault: Callable[[Fault], None]) -> Iterator[RecordStream]:
    """Yield the streams behind a path, in sorted order; each is closed when the next is requested.

    A broken archive is a fault; the games that were readable before the damage are kept.
    """
    if str(path) == "-":
        if sys.stdin is None:
            raise RecordError("standard input is closed")
        yield RecordStream("standard input", _piped(sys.stdin.buffer), True)
        return
    path = Path(path)
    if path.is_dir():
        for item in sorted(path.rglob("*")):
            if item.is_file() and may_hold_games(item.name):
                yield from _open_file(item, on_fault, asked=False)
    else:
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise RecordError(f"{path}: neither a file, a folder nor a pipe")
        yield from _open_file(path, on_fault, asked=True)


def stamp_of(paths: Iterable[str]) -> str:
    """Return a text that changes when files behind the paths do; empty for standard input."""
    seen = hashlib.blake2b(digest_size=16)
    for name in paths:
        if name == "-":
            return ""
        path = Path(name)
        inside = sorted(path.rglob("*")) if path.is_dir() else []
        files = [each for each in inside if may_hold_games(each.name) and each.is_file()]
        for item in files or [path]:
            facts = item.stat()
            seen.update(f"{item}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode(errors="replace"))
    return seen.hexdigest()


def may_hold_games(name: str) -> bool:
    """Return whether a file of this name is read when it is in a folder."""
    lower = name.lower()
    packed = tuple(suffix + pack for suffix in _RECORD_SUFFIXES for pack in _PACKED)
    return lower.endswith((*_RECORD_SUFFIXES, *packed, ".zip", *_TAR_SUFFIXES))


def unpacker_of(start: bytes) -> Callable[[BinaryIO], Any] | None:
    """Return the unpacker of a file that starts with these bytes; None if it is not packed."""
    return next((_PACKED[pack] for magic, pack in _MAGIC if start.startswith(magic)), None)


def _open_file(
    path: Path, on_fault: Callable[[Fault], None], *, asked: bool
) -> Iterator[RecordStream]:
    lower, name = path.name.lower(), str(path)
    with path.open("rb") as stream:
        pipe = not stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
        try:
            if pipe:
                yield RecordStream(name, _piped(stream), asked)
            elif lower.endswith(".zip"):
                yield from _zip_members(stream, name)
            elif lower.endswith(_TAR_SUFFIXES):
                yield from _tar_members(stream, name)
            elif unpack := _PACKED.get(path.suffix.lower()):
                yield RecordStream(name, _unpacked(unpack(stream), stream), asked)
            else:
                yield RecordStream(name, stream, asked)
        except BROKEN as broken:
            reason = str(broken) or type(broken).__name__
            on_fault(Fault(name, None, stream.tell(), f"damaged archive: {reason}"))
        except BrokenStreamError as broken:
            on_fault(Fault(name, None, stream.tell(), str(broken)))


class BrokenStreamError(Exception):
    """A stream that cannot be read to its end; `offset` counts the bytes before that place."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.offset = offset


class _Limited(io.RawIOBase):
    """A stream with a limit, which may grow as it is read; raises only `BrokenStreamError`."""

    def __init__(
        self, stream: IO[bytes], limit: Callable[[], int], what: str = "damaged archive"
    ) -> None:
        self._stream, self._limit, self._what = stream, limit, what
        self._offset = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        try:
            data = self._stream.read(size)
        except (OSError, *BROKEN) as broken:
            raise self._broken(str(broken) or type(broken).__name__) from None
        self._offset += len(data)
        if self._offset > self._limit():
            raise self._broken(f"more than {self._limit():,} bytes in it")
        return data

    def _broken(self, reason: str) -> BrokenStreamError:
        return BrokenStreamError(f"{self._what}: {reason}", self._offset)

    def tell(self) -> int:
        return self._offset


def _piped(stream: IO[bytes]) -> BinaryIO:
    return cast(BinaryIO, _Limited(stream, lambda: MAX_PIPE_BYTES, "a pipe"))


class _Forward:
    """A file for `tarfile` that seeks by reading: a false size ends where the bytes end."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def read(self, size: int) -> bytes:
        if not 0 <= size <= _MAX_READ:
            raise tarfile.ReadError(f"a header of {size:,} bytes")
        return self._stream.read(size)

    def tell(self) -> int:
        return self._stream.tell()

    def seek(self, position: int) -> int:
        while (missing := position - self.tell()) > 0:
            if not self._stream.read(min(missing, 1 << 20)):
                raise tarfile.ReadError("it ends inside a member")
        if missing:
            raise tarfile.ReadError("a member before the one in front of it")
        return position


def _unpacked(unpacked: IO[bytes], packed: BinaryIO) -> BinaryIO:
    """Limit what a packed stream unpacks to, in proportion to how much of it was read."""

    def limit() -> int:
        return min(_MAX_UNPACKED, max(FREE_UNPACKED, _MAX_RATIO * packed.tell()))

    return cast(BinaryIO, _Limited(unpacked, limit))


def _zip_members(stream: BinaryIO, name: str) -> Iterator[RecordStream]:
    # Members may overlap: all of them together are limited, not each by itself.
    left = max(FREE_UNPACKED, _MAX_RATIO * os.fstat(stream.fileno()).st_size)
    with zipfile.ZipFile(stream) as archive:
        for member in sorted(archive.namelist()):
            if not member.endswith("/") and member.lower().endswith(_RECORD_SUFFIXES):
                try:
                    opened = archive.open(member)
                except OSError:  # a seek before the start of the file
                    raise zipfile.BadZipFile(f"bad place of {member}") from None
                with opened as inner:
                    limited = _Limited(inner, lambda left=left: left)  # type: ignore[misc]
                    yield RecordStream(f"{name}/{member}", cast(BinaryIO, limited), False)
                    left -= limited.tell()


def _tar_members(stream: BinaryIO, name: str) -> Iterator[RecordStream]:
    start = stream.read(8)
    stream.seek(0)
    unpack = unpacker_of(start)
    whole = _Forward(_unpacked(unpack(stream) if unpack else stream, stream))
    # Read forwards only, so that memory does not grow with the archive; tarfile's list of
    # members would, so it is emptied.
    with tarfile.open(fileobj=cast(BinaryIO, whole), mode="r:") as archive:
        for member in archive:
            plain = member.isfile() and not member.issparse()  # holes need no bytes
            if plain and member.name.lower().endswith(_RECORD_SUFFIXES):
                inner = archive.extractfile(member)
                assert inner is not None
                limited = _Limited(inner, lambda: _MAX_UNPACKED)
                yield RecordStream(f"{name}/{member.name}", cast(BinaryIO, limited), False)
            archive.members = []  # type: ignore[attr-defined]
