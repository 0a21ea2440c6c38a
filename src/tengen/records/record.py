"""Hold one game as a value: board, setup, moves, result and the tree it came from.

A record does not know whether its moves are legal: play them on a `Board`, or run
`tengen games check`.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field

from tengen.board import BLACK, WHITE, Board, Point
from tengen.board.coordinates import point_of_move
from tengen.errors import TengenError
from tengen.records import encodings, sgf_grammar
from tengen.records.replay import board_at, positions
from tengen.records.sgf_grammar import GameTree
from tengen.records.sgf_properties import (
    Result,
    format_number,
    format_point,
    format_size,
    format_text,
    parse_text,
)

Stone = tuple[int, Point]
"""(colour, point)."""


@dataclass
class GameRecord:
    """One game: its main line, and the whole tree when it came from a file.

    Moves and stones may be given as people name them, and are kept as points:

    >>> print(GameRecord(5, 5, moves=[(BLACK, "C3"), (WHITE, (1, 1))]))
    5x5, 2 moves
      A B C D E
    5 . . . . . 5
    4 . O . . . 4
    3 . . X . . 3
    2 . . . . . 2
    1 . . . . . 1
      A B C D E

    `setup` are the stones on the board before the first move. `edits` are stones that a record
    puts or takes away later: (number of moves before it, colour or EMPTY, point); nearly no
    game has them, and whoever replays must apply them.
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
    """Colour that PL gives the first move; 0 when it is not told."""
    result: Result = field(default_factory=Result)
    rules: str = ""
    file: str = ""
    game: int = 1
    """Number of the game in its file, from 1."""
    offset: int = 0
    encoding: str = "utf-8"
    raw: bytes | None = field(default=None, repr=False, compare=False)
    """The game's own bytes, from which `tree` is read when asked for."""
    repaired: bool = False
    _tree: GameTree | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        rows, cols = self.rows, self.cols
        self.moves = [(colour, point_of_move(move, rows, cols)) for colour, move in self.moves]
        self.setup = [(colour, point_of_move(move, rows, cols)) for colour, move in self.setup]
        self.edits = [
            (number, colour, point_of_move(move, rows, cols)) for number, colour, move in self.edits
        ]

    def __str__(self) -> str:
        return f"{self._title()}\n{self._last_board().ascii()}"

    def _repr_svg_(self) -> str:
        return self._last_board().svg()

    def _title(self) -> str:
        told = [f"{self.rows}x{self.cols}", f"{len(self.moves)} moves"]
        if self.file:
            told.insert(0, f"{self.file}, game {self.game}")
        return ", ".join([*told, *([str(self.result)] if self.result.kind != "unknown" else [])])

    def _last_board(self) -> Board:
        """Return the board at the end, or before the first move that the rules forbid."""
        try:
            return board_at(self)
        except TengenError:
            last = Board(self.rows, self.cols)
            with suppress(TengenError):
                for board, _ in positions(self):
                    last = board
            return last

    @property
    def tree(self) -> GameTree:
        """The whole game tree with all variations; made from the fields if there was no file."""
        if self._tree is None:
            if self.raw is not None:
                lead = encodings.LEAD_BYTES.get(self.encoding, b"")
                self._tree = sgf_grammar.parse_game(self.raw, lead=lead).tree
            else:
                self._tree = _make_tree(self)
        return self._tree

    @property
    def properties(self) -> dict[str, list[str]]:
        """The root's properties as text: `record.properties["PB"][0]`."""
        root = self.tree.nodes[0]
        return {
            name: [parse_text(value, self.encoding) for value in values]
            for name, values in root.items()
        }

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
        """Write the game as SGF in UTF-8, whatever it was read in; at will without variations.

        Bytes that do not belong to the encoding it was read in become U+FFFD.
        """
        return sgf_grammar.format_tree(_in_utf8(self.tree, self.encoding, main_line))


_SOUND = re.compile(r"(?:[^\]\\]|\\.)*", re.DOTALL)


def _in_utf8(tree: GameTree, codec: str, main_line: bool) -> GameTree:
    """Return a copy of the tree with every value in UTF-8."""
    twin = GameTree()
    for index in tree.main_line() if main_line else range(len(tree.nodes)):
        node = {
            name: [_value_in_utf8(value, codec) for value in values]
            for name, values in tree.nodes[index].items()
        }
        twin.add(tree.parents[index], node)
    if twin.nodes and ("CA" in twin.nodes[0] or codec != "utf-8"):
        twin.nodes[0]["CA"] = [b"UTF-8"]
    return twin


def _value_in_utf8(value: bytes, codec: str) -> bytes:
    """Convert one raw value; what it escapes stays escaped."""
    if value.isascii():
        return sgf_grammar.protect(value)
    text = encodings.decode(value, codec)
    if not _SOUND.fullmatch(text):  # a backslash or bracket that was half of a broken character
        return sgf_grammar.protect(format_text(text))
    return sgf_grammar.protect(text.encode("utf-8", "replace"))


def _make_tree(record: GameRecord) -> GameTree:
    """Build the tree of a record that was made by a program."""
    tree = GameTree()
    root = {
        "GM": [b"1"],
        "FF": [b"4"],
        "CA": [b"UTF-8"],
        "SZ": [format_size(record.rows, record.cols)],
        "KM": [format_number(record.komi)],
    }
    if record.rules:
        root["RU"] = [format_text(record.rules)]
    if record.handicap:
        root["HA"] = [b"%d" % record.handicap]
    if record.result.kind != "unknown":
        root["RE"] = [format_text(str(record.result))]
    for name, colour in (("AB", BLACK), ("AW", WHITE)):
        stones = [
            format_point(point, record.rows, record.cols)
            for c, point in record.setup
            if c == colour
        ]
        if stones:
            root[name] = stones
    if record.first:
        root["PL"] = [b"B" if record.first == BLACK else b"W"]
    tree.add(-1, root)
    edits = list(record.edits)
    for number, (colour, point) in enumerate(record.moves):
        _add_edits(tree, edits, number, record.rows, record.cols)
        name = "B" if colour == BLACK else "W"
        tree.add(len(tree.nodes) - 1, {name: [format_point(point, record.rows, record.cols)]})
    _add_edits(tree, edits, len(record.moves), record.rows, record.cols)
    return tree


def _add_edits(
    tree: GameTree, edits: list[tuple[int, int, Point]], number: int, rows: int, cols: int
) -> None:
    """Append one node for the stones put or taken before move `number`, if there are any."""
    node: dict[str, list[bytes]] = {}
    while edits and edits[0][0] <= number:
        _, colour, point = edits.pop(0)
        node.setdefault(("AE", "AB", "AW")[colour], []).append(format_point(point, rows, cols))
    if node:
        tree.add(len(tree.nodes) - 1, node)
