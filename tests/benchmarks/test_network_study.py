"""The study of networks: it makes every training once and hides what it says."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.needs import need
from tests.network.network_games import EverybodyLives, write_games

from tengen.network import make_shards
from tengen.records import Corpus

torch = need("torch")


@pytest.fixture(scope="module")
def script(load_benchmark: Callable[[str], ModuleType]) -> ModuleType:
    return load_benchmark("network_study")


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("study")
    made = [folder / "one", folder / "two"]
    for seed, place in enumerate(made):
        games = write_games(folder / f"{place.name}.sgf", 120, seed=seed)
        make_shards(Corpus(games), place, scorer=EverybodyLives())
    return made


def study(script: ModuleType, monkeypatch: pytest.MonkeyPatch, *words: object) -> None:
    monkeypatch.setattr(sys, "argv", ["network_study.py", *map(str, words)])
    script.main()


def rows_of(path: Path) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in map(json.loads, path.read_text().splitlines())}


def test_every_training_is_made_once(
    script: ModuleType, shards: list[Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    out = tmp_path / "study.jsonl"
    few = ("tied", "10000 games", "no ladders", "4 fields, 9 blocks")
    monkeypatch.setattr(script, "POINTS", {name: script.POINTS[name] for name in few})
    short = [*shards, "--device", "cpu", "--batch", 4, "--out", out]
    two = ["--steps", 2, "--measures", 2, "--only", *few[:3]]
    study(script, monkeypatch, *short, *two)
    first = out.read_text()
    study(script, monkeypatch, *short, "--steps", 1, "--measures", 1)
    assert out.read_text().startswith(first)
    rows = rows_of(out)
    assert len(out.read_text().splitlines()) == len(rows) == len(script.POINTS)
    assert [point["positions"] for point in rows["tied"]["curve"]] == [4, 8]
    assert rows["10000 games"]["curve"][-1]["positions"] == 16
    assert rows["tied"]["games"] == 240 and rows["tied"]["curve"] != rows["no ladders"]["curve"]
    assert rows["tied"]["weights"] > 10 * rows["4 fields, 9 blocks"]["weights"] / 3


def test_a_training_learns_from_some_games_only(script: ModuleType, shards: list[Path]) -> None:
    from tengen.network.shards import Shard
    from tengen.network.training import gather

    (path,) = shards[0].glob("*.safetensors")
    whole = gather([Shard.load(path)], device=torch.device("cpu"), threads=1)
    some = script.first_games(whole, 20)
    assert 0 < len(some.train) < len(whole.train) and int(some.game[some.train].max()) < 20
    assert torch.equal(some.held_out, whole.held_out)


def test_last_moves_are_hidden(script: ModuleType, shards: list[Path]) -> None:
    from tengen.network.inputs_kernels import NOWHERE
    from tengen.network.shards import Shard
    from tengen.network.training import gather

    (path,) = shards[0].glob("*.safetensors")
    sources = [gather([Shard.load(path)], device=torch.device("cpu"), threads=1)]
    seen, hidden = (
        script.Shown(sources, history=history).draw(64, torch.Generator().manual_seed(1))
        for history in (True, False)
    )
    assert torch.equal(seen.codes, hidden.codes) and (seen.history != NOWHERE).any()
    assert (hidden.history == NOWHERE).all()


def test_turned_positions_are_the_same_positions(script: ModuleType, shards: list[Path]) -> None:
    from tengen.network.shards import Shard
    from tengen.network.torch_network import plane_table, planes_of
    from tengen.network.training import gather

    (path,) = shards[0].glob("*.safetensors")
    shown = script.Shown([gather([Shard.load(path)], device=torch.device("cpu"), threads=1)])
    batch = shown.draw(64, torch.Generator().manual_seed(1))
    elements = torch.arange(64) % 8
    turned = script.turn(batch, elements)
    table = plane_table(torch.device("cpu"))
    before, after = (planes_of(b, table) for b in (batch, turned))
    assert batch.rows == batch.cols and (batch.moves == batch.rows * batch.cols).any()
    for i, element in enumerate(elements.tolist()):
        flipped = before[i].flip(2) if element >= 4 else before[i]
        assert torch.equal(after[i], torch.rot90(flipped, element % 4, (1, 2)))
        # The move and its owner's colour go where its point goes.
        if batch.moves[i] < batch.rows * batch.cols:
            assert turned.owner[i, turned.moves[i]] == batch.owner[i, batch.moves[i]]
            assert turned.codes[i, turned.moves[i]] == batch.codes[i, batch.moves[i]]
        else:
            assert turned.moves[i] == batch.moves[i]
