"""Measure a scorer against recorded results, with simple scorers and GNU Go beside it.

All of them are counted alike, game by game. Nothing here trains.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tengen.board.counting import Method
from tengen.learners.scoring import gnugo
from tengen.learners.scoring.baselines import SIMPLE, Tell, measure_gnugo, measure_simple
from tengen.learners.scoring.cases import Comparison, read_cases
from tengen.learners.scoring.learner import BlockScorer


def evaluate(
    scorer: BlockScorer,
    files: Sequence[str | Path],
    *,
    method: Method = "careful",
    baselines: bool = False,
    levels: Sequence[int] = (10,),
    kept: Path | None = None,
    limit: float = gnugo.PATIENCE,
    tell: Tell = lambda name, done, of: None,
) -> dict[str, Any]:
    """Score all games of some files and compare with their recorded results.

    With `baselines` the simple ways are measured on the same games, and GNU Go at `levels` where
    it is installed: at most `limit` seconds a game, its answers kept in the file `kept`.
    """
    scorer.read(np.array([[0, 1, 2], [1, 1, 2], [0, 1, 2]], np.int8))  # load kernels untimed
    ours = Comparison()
    begin = time.process_time()
    cases = read_cases(files)
    safe = exact_when_safe = 0
    for i, case in enumerate(cases):
        reading = scorer.read(case.grid)
        exact = ours.add(case.margin(reading.dead, method), case)
        safe += reading.safe
        exact_when_safe += reading.safe and exact
        tell("tengen", i + 1, len(cases))
    ours.seconds = time.process_time() - begin
    found: dict[str, Any] = {
        "games": ours.games,
        **ours.rates(),
        "within1": ours.within(1) / ours.games,
        "safe": safe / ours.games,
        "exact_when_safe": exact_when_safe / safe if safe else None,
        "count": method,
    }
    if baselines:
        found["baselines"] = [measure_simple(name, cases, method, tell) for name in SIMPLE]
        if gnugo.installed():
            found["baselines"] += [
                measure_gnugo(cases, method, level=level, kept=kept, limit=limit, tell=tell)
                for level in levels
            ]
    return found
