"""Read uploads as game records, in a worker process and within limits of size and time.

No name of a request is ever opened. Packed bytes are unpacked up to a limit, so that a small file
cannot grow without end.
"""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import lzma
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from tengen.errors import RecordError
from tengen.records import Fault, GameRecord, loads, read_games
from tengen.records.record import board_at, rules_named
from tengen.reviews.batch import headline
from tengen.web.positions import to_value, whole
from tengen.web.settings import Settings
from tengen.web.workers import Context, Task

SECONDS = 20.0
"""Most seconds for reading one upload."""

_GROWTH = 8
"""How many times larger than the largest upload its contents may be."""
_PACKED: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}
"""How each packing begins, and what unpacks it; the content counts, not the name."""
_KNOWN = (".sgf", ".gib", ".ngf", ".txt", ".mgt")


def packed(data: bytes, name: str, settings: Settings) -> dict[str, Any]:
    """Return an upload and its limits as arguments of a task."""
    limits = {key: getattr(settings, key) for key in ("upload_bytes", "upload_games", "game_moves")}
    return {"data": base64.b64encode(data).decode(), "name": name, "limits": limits}


def unpack_arguments(arguments: dict[str, Any]) -> tuple[bytes, str, Settings]:
    """Return what `packed` put into the arguments of a task."""
    settings = Settings(database=Path(), **arguments["limits"])
    return base64.b64decode(arguments["data"]), arguments["name"], settings


def _games(arguments: dict[str, Any], context: Context) -> list[dict[str, Any]]:
    """Return every game of an upload as SGF, with its headline."""
    return [
        {"sgf": record.utf8_sgf().decode("utf-8", "replace"), "headline": headline(record)}
        for record in read_upload(*unpack_arguments(arguments))
    ]


def _game(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Return one game of an upload with all its positions."""
    found = read_upload(*unpack_arguments(arguments))
    if arguments["game"] > len(found):
        raise RecordError(f"the file has {len(found)} games")
    return {**whole(found[arguments["game"] - 1]), "games": len(found)}


def _unfinished(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Return the last position of the first game of an upload."""
    record = read_upload(*unpack_arguments(arguments))[0]
    board = board_at(record, rules=rules_named(record.rules))
    if record.result.kind != "unknown":
        raise RecordError(f"{record.file}: this game is finished; review or score it instead")
    return to_value(board)


def _replay(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Return a stored game with all its positions."""
    return whole(loads(arguments["sgf"])[0])


TASKS: dict[str, Task] = {
    "games": _games,
    "game": _game,
    "unfinished": _unfinished,
    "replay": _replay,
}


def read_upload(data: bytes, name: str, settings: Settings) -> list[GameRecord]:
    """Return the games of a file that was sent: SGF of any age, collections, archives.

    Raises
    ------
    RecordError
        If there is no readable game in it, or it is too large.
    """
    shown = Path(name).name[:80] or "game.sgf"
    data, suffix = unpacked(data, shown, settings)
    faults: list[Fault] = []
    found: list[GameRecord] = []
    with tempfile.TemporaryDirectory(prefix="tengen-") as folder:
        path = Path(folder) / f"upload{suffix}"
        path.write_bytes(data)
        for record in read_games(path, on_fault=faults.append):
            record.file = shown
            found.append(record)
            if len(found) >= settings.upload_games:
                break
    if not found:
        reason = next((f.reason for f in faults if not f.repaired), "no game in it")
        raise RecordError(f"{shown}: {reason}")
    for record in found:
        if len(record.moves) > settings.game_moves:
            raise RecordError(
                f"{shown}: game {record.game} has {len(record.moves)} moves; "
                f"at most {settings.game_moves} are taken"
            )
    return found


def unpacked(data: bytes, name: str, settings: Settings) -> tuple[bytes, str]:
    """Return what was sent, unpacked within limits, and the ending that tells its format.

    Raises
    ------
    RecordError
        If it is empty, damaged or too large.
    """
    if not data.strip():
        raise RecordError(f"{name}: an empty file")
    return _unpack(data, name, settings.upload_bytes * _GROWTH)


def _unpack(data: bytes, name: str, most: int) -> tuple[bytes, str]:
    """Return unpacked bytes and the ending under which the readers know them."""
    for beginning, opener in _PACKED.items():
        if data.startswith(beginning):
            data = _within(opener(io.BytesIO(data)), name, most)
            break
    if data[:4] == b"PK\x03\x04":
        _check_zip(data, name, most)
        return data, ".zip"
    if data[257:262] == b"ustar":
        return data, ".tar"
    return data, next((s for s in _KNOWN if s in name.lower()), ".sgf")


def _within(stream: Any, name: str, most: int) -> bytes:
    try:
        data: bytes = stream.read(most + 1)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as broken:
        raise RecordError(f"{name}: damaged archive: {broken}") from None
    if len(data) > most:
        raise RecordError(f"{name}: grows beyond {most} bytes when it is unpacked")
    return data


def _check_zip(data: bytes, name: str, most: int) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > most:
                raise RecordError(f"{name}: grows beyond {most} bytes when it is unpacked")
    except zipfile.BadZipFile as broken:
        raise RecordError(f"{name}: damaged archive: {broken}") from None
