"""Read SGF into `GameRecord`s: the meaning of properties.

Moves are not checked against the rules; `tengen games check` does that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from tengen.board import BLACK, EMPTY, WHITE, Point
from tengen.records import encodings, sgf_grammar
from tengen.records.faults import Damage, Fault, shown
from tengen.records.record import GameRecord
from tengen.records.sgf_grammar import GameTree, Node, ParsedGame
from tengen.records.sgf_properties import (
    parse_handicap,
    parse_komi,
    parse_move,
    parse_player,
    parse_point_list,
    parse_result,
    parse_size,
    parse_text,
)

OnFault = Callable[[Fault], None]
"""Called with every fault met, refused or repaired."""

_SETUP = (("AB", BLACK), ("AW", WHITE), ("AE", EMPTY))


def read_stream(stream: BinaryIO, file: str, on_fault: OnFault) -> Iterator[GameRecord]:
    """Yield every readable game of a stream; tell damaged and mended ones to `on_fault`."""
    number = 0
    for item, raw in sgf_grammar.parse_slices(stream):
        number += 1
        record = record_of(item, raw, file, number, on_fault)
        if record is not None:
            yield record
    if number == 0:
        on_fault(no_game(file, stream.tell()))


def no_game(file: str, size: int) -> Fault:
    """Return the fault of a file of `size` bytes without a single game."""
    return Fault(file, None, 0, "no SGF game in it" if size else "an empty file")


def record_of(
    item: ParsedGame | Damage, raw: bytes, file: str, number: int, on_fault: OnFault
) -> GameRecord | None:
    """Make the record of one parsed game; None, and a fault told, when it is damaged."""
    try:
        if isinstance(item, Damage):
            raise item
        item, codec = _with_encoding(item, raw)
        record = interpret(item.tree, codec)
    except Damage as damage:
        on_fault(Fault(file, number, damage.offset, damage.reason))
        return None
    for mended in item.repairs:
        on_fault(Fault(file, number, mended.offset, mended.reason, repaired=True))
    record.file, record.game, record.offset = file, number, item.start
    record.repaired = bool(item.repairs)
    return record


def _with_encoding(item: ParsedGame, raw: bytes) -> tuple[ParsedGame, str]:
    """Find the game's encoding, and parse it again if that changes where values end.

    A CA that is not true takes brackets for halves of letters and swallows what follows; where
    that leaves less of the game, the bytes are asked instead.
    """
    codec = encoding_of(item.tree, raw)
    lead = encodings.LEAD_BYTES.get(codec)
    if lead is None or raw.isascii():
        return item, codec
    try:
        again = sgf_grammar.parse_game(raw, lead=lead)
    except Damage:
        return item, codec
    if again.end != len(raw) or len(again.repairs) > len(item.repairs):
        return item, codec
    if len(again.repairs) == len(item.repairs) and _properties(again) < _properties(item):
        return item, encodings.guess(raw)
    return sgf_grammar.shifted(again, item.start), codec


def _properties(game: ParsedGame) -> int:
    return sum(map(len, game.tree.nodes))


def encoding_of(tree: GameTree, raw: bytes) -> str:
    """Return the codec of a game: what CA says if that exists, else a guess from its bytes."""
    declared = tree.nodes[0].get("CA", [b""])[0].decode("ascii", "replace")
    codec = encodings.codec_name(declared) if declared.strip() else None
    return codec or encodings.guess(raw)


def interpret(tree: GameTree, codec: str = "utf-8") -> GameRecord:
    """Return the record of a tree; raises `Damage` at the first wrong node."""
    root, at = tree.nodes[0], tree.offsets[0]
    game = root.get("GM", [b"1"])[0].strip()
    if game not in (b"1", b"", b"01"):
        raise Damage(f"not a game of Go: GM[{shown(game)}]", at)
    rows = cols = 19
    if "SZ" in root:
        try:
            rows, cols = parse_size(root["SZ"][0])
        except ValueError as wrong:
            raise Damage(f"wrong size SZ {shown(root['SZ'][0])}: {wrong}", at) from None
    record = GameRecord(rows=rows, cols=cols, encoding=codec, _tree=tree)
    stones: dict[Point, int] = {}
    for index in tree.main_line():
        node = tree.nodes[index]
        if len(node) == 1:  # by far the most nodes: one move and nothing else
            ((name, values),) = node.items()
            if name in ("B", "W"):
                _take_moves(record, name, values, tree.offsets[index])
                continue
        _take_node(record, node, tree.offsets[index], stones)
    record.setup = [(colour, point) for point, colour in stones.items()]
    return record


def _take_node(record: GameRecord, node: Node, at: int, stones: dict[Point, int]) -> None:
    """Take what one node of the main line says."""
    placed: set[int] = set()
    for name, colour in _SETUP:
        for raw in node.get(name, ()):
            for point in _points(raw, name, record, at):
                if point in placed:
                    raise Damage(f"two setup stones on one point, {name} {shown(raw)}", at)
                placed.add(point)
                if record.moves:
                    record.edits.append((len(record.moves), colour, point))
                elif colour == EMPTY:
                    stones.pop(point, None)
                else:
                    stones[point] = colour
    for name, values in node.items():
        if name in ("B", "W"):
            _take_moves(record, name, values, at)
        else:
            _take_information(record, name, values[0])


def _points(raw: bytes, name: str, record: GameRecord, at: int) -> list[Point]:
    if not raw.strip():
        return []
    try:
        return parse_point_list(raw, record.rows, record.cols)
    except ValueError as wrong:
        raise Damage(f"{name} {shown(raw)}: {wrong}", at) from None


def _take_moves(record: GameRecord, name: str, values: list[bytes], at: int) -> None:
    colour = BLACK if name == "B" else WHITE
    for raw in values:
        try:
            record.moves.append((colour, parse_move(raw, record.rows, record.cols)))
        except ValueError as wrong:
            number = len(record.moves) + 1
            raise Damage(f"move {number}, {name} {shown(raw)}: {wrong}", at) from None


def _take_information(record: GameRecord, name: str, raw: bytes) -> None:
    match name:
        case "KM":
            record.komi = parse_komi(raw)
        case "HA":
            record.handicap = parse_handicap(raw)
        case "RE":
            record.result = parse_result(parse_text(raw, record.encoding))
        case "RU":
            record.rules = parse_text(raw, record.encoding).strip()
        case "PL" if not record.moves:
            record.first = parse_player(raw)
