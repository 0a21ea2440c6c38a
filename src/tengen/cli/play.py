"""Play a game in the terminal: read words, draw the board, say what happened.

Works with a terminal and with a pipe, where nothing is coloured. The game itself is
`tengen.game.session`.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from tengen.cli.options import Json, Options, OwnSeed, PlayerName, RulesName, command, flag, option
from tengen.cli.printing import emit, standard_input
from tengen.cli.screen import Screen
from tengen.errors import IllegalMoveError, TengenError

if TYPE_CHECKING:
    from tengen.cli.teaching import Teacher
    from tengen.game.clock import Clock
    from tengen.game.session import LocalGame

app = typer.Typer()

_DEFAULT_PLAYER = "tengen:seconds=2"
_BLACK, _WHITE, _PASS, _RESIGN = 1, 2, 0, -1
_NAMES = {_BLACK: "Black", _WHITE: "White"}
_OPEN_PASS = "The game is not over: a pass loses points here. Really pass? Type pass again."
_OPEN_END = "The game is not over: play on, resign, or type pass again to count anyway."
_PLAYED_ON = "The game is not over: play on, resign, or type count to count anyway."


@dataclass(frozen=True, kw_only=True)
class _Game(Options):
    """The game that was asked for."""

    player: PlayerName = _DEFAULT_PLAYER
    size: Annotated[int, typer.Option("--size", min=2, max=25, help="Rows and columns.")] = 9
    komi: Annotated[
        float | None, typer.Option("--komi", help="White's points; the rules' usual ones.")
    ] = None
    colour: Annotated[
        str,
        typer.Option("--colour", "--color", help="Yours: black, white, or none to watch."),
    ] = "black"
    handicap: Annotated[
        int, typer.Option("--handicap", min=0, max=9, help="Black's stones on the usual points.")
    ] = 0
    my_level: Annotated[
        int | None,
        typer.Option("--my-level", help="Yours: take the handicap that makes the game even."),
    ] = None
    rules: RulesName = "cgos"
    clock: Annotated[
        str | None,
        typer.Option("--clock", help="Minutes for each side, as 10, or 10+5: 5 s more a move."),
    ] = None
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
    from tengen.cli.teaching import Teacher
    from tengen.game import saved_games
    from tengen.reviews.settings import usual_threshold

    source = standard_input()
    path: Path | None
    if resume:
        path = out or saved_games.latest(saved_games.default_folder())
        session = _resumed(path)
    else:
        session = _new_game(game if game.my_level is None else _evened(game, game.my_level))
        if out is not None:
            saved_games.refuse_other(out)
        path = out
        if out is None and session.human:
            path = saved_games.new_place(saved_games.default_folder(), session.board)
    screen = Screen(sys.stderr if json else sys.stdout, plain=plain)
    teacher = None
    if teach:
        usual = usual_threshold(_level_of(session.spec))
        teacher = Teacher(usual if threshold is None else threshold)
    talk = _Talk(session, screen, path, told=out is not None, teacher=teacher)
    try:
        talk.run(source)
    finally:
        if out is not None:
            saved_games.save(session, out)
        close = getattr(session.player, "close", None)
        if close is not None:
            close()
    emit(session.summary(), json=json)


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


def _strength_of(player: str, rows: int, cols: int) -> str:
    """Say what a player was measured to be on a board; empty if it was not."""
    from tengen.arena.placing import rank_of, recorded

    for entry in recorded():
        if (entry["player"], entry["size"]) == (player.strip(), f"{rows}x{cols}"):
            return f" (about {rank_of(entry['elo'])}, {entry['elo']:.0f} Elo)"
    return ""


def _new_game(game: _Game) -> LocalGame:
    """Set up a game as it was asked for."""
    import secrets

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
    return LocalGame(
        board,
        sides[game.colour.lower()],
        secrets.randbits(31) if game.seed is None else game.seed,
        _clock(game.clock),
        player=make_player(game.player),
        spec=game.player,
    )


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
        raise TengenError(f"--clock {text}: give minutes, as 10, or 10+5 for 5 s more a move")
    return Clock.fischer(60 * main, increment)


def _resumed(path: Path) -> LocalGame:
    """Set up a game as it was left."""
    from tengen.game.saved_games import read_saved
    from tengen.game.session import LocalGame
    from tengen.players import make_player

    game, spec = read_saved(path)
    return LocalGame(
        game.board, game.human, game.seed, game.clock, player=make_player(spec), spec=spec
    )


@dataclass
class _Talk:
    """What is said and shown in a game, and the words that the person may say."""

    game: LocalGame
    screen: Screen
    path: Path | None = None
    """Where the game is kept."""
    told: bool = False
    """Whether the person named that place."""
    teacher: Teacher | None = None
    """Who reviews each move of the person, if anybody."""
    _asked: int = -1
    """The number of moves when the person was asked whether to pass."""
    _saved: set[Path] = field(default_factory=set)

    def run(self, source: TextIO) -> None:
        """Play until `quit` or the end of input."""
        game, board = self.game, self.game.board
        self.screen.say(
            f"{board.rows}x{board.cols}, komi {board.komi:g}, {board.rules.scoring} scoring. "
            + (f"You are {_NAMES[game.human]} against " if game.human else "You watch ")
            + f"{game.player.name}{_strength_of(game.spec, board.rows, board.cols)}. "
            + "Type help for the words I know."
        )
        self.screen.draw(board)
        game.clock.since = time.monotonic()
        while True:
            stopped = self.teacher is not None and self.teacher.found is not None
            if game.waits_for_machine and not stopped:
                self._machine()
                continue
            whose = (
                "" if game.has_ended or stopped else f"{_NAMES[board.turn]} to play{self._left()}"
            )
            self.screen.ask(f"{whose}> ")
            line = source.readline()
            if not line:
                self.screen.say("")
                break
            words = line.split()
            if words and not self._obey(words):
                break
        if self.path is not None and not game.has_ended and self.path.exists():
            command, where = "tengen play --resume", f" ({self.path})"
            if self.told:
                command, where = f"{command} --out {shlex.quote(str(self.path))}", ""
            self.screen.say(f"`{command}` goes on with this game{where}")

    def _obey(self, words: list[str]) -> bool:
        """Do what one line says; return False to leave."""
        name = words[0].lower()
        if name != "pass":
            self._asked = -1
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
            self.screen.say(f"{failure.filename or ' '.join(words[1:])}: {failure.strerror}")
        return True

    # ----- Moves -----

    def _vertex(self, word: str) -> None:
        """Play the person's move."""
        from tengen.board import parse_gtp

        if self.teacher and self.teacher.problem:
            self.screen.say(self.teacher.answer(word))
            self.screen.draw(self.game.board)
            return
        if self.teacher and self.teacher.found:
            raise IllegalMoveError("type undo, better or go first")
        board = self.game.board
        try:
            move = parse_gtp(word, board.rows, board.cols)
        except TengenError:
            raise IllegalMoveError(
                f"{word!r} is neither a vertex nor a word I know; try help"
            ) from None
        self._move(move)

    def _move(self, move: int) -> None:
        """Play a move of the person and show what came of it."""
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
        """Let the player move and show it."""
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
        """Write the time that the side to move has left, if somebody counts."""
        clock = self.game.clock
        if not clock.limited:
            return ""
        minutes, seconds = divmod(int(clock.sides[self.game.board.turn].left), 60)
        return f" ({minutes}:{seconds:02})"

    def _keep(self) -> None:
        """Write the game to its file, once it has begun."""
        from tengen.game.saved_games import save

        if self.path is not None and self.game.board.moves:
            save(self.game, self.path)

    def _name(self, move: int) -> str:
        """Name a move as people do."""
        from tengen.board import format_gtp

        return format_gtp(move, self.game.board.rows, self.game.board.cols)

    def _pass(self, words: list[str]) -> None:
        """Pass; ask once more where that loses points."""
        game = self.game
        asked, self._asked = self._asked, len(game.board.moves)
        if asked != self._asked and game.loses_by_passing:
            ends = bool(game.board.moves) and game.board.last_move == _PASS
            self.screen.say(_OPEN_END if ends else _OPEN_PASS)
            return
        self._move(_PASS)

    def _count_now(self, words: list[str]) -> None:
        """Count the game as it stands, finished or not."""
        self.game.stop()
        self.game.finish()
        self._keep()
        self._end(self.game.board.turn)

    def _resign(self, words: list[str]) -> None:
        """Give up."""
        self._move(_RESIGN)

    def _undo(self, words: list[str]) -> None:
        """Take moves back until it is the person's turn again."""
        self.game.undo(time.monotonic())
        if self.teacher:
            self.teacher.found = None
        self._keep()
        self.screen.draw(self.game.board)

    # ----- Teaching -----

    def _better(self, words: list[str]) -> None:
        """Name a better move than the last one."""
        if not self.teacher or not self.teacher.found:
            raise IllegalMoveError("there is no move to improve; see play --teach")
        self.screen.say(f"{self._name(self.teacher.found.best)} is better.")

    def _go(self, words: list[str]) -> None:
        """Go on although the last move lost points."""
        if self.teacher:
            self.teacher.found = None

    def _problem(self, words: list[str]) -> None:
        """Ask for a better move in a position of an earlier game."""
        if not self.teacher:
            raise IllegalMoveError("problems come with play --teach")
        board, question = self.teacher.ask()
        self.screen.draw(board)
        self.screen.say(question)

    # ----- Advice -----

    def _hint(self, words: list[str]) -> None:
        """Name the moves that the player would think of in your place."""
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

    def _score(self, words: list[str]) -> None:
        """Estimate the score, and draw who seems to own what."""
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

    def _who_judges(self) -> str:
        learned = self.game.judge.is_learned
        return "by the learned scorer" if learned else "by playouts; no scorer model is installed"

    # ----- The end -----

    def _end(self, side: int) -> None:
        """Say how the game ended."""
        if self.game.is_over:
            how = "resigns" if self.game.resigned else "has no time left"
            self.screen.say(f"{_NAMES[side]} {how}. Result: {self.game.result}")
        else:
            self.screen.say(f"The game is over. Dead stones judged {self._who_judges()}.")
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

    def _dead(self, words: list[str]) -> None:
        """Take a block for dead, or for alive again, and count anew."""
        if self.game.is_counting and len(words) != 1:
            raise IllegalMoveError("say dead and a vertex, for example dead C3")
        self.game.toggle(" ".join(words))
        self._keep()
        self._count()

    def _review(self, words: list[str]) -> None:
        """Review the game so far; write a page beside its file."""
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
        for colour in (_BLACK, _WHITE):
            side = found.side(colour)
            self.screen.say(
                f"{_NAMES[colour]}: {side['mean_points_lost']:.2f} points lost per move, "
                f"{side['mistakes']} mistakes"
            )
        for move in (*found.mistakes(3), *found.doubts(3)):
            text = move_words(found, move).splitlines()
            self.screen.say(f"move {move.number}, " + "; ".join(text[:3]))
        if self.path is not None and self.path.exists():
            page = self.path.with_suffix(".review.html")
            write_atomic(page, review_page(found, self.path.name))
            self.screen.say(f"page: {page}")

    # ----- Words -----

    def _save(self, words: list[str]) -> None:
        """Write the game so far as SGF."""
        from tengen.game.saved_games import refuse_other, save

        if not words:
            raise IllegalMoveError("say save and a name, for example save game.sgf")
        path = Path(" ".join(words)).expanduser()
        if path not in self._saved | {self.path}:
            refuse_other(path)
        save(self.game, path)
        self._saved.add(path)
        self.screen.say(f"saved {path}")

    def _board(self, words: list[str]) -> None:
        """Draw the board again."""
        self.screen.draw(self.game.board)

    def _help(self, words: list[str]) -> None:
        """List the words."""
        self.screen.say("D4 and the like: play there (columns leave out I)")
        for name, (_, text) in WORDS.items():
            self.screen.say(f"{name}: {text}")
        self.screen.say("quit: leave")


WORDS: dict[str, tuple[Callable[[_Talk, list[str]], None], str]] = {
    "pass": (_Talk._pass, "pass; two passes end the game and it is counted"),
    "count": (_Talk._count_now, "end the game and count it as it stands"),
    "resign": (_Talk._resign, "give up"),
    "undo": (_Talk._undo, "take back your last move and what followed"),
    "hint": (_Talk._hint, "what the machine would play in your place"),
    "better": (_Talk._better, "with --teach: a better move than your last"),
    "go": (_Talk._go, "with --teach: go on although the move lost points"),
    "problem": (_Talk._problem, "with --teach: a position of an earlier game to solve"),
    "score": (_Talk._score, "estimate the score and who owns what"),
    "dead": (_Talk._dead, "after the game: `dead C3` changes a block's fate and counts anew"),
    "review": (_Talk._review, "what each move lost; `review 500` with more visits"),
    "save": (_Talk._save, "`save FILE` writes the game as SGF"),
    "board": (_Talk._board, "draw the board again"),
    "help": (_Talk._help, "this list"),
}
"""Word -> (what does it, what help says)."""
