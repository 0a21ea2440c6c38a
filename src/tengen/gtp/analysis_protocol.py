"""Read queries and write answers of KataGo's JSON analysis protocol.

A query is one JSON object on a line: a game, the turns of it to analyse, and wishes. Each turn gets
an answer of its own; `analysis_server` runs the queries. Fields
that are known but cannot be served are told in `Query.warnings`; unknown ones too, as KataGo does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import BLACK, WHITE, Board, Point, Rules, format_gtp, index_of, parse_gtp
from tengen.contracts.values import Analysis, Candidate
from tengen.errors import IllegalMoveError, TengenError
from tengen.gtp.arguments import COLOURS, LARGEST, RESIGN, SMALLEST
from tengen.gtp.game_commands import rule_change
from tengen.gtp.thinking_commands import Wishes

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


def format_result(
    query: Query,
    turn: Turn,
    report: Analysis,
    *,
    during: bool = False,
    policy: FloatArray | None = None,
) -> dict[str, Any]:
    """Write one answer; `policy` (flat, pass last) is added when it is given."""
    board = turn.board
    view = _View(query.perspective, board.turn)
    shown = wanted(query, board.turn, report)
    answer: dict[str, Any] = {
        "id": query.id,
        "isDuringSearch": during,
        "turnNumber": turn.number,
        "moveInfos": [_move_info(query, board, view, c, i, policy) for i, c in enumerate(shown)],
        "rootInfo": _root_info(board, view, report),
    }
    if query.wishes.ownership and report.ownership is not None:
        answer["ownership"] = view.points(report.ownership)
    if query.wishes.ownership_spread and report.ownership_spread is not None:
        answer["ownershipStdev"] = view.spreads(report.ownership_spread)
    if policy is not None:
        answer["policy"] = _legal(policy, board)
    human = report.raw_policy if report.human_policy is None else report.human_policy
    if (query.wishes.policy or query.human) and human is not None:
        answer["humanPolicy"] = _legal(human, board)
    return answer


def _root_info(board: Board, view: _View, report: Analysis) -> dict[str, Any]:
    """Write what holds for the whole position."""
    winrate = view.winrate(report.winrate)
    found = {
        "currentPlayer": "B" if board.turn == BLACK else "W",
        "visits": report.visits,
        "weight": float(report.visits),
        "winrate": round(winrate, 6),
        "scoreLead": round(view.score(report.score), 4),
        "scoreSelfplay": round(view.score(report.score), 4),
        "utility": round(winrate * 2 - 1, 6),
        "thisHash": f"{board.hash:032X}",
        "symHash": f"{board.hash:032X}",
    }
    known = {
        "scoreStdev": report.spread,
        "rawWinrate": view.winrate(report.raw_winrate),
        "rawLead": view.score(report.raw_score),
        "rawScoreSelfplay": view.score(report.raw_score),
        "rawScoreSelfplayStdev": report.raw_spread,
    }
    return found | {name: round(v, 6) for name, v in known.items() if not math.isnan(v)}


def _move_info(
    query: Query, board: Board, view: _View, c: Candidate, order: int, policy: FloatArray | None
) -> dict[str, Any]:
    """Write one candidate."""
    prior = c.prior if policy is None else float(policy[index_of(c.move, board.rows, board.cols)])
    winrate, score = round(view.winrate(c.winrate), 6), round(view.score(c.score), 4)
    line = (c.pv or (c.move,))[: query.pv_length]
    utility = winrate * 2 - 1 if math.isnan(c.utility) else view.score(c.utility)
    found = {
        "move": format_gtp(c.move, board.rows, board.cols),
        "visits": c.visits,
        "edgeVisits": c.visits,
        "weight": float(c.visits),
        "winrate": winrate,
        "lcb": winrate,
        "scoreLead": score,
        "scoreMean": score,
        "scoreSelfplay": score,
        "utility": round(utility, 6),
        "prior": round(prior, 8),
        "order": order,
        "pv": [format_gtp(move, board.rows, board.cols) for move in line],
    }
    if not math.isnan(c.spread):
        found["scoreStdev"] = round(c.spread, 4)
    if query.human:
        found["humanPrior"] = round(c.prior, 8)
    if query.wishes.pv_visits and c.pv_visits:
        found["pvVisits"] = list(c.pv_visits[: query.pv_length])
        found["pvEdgeVisits"] = found["pvVisits"]
    if query.wishes.moves_ownership and c.owners is not None:
        found["ownership"] = view.points(c.owners[0])
    if query.wishes.moves_ownership_spread and c.owners is not None:
        found["ownershipStdev"] = view.spreads(c.owners[1])
    return found


def _legal(policy: FloatArray, board: Board) -> list[float]:
    """Write a policy as KataGo does: -1 where a move is illegal."""
    legal = board.legal_mask()
    return [round(float(p), 8) if ok else -1.0 for p, ok in zip(policy, legal, strict=True)]


def visit_shares(report: Analysis, board: Board) -> FloatArray:
    """Make a policy of a search's visits, for want of a model."""
    shares = np.zeros(board.rows * board.cols + 1)
    for c in report.candidates:
        if c.move != RESIGN:
            shares[index_of(c.move, board.rows, board.cols)] = max(c.visits, 0)
    total = shares.sum()
    if total == 0:
        shares[-1] = total = 1.0
    return np.asarray(shares / total, np.float64)


class _View:
    """Turn values of the side to move into those of the side that was asked for."""

    def __init__(self, perspective: str, turn: int) -> None:
        black = perspective == "BLACK" or (perspective == "SIDETOMOVE" and turn == BLACK)
        self._sign = 1.0 if black else -1.0
        self._same = black == (turn == BLACK)

    def winrate(self, mover: float) -> float:
        return mover if self._same else 1.0 - mover

    def score(self, mover: float) -> float:
        return mover if self._same else -mover

    def points(self, black: FloatArray) -> list[float]:
        return [round(self._sign * float(x), 4) for x in black.ravel()]

    def spreads(self, values: FloatArray) -> list[float]:
        return [round(float(x), 4) for x in values.ravel()]


def wanted(query: Query, colour: int, report: Analysis) -> list[Candidate]:
    """Return the candidates that a query wants to see."""
    return [c for c in report.candidates if is_wanted(query, colour, c.move)]


def is_wanted(query: Query, colour: int, move: int) -> bool:
    """Tell whether a query wants to hear of a move of one side."""
    if move == RESIGN or move in query.avoid.get(colour, ()):
        return False
    return colour not in query.allow or move in query.allow[colour]
