"""One game between two players: how it ended and whose fault that was.

A player that plays an illegal move or exceeds the time limit loses the game. A player that fails
(an engine that crashed, an exception) makes the game void, since that says nothing about strength;
void games are played again.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from tengen import __version__
from tengen.arena.tournament import GameJob, GameKey
from tengen.board import BLACK, COLOUR_NAMES, PASS, RESIGN, WHITE, Board, Point, format_gtp
from tengen.contracts import Player, ScoreEstimator
from tengen.errors import EngineError, TengenError
from tengen.gtp.client import EngineBadAnswer, EngineIllegalMove, EngineRefusal, EngineTimeout
from tengen.records import GameRecord, Result
from tengen.records.sgf_properties import format_text

Reason = Literal["passes", "resign", "length", "illegal", "answer", "time", "failure"]
"""How a game ended; `illegal`, `answer`, `time` and `failure` are faults of a player."""

_REASON_WORDS: dict[Reason, str] = {
    "passes": "both passed",
    "resign": "resignation",
    "length": "stopped at the limit of plies and counted",
    "illegal": "illegal move",
    "answer": "invalid answer",
    "time": "time limit exceeded",
    "failure": "a player failed; the game is void",
}

_SHORTEST_SHOWN = 0.01  # moves that took fewer seconds have no time in the record


@dataclass
class PlayedGame:
    """A game that was played, as it is written into the database."""

    job: GameJob
    result: Result
    reason: Reason
    moves: list[tuple[int, Point]]  # (colour, point) of all plies, the opening included
    fault: str = ""  # name of the player whose fault ended the game, if any
    detail: str = ""
    seconds: dict[int, float] = field(default_factory=lambda: {BLACK: 0.0, WHITE: 0.0})
    move_seconds: list[float] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    started: str = ""
    wall: float = 0.0  # seconds from start to end

    @property
    def key(self) -> GameKey:
        """Which game of the tournament it is."""
        return self.job.key

    @property
    def is_void(self) -> bool:
        """Whether it has to be played again."""
        return self.result.kind == "void"

    @property
    def winner(self) -> str | None:
        """The winner's name, None for draws and void games."""
        entrants = {BLACK: self.job.black, WHITE: self.job.white}
        return entrants[self.result.winner].name if self.result.winner in entrants else None

    @property
    def vertices(self) -> str:
        """All plies as GTP vertices, one space between; Black and White alternate."""
        rows, cols = self.job.conditions.rows, self.job.conditions.cols
        return " ".join(format_gtp(point, rows, cols) for _, point in self.moves)

    def sgf(self) -> str:
        """Return the game as SGF, with everything needed to repeat it."""
        job, terms = self.job, self.job.conditions
        record = GameRecord(
            rows=terms.rows, cols=terms.cols, moves=self.moves, komi=terms.komi, rules=terms.rules,
            result=self.result,
        )  # fmt: skip
        nodes = record.tree.nodes
        first, second, number = job.key
        texts = {
            "AP": f"Tengen:{__version__}",
            "PB": job.black.name,
            "PW": job.white.name,
            "DT": self.started[:10],
            "GN": f"{first} - {second}, game {number + 1}",
            "RE": str(self.result),
            "C": self._remarks(),
        }
        nodes[0].update({name: [format_text(text)] for name, text in texts.items()})
        first_own = len(nodes) - len(self.move_seconds)
        for node, seconds in zip(nodes[first_own:], self.move_seconds, strict=True):
            if seconds >= _SHORTEST_SHOWN:
                node["C"] = [format_text(f"{seconds:.2f} s")]
        return record.sgf().decode("utf-8")

    def _remarks(self) -> str:
        """Describe players, versions and the end of the game."""
        job = self.job
        lines = [
            f"{COLOUR_NAMES[colour]}: {entrant.name} ({self.versions.get(entrant.name, '?')}), "
            f"{entrant.spec}, {self.seconds[colour]:.3f} s"
            for colour, entrant in ((BLACK, job.black), (WHITE, job.white))
        ]
        ending = _REASON_WORDS[self.reason] + (f": {self.detail}" if self.detail else "")
        lines += [
            f"seed {job.seed}, opening of {len(job.opening)} plies",
            f"counted by {job.conditions.counter}",
            f"end: {ending}",
        ]
        return "\n".join(lines)


def play_game(
    job: GameJob,
    black: Player,
    white: Player,
    *,
    scorer: ScoreEstimator | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> PlayedGame:
    """Play the game of a job; `scorer` counts it if the conditions say so."""
    referee = _Referee(job, {BLACK: black, WHITE: white}, clock)
    start = clock()
    referee.play(scorer)
    referee.game.wall = clock() - start
    return referee.game


def void_game(job: GameJob, colour: int, failure: Exception) -> PlayedGame:
    """Return the game of a job that could not begin because one player is missing."""
    referee = _Referee(replace(job, opening=()), {}, time.perf_counter)
    referee.fail(colour, failure)
    return replace(referee.game, job=job)


class _Referee:
    """Request moves from the players in turn, check them and end the game."""

    def __init__(
        self, job: GameJob, players: dict[int, Player], clock: Callable[[], float]
    ) -> None:
        self.players, self.clock, self.conditions = players, clock, job.conditions
        rows, cols, komi = job.conditions.rows, job.conditions.cols, job.conditions.komi
        self.board = Board(rows, cols, rules=job.conditions.rules, komi=komi)
        for point in job.opening:
            self.board.play(self.board.to_point(point))
        self.game = PlayedGame(job, Result("void"), "failure", self.board.moves)
        self.game.started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self.generators = {colour: np.random.default_rng([job.seed, colour]) for colour in players}

    def play(self, scorer: ScoreEstimator | None) -> None:
        """Play until the game is over."""
        if not self._greet():
            return
        while not self.board.is_over:
            if len(self.board.moves) >= self.conditions.ply_limit:
                self._count("length", scorer)
                return
            if not self._ply():
                return
        self._count("passes", scorer)

    def _greet(self) -> bool:
        """Announce the game to the players; return False if one fails."""
        for colour, player in self.players.items():
            entrant = self.game.job.black if colour == BLACK else self.game.job.white
            try:
                begin = getattr(player, "new_game", None)
                if begin is not None:
                    begin(int(self.generators[colour].integers(2**31)))
                self.game.versions[entrant.name] = str(getattr(player, "version", __version__))
            except Exception as failure:
                self.fail(colour, failure)
                return False
        return True

    def _ply(self) -> bool:
        """Let the side to move play; return False when that ended the game."""
        colour = self.board.turn
        start = self.clock()
        try:
            answer = self.players[colour].choose(self.board.copy(), self.generators[colour])
        except Exception as failure:
            self.fail(colour, failure)
            return False
        took = self.clock() - start
        self.game.seconds[colour] += took
        limit = self.conditions.move_seconds
        if limit is not None and took > limit:
            self._lose(colour, "time", f"{took:.2f} s for a move, {limit:g} s allowed")
            return False
        try:
            move = self.board.to_point(answer)
            if move is RESIGN and self.conditions.resign:
                self._end("resign", Result("resign", BLACK + WHITE - colour))
                return False
            self.board.play(PASS if move is RESIGN else move)
        except TengenError as mistake:
            self._lose(colour, "illegal", str(mistake))
            return False
        self.game.move_seconds.append(took)
        return True

    def _count(self, reason: Reason, scorer: ScoreEstimator | None) -> None:
        """End the game by counting it."""
        if self.conditions.counter == "scorer":
            if scorer is None:
                raise TengenError("the learned scorer must count this game, but there is none")
            score = float(scorer.score(self.board.copy()).score)
        else:
            score = self.board.area_score()
        if score == 0:
            self._end(reason, Result("draw"))
        else:
            winner = BLACK if score > 0 else WHITE
            self._end(reason, Result("score", winner, abs(score)))

    def fail(self, colour: int, failure: Exception) -> None:
        """End the game because of a player's failure: void, or lost."""
        engine = isinstance(failure, EngineError)
        text = str(failure) if engine else f"{type(failure).__name__}: {failure}"
        if lost := _lost_by(failure):
            self._lose(colour, lost, text)
        else:
            self._blame(colour, text)

    def _lose(self, colour: int, reason: Reason, detail: str) -> None:
        """Give the game to the other side for a fault."""
        self._blame(colour, detail)
        kind = "time" if reason == "time" else "forfeit"
        self._end(reason, Result(kind, BLACK + WHITE - colour))

    def _blame(self, colour: int, detail: str) -> None:
        job = self.game.job
        self.game.fault = (job.black if colour == BLACK else job.white).name
        self.game.detail = f"{COLOUR_NAMES[colour]}, move {len(self.board.moves) + 1}: {detail}"

    def _end(self, reason: Reason, result: Result) -> None:
        self.game.reason, self.game.result = reason, result


def _lost_by(failure: Exception) -> Reason | None:
    """Return how a failure loses the game; None if it makes the game void (a crash)."""
    match failure:
        case EngineIllegalMove():
            return "illegal"
        case EngineBadAnswer():
            return "answer"
        case EngineRefusal() if failure.command.split(" ")[0] in ("play", "genmove"):
            return "answer"
        case EngineTimeout() if "genmove" in failure.command:
            return "time"
    return None
