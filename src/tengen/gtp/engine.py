"""A GTP engine: a game, a player and a table of commands; and the commands that let it think.

The player is stateless: it gets a copy of the board and a random generator made from the seed and
the number of moves, so that a game can be repeated from its seed. The board and the player are made
when first needed, so that `name` is answered at once.
"""

from __future__ import annotations

import itertools
import json
import math
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, BinaryIO, Literal, TypeAlias

from tengen.arrays import FloatArray
from tengen.contracts import (
    Analyser,
    Candidate,
    Explainer,
    NarrowablePlayer,
    Player,
    Report,
    TimedPlayer,
    plays_on,
)
from tengen.errors import TengenError
from tengen.gtp.protocol import (
    COLOURS,
    PASS,
    RESIGN,
    Call,
    Command,
    GtpFailure,
    need,
    read_colour,
    serve,
)

if TYPE_CHECKING:
    from tengen.board import Board, Point
    from tengen.game.judging import Judge
    from tengen.game.session import Session

_DEFAULT_SIZE = 19
Handler: TypeAlias = "Callable[[GtpEngine, Call], str | None]"
COMMANDS: dict[str, Handler] = {}
"""The commands by name; `command` adds them."""


def command(*names: str) -> Callable[[Handler], Handler]:
    """Register a function as a command; names with a dash are some program's extensions."""

    def register(function: Handler) -> Handler:
        COMMANDS.update(dict.fromkeys(names, function))
        return function

    return register


class GtpEngine:
    """The state of a GTP session; controllers may change rules and seed.

    `make_player` is called when the first command needs a player. With `safe`, for controllers that
    are not trusted, no file is touched.
    """

    def __init__(
        self,
        make_player: Callable[[str], Player],
        spec: str,
        *,
        rules: str = "cgos",
        seed: int = 0,
        safe: bool = False,
    ) -> None:
        self.make_player, self.spec = make_player, spec
        self.rules, self.seed, self.safe = rules, seed, safe
        self.explanation = ""
        self.komi_was_set = False
        self._player: Player | None = None

    @cached_property
    def game(self) -> Session:
        """The game, with its board and clock."""
        from tengen.board import Board
        from tengen.game.session import Session

        return Session(Board(_DEFAULT_SIZE, rules=self.rules), seed=self.seed)

    @cached_property
    def judge(self) -> Judge:
        """The judge of dead stones: the learned scorer, or playouts."""
        from tengen.game.judging import Judge

        return Judge()

    @property
    def player(self) -> Player:
        """The player who chooses moves."""
        if self._player is None:
            self._player = self.make_player(self.spec)
        return self._player

    def change_player(self, spec: str) -> None:
        """Replace the player."""
        player = self.make_player(spec)
        self.close()
        self.spec, self._player = spec, player

    def change_seed(self, seed: int) -> None:
        """Set the seed from which every random choice follows."""
        self.seed = self.game.seed = seed

    def check_size(self, rows: int, cols: int) -> None:
        """Refuse sizes that the player does not support."""
        if not plays_on(self.player, rows, cols):
            raise GtpFailure("unacceptable size")

    def view(self, colour: int = 0) -> Board:
        """Return a copy of the board on which it is `colour`'s turn, or who moves next."""
        board = self.game.board.copy()
        if colour and board.turn != colour:
            board.turn = colour
        return board

    def point(self, word: str) -> Point:
        """Read a vertex or pass."""
        from tengen.board import parse_gtp

        with suppress(TengenError):
            point = parse_gtp(word, self.game.board.rows, self.game.board.cols)
            if point >= PASS:
                return point
        raise GtpFailure("invalid coordinate")

    def vertex(self, point: int) -> str:
        """Write a move."""
        from tengen.board import format_gtp

        return format_gtp(point, self.game.board.rows, self.game.board.cols)

    def pairs(self, words: tuple[str, ...]) -> list[tuple[int, Point]]:
        """Read `colour vertex` pairs."""
        if len(words) % 2:
            raise GtpFailure("syntax error: a colour without a vertex")
        pairs = zip(words[::2], words[1::2], strict=True)
        return [(read_colour(colour), self.point(vertex)) for colour, vertex in pairs]

    def commands(self) -> dict[str, Command]:
        """Return the table of commands, bound to this engine."""
        import tengen.gtp.commands  # noqa: F401 (registers them)

        return {name: partial(function, self) for name, function in COMMANDS.items()}

    def prepare(self) -> None:
        """Do the slow work now: import the board, make the player."""
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
        """Release what the player holds."""
        close = getattr(self._player, "close", None)
        if close is not None:
            close()
        self._player = None


# ----- Options of an analysis -----

Dialect = Literal["lz", "kata", "cgos"]
_Vertex = Callable[[int], str]
"""Writes a move as a GTP vertex."""

# Seconds between reports by default, and bounds for what a program asks for.
_DEFAULT_INTERVAL, _SHORTEST_INTERVAL, _LONGEST_INTERVAL = 1.0, 0.05, 1e6
# Seconds between looks at the input after an analysis has finished.
_NAP = 0.02


@dataclass(frozen=True)
class AnalysisOptions:
    """The options of an analysis command."""

    colour: int | None = None
    interval: float = _DEFAULT_INTERVAL
    ownership: bool = False
    ownership_spread: bool = False
    moves_ownership: bool = False
    pv_visits: bool = False
    root_info: bool = False
    max_moves: int = 1 << 20
    min_moves: int = 0
    allow: tuple[tuple[int, tuple[str, ...]], ...] = ()
    avoid: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """Colour and vertices; the depth is ignored."""


# ----- Options -----


def parse_options(args: Sequence[str]) -> AnalysisOptions:
    """Read `[colour] [interval] (key value)*` in any order."""
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
    """Read colour, comma-separated vertices and depth of allow or avoid."""
    colour, vertices, depth = args
    if colour is None or vertices is None or depth is None:
        raise GtpFailure(f"{word} needs a colour, vertices and a depth")
    if not depth.isascii() or not depth.isdigit() or int(depth) < 1:
        raise GtpFailure(f"{depth} is no depth")
    return read_colour(colour), tuple(v for v in vertices.split(",") if v)


def _is_number(word: str) -> bool:
    return word.isascii() and word.replace(".", "", 1).isdigit()


def _interval(word: str) -> float:
    """Turn centiseconds into seconds within bounds."""
    if not _is_number(word):
        raise GtpFailure(f"interval {word} is no number of centiseconds")
    return min(max(float(word) / 100, _SHORTEST_INTERVAL), _LONGEST_INTERVAL)


def _boolean(word: str) -> bool:
    if word not in ("true", "false"):
        raise GtpFailure(f"{word} is neither true nor false")
    return word == "true"


def _count(word: str) -> int:
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

# ----- Reports -----


def format_report(
    report: Report, vertex: _Vertex, dialect: Dialect, options: AnalysisOptions, turn: int
) -> str:
    """Write one report as one line, in the view of the side to move (ownership for CGOS: Black)."""
    if dialect == "cgos":
        return _format_cgos(report.seen_by(turn), vertex, report.ownership)
    report = report.seen_by(turn)
    parts = []
    for order, c in enumerate(report.candidates[: max(options.max_moves, options.min_moves)]):
        parts.append(_format_info(c, order, vertex, dialect))
        if dialect == "kata" and options.pv_visits and c.pv_visits:
            parts.append("pvVisits " + " ".join(map(str, c.pv_visits)))
        if dialect == "kata" and options.moves_ownership and c.owners is not None:
            parts.append("movesOwnership " + _points(c.owners[0]))
    if dialect != "kata":
        return " ".join(parts)
    if options.root_info:
        parts.append(
            f"rootInfo visits {report.visits} winrate {report.winrate:.6g} "
            f"scoreLead {report.score:.6g}{_spread(report.spread)}"
        )
        if not math.isnan(report.raw_winrate):
            parts.append(f"rawWinrate {report.raw_winrate:.6g} rawLead {report.raw_score:.6g}")
    if options.ownership and report.ownership is not None:
        parts.append("ownership " + _points(report.ownership))
    if options.ownership_spread and report.ownership_spread is not None:
        parts.append("ownershipStdev " + _points(report.ownership_spread))
    return " ".join(parts)


def _points(values: FloatArray) -> str:
    return " ".join(f"{x:.3f}" for x in values.ravel())


def _spread(value: float) -> str:
    return "" if math.isnan(value) else f" scoreStdev {value:.6g}"


def _line(c: Candidate, vertex: _Vertex) -> str:
    return " ".join(vertex(move) for move in c.pv or (c.move,))


def _format_info(c: Candidate, order: int, vertex: _Vertex, dialect: Dialect) -> str:
    head, pv = f"info move {vertex(c.move)} visits {c.visits}", _line(c, vertex)
    if dialect == "lz":
        winrate, prior = round(c.winrate * 10000), round(c.prior * 10000)
        return f"{head} winrate {winrate} prior {prior} order {order} pv {pv}"
    return (
        f"{head} winrate {c.winrate:.6g} scoreMean {c.score:.6g} scoreLead {c.score:.6g}"
        f"{_spread(c.spread)} prior {c.prior:.6g} order {order} pv {pv}"
    )


def _format_cgos(report: Report, vertex: _Vertex, ownership: FloatArray | None) -> str:
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
                "pv": _line(c, vertex),
            }
            for c in report.candidates[:20]
        ],
    }
    if ownership is not None:
        value["ownership"] = _pack_ownership(ownership.ravel().tolist())
    return json.dumps(value)


def _pack_ownership(values: Sequence[float]) -> str:
    """Pack -1 to +1 into CGOS's 63 characters, one per point from the top left."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return "".join(letters[round((min(max(v, -1.0), 1.0) + 1) / 2 * 62)] for v in values)


# ----- Commands -----


@command("genmove", "kgs-genmove_cleanup")
def _genmove(engine: GtpEngine, call: Call) -> str:
    """Choose and play a move; in KGS's cleanup every stone left on the board counts as alive.

    That is area scoring, under which sensible players capture dead stones before they pass.
    """
    colour = read_colour(need(call.args, 1)[0])
    board, player = engine.view(colour), _in_time(engine, colour)
    if call.request.name != "genmove":
        board.rules = board.rules.with_(scoring="area")
    start = time.monotonic()
    report = _last(engine, _reports(player, board, engine, call))
    engine.game.clock.spend(colour, time.monotonic() - start)
    return _finish(engine, colour, player, board, report)


@command("reg_genmove")
def _reg_genmove(engine: GtpEngine, call: Call) -> str:
    """Choose a move without playing it."""
    colour = read_colour(need(call.args, 1)[0])
    reports = _reports(engine.player, engine.view(colour), engine, call)
    return engine.vertex(_last(engine, reports).choice)


def _analyze(engine: GtpEngine, call: Call, dialect: Dialect) -> str:
    """Report until there is input; the answer is closed only then."""
    options = parse_options(call.args)
    colour = options.colour or engine.game.board.turn
    board = engine.view(colour)
    player = _narrowed(engine.player, board, colour, options)
    call.open()

    def stop() -> bool:
        return call.waiting() or call.interrupted()

    if not stop():
        for report in _reports(player, board, engine, call, options.interval, stop):
            _show(engine, call, report, dialect, options, colour)
            if stop():
                break
    while not stop():
        time.sleep(_NAP)
    return ""


def _genmove_analyze(engine: GtpEngine, call: Call, dialect: Dialect) -> str:
    """Report while choosing, then play and name the move in a last line."""
    options = parse_options(call.args)
    colour = options.colour or engine.game.board.turn
    board = engine.view(colour)
    player = _narrowed(_in_time(engine, colour), board, colour, options)
    start = time.monotonic()
    call.open()

    def shown() -> Iterator[Report]:
        for report in _reports(player, board, engine, call, options.interval):
            if dialect != "cgos":
                _show(engine, call, report, dialect, options, colour)
            yield report

    report = _last(engine, shown())
    engine.game.clock.spend(colour, time.monotonic() - start)
    if dialect == "cgos":
        _show(engine, call, report, dialect, options, colour)
    return f"play {_finish(engine, colour, player, board, report)}"


_DIALECTS: dict[str, Dialect] = {"": "lz", "lz-": "lz", "kata-": "kata"}
for _prefix, _dialect in _DIALECTS.items():
    COMMANDS[f"{_prefix}analyze"] = partial(_analyze, dialect=_dialect)
    COMMANDS[f"{_prefix}genmove_analyze"] = partial(_genmove_analyze, dialect=_dialect)
COMMANDS["cgos-genmove_analyze"] = partial(_genmove_analyze, dialect="cgos")


def _in_time(engine: GtpEngine, colour: int) -> Player:
    """Return the player, limited to its time for this move if the clock and the player can."""
    board = engine.game.board
    budget = engine.game.clock.budget(colour, board.rows * board.cols, len(board.moves))
    if budget is not None and isinstance(engine.player, TimedPlayer):
        return engine.player.within(budget)
    return engine.player


def _narrowed(player: Player, board: Board, colour: int, options: AnalysisOptions) -> Player:
    """Return a player that considers only the moves that a program allows."""

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
        raise GtpFailure("no legal move is left to consider")
    return player.only(moves)


def _reports(
    player: Player,
    board: Board,
    engine: GtpEngine,
    call: Call,
    interval: float = 1e9,
    stop: Callable[[], bool] | None = None,
) -> Iterator[Report]:
    """Yield reports until `stop`, or by default until the move is chosen."""
    rng = engine.game.generator()
    if not isinstance(player, Analyser):
        return iter([Report.of_choice(board.answer(player.choose(board.copy(), rng)))])
    limited = stop is None
    if stop is None:
        # Interrupts count from the second look on: a search that never began would only pass.
        looks = itertools.count()
        stop = lambda: next(looks) > 0 and call.interrupted()  # noqa: E731
    return player.analyse(board, rng, interval=interval, limited=limited, stop=stop)


def _last(engine: GtpEngine, reports: Iterator[Report]) -> Report:
    found = deque(reports, maxlen=1)
    if not found:
        raise RuntimeError(f"player {engine.spec} gave no move")
    return found[0]


def _show(
    engine: GtpEngine,
    call: Call,
    report: Report,
    dialect: Dialect,
    options: AnalysisOptions,
    colour: int,
) -> None:
    if line := format_report(report, engine.vertex, dialect, options, colour):
        call.stream(line)


def _finish(engine: GtpEngine, colour: int, player: Player, board: Board, report: Report) -> str:
    """Play the chosen move on the engine's board, name it, and keep its explanation."""
    move = report.choice
    if isinstance(player, Explainer):
        engine.explanation = player.explain(board, move)
    else:
        engine.explanation = _explain(engine, report.seen_by(colour))
    if move != RESIGN:
        try:
            engine.game.board.play(board.answer(move), colour)
        except TengenError as failure:
            raise RuntimeError(f"player {engine.spec} chose an illegal move: {failure}") from None
    return engine.vertex(move)


def _explain(engine: GtpEngine, report: Report) -> str:
    for c in report.candidates:
        if c.move == report.choice and c.visits > 1:
            return (
                f"{engine.vertex(c.move)}: {c.visits} of {report.visits} visits, "
                f"win rate {c.winrate:.3f}, score {c.score:+.1f}, "
                f"expecting {_line(c, engine.vertex)}"
            )
    return ""
