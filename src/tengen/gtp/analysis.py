"""KataGo's JSON analysis protocol over two streams, for any player.

A query is one JSON object per line: a game, the turns to analyse, and options. Each turn gets an
answer of its own. Fields that are unknown or not supported lead to warnings, as in KataGo. Turns
wait in a queue, highest priority first; threads take them and answer as they finish.
"""

from __future__ import annotations

import heapq
import itertools
import json
import math
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, BinaryIO, Literal

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

from tengen import __version__
from tengen.arrays import FloatArray
from tengen.board import BLACK, WHITE, Board, Point, Rules, format_gtp, index_of, parse_gtp
from tengen.contracts import (
    Analyser,
    Candidate,
    NarrowablePlayer,
    Player,
    Policy,
    Report,
    limit_visits,
    plays_on,
)
from tengen.errors import IllegalMoveError, TengenError
from tengen.gtp.commands import rule_change
from tengen.gtp.protocol import COLOURS, LARGEST, PASS, RESIGN, SMALLEST

_LARGEST_KOMI = 150.0
_MOST_MOVES = 5000
_MOST_TURNS = 1000
"""Each turn holds a board of its own until it is analysed."""
_TAXED = ("stone-scoring", "stone_scoring", "ancient-area")
"""Rules under which every group pays for two eyes, which the board does not count."""
_RULE_NAMES = dict.fromkeys(("chinese-ogs", "chinese-kgs", *_TAXED), "chinese") | {"bga": "aga"}
"""KataGo's names for rules that the board has under another name, or nearly."""


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
        name = ".".join(names if names[:1] == ["overrideSettings"] else names[:1])
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
    query: Query, turn: Turn, report: Report, policy: FloatArray | None, *, during: bool = False
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
    # KataGo's values of a position are means over all visits, not those of its best move.
    visits = [c.visits for c in report.candidates]
    winrate, score = report.winrate, report.score
    if any(visits):
        winrate = float(np.average([c.winrate for c in report.candidates], weights=visits))
        score = float(np.average([c.score for c in report.candidates], weights=visits))
    found = {
        "currentPlayer": "B" if board.turn == BLACK else "W",
        "visits": report.visits,
        "weight": float(report.visits),
        "winrate": round(winrate, 6),
        "scoreLead": round(score, 4),
        "scoreSelfplay": round(score, 4),
        "utility": round(winrate * 2 - 1, 6),
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


# ----- The server -----

# Longer lines are refused; a game of 1000 moves is far shorter.
_MAX_LINE = 1 << 22
_NEVER = 1e9
# Moves to search when a query allows none of those that the player prefers.
_EXPLORED = 6


@dataclass
class _Task:
    """One turn of a query, waiting or running."""

    query: Query
    turn: Turn
    stopped: threading.Event = field(default_factory=threading.Event)


class AnalysisServer:
    """Answer queries until the input ends, `threads` positions at the same time.

    `make_player` is called at the first query. `find_policy` returns the model for `includePolicy`
    on a board, for players without a network (or for all, with `policy_first`); where it returns
    None, the search's visits replace it. `visits` limit queries without a limit of their own. Every
    random choice follows from the seed and the number of the turn.
    """

    def __init__(
        self,
        make_player: Callable[[], Player],
        *,
        find_policy: Callable[[Board], Policy | None] = lambda board: None,
        policy_first: bool = False,
        visits: int = 500,
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        self.make_player, self.find_policy = make_player, find_policy
        self.policy_first = policy_first
        self.visits, self.seed, self.threads = visits, seed, threads
        self._player: Player | None = None
        self._making = threading.Lock()
        self._writing = threading.Lock()
        self._changed = threading.Condition()
        self._queue: list[tuple[float, int, _Task]] = []
        self._counter = itertools.count()
        self._running: list[_Task] = []
        self._ended = False
        self._warned: set[str] = set()
        self._target: BinaryIO | None = None

    def run(self, source: BinaryIO, target: BinaryIO) -> None:
        """Serve one session: answer everything asked before the input ended."""
        self._target = target
        workers = [threading.Thread(target=self._work, daemon=True) for _ in range(self.threads)]
        for worker in workers:
            worker.start()
        try:
            while (raw := source.readline(_MAX_LINE)) and not self._ended:
                if not raw.strip():
                    continue
                if len(raw) >= _MAX_LINE and not raw.endswith(b"\n"):
                    while raw and not raw.endswith(b"\n"):
                        raw = source.readline(_MAX_LINE)
                    self._write({"error": "the line is too long"})
                else:
                    self.handle(raw)
        except KeyboardInterrupt:
            self._abandon()
            raise
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify_all()
            for worker in workers:
                worker.join()
            close = getattr(self._player, "close", None)
            if close is not None:
                close()

    def handle(self, raw: bytes) -> None:
        """Read one line: queue a query, do an action at once."""
        try:
            value = json.loads(raw.decode("utf-8"))
        except (ValueError, RecursionError) as failure:
            self._write({"error": f"no JSON on this line: {str(failure)[:100]}"})
            return
        if not isinstance(value, dict):
            self._write({"error": "the line is no JSON object"})
        elif not isinstance(value.get("id"), str):
            self._write({"error": "must be a string", "field": "id"})
        elif "action" in value:
            self._act(value)
        else:
            self._ask(value)

    # ----- Queries and actions -----

    def _ask(self, value: dict[str, Any]) -> None:
        """Queue the turns of a query."""
        try:
            query = parse_query(value)
        except QueryError as mistake:
            self._write({"error": str(mistake), "field": mistake.field, "id": value["id"]})
            return
        except Exception as bug:  # one query must not end the session of the others
            self._write_bug(bug, value["id"])
            return
        for name, text in query.warnings():
            # Once is enough: KaTrain sends the same options with every query.
            if name not in self._warned:
                self._warned.add(name)
                self._write({"warning": text, "field": name, "id": query.id})
        with self._changed:
            for turn in query.turns:
                entry = (-turn.priority, next(self._counter), _Task(query, turn))
                heapq.heappush(self._queue, entry)
            self._changed.notify_all()

    def _act(self, value: dict[str, Any]) -> None:
        """Do an action and repeat it as its answer."""
        match value["action"]:
            case "query_version":
                self._write({**value, "version": f"tengen-{__version__}", "git_hash": ""})
            case "query_models":
                self._write({**value, "models": []})
            case "clear_cache":
                self._write(value)  # players keep nothing between positions
            case "terminate" if not isinstance(value.get("terminateId"), str):
                self._refuse(value, "must be a string", "terminateId")
            case "terminate":
                self._terminate(value, value["terminateId"])
            case "terminate_all":
                self._terminate(value, None)
            case action:
                self._refuse(value, f"there is no action {str(action)[:40]!r}", "action")

    def _terminate(self, value: dict[str, Any], which: str | None) -> None:
        """Stop what runs and drop what waits; every turn still gets an answer."""
        numbers = value.get("turnNumbers")
        if numbers is not None and not isinstance(numbers, list):
            self._refuse(value, "must be a list of integers", "turnNumbers")
            return

        def meant(task: _Task) -> bool:
            return (which is None or task.query.id == which) and (
                numbers is None or task.turn.number in numbers
            )

        with self._changed:
            waiting = sorted(self._queue, key=lambda entry: entry[1])
            dropped = [entry[2] for entry in waiting if meant(entry[2])]
            self._queue = [entry for entry in self._queue if not meant(entry[2])]
            heapq.heapify(self._queue)
            running = [task for task in self._running if meant(task)]
        # The answer to the action comes before those of the stopped turns.
        self._write(value)
        for task in running:
            task.stopped.set()
        for task in dropped:
            self._write(_nothing(task))

    def _refuse(self, value: dict[str, Any], message: str, name: str) -> None:
        self._write({"error": message, "field": name, "id": value["id"]})

    # ----- Work -----

    def _work(self) -> None:
        """Analyse turns until the input has ended and the queue is empty."""
        while (task := self._next()) is not None:
            try:
                self._write(self._analyse(task))
            except TengenError as failure:
                self._write({"error": str(failure), "id": task.query.id, "field": "rules"})
            except Exception as bug:
                self._write_bug(bug, task.query.id)
            finally:
                with self._changed:
                    if task in self._running:
                        self._running.remove(task)

    def _next(self) -> _Task | None:
        """Wait for the next task; None when there will be none."""
        with self._changed:
            while not self._queue and not self._ended:
                self._changed.wait()
            if not self._queue:
                return None
            task = heapq.heappop(self._queue)[2]
            self._running.append(task)
            return task

    def _analyse(self, task: _Task) -> dict[str, Any]:
        """Analyse one turn, with reports during the search if asked for; return the answer."""
        query, turn = task.query, task.turn
        board = turn.board
        player = self._made(board)
        if not plays_on(player, board.rows, board.cols):
            raise TengenError(f"{player.name} does not play on {board.rows}x{board.cols}")
        player = limit_visits(player, query.visits or self.visits)
        if (query.avoid or query.allow) and isinstance(player, NarrowablePlayer):
            moves = [m for m in board.legal_moves if query.allows(board.turn, m)]
            player = player.only(moves) if moves else player
        report = None
        for following in self._reports(player, task):
            if report is not None and query.fields.reportDuringSearchEvery and report.visits:
                shares = self._policy(query, report, board)
                self._write(format_result(query, turn, report, shares, during=True))
            report = following
        if report is None or (task.stopped.is_set() and not report.visits):
            return _nothing(task)
        if (query.avoid or query.allow) and not query.allowed(board.turn, report):
            report = self._explore(player, task, report)
        shares = self._policy(query, report, board)
        return format_result(query, turn, report, shares)

    def _explore(self, player: Player, task: _Task, report: Report) -> Report:
        """Search some moves that a query allows and the player ignored, the likeliest if known."""
        query, board = task.query, task.turn.board
        rng = np.random.default_rng([self.seed & (2**64 - 1), task.turn.number, 1])
        moves = [m for m in board.legal_moves if m != PASS and query.allows(board.turn, m)]
        rng.shuffle(moves)
        if (policy := self._policy(query, report, board)) is not None:
            moves.sort(key=lambda m: -policy[index_of(m, board.rows, board.cols)])
        shallow = limit_visits(player, max((query.visits or self.visits) // _EXPLORED, 1))
        found = []
        for move in moves[:_EXPLORED]:
            after = board.copy()
            after.play(move)
            turn = Turn(task.turn.number, after, 0.0)
            *_, below = self._reports(shallow, _Task(query, turn, task.stopped))
            if below.visits:
                line = below.candidates[0].pv if below.candidates else ()
                found.append(
                    Candidate(move, below.visits, below.winrate, below.score, pv=(move, *line))
                )
        found.sort(key=lambda c: c.winrate, reverse=board.turn == BLACK)
        return replace(report, candidates=(*found, *report.candidates))

    def _reports(self, player: Player, task: _Task) -> Iterator[Report]:
        """Yield an analyser's reports, or one report of another player's choice."""
        query, board = task.query, task.turn.board
        rng = np.random.default_rng([self.seed & (2**64 - 1), task.turn.number])
        limit = query.fields.overrideSettings.maxTime
        end = time.monotonic() + min(limit, _NEVER) if limit else None

        def stop() -> bool:
            return task.stopped.is_set() or (end is not None and time.monotonic() >= end)

        if isinstance(player, Analyser):
            every = query.fields.reportDuringSearchEvery or _NEVER
            return player.analyse(board.copy(), rng, interval=every, limited=True, stop=stop)
        return iter([Report.of_choice(int(player.choose(board.copy(), rng)))])

    def _policy(self, query: Query, report: Report, board: Board) -> FloatArray | None:
        """Return the policy, if asked for: the player's network's, a model's, or by visits."""
        if not query.fields.includePolicy:
            return None
        if report.raw_policy is not None and not self.policy_first:
            return report.raw_policy
        model = self.find_policy(board)
        return visit_shares(report, board) if model is None else model.priors(board)

    def _made(self, board: Board) -> Player:
        """Return the player, made once.

        It looks at a position before any clock runs: loading or compiling its kernels would
        otherwise use up the time of the first search.
        """
        with self._making:
            if self._player is None:
                player = self.make_player()
                if isinstance(player, Analyser) and plays_on(player, board.rows, board.cols):
                    next(iter(player.analyse(board, np.random.default_rng(0), stop=lambda: True)))
                self._player = player
            return self._player

    # ----- Writing -----

    def _write(self, answer: dict[str, Any]) -> None:
        """Write one line from any thread; stop everything when nobody listens."""
        line = json.dumps(answer).encode("utf-8") + b"\n"
        try:
            with self._writing:
                assert self._target is not None
                self._target.write(line)
                self._target.flush()
        except BrokenPipeError:
            self._abandon()

    def _write_bug(self, bug: Exception, name: str) -> None:
        """Report a bug: with its traceback on standard error, in one line as the answer."""
        traceback.print_exception(bug, file=sys.stderr)
        self._write({"error": f"internal error: {type(bug).__name__}: {bug}", "id": name})

    def _abandon(self) -> None:
        """Stop everything: nobody listens any more."""
        with self._changed:
            self._queue.clear()
            for task in self._running:
                task.stopped.set()
            self._ended = True
            self._changed.notify_all()


def _nothing(task: _Task) -> dict[str, Any]:
    """Answer a turn that was terminated before there was a result."""
    answer = {"id": task.query.id, "isDuringSearch": False, "noResults": True}
    return {**answer, "turnNumber": task.turn.number}
