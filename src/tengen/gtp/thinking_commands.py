"""Answer commands for which the player thinks: moves and analyses."""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from tengen.contracts.protocols import Analyser, Explainer, NarrowablePlayer, Player, TimedPlayer
from tengen.contracts.values import Analysis
from tengen.errors import TengenError
from tengen.gtp.analysis import AnalysisOptions, Dialect, format_report, parse_options
from tengen.gtp.engine import Engine
from tengen.gtp.protocol import Call, GtpFailure
from tengen.gtp.words import RESIGN, need, read_colour

if TYPE_CHECKING:
    from tengen.board import Board

# How often a finished analysis looks whether somebody stops it.
_NAP = 0.02
# Nobody looks at reports meanwhile, so none but the last is made.
_SILENT = AnalysisOptions(interval=1e9)


def genmove(engine: Engine, call: Call) -> str:
    """Choose and play a move."""
    colour = read_colour(need(call.args, 1)[0])
    return _genmove(engine, call, colour, engine.game.view(colour))


def reg_genmove(engine: Engine, call: Call) -> str:
    """Choose a move without playing it."""
    colour = read_colour(need(call.args, 1)[0])
    board = engine.game.view(colour)
    return engine.vertex(engine.player.choose(board, engine.game.generator()))


def genmove_cleanup(engine: Engine, call: Call) -> str:
    """Choose and play a move as if every stone left on the board counted as alive.

    That is area scoring, under which sensible players capture what is dead before they pass.
    """
    colour = read_colour(need(call.args, 1)[0])
    board = engine.game.view(colour)
    board.rules = board.rules.with_(scoring="area")
    return _genmove(engine, call, colour, board)


def lz_analyze(engine: Engine, call: Call) -> str:
    """Analyse until there is input, in Leela Zero's words."""
    return _analyze(engine, call, "lz")


def kata_analyze(engine: Engine, call: Call) -> str:
    """Analyse until there is input, in KataGo's words."""
    return _analyze(engine, call, "kata")


def lz_genmove_analyze(engine: Engine, call: Call) -> str:
    """Choose and play a move, reporting meanwhile in Leela Zero's words."""
    return _genmove_analyze(engine, call, "lz")


def kata_genmove_analyze(engine: Engine, call: Call) -> str:
    """Choose and play a move, reporting meanwhile in KataGo's words."""
    return _genmove_analyze(engine, call, "kata")


def cgos_genmove_analyze(engine: Engine, call: Call) -> str:
    """Choose and play a move, with one report in JSON."""
    return _genmove_analyze(engine, call, "cgos")


def _genmove(engine: Engine, call: Call, colour: int, board: Board) -> str:
    """Let the player choose under the clock, play its move, and keep its reasons."""
    player = _in_time(engine, colour, engine.player)
    start = time.monotonic()
    # A player that can analyse is asked that way, since only so GoGui can interrupt it.
    stop = _breaking_off(call)
    reports = deque(_reports(player, board, engine, _SILENT, limited=True, stop=stop), maxlen=1)
    engine.game.clock.spend(colour, time.monotonic() - start)
    return _finish(engine, colour, player, board, reports[0] if reports else None)


def _breaking_off(call: Call) -> Callable[[], bool]:
    """Heed GoGui from the second look on: a search that was never begun would only pass."""
    looks = itertools.count()
    return lambda: next(looks) > 0 and call.interrupted()


def _in_time(engine: Engine, colour: int, player: Player) -> Player:
    """Tell a player how long it may think, if somebody counts and it can."""
    game = engine.game
    budget = game.clock.budget(colour, game.board.rows * game.board.cols, len(game.board.moves))
    if budget is not None and isinstance(player, TimedPlayer):
        return player.within(budget)
    return player


def _finish(
    engine: Engine, colour: int, player: Player, board: Board, report: Analysis | None
) -> str:
    """Play the chosen move on the engine's board, name it, and keep the reasons for it."""
    if report is None:
        raise RuntimeError(f"player {engine.spec} gave no move")
    move = report.choice
    if isinstance(player, Explainer):
        engine.explanation = player.explain(board, move)
    else:
        engine.explanation = _explain(engine, report)
    if move != RESIGN:
        try:
            engine.game.play(colour, board.answer(move))
        except TengenError as failure:
            raise RuntimeError(f"player {engine.spec} chose an illegal move: {failure}") from None
    return engine.vertex(move)


def _explain(engine: Engine, report: Analysis) -> str:
    """Say in words what a report says of its choice."""
    for candidate in report.candidates:
        if candidate.move == report.choice and candidate.visits > 1:
            line = " ".join(engine.vertex(move) for move in candidate.pv)
            return (
                f"{engine.vertex(report.choice)}: {candidate.visits} of {report.visits} visits, "
                f"win rate {candidate.winrate:.3f}, score {candidate.score:+.1f}, expecting {line}"
            )
    return ""


def _analyze(engine: Engine, call: Call, dialect: Dialect) -> str:
    """Report until there is input; the answer is closed only then."""
    options = parse_options(call.args)
    colour = options.colour or engine.game.board.turn
    board = engine.game.view(colour)
    player = _narrowed(engine.player, board, colour, options)
    call.open()

    def stop() -> bool:
        return call.waiting() or call.interrupted()

    if not stop():
        for report in _reports(player, board, engine, options, limited=False, stop=stop):
            _show(engine, call, report, dialect, options, colour)
            if stop():
                break
    while not stop():
        time.sleep(_NAP)
    return ""


def _genmove_analyze(engine: Engine, call: Call, dialect: Dialect) -> str:
    """Report while choosing, then play and name the move in a last line."""
    options = parse_options(call.args)
    colour = options.colour or engine.game.board.turn
    board = engine.game.view(colour)
    player = _narrowed(_in_time(engine, colour, engine.player), board, colour, options)
    start = time.monotonic()
    report = None
    call.open()
    for report in _reports(player, board, engine, options, limited=True, stop=_breaking_off(call)):
        if dialect != "cgos":
            _show(engine, call, report, dialect, options, colour)
    engine.game.clock.spend(colour, time.monotonic() - start)
    if dialect == "cgos" and report is not None:
        _show(engine, call, report, dialect, options, colour)
    return f"play {_finish(engine, colour, player, board, report)}"


def _narrowed(player: Player, board: Board, colour: int, options: AnalysisOptions) -> Player:
    """Return the player that looks only at the moves a program allows."""

    def named(rules: Sequence[tuple[int, Sequence[str]]]) -> list[set[int]]:
        return [{board.point(v) for v in vertices} for side, vertices in rules if side == colour]

    allow, avoid = named(options.allow), named(options.avoid)
    if not allow and not avoid:
        return player
    if not isinstance(player, NarrowablePlayer):
        raise GtpFailure("allow and avoid are not supported by this player")
    moves = set(board.legal_moves)
    if allow:
        moves &= set().union(*allow)
    moves -= set().union(*avoid)
    if not moves:
        raise GtpFailure("no legal move is left to look at")
    return player.only(moves)


def _reports(
    player: Player,
    board: Board,
    engine: Engine,
    options: AnalysisOptions,
    *,
    limited: bool,
    stop: Callable[[], bool],
) -> Iterator[Analysis]:
    """Ask a player that can analyse, or make one report of another's choice."""
    rng = engine.game.generator()
    if isinstance(player, Analyser):
        return player.analyse(board, rng, interval=options.interval, limited=limited, stop=stop)
    return iter([Analysis.of_choice(board.answer(player.choose(board.copy(), rng)))])


def _show(
    engine: Engine,
    call: Call,
    report: Analysis,
    dialect: Dialect,
    options: AnalysisOptions,
    colour: int,
) -> None:
    """Send one report."""
    line = format_report(report, engine.vertex, dialect, options, colour)
    if line:
        call.stream(line)
