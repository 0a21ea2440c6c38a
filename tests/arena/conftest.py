"""Share small tournaments and players with a script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tengen.arena import Conditions, Entrant, GameJob, Tournament
from tengen.arena.tournament import checked
from tengen.board import PASS, Board


class Scripted:
    """A player that plays given vertices, then passes; a callable makes trouble instead."""

    version = "3.1"

    def __init__(self, name: str, moves: Sequence[str | Callable[[], int]] = ()) -> None:
        self.name, self.moves = name, list(moves)
        self.seeds: list[int] = []

    def new_game(self, seed: int) -> None:
        self.seeds.append(seed)

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        if not self.moves:
            return PASS
        move = self.moves.pop(0)
        return move() if callable(move) else -1 if move == "resign" else board.point(move)


def make_job(*, swapped: bool = False, opening: Sequence[str] = (), **conditions: Any) -> GameJob:
    """Return game 0 of anna - bert, or game 1 with colours changed, on 5x5."""
    anna, bert = Entrant(name="anna", spec="random"), Entrant(name="bert", spec="maxlib")
    settings = Conditions(**{"rows": 5, "cols": 5, "komi": 2.5, **conditions})
    board = Board(settings.rows, settings.cols)
    sides = (bert, anna) if swapped else (anna, bert)
    points = tuple(board.point(vertex) for vertex in opening)
    return GameJob(("anna", "bert", int(swapped)), *sides, settings, points, seed=17)


def make_tournament(**changes: Any) -> Tournament:
    """Return a small round robin of three players on 5x5."""
    # None of them asks whether a game is over, which would take longer than the game.
    players = {"random": "random", "maxlib": "random:fill_eyes=no", "stone": "random:fill_eyes=yes"}
    settings: dict[str, Any] = {
        "kind": "round-robin", "games": 4, "seed": 5, "conditions": {"rows": 5, "cols": 5},
        "entrants": [{"name": name, "spec": spec} for name, spec in players.items()],
    }  # fmt: skip
    return checked(Tournament, {**settings, **changes})


@pytest.fixture
def scripted() -> type[Scripted]:
    return Scripted


@pytest.fixture
def job() -> Callable[..., GameJob]:
    return make_job


@pytest.fixture
def tournament() -> Callable[..., Tournament]:
    return make_tournament
