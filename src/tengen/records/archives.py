"""Find the files of game records behind a path: files, folders, archives, standard input.

Everything is streamed: an archive is never unpacked as a whole. Nothing here knows formats of
games, only which names may hold some.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from tengen.errors import RecordError
from tengen.records.faults import Fault

_RECORD_SUFFIXES = (".sgf", ".mgt", ".gib", ".ngf", ".txt")
_TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tbz", ".tar.xz", ".txz")
_PACKED: dict[str, Callable[[BinaryIO], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,  # a compression method zipfile lacks
    RuntimeError,  # an encrypted member
)


@dataclass(frozen=True)
class Source:
    """One stream of records with the name to use in messages."""

    name: str
    stream: BinaryIO
    asked: bool
    """Whether the user named this very file: then it must hold games."""


def open_sources(path: str | Path, on_fault: Callable[[Fault], None]) -> Iterator[Source]:
    """Yield the streams behind a path, in sorted order; `-` is standard input.

    Each stream is closed when the next one is asked for. Raises `OSError` when the path itself
    cannot be opened; a broken archive is a fault, and what was readable before it is kept.
    """
    if str(path) == "-":
        if sys.stdin is None:
            raise RecordError("standard input is closed")
        yield Source("standard input", sys.stdin.buffer, True)
        return
    path = Path(path)
    if path.is_dir():
        for item in sorted(path.rglob("*")):
            if item.is_file() and may_hold_games(item.name):
                yield from _open_file(item, on_fault, asked=False)
    else:
        yield from _open_file(path, on_fault, asked=True)


def may_hold_games(name: str) -> bool:
    """Tell whether a folder's file of this name is read."""
    lower = name.lower()
    packed = tuple(suffix + pack for suffix in _RECORD_SUFFIXES for pack in _PACKED)
    return lower.endswith((*_RECORD_SUFFIXES, *packed, ".zip", *_TAR_SUFFIXES))


def _open_file(path: Path, on_fault: Callable[[Fault], None], *, asked: bool) -> Iterator[Source]:
    lower = path.name.lower()
    with path.open("rb") as stream:
        try:
            if lower.endswith(".zip"):
                yield from _zip_members(stream, str(path))
            elif lower.endswith(_TAR_SUFFIXES):
                yield from _tar_members(stream, str(path))
            else:
                unpack = _PACKED.get(path.suffix.lower())
                inner = _Guarded(unpack(stream)) if unpack else stream
                yield Source(str(path), cast(BinaryIO, inner), asked)
        except _BROKEN as broken:
            reason = str(broken) or type(broken).__name__
            on_fault(Fault(str(path), None, stream.tell(), f"damaged archive: {reason}"))


class BrokenStreamError(Exception):
    """Packed bytes that cannot be unpacked; `offset` counts the bytes before them."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.offset = offset


class _Guarded(io.RawIOBase):
    """A packed stream that fails in one way only, with `BrokenStreamError`."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._offset = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        try:
            data = self._stream.read(size)
        except (OSError, *_BROKEN) as broken:
            reason = str(broken) or type(broken).__name__
            raise BrokenStreamError(reason, self._offset) from None
        self._offset += len(data)
        return data


def _zip_members(stream: BinaryIO, name: str) -> Iterator[Source]:
    with zipfile.ZipFile(stream) as archive:
        for member in sorted(archive.namelist()):
            if not member.endswith("/") and member.lower().endswith(_RECORD_SUFFIXES):
                with archive.open(member) as inner:
                    yield _guarded(f"{name}/{member}", inner)


def _tar_members(stream: BinaryIO, name: str) -> Iterator[Source]:
    # `r|*` reads forward only, so memory does not grow with the archive; its own list of
    # members would, and is emptied as we go.
    with tarfile.open(fileobj=stream, mode="r|*") as archive:
        for member in archive:
            if member.isfile() and member.name.lower().endswith(_RECORD_SUFFIXES):
                inner = archive.extractfile(member)
                if inner is not None:
                    yield _guarded(f"{name}/{member.name}", inner)
            archive.members = []  # type: ignore[attr-defined]


def _guarded(name: str, stream: IO[bytes]) -> Source:
    return Source(name, cast(BinaryIO, _Guarded(stream)), False)
