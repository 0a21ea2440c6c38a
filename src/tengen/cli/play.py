"""The command `play`: a game against the machine in the terminal."""

from __future__ import annotations

import secrets
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tengen.commands.options import Json, Options, OwnSeed, RulesName, command, flag, option
from tengen.commands.printing import Shown, standard_input
from tengen.errors import TengenError

if TYPE_CHECKING:
    from tengen.game.clock import Clock
    from tengen.game.session import LocalGame

app = typer.Typer()
_PLAYER = "tengen:seconds=2"


@dataclass(frozen=True, kw_only=True)
class _Game(Options):
    player: str | None = option(
        None,
        "Such as mcts:seconds=2 (`tengen players`); by default tengen:seconds=2, or the game's.",
    )
    size: int = option(9, "Rows and columns.", min=2, max=25)
    komi: float | None = option(None, "Komi; by default the usual one of the rules.")
    colour: str = option("black", "Yours: black, white, or none to watch.", "--colour", "--color")
    handicap: int = option(0, "Black's stones on the usual points.", min=0, max=9)
    my_level: int | None = option(None, "Your level; sets a handicap for an even game.")
    rules: RulesName = "cgos"
    clock: str | None = option(None, "Minutes for each side, as 10, or 10+5: 5 s more per move.")
    seed: OwnSeed = None


@command(app)
def play(
    game: _Game,
    out: Path | None = option(None, "Save the game here; never overwrites another game."),
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
    from tengen.cli.terminal import Conversation, Screen

    source = standard_input()
    with ExitStack() as stack:
        if resume:
            session, path = _resumed(out, game.player, stack)
        else:
            session, path = _begun(game, out, stack)
        stack.callback(getattr(session.player, "close", lambda: None))
        teacher = None
        if teach:
            from tengen.cli.coach import Coach
            from tengen.reviews import usual_threshold

            teacher = Coach(threshold or usual_threshold(_level_of(session.spec)))
        screen = Screen(sys.stderr if json else sys.stdout, plain=plain)
        talk = Conversation(session, screen, path, named=out is not None, teacher=teacher)
        talk.run(source)
    Shown(json=json).as_json(session.summary())
    if talk.unsaved:
        raise TengenError(f"{talk.unsaved}; the game is not saved")


def _resumed(
    out: Path | None, player: str | None, stack: ExitStack
) -> tuple[LocalGame, Path | None]:
    """Return a saved game, the last one without a name, and its file, kept from others."""
    from tengen.game.session import LocalGame, default_folder, held, latest, read_saved
    from tengen.players import make_player, reaches_out
    from tengen.players.network_search import SEARCHING_JUDGE

    path = out or latest(default_folder())
    if not path.is_file():
        raise TengenError(f"{path}: there is no such file")
    stack.enter_context(held(path))
    left, kept = read_saved(path)
    if player is None and reaches_out(kept, files=True):
        raise TengenError(f"{path}: against {kept!r}; to start that, repeat it as --player")
    spec = player or kept
    made = make_player(spec)
    game = LocalGame(
        *(left.board, left.human, left.seed, left.clock),
        player=made,
        spec=spec,
        judge=SEARCHING_JUDGE,
    )
    return game, path


def _begun(game: _Game, out: Path | None, stack: ExitStack) -> tuple[LocalGame, Path | None]:
    """Return a new game and the file to keep it in, kept from others."""
    from tengen.game.session import default_folder, held, new_place, refuse_other

    session = _new_game(game if game.my_level is None else _evened(game, game.my_level))
    if out is not None:
        stack.enter_context(held(out))
        refuse_other(out)
    if out is not None or not session.human:
        return session, out
    path = new_place(default_folder(), session.board)
    with suppress(OSError):  # told when there is something to save
        stack.enter_context(held(path))
    return session, path


def _evened(game: _Game, mine: int) -> _Game:
    """Return the game with the handicap and komi that are fair for level `mine`."""
    from tengen.arena.placing import advise

    player = game.player or _PLAYER
    level = _level_of(player)
    if level is None:
        raise TengenError(f"--my-level {mine}: {player} has no level; say --player tengen:level=N")
    if game.handicap or game.komi is not None:
        raise TengenError(f"--my-level {mine} sets handicap and komi; leave --handicap, --komi out")
    given, colour = advise(min(mine, level), max(mine, level), game.size), game.colour
    if mine != level and given.komi is not None:
        colour = "black" if mine < level else "white"  # the weaker side is Black
    return replace(game, colour=colour, handicap=given.stones, komi=given.komi)


def _level_of(player: str) -> int | None:
    """Return the level in a spec such as `tengen:level=3`; None for other specs."""
    from tengen.players import parse_spec

    name, options = parse_spec(player)
    level = options.get("level", "") if name == "tengen" else ""
    return int(level) if level.isdecimal() else None


def _new_game(game: _Game) -> LocalGame:
    from tengen.board import BLACK, HANDICAP_KOMI, WHITE, Board
    from tengen.game.session import LocalGame
    from tengen.players import make_player
    from tengen.players.network_search import SEARCHING_JUDGE

    sides = {"black": BLACK, "b": BLACK, "white": WHITE, "w": WHITE, "none": 0}
    if game.colour.lower() not in sides:
        raise TengenError(f"--colour {game.colour}: choose black, white or none")
    komi = HANDICAP_KOMI if game.komi is None and game.handicap else game.komi
    board = Board(game.size, rules=game.rules, komi=komi)
    if game.handicap:
        board.place_handicap(game.handicap)
    seed = secrets.randbits(31) if game.seed is None else game.seed
    spec, side = game.player or _PLAYER, sides[game.colour.lower()]
    return LocalGame(
        board,
        side,
        seed,
        _clock(game.clock),
        player=make_player(spec),
        spec=spec,
        judge=SEARCHING_JUDGE,
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
        raise TengenError(f"--clock {text}: give minutes, as 10, or 10+5 for 5 s more per move")
    return Clock.fischer(60 * main, increment)
