"""Read GIB (Tygem) and NGF (wBaduk) files through pysgf, one game to a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from tengen.records import encodings, sgf, sgf_grammar
from tengen.records.faults import Damage, Fault
from tengen.records.record import GameRecord

_MAX_BYTES = 1 << 22


def read_stream(
    stream: BinaryIO, file: str, kind: str, on_fault: sgf.OnFault
) -> Iterator[GameRecord]:
    """Yield the game of a GIB or NGF file (`kind` is `gib` or `ngf`), or tell why there is none."""
    from pysgf import GoGame, ParseError

    data = stream.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        on_fault(Fault(file, 1, _MAX_BYTES, f"too long for a {kind.upper()} file"))
        return
    text = encodings.decode(data, encodings.guess(data)).replace("\r\n", "\n")
    try:
        root = GoGame.parse_gib(text) if kind == "gib" else GoGame.parse_ngf(text)
    except (ParseError, ValueError, IndexError, KeyError, OverflowError) as wrong:
        on_fault(Fault(file, 1, 0, f"not a {kind.upper()} record: {wrong}"))
        return
    try:
        item: sgf_grammar.ParsedGame | Damage = sgf_grammar.parse_game(root.sgf().encode("utf-8"))
    except Damage as damage:
        item = damage
    record = sgf.record_of(item, b"", file, 1, on_fault)
    if record is not None:
        record.offset = 0
        yield record
