"""A GTP engine: a game, a player and a table of commands; and the commands that choose moves.

The player is stateless: it gets a copy of the board and a generator made from the seed and the
number of moves. Board and player are made when first needed, so that `name` is answered at once.
"""

from __future__ import annotations

import itertools
import json
import math
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from tengen import contracts
from tengen.arrays import FloatArray
from tengen.contracts import Analyser, Candidate, Player, SearchInfo
from tengen.errors import TengenError
from tengen.gtp import protocol
from tengen.gtp.protocol import Call, GtpFailure, need, read_colour, read_integer

if TYPE_CHECKING:
    from tengen.board import Board, Point
    from tengen.game.session import Session
    from tengen.scoring.judging import Judge

Handler: TypeAlias = "Callable[[GtpEngine, Call], str | None]"
COMMANDS: dict[str, Handler] = {}
"""The commands by name; `command` adds those of this module, `gtp.commands` the others."""


def command(*names: str) -> Callable[[Handler], Handler]:
    """Register a function as a command; names with a dash are some program's extensions."""

    def register(function: Handler) -> Handler:
        COMMANDS.update(dict.fromkeys(names, function))
        return function

    return register


class GtpEngine:
    """The state of a GTP session; with `safe`, for untrusted controllers, no file is touched."""

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

        return Session(Board(19, rules=self.rules), seed=self.seed)

    @cached_property
    def judge(self) -> Judge:
        """The judge of dead stones: the learned scorer, or playouts."""
        from tengen.scoring.judging import Judge

        return Judge()

    @property
    def player(self) -> Player:
        """The player that chooses moves."""
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
        if not contracts.plays_on(self.player, rows, cols):
            raise GtpFailure("unacceptable size")

    def view(self, colour: int = 0) -> Board:
        """Return a copy of the board with `colour` to move; 0 keeps the turn."""
        board = self.game.board.copy()
        if colour and board.turn != colour:
            board.turn = colour
        return board

    def point(self, word: str) -> Point:
        """Read a vertex or pass."""
        from tengen.board import parse_gtp

        with suppress(TengenError):
            point = parse_gtp(word, self.game.board.rows, self.game.board.cols)
            if point >= protocol.PASS:
                return point
        raise GtpFailure("invalid coordinate")

    def vertex(self, point: int) -> str:
        """Write a move."""
        from tengen.board import format_gtp

        return format_gtp(point, self.game.board.rows, self.game.board.cols)

    def vertices(self, points: Iterable[int]) -> str:
        """Write several moves in one line."""
        return " ".join(map(self.vertex, points))

    def status(self) -> contracts.Verdict:
        """Judge which stones of the board are alive and dead."""
        return self.judge.status(self.game.board)

    def pairs(self, words: tuple[str, ...]) -> list[tuple[int, Point]]:
        """Read `colour vertex` pairs."""
        if len(words) % 2:
            raise GtpFailure("syntax error: a colour without a vertex")
        pairs = zip(words[::2], words[1::2], strict=True)
        return [(read_colour(colour), self.point(vertex)) for colour, vertex in pairs]

    def prepare(self) -> None:
        """Do the slow work now: import the board, make the player."""
        try:
            _ = self.game, self.player
        except TengenError as failure:
            print(f"tengen: {failure}", file=sys.stderr, flush=True)

    def run(
        self, commands: Mapping[str, protocol.Command], source: BinaryIO, target: BinaryIO
    ) -> None:
        """Serve one session over two streams, with `gtp.commands.commands_of` this engine."""
        try:
            protocol.serve(commands, source, target, when_idle=self.prepare)
        finally:
            self.close()

    def close(self) -> None:
        """Release what the player holds."""
        getattr(self._player, "close", lambda: None)()
        self._player = None


# ----- Options of an analysis -----

_Vertex = Callable[[int], str]  # writes a move
_SHORTEST_INTERVAL, _LONGEST_INTERVAL = 0.05, 1e6  # seconds between lines
_NAP = 0.02  # seconds between checks of the input after an analysis has finished


@dataclass(frozen=True)
class AnalysisOptions:
    """The options of an analysis command; the depth of `allow` and `avoid` is ignored."""

    colour: int | None = None
    interval: float = 1.0
    ownership: bool = False
    ownership_spread: bool = False
    moves_ownership: bool = False
    pv_visits: bool = False
    root_info: bool = False
    max_moves: int = 1 << 20
    min_moves: int = 0
    allow: tuple[tuple[int, tuple[str, ...]], ...] = ()
    avoid: tuple[tuple[int, tuple[str, ...]], ...] = ()


def parse_options(args: Sequence[str]) -> AnalysisOptions:
    """Read `[colour] [interval] (key value)*` in any order."""
    found: dict[str, Any] = {}
    words = iter(args)
    for word in words:
        key = word.lower()
        if key in protocol.COLOURS:
            found["colour"] = protocol.COLOURS[key]
        elif _is_number(key):
            found["interval"] = _interval(key)
        elif key in ("allow", "avoid"):
            rule = _restriction(word, *(next(words, "") for _ in range(3)))
            found[key] = (*found.get(key, ()), rule)
        elif key in _KEYS:
            name, read = _KEYS[key]
            if (value := next(words, None)) is None:
                raise GtpFailure(f"{word} needs a value")
            found[name] = read(value.lower())
        else:
            raise GtpFailure(f"unknown key {word}")
    return AnalysisOptions(**found)


def _restriction(word: str, colour: str, vertices: str, depth: str) -> tuple[int, tuple[str, ...]]:
    """Read colour, comma-separated vertices and depth of allow or avoid."""
    if not depth:
        raise GtpFailure(f"{word} needs a colour, vertices and a depth")
    read_integer(depth, least=1)
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


_KEYS: dict[str, tuple[str, Callable[[str], object]]] = {
    "interval": ("interval", _interval),
    "ownership": ("ownership", _boolean),
    "ownershipstdev": ("ownership_spread", _boolean),
    "movesownership": ("moves_ownership", _boolean),
    "pvvisits": ("pv_visits", _boolean),
    "rootinfo": ("root_info", _boolean),
    "maxmoves": ("max_moves", read_integer),
    "minmoves": ("min_moves", read_integer),
}

# ----- Reports -----


def format_info(
    info: SearchInfo, vertex: _Vertex, dialect: str, options: AnalysisOptions, turn: int
) -> str:
    """Format an info as one line, from the view of the side to move (CGOS ownership: Black's)."""
    ownership, info = info.ownership, info.seen_by(turn)
    if dialect == "cgos":
        return _format_cgos(info, vertex, ownership)
    parts = []
    for order, c in enumerate(info.candidates[: max(options.max_moves, options.min_moves)]):
        parts.append(_format_info(c, order, vertex, dialect))
        if dialect == "kata" and options.pv_visits and c.pv_visits:
            parts.append("pvVisits " + " ".join(map(str, c.pv_visits)))
        if dialect == "kata" and options.moves_ownership and c.owners is not None:
            parts.append("movesOwnership " + _points(c.owners[0]))
    if dialect != "kata":
        return " ".join(parts)
    if options.root_info:
        parts.append(
            f"rootInfo visits {info.visits} winrate {info.winrate:.6g} "
            f"scoreLead {info.score:.6g}{_spread(info.spread)}"
        )
        if not math.isnan(info.raw_winrate):
            parts.append(f"rawWinrate {info.raw_winrate:.6g} rawLead {info.raw_score:.6g}")
    if options.ownership and info.ownership is not None:
        parts.append("ownership " + _points(info.ownership))
    if options.ownership_spread and info.ownership_spread is not None:
        parts.append("ownershipStdev " + _points(info.ownership_spread))
    return " ".join(parts)


def _points(values: FloatArray) -> str:
    return " ".join(f"{x:.3f}" for x in values.ravel())


def _spread(value: float) -> str:
    return "" if math.isnan(value) else f" scoreStdev {value:.6g}"


def _line(c: Candidate, vertex: _Vertex) -> str:
    return " ".join(vertex(move) for move in c.pv or (c.move,))


def _format_info(c: Candidate, order: int, vertex: _Vertex, dialect: str) -> str:
    head, pv = f"info move {vertex(c.move)} visits {c.visits}", _line(c, vertex)
    if dialect == "lz":
        winrate, prior = round(c.winrate * 10000), round(c.prior * 10000)
        return f"{head} winrate {winrate} prior {prior} order {order} pv {pv}"
    return (
        f"{head} winrate {c.winrate:.6g} scoreMean {c.score:.6g} scoreLead {c.score:.6g}"
        f"{_spread(c.spread)} prior {c.prior:.6g} order {order} pv {pv}"
    )


def _format_cgos(info: SearchInfo, vertex: _Vertex, ownership: FloatArray | None) -> str:
    """Write the JSON line that CGOS shows to watchers."""
    value: dict[str, object] = {
        "winrate": round(info.winrate, 4),
        "score": round(info.score, 2),
        "visits": info.visits,
        "moves": [
            {
                "move": vertex(c.move),
                "winrate": round(c.winrate, 4),
                "score": round(c.score, 2),
                "prior": round(c.prior, 4),
                "visits": c.visits,
                "pv": _line(c, vertex),
            }
            for c in info.candidates[:20]
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
    """Choose and play a move; KGS's cleanup counts every stone as alive, as area scoring does."""
    colour = read_colour(need(call.args, 1)[0])
    board, player = engine.view(colour), _in_time(engine, colour)
    if call.request.name != "genmove":
        board.rules = board.rules.with_(scoring="area")
    start = time.monotonic()
    info = _last(engine, _infos(player, board, engine, call))
    engine.game.clock.spend(colour, time.monotonic() - start)
    return _finish(engine, colour, player, board, info)


@command("reg_genmove")
def _reg_genmove(engine: GtpEngine, call: Call) -> str:
    colour = read_colour(need(call.args, 1)[0])
    infos = _infos(engine.player, engine.view(colour), engine, call)
    return engine.vertex(_last(engine, infos).choice)


@command("analyze", "lz-analyze", "kata-analyze")
@command("genmove_analyze", "lz-genmove_analyze", "kata-genmove_analyze", "cgos-genmove_analyze")
def _analyze(engine: GtpEngine, call: Call) -> str:
    """Report until input arrives, or until a move is chosen, which the last line names."""
    prefix, _, name = call.request.name.rpartition("-")
    dialect = prefix or "lz"
    options = parse_options(call.args)
    colour = options.colour or engine.game.board.turn
    board, chooses = engine.view(colour), name == "genmove_analyze"
    player = _in_time(engine, colour) if chooses else engine.player
    player = _narrowed(player, board, colour, options)
    start = time.monotonic()
    call.open()

    def show(info: SearchInfo) -> None:
        if line := format_info(info, engine.vertex, dialect, options, colour):
            call.stream(line)

    def shown() -> Iterator[SearchInfo]:
        for info in _infos(player, board, engine, call, options.interval):
            if dialect != "cgos":
                show(info)
            yield info

    def stop() -> bool:
        return call.waiting() or call.interrupted()

    if chooses:
        info = _last(engine, shown())
        engine.game.clock.spend(colour, time.monotonic() - start)
        if dialect == "cgos":
            show(info)
        return f"play {_finish(engine, colour, player, board, info)}"
    if not stop():
        for info in _infos(player, board, engine, call, options.interval, stop):
            show(info)
            if stop():
                break
    while not stop():
        time.sleep(_NAP)
    return ""


def _in_time(engine: GtpEngine, colour: int) -> Player:
    """Return the player, with a time limit if the clock sets one and the player supports it."""
    board = engine.game.board
    budget = engine.game.clock.budget(colour, board.rows * board.cols, len(board.moves))
    if budget is not None and isinstance(engine.player, contracts.TimedPlayer):
        return engine.player.within(budget)
    return engine.player


def _narrowed(player: Player, board: Board, colour: int, options: AnalysisOptions) -> Player:
    """Return a player that considers only the moves that the options allow."""

    def named(rules: Sequence[tuple[int, Sequence[str]]]) -> list[set[int]]:
        return [{board.point(v) for v in vertices} for side, vertices in rules if side == colour]

    allow, avoid = named(options.allow), named(options.avoid)
    if not allow and not avoid:
        return player
    if not isinstance(player, contracts.NarrowablePlayer):
        raise GtpFailure("allow and avoid are not supported by this player")
    moves = set(board.legal_moves)
    if allow:
        moves &= set().union(*allow)
    moves -= set().union(*avoid)
    if not moves:
        raise GtpFailure("no legal move is left to consider")
    return player.only(moves)


def _infos(
    player: Player,
    board: Board,
    engine: GtpEngine,
    call: Call,
    interval: float = 1e9,
    stop: Callable[[], bool] | None = None,
) -> Iterator[SearchInfo]:
    """Yield evaluations until `stop`, or by default until the move is chosen."""
    rng = engine.game.generator()
    if not isinstance(player, Analyser):
        return iter([SearchInfo.of_choice(board.to_point(player.choose(board.copy(), rng)))])
    if limited := stop is None:
        # Interrupts count from the second check on: a search that never began could only pass.
        looks = itertools.count()
        stop = lambda: next(looks) > 0 and call.interrupted()  # noqa: E731
    return player.analyse(board, rng, interval=interval, limited=limited, stop=stop)


def _last(engine: GtpEngine, infos: Iterator[SearchInfo]) -> SearchInfo:
    found = deque(infos, maxlen=1)
    if not found:
        raise RuntimeError(f"player {engine.spec} gave no move")
    return found[0]


def _finish(engine: GtpEngine, colour: int, player: Player, board: Board, info: SearchInfo) -> str:
    """Play the chosen move on the engine's board, name it, and keep its explanation."""
    move = info.choice
    chosen = [c for c in info.seen_by(colour).candidates if c.move == move and c.visits > 1]
    engine.explanation = ""
    if isinstance(player, contracts.Explainer):
        engine.explanation = player.explain(board, move)
    elif chosen:
        c = chosen[0]
        engine.explanation = (
            f"{engine.vertex(move)}: {c.visits} of {info.visits} visits, win rate "
            f"{c.winrate:.3f}, score {c.score:+.1f}, expecting {_line(c, engine.vertex)}"
        )
    if move != protocol.RESIGN:
        try:
            engine.game.board.play(board.to_point(move), colour)
        except TengenError as failure:
            raise RuntimeError(f"player {engine.spec} chose an illegal move: {failure}") from None
    return engine.vertex(move)
