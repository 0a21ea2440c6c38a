"""Be a GTP engine: hold a game and a player, and offer the table of commands.

The player is stateless: it gets a copy of the board and a random generator made from the seed and
the number of moves, so that a game can be repeated from its seed. The board and the player are
made when first needed, so that `name` is answered at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from tengen.contracts.protocols import Player
from tengen.errors import TengenError
from tengen.gtp.arguments import COLOURS, PASS
from tengen.gtp.protocol import Call, Command, GtpFailure, serve

if TYPE_CHECKING:
    from tengen.board import Point
    from tengen.game.judging import Judge
    from tengen.gtp.game import GtpGame


class Engine:
    """A session's state and helpers for its commands.

    Parameters
    ----------
    make_player
        Makes a player of a spec string; called when the first command needs one.
    spec
        The player to be.
    table
        The commands by name, such as `tengen.gtp.commands.COMMANDS`.
    rules, seed
        What the game starts with; controllers may change both.
    safe
        Touch no files: for controllers that are not trusted.
    """

    def __init__(
        self,
        make_player: Callable[[str], Player],
        spec: str,
        table: Mapping[str, Callable[[Engine, Call], str]],
        *,
        rules: str = "cgos",
        seed: int = 0,
        safe: bool = False,
    ) -> None:
        self.safe = safe
        self.make_player, self.spec, self.table = make_player, spec, table
        self.rules, self.seed = rules, seed
        self.explanation = ""
        self._game: GtpGame | None = None
        self._player: Player | None = None
        self._judge: Judge | None = None

    @property
    def game(self) -> GtpGame:
        """The game, with its board."""
        if self._game is None:
            from tengen.gtp.game import GtpGame

            self._game = GtpGame(rules=self.rules, seed=self.seed)
        return self._game

    @property
    def player(self) -> Player:
        """The player who chooses moves."""
        if self._player is None:
            self._player = self.make_player(self.spec)
        return self._player

    @property
    def judge(self) -> Judge:
        """Who says what is dead: the learned scorer, or playouts."""
        if self._judge is None:
            from tengen.game.judging import Judge

            self._judge = Judge()
        return self._judge

    def change_player(self, spec: str) -> None:
        """Play as somebody else from now on."""
        player = self.make_player(spec)
        self.close()
        self.spec, self._player = spec, player

    def check_size(self, cols: int, rows: int) -> None:
        """Refuse sizes that the player cannot play on (a player may have `supports`)."""
        supports = getattr(self.player, "supports", None)
        if supports is not None and not supports(rows, cols):
            raise GtpFailure("unacceptable size")

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
        pairs = []
        for colour, vertex in zip(words[::2], words[1::2], strict=True):
            if colour.lower() not in COLOURS:
                raise GtpFailure("invalid color")
            pairs.append((COLOURS[colour.lower()], self.point(vertex)))
        return pairs

    def commands(self) -> dict[str, Command]:
        """Return the table of commands, bound to this engine."""
        return {name: partial(function, self) for name, function in self.table.items()}

    def prepare(self) -> None:
        """Do the slow things now: import the board, make the player."""
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
        """Let go of what the player holds."""
        close = getattr(self._player, "close", None)
        if close is not None:
            close()
        self._player = None
