"""`GameRecord`, one game as a value: board, setup, moves, result and the tree it came from.

`read_stream` makes records from SGF. Their moves need not be legal: `board_at` and `positions` play
them by the rules.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import BinaryIO

from tengen.board import BLACK, EMPTY, WHITE, Board, Point, Rules
from tengen.board.coordinates import colour_of, point_of_move
from tengen.errors import IllegalMoveError, RecordError, TengenError
from tengen.records import sgf_grammar
from tengen.records.sgf_grammar import Damage, Fault, GameTree, Node, ParsedGame, shown
from tengen.records.sgf_properties import (
    LEAD_BYTES,
    Result,
    codec_name,
    format_number,
    format_text,
    guess_encoding,
    parse_handicap,
    parse_komi,
    parse_move,
    parse_player,
    parse_point_list,
    parse_result,
    parse_size,
    parse_text,
)

Stone = tuple[int, Point]
"""(colour, point)."""
OnFault = Callable[[Fault], None]
"""Called with every fault, refused or repaired."""

_RANK = re.compile(r"(\d{1,2})\s*(k|d|p|kyu|dan|pro|gup|級|段)\b", re.IGNORECASE)
_LETTERS = {"k": "k", "g": "k", "級": "k", "d": "d", "段": "d", "p": "p"}


class Rank(str):
    """A player's rank, compared by strength; an unknown one is neither above nor below another.

    >>> Rank("6 dan") >= "5d", Rank("10k") < "2k", Rank("1p") > "9d", Rank("") < "9d"
    (True, True, True, False)
    """

    __slots__ = ("strength",)
    strength: float

    def __new__(cls, text: str) -> Rank:
        """Read a rank such as `6d`, `6 dan`, `12k?` or `9p`."""
        found = _RANK.match(text.strip())
        if not found:
            rank = super().__new__(cls, text.strip())
            rank.strength = math.nan
            return rank
        number, letter = int(found[1]), _LETTERS[found[2].lower()[0]]
        rank = super().__new__(cls, f"{number}{letter}")
        rank.strength = -number if letter == "k" else number + (100 if letter == "d" else 200)
        return rank

    def __lt__(self, other: str) -> bool:
        return self.strength < Rank(other).strength

    def __le__(self, other: str) -> bool:
        return self.strength <= Rank(other).strength

    def __gt__(self, other: str) -> bool:
        return self.strength > Rank(other).strength

    def __ge__(self, other: str) -> bool:
        return self.strength >= Rank(other).strength


@dataclass
class GameRecord:
    """One game: its main line, and the whole tree when it came from a file.

    Moves and stones may be given as vertices or (row, column), and are kept as points:

    >>> print(GameRecord(5, 5, moves=[(BLACK, "C3"), (WHITE, (1, 1))]))
    5x5, 2 moves
      A B C D E
    5 . . . . . 5
    4 . O . . . 4
    3 . . X . . 3
    2 . . . . . 2
    1 . . . . . 1
      A B C D E

    `setup` holds the stones before the first move, `edits` those that a record adds or removes
    later: (number of moves before it, colour or EMPTY, point). Few games have edits.
    """

    rows: int = 19
    cols: int = 19
    moves: list[Stone] = field(default_factory=list)
    """(colour, point or PASS) of the main line."""
    komi: float = 0.0
    handicap: int = 0
    setup: list[Stone] = field(default_factory=list)
    edits: list[tuple[int, int, Point]] = field(default_factory=list)
    first: int = 0
    """Colour to move first according to PL; 0 if it is not given."""
    result: Result = field(default_factory=Result)
    rules: str = ""
    file: str = ""
    game: int = 1
    """Number of the game in its file, from 1."""
    offset: int = 0
    encoding: str = "utf-8"
    raw: bytes | None = field(default=None, repr=False, compare=False)
    """The game's own bytes, from which `tree` is parsed on demand."""
    repaired: bool = False
    _tree: GameTree | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        rows, cols = self.rows, self.cols
        self.moves = [
            (colour_of(side), point_of_move(move, rows, cols)) for side, move in self.moves
        ]
        self.setup = [
            (colour_of(side), point_of_move(move, rows, cols)) for side, move in self.setup
        ]
        self.edits = [
            (number, colour, point_of_move(move, rows, cols)) for number, colour, move in self.edits
        ]

    def __repr__(self) -> str:
        return f"<GameRecord: {self._title()}>"

    def __str__(self) -> str:
        return f"{self._title()}\n{self._last_board().ascii()}"

    def _repr_svg_(self) -> str:
        return self._last_board().svg()

    def _title(self) -> str:
        parts = [f"{self.rows}x{self.cols}", f"{len(self.moves)} moves"]
        if self.black or self.white:
            players = (f"{self.black} {self.black_rank}", f"{self.white} {self.white_rank}")
            parts.insert(0, " - ".join(player.strip() or "?" for player in players))
        if self.file:
            parts.insert(0, f"{self.file}, game {self.game}")
        return ", ".join([*parts, *([str(self.result)] if self.result.kind != "unknown" else [])])

    def _last_board(self) -> Board:
        """Return the board at the end, or before the first move that the rules forbid."""
        board = Board(self.rows, self.cols)
        with suppress(TengenError):
            for board in _replayed(self, None):  # noqa: B007
                pass
        return board

    @property
    def tree(self) -> GameTree:
        """The whole game tree with all variations; made from the fields if there was no file."""
        if self._tree is None:
            if self.raw is not None:
                lead = LEAD_BYTES.get(self.encoding, b"")
                self._tree = sgf_grammar.parse_game(self.raw, lead=lead).tree
            else:
                self._tree = _make_tree(self)
        return self._tree

    @property
    def properties(self) -> dict[str, list[str]]:
        """The root's properties as text: `record.properties["PB"][0]`."""
        return {
            name: [parse_text(value, self.encoding) for value in values]
            for name, values in self.tree.nodes[0].items()
        }

    def _text(self, name: str) -> str:
        """Return the first value of a property of the root, "" if it has none."""
        values = self.tree.nodes[0].get(name, [b""])
        return parse_text(values[0], self.encoding).strip()

    @property
    def black(self) -> str:
        """Black's name; "" if the record does not say."""
        return self._text("PB")

    @property
    def white(self) -> str:
        """White's name; "" if the record does not say."""
        return self._text("PW")

    @property
    def black_rank(self) -> Rank:
        """Black's rank: `record.black_rank >= "6d"`."""
        return Rank(self._text("BR"))

    @property
    def white_rank(self) -> Rank:
        """White's rank."""
        return Rank(self._text("WR"))

    @property
    def date(self) -> str:
        """The date as recorded, in most files `YYYY-MM-DD`, which sorts and compares as text."""
        return self._text("DT")

    @property
    def board(self) -> Board:
        """The final position; `board_at` gives the others."""
        return board_at(self)

    def positions(self) -> Iterator[tuple[Board, Stone]]:
        """Yield the board before each move, and the move; see the function `positions`."""
        return positions(self)

    @property
    def turn(self) -> int:
        """Colour to play first: of the first move, else PL, else White after handicap stones."""
        if self.moves:
            return self.moves[0][0]
        if self.first:
            return self.first
        return WHITE if self.setup and all(c == BLACK for c, _ in self.setup) else BLACK

    def sgf(self) -> bytes:
        """Write the game as SGF in its own encoding, all variations and unknown properties kept."""
        return sgf_grammar.format_tree(self.tree)

    def utf8_sgf(self, *, main_line: bool = False) -> bytes:
        """Write the game as SGF in UTF-8, whatever its encoding; optionally without variations."""
        return sgf_grammar.format_tree(_in_utf8(self.tree, self.encoding, main_line))


_SOUND = re.compile(r"(?:[^\]\\]|\\.)*", re.DOTALL)


def _in_utf8(tree: GameTree, codec: str, main_line: bool) -> GameTree:
    """Return a copy of the tree with every value in UTF-8; what it escapes stays escaped."""

    def convert(value: bytes) -> bytes:
        if not value.isascii():
            text = value.decode(codec, "replace")
            # A backslash or bracket may have been half of a broken character.
            sound = _SOUND.fullmatch(text)
            value = text.encode("utf-8", "replace") if sound else format_text(text)
        return sgf_grammar.protect(value)

    twin = GameTree()
    for index in tree.main_line() if main_line else range(len(tree.nodes)):
        properties = tree.nodes[index].items()
        node = {name: [convert(value) for value in values] for name, values in properties}
        twin.add(tree.parents[index], node)
    if twin.nodes and ("CA" in twin.nodes[0] or codec != "utf-8"):
        twin.nodes[0]["CA"] = [b"UTF-8"]
    return twin


def _make_tree(record: GameRecord) -> GameTree:
    """Build the tree of a record that was not read from a file."""
    tree = GameTree()
    root = {
        "GM": [b"1"],
        "FF": [b"4"],
        "CA": [b"UTF-8"],
        "SZ": [b"%d:%d" % (record.cols, record.rows)],
        "KM": [format_number(record.komi)],
    }
    if record.rows == record.cols:
        root["SZ"] = [b"%d" % record.rows]
    if record.rules:
        root["RU"] = [format_text(record.rules)]
    if record.handicap:
        root["HA"] = [b"%d" % record.handicap]
    if record.result.kind != "unknown":
        root["RE"] = [format_text(str(record.result))]
    for name, colour in (("AB", BLACK), ("AW", WHITE)):
        if stones := [point.sgf.encode() for c, point in record.setup if c == colour]:
            root[name] = stones
    if record.first:
        root["PL"] = [b"B" if record.first == BLACK else b"W"]
    tree.add(-1, root)
    edits = list(record.edits)
    for number, (colour, point) in enumerate(record.moves):
        _add_edits(tree, edits, number)
        tree.add(len(tree.nodes) - 1, {"B" if colour == BLACK else "W": [point.sgf.encode()]})
    _add_edits(tree, edits, len(record.moves))
    return tree


def _add_edits(tree: GameTree, edits: list[tuple[int, int, Point]], number: int) -> None:
    """Append one node for the stones added or removed before move `number`, if there are any."""
    node: dict[str, list[bytes]] = {}
    while edits and edits[0][0] <= number:
        _, colour, point = edits.pop(0)
        node.setdefault(("AE", "AB", "AW")[colour], []).append(point.sgf.encode())
    if node:
        tree.add(len(tree.nodes) - 1, node)


# ----- Records from SGF; moves are not checked against the rules -----


_SETUP = (("AB", BLACK), ("AW", WHITE), ("AE", EMPTY))


def read_stream(stream: BinaryIO, file: str, on_fault: OnFault) -> Iterator[GameRecord]:
    """Yield every readable game of a stream; report damaged and repaired ones to `on_fault`."""
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
    """Make the record of one parsed game; if it is damaged, report a fault and return None."""
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

    Where a wrong CA would make brackets halves of characters, guess the encoding from the bytes.
    """
    codec = encoding_of(item.tree, raw)
    lead = LEAD_BYTES.get(codec)
    if lead is None or raw.isascii():
        return item, codec
    try:
        again = sgf_grammar.parse_game(raw, lead=lead)
    except Damage:
        return item, codec
    repairs, before = len(again.repairs), len(item.repairs)
    if again.end != len(raw) or repairs > before:
        return item, codec
    more, fewer = (sum(map(len, game.tree.nodes)) for game in (item, again))
    if repairs == before and fewer < more:
        return item, guess_encoding(raw)
    return sgf_grammar.shifted(again, item.start), codec


def encoding_of(tree: GameTree, raw: bytes) -> str:
    """Return the codec of a game: that of CA if it exists, else a guess from the bytes."""
    declared = tree.nodes[0].get("CA", [b""])[0].decode("ascii", "replace")
    codec = codec_name(declared) if declared.strip() else None
    return codec or guess_encoding(raw)


def interpret(tree: GameTree, codec: str = "utf-8") -> GameRecord:
    """Return the record of a tree; raises `Damage` at the first invalid node."""
    root, at = tree.nodes[0], tree.offsets[0]
    game = root.get("GM", [b"1"])[0].strip()
    if game not in (b"1", b"", b"01"):
        raise Damage(f"not a game of Go: GM[{shown(game)}]", at)
    size = root.get("SZ", [b"19"])[0]
    try:
        rows, cols = parse_size(size)
    except ValueError as wrong:
        raise Damage(f"wrong size SZ {shown(size)}: {wrong}", at) from None
    record = GameRecord(rows=rows, cols=cols, encoding=codec, _tree=tree)
    stones: dict[Point, int] = {}
    for index in tree.main_line():
        node = tree.nodes[index]
        if len(node) == 1:  # the vast majority of nodes: one move and nothing else
            ((name, values),) = node.items()
            if name in ("B", "W"):
                _take_moves(record, name, values, tree.offsets[index])
                continue
        _take_node(record, node, tree.offsets[index], stones)
    record.setup = [(colour, point) for point, colour in stones.items()]
    return record


def _take_node(record: GameRecord, node: Node, at: int, stones: dict[Point, int]) -> None:
    """Apply one node of the main line to the record."""
    placed: set[int] = set()
    for name, colour in _SETUP:
        for raw in filter(bytes.strip, node.get(name, ())):
            try:
                points = parse_point_list(raw, record.rows, record.cols)
            except ValueError as wrong:
                raise Damage(f"{name} {shown(raw)}: {wrong}", at) from None
            for point in points:
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
        elif name == "KM":
            record.komi = parse_komi(values[0])
        elif name == "HA":
            record.handicap = parse_handicap(values[0])
        elif name == "RE":
            record.result = parse_result(parse_text(values[0], record.encoding))
        elif name == "RU":
            record.rules = parse_text(values[0], record.encoding).strip()
        elif name == "PL" and not record.moves:
            record.first = parse_player(values[0])


def _take_moves(record: GameRecord, name: str, values: list[bytes], at: int) -> None:
    colour = BLACK if name == "B" else WHITE
    for raw in values:
        try:
            record.moves.append((colour, parse_move(raw, record.rows, record.cols)))
        except ValueError as wrong:
            number = len(record.moves) + 1
            raise Damage(f"move {number}, {name} {shown(raw)}: {wrong}", at) from None


# ----- Positions of a record -----
#
# By default records are replayed with simple ko and the suicide rule of their RU: superko rules of
# old servers differed, and a record is not wrong because it broke ours.


class Refusal(IllegalMoveError):
    """An illegal move of a record, by its number from 1; 0 for the setup."""

    def __init__(self, file: str, game: int, move: int, reason: str) -> None:
        super().__init__(f"{file}: game {game}, move {move}: {reason}")
        self.file, self.game, self.move, self.reason = file, game, move, reason


def rules_named(name: str, otherwise: Rules | str = "japanese") -> Rules:
    """Return the preset that RU names, or `otherwise` if it names none."""
    try:
        return Rules.preset(name, nearest=True)
    except TengenError:
        return Rules.preset(otherwise) if isinstance(otherwise, str) else otherwise


def board_at(record: GameRecord, move: int | None = None, *, rules: Rules | None = None) -> Board:
    """Return the position before move number `move` (from 1), or the last; may raise `Refusal`."""
    last = len(record.moves) + 1
    if move is not None and not 1 <= move <= last:
        raise RecordError(f"{record.file}: game {record.game} has no move {move}")
    return next(islice(_replayed(record, rules), (move or last) - 1, None))


def positions(record: GameRecord, *, rules: Rules | None = None) -> Iterator[tuple[Board, Stone]]:
    """Yield a copy of the board before each move, the mover to play, and the move."""
    for board, move in zip(_replayed(record, rules), record.moves, strict=False):
        yield board.copy(), move


def _replayed(record: GameRecord, rules: Rules | None) -> Iterator[Board]:
    """Yield the board before each move and after the last; it is one object, played on."""
    rules = rules_named(record.rules).with_(ko="simple") if rules is None else rules
    board = Board(record.rows, record.cols, rules=rules, komi=record.komi)
    number, edits = 0, dict[int, dict[Point, int]]()
    for after, colour, point in record.edits:
        edits.setdefault(after, {})[point] = colour
    try:
        _put(board, record.setup, record.turn)
        board.handicap = record.handicap
        for number, (colour, point) in enumerate(record.moves, 1):
            _edit(board, edits.get(number - 1, {}))
            board.turn = colour
            yield board
            board.play(point, colour)
        number += 1
        _edit(board, edits.get(number - 1, {}))
        yield board
    except TengenError as wrong:
        raise Refusal(record.file, record.game, number, str(wrong)) from None


def _put(board: Board, stones: list[Stone], to_play: int) -> None:
    black, white = ([p for c, p in stones if c == colour] for colour in (BLACK, WHITE))
    board.set_stones(black=black, white=white, to_play=to_play)


def _edit(board: Board, edits: dict[Point, int]) -> None:
    """Add and remove stones; history and prisoners are reset."""
    if edits:
        stones = {stone: block.colour for block in board.blocks() for stone in block.stones}
        _put(board, [(colour, point) for point, colour in (stones | edits).items()], board.turn)
