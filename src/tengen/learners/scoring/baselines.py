"""Score finished games by the simple ways that a learned scorer is compared with.

Each way says which stones are dead; the count is the same for all (see `evaluation`). Nothing
here is learned.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tengen.arrays import BoolArray
from tengen.board import BLACK, WHITE, Board, parse_gtp, playouts, row_col
from tengen.board.counting import Method
from tengen.board.safety import unconditional
from tengen.errors import TengenError
from tengen.learners.scoring import gnugo
from tengen.learners.scoring.cases import Case, Comparison

_Way = Callable[[Case], BoolArray]
Tell = Callable[[str, int, int], None]
"""Called with the name of a scorer, the games done and their number."""


def _nobody_dead(case: Case) -> BoolArray:
    """Take every stone for alive."""
    return np.zeros(case.grid.shape, np.bool_)


def _benson_dead(case: Case) -> BoolArray:
    """Take for dead what stands in the eyes of unconditionally living enemies, nothing else."""
    black, white = unconditional(case.grid, BLACK), unconditional(case.grid, WHITE)
    dead: BoolArray = ((case.grid == WHITE) & black.points) | ((case.grid == BLACK) & white.points)
    return dead


def _playout_dead(case: Case, count: int = 400) -> BoolArray:
    """Take for dead what most light playouts give to the other side."""
    board = Board.from_grid(case.grid)
    owner = playouts(board, count, seed=1, threads=1).ownership.reshape(case.grid.shape)
    colour = np.where(case.grid == BLACK, 1.0, -1.0)
    return (case.grid > 0) & (owner * colour < 0)


SIMPLE: dict[str, _Way] = {
    "all alive": _nobody_dead,
    "benson": _benson_dead,
    "playout majority": _playout_dead,
}


def measure_simple(
    name: str, cases: Sequence[Case], method: Method, tell: Tell = lambda name, done, of: None
) -> dict[str, Any]:
    """Measure one of the simple ways."""
    found = Comparison()
    begin = time.process_time()
    for case in cases:
        found.add(case.margin(SIMPLE[name](case), method), case)
        tell(name, found.games, len(cases))
    found.seconds = time.process_time() - begin
    return {"name": name, **found.rates(), "failed": 0}


def measure_gnugo(
    cases: Sequence[Case],
    method: Method,
    *,
    level: int = 10,
    kept: Path | None = None,
    limit: float = gnugo.PATIENCE,
    tell: Tell = lambda name, done, of: None,
) -> dict[str, Any]:
    """Measure GNU Go's dead lists; a game on which it fails counts as wrong, and is counted."""
    lists = gnugo.DeadLists(level, kept=kept, limit=limit)
    found, failed = Comparison(), 0
    for case in cases:
        answer = lists.ask(case.record())
        found.seconds += answer.seconds
        if answer.dead is None:
            failed += 1
            found.fail()
        else:
            found.add(case.margin(_mask(case, answer.dead), method), case)
        tell(lists.engine, found.games, len(cases))
    return {"name": lists.engine, **found.rates(), "failed": failed}


def _mask(case: Case, vertices: Sequence[str]) -> BoolArray:
    """Return the dead stones as a grid."""
    rows, cols = case.grid.shape
    dead = np.zeros((rows, cols), np.bool_)
    for vertex in vertices:
        dead[row_col(parse_gtp(vertex, rows, cols), cols)] = True
    if (dead & (case.grid == 0)).any():
        raise TengenError(f"an engine called the empty point {' or '.join(vertices)} dead")
    return dead
