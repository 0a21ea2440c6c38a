"""Finished games with true scores for the laboratory, made by `learners.scoring.settled_games`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tengen.learners.scoring import settled_games
from tengen.records import GameRecord

_PLAYER = "mcts:playouts=60,resign=0"


def make_games(
    count: int,
    size: int,
    seed: int,
    *,
    workers: int = 1,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> list[GameRecord]:
    """Return games with counted results; a few may be missing because they never settled."""
    from tengen.players import make_player

    return settled_games.make_games(
        partial(make_player, _PLAYER), _PLAYER, count, size, seed, workers=workers,
        tell=lambda done: tell(done, count),
    )  # fmt: skip
