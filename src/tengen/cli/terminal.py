"""A game in the terminal or through a pipe: read commands, draw the board, print what happened."""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.text import Text

from tengen.arena.placing import rank_of, recorded
from tengen.board import BLACK, PASS, RESIGN, WHITE, Board, format_gtp, index_of, parse_gtp, row_col
from tengen.board.coordinates import GTP_LETTERS
from tengen.board.counting import format_result
from tengen.board.drawing import format_ascii, star_points
from tengen.errors import IllegalMoveError, TengenError
from tengen.files import write_atomic
from tengen.game.session import LocalGame, refuse_other, save, saved
from tengen.players import reaches_out
from tengen.records import loads

if TYPE_CHECKING:
    from tengen.cli.coach import Coach

_NAMES = {BLACK: "Black", WHITE: "White"}
_OPEN_PASS = "The game is not over: a pass loses points here. Really pass? Type pass again."
_OPEN_END = "The game is not over: play on, resign, or type pass again to count anyway."
_PLAYED_ON = "The game is not over: play on, resign, or type count to count anyway."

# ----- Drawing the board -----


class Screen:
    """Where the game is shown: with colours on a terminal, as plain text elsewhere."""

    def __init__(self, stream: TextIO, *, plain: bool = False) -> None:
        self.stream = stream
        encoding = (getattr(stream, "encoding", None) or "").lower()
        self.fancy = stream.isatty() and not plain and encoding.startswith("utf")

    def say(self, text: str, end: str = "\n") -> None:
        """Print text."""
        print(text, end=end, file=self.stream, flush=True)

    def draw(self, board: Board, marks: dict[int, str] | None = None) -> None:
        """Show the board; `marks` puts a character over row-major indices of empty points."""
        if self.fancy:
            _draw_with_colours(self.stream, board, marks or {})
        else:
            self.say(_draw_plainly(board, marks or {}))


def _draw_plainly(board: Board, marks: dict[int, str]) -> str:
    """Return the board as ASCII with the last move in brackets and marks on points.

    >>> print(_draw_plainly(Board(2, moves="B A1"), {3: "a"}))
       A B
     2 . . 2
     1(X)a 1
       A B
    """
    lines = format_ascii(board.grid(), marks).splitlines()
    if board.last_move:
        row, col = row_col(board.last_move, board.cols)
        line, at = lines[row + 1], 2 * col + 3
        lines[row + 1] = f"{line[: at - 1]}({line[at]}){line[at + 2 :]}"
    return "\n".join(lines)


def _draw_with_colours(stream: TextIO, board: Board, marks: dict[int, str]) -> None:
    grid, stars = board.grid(), star_points(board.rows, board.cols)
    last = row_col(board.last_move, board.cols) if board.last_move else None
    wood = "on #dcb468"
    header = Text("   " + " ".join(GTP_LETTERS[: board.cols]), style="dim")
    sheet = [header]
    for r in range(board.rows):
        line = Text(f"{board.rows - r:2} ", style="dim")
        for c in range(board.cols):
            stone = int(grid[r, c])
            ink = ("#6b4f1d", "#000000", "#ffffff")[stone]
            sign = "●" if stone else "+" if (r, c) in stars else "·"
            if mark := marks.get(r * board.cols + c):
                sign, ink = mark, {"b": "#000000", "w": "#ffffff"}.get(mark, "#b00020")
            under = " underline" if (r, c) == last else ""
            line.append(sign, style=f"bold {ink} {wood}{under}")
            line.append(" " if c + 1 < board.cols else "", style=wood)
        line.append(f" {board.rows - r}", style="dim")
        sheet.append(line)
    Console(file=stream, highlight=False).print(*sheet, header, sep="\n", soft_wrap=True)


def _strength_of(player: str, board: Board) -> str:
    """Return a player's measured strength on a board; empty if it was not measured."""
    for entry in recorded():
        if (entry["player"], entry["size"]) == (player.strip(), f"{board.rows}x{board.cols}"):
            return f" (about {rank_of(entry['elo'])}, {entry['elo']:.0f} Elo)"
    return ""


# ----- The conversation -----


@dataclass
class Conversation:
    """The dialogue of a game. The command `undo` calls `do_undo`, and so on."""

    game: LocalGame
    screen: Screen
    path: Path | None = None  # where the game is kept
    named: bool = False  # whether the user chose that path
    teacher: Coach | None = None  # reviews each move of the person; None unless requested
    unsaved: str = ""  # why the game could not be saved the last time
    _asked: int = -1  # the number of moves when the person was asked whether to pass
    _saved: set[Path] = field(default_factory=set)

    def run(self, source: TextIO) -> None:
        """Play until `quit` or the end of input; the game is saved, whatever happens."""
        try:
            self._converse(source)
        finally:
            self._keep()
            self._leave()

    def _converse(self, source: TextIO) -> None:
        game, board = self.game, self.game.board
        self.screen.say(
            f"{board.rows}x{board.cols}, komi {board.komi:g}, {board.rules.scoring} scoring. "
            + (f"You are {_NAMES[game.human]} against " if game.human else "You watch ")
            + f"{game.player.name}{_strength_of(game.spec, board)}. Type help for a list of words."
        )
        self.screen.draw(board)
        game.clock.since = time.monotonic()
        going = True
        while going:
            stopped = self._asks
            if game.waits_for_machine and not stopped:
                self._machine()
                continue
            turn = f"{_NAMES[board.turn]} to play{self._left()}"
            self.screen.say("> " if game.has_ended or stopped else f"{turn}> ", end="")
            line = source.readline()
            if not line:
                self.screen.say("")
            going = bool(line) and self._obey(line.split())

    def _leave(self) -> None:
        """Say how to go on with the game, or show the one that could not be saved."""
        game = self.game
        if self.unsaved:
            self.screen.say(saved(game).decode())
        elif self.path is not None and not game.has_ended and self.path.exists():
            command, where = "tengen play --resume", f" ({self.path})"
            if self.named:
                command, where = f"{command} --out {shlex.quote(str(self.path))}", ""
            if reaches_out(game.spec, files=True):  # not started because a file says so
                command += f" --player {shlex.quote(game.spec)}"
            self.screen.say(f"`{command}` goes on with this game{where}")

    def _obey(self, words: list[str]) -> bool:
        """Run the command of one line; return False to quit."""
        name = words[0].lower() if words else "pass"
        if name != "pass":
            self._asked = -1
        if name in ("quit", "exit", "q"):
            return False
        try:
            if words:
                method = getattr(self, f"do_{name}", None)
                method(words[1:]) if method else self._vertex(name)
        except TengenError as mistake:
            self.screen.say(str(mistake))
        except OSError as failure:
            self.screen.say(f"{failure.filename or ' '.join(words[1:])}: {failure.strerror}")
        return True

    def _vertex(self, word: str) -> None:
        if self.teacher and self.teacher.problem:
            self.screen.say(self.teacher.answer(word))
            self.screen.draw(self.game.board)
            return
        self._require_turn()
        try:
            move = parse_gtp(word, self.game.board.rows, self.game.board.cols)
        except TengenError:
            raise IllegalMoveError(f"{word!r} is neither a vertex nor a word; try help") from None
        self._move(move)

    def _require_turn(self) -> None:
        if self._asks and not self.game.has_ended:
            raise IllegalMoveError("type undo, better or go first")

    def _move(self, move: int) -> None:
        self.game.act(move)
        self._keep()
        if self.game.has_ended:
            self._end()
        elif move != PASS:
            self.screen.draw(self.game.board)
            if self.teacher and (remark := self.teacher.look(self.game.board)):
                self.screen.say(remark)

    def _machine(self) -> None:
        passed = bool(self.game.board.moves) and self.game.board.last_move == PASS
        side, move = self.game.board.turn, self.game.answer()
        self._keep()
        if move != RESIGN and not self.game.timed_out:
            self.screen.say(f"{_NAMES[side]}: {self._name(move)}")
        if self.game.has_ended:
            self._end()
            return
        self.screen.draw(self.game.board)
        if passed and move != PASS:
            self.screen.say(_PLAYED_ON)

    def _left(self) -> str:
        """Return the time that the side to move has left, if there is a clock."""
        clock = self.game.clock
        if not clock.limited:
            return ""
        minutes, seconds = divmod(int(clock.sides[self.game.board.turn].left), 60)
        return f" ({minutes}:{seconds:02})"

    def _keep(self) -> None:
        """Write the game to its file, once it has begun; the game goes on if that fails."""
        if self.path is None:
            return
        if not (self.named or self.game.board.moves or self.path.exists()):
            return
        try:
            save(self.game, self.path)
            self.unsaved = ""
        except OSError as failure:
            before, self.unsaved = self.unsaved, f"{self.path}: {failure.strerror}"
            if self.unsaved != before:
                self.screen.say(f"{self.unsaved}. Not saved! Go on, or say save and another name.")

    def _name(self, move: int) -> str:
        return format_gtp(move, self.game.board.rows, self.game.board.cols)

    @property
    def _asks(self) -> bool:
        """Whether the teacher waits for what the person makes of a move that lost points."""
        return self.teacher is not None and self.teacher.found is not None

    def _end(self) -> None:
        game = self.game
        if game.is_over:
            how = "resigns" if game.resigned else "has no time left"
            loser = _NAMES[game.resigned or game.timed_out]
            self.screen.say(f"{loser} {how}. Result: {game.result}")
        else:
            by = "playouts; no scorer model is installed"
            by = "the learned scorer" if self.game.judge.is_learned else by
            self.screen.say(f"The game is over. Dead stones judged by {by}.")
            self._count()
        if self.teacher:
            self.screen.say("\n".join(self.teacher.summary(f"terminal-{time.time():.0f}")))
        self.screen.say("Type review to see what each move lost.")

    def _count(self) -> None:
        """Show the count with the dead stones as they are marked now."""
        game = self.game
        count = game.count()
        assert count is not None and game.dead is not None
        marks: dict[int, str] = {}
        masks = {"b": count.territory(BLACK), "w": count.territory(WHITE), "+": count.dead}
        for letter, mask in masks.items():
            marks.update(dict.fromkeys(mask.ravel().nonzero()[0].tolist(), letter))
        self.screen.draw(game.board, marks)
        names = " ".join(self._name(point) for point in sorted(game.dead))
        self.screen.say(f"Dead (+): {names or 'none'}. `dead VERTEX` marks a block dead or alive.")
        *parts, _ = count.explain().splitlines()
        self.screen.say("\n".join([*parts, f"Result: {game.result}"]))

    # ----- Commands; `help` prints the docstrings -----

    def do_pass(self, words: list[str]) -> None:
        """pass; two passes end the game and it is counted"""
        game = self.game
        self._require_turn()
        asked, self._asked = self._asked, len(game.board.moves)
        if asked != self._asked and game.loses_by_passing:
            ends = bool(game.board.moves) and game.board.last_move == PASS
            self.screen.say(_OPEN_END if ends else _OPEN_PASS)
            return
        self._move(PASS)

    def do_count(self, words: list[str]) -> None:
        """end the game and count it as it stands"""
        self.game.stop()
        self.game.finish()
        self._keep()
        self._end()

    def do_resign(self, words: list[str]) -> None:
        """give up"""
        if self._asks:  # when it is the machine's turn
            self.game.resign(self.game.human)
            self._keep()
            self._end()
        else:
            self._move(RESIGN)

    def do_undo(self, words: list[str]) -> None:
        """take back your last move and what followed"""
        before = len(self.game.board.moves)
        self.game.undo(time.monotonic())
        if len(self.game.board.moves) < before:
            self.do_go([])
        self._keep()
        self.screen.draw(self.game.board)

    def do_hint(self, words: list[str]) -> None:
        """what the machine would play in your place"""
        board, advice = self.game.board, self.game.advice()
        if isinstance(advice, int):
            self.screen.say(f"I would play {self._name(advice)}")
            return
        marks, lines = {}, []
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

    def do_better(self, words: list[str]) -> None:
        """with --teach: a better move than your last"""
        if not self.teacher or not self.teacher.found:
            raise IllegalMoveError("there is no move to improve; see play --teach")
        self.screen.say(f"{self._name(self.teacher.found.best)} is better.")

    def do_go(self, words: list[str]) -> None:
        """with --teach: go on although the move lost points"""
        if self.teacher:
            self.teacher.found = None

    def do_problem(self, words: list[str]) -> None:
        """with --teach: a position of an earlier game to solve"""
        if not self.teacher:
            raise IllegalMoveError("problems come with play --teach")
        board, question = self.teacher.ask()
        self.screen.draw(board)
        self.screen.say(question)

    def do_score(self, words: list[str]) -> None:
        """estimate the score and who owns what"""
        outlook, owners = self.game.estimate()
        if owners is not None:
            stones = self.game.board.grid().ravel()
            marks = {
                index: "+" if stones[index] else "-bw"[owner]
                for index, owner in enumerate(owners.tolist())
                if owner and owner != stones[index]
            }
            self.screen.draw(self.game.board, marks)
        state = "The board seems finished" if outlook.finished else "The game is not over; expected"
        result = format_result(round(outlook.score, 1))
        self.screen.say(f"Estimate, not a count. {state}: {result} (by {outlook.by})")

    def do_dead(self, words: list[str]) -> None:
        """after the game: `dead C3` marks a block dead or alive and counts again"""
        if self.game.is_counting and len(words) != 1:
            raise IllegalMoveError("say dead and a vertex, for example dead C3")
        self.game.toggle(" ".join(words))
        self._keep()
        self._count()

    def do_review(self, words: list[str]) -> None:
        """what each move lost; `review 500` with more visits"""
        from tengen.reviews import ReviewSettings
        from tengen.reviews.game import find_reviewer, review_game
        from tengen.web.tasks import review_page

        if words and not words[0].isdecimal():
            raise IllegalMoveError("say review, or review and visits, for example review 100")
        settings = ReviewSettings(visits=int(words[0]) if words else None)
        [record] = loads(self.game.sgf(self.game.player.name))
        found = review_game(record, find_reviewer(record.rows, record.cols, settings))
        self.screen.say(found.words(3))
        if self.path is not None and self.path.exists():
            page = self.path.with_suffix(".review.html")
            write_atomic(page, review_page(found, self.path.name))
            self.screen.say(f"page: {page}")

    def do_save(self, words: list[str]) -> None:
        """`save FILE` writes the game as SGF"""
        if not words:
            raise IllegalMoveError("say save and a name, for example save game.sgf")
        path = Path(" ".join(words)).expanduser()
        if path not in self._saved | {self.path}:
            refuse_other(path)
        save(self.game, path)
        self._saved.add(path)
        if self.unsaved:  # where there is room
            self.path, self.named, self.unsaved = path, True, ""
        self.screen.say(f"saved {path}")

    def do_board(self, words: list[str]) -> None:
        """draw the board again"""
        self.screen.draw(self.game.board)

    def do_help(self, words: list[str]) -> None:
        """this list"""
        self.screen.say("D4 and the like: play there (columns leave out I)")
        for name, method in vars(Conversation).items():
            if name.startswith("do_"):
                self.screen.say(f"{name[3:]}: {method.__doc__}")
        self.screen.say("quit: leave")
