"""The network through PyTorch, as on a GPU; which needs none, since a processor is a device too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.needs import need

torch = need("torch")

from tengen.board import Board  # noqa: E402
from tengen.board.playouts import play_random  # noqa: E402
from tengen.errors import SpecError  # noqa: E402
from tengen.learners.network import DESIGNS, gpu, inputs  # noqa: E402
from tengen.learners.network.gpu import GpuEngine, GuardedEngine, gpu_wanted  # noqa: E402
from tengen.learners.network.inputs import Positions  # noqa: E402
from tengen.learners.network.learner import untrained  # noqa: E402

NETWORK = untrained(DESIGNS["tiny"])


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(gpu.VARIABLE, raising=False)
    gpu_wanted.cache_clear()
    yield
    gpu_wanted.cache_clear()


def positions(count: int = 3) -> Positions:
    rng = np.random.default_rng(5)
    boards = [play_random(Board(7), 10 + i, rng) for i in range(count)]
    return inputs.of_boards(boards, ladders=NETWORK.design_.ladders)


def test_it_says_what_the_processor_says() -> None:
    network = untrained(replace(DESIGNS["tiny"], move_outputs=2))
    here = network.engine(positions())
    there = GpuEngine(network.weights_, network.design_, "cpu")(positions())
    for one, other in zip(here, there, strict=True):
        assert one.shape == other.shape and np.allclose(one, other, atol=1e-4)


def test_measuring_asks_the_gpu_in_single_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    assert NETWORK.measured() is NETWORK.engine
    monkeypatch.setattr("tengen.learners.network.learner.gpu_wanted", lambda: "cpu")
    seen: list[bool] = []
    real = torch.autocast

    def watched(*args: Any, enabled: bool, **options: Any) -> Any:
        seen.append(enabled)
        return real(*args, enabled=enabled, **options)

    monkeypatch.setattr(torch, "autocast", watched)
    judge = NETWORK.measured()
    assert isinstance(judge, GpuEngine) and len(judge(positions()).winner) == 3
    assert seen == [False]


def test_without_a_gpu_nothing_is_asked_of_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "_FILES", (Path("/no/such/gpu"),))
    monkeypatch.setattr(gpu, "find_spec", lambda name: pytest.fail("looked for PyTorch"))
    assert gpu_wanted() is None and NETWORK.at_once == 1


def test_a_gpu_is_used_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "_FILES", (Path(__file__),))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert gpu_wanted() == "cuda" and NETWORK.at_once == gpu.AT_ONCE
    gpu_wanted.cache_clear()
    monkeypatch.setenv(gpu.VARIABLE, "cpu")
    assert gpu_wanted() is None


def test_a_gpu_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setenv(gpu.VARIABLE, "cuda")
    with pytest.raises(SpecError, match=r"TENGEN_DEVICE: .*no GPU"):
        gpu_wanted()


def test_a_gpu_that_dies_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    guarded = GuardedEngine(NETWORK.weights_, NETWORK.design_, "cpu")
    assert np.allclose(guarded(positions()).winner, NETWORK.engine(positions()).winner, atol=1e-4)

    def die(self: GpuEngine, positions: Positions) -> None:
        raise RuntimeError("CUDA error: device lost\nmuch more")

    monkeypatch.setattr(GpuEngine, "__call__", die)
    with pytest.warns(UserWarning, match="device lost.: going on without it"):
        judged = guarded(positions())
    assert np.array_equal(judged.winner, NETWORK.engine(positions()).winner)
    guarded(positions())  # and never asked again
