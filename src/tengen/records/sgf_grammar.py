"""Parse bytes into game trees and format them; independent of Go and of encodings.

A *value* is the raw bytes between `[` and `]`, escapes included. A *node* is a dict from
property name to its list of values. A *tree* is all nodes of one game in the order of the file
(pre-order), each with the index of its parent, so that no code needs recursion and the main line
is found by walking while the next node's parent is the one before it.

Lenient in, strict out. Reading forgives: text before, between and after games; a missing first
`;`; long property names of FF[1] to FF[3] (lower-case letters are dropped); a missing `)` at the
end of the file or before the next game (detected by FF, GM or SZ, which only a root may have); an
unescaped `]` (the text goes on when what follows it cannot follow a value); a file that ends in
the middle of a value; stray characters. Each is reported as a `Repair` with its byte offset. A game
with more than `_MAX_REPAIRS` of them is noise and is refused, as is one beyond the limits below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import BinaryIO, NamedTuple

from tengen.errors import RecordError

Node = dict[str, list[bytes]]
"""Property name to raw values."""

# Limits that keep memory bounded on hostile input; real games stay far below them.
MAX_GAME_BYTES = 1 << 24
MAX_NODES = 400_000
_MAX_DEPTH = 100_000
_MAX_REPAIRS = 50
TOO_LONG = f"a game longer than {MAX_GAME_BYTES:,} bytes"

ROOT_NAMES = frozenset({"FF", "GM", "SZ"})
"""Properties that only the root of a game may have: inside a tree they reveal the next game."""

CHUNK = 1 << 20
_START = re.compile(rb"\(\s*+(?:;|[A-Z]{1,2}\s*+\[)")
_ROOT_START = re.compile(rb"\(\s*+;\s*+(?:FF|GM|SZ|CA|AP)\s*+\[")

# A decision about damage looks at most this far ahead, so it does not depend on how a stream
# happens to be cut into chunks.
LOOKAHEAD = 1 << 16


@dataclass(frozen=True)
class Fault:
    """One problem of one game: refused (`repaired` False) or repaired while reading."""

    file: str
    game: int | None
    """Number of the game in its file, from 1; None if the fault concerns the whole file."""
    offset: int
    """Byte offset in the file (after decompression)."""
    reason: str
    repaired: bool = False

    def __str__(self) -> str:
        game = f"game {self.game}, " if self.game is not None else ""
        return f"{self.file}: {game}byte {self.offset}: {self.reason}"

    def error(self) -> RecordError:
        """Return the exception that reports this fault."""
        return RecordError(str(self))


class Damage(RecordError):
    """A place where a record cannot be read, before file and game number are known."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(f"byte {offset}: {reason}")
        self.reason, self.offset = reason, offset


class Repair(NamedTuple):
    """A repair made while reading, and its byte offset."""

    reason: str
    offset: int


def shown(raw: bytes, limit: int = 24) -> str:
    """Quote a piece of input for a message, short and printable."""
    text = raw[:limit].decode("ascii", "backslashreplace")
    return repr(text) + ("..." if len(raw) > limit else "")


@dataclass
class GameTree:
    """All nodes of one game in pre-order."""

    nodes: list[Node] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    """Index of each node's parent; -1 for the root."""
    offsets: list[int] = field(default_factory=list)
    """Byte offset of each node; 0 for nodes that were not parsed."""

    def add(self, parent: int, node: Node, offset: int = 0) -> int:
        """Append a node after everything below `parent` and return its index."""
        self.nodes.append(node)
        self.parents.append(parent)
        self.offsets.append(offset)
        return len(self.nodes) - 1

    def main_line(self) -> range:
        """Return the indices of the first child, its first child, and so on."""
        last = 0
        while last + 1 < len(self.nodes) and self.parents[last + 1] == last:
            last += 1
        return range(last + 1 if self.nodes else 0)


@dataclass(frozen=True)
class ParsedGame:
    """A tree with its place in the source (byte offsets) and the repairs made."""

    tree: GameTree
    start: int
    end: int
    repairs: tuple[Repair, ...]


class NeedMoreError(Exception):
    """The game continues after the available bytes."""


class Patterns:
    """The grammar as regular expressions; all quantifiers are possessive, so nothing backtracks.

    In a double-byte encoding, whose first bytes are the class `lead`, a pair is taken whole: its
    second byte may look like `]` or a backslash.
    """

    def __init__(self, lead: bytes) -> None:
        if lead:
            plain = rb"(?:[^\]\\" + lead + rb"]++|(?:[" + lead + rb"][\x00-\xff])++)*+"
        else:
            plain = rb"[^\]\\]*+"
        text = plain + rb"(?:\\[\x00-\xff]" + plain + rb")*+"
        name = rb"[a-z]*+[A-Z][A-Za-z]*+"
        # What may follow a value, if that value ended where it seems to end.
        follow = (
            rb"(?:;\s*+(?:[;()]|" + name + rb"\s*+\[|\Z)"
            rb"|\(\s*+(?:[;(]|" + name + rb"\s*+\[|\Z)"
            rb"|\)[^\[\]()]*+(?:[()]|\Z)"
            rb"|" + name + rb"\s*+\[|\Z)"
        )
        values = rb"((?:\[" + text + rb"\]\s*+)++)"
        self.token = re.compile(
            rb"\s*+(?:([;()])|(" + name + rb")\s*+" + values + rb"(?=" + follow + rb"))"
        )
        # A node that is one move and nothing else: most of the nodes of most games.
        self.move = re.compile(rb"\s*+(;)\s*+([BW])\s*+\[([a-z]{0,2})\]\s*+(?=" + follow + rb")")
        self.value = re.compile(rb"\[(" + text + rb")\]")
        self.more = re.compile(text + rb"\]")
        self.follows = re.compile(rb"\s*+(?:\[|" + follow + rb")")
        self.stray = re.compile(
            rb"[^;()\[\]]*+(?:;\s*+" + name + rb"\s*+\[|\(\s*+;|\)[^\[\]()]*+(?:[()]|\Z))"
        )
        self.opening = re.compile(rb"(" + name + rb")\s*+(?=\[)")


_SPACE = re.compile(rb"\s*+")
_JUNK = re.compile(rb"[^;()A-Z\[]++|[\x00-\xff]")
_SWALLOWED = re.compile(rb"(?<!\\)\(\s*+;\s*+(?:FF|GM|CA|SZ|AP)\s*+\[[^\[\]]*+\Z")
_LOWER = re.compile("[a-z]+")


# The compiled grammar for a class of lead bytes (empty: single bytes or UTF-8).
_patterns = cache(Patterns)


def find_game(data: bytes, position: int = 0, *, root: bool = False) -> int:
    """Return where the next game begins, or -1; `root` requires a property that only roots have."""
    found = (_ROOT_START if root else _START).search(data, position)
    return found.start() if found else -1


def parse_game(data: bytes, start: int = 0, *, final: bool = True, lead: bytes = b"") -> ParsedGame:
    """Read the game whose `(` is at `start`, or raise `Damage`.

    Unless the source ends with `data` (`final`), a game at its end raises `NeedMoreError`.
    """
    return _GameReader(data, start, final, _patterns(lead)).read()


class _GameReader:
    """One pass over one game."""

    def __init__(self, data: bytes, start: int, final: bool, grammar: Patterns) -> None:
        self.data, self.start, self.final, self.grammar = data, start, final, grammar
        self.size = len(data)
        self.tree = GameTree()
        self.repairs: list[Repair] = []
        self.current = -1  # the node new properties belong to, and parent of the next one
        self.opened = [-1]  # per open parenthesis, the node to return to
        self.end = -1  # set when the game is over
        self.parenthesis = start  # the last `(`
        # Nodes since the last parenthesis; a root property may follow only the first.
        self.since = 0

    def read(self) -> ParsedGame:
        """Read up to the `)` that closes the game, or to where it must have been."""
        match, match_move = self.grammar.token.match, self.grammar.move.match
        position = self.start + 1
        while self.end < 0:
            if position - self.start > MAX_GAME_BYTES:
                raise Damage(TOO_LONG, self.start)
            if move := match_move(self.data, position):
                self._node(move.start(1), {"B" if move[2] == b"B" else "W": [move[3]]})
                position = move.end()
                continue
            found = match(self.data, position)
            if found is None:
                position = self._mend(position)
                if position >= self.size and self.end < 0:
                    if not self.final:
                        raise NeedMoreError
                    self._note(f"missing ')' at the end ({len(self.opened)} open)", self.size)
                    self.end = self.size
                continue
            position = found.end()
            if found[2] is not None:
                raw = found[3].rstrip()
                self._property(found[2], raw, found.start(2), found.start(3), raw)
            else:
                self._mark(self.data[position - 1], position - 1)
        if not self.tree.nodes:
            raise Damage("a game without a single node", self.start)
        if self.end - self.start > MAX_GAME_BYTES:
            raise Damage(TOO_LONG, self.start)
        return ParsedGame(self.tree, self.start, self.end, tuple(self.repairs))

    def _mark(self, mark: int, offset: int) -> None:
        """Handle `;`, `(` or `)`."""
        if mark == 0x3B:
            self._node(offset)
        elif mark == 0x28:
            self.opened.append(self.current)
            self.parenthesis, self.since = offset, 0
            if len(self.opened) > _MAX_DEPTH:
                raise Damage(f"variations nested more than {_MAX_DEPTH:,} deep", offset)
        else:
            self.current = self.opened.pop()
            self.since = 2
            if not self.opened:
                self.end = offset + 1

    def _node(self, offset: int, node: Node | None = None) -> None:
        if len(self.tree.nodes) >= MAX_NODES:
            raise Damage(f"more than {MAX_NODES:,} nodes", offset)
        self.current = self.tree.add(self.current, {} if node is None else node, offset)
        self.since += 1

    def _property(self, name: bytes, raw: bytes, offset: int, at: int, source: bytes) -> None:
        """Add a property, or detect the next game; `source` is the text at `at` before repairs."""
        key = name.decode("ascii")
        if not key.isupper():
            key = _LOWER.sub("", key)
        if self.since == 0 or self.current < 0:
            self._note("missing ';'", offset)
            self._node(offset)
        if key in ROOT_NAMES and self.since == 1 and self.current > 0:
            for column in (self.tree.nodes, self.tree.parents, self.tree.offsets):
                column.pop()
            self._next_game(self.parenthesis)
            return
        values = [raw[1:-1]] if raw.count(b"[") == 1 else self.grammar.value.findall(raw)
        if b"(" in source and (swallowed := _SWALLOWED.search(source, 0, len(source) - 1)):
            self._note("missing ']' before the next game", offset)
            self._next_game(at + swallowed.start())
            return
        self.tree.nodes[self.current].setdefault(key, []).extend(values)

    def _next_game(self, offset: int) -> None:
        self._note("missing ')' before the next game", offset)
        self.end = offset

    def _note(self, reason: str, offset: int) -> None:
        self.repairs.append(Repair(reason, offset))
        if len(self.repairs) > _MAX_REPAIRS:
            first, at = self.repairs[0]
            raise Damage(f"more than {_MAX_REPAIRS} errors, the first: {first}", at)

    def _mend(self, position: int) -> int:
        """Repair what is at `position` and return where to continue."""
        position = _behind_space(self.data, position)
        if not self.final and self.size - position < LOOKAHEAD:
            raise NeedMoreError
        if position >= self.size:
            return self.size
        opening = self.grammar.opening.match(self.data, position)
        if opening:
            return self._mend_property(opening[1], position, opening.end())
        if self.data[position] == 0x5B and (value := self.grammar.value.match(self.data, position)):
            self._note(f"a value without a name, {shown(value[1])}", position)
            return value.end()
        junk = _JUNK.match(self.data, position)
        assert junk is not None
        self._note(f"stray characters {shown(junk[0])}", position)
        return junk.end()

    def _mend_property(self, name: bytes, offset: int, position: int) -> int:
        """Read a property one of whose values does not end where it seems to."""
        data, grammar = self.data, self.grammar
        values: list[bytes] = []
        first = position
        while data[position : position + 1] == b"[":
            value = grammar.value.match(data, position)
            if value is None:
                if not self.final:
                    raise NeedMoreError
                self._note(f"the file ends inside a value of {name.decode('ascii')}", position)
                return self.size
            end = value.end()
            while not grammar.follows.match(data, end) and not grammar.stray.match(data, end):
                longer = grammar.more.match(data, end)
                if longer is None:
                    break
                self._note("unescaped ']' taken as text", end - 1)
                end = longer.end()
            if end - self.start > MAX_GAME_BYTES:
                raise Damage(TOO_LONG, self.start)
            inside = data[position + 1 : end - 1]
            values.append(inside if end == value.end() else _escape_inner(inside))
            position = _behind_space(data, end)
        raw = b"".join(b"[%b]" % value for value in values)
        self._property(name, raw, offset, first, data[first:position].rstrip())
        return position


def _behind_space(data: bytes, position: int) -> int:
    return _SPACE.match(data, position).end()  # type: ignore[union-attr]


def _escape_inner(raw: bytes) -> bytes:
    """Add the backslashes that are missing before `]` in a raw value."""
    return re.sub(rb"(\\[\x00-\xff])|\]", lambda m: m[1] or rb"\]", raw)


def protect(raw: bytes) -> bytes:
    """Escape the parenthesis of a value that ends like the beginning of another game."""
    found = _SWALLOWED.search(raw) if b"(" in raw else None
    return raw[: found.start()] + b"\\" + raw[found.start() :] if found else raw


def parse_slices(stream: BinaryIO) -> Iterator[tuple[ParsedGame | Damage, bytes]]:
    """Yield every game of a stream, or the `Damage` in its place, each with its bytes."""
    window = Window(stream)
    damaged = False
    while True:
        start = find_game(window.data, window.position, root=damaged)
        if start < 0:
            if not window.slide():
                return
            continue
        window.position = start
        item, raw = parse_next(window)
        damaged = isinstance(item, Damage)
        yield item, raw


def parse_next(window: Window) -> tuple[ParsedGame | Damage, bytes]:
    """Read the game at the window's position, with its bytes, and move past it or its damage."""
    while True:
        start = window.position
        try:
            game = parse_game(window.data, start, final=window.final)
            if game.end > len(window.data) - LOOKAHEAD and not window.final:
                raise NeedMoreError
        except NeedMoreError:
            if window.grow():
                continue
            window.position = start + 1
            return Damage(TOO_LONG, window.base + start), b""
        except Damage as damage:
            window.position = max(damage.offset, start + 1)
            return Damage(damage.reason, window.base + damage.offset), b""
        window.position = game.end
        return shifted(game, window.base), window.data[start : game.end]


def shifted(game: ParsedGame, base: int) -> ParsedGame:
    """Return the game with `base` added to all its offsets."""
    if base:
        game.tree.offsets = [offset + base for offset in game.tree.offsets]
        repairs = tuple(Repair(mended.reason, mended.offset + base) for mended in game.repairs)
        return ParsedGame(game.tree, game.start + base, game.end + base, repairs)
    return game


class Window:
    """The buffered part of a stream: at most one game of the largest size and a chunk."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.data = b""
        self.base = 0
        """Offset of `data[0]` in the stream."""
        self.position = 0
        self.final = False

    def slide(self) -> bool:
        """Drop what was read except a possible `(` at its end, and read on; False at the end."""
        if self.final:
            return False
        keep = self.data.rfind(b"(", self.position)
        if keep < 0 or len(self.data) - keep > LOOKAHEAD:
            keep = len(self.data)
        self.position = keep
        return self.grow()

    def grow(self) -> bool:
        """Read more data, keeping that from `position`; False when that is too much for a game."""
        held = self.data[self.position :]
        if len(held) > MAX_GAME_BYTES:
            return False
        # A long game is read again from its start: grow fast, so that this happens rarely.
        pieces, wanted = [held], max(CHUNK, min(3 * len(held), MAX_GAME_BYTES))
        while wanted > 0 and not self.final:
            piece = self.stream.read(wanted)
            self.final = not piece
            pieces.append(piece)
            wanted -= len(piece)
        self.base += self.position
        self.data, self.position = b"".join(pieces), 0
        return True


def format_tree(tree: GameTree) -> bytes:
    """Write a tree as one SGF game, without a trailing line break.

    >>> format_tree(parse_game(b"(;SZ[9] ;B[aa](;W[bb]) (;W[cc]C[\\\\]])").tree)
    b'(;SZ[9];B[aa](;W[bb])(;W[cc]C[\\\\]]))'
    """
    children = [0] * len(tree.nodes)
    for parent in tree.parents[1:]:
        children[parent] += 1
    pieces = [b"("]
    branches: list[int] = []  # the parent of each open variation
    for index, (node, parent) in enumerate(zip(tree.nodes, tree.parents, strict=True)):
        if index and children[parent] > 1:
            if index > parent + 1:  # not the first child: close the sibling before it
                while branches.pop() != parent:
                    pieces.append(b")")
                pieces.append(b")")
            branches.append(parent)
            pieces.append(b"(")
        pieces.append(b";")
        for name, values in node.items():
            pieces.append(name.encode("ascii"))
            pieces.extend(b"[%b]" % value for value in values)
    pieces.append(b")" * (len(branches) + 1))
    return b"".join(pieces)
