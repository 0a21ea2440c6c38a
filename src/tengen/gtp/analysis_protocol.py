"""Read queries of KataGo's JSON analysis protocol; think about nothing.

A query is one JSON object on a line: a game, the turns of it to analyse, and wishes. Each turn gets
an answer of its own, which `analysis_answers` writes; `analysis_server` runs the queries. Fields
that are known but cannot be served are told in `Query.warnings`; unknown ones too, as KataGo does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tengen.board import BLACK, WHITE, Board, Point, Rules, parse_gtp
from tengen.errors import IllegalMoveError, TengenError
from tengen.gtp.analysis import Wishes
from tengen.gtp.game_commands import rule_change
from tengen.gtp.words import COLOURS, LARGEST, RESIGN, SMALLEST

_LARGEST_KOMI = 150.0
_PERSPECTIVES = ("BLACK", "WHITE", "SIDETOMOVE")
_DEFAULT_PERSPECTIVE = "BLACK"
"""Whose win rates and scores are reported when `reportAnalysisWinratesAs` does not say."""
_DEFAULT_PV = 15
_MOST_MOVES = 5000
_MOST_TURNS = 1000
"""Each turn holds a board of its own until it is analysed."""

# KataGo's names of rules that the board knows under another name, or as a near relative.
_RULE_NAMES = {
    "chinese-ogs": "chinese",
    "chinese-kgs": "chinese",
    "bga": "aga",
    "ancient-area": "chinese",
    "stone-scoring": "chinese",
    "stone_scoring": "chinese",
}
_UNTAXED = ("stone-scoring", "stone_scoring", "ancient-area")
"""Rules under which every group pays for two eyes, which the board does not count."""

# Known wishes that cannot be fulfilled; worth a warning when they are not switched off.
_UNSERVED = {
    "rootPolicyTemperature": "not supported",
    "rootFpuReductionMax": "not supported",
}


class QueryError(TengenError):
    """A query that cannot be answered; `field` names the part that is wrong."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class Turn:
    """One position to analyse: the board after `number` moves, and who is asked first."""

    number: int
    board: Board
    priority: float


@dataclass(frozen=True)
class QueryWishes(Wishes):
    """What an answer is to tell besides the moves; this protocol knows more to wish for."""

    moves_ownership_spread: bool = False
    policy: bool = False


@dataclass
class Query:
    """What one line asks for."""

    id: str
    turns: list[Turn]
    visits: int | None = None
    seconds: float | None = None
    perspective: str = _DEFAULT_PERSPECTIVE
    wishes: QueryWishes = QueryWishes()
    human: bool = False
    """Whether the moves that people are likely to play were asked for by name."""
    report_every: float | None = None
    pv_length: int = _DEFAULT_PV
    avoid: dict[int, frozenset[int]] = field(default_factory=dict)
    """Colour -> moves that must not be reported for that side."""
    allow: dict[int, frozenset[int]] = field(default_factory=dict)
    """Colour -> the only moves to report for that side."""
    warnings: list[tuple[str, str]] = field(default_factory=list)
    """(field, what is wrong with it)."""


def parse_query(value: Mapping[str, Any]) -> Query:
    """Read a query whose `id` is known to be a string.

    Raises
    ------
    QueryError
        With the name of the wrong field.
    """
    cols, rows = (_integer(value, key, SMALLEST, LARGEST) for key in ("boardXSize", "boardYSize"))
    rules = _rules(_needed(value, "rules"))
    if "whiteHandicapBonus" in value:
        rules = rules.with_(**_rule("whiteHandicapBonus", value["whiteHandicapBonus"]))
    komi = _number(value, "komi", -_LARGEST_KOMI, _LARGEST_KOMI, rules.komi)
    if komi * 2 != round(komi * 2):
        raise QueryError(f"komi {komi:g} is neither whole nor half", "komi")
    query = Query(id=value["id"], turns=[])
    settings = value.get("overrideSettings", {})
    if not isinstance(settings, dict):
        raise QueryError("must be an object", "overrideSettings")
    _read_settings(query, settings)
    if "maxVisits" in value:
        query.visits = _integer(value, "maxVisits", 1, 10**9)
    if "reportDuringSearchEvery" in value:
        query.report_every = _number(value, "reportDuringSearchEvery", 0.001, 1e6, 1.0)
    query.pv_length = _integer(value, "analysisPVLen", 1, 1000, _DEFAULT_PV)
    query.wishes = QueryWishes(**{name: _boolean(value, wish) for name, wish in _WISHES.items()})
    stones = _stones(value, "initialStones", rows, cols)
    moves = _stones(value, "moves", rows, cols, needed=True)
    query.turns = _turns(value, (rows, cols, rules, komi), stones, moves)
    for name, target in (("avoidMoves", query.avoid), ("allowMoves", query.allow)):
        if value.get(name):
            target.update(_restriction(value[name], name, rows, cols))
    _note_unserved(query, value)
    return query


_WISHES = {
    "ownership": "includeOwnership",
    "ownership_spread": "includeOwnershipStdev",
    "moves_ownership": "includeMovesOwnership",
    "moves_ownership_spread": "includeMovesOwnershipStdev",
    "pv_visits": "includePVVisits",
    "policy": "includePolicy",
}
"""Part of an answer -> the field that asks for it."""

# ----- Reading -----


def _needed(value: Mapping[str, Any], name: str) -> Any:
    if name not in value:
        raise QueryError(f"the field {name} is missing", name)
    return value[name]


def _integer(
    value: Mapping[str, Any], name: str, least: int, most: int, default: int | None = None
) -> int:
    """Read a whole number within bounds."""
    if name not in value and default is not None:
        return default
    number = _needed(value, name)
    whole = isinstance(number, (int, float)) and not isinstance(number, bool)
    if not whole or number != number or not least <= number <= most or number != int(number):
        raise QueryError(f"must be an integer from {least} to {most}", name)
    return int(number)


def _number(
    value: Mapping[str, Any], name: str, least: float, most: float, default: float
) -> float:
    """Read a finite number within bounds."""
    number = value.get(name, default)
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise QueryError("must be a number", name)
    if not least <= number <= most:  # false for what is no number; safe for any whole one
        raise QueryError(f"must be a number from {least:g} to {most:g}", name)
    return float(number)


def _boolean(value: Mapping[str, Any], name: str) -> bool:
    wish = value.get(name, False)
    if not isinstance(wish, bool):
        raise QueryError("must be true or false", name)
    return wish


def _rules(wanted: Any) -> Rules:
    """Read rules given by name or as an object."""
    try:
        if isinstance(wanted, str):
            name = wanted.strip().lower()
            return Rules.preset(_RULE_NAMES.get(name, name))
        if isinstance(wanted, dict):
            changes: dict[str, object] = {}
            for key, value in wanted.items():
                changes.update(rule_change(key, value))
            return Rules().with_(**changes)
    except TengenError as mistake:
        raise QueryError(str(mistake), "rules") from None
    raise QueryError("must be a name or an object", "rules")


def _rule(key: str, value: Any) -> dict[str, object]:
    try:
        return rule_change(key, value)
    except TengenError as mistake:
        raise QueryError(str(mistake), key) from None


def _stones(
    value: Mapping[str, Any], name: str, rows: int, cols: int, *, needed: bool = False
) -> list[tuple[int, Point]]:
    """Read a list of [colour, vertex]."""
    pairs = _needed(value, name) if needed else value.get(name, [])
    if not isinstance(pairs, list):
        raise QueryError("must be a list of [colour, vertex]", name)
    if len(pairs) > _MOST_MOVES:
        raise QueryError(f"must have at most {_MOST_MOVES} entries", name)
    return [_stone(pair, name, rows, cols) for pair in pairs]


def _stone(pair: Any, name: str, rows: int, cols: int) -> tuple[int, Point]:
    if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(w, str) for w in pair)):
        raise QueryError(f"{str(pair)[:40]} is no [colour, vertex]", name)
    return _colour(pair[0], name), _point(pair[1], name, rows, cols)


def _colour(word: Any, name: str) -> int:
    colour = COLOURS.get(word.strip().lower()) if isinstance(word, str) else None
    if colour is None:
        raise QueryError(f"{str(word)[:20]!r} is no colour", name)
    return colour


def _point(word: Any, name: str, rows: int, cols: int) -> Point:
    with suppress(TengenError):
        if isinstance(word, str) and (point := parse_gtp(word, rows, cols)) != RESIGN:
            return point
    raise QueryError(f"{str(word)[:20]!r} is no vertex of a {rows}x{cols} board", name)


def _turns(
    value: Mapping[str, Any],
    game: tuple[int, int, Rules, float],
    stones: list[tuple[int, Point]],
    moves: list[tuple[int, Point]],
) -> list[Turn]:
    """Make the boards of the turns to analyse."""
    wanted = value.get("analyzeTurns", [len(moves)])
    if not isinstance(wanted, list) or not wanted:
        raise QueryError("must be a list of integers", "analyzeTurns")
    if len(wanted) > _MOST_TURNS:
        raise QueryError(f"must have at most {_MOST_TURNS} entries", "analyzeTurns")
    numbers = [_integer({"analyzeTurns": n}, "analyzeTurns", 0, len(moves)) for n in wanted]
    priority = _number(value, "priority", -1e9, 1e9, 0.0)
    priorities = value.get("priorities", [priority] * len(numbers))
    if not isinstance(priorities, list) or len(priorities) != len(numbers):
        raise QueryError("must be a list as long as analyzeTurns", "priorities")
    order = [_number({"priorities": p}, "priorities", -1e9, 1e9, 0.0) for p in priorities]
    if "initialPlayer" in value:
        first = _colour(value["initialPlayer"], "initialPlayer")
    elif moves:
        first = moves[0][0]
    else:
        first = WHITE if stones and all(colour == BLACK for colour, _ in stones) else BLACK
    boards = _replay(game, stones, moves, first, set(numbers))
    return [Turn(n, boards[n], p) for n, p in zip(numbers, order, strict=True)]


def _replay(
    game: tuple[int, int, Rules, float],
    stones: list[tuple[int, Point]],
    moves: list[tuple[int, Point]],
    first: int,
    wanted: set[int],
) -> dict[int, Board]:
    """Return the boards after the wanted numbers of moves.

    Programs know games played under other ko rules than they name; only what breaks simple ko too
    is refused.
    """
    rows, cols, rules, komi = game
    try:
        return _replay_strictly(
            Board(rows, cols, rules=rules, komi=komi), stones, moves, first, wanted
        )
    except IllegalMoveError:
        lenient = rules.with_(ko="simple", suicide=True)
        board = Board(rows, cols, rules=lenient, komi=komi)
    try:
        return _replay_strictly(board, stones, moves, first, wanted)
    except IllegalMoveError as failure:
        # KaTrain looks for these two words.
        raise QueryError(f"Illegal move: {failure}", "moves") from None


def _replay_strictly(
    board: Board,
    stones: list[tuple[int, Point]],
    moves: list[tuple[int, Point]],
    first: int,
    wanted: set[int],
) -> dict[int, Board]:
    black = [point for colour, point in stones if colour == BLACK]
    white = [point for colour, point in stones if colour == WHITE]
    try:
        board.set_stones(black=black, white=white, to_play=first)
    except TengenError as mistake:
        raise QueryError(str(mistake), "initialStones") from None
    if not white and len(black) > 1:
        board.handicap = len(black)
    boards = {0: board.copy()} if 0 in wanted else {}
    for number, (colour, point) in enumerate(moves, 1):
        board.play(point, colour)
        if number in wanted:
            boards[number] = board.copy()
    return boards


def _restriction(wishes: Any, name: str, rows: int, cols: int) -> dict[int, frozenset[int]]:
    """Read avoidMoves or allowMoves; how deep they reach does not matter to a list of moves."""
    if not isinstance(wishes, list):
        raise QueryError("must be a list of objects", name)
    found: dict[int, set[int]] = {}
    for wish in wishes:
        if not isinstance(wish, dict) or not isinstance(wish.get("moves"), list):
            raise QueryError("needs objects with player, moves and untilDepth", name)
        points = {_point(word, name, rows, cols) for word in wish["moves"]}
        found.setdefault(_colour(wish.get("player"), name), set()).update(points)
    return {colour: frozenset(points) for colour, points in found.items()}


def _read_settings(query: Query, settings: dict[str, Any]) -> None:
    """Read what is known of overrideSettings, and warn of the rest."""
    for key, wish in settings.items():
        name = f"overrideSettings.{key}"
        if key == "reportAnalysisWinratesAs":
            word = str(wish).upper()
            if word not in _PERSPECTIVES:
                raise QueryError(f"must be one of {', '.join(_PERSPECTIVES)}", name)
            query.perspective = word
        elif key == "humanSLProfile":
            if wish and not (isinstance(wish, str) and _PROFILE.fullmatch(wish)):
                raise QueryError("must be like rank_5k, preaz_2d or proyear_1990", name)
            query.human = bool(wish)
        elif key in _LIMITS:
            setattr(query, _LIMITS[key][0], _LIMITS[key][1]({name: wish}, name))
        elif wish:
            query.warnings.append((name, "not supported"))


_RANK = r"(20|1\d|[1-9])k|[1-9]d"
_PROFILE = re.compile(rf"(rank|preaz)_({_RANK})(_({_RANK}))?|proyear_\d{{4}}")
_LIMITS: dict[str, tuple[str, Callable[[Mapping[str, Any], str], object]]] = {
    "maxTime": ("seconds", lambda value, name: _number(value, name, 0.0, 1e20, 0.0)),
    "maxVisits": ("visits", lambda value, name: _integer(value, name, 1, 10**9)),
    "maxPlayouts": ("visits", lambda value, name: _integer(value, name, 1, 10**9)),
}
"""Setting -> (where it goes, how it is read)."""

_KNOWN = frozenset(
    [
        "id",
        "rules",
        "whiteHandicapBonus",
        "komi",
        "boardXSize",
        "boardYSize",
        "moves",
        "initialStones",
        "initialPlayer",
        "analyzeTurns",
        "maxVisits",
        "analysisPVLen",
        "overrideSettings",
        "reportDuringSearchEvery",
        "firstReportDuringSearchAfter",
        "priority",
        "priorities",
        "avoidMoves",
        "allowMoves",
        "includeNoResultValue",
        *_WISHES.values(),
    ]
)
"""Fields that deserve no warning; those that nothing reads change nothing here."""


def _note_unserved(query: Query, value: Mapping[str, Any]) -> None:
    """Warn of fields that are unknown, or known and not served."""
    if str(value["rules"]).strip().lower() in _UNTAXED:
        query.warnings.append(("rules", "counted by area; groups pay no tax here"))
    for name, wish in value.items():
        if name in _UNSERVED:
            if wish:
                query.warnings.append((name, _UNSERVED[name]))
        elif name not in _KNOWN:
            query.warnings.append((name, "unknown field"))
