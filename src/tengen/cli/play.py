"""Play a game in the terminal: draw the board, read words, let the machine answer.

Works with a terminal and with a pipe, where nothing is coloured. Counting is that of
`tengen.gtp.judging`, moves are the player's; nothing here knows Go but whose turn it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from tengen.cli.common import Json, emit
from tengen.cli.screen import Screen
from tengen.errors import IllegalMoveError, TengenError

if TYPE_CHECKING:
    from tengen.board import Board
    from tengen.contracts import Player
    from tengen.gtp.judging import Judge

app = typer.Typer(add_completion=False)

DEFAULT_PLAYER = "tengen:seconds=2"
HANDICAP_KOMI = 0.5
"""Komi with handicap stones when none is given."""
OWNED = 0.6
"""Ownership beyond which the map of an estimate gives a point to somebody."""
BLACK, WHITE, PASS, RESIGN = 1, 2, 0, -1
NAMES = {BLACK: "Black", WHITE: "White"}


@app.command()
def play(
    player: Annotated[
        str, typer.Option("--player", help="Who plays against you; `tengen players` lists them.")
    ] = DEFAULT_PLAYER,
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
    rules: Annotated[str, typer.Option("--rules", help="cgos, chinese, japanese, ...")] = "cgos",
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the game there when it ends or you leave.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Every random choice follows from it.")
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="No colours, ASCII only.")] = False,
    json: Json = False,
) -> None:
    """Play against the machine in the terminal.

    Type a vertex such as D4, or pass, resign, undo, hint, score, save FILE, help, quit.
    """
    import secrets

    from tengen.board import Board
    from tengen.players import make_player

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
        screen=Screen(sys.stderr if json else sys.stdout, plain=plain),
    )
    try:
        table.run(sys.stdin)
    finally:
        if out is not None:
            table.write(out)
        close = getattr(table.player, "close", None)
        if close is not None:
            close()
    emit(table.summary(), as_json=json)


@dataclass
class Table:
    """A game between a person and a player, and the words that the person may say."""

    board: Board
    player: Player
    human: int
    seed: int
    screen: Screen
    resigned: int = 0
    """Who gave up, if anybody."""
    dead: set[int] = field(default_factory=set)
    """Points of the stones that are taken off at the end."""
    counted: Any = None
    over: bool = False
    _judge: Judge | None = None

    def run(self, source: TextIO) -> None:
        """Play until `quit` or the end of input."""
        b = self.board
        self.screen.say(
            f"{b.rows}x{b.cols}, komi {b.komi:g}, {b.rules.scoring} scoring. "
            + (f"You are {NAMES[self.human]} against " if self.human else "You watch ")
            + f"{self.player.name}. Type help for the words I know."
        )
        self.screen.draw(b)
        while True:
            if not self.over and b.turn != self.human:
                self._machine()
                continue
            self.screen.ask("> " if self.over else f"{NAMES[b.turn]} to play> ")
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

        try:
            move = parse_gtp(word, self.board.rows, self.board.cols)
        except TengenError:
            raise IllegalMoveError(
                f"{word!r} is neither a vertex nor a word I know; try help"
            ) from None
        self._move(move)

    def _move(self, move: int) -> None:
        """Play a move of the side to move, whoever it is, and end the game if it ends it."""
        if self.over:
            raise IllegalMoveError("the game is over; undo takes it back, quit leaves")
        side = self.board.turn
        if move == RESIGN:
            self.resigned, self.over = side, True
            self.screen.say(f"{NAMES[side]} resigns. Result: {self.result()}")
            return
        self.board.play(move)
        if self.board.is_over:
            self._finish()
        elif side != self.human or move != PASS:
            self.screen.draw(self.board)

    def _machine(self) -> None:
        """Let the player move."""
        from tengen.board import format_gtp

        board = self.board
        if not self.human and len(board.moves) >= 3 * board.rows * board.cols:
            self._finish()
            return
        move = int(self.player.choose(board.copy(), self._generator()))
        side = NAMES[board.turn]
        if move != RESIGN:
            self.screen.say(f"{side}: {format_gtp(move, board.rows, board.cols)}")
        self._move(move)

    def _generator(self) -> Any:
        import numpy as np

        return np.random.default_rng([self.seed, len(self.board.moves)])

    def _pass(self, words: list[str]) -> None:
        """Pass."""
        self._move(PASS)

    def _resign(self, words: list[str]) -> None:
        """Give up."""
        self._move(RESIGN)

    def _undo(self, words: list[str]) -> None:
        """Take moves back until it is the person's turn again."""
        if self.resigned:
            self.resigned, self.over = 0, False
            if self.board.turn == self.human:
                self.screen.draw(self.board)
                return
        mine = [n for n, (colour, _) in enumerate(self.board.moves) if colour == self.human]
        if not mine:
            raise IllegalMoveError("there is no move of yours to undo")
        while len(self.board.moves) > mine[-1]:
            self.board.undo()
        self.over, self.counted = False, None
        self.dead.clear()
        self.screen.draw(self.board)

    # ----- Advice -----

    def _hint(self, words: list[str]) -> None:
        """Name the moves that the player would think of in your place."""
        from tengen.board import format_gtp, index_of
        from tengen.contracts import Analyser

        board = self.board
        if self.over:
            raise IllegalMoveError("the game is over")
        if not isinstance(self.player, Analyser):
            move = int(self.player.choose(board.copy(), self._generator()))
            self.screen.say(f"I would play {format_gtp(move, board.rows, board.cols)}")
            return
        reports = self.player.analyse(board.copy(), self._generator(), interval=1e9, limited=True)
        *_, report = reports
        marks: dict[int, str] = {}
        lines = []
        for letter, c in zip("abc", report.candidates, strict=False):
            if c.move != PASS:
                marks[index_of(c.move, board.rows, board.cols)] = letter
            line = " ".join(format_gtp(move, board.rows, board.cols) for move in c.pv[:6])
            lines.append(
                f"{letter}  {format_gtp(c.move, board.rows, board.cols):>4}  "
                f"wins {100 * c.winrate:.0f} %, {c.score:+.1f} points, {c.visits} visits: {line}"
            )
        self.screen.draw(board, marks)
        self.screen.say("\n".join(lines) or "I would pass")

    def _score(self, words: list[str]) -> None:
        """Estimate the score, and draw who seems to own what."""
        from tengen.board.counting import format_result

        verdict = self.judge.status(self.board)
        owners = verdict.ownership
        if owners is not None:
            stones = self.board.grid().ravel()
            marks: dict[int, str] = {}
            for index, value in enumerate(owners):
                owner = 0 if abs(value) <= OWNED else BLACK if value > 0 else WHITE
                if owner and owner != stones[index]:
                    marks[index] = "+" if stones[index] else "-bw"[owner]
            self.screen.draw(self.board, marks)
        guess = round(self.judge.estimate(self.board), 1)
        self.screen.say(f"Estimate, not a count: {format_result(guess)} ({self._who_judges()})")

    # ----- The end -----

    @property
    def judge(self) -> Judge:
        """Who says what is dead."""
        if self._judge is None:
            from tengen.gtp.judging import Judge

            self._judge = Judge()
        return self._judge

    def _who_judges(self) -> str:
        from tengen.gtp.judging import PlayoutScorer

        plays = isinstance(self.judge.scorer, PlayoutScorer)
        return "by playouts; no scorer model is installed" if plays else "by the learned scorer"

    def _finish(self) -> None:
        """Count the game, with the dead stones as the judge sees them."""
        from tengen.contracts import Status

        self.over = True
        self.dead = set(self.judge.status(self.board).stones(Status.DEAD))
        self.screen.say(f"The game is over. Dead stones judged {self._who_judges()}.")
        self._count()

    def _count(self) -> None:
        """Count with the dead stones as they are marked now, and show it."""
        from tengen.board import format_gtp, index_of
        from tengen.gtp.judging import count_without

        board = self.board
        self.counted = count_without(board, self.dead)
        marks: dict[int, str] = {}
        for colour, letter in ((BLACK, "b"), (WHITE, "w")):
            for index, mine in enumerate(self.counted.territory(colour).ravel()):
                if mine:
                    marks[index] = letter
        fallen = {index_of(p, board.rows, board.cols) for p in self.dead}
        marks.update(dict.fromkeys(fallen, "+"))
        self.screen.draw(board, marks)
        names = " ".join(format_gtp(p, board.rows, board.cols) for p in sorted(self.dead))
        self.screen.say(f"Dead (+): {names or 'none'}. `dead VERTEX` changes a block's fate.")
        *parts, _ = self.counted.explain().splitlines()
        self.screen.say("\n".join([*parts, f"Result: {self.result()}"]))

    def _dead(self, words: list[str]) -> None:
        """Take a block for dead, or for alive again, and count anew."""
        if self.counted is None:
            raise IllegalMoveError("stones are taken off after both have passed")
        if len(words) != 1:
            raise IllegalMoveError("say dead and a vertex, for example dead C3")
        stones = set(self.board.block(words[0]).stones)
        self.dead = self.dead - stones if stones & self.dead else self.dead | stones
        self._count()

    def result(self) -> str:
        """Return the result as SGF's RE writes it; empty while the game goes on."""
        if self.resigned:
            return "W+R" if self.resigned == BLACK else "B+R"
        return str(self.counted.result) if self.counted is not None else ""

    def summary(self) -> dict[str, Any]:
        """Return the game as plain values."""
        from tengen.board import format_gtp

        b = self.board
        return {
            "player": self.player.name,
            "colour": {BLACK: "black", WHITE: "white"}.get(self.human),
            "size": [b.rows, b.cols],
            "komi": b.komi,
            "handicap": b.handicap,
            "seed": self.seed,
            "result": self.result() or None,
            "moves": [["-BW"[c], format_gtp(p, b.rows, b.cols)] for c, p in b.moves],
            "dead": [format_gtp(p, b.rows, b.cols) for p in sorted(self.dead)],
        }

    # ----- Words -----

    def _save(self, words: list[str]) -> None:
        """Write the game so far as SGF."""
        if not words:
            raise IllegalMoveError("say save and a name, for example save game.sgf")
        path = Path(" ".join(words)).expanduser()
        self.write(path)
        self.screen.say(f"saved {path}")

    def write(self, path: Path) -> None:
        """Write the game as SGF, with names, result, and territory when it was counted."""
        from tengen.board import format_sgf, point_at
        from tengen.gtp.sgf import record_of_board
        from tengen.models import write_atomic
        from tengen.records.sgf_properties import format_text, parse_result

        b = self.board
        record = record_of_board(b)
        record.result = parse_result(self.result())
        root = record.tree.nodes[0]
        machine = format_text(self.player.name)
        root["PB"] = [b"You" if self.human == BLACK else machine]
        root["PW"] = [b"You" if self.human == WHITE else machine]
        root["AP"] = [b"tengen"]
        if self.counted is not None:
            last = record.tree.nodes[-1]
            for name, colour in (("TB", BLACK), ("TW", WHITE)):
                points = [
                    format_sgf(point_at(i, b.rows, b.cols), b.rows, b.cols).encode("ascii")
                    for i, mine in enumerate(self.counted.territory(colour).ravel())
                    if mine
                ]
                if points:
                    last[name] = points
        write_atomic(path, record.sgf() + b"\n")

    def _board(self, words: list[str]) -> None:
        """Draw the board again."""
        self.screen.draw(self.board)

    def _help(self, words: list[str]) -> None:
        """List the words."""
        self.screen.say("D4 and the like: play there (columns leave out I)")
        for name, (_, text) in WORDS.items():
            self.screen.say(f"{name}: {text}")
        self.screen.say("quit: leave")


WORDS: dict[str, tuple[Callable[[Table, list[str]], None], str]] = {
    "pass": (Table._pass, "pass; two passes end the game and it is counted"),
    "resign": (Table._resign, "give up"),
    "undo": (Table._undo, "take back your last move and what followed"),
    "hint": (Table._hint, "what the machine would play in your place"),
    "score": (Table._score, "estimate the score and who owns what"),
    "dead": (Table._dead, "after the game: `dead C3` changes a block's fate and counts anew"),
    "save": (Table._save, "`save FILE` writes the game as SGF"),
    "board": (Table._board, "draw the board again"),
    "help": (Table._help, "this list"),
}
"""Word -> (what does it, what help says)."""
