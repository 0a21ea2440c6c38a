"""Simple scorers and GNU Go, to compare a learned scorer with.

Each says which stones of finished games are dead; all are counted alike. GNU Go gets a fresh
process per game, so that an answer depends on the game alone, and a time limit. Its answers are
appended to a JSON-lines file at once, so that an interrupted measurement continues.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tengen.arrays import BoolArray
from tengen.board import BLACK, WHITE, Board, parse_gtp, playouts, row_col
from tengen.board.counting import Method, unconditional
from tengen.errors import TengenError
from tengen.gtp.client import Client, EngineFault, EngineRefusal, Limits, find_program
from tengen.lab.steps import Journal
from tengen.learners.scoring import BlockScorer
from tengen.learners.scoring.scored_games import Accuracy, Progress, ScoredGame, evaluate
from tengen.records import GameRecord

PROGRAM = "gnugo"
TIME_LIMIT = 120.0
"""Seconds per game."""


@dataclass(frozen=True)
class DeadStones:
    """An engine's answer for one game: the vertices of dead stones, or why there is none."""

    key: str
    """The engine and a digest of the game's SGF."""
    dead: list[str] | None
    seconds: float
    """Processor time if the engine reports it, else elapsed time."""
    limit: float
    failure: str = ""


class DeadLists:
    """GNU Go's dead stones at one level, stored in a file if one is given."""

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
        try:
            self._known = {row["key"]: DeadStones(**row) for row in self._journal.rows()}
        except TypeError:
            raise TengenError(f"{stored}: has no answers about dead stones") from None

    def ask(self, record: GameRecord) -> DeadStones:
        """Return the dead stones of a game's last position, or the failure.

        A game on which the engine failed is tried again only with a longer limit.
        """
        text = record.utf8_sgf(main_line=True)
        key = f"{self.engine} {hashlib.sha256(text).hexdigest()[:24]}"
        before = self._known.get(key)
        if before is not None and (before.dead is not None or before.limit >= self.limit):
            return before
        answer = self._known[key] = self._ask(text, key)
        self._journal.append(asdict(answer))
        return answer

    def _ask(self, text: bytes, key: str) -> DeadStones:
        limits = Limits(startup=self.limit, command=self.limit, close=1.0)
        begin = time.monotonic()
        dead: list[str] | None = None
        failure, seconds = "", 0.0
        with tempfile.TemporaryDirectory(prefix="tengen-") as folder:
            file = Path(folder) / "game.sgf"
            file.write_bytes(text)
            try:
                with Client.start(self.command, limits=limits) as client:
                    client.command("loadsgf", file)
                    left = max(0.1, self.limit - (time.monotonic() - begin))
                    words = client.command("final_status_list", "dead", timeout=left).split()
                    seconds = time.monotonic() - begin
                    with suppress(EngineRefusal, ValueError):
                        seconds = float(client.command("cputime"))
                dead = words
            except EngineFault as fault:
                failure = f"{fault.kind}: {fault.reason}"
                seconds = time.monotonic() - begin
        return DeadStones(key, dead, round(seconds, 3), self.limit, failure)


# ----- Measuring -----

_Way = Callable[[ScoredGame], BoolArray]


def _nobody_dead(game: ScoredGame) -> BoolArray:
    """Treat every stone as alive."""
    return np.zeros(game.grid.shape, np.bool_)


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


SIMPLE: dict[str, _Way] = {
    "all alive": _nobody_dead,
    "benson": _benson_dead,
    "playout majority": _playout_dead,
}


def measure_simple(
    name: str,
    games: Sequence[ScoredGame],
    method: Method,
    progress: Progress = lambda name, done, of: None,
) -> dict[str, Any]:
    """Measure one of the simple scorers."""
    found = Accuracy()
    begin = time.process_time()
    for game in games:
        found.add(game.margin(SIMPLE[name](game), method), game)
        progress(name, found.games, len(games))
    found.seconds = time.process_time() - begin
    return {"name": name, **found.rates(), "failed": 0}


def measure_gnugo(
    games: Sequence[ScoredGame],
    method: Method,
    *,
    level: int = 10,
    stored: Path | None = None,
    limit: float = TIME_LIMIT,
    progress: Progress = lambda name, done, of: None,
) -> dict[str, Any]:
    """Measure GNU Go; a game on which it fails counts as wrong and is reported."""
    lists = DeadLists(level, stored=stored, limit=limit)
    found, failed = Accuracy(), 0
    for game in games:
        answer = lists.ask(game.record())
        found.seconds += answer.seconds
        if answer.dead is None:
            failed += 1
            found.fail()
        else:
            found.add(game.margin(_mask(game, answer.dead), method), game)
        progress(lists.engine, found.games, len(games))
    return {"name": lists.engine, **found.rates(), "failed": failed}


def _mask(game: ScoredGame, vertices: Sequence[str]) -> BoolArray:
    """Return the dead stones as a grid."""
    rows, cols = game.grid.shape
    dead = np.zeros((rows, cols), np.bool_)
    for vertex in vertices:
        dead[row_col(parse_gtp(vertex, rows, cols), cols)] = True
    if (dead & (game.grid == 0)).any():
        raise TengenError(f"an engine called the empty point {' or '.join(vertices)} dead")
    return dead


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
    """Evaluate a scorer, the simple scorers and, if installed, GNU Go at some levels.

    GNU Go may take `limit` seconds per game; its answers are stored in a file.
    """
    found = evaluate(scorer, games, method=method, progress=progress)
    found["baselines"] = [measure_simple(name, games, method, progress) for name in SIMPLE]
    if find_program(PROGRAM) is not None:
        found["baselines"] += [
            measure_gnugo(games, method, level=level, stored=stored, limit=limit, progress=progress)
            for level in levels
        ]
    return found
