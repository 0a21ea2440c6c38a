"""Play a game in the terminal: read words, draw the board, say what happened.

Works with a terminal and with a pipe, where nothing is coloured. The game itself is
`tengen.game.session`; with --teach a `Coach` reviews moves and makes problems of mistakes.
"""

from __future__ import annotations

import secrets
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

from tengen.cli.options import Json, Options, OwnSeed, PlayerName, RulesName, command, flag, option
from tengen.cli.printing import Shown, standard_input
from tengen.errors import IllegalMoveError, TengenError

if TYPE_CHECKING:
    from tengen.board import Board
    from tengen.game.clock import Clock
    from tengen.game.session import LocalGame
    from tengen.reviews.game import MoveReview
    from tengen.web.store import Store

app = typer.Typer()

_BLACK, _WHITE, _PASS, _RESIGN = 1, 2, 0, -1
_NAMES = {_BLACK: "Black", _WHITE: "White"}
_OPEN_PASS = "The game is not over: a pass loses points here. Really pass? Type pass again."
_OPEN_END = "The game is not over: play on, resign, or type pass again to count anyway."
_PLAYED_ON = "The game is not over: play on, resign, or type count to count anyway."
_WORST = 3  # moves of a game that become problems


@dataclass(frozen=True, kw_only=True)
class _Game(Options):
    player: PlayerName = "tengen:seconds=2"
    size: int = option(9, "Rows and columns.", min=2, max=25)
    komi: float | None = option(None, "White's points; the rules' usual ones.")
    colour: str = option("black", "Yours: black, white, or none to watch.", "--colour", "--color")
    handicap: int = option(0, "Black's stones on the usual points.", min=0, max=9)
    my_level: int | None = option(None, "Yours: take the handicap that makes the game even.")
    rules: RulesName = "cgos"
    clock: str | None = option(None, "Minutes for each side, as 10, or 10+5: 5 s more per move.")
    seed: OwnSeed = None


@command(app)
def play(
    game: _Game,
    out: Path | None = option(None, "Keep the game there; never over another one."),
    resume: bool = flag("--resume", "Go on with the last game, or the one in --out."),
    plain: bool = flag("--plain", "No colours, ASCII only."),
    teach: bool = flag("--teach", "Say at once what your move lost; let you try again."),
    threshold: float | None = option(
        None, "With --teach: points that a move must lose; by the level if not given.", min=0.5
    ),
    json: Json = False,
) -> None:
    """Play against the machine in the terminal.

    Type a vertex such as D4, or pass, resign, undo, hint, score, dead, review, save FILE, board,
    help, quit; with --teach also better, go, problem. The game is kept after every move.
    """
    from tengen.game import session as saved_games
    from tengen.game.session import LocalGame
    from tengen.players import make_player
    from tengen.reviews.settings import usual_threshold

    source = standard_input()
    path = out
    if resume:
        path = out or saved_games.latest(saved_games.default_folder())
        left, spec = saved_games.read_saved(path)
        session = LocalGame(
            left.board, left.human, left.seed, left.clock, player=make_player(spec), spec=spec
        )
    else:
        session = _new_game(game if game.my_level is None else _evened(game, game.my_level))
        if out is not None:
            saved_games.refuse_other(out)
        elif session.human:
            path = saved_games.new_place(saved_games.default_folder(), session.board)
    teacher = None
    if teach:
        teacher = Coach(threshold or usual_threshold(_level_of(session.spec)))
    screen = Screen(sys.stderr if json else sys.stdout, plain=plain)
    try:
        _Talk(session, screen, path, named=out is not None, teacher=teacher).run(source)
    finally:
        if out is not None:
            saved_games.save(session, out)
        close = getattr(session.player, "close", None)
        if close is not None:
            close()
    Shown(json=json).as_json(session.summary())


def _evened(game: _Game, mine: int) -> _Game:
    """Return the game with what makes it fair between somebody's level and the player's."""
    from tengen.arena.placing import advise

    level = _level_of(game.player)
    if level is None:
        raise TengenError(
            f"--my-level {mine}: {game.player} has no level; say --player tengen:level=N"
        )
    if game.handicap or game.komi is not None:
        raise TengenError(f"--my-level {mine} sets handicap and komi; leave --handicap, --komi out")
    given, colour = advise(min(mine, level), max(mine, level), game.size), game.colour
    if mine != level and given.komi is not None:
        colour = "black" if mine < level else "white"  # the weaker side is Black
    return replace(game, colour=colour, handicap=given.stones, komi=given.komi)


def _level_of(player: str) -> int | None:
    """Return the number of a spec that names a level of `tengen`."""
    from tengen.players import parse_spec

    name, options = parse_spec(player)
    level = options.get("level", "") if name == "tengen" else ""
    return int(level) if level.isdecimal() else None


def _strength_of(player: str, board: Board) -> str:
    """Return what a player was measured to be on a board; empty if it was not."""
    from tengen.arena.placing import rank_of, recorded

    for entry in recorded():
        if (entry["player"], entry["size"]) == (player.strip(), f"{board.rows}x{board.cols}"):
            return f" (about {rank_of(entry['elo'])}, {entry['elo']:.0f} Elo)"
    return ""


def _new_game(game: _Game) -> LocalGame:
    from tengen.board import HANDICAP_KOMI, Board
    from tengen.game.session import LocalGame
    from tengen.players import make_player

    sides = {"black": _BLACK, "b": _BLACK, "white": _WHITE, "w": _WHITE, "none": 0}
    if game.colour.lower() not in sides:
        raise TengenError(f"--colour {game.colour}: choose black, white or none")
    komi = HANDICAP_KOMI if game.komi is None and game.handicap else game.komi
    board = Board(game.size, rules=game.rules, komi=komi)
    if game.handicap:
        board.place_handicap(game.handicap)
    seed = secrets.randbits(31) if game.seed is None else game.seed
    player, side = make_player(game.player), sides[game.colour.lower()]
    return LocalGame(board, side, seed, _clock(game.clock), player=player, spec=game.player)


def _clock(text: str | None) -> Clock:
    """Read MINUTES or MINUTES+SECONDS; None is no limit."""
    from tengen.game.clock import Clock

    if text is None:
        return Clock()
    minutes, plus, seconds = text.partition("+")
    try:
        main, increment = float(minutes), float(seconds) if plus else 0.0
    except ValueError:
        main = increment = -1.0
    if not (0 < main <= 1440 and 0 <= increment <= 3600):
        raise TengenError(f"--clock {text}: give minutes, as 10, or 10+5 for 5 s more per move")
    return Clock.fischer(60 * main, increment)


# ----- Drawing the board -----


class Screen:
    """Where the game is shown: with colours on a terminal, as plain text elsewhere."""

    def __init__(self, stream: TextIO, *, plain: bool = False) -> None:
        self.stream = stream
        self.fancy = stream.isatty() and not plain and _can_draw(stream)

    def say(self, text: str, end: str = "\n") -> None:
        """Print text."""
        print(text, end=end, file=self.stream, flush=True)

    def draw(self, board: Board, marks: dict[int, str] | None = None) -> None:
        """Show the board; `marks` puts a character over row-major indices of empty points."""
        if self.fancy:
            _draw_with_colours(board, marks or {})
        else:
            self.say(_draw_plainly(board, marks or {}))


def _can_draw(stream: TextIO) -> bool:
    try:
        "●·".encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _draw_plainly(board: Board, marks: dict[int, str]) -> str:
    """Return the board as ASCII with the last move in brackets and marks on points.

    >>> from tengen.board import Board
    >>> print(_draw_plainly(Board(2, moves="B A1"), {3: "a"}))
       A B
     2 . . 2
     1(X)a 1
       A B
    """
    from tengen.board import row_col
    from tengen.board.drawing import format_ascii

    lines = format_ascii(board.grid(), marks).splitlines()
    if board.last_move:
        row, col = row_col(board.last_move, board.cols)
        line, at = lines[row + 1], 2 * col + 3
        lines[row + 1] = f"{line[: at - 1]}({line[at]}){line[at + 2 :]}"
    return "\n".join(lines)


def _draw_with_colours(board: Board, marks: dict[int, str]) -> None:
    from rich.console import Console
    from rich.text import Text

    from tengen.board import row_col
    from tengen.board.coordinates import GTP_LETTERS
    from tengen.board.drawing import star_points

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
    Console(highlight=False).print(*sheet, header, sep="\n", soft_wrap=True)


# ----- The teacher -----


@dataclass
class Coach:
    """Review each move of the person, and keep the most expensive ones in the web database."""

    threshold: float  # points that a move must lose for the game to stop
    found: MoveReview | None = None  # the move that the person has to decide about
    problem: dict[str, Any] | None = None  # the problem that waits for an answer
    _lessons: list[dict[str, Any]] = field(default_factory=list)

    def look(self, board: Board) -> str:
        """Review the last move; return what to say if it lost too much, else nothing."""
        from tengen.web.positions import to_value

        move = _reviewed(board)
        if not move.verdict:
            return ""
        before = board.copy()
        before.undo()
        told = move.to_dict(board.rows, board.cols)
        self._lessons.append({**told, "board": to_value(before)})
        if move.points_lost < self.threshold:
            return ""
        self.found = move
        return (
            f"{told['move']} lost about {move.points_lost:.1f} points (± {move.error:.1f}). "
            "Type undo to try again, better for a better move, or go to go on."
        )

    def summary(self, game: str) -> list[str]:
        """Name the most expensive moves and keep them as problems."""
        from tengen.web.store import keep_problems

        dear = sorted(self._lessons, key=lambda one: -one["points_lost"])[:_WORST]
        if not dear:
            return ["No move of yours lost much."]
        with _database() as store:
            keep_problems(store, game, dear, time.time())
        return [
            "Your most expensive moves:",
            *(f"move {d['number']}, {d['move']}: lost {d['points_lost']:.1f} points" for d in dear),
            "Kept as problems: type problem on another day, or open tengen web.",
        ]

    def ask(self) -> tuple[Board, str]:
        """Return the board of a problem that is due, and the question."""
        from tengen.web.positions import to_board
        from tengen.web.store import PROBLEM, list_problems

        with _database() as store:
            first = next(iter(list_problems(store)), None)
            if first is None or first["due"] > time.time():
                raise IllegalMoveError("no problem is due today")
            self.problem = store.get(PROBLEM, first["id"])
        lost, move = self.problem["points_lost"], self.problem["move"]
        return to_board(self.problem["board"]), (
            f"You played {move} here, which lost about {lost:.1f} points. Type a better move."
        )

    def answer(self, move: str) -> str:
        """Judge an answer to the problem."""
        from tengen.web.positions import to_board
        from tengen.web.store import rate_answer

        assert self.problem is not None
        board = to_board(self.problem["board"])
        board.play(move)
        found = _reviewed(board)
        name = found.to_dict(board.rows, board.cols)["move"]
        with _database() as store:
            told = rate_answer(store, self.problem, found.points_lost, name, time.time())
        self.problem = None
        if told["solved"]:
            return f"Solved with {name}."
        return f"{name} loses about {found.points_lost:.1f} points; {told['best']} is better."


def _reviewed(board: Board) -> MoveReview:
    from tengen.reviews.game import find_reviewer, review_last_move
    from tengen.reviews.settings import ReviewSettings

    reviewer = find_reviewer(board.rows, board.cols, ReviewSettings(quick=True))
    return review_last_move(board, reviewer)[0]


@contextmanager
def _database() -> Iterator[Store]:
    """Open the database of `tengen web` for a moment."""
    from tengen.web.store import Store, default_database

    store = Store(default_database())
    try:
        yield store
    finally:
        store.close()


# ----- The conversation -----


@dataclass
class _Talk:
    """What is said and shown in a game. The word `undo` calls `do_undo`, and so on."""

    game: LocalGame
    screen: Screen
    path: Path | None = None  # where the game is kept
    named: bool = False  # whether the person named that place
    teacher: Coach | None = None  # reviews each move of the person, if asked for
    _asked: int = -1  # the number of moves when the person was asked whether to pass
    _saved: set[Path] = field(default_factory=set)

    def run(self, source: TextIO) -> None:
        """Play until `quit` or the end of input."""
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
            stopped = self.teacher is not None and self.teacher.found is not None
            if game.waits_for_machine and not stopped:
                self._machine()
                continue
            turn = f"{_NAMES[board.turn]} to play{self._left()}"
            self.screen.say("> " if game.has_ended or stopped else f"{turn}> ", end="")
            line = source.readline()
            if not line:
                self.screen.say("")
            going = bool(line) and self._obey(line.split())
        if self.path is not None and not game.has_ended and self.path.exists():
            command, where = "tengen play --resume", f" ({self.path})"
            if self.named:
                command, where = f"{command} --out {shlex.quote(str(self.path))}", ""
            self.screen.say(f"`{command}` goes on with this game{where}")

    def _obey(self, words: list[str]) -> bool:
        """Do what one line says; return False to leave."""
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
        from tengen.board import parse_gtp

        if self.teacher and self.teacher.problem:
            self.screen.say(self.teacher.answer(word))
            self.screen.draw(self.game.board)
            return
        if self.teacher and self.teacher.found:
            raise IllegalMoveError("type undo, better or go first")
        try:
            move = parse_gtp(word, self.game.board.rows, self.game.board.cols)
        except TengenError:
            raise IllegalMoveError(f"{word!r} is neither a vertex nor a word; try help") from None
        self._move(move)

    def _move(self, move: int) -> None:
        side = self.game.board.turn
        self.game.act(move)
        self._keep()
        if self.game.has_ended:
            self._end(side)
        elif move != _PASS:
            self.screen.draw(self.game.board)
            if self.teacher and (told := self.teacher.look(self.game.board)):
                self.screen.say(told)

    def _machine(self) -> None:
        passed = bool(self.game.board.moves) and self.game.board.last_move == _PASS
        side, move = self.game.board.turn, self.game.answer()
        self._keep()
        if move != _RESIGN and not self.game.timed_out:
            self.screen.say(f"{_NAMES[side]}: {self._name(move)}")
        if self.game.has_ended:
            self._end(side)
            return
        self.screen.draw(self.game.board)
        if passed and move != _PASS:
            self.screen.say(_PLAYED_ON)

    def _left(self) -> str:
        """Return the time that the side to move has left, if there is a clock."""
        clock = self.game.clock
        if not clock.limited:
            return ""
        minutes, seconds = divmod(int(clock.sides[self.game.board.turn].left), 60)
        return f" ({minutes}:{seconds:02})"

    def _keep(self) -> None:
        """Write the game to its file, once it has begun."""
        from tengen.game.session import save

        if self.path is not None and self.game.board.moves:
            save(self.game, self.path)

    def _name(self, move: int) -> str:
        from tengen.board import format_gtp

        return format_gtp(move, self.game.board.rows, self.game.board.cols)

    def _end(self, side: int) -> None:
        if self.game.is_over:
            how = "resigns" if self.game.resigned else "has no time left"
            self.screen.say(f"{_NAMES[side]} {how}. Result: {self.game.result}")
        else:
            by = "playouts; no scorer model is installed"
            by = "the learned scorer" if self.game.judge.is_learned else by
            self.screen.say(f"The game is over. Dead stones judged by {by}.")
            self._count()
        for line in self.teacher.summary(f"terminal-{time.time():.0f}") if self.teacher else ():
            self.screen.say(line)
        self.screen.say("Type review to see what each move lost.")

    def _count(self) -> None:
        """Show the count with the dead stones as they are marked now."""
        game = self.game
        count = game.count()
        assert count is not None and game.dead is not None
        marks: dict[int, str] = {}
        for mask, letter in (
            (count.territory(_BLACK), "b"),
            (count.territory(_WHITE), "w"),
            (count.dead, "+"),
        ):
            marks.update(dict.fromkeys(mask.ravel().nonzero()[0].tolist(), letter))
        self.screen.draw(game.board, marks)
        names = " ".join(self._name(point) for point in sorted(game.dead))
        self.screen.say(f"Dead (+): {names or 'none'}. `dead VERTEX` changes a block's fate.")
        *parts, _ = count.explain().splitlines()
        self.screen.say("\n".join([*parts, f"Result: {game.result}"]))

    # ----- Words; the docstrings are what `help` prints -----

    def do_pass(self, words: list[str]) -> None:
        """pass; two passes end the game and it is counted"""
        game = self.game
        asked, self._asked = self._asked, len(game.board.moves)
        if asked != self._asked and game.loses_by_passing:
            ends = bool(game.board.moves) and game.board.last_move == _PASS
            self.screen.say(_OPEN_END if ends else _OPEN_PASS)
            return
        self._move(_PASS)

    def do_count(self, words: list[str]) -> None:
        """end the game and count it as it stands"""
        self.game.stop()
        self.game.finish()
        self._keep()
        self._end(self.game.board.turn)

    def do_resign(self, words: list[str]) -> None:
        """give up"""
        self._move(_RESIGN)

    def do_undo(self, words: list[str]) -> None:
        """take back your last move and what followed"""
        self.game.undo(time.monotonic())
        self.do_go([])
        self._keep()
        self.screen.draw(self.game.board)

    def do_hint(self, words: list[str]) -> None:
        """what the machine would play in your place"""
        from tengen.board import index_of

        board, advice = self.game.board, self.game.advice()
        if isinstance(advice, int):
            self.screen.say(f"I would play {self._name(advice)}")
            return
        marks: dict[int, str] = {}
        lines = []
        for letter, c in zip("abc", advice, strict=False):
            if c.move != _PASS:
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
        from tengen.board.counting import format_result

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
        """after the game: `dead C3` changes a block's fate and counts anew"""
        if self.game.is_counting and len(words) != 1:
            raise IllegalMoveError("say dead and a vertex, for example dead C3")
        self.game.toggle(" ".join(words))
        self._keep()
        self._count()

    def do_review(self, words: list[str]) -> None:
        """what each move lost; `review 500` with more visits"""
        from tengen.files import write_atomic
        from tengen.records import loads
        from tengen.reviews.annotate import move_words
        from tengen.reviews.game import find_reviewer, review_game
        from tengen.reviews.settings import ReviewSettings
        from tengen.web.tasks import review_page

        if words and not words[0].isdecimal():
            raise IllegalMoveError("say review, or review and visits, for example review 100")
        settings = ReviewSettings(visits=int(words[0]) if words else None)
        [record] = loads(self.game.sgf(self.game.player.name))
        found = review_game(record, find_reviewer(record.rows, record.cols, settings))
        for colour, name in _NAMES.items():
            side = found.side(colour)
            lost, mistakes = side["mean_points_lost"], side["mistakes"]
            self.screen.say(f"{name}: {lost:.2f} points lost per move, {mistakes} mistakes")
        for move in (*found.mistakes(3), *found.doubts(3)):
            text = move_words(found, move).splitlines()
            self.screen.say(f"move {move.number}, " + "; ".join(text[:3]))
        if self.path is not None and self.path.exists():
            page = self.path.with_suffix(".review.html")
            write_atomic(page, review_page(found, self.path.name))
            self.screen.say(f"page: {page}")

    def do_save(self, words: list[str]) -> None:
        """`save FILE` writes the game as SGF"""
        from tengen.game.session import refuse_other, save

        if not words:
            raise IllegalMoveError("say save and a name, for example save game.sgf")
        path = Path(" ".join(words)).expanduser()
        if path not in self._saved | {self.path}:
            refuse_other(path)
        save(self.game, path)
        self._saved.add(path)
        self.screen.say(f"saved {path}")

    def do_board(self, words: list[str]) -> None:
        """draw the board again"""
        self.screen.draw(self.game.board)

    def do_help(self, words: list[str]) -> None:
        """this list"""
        self.screen.say("D4 and the like: play there (columns leave out I)")
        for name, method in vars(_Talk).items():
            if name.startswith("do_"):
                self.screen.say(f"{name[3:]}: {method.__doc__}")
        self.screen.say("quit: leave")
