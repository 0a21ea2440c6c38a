"""KaTrain's own core drives `tengen analysis`: a game is reviewed and every strategy moves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from tests.needs import need

from tengen.network import DESIGNS
from tengen.network.learner import untrained

need("katrain.core.engine")

GAME = "(;SZ[9]KM[6.5]RU[japanese];B[ee];W[ce];B[gc];W[gg];B[cc];W[cg];B[eg];W[ge])"


@pytest.fixture(scope="module")
def katrain(load_benchmark: Callable[[str], ModuleType]) -> ModuleType:
    return load_benchmark("katrain_review")


@pytest.mark.filterwarnings("ignore")  # KaTrain's own
def test_a_review_and_all_strategies(katrain: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "tiny.safetensors"
    untrained(DESIGNS["tiny"]).save(path)
    host, engine = katrain.start(f"search:model={path}", 12)
    try:
        assert len(katrain.review(host, engine, GAME)) == 8
        moves = katrain.play_all(host, engine, GAME)
        assert len(moves) >= 14 and "none" not in moves.values(), (moves, host.errors)
    finally:
        katrain.stop(engine)
