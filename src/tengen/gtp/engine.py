"""A GTP engine: a game, a player and a table of commands.

The player is stateless: it gets a copy of the board and a random generator made from the seed and
the number of moves, so that a game can be repeated from its seed. The board and the player are made
when first needed, so that `name` is answered at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from tengen.contracts.protocols import Player
from tengen.errors import TengenError
from tengen.gtp.protocol import PASS, Call, Command, GtpFailure, read_colour, serve

if TYPE_CHECKING:
    from tengen.board import Board, Point
    from tengen.game.judging import Judge
    from tengen.game.session import Session

_DEFAULT_SIZE = 19
Handler: TypeAlias = "Callable[[Engine, Call], str | None]"
COMMANDS: dict[str, Handler] = {}
"""The commands by name; `command` adds them."""


def command(*names: str) -> Callable[[Handler], Handler]:
    """Register a function as a command; names with a dash are some program's extensions."""

    def register(function: Handler) -> Handler:
        COMMANDS.update(dict.fromkeys(names, function))
        return function

    return register


class Engine:
    """The state of a GTP session.

    Parameters
    ----------
    make_player
        Makes a player from a spec; called when the first command needs one.
    spec
        The player.
    rules, seed
        Initial values; controllers may change both.
    safe
        Touch no files: for controllers that are not trusted.
    """

    def __init__(
        self,
        make_player: Callable[[str], Player],
        spec: str,
        *,
        rules: str = "cgos",
        seed: int = 0,
        safe: bool = False,
    ) -> None:
        self.make_player, self.spec = make_player, spec
        self.rules, self.seed, self.safe = rules, seed, safe
        self.explanation = ""
        self.komi_was_set = False
        self._player: Player | None = None

    @cached_property
    def game(self) -> Session:
        """The game, with its board and clock."""
        from tengen.board import Board
        from tengen.game.session import Session

        return Session(Board(_DEFAULT_SIZE, rules=self.rules), seed=self.seed)

    @cached_property
    def judge(self) -> Judge:
        """The judge of dead stones: the learned scorer, or playouts."""
        from tengen.game.judging import Judge

        return Judge()

    @property
    def player(self) -> Player:
        """The player who chooses moves."""
        if self._player is None:
            self._player = self.make_player(self.spec)
        return self._player

    def change_player(self, spec: str) -> None:
        """Replace the player."""
        player = self.make_player(spec)
        self.close()
        self.spec, self._player = spec, player

    def change_seed(self, seed: int) -> None:
        """Set the seed from which every random choice follows."""
        self.seed = self.game.seed = seed

    def check_size(self, rows: int, cols: int) -> None:
        """Refuse sizes that the player does not support."""
        supports = getattr(self.player, "supports", None)
        if supports is not None and not supports(rows, cols):
            raise GtpFailure("unacceptable size")

    def view(self, colour: int) -> Board:
        """Return a copy of the board on which it is `colour`'s turn."""
        board = self.game.board.copy()
        if board.turn != colour:
            board.turn = colour
        return board

    def point(self, word: str) -> Point:
        """Read a vertex or pass."""
        from tengen.board import parse_gtp

        try:
            point = parse_gtp(word, self.game.board.rows, self.game.board.cols)
        except TengenError:
            raise GtpFailure("invalid coordinate") from None
        if point < PASS:
            raise GtpFailure("invalid coordinate")
        return point

    def vertex(self, point: int) -> str:
        """Write a move."""
        from tengen.board import format_gtp

        return format_gtp(point, self.game.board.rows, self.game.board.cols)

    def pairs(self, words: tuple[str, ...]) -> list[tuple[int, Point]]:
        """Read `colour vertex` pairs."""
        if len(words) % 2:
            raise GtpFailure("syntax error: a colour without a vertex")
        pairs = zip(words[::2], words[1::2], strict=True)
        return [(read_colour(colour), self.point(vertex)) for colour, vertex in pairs]

    def commands(self) -> dict[str, Command]:
        """Return the table of commands, bound to this engine."""
        import tengen.gtp.commands  # noqa: F401 (registers them)

        return {name: partial(function, self) for name, function in COMMANDS.items()}

    def prepare(self) -> None:
        """Do the slow work now: import the board, make the player."""
        try:
            _ = self.game, self.player
        except TengenError as failure:
            print(f"tengen: {failure}", file=sys.stderr, flush=True)

    def run(self, source: BinaryIO, target: BinaryIO) -> None:
        """Serve one session over two streams."""
        try:
            serve(self.commands(), source, target, when_idle=self.prepare)
        finally:
            self.close()

    def close(self) -> None:
        """Release what the player holds."""
        close = getattr(self._player, "close", None)
        if close is not None:
            close()
        self._player = None
