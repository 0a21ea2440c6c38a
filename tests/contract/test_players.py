"""Every player that needs no model keeps the contract."""

from __future__ import annotations

import pytest

from tengen.contracts import check_player
from tengen.players import make_player

SPECS = ["random", "maxlib", "mcts:playouts=20", "greedy:model=area"]


@pytest.mark.parametrize("spec", SPECS)
def test_players_keep_the_contract(spec: str) -> None:
    check_player(make_player(spec))
