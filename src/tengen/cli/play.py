"""Play a game in the terminal: read words, draw the board, say what happened.

Works with a terminal and with a pipe, where nothing is coloured. The game itself is
`tengen.players.table`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from tengen.cli.common import Json, OwnSeed, PlayerName, RulesName, emit, standard_input
from tengen.cli.screen import Screen
from tengen.errors import IllegalMoveError, TengenError

if TYPE_CHECKING:
    from tengen.players.table import Table

app = typer.Typer(add_completion=False)

DEFAULT_PLAYER = "tengen:seconds=2"
HANDICAP_KOMI = 0.5
"""Komi with handicap stones when none is given."""
BLACK, WHITE, PASS, RESIGN = 1, 2, 0, -1
NAMES = {BLACK: "Black", WHITE: "White"}


@app.command()
def play(
    player: PlayerName = DEFAULT_PLAYER,
    size: Annotated[int, typer.Option("--size", min=2, max=25, help="Rows and columns.")] = 9,
    komi: Annotated[
        float | None, typer.Option("--komi", help="White's points; the rules' usual ones.")
    ] = None,
    colour: Annotated[
        str, typer.Option("--colour", "--color", help="Yours: black, white, or none to watch.")
    ] = "black",
    handicap: Annotated[
        int, typer.Option("--handicap", min=0, max=9, help="Black's stones on the usual points.")
    ] = 0,
    rules: RulesName = "cgos",
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the game there when it ends or you leave.")
    ] = None,
    seed: OwnSeed = None,
    plain: Annotated[bool, typer.Option("--plain", help="No colours, ASCII only.")] = False,
    json: Json = False,
) -> None:
    """Play against the machine in the terminal.

    Type a vertex such as D4, or pass, resign, undo, hint, score, save FILE, help, quit.
    """
    import secrets

    from tengen.board import Board
    from tengen.models import write_atomic
    from tengen.players import make_player
    from tengen.players.table import Table

    source = standard_input()
    sides = {"black": BLACK, "b": BLACK, "white": WHITE, "w": WHITE, "none": 0}
    if colour.lower() not in sides:
        raise TengenError(f"--colour {colour}: choose black, white or none")
    if komi is None and handicap:
        komi = HANDICAP_KOMI
    board = Board(size, rules=rules, komi=komi)
    if handicap:
        board.place_handicap(handicap)
    table = Table(
        board,
        make_player(player),
        human=sides[colour.lower()],
        seed=secrets.randbits(31) if seed is None else seed,
    )
    try:
        Talk(table, Screen(sys.stderr if json else sys.stdout, plain=plain)).run(source)
    finally:
        if out is not None:
            write_atomic(out, table.sgf())
        close = getattr(table.player, "close", None)
        if close is not None:
            close()
    emit(table.summary(), json=json)


@dataclass
class Talk:
    """What is said and shown at a table, and the words that the person may say."""

    table: Table
    screen: Screen

    def run(self, source: TextIO) -> None:
        """Play until `quit` or the end of input."""
        table, board = self.table, self.table.board
        self.screen.say(
            f"{board.rows}x{board.cols}, komi {board.komi:g}, {board.rules.scoring} scoring. "
            + (f"You are {NAMES[table.human]} against " if table.human else "You watch ")
            + f"{table.player.name}. Type help for the words I know."
        )
        self.screen.draw(board)
        while True:
            if table.waits:
                self._machine()
                continue
            self.screen.ask("> " if table.over else f"{NAMES[board.turn]} to play> ")
            line = source.readline()
            if not line:
                self.screen.say("")
                return
            words = line.split()
            if words and not self._obey(words):
                return

    def _obey(self, words: list[str]) -> bool:
        """Do what one line says; return False to leave."""
        name = words[0].lower()
        if name in ("quit", "exit", "q"):
            return False
        try:
            if name in WORDS:
                WORDS[name][0](self, words[1:])
            else:
                self._vertex(name)
        except TengenError as mistake:
            self.screen.say(str(mistake))
        except OSError as failure:
            self.screen.say(f"{failure.filename}: {failure.strerror}")
        return True

    # ----- Moves -----

    def _vertex(self, word: str) -> None:
        """Play the person's move."""
        from tengen.board import parse_gtp

        board = self.table.board
        try:
            move = parse_gtp(word, board.rows, board.cols)
        except TengenError:
            raise IllegalMoveError(
                f"{word!r} is neither a vertex nor a word I know; try help"
            ) from None
        self._move(move)

    def _move(self, move: int) -> None:
        """Play a move of the person and show what came of it."""
        side = self.table.board.turn
        self.table.play(move)
        if self.table.over:
            self._end(side)
        elif move != PASS:
            self.screen.draw(self.table.board)

    def _machine(self) -> None:
        """Let the player move and show it."""
        side, move = self.table.board.turn, self.table.answer()
        if move is not None and move != RESIGN:
            self.screen.say(f"{NAMES[side]}: {self._name(move)}")
        if self.table.over:
            self._end(side)
        else:
            self.screen.draw(self.table.board)

    def _name(self, move: int) -> str:
        """Name a move as people do."""
        from tengen.board import format_gtp

        return format_gtp(move, self.table.board.rows, self.table.board.cols)

    def _pass(self, words: list[str]) -> None:
        """Pass."""
        self._move(PASS)

    def _resign(self, words: list[str]) -> None:
        """Give up."""
        self._move(RESIGN)

    def _undo(self, words: list[str]) -> None:
        """Take moves back until it is the person's turn again."""
        self.table.undo()
        self.screen.draw(self.table.board)

    # ----- Advice -----

    def _hint(self, words: list[str]) -> None:
        """Name the moves that the player would think of in your place."""
        from tengen.board import index_of

        board, advice = self.table.board, self.table.advice()
        if isinstance(advice, int):
            self.screen.say(f"I would play {self._name(advice)}")
            return
        marks: dict[int, str] = {}
        lines = []
        for letter, c in zip("abc", advice, strict=False):
            if c.move != PASS:
                marks[index_of(c.move, board.rows, board.cols)] = letter
            line = " ".join(self._name(move) for move in c.pv[:6])
            lines.append(
                f"{letter}  {self._name(c.move):>4}  "
                f"wins {100 * c.winrate:.0f} %, {c.score:+.1f} points, {c.visits} visits: {line}"
            )
        self.screen.draw(board, marks)
        self.screen.say("\n".join(lines) or "I would pass")

    def _score(self, words: list[str]) -> None:
        """Estimate the score, and draw who seems to own what."""
        from tengen.board.counting import format_result

        outlook, owners = self.table.estimate()
        if owners is not None:
            stones = self.table.board.grid().ravel()
            marks = {
                index: "+" if stones[index] else "-bw"[owner]
                for index, owner in enumerate(owners.tolist())
                if owner and owner != stones[index]
            }
            self.screen.draw(self.table.board, marks)
        state = "The board seems finished" if outlook.finished else "The game is not over; expected"
        result = format_result(round(outlook.score, 1))
        self.screen.say(f"Estimate, not a count. {state}: {result} (by {outlook.by})")

    def _who_judges(self) -> str:
        learned = self.table.judge_learned
        return "by the learned scorer" if learned else "by playouts; no scorer model is installed"

    # ----- The end -----

    def _end(self, side: int) -> None:
        """Say how the game ended."""
        if self.table.resigned:
            self.screen.say(f"{NAMES[side]} resigns. Result: {self.table.result}")
            return
        self.screen.say(f"The game is over. Dead stones judged {self._who_judges()}.")
        self._count()

    def _count(self) -> None:
        """Show the count with the dead stones as they are marked now."""
        table = self.table
        assert table.counted is not None
        territory = table.territory()
        marks = dict.fromkeys(territory[BLACK], "b") | dict.fromkeys(territory[WHITE], "w")
        self.screen.draw(table.board, marks | dict.fromkeys(table.fallen(), "+"))
        names = " ".join(self._name(point) for point in sorted(table.dead))
        self.screen.say(f"Dead (+): {names or 'none'}. `dead VERTEX` changes a block's fate.")
        *parts, _ = table.counted.explain().splitlines()
        self.screen.say("\n".join([*parts, f"Result: {table.result}"]))

    def _dead(self, words: list[str]) -> None:
        """Take a block for dead, or for alive again, and count anew."""
        if self.table.counted is not None and len(words) != 1:
            raise IllegalMoveError("say dead and a vertex, for example dead C3")
        self.table.turn_over(" ".join(words))
        self._count()

    # ----- Words -----

    def _save(self, words: list[str]) -> None:
        """Write the game so far as SGF."""
        from tengen.models import write_atomic

        if not words:
            raise IllegalMoveError("say save and a name, for example save game.sgf")
        path = Path(" ".join(words)).expanduser()
        write_atomic(path, self.table.sgf())
        self.screen.say(f"saved {path}")

    def _board(self, words: list[str]) -> None:
        """Draw the board again."""
        self.screen.draw(self.table.board)

    def _help(self, words: list[str]) -> None:
        """List the words."""
        self.screen.say("D4 and the like: play there (columns leave out I)")
        for name, (_, text) in WORDS.items():
            self.screen.say(f"{name}: {text}")
        self.screen.say("quit: leave")


WORDS: dict[str, tuple[Callable[[Talk, list[str]], None], str]] = {
    "pass": (Talk._pass, "pass; two passes end the game and it is counted"),
    "resign": (Talk._resign, "give up"),
    "undo": (Talk._undo, "take back your last move and what followed"),
    "hint": (Talk._hint, "what the machine would play in your place"),
    "score": (Talk._score, "estimate the score and who owns what"),
    "dead": (Talk._dead, "after the game: `dead C3` changes a block's fate and counts anew"),
    "save": (Talk._save, "`save FILE` writes the game as SGF"),
    "board": (Talk._board, "draw the board again"),
    "help": (Talk._help, "this list"),
}
"""Word -> (what does it, what help says)."""
