"""Read the one-line form of the Tygem and Tom collections: `id<TAB>;B[qd];W[dp]...`.

One game to a line, without parentheses and without a root; komi and result stand in an index
file beside it that is not read here. So komi is the servers' usual 6.5 and the result unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from tengen.records import sgf, sgf_grammar
from tengen.records.faults import Damage, Fault
from tengen.records.record import GameRecord

_KOMI = 6.5
_LINE = re.compile(rb"[^\t\n()\[\];]{1,200}\t\s*+;\s*+[BW]\s*+\[")
_MAX_LINE = 1 << 20


def looks_oneline(beginning: bytes) -> bool:
    """Tell whether a file that begins so is in the one-line form."""
    return _LINE.match(beginning) is not None


def read_stream(stream: BinaryIO, file: str, on_fault: sgf.OnFault) -> Iterator[GameRecord]:
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
    body: bytes, start: int, file: str, number: int, on_fault: sgf.OnFault
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
    record = sgf.record_of(item, raw, file, number, on_fault)
    if record is not None:
        record.offset = start
    return record
