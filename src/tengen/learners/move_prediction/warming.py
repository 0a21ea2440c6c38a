"""Use every kernel of move prediction once, so that Numba compiles and caches it."""

from __future__ import annotations

import numpy as np

from tengen.board import Board, play_random
from tengen.learners.move_prediction.learner import MovePredictor
from tengen.learners.move_prediction.maxent import solve
from tengen.learners.move_prediction.settings import FullSettings, PaperSettings
from tengen.records.arrays import from_records
from tengen.records.bulk_replay import replay_all
from tengen.records.record import GameRecord


def warm_up() -> None:
    """Train both recipes on two tiny games, measure them, and ask them about a board."""
    games = from_records([_small_game(seed) for seed in range(2)])
    replay_all(games)
    board = Board(5, moves="B C3 W C2 B B2 W D3")
    full = MovePredictor(settings=FullSettings(minimum=1, anywhere=True, side=2)).fit(games)
    paper = MovePredictor(settings=PaperSettings(minimum=1, top=2)).fit(games)
    for predictor in (full, paper):
        predictor.evaluate(games)
        predictor.priors(board)
    solve(np.zeros((1, 1), np.int64), np.ones(1, np.int64), 1, 0.5, limit=2)


def _small_game(seed: int) -> GameRecord:
    """Play twelve plies at random on 5x5."""
    board = play_random(Board(5), 12, np.random.default_rng(seed))
    return GameRecord(rows=5, cols=5, moves=board.moves)
