"""What damaged inputs and kills have found, once and for all."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.processes import is_running

from tengen.board import Board
from tengen.errors import ModelError
from tengen.models import find_model, load_learner
from tengen.models.store import CARD_KEY, pack, unpack
from tengen.web.positions import to_value


@pytest.mark.parametrize(
    ("name", "recipe"),
    [
        ("isn-best", {"categories": {}}),
        ("isn-best", {"categories": {"mode": None}}),
        ("isn-best", {"mixture": {"T": 4, "S": 2, "D": 2**31, "F": 2}}),
        ("isn-best", {"mixture": {"T": 2**31, "S": -(2**31)}}),
        ("isn-best", {"mixture": 2}),
        ("isn-best", {"layers": 2**31}),
        ("isn-best", {"turn": True}),
        ("td-best-9x9", {"games_played": float("inf")}),
    ],
    ids=str,
)
def test_cards_whose_recipe_makes_no_sense(
    name: str, recipe: dict[str, Any], tmp_path: Path
) -> None:
    tensors, metadata = unpack(find_model(name))
    card = json.loads(metadata[CARD_KEY])
    card["recipe"] |= recipe
    path = tmp_path / "bent.safetensors"
    path.write_bytes(pack(tensors, {CARD_KEY: json.dumps(card)}))
    with pytest.raises(ModelError, match="bent"):
        load_learner(path)


def test_a_process_of_the_web_loads_a_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # Every position to predict, and every size and strength of a review, had a network of its own.
    from tengen.models import registry
    from tengen.network import DeepNetwork
    from tengen.web import machines, tasks
    from tengen.web.workers import Context

    loaded: list[str] = []

    def load(path: Path) -> DeepNetwork:
        loaded.append(path.stem)
        return read(path)

    read = DeepNetwork.load
    monkeypatch.setattr(DeepNetwork, "load", load)
    registry.load_shared.cache_clear()
    ask = Context(tell=lambda part: None, stop=lambda: False)
    for size in (5,):
        board = to_value(Board(size))
        assert tasks.predict({"board": board, "top": 1}, ask)["model"] == "tengen-large"
        assert machines.see({"board": board, "machine": "deep-network"}, ask)["wishes"]
        for visits in (4, 8):
            asked = {"sgf": f"(;SZ[{size}];B[cc])", "visits": visits, "quick": False, "known": []}
            tasks.review(asked, ask)
    assert loaded.count("tengen-large") == loaded.count("tengen-judge") == 1


SERVER = """
import multiprocessing, time
from tengen.board import Board
from tengen.web.positions import to_value
from tengen.web.workers import Lane
if __name__ == "__main__":
    lane = Lane()
    player = "mcts:seconds=1000"
    lane.submit("tasks.choose", {"board": to_value(Board(9)), "player": player, "seed": 1})
    while not multiprocessing.active_children():
        time.sleep(0.01)
    time.sleep(1.0)
    print(multiprocessing.active_children()[0].pid, flush=True)
    time.sleep(1000)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_busy_process_of_the_web_goes_with_its_server(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    command = [sys.executable, "server.py"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        worker = int(server.stdout.readline())
        server.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 60
    while is_running(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(worker)
