"""A server of KataGo's JSON analysis protocol over two streams, for any player.

Turns wait in a queue, highest priority first; threads take them and answer as they finish.
"""

from __future__ import annotations

import heapq
import itertools
import json
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

import numpy as np

from tengen import __version__
from tengen.arrays import FloatArray
from tengen.board import BLACK, Board, index_of
from tengen.contracts.protocols import (
    Analyser,
    JudgingPlayer,
    NarrowablePlayer,
    Player,
    Policy,
    limit_visits,
)
from tengen.contracts.values import Candidate, Report
from tengen.errors import TengenError
from tengen.gtp.analysis_protocol import (
    Query,
    QueryError,
    Turn,
    format_result,
    parse_query,
    visit_shares,
)
from tengen.gtp.protocol import PASS

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
    """Answer queries until the input ends.

    Parameters
    ----------
    make_player
        Makes the player, at the first query.
    find_policy
        Returns the model for `includePolicy` on a board, for players without a network; the
        search's visits replace it if this returns None.
    policy_first
        Prefer that model to the player's own network.
    visits
        Visits per position for queries without a limit.
    seed
        Every random choice follows from it and the number of the turn.
    threads
        Positions to analyse at the same time.
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
        action = value["action"]
        if action == "query_version":
            self._write({**value, "version": f"tengen-{__version__}", "git_hash": ""})
        elif action == "query_models":
            self._write({**value, "models": []})
        elif action == "clear_cache":
            self._write(value)  # players keep nothing between positions
        elif action == "terminate":
            if not isinstance(value.get("terminateId"), str):
                self._refuse(value, "must be a string", "terminateId")
                return
            self._terminate(value, value["terminateId"])
        elif action == "terminate_all":
            self._terminate(value, None)
        else:
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
        player = self._made()
        supports = getattr(player, "supports", None)
        if supports is not None and not supports(board.rows, board.cols):
            raise TengenError(f"{player.name} does not play on {board.rows}x{board.cols}")
        player = limit_visits(player, query.visits or self.visits)
        if (query.avoid or query.allow) and isinstance(player, NarrowablePlayer):
            moves = [m for m in board.legal_moves if query.allows(board.turn, m)]
            player = player.only(moves) if moves else player
        report = None
        for following in self._reports(player, task):
            if report is not None and query.fields.reportDuringSearchEvery and report.visits:
                shares = self._policy(query, report, board)
                self._write(format_result(query, turn, report, during=True, policy=shares))
            report = following
        if report is None or (task.stopped.is_set() and not report.visits):
            return _nothing(task)
        if (query.avoid or query.allow) and not query.allowed(board.turn, report):
            report = self._explore(player, task, report)
        shares = self._policy(query, report, board)
        return format_result(query, turn, report, policy=shares)

    def _explore(self, player: Player, task: _Task, report: Report) -> Report:
        """Search the moves that a query allows and the player ignored.

        They are the likeliest by the policy, or random; each gets an equal share of visits.
        """
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

    def _made(self) -> Player:
        """Return the player, made once."""
        with self._making:
            if self._player is None:
                made = self.make_player()
                self._player = made.judge if isinstance(made, JudgingPlayer) else made
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
    return {
        "id": task.query.id,
        "isDuringSearch": False,
        "noResults": True,
        "turnNumber": task.turn.number,
    }
