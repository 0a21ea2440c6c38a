"""Measure scorers against recorded results, and the simple ways of scoring beside them.

A game counts as exact if counting with the scorer's dead stones gives the recorded score, under
the rules its RU names. Nothing here trains.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.board import BLACK, WHITE, Board, Rules, playouts
from tengen.board.counting import Method, count_area, count_territory, handicap_compensation
from tengen.board.safety import unconditional
from tengen.errors import TengenError
from tengen.learners.scoring.bundle import positions
from tengen.learners.scoring.learner import BlockScorer
from tengen.records import Corpus, GameArrays

Grid = NDArray[np.int8]
Bools = NDArray[np.bool_]
GNUGO = ("gnugo", "--mode", "gtp", "--level", "10")


@dataclass
class Case:
    """One finished game: its last position and what is known of its count."""

    grid: Grid
    taken: tuple[int, int]
    komi: float
    handicap: int
    rules: Rules
    score: float

    def margin(self, dead: Bools, method: Method) -> float:
        """Return the score for Black, komi included, given the dead stones."""
        if self.rules.scoring == "area":
            bonus = handicap_compensation(self.handicap, self.rules.handicap_bonus)
            return count_area(self.grid, dead, komi=self.komi, handicap=bonus).score
        return count_territory(
            self.grid, dead, method=method, komi=self.komi, prisoners=self.taken
        ).score


def rules_named(name: str) -> Rules:
    """Return the rules of an RU, Japanese ones for names we do not know."""
    try:
        return Rules.preset(name)
    except TengenError:
        return Rules.preset("japanese")


def read_cases(files: Sequence[str | Path]) -> list[Case]:
    """Read all games with a counted result to their last position."""
    games: GameArrays = Corpus(list(files)).as_arrays()
    games = games.where(np.isfinite(games.score))
    grids, taken = positions(games)
    return [
        Case(
            np.ascontiguousarray(grids[i][: games.rows[i], : games.cols[i]]),
            (int(taken[i, 0]), int(taken[i, 1])),
            float(games.komi[i]),
            int(games.handicap[i]),
            rules_named(str(games.rules[i])),
            float(games.score[i]),
        )
        for i in range(len(games))
    ]


@dataclass
class Tally:
    """Right and wrong counts of one way of scoring."""

    right: int = 0
    close: int = 0
    winner: int = 0
    games: int = 0
    seconds: float = 0.0

    def add(self, margin: float, case: Case) -> bool:
        """Compare one count with the record; return whether it is exact."""
        exact = abs(margin - case.score) < 0.01
        self.games += 1
        self.right += exact
        self.close += abs(margin - case.score) < 1.01
        self.winner += np.sign(margin) == np.sign(case.score)
        return exact

    def rates(self) -> dict[str, float]:
        """Return the fractions of exact games and right winners, and the time."""
        n = max(self.games, 1)
        return {
            "exact": self.right / n,
            "winner": self.winner / n,
            "seconds_per_game": self.seconds / n,
        }


def nobody_dead(case: Case) -> Bools:
    """Take every stone for alive."""
    return np.zeros(case.grid.shape, np.bool_)


def benson_dead(case: Case) -> Bools:
    """Take for dead what stands in the eyes of unconditionally living enemies, nothing else."""
    black, white = unconditional(case.grid, BLACK), unconditional(case.grid, WHITE)
    dead: Bools = ((case.grid == WHITE) & black.points) | ((case.grid == BLACK) & white.points)
    return dead


def playout_dead(case: Case, count: int = 400) -> Bools:
    """Take for dead what most light playouts give to the other side."""
    board = Board.from_grid(case.grid)
    owner = playouts(board, count, seed=1, threads=1).ownership.reshape(case.grid.shape)
    colour = np.where(case.grid == BLACK, 1.0, -1.0)
    return (case.grid > 0) & (owner * colour < 0)


def gnugo_dead(case: Case) -> Bools:
    """Ask an installed GNU Go (level 10) for its dead stones; the position goes in as a file.

    Raises
    ------
    TengenError
        If it does not answer within two minutes.
    """
    rows = case.grid.shape[0]
    stones = {
        name: "".join(f"[{chr(97 + c)}{chr(97 + r)}]" for r, c in np.argwhere(case.grid == colour))
        for name, colour in (("AB", BLACK), ("AW", WHITE))
    }
    setup = "".join(name + points for name, points in stones.items() if points)
    dead = np.zeros(case.grid.shape, np.bool_)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "position.sgf"
        file.write_text(f"(;GM[1]FF[4]SZ[{rows}]KM[{case.komi:g}]{setup})")
        try:
            done = subprocess.run(
                GNUGO,
                input=f"loadsgf {file}\nfinal_status_list dead\nquit\n",
                capture_output=True,
                text=True,
                timeout=120,
            )
        except subprocess.TimeoutExpired:
            raise TengenError("GNU Go did not say within 120 s which stones are dead") from None
    answers = done.stdout.split("\n\n")
    for vertex in answers[1].replace("=", " ").split():
        dead[rows - int(vertex[1:]), "ABCDEFGHJKLMNOPQRSTUVWXYZ".index(vertex[0].upper())] = True
    return dead


def baseline_ways() -> dict[str, Callable[[Case], Bools]]:
    """Return the ways to compare with; GNU Go where it is installed."""
    ways: dict[str, Callable[[Case], Bools]] = {
        "all alive": nobody_dead,
        "benson": benson_dead,
        "playout majority": playout_dead,
    }
    if shutil.which(GNUGO[0]):
        ways["gnugo level 10"] = gnugo_dead
    return ways


def evaluate(
    scorer: BlockScorer,
    files: Sequence[str | Path],
    *,
    method: Method = "careful",
    baselines: bool = False,
    tell: Callable[[int], None] = lambda done: None,
) -> dict[str, Any]:
    """Score all games of some files and compare with their recorded results."""
    scorer.read(np.array([[0, 1, 2], [1, 1, 2], [0, 1, 2]], np.int8))  # load kernels untimed
    ours = Tally()
    begin = time.process_time()
    cases = read_cases(files)
    if not cases:
        raise TengenError(f"{', '.join(map(str, files))}: no games with a counted result")
    safe = exact_when_safe = 0
    for i, case in enumerate(cases):
        reading = scorer.read(case.grid)
        exact = ours.add(case.margin(reading.dead, method), case)
        safe += reading.safe
        exact_when_safe += reading.safe and exact
        tell(i + 1)
    ours.seconds = time.process_time() - begin
    found: dict[str, Any] = {
        "games": ours.games,
        **ours.rates(),
        "within1": ours.close / ours.games,
        "safe": safe / ours.games,
        "exact_when_safe": exact_when_safe / safe if safe else None,
        "count": method,
    }
    if baselines:
        found["baselines"] = []
        for name, way in baseline_ways().items():
            # An engine that hangs must not cost the rest of the measurement.
            with suppress(TengenError):
                found["baselines"].append({"name": name, **_measure(way, cases, method)})
    return found


def _measure(way: Callable[[Case], Bools], cases: list[Case], method: Method) -> dict[str, float]:
    """Tally one baseline; its time is the wall's, since GNU Go runs in another process."""
    tally = Tally()
    begin = time.perf_counter()
    for case in cases:
        tally.add(case.margin(way(case), method), case)
    tally.seconds = time.perf_counter() - begin
    return tally.rates()
