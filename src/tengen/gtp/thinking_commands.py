"""Answer commands for which the player thinks: moves, and analyses in three dialects."""

from __future__ import annotations

import itertools
import json
import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tengen.arrays import FloatArray
from tengen.contracts.protocols import Analyser, Explainer, NarrowablePlayer, Player, TimedPlayer
from tengen.contracts.values import Analysis, Candidate
from tengen.errors import TengenError
from tengen.gtp.arguments import COLOURS, RESIGN, need, read_colour
from tengen.gtp.engine import Engine
from tengen.gtp.protocol import Call, GtpFailure

if TYPE_CHECKING:
    from tengen.board import Board

Dialect = Literal["lz", "kata", "cgos"]
_Vertex = Callable[[int], str]
"""Writes a move as a GTP vertex."""

_BOOLEANS = {"true": True, "false": False}
# Seconds between reports when a program names none, and bounds for what it names.
_DEFAULT_INTERVAL, _SHORTEST_INTERVAL, _LONGEST_INTERVAL = 1.0, 0.05, 1e6


@dataclass(frozen=True)
class Wishes:
    """What a report is to tell besides the moves, if the player knows it."""

    ownership: bool = False
    ownership_spread: bool = False
    moves_ownership: bool = False
    pv_visits: bool = False


@dataclass(frozen=True)
class AnalysisOptions(Wishes):
    """What a program asked of an analysis."""

    colour: int | None = None
    interval: float = _DEFAULT_INTERVAL
    root_info: bool = False
    max_moves: int = 1 << 20
    min_moves: int = 0
    allow: tuple[tuple[int, tuple[str, ...]], ...] = ()
    avoid: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """Vertices to look at only, or not at all, by side; as written, how deep does not matter."""


def parse_options(args: Sequence[str]) -> AnalysisOptions:
    """Read `[colour] [interval] (key value)*` in any mix.

    Raises
    ------
    GtpFailure
        For keys that are unknown (programs probe for what is supported) and wrong values.
    """
    found: dict[str, object] = {}
    words = iter(args)
    for word in words:
        key = word.lower()
        if key in COLOURS:
            found["colour"] = COLOURS[key]
        elif _is_number(key):
            found["interval"] = _interval(key)
        elif key in ("allow", "avoid"):
            rule = _restriction(word, [next(words, None) for _ in range(3)])
            found[key] = (*found.get(key, ()), rule)  # type: ignore[misc]
        elif key in _KEYS:
            name, read = _KEYS[key]
            value = next(words, None)
            if value is None:
                raise GtpFailure(f"{word} needs a value")
            found[name] = read(value.lower())
        else:
            raise GtpFailure(f"unknown key {word}")
    return AnalysisOptions(**found)  # type: ignore[arg-type]


def _restriction(word: str, args: Sequence[str | None]) -> tuple[int, tuple[str, ...]]:
    """Read the colour, the vertices with commas between, and the depth of allow or avoid."""
    colour, vertices, depth = args
    if colour is None or vertices is None or depth is None:
        raise GtpFailure(f"{word} needs a colour, vertices and a depth")
    if colour.lower() not in COLOURS:
        raise GtpFailure(f"{colour} is no colour")
    if not depth.isascii() or not depth.isdigit() or int(depth) < 1:
        raise GtpFailure(f"{depth} is no depth")
    return COLOURS[colour.lower()], tuple(v for v in vertices.split(",") if v)


def format_report(
    report: Analysis, vertex: _Vertex, dialect: Dialect, options: AnalysisOptions, turn: int
) -> str:
    """Write one report as one line."""
    if dialect == "cgos":
        return _format_cgos(report, vertex)
    shown = report.candidates[: max(options.max_moves, options.min_moves)]
    sign = 1.0 if turn == 1 else -1.0
    parts = []
    for order, candidate in enumerate(shown):
        parts.append(_format_info(candidate, order, vertex, dialect))
        if dialect == "kata" and options.pv_visits and candidate.pv_visits:
            parts.append("pvVisits " + " ".join(map(str, candidate.pv_visits)))
        if dialect == "kata" and options.moves_ownership and candidate.owners is not None:
            parts.append("movesOwnership " + _points(sign * candidate.owners[0]))
    if dialect != "kata":
        return " ".join(parts)
    if options.root_info:
        parts.append(
            f"rootInfo visits {report.visits} winrate {report.winrate:.6g} "
            f"scoreLead {report.score:.6g}{_spread(report.spread)}{_raw(report)}"
        )
    if options.ownership and report.ownership is not None:
        parts.append("ownership " + _points(sign * report.ownership))
    if options.ownership_spread and report.ownership_spread is not None:
        parts.append("ownershipStdev " + _points(report.ownership_spread))
    return " ".join(parts)


def _points(values: FloatArray) -> str:
    return " ".join(f"{x:.3f}" for x in values.ravel())


def _spread(value: float) -> str:
    """Write the standard deviation of a score, where it is known."""
    return "" if math.isnan(value) else f" scoreStdev {value:.6g}"


def _raw(report: Analysis) -> str:
    """Write what a network says without search, where there is one."""
    if math.isnan(report.raw_winrate):
        return ""
    return f" rawWinrate {report.raw_winrate:.6g} rawLead {report.raw_score:.6g}"


def _format_info(candidate: Candidate, order: int, vertex: _Vertex, dialect: Dialect) -> str:
    """Write one candidate."""
    pv = " ".join(vertex(move) for move in candidate.pv or (candidate.move,))
    head = f"info move {vertex(candidate.move)} visits {candidate.visits}"
    if dialect == "lz":
        return (
            f"{head} winrate {round(candidate.winrate * 10000)} prior "
            f"{round(candidate.prior * 10000)} order {order} pv {pv}"
        )
    return (
        f"{head} winrate {candidate.winrate:.6g} scoreMean {candidate.score:.6g} "
        f"scoreLead {candidate.score:.6g}{_spread(candidate.spread)} "
        f"prior {candidate.prior:.6g} order {order} pv {pv}"
    )


def _format_cgos(report: Analysis, vertex: _Vertex) -> str:
    """Write the JSON line that CGOS shows to watchers."""
    value: dict[str, object] = {
        "winrate": round(report.winrate, 4),
        "score": round(report.score, 2),
        "visits": report.visits,
        "moves": [
            {
                "move": vertex(c.move),
                "winrate": round(c.winrate, 4),
                "score": round(c.score, 2),
                "prior": round(c.prior, 4),
                "visits": c.visits,
                "pv": " ".join(vertex(move) for move in c.pv or (c.move,)),
            }
            for c in report.candidates[:20]
        ],
    }
    if report.ownership is not None:
        value["ownership"] = _pack_ownership(report.ownership.ravel().tolist())
    return json.dumps(value)


def _pack_ownership(values: Sequence[float]) -> str:
    """Pack -1 to +1 into CGOS's 63 characters, one per point from the top left."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return "".join(letters[round((min(max(v, -1.0), 1.0) + 1) / 2 * 62)] for v in values)


def _is_number(word: str) -> bool:
    """Tell whether a word is a plain non-negative number."""
    return word.isascii() and word.replace(".", "", 1).isdigit()


def _interval(word: str) -> float:
    """Turn centiseconds into seconds within bounds."""
    if not _is_number(word):
        raise GtpFailure(f"interval {word} is no number of centiseconds")
    return min(max(float(word) / 100, _SHORTEST_INTERVAL), _LONGEST_INTERVAL)


def _boolean(word: str) -> bool:
    """Read true or false."""
    if word not in _BOOLEANS:
        raise GtpFailure(f"{word} is neither true nor false")
    return _BOOLEANS[word]


def _count(word: str) -> int:
    """Read a number of moves."""
    if not (word.isascii() and word.isdigit() and len(word) < 9):
        raise GtpFailure(f"{word} is no number of moves")
    return int(word)


_KEYS: dict[str, tuple[str, Callable[[str], object]]] = {
    "interval": ("interval", _interval),
    "ownership": ("ownership", _boolean),
    "ownershipstdev": ("ownership_spread", _boolean),
    "movesownership": ("moves_ownership", _boolean),
    "pvvisits": ("pv_visits", _boolean),
    "rootinfo": ("root_info", _boolean),
    "maxmoves": ("max_moves", _count),
    "minmoves": ("min_moves", _count),
}


# ----- Commands -----

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
    return engine.vertex(_chosen(engine, call, engine.player, engine.game.view(colour)).choice)


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
    report = _chosen(engine, call, player, board)
    engine.game.clock.spend(colour, time.monotonic() - start)
    return _finish(engine, colour, player, board, report)


def _chosen(engine: Engine, call: Call, player: Player, board: Board) -> Analysis:
    """Return the last report of a player that is to move."""
    # A player that can analyse is asked that way, since only so it can be interrupted.
    stop = _breaking_off(call)
    reports = deque(_reports(player, board, engine, _SILENT, limited=True, stop=stop), maxlen=1)
    if not reports:
        raise RuntimeError(f"player {engine.spec} gave no move")
    return reports[0]


def _breaking_off(call: Call) -> Callable[[], bool]:
    """Heed interrupts from the second look on: a search that never began would only pass."""
    looks = itertools.count()
    return lambda: next(looks) > 0 and call.interrupted()


def _in_time(engine: Engine, colour: int, player: Player) -> Player:
    """Tell a player how long it may think, if somebody counts and it can."""
    game = engine.game
    budget = game.clock.budget(colour, game.board.rows * game.board.cols, len(game.board.moves))
    if budget is not None and isinstance(player, TimedPlayer):
        return player.within(budget)
    return player


def _finish(engine: Engine, colour: int, player: Player, board: Board, report: Analysis) -> str:
    """Play the chosen move on the engine's board, name it, and keep the reasons for it."""
    move = report.choice
    if isinstance(player, Explainer):
        engine.explanation = player.explain(board, move)
    else:
        engine.explanation = _explain(engine, report)
    if move != RESIGN:
        try:
            engine.game.board.play(board.answer(move), colour)
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
    if report is None:
        raise RuntimeError(f"player {engine.spec} gave no move")
    if dialect == "cgos":
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
