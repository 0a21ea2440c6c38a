"""The game of a GTP session, set up and changed as a controller wants.

A new board size or cleared board keeps komi, rules and clock settings, because controllers send
those in any order. Everything that can fail leaves the game as it was.
"""

from __future__ import annotations

from collections.abc import Iterable

from tengen.board import PASS, WHITE, Board, IllegalMoveError, Point, Rules
from tengen.errors import TengenError
from tengen.game.session import Session
from tengen.game.sgf import start_of
from tengen.gtp.arguments import LARGEST, SMALLEST

_DEFAULT_SIZE = 19
# Komi beyond this is a slip of the pen, not a handicap.
_LARGEST_KOMI = 1000.0


class GtpGame(Session):
    """A session in which a controller decides whose move it is."""

    def __init__(self, *, rules: Rules | str = "cgos", seed: int = 0) -> None:
        super().__init__(Board(_DEFAULT_SIZE, rules=rules), seed=seed)
        self.komi_was_set = False

    def resize(self, cols: int, rows: int) -> None:
        """Start anew on a board of another size, keeping komi and rules."""
        if not (SMALLEST <= rows <= LARGEST and SMALLEST <= cols <= LARGEST):
            raise TengenError("unacceptable size")
        self.board = Board(rows, cols, rules=self.board.rules, komi=self.board.komi)
        self.clock.restart()

    def clear(self) -> None:
        """Empty the board for a new game."""
        self.resize(self.board.cols, self.board.rows)

    def set_komi(self, komi: float) -> None:
        """Set komi for this game and the following."""
        if not abs(komi) <= _LARGEST_KOMI:
            raise TengenError(f"komi must be between {-_LARGEST_KOMI:g} and {_LARGEST_KOMI:g}")
        self.board.komi = komi
        self.komi_was_set = True

    def set_rules(self, rules: Rules) -> None:
        """Change the rules, keeping the game; usual komi follows only if none was set.

        Raises
        ------
        TengenError
            If a move of the game so far is illegal under the new rules.
        """
        old = self.board
        komi = old.komi if self.komi_was_set else rules.komi
        fresh = start_of(old, rules=rules, komi=komi)
        try:
            for colour, point in old.moves:
                fresh.play(point, colour)
        except IllegalMoveError as failure:
            raise TengenError(f"the game so far breaks these rules: {failure}") from None
        fresh.turn = old.turn
        self.board = fresh

    def play_all(self, moves: Iterable[tuple[int, Point]]) -> None:
        """Play moves in a row, or none of them if one is illegal."""
        trial = self.board.copy()
        for colour, point in moves:
            trial.play(point, colour)
        self.board = trial

    def take_back(self, count: int = 1) -> None:
        """Take back moves of either colour."""
        if not 0 <= count <= len(self.board.moves):
            raise TengenError("cannot undo")
        for _ in range(count):
            self.board.undo()

    def set_stones(self, black: list[Point], white: list[Point], turn: int) -> None:
        """Replace the game by a position without history."""
        fresh = start_of(self.board, empty=True)
        fresh.set_stones(black=black, white=white, to_play=turn)
        self.board = fresh

    def fixed_handicap(self, stones: int) -> list[Point]:
        """Put handicap stones on their usual points."""
        self._need_empty()
        return self.board.place_handicap(stones)

    def free_handicap(self, points: list[Point]) -> None:
        """Put handicap stones where the other side wants them."""
        self._need_empty()
        if len(points) < 2 or len(set(points)) != len(points) or PASS in points:
            raise TengenError("bad vertex list")
        fresh = start_of(self.board, empty=True)
        fresh.set_stones(black=points, to_play=WHITE)
        fresh.handicap = len(points)
        self.board = fresh

    def view(self, colour: int) -> Board:
        """Return a copy of the board on which it is `colour`'s turn, for a player to look at."""
        board = self.board.copy()
        if board.turn != colour:
            board.turn = colour
        return board

    def _need_empty(self) -> None:
        """Refuse handicap on a board with stones."""
        if self.board.moves or self.board.grid().any():
            raise TengenError("board not empty")
