"""Simple scorers and GNU Go, to compare a learned scorer with; all count alike."""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tengen.arrays import BoolArray
from tengen.board import BLACK, WHITE, Board, parse_gtp, playouts, row_col
from tengen.board.counting import Method, unconditional
from tengen.errors import TengenError
from tengen.gtp.client import Client, EngineFault, EngineRefusal, Limits, find_program
from tengen.lab.steps import Journal, Row
from tengen.records import GameRecord
from tengen.scoring import BlockScorer
from tengen.scoring.game_score import Accuracy, Progress, ScoredGame, evaluate

PROGRAM = "gnugo"
TIME_LIMIT = 120.0  # seconds per game


class DeadLists:
    """GNU Go's dead stones at one level, stored in a file if one is given.

    Every game gets a new process, so that an answer depends on the game alone. An answer is a
    row of a `Journal`: `dead` (None if it failed), `failure`, `seconds` (processor time if the
    engine reports it) and the time `limit`.
    """

    def __init__(
        self,
        level: int = 10,
        *,
        stored: Path | None = None,
        limit: float = TIME_LIMIT,
        program: str = PROGRAM,
    ) -> None:
        self.limit = limit
        self.command = (program, "--mode", "gtp", "--quiet", "--level", str(level), "--seed", "1")
        self.engine = f"{Path(program).name} level {level}"
        self._journal = Journal(stored)
        self._known = self._journal.rows()

    def margin(self, game: ScoredGame, method: Method) -> tuple[float | None, float]:
        """Return the score by the engine's dead stones, None if it fails, and the seconds."""
        answer = self.ask(game.record())
        if answer["dead"] is None:
            return None, answer["seconds"]
        rows, cols = game.grid.shape
        dead = np.zeros((rows, cols), np.bool_)
        for vertex in answer["dead"]:
            dead[row_col(parse_gtp(vertex, rows, cols), cols)] = True
        if (dead & (game.grid == 0)).any():
            raise TengenError(
                f"{self.engine} called the empty point {' or '.join(answer['dead'])} dead"
            )
        return game.margin(dead, method), answer["seconds"]

    def ask(self, record: GameRecord) -> Row:
        """Return the dead stones at the end of a game; retry a failure if the limit is longer."""
        text = record.utf8_sgf(main_line=True)
        key = f"{self.engine} {hashlib.sha256(text).hexdigest()[:24]}"
        before = self._known.get(key)
        if before and (before["dead"] is not None or before["limit"] >= self.limit):
            return before
        answer = {"key": key, "limit": self.limit, **self._ask(text)}
        self._known[key] = self._journal.append(answer)
        return answer

    def _ask(self, text: bytes) -> Row:
        limits = Limits(startup=self.limit, command=self.limit, close=1.0)
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="tengen-") as folder:
            file = Path(folder) / "game.sgf"
            file.write_bytes(text)
            try:
                with Client.start(self.command, limits=limits) as client:
                    client.command("loadsgf", file)
                    left = max(0.1, self.limit - (time.monotonic() - begin))
                    client.limits = Limits(command=left, close=1.0)
                    dead = client.command("final_status_list", "dead").split()
                    seconds = time.monotonic() - begin
                    with suppress(EngineRefusal, ValueError):
                        seconds = float(client.command("cputime"))
            except EngineFault as fault:
                seconds = time.monotonic() - begin
                return {"dead": None, "seconds": round(seconds, 3), "failure": fault.reason}
        return {"dead": dead, "seconds": round(seconds, 3), "failure": ""}


def _benson_dead(game: ScoredGame) -> BoolArray:
    """Treat stones inside unconditionally alive enemy groups as dead."""
    black, white = unconditional(game.grid, BLACK), unconditional(game.grid, WHITE)
    dead: BoolArray = ((game.grid == WHITE) & black.points) | ((game.grid == BLACK) & white.points)
    return dead


def _playout_dead(game: ScoredGame, count: int = 400) -> BoolArray:
    """Treat stones as dead that the enemy owns in most light playouts."""
    board = Board.from_grid(game.grid)
    owner = playouts(board, count, seed=1, threads=1).ownership.reshape(game.grid.shape)
    colour = np.where(game.grid == BLACK, 1.0, -1.0)
    return (game.grid > 0) & (owner * colour < 0)


SIMPLE: dict[str, Callable[[ScoredGame], BoolArray]] = {
    "all alive": lambda game: np.zeros(game.grid.shape, np.bool_),
    "benson": _benson_dead,
    "playout majority": _playout_dead,
}


def measure(
    name: str,
    margin_of: Callable[[ScoredGame, Method], tuple[float | None, float]],
    games: Sequence[ScoredGame],
    method: Method,
    progress: Progress,
) -> dict[str, Any]:
    """Measure a scorer that returns margins and seconds; games on which it fails are wrong."""
    found, failed = Accuracy(), 0
    for game in games:
        margin, seconds = margin_of(game, method)
        found.seconds += seconds
        if margin is None:
            failed += 1
            found.off.append(np.inf)
        else:
            found.add(margin, game)
        progress(name, found.games, len(games))
    return {"name": name, **found.rates(), "failed": failed}


def _simple(name: str, game: ScoredGame, method: Method) -> tuple[float, float]:
    begin = time.process_time()
    return game.margin(SIMPLE[name](game), method), time.process_time() - begin


def evaluate_all(
    scorer: BlockScorer,
    games: Sequence[ScoredGame],
    *,
    method: Method = "careful",
    levels: Sequence[int] = (10,),
    stored: Path | None = None,
    limit: float = TIME_LIMIT,
    progress: Progress = lambda name, done, of: None,
) -> dict[str, Any]:
    """Evaluate a scorer, the simple scorers and, if installed, GNU Go at some levels."""
    found = evaluate(scorer, games, method=method, progress=progress)
    others: dict[str, Any] = {name: partial(_simple, name) for name in SIMPLE}
    if find_program(PROGRAM) is not None:
        lists = [DeadLists(level, stored=stored, limit=limit) for level in levels]
        others |= {each.engine: each.margin for each in lists}
    baselines = [measure(name, way, games, method, progress) for name, way in others.items()]
    return {**found, "baselines": baselines}
