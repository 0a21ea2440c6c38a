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
import select
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, BinaryIO, Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, BeforeValidator, Field, StrictBool, StrictStr, ValidationError

from tengen import __version__, contracts
from tengen.arrays import FloatArray
from tengen.board import BLACK, WHITE, Board, Point, Rules, format_gtp, index_of, parse_gtp
from tengen.contracts import Analyser, Candidate, Player, SearchInfo, plays_on
from tengen.errors import IllegalMoveError, TengenError
from tengen.gtp.commands import changed_rules
from tengen.gtp.protocol import COLOURS, LARGEST, RESIGN, SMALLEST

_IGNORED = ("rootPolicyTemperature", "rootFpuReductionMax")
_LARGEST_KOMI, _MOST_MOVES, _MOST_TURNS = 150.0, 5000, 1000


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


class _Settings(BaseModel, extra="allow"):
    """The part of overrideSettings that is supported."""

    reportAnalysisWinratesAs: Annotated[
        Literal["BLACK", "WHITE", "SIDETOMOVE"], BeforeValidator(lambda word: str(word).upper())
    ] = "BLACK"
    humanSLProfile: StrictStr | None = Field(
        default=None, pattern=rf"^((rank|preaz)_{_RANK}(_{_RANK})?|proyear_\d{{4}})?$"
    )
    """Whose moves are reported besides the search's: a rank's, or both sides' ranks."""
    maxTime: _Number | None = Field(default=None, ge=0, le=1e20)
    maxVisits: _Visits = None
    maxPlayouts: _Visits = None


class QueryFields(BaseModel, extra="allow"):
    """The fields of a query by KataGo's names; unused ones are accepted."""

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


@dataclass(eq=False)
class Turn:
    """One position to analyse, waiting or running: the board after `number` moves."""

    number: int
    board: Board
    priority: float
    stopped: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class Query:
    """A query, read and checked."""

    fields: QueryFields
    turns: list[Turn]
    avoid: dict[int, frozenset[int]]
    allow: dict[int, frozenset[int]]
    """Moves of each colour that must not be reported, and the only ones to report."""

    def rank_of(self, colour: int) -> str:
        """Return the rank whose moves are asked for, professionals' as 9d; empty if none is."""
        profile = self.fields.overrideSettings.humanSLProfile or ""
        kind, _, ranks = profile.partition("_")
        black, _, white = ranks.partition("_")
        return "9d" if kind == "proyear" else white if white and colour == WHITE else black

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

    def warnings(self) -> list[tuple[str, str]]:
        """List (field, warning) for fields that are unknown or not supported."""
        fields, settings = self.fields, self.fields.overrideSettings
        found = [(name, "unknown field") for name in fields.model_extra or ()]
        ignored = {name: getattr(fields, name) for name in _IGNORED}
        ignored |= {f"overrideSettings.{k}": v for k, v in (settings.model_extra or {}).items()}
        found += [(name, "not supported") for name, value in ignored.items() if value]
        if isinstance(fields.rules, str):
            try:
                Rules.preset(fields.rules)
            except TengenError as lacking:
                found.append(("rules", str(lacking)))
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
    name = "rules"
    try:
        if isinstance(fields.rules, str):
            rules = Rules.preset(fields.rules, nearest=True)  # KaTrain offers stone scoring
        elif isinstance(fields.rules, dict):
            rules = changed_rules(Rules(), fields.rules)
        else:
            raise TengenError("must be a name or an object")
        if fields.whiteHandicapBonus is not None:
            name = "whiteHandicapBonus"
            rules = changed_rules(rules, {name: fields.whiteHandicapBonus})
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
    black, white = ([p for c, p in stones if c == colour] for colour in (BLACK, WHITE))
    # Programs send games played under other ko rules than they name.
    lenient = board.rules.with_(ko="simple", suicide=True)
    for rules in (board.rules, lenient):
        board = Board(board.rows, board.cols, rules=rules, komi=board.komi)
        try:
            board.set_stones(black=black, white=white, to_play=first)
        except TengenError as mistake:
            raise QueryError(str(mistake), "initialStones") from None
        if not white and len(black) > 1:
            board.handicap = len(black)
        try:
            boards = _replay(board, moves, set(numbers))
            return [Turn(n, boards[n], p) for n, p in zip(numbers, priorities, strict=True)]
        except IllegalMoveError as failure:
            wrong = failure
    # KaTrain looks for these two words.
    raise QueryError(f"Illegal move: {wrong}", "moves")


def _replay(board: Board, moves: list[tuple[int, Point]], wanted: set[int]) -> dict[int, Board]:
    """Return copies of the board after the wanted numbers of moves."""
    boards = {0: board.copy()}
    for number, (colour, point) in enumerate(moves, 1):
        board.play(point, colour)
        if number in wanted:
            boards[number] = board.copy()
    return boards


# ----- Writing -----


def format_result(
    query: Query, turn: Turn, info: SearchInfo, *, during: bool = False
) -> dict[str, Any]:
    """Format one answer; the policy is that of the player's network, or the shares of visits."""
    board, asked, policy = turn.board, query.fields, None
    if asked.includePolicy:
        policy = visit_shares(info, board) if info.raw_policy is None else info.raw_policy
    human = info.raw_policy if info.human_policy is None else info.human_policy
    view = asked.overrideSettings.reportAnalysisWinratesAs
    info = info.seen_by({"BLACK": BLACK, "WHITE": WHITE}.get(view, board.turn))
    shown = [c for c in info.candidates if query.allows(board.turn, c.move)]
    answer: dict[str, Any] = {
        "id": query.fields.id,
        "isDuringSearch": during,
        "turnNumber": turn.number,
        "moveInfos": [_move_info(asked, board, c, i, policy, human) for i, c in enumerate(shown)],
        "rootInfo": _root_info(board, info),
    }
    if asked.includeOwnership and info.ownership is not None:
        answer["ownership"] = _rounded(info.ownership)
    if asked.includeOwnershipStdev and info.ownership_spread is not None:
        answer["ownershipStdev"] = _rounded(info.ownership_spread)
    if policy is not None:
        answer["policy"] = _legal(policy, board)
    if human is not None and (asked.includePolicy or asked.overrideSettings.humanSLProfile):
        answer["humanPolicy"] = _legal(human, board)
    return answer


def _root_info(board: Board, info: SearchInfo) -> dict[str, Any]:
    # KataGo's values of a position are means over all visits, not those of its best move.
    visits = [c.visits for c in info.candidates]
    winrate, score = info.winrate, info.score
    if any(visits):
        winrate = float(np.average([c.winrate for c in info.candidates], weights=visits))
        score = float(np.average([c.score for c in info.candidates], weights=visits))
    found = {
        "currentPlayer": "B" if board.turn == BLACK else "W",
        "visits": info.visits,
        "weight": float(info.visits),
        "winrate": round(winrate, 6),
        "scoreLead": round(score, 4),
        "scoreSelfplay": round(score, 4),
        "utility": round(winrate * 2 - 1, 6),
        "thisHash": f"{board.hash:032X}",
        "symHash": f"{board.hash:032X}",
    }
    known = {
        "scoreStdev": info.spread,
        "rawWinrate": info.raw_winrate,
        "rawLead": info.raw_score,
        "rawScoreSelfplay": info.raw_score,
        "rawScoreSelfplayStdev": info.raw_spread,
    }
    return found | {name: round(v, 6) for name, v in known.items() if not math.isnan(v)}


def _move_info(
    asked: QueryFields,
    board: Board,
    c: Candidate,
    order: int,
    policy: FloatArray | None,
    human: FloatArray | None,
) -> dict[str, Any]:
    index = index_of(c.move, board.rows, board.cols)
    prior = c.prior if policy is None else float(policy[index])
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
        found["humanPrior"] = round(c.prior if human is None else float(human[index]), 8)
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


def visit_shares(info: SearchInfo, board: Board) -> FloatArray:
    """Return a search's shares of visits as a policy, for players without a network."""
    shares = np.zeros(board.rows * board.cols + 1)
    for c in info.candidates:
        if c.move != RESIGN:
            shares[index_of(c.move, board.rows, board.cols)] = max(c.visits, 0)
    total = shares.sum()
    if total == 0:
        shares[-1] = total = 1.0
    return np.asarray(shares / total, np.float64)


# ----- The server -----

_VISITS = 500  # of a player without limits, unless asked for
_LIMITS = ("visits", "playouts", "seconds")
_MAX_LINE = 1 << 22  # bytes; a game of 1000 moves is far shorter
_NEVER = 1e9
_GLANCE = 0.2  # seconds between looks whether anybody waits for the answers


_Task: TypeAlias = tuple[Query, Turn]


class AnalysisServer:
    """Answer queries until the input ends.

    `visits` limits those without their own limit; by default the player's own limits do. `people`
    returns the probabilities of the moves of a rank; without it, they are those that the player's
    network expects of people.
    """

    def __init__(
        self,
        make: Callable[[], Player],
        *,
        visits: int | None = None,
        seed: int = 0,
        threads: int = 1,
        people: Callable[[str, Board], FloatArray] | None = None,
    ) -> None:
        self.people = people
        self.make_player, self.visits, self.seed, self.threads = make, visits, seed, threads
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
        """Serve one session: answer all queries received before the input ended."""
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
                while worker.is_alive():
                    worker.join(_GLANCE)
                    if _is_deserted(target):
                        self._abandon()
            getattr(self._player, "close", lambda: None)()

    def handle(self, raw: bytes) -> None:
        """Handle one line: queue a query, or run an action at once."""
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

    def _ask(self, value: dict[str, Any]) -> None:
        """Queue the turns of a query."""
        try:
            query = parse_query(value)
        except QueryError as mistake:
            self._refuse(str(mistake), mistake.field, value["id"])
            return
        except Exception as bug:  # one query must not end the session of the others
            self._write_bug(bug, value["id"])
            return
        for name, text in query.warnings():
            # Once is enough: KaTrain sends the same options with every query.
            if name not in self._warned:
                self._warned.add(name)
                self._write({"warning": text, "field": name, "id": query.fields.id})
        with self._changed:
            for turn in query.turns:
                heapq.heappush(self._queue, (-turn.priority, next(self._counter), (query, turn)))
            self._changed.notify_all()

    def _act(self, value: dict[str, Any]) -> None:
        """Run an action and echo it as its answer."""
        match value["action"]:
            case "query_version":
                self._write({**value, "version": f"tengen-{__version__}", "git_hash": ""})
            case "query_models":
                self._write({**value, "models": []})
            case "clear_cache":
                self._write(value)  # players keep nothing between positions
            case "terminate" if not isinstance(value.get("terminateId"), str):
                self._refuse("must be a string", "terminateId", value["id"])
            case "terminate":
                self._terminate(value, value["terminateId"])
            case "terminate_all":
                self._terminate(value, None)
            case action:
                self._refuse(f"there is no action {str(action)[:40]!r}", "action", value["id"])

    def _terminate(self, value: dict[str, Any], which: str | None) -> None:
        """Stop what runs and drop what waits; every turn still gets an answer."""
        numbers = value.get("turnNumbers")
        if numbers is not None and not isinstance(numbers, list):
            self._refuse("must be a list of integers", "turnNumbers", value["id"])
            return

        def meant(task: _Task) -> bool:
            query, turn = task
            return which in (None, query.fields.id) and (numbers is None or turn.number in numbers)

        with self._changed:
            waiting = sorted(self._queue, key=lambda entry: entry[1])
            dropped = [task for _, _, task in waiting if meant(task)]
            self._queue = [entry for entry in self._queue if not meant(entry[2])]
            heapq.heapify(self._queue)
            running = [task for task in self._running if meant(task)]
        # The answer to the action comes before those of the stopped turns.
        self._write(value)
        for _, turn in running:
            turn.stopped.set()
        for query, turn in dropped:
            self._write(_nothing(query, turn))

    def _refuse(self, message: str, name: str, query: str) -> None:
        self._write({"error": message, "field": name, "id": query})

    def _work(self) -> None:
        """Analyse turns until the input has ended and the queue is empty."""
        while (task := self._next()) is not None:
            try:
                self._write(self._analyse(*task))
            except QueryError as mistake:
                self._refuse(str(mistake), mistake.field, task[0].fields.id)
            except TengenError as failure:  # of the player, not of the query
                self._write({"error": str(failure), "id": task[0].fields.id})
            except Exception as bug:
                self._write_bug(bug, task[0].fields.id)
            finally:
                with self._changed:
                    self._running.remove(task)

    def _next(self) -> _Task | None:
        """Wait for the next task; None when there will be none."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._ended)
            if not self._queue:
                return None
            task = heapq.heappop(self._queue)[2]
            self._running.append(task)
            return task

    def _analyse(self, query: Query, turn: Turn) -> dict[str, Any]:
        """Analyse one turn, with answers during the search if asked for; return the answer."""
        board = turn.board
        player = self._made(board)
        if not plays_on(player, board.rows, board.cols):
            size = f"{board.rows}x{board.cols}"
            raise QueryError(f"{player.name} does not play on {size}", "boardXSize")
        visits = query.visits or self.visits
        if visits or not any(getattr(player, name, None) for name in _LIMITS):
            player = contracts.limit_visits(player, visits or _VISITS)
        if (query.avoid or query.allow) and isinstance(player, contracts.NarrowablePlayer):
            moves = [m for m in board.legal_moves if query.allows(board.turn, m)]
            player = player.only(moves) if moves else player
        info = None
        for following in self._infos(player, query, turn):
            if info is not None and query.fields.reportDuringSearchEvery and info.visits:
                self._write(format_result(query, turn, info, during=True))
            info = following
        if info is None or (turn.stopped.is_set() and not info.visits):
            return _nothing(query, turn)
        if self.people is not None and (rank := query.rank_of(board.turn)):
            info = replace(info, human_policy=self.people(rank, board))
        return format_result(query, turn, info)

    def _infos(self, player: Player, query: Query, turn: Turn) -> Iterator[SearchInfo]:
        """Yield an analyser's evaluations, or one of another player's choice."""
        board = turn.board.copy()
        rng = np.random.default_rng([self.seed & (2**64 - 1), turn.number])
        limit = query.fields.overrideSettings.maxTime
        end = time.monotonic() + min(limit, _NEVER) if limit else None

        def stop() -> bool:
            return turn.stopped.is_set() or (end is not None and time.monotonic() >= end)

        if isinstance(player, Analyser):
            every = query.fields.reportDuringSearchEvery or _NEVER
            return player.analyse(board, rng, interval=every, limited=True, stop=stop)
        return iter([SearchInfo.of_choice(int(player.choose(board, rng)))])

    def _made(self, board: Board) -> Player:
        """Return the player; a new one first analyses a position to load or compile its kernels."""
        with self._making:
            if self._player is None:
                player = self.make_player()
                if isinstance(player, Analyser) and plays_on(player, board.rows, board.cols):
                    next(iter(player.analyse(board, np.random.default_rng(0), stop=lambda: True)))
                self._player = player
            return self._player

    def _write(self, answer: dict[str, Any]) -> None:
        """Write one line from any thread; stop everything when the reader is gone."""
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
        with self._changed:
            self._queue.clear()
            for _, turn in self._running:
                turn.stopped.set()
            self._ended = True
            self._changed.notify_all()


def _is_deserted(target: BinaryIO) -> bool:
    """Return whether the reader of a pipe is gone; False where that cannot be known."""
    with suppress(AttributeError, OSError):  # Windows cannot poll, and not every stream is a file
        poll = select.poll()
        poll.register(target.fileno(), 0)  # errors alone
        return bool(poll.poll(0))
    return False


def _nothing(query: Query, turn: Turn) -> dict[str, Any]:
    """Answer a turn that was terminated before there was a result."""
    answer = {"id": query.fields.id, "isDuringSearch": False, "noResults": True}
    return {**answer, "turnNumber": turn.number}
