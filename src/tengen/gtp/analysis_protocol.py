"""Queries and answers of KataGo's JSON analysis protocol; `analysis_server` runs them.

A query is one JSON object per line: a game, the turns to analyse, and options. Each turn gets an
answer of its own. Fields that are unknown or not supported lead to warnings, as in KataGo.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
    ValidationError,
)

from tengen.arrays import FloatArray
from tengen.board import BLACK, WHITE, Board, Point, Rules, format_gtp, index_of, parse_gtp
from tengen.contracts.values import Candidate, Report
from tengen.errors import IllegalMoveError, TengenError
from tengen.gtp.commands import rule_change
from tengen.gtp.protocol import COLOURS, LARGEST, RESIGN, SMALLEST

_LARGEST_KOMI = 150.0
_MOST_MOVES = 5000
_MOST_TURNS = 1000
"""Each turn holds a board of its own until it is analysed."""
_RULE_NAMES = {
    "chinese-ogs": "chinese",
    "chinese-kgs": "chinese",
    "bga": "aga",
    "ancient-area": "chinese",
    "stone-scoring": "chinese",
    "stone_scoring": "chinese",
}
"""KataGo's names for rules that the board has under another name, or nearly."""
_TAXED = ("stone-scoring", "stone_scoring", "ancient-area")
"""Rules under which every group pays for two eyes, which the board does not count."""


class QueryError(TengenError):
    """A query that cannot be answered; `field` names the part that is wrong."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


# ----- Reading -----


def _plain_number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("must be a number")
    return value


_Integer = Annotated[int, BeforeValidator(_plain_number)]
_Number = Annotated[float, BeforeValidator(_plain_number)]
_Visits = Annotated[_Integer | None, Field(ge=1, le=10**9)]
_Stones = Annotated[list[tuple[StrictStr, StrictStr]], Field(max_length=_MOST_MOVES)]
_Priority = Annotated[_Number, Field(ge=-1e9, le=1e9)]
_RANK = r"((20|1\d|[1-9])k|[1-9]d)"


class _Restriction(BaseModel):
    """Moves to avoid or to allow; the depth is ignored."""

    player: StrictStr
    moves: list[StrictStr]


class _Settings(BaseModel):
    """The part of overrideSettings that is supported."""

    model_config = ConfigDict(extra="allow")

    reportAnalysisWinratesAs: Annotated[
        Literal["BLACK", "WHITE", "SIDETOMOVE"], BeforeValidator(lambda word: str(word).upper())
    ] = "BLACK"
    humanSLProfile: StrictStr | None = Field(
        default=None, pattern=rf"^((rank|preaz)_{_RANK}(_{_RANK})?|proyear_\d{{4}})?$"
    )
    """Asks by name for the moves that people are likely to play."""
    maxTime: _Number | None = Field(default=None, ge=0, le=1e20)
    maxVisits: _Visits = None
    maxPlayouts: _Visits = None


class QueryFields(BaseModel):
    """The fields of a query, as KataGo names them; those that nothing reads are accepted."""

    model_config = ConfigDict(extra="allow")

    id: StrictStr
    boardXSize: _Integer = Field(ge=SMALLEST, le=LARGEST)
    boardYSize: _Integer = Field(ge=SMALLEST, le=LARGEST)
    rules: Any
    whiteHandicapBonus: Any = None
    komi: _Number | None = Field(None, ge=-_LARGEST_KOMI, le=_LARGEST_KOMI, multiple_of=0.5)
    moves: _Stones
    initialStones: _Stones = []
    initialPlayer: StrictStr | None = None
    analyzeTurns: list[_Integer] | None = Field(None, min_length=1, max_length=_MOST_TURNS)
    priority: _Priority = 0.0
    priorities: list[_Priority] | None = None
    maxVisits: _Visits = None
    analysisPVLen: _Integer = Field(15, ge=1, le=1000)
    reportDuringSearchEvery: _Number | None = Field(None, ge=0.001, le=1e6)
    firstReportDuringSearchAfter: Any = None
    includeOwnership: StrictBool = False
    includeOwnershipStdev: StrictBool = False
    includeMovesOwnership: StrictBool = False
    includeMovesOwnershipStdev: StrictBool = False
    includePVVisits: StrictBool = False
    includePolicy: StrictBool = False
    includeNoResultValue: Any = None
    avoidMoves: list[_Restriction] = []
    allowMoves: list[_Restriction] = []
    overrideSettings: _Settings = Field(default_factory=_Settings)
    rootPolicyTemperature: Any = None
    rootFpuReductionMax: Any = None


@dataclass(frozen=True)
class Turn:
    """One position to analyse: the board after `number` moves."""

    number: int
    board: Board
    priority: float


@dataclass(frozen=True)
class Query:
    """A query, read and checked."""

    fields: QueryFields
    turns: list[Turn]
    avoid: dict[int, frozenset[int]]
    """Colour -> moves that must not be reported for that side."""
    allow: dict[int, frozenset[int]]
    """Colour -> the only moves to report for that side."""

    @property
    def id(self) -> str:
        """The name by which answers refer to the query."""
        return self.fields.id

    @property
    def visits(self) -> int | None:
        """The limit on visits, if any."""
        settings = self.fields.overrideSettings
        return self.fields.maxVisits or settings.maxVisits or settings.maxPlayouts

    def allows(self, colour: int, move: int) -> bool:
        """Return whether a move of one side may be reported."""
        if move == RESIGN or move in self.avoid.get(colour, ()):
            return False
        return colour not in self.allow or move in self.allow[colour]

    def allowed(self, colour: int, report: Report) -> list[Candidate]:
        """Return the candidates that may be reported."""
        return [c for c in report.candidates if self.allows(colour, c.move)]

    def warnings(self) -> list[tuple[str, str]]:
        """List (field, warning) for fields that are unknown or not supported."""
        fields, settings = self.fields, self.fields.overrideSettings
        found = [(name, "unknown field") for name in fields.model_extra or ()]
        for name in ("rootPolicyTemperature", "rootFpuReductionMax"):
            if getattr(fields, name):
                found.append((name, "not supported"))
        for name, value in (settings.model_extra or {}).items():
            if value:
                found.append((f"overrideSettings.{name}", "not supported"))
        if str(fields.rules).strip().lower() in _TAXED:
            found.append(("rules", "counted by area; groups pay no tax here"))
        return found


def parse_query(value: Mapping[str, Any]) -> Query:
    """Read a query."""
    try:
        fields = QueryFields.model_validate(value)
    except ValidationError as failure:
        error = failure.errors(include_url=False)[0]
        names = [part for part in error["loc"] if isinstance(part, str)]
        name = ".".join(names if names[0] == "overrideSettings" else names[:1])
        raise QueryError(error["msg"].removeprefix("Value error, "), name) from None
    rules = _rules(fields)
    rows, cols = fields.boardYSize, fields.boardXSize
    board = Board(rows, cols, rules=rules, komi=rules.komi if fields.komi is None else fields.komi)
    return Query(
        fields,
        _turns(fields, board),
        _restricted(fields.avoidMoves, "avoidMoves", board),
        _restricted(fields.allowMoves, "allowMoves", board),
    )


def _rules(fields: QueryFields) -> Rules:
    """Read rules given by name or as an object."""
    name = "rules"
    try:
        if isinstance(fields.rules, str):
            word = fields.rules.strip().lower()
            rules = Rules.preset(_RULE_NAMES.get(word, word))
        elif isinstance(fields.rules, dict):
            changes: dict[str, object] = {}
            for key, value in fields.rules.items():
                changes.update(rule_change(key, value))
            rules = Rules().with_(**changes)
        else:
            raise TengenError("must be a name or an object")
        if fields.whiteHandicapBonus is not None:
            name = "whiteHandicapBonus"
            rules = rules.with_(**rule_change(name, fields.whiteHandicapBonus))
    except TengenError as mistake:
        raise QueryError(str(mistake), name) from None
    return rules


def _colour(word: str, name: str) -> int:
    colour = COLOURS.get(word.strip().lower())
    if colour is None:
        raise QueryError(f"{word[:20]!r} is no colour", name)
    return colour


def _point(word: str, name: str, board: Board) -> Point:
    with suppress(TengenError):
        if (point := parse_gtp(word, board.rows, board.cols)) != RESIGN:
            return point
    raise QueryError(f"{word[:20]!r} is no vertex of a {board.rows}x{board.cols} board", name)


def _restricted(wishes: list[_Restriction], name: str, board: Board) -> dict[int, frozenset[int]]:
    found: dict[int, frozenset[int]] = {}
    for wish in wishes:
        colour, points = _colour(wish.player, name), [_point(w, name, board) for w in wish.moves]
        found[colour] = found.get(colour, frozenset()).union(points)
    return found


def _turns(fields: QueryFields, board: Board) -> list[Turn]:
    """Make the boards of the turns to analyse."""
    stones, moves = (
        [(_colour(c, name), _point(v, name, board)) for c, v in getattr(fields, name)]
        for name in ("initialStones", "moves")
    )
    numbers = [len(moves)] if fields.analyzeTurns is None else fields.analyzeTurns
    if not all(0 <= number <= len(moves) for number in numbers):
        raise QueryError(f"must be integers from 0 to {len(moves)}", "analyzeTurns")
    priorities = fields.priorities or [fields.priority] * len(numbers)
    if len(priorities) != len(numbers):
        raise QueryError("must be a list as long as analyzeTurns", "priorities")
    if fields.initialPlayer is not None:
        first = _colour(fields.initialPlayer, "initialPlayer")
    elif moves:
        first = moves[0][0]
    else:
        first = WHITE if stones and all(colour == BLACK for colour, _ in stones) else BLACK
    wanted = set(numbers)
    try:
        boards = _replay(board, stones, moves, first, wanted)
    except IllegalMoveError:
        # Programs send games played under other ko rules than they name.
        lenient = board.rules.with_(ko="simple", suicide=True)
        board = Board(board.rows, board.cols, rules=lenient, komi=board.komi)
        try:
            boards = _replay(board, stones, moves, first, wanted)
        except IllegalMoveError as failure:
            # KaTrain looks for these two words.
            raise QueryError(f"Illegal move: {failure}", "moves") from None
    return [Turn(n, boards[n], p) for n, p in zip(numbers, priorities, strict=True)]


def _replay(
    board: Board,
    stones: list[tuple[int, Point]],
    moves: list[tuple[int, Point]],
    first: int,
    wanted: set[int],
) -> dict[int, Board]:
    """Return copies of the board after the wanted numbers of moves."""
    black, white = ([p for c, p in stones if c == colour] for colour in (BLACK, WHITE))
    board = board.copy()
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


# ----- Writing -----


def format_result(
    query: Query,
    turn: Turn,
    report: Report,
    *,
    during: bool = False,
    policy: FloatArray | None = None,
) -> dict[str, Any]:
    """Write one answer; `policy` (flat, pass last) is added when it is given."""
    board, asked = turn.board, query.fields
    view = asked.overrideSettings.reportAnalysisWinratesAs
    report = report.seen_by({"BLACK": BLACK, "WHITE": WHITE}.get(view, board.turn))
    shown = query.allowed(board.turn, report)
    answer: dict[str, Any] = {
        "id": query.id,
        "isDuringSearch": during,
        "turnNumber": turn.number,
        "moveInfos": [_move_info(asked, board, c, i, policy) for i, c in enumerate(shown)],
        "rootInfo": _root_info(board, report),
    }
    if asked.includeOwnership and report.ownership is not None:
        answer["ownership"] = _rounded(report.ownership)
    if asked.includeOwnershipStdev and report.ownership_spread is not None:
        answer["ownershipStdev"] = _rounded(report.ownership_spread)
    if policy is not None:
        answer["policy"] = _legal(policy, board)
    human = report.raw_policy if report.human_policy is None else report.human_policy
    if human is not None and (asked.includePolicy or asked.overrideSettings.humanSLProfile):
        answer["humanPolicy"] = _legal(human, board)
    return answer


def _root_info(board: Board, report: Report) -> dict[str, Any]:
    found = {
        "currentPlayer": "B" if board.turn == BLACK else "W",
        "visits": report.visits,
        "weight": float(report.visits),
        "winrate": round(report.winrate, 6),
        "scoreLead": round(report.score, 4),
        "scoreSelfplay": round(report.score, 4),
        "utility": round(report.winrate * 2 - 1, 6),
        "thisHash": f"{board.hash:032X}",
        "symHash": f"{board.hash:032X}",
    }
    known = {
        "scoreStdev": report.spread,
        "rawWinrate": report.raw_winrate,
        "rawLead": report.raw_score,
        "rawScoreSelfplay": report.raw_score,
        "rawScoreSelfplayStdev": report.raw_spread,
    }
    return found | {name: round(v, 6) for name, v in known.items() if not math.isnan(v)}


def _move_info(
    asked: QueryFields, board: Board, c: Candidate, order: int, policy: FloatArray | None
) -> dict[str, Any]:
    prior = c.prior if policy is None else float(policy[index_of(c.move, board.rows, board.cols)])
    winrate, score = round(c.winrate, 6), round(c.score, 4)
    line = (c.pv or (c.move,))[: asked.analysisPVLen]
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
        "utility": round(winrate * 2 - 1 if math.isnan(c.utility) else c.utility, 6),
        "prior": round(prior, 8),
        "order": order,
        "pv": [format_gtp(move, board.rows, board.cols) for move in line],
    }
    if not math.isnan(c.spread):
        found["scoreStdev"] = round(c.spread, 4)
    if asked.overrideSettings.humanSLProfile:
        found["humanPrior"] = round(c.prior, 8)
    if asked.includePVVisits and c.pv_visits:
        found["pvVisits"] = found["pvEdgeVisits"] = list(c.pv_visits[: asked.analysisPVLen])
    if asked.includeMovesOwnership and c.owners is not None:
        found["ownership"] = _rounded(c.owners[0])
    if asked.includeMovesOwnershipStdev and c.owners is not None:
        found["ownershipStdev"] = _rounded(c.owners[1])
    return found


def _rounded(values: FloatArray) -> list[float]:
    return [round(float(x), 4) for x in values.ravel()]


def _legal(policy: FloatArray, board: Board) -> list[float]:
    """Write a policy as KataGo does: -1 where a move is illegal."""
    legal = board.legal_mask()
    return [round(float(p), 8) if ok else -1.0 for p, ok in zip(policy, legal, strict=True)]


def visit_shares(report: Report, board: Board) -> FloatArray:
    """Make a policy of a search's visits, for lack of a model."""
    shares = np.zeros(board.rows * board.cols + 1)
    for c in report.candidates:
        if c.move != RESIGN:
            shares[index_of(c.move, board.rows, board.cols)] = max(c.visits, 0)
    total = shares.sum()
    if total == 0:
        shares[-1] = total = 1.0
    return np.asarray(shares / total, np.float64)
