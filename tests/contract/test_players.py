"""Every kind of player keeps the contract; a program's answers are its own affair."""

from __future__ import annotations

import pytest

from tengen.contracts import check_player
from tengen.players import make_player
from tengen.players.kinds import PLAYERS

SPECS = {
    "random": "random",
    "maxlib": "maxlib",
    "static": "static",
    "sample": "sample:model=tengen-small",
    "greedy": "greedy:model=area",
    "alphabeta": "alphabeta:model=area,depth=1",
    "mcts": "mcts:playouts=20",
    "search": "search:model=zero-9x9,visits=3",
    "tengen": "tengen:level=1",
    "opening": "opening:model=area,then=random",
    "python": "python:tengen.players.simple:RandomPlayer",
}


def test_every_kind_is_here() -> None:
    assert {*SPECS, "gtp"} == set(PLAYERS)


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_players_keep_the_contract(spec: str) -> None:
    check_player(make_player(spec))
