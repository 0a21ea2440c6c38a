"""The network on the command line, from games to a model and its figures."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree

import numpy as np
import pytest
from tests.cli.conftest import Tengen
from tests.needs import need
from tests.network.network_games import write_games

from tengen.lab.evidence import read_evidence
from tengen.network import DESIGNS, DeepNetwork
from tengen.network.learner import untrained

TINY = "--design tiny --device cpu --quiet"


def test_shards_train_evaluate_info(tengen: Tengen, tmp_path: Path) -> None:
    need("torch")
    games = write_games(tmp_path / "games.sgf", 110)
    folder, model = tmp_path / "shards", tmp_path / "m.safetensors"
    made = tengen.json("train network --shards-only --scorer none", games, "--out", folder)
    assert made["games"] == 110
    train = (TINY, "--steps 4 --batch 8 --out", model, "--run", tmp_path / "run")
    tengen("train network", folder, *train)
    assert "resume" in tengen.mistake("train network", folder, *train)
    tengen("train network", folder, *train, "--resume")
    other = write_games(tmp_path / "other.sgf", 101, seed=2)
    again = tengen.mistake("train network", other, *train, "--scorer none --resume")
    assert "games 0" in again
    rows = ("--rows", tmp_path / "rows")
    told = tengen.json("evaluate network --quiet --scorer none", games, "--model", model, *rows)
    assert told["games"] == 110 and told["score_error"] is None
    kept = read_evidence(tmp_path / "rows")
    assert len(kept) == 110 and kept["moves"].sum() == told["positions"]
    told = tengen.json("models show", model)
    assert told["equivariance_error"] < 1e-3 and told["channels"] == 16


def test_shards_of_other_games_are_neither_mixed_nor_taken_for_these(
    tengen: Tengen, tmp_path: Path
) -> None:
    need("torch")
    many, few = write_games(tmp_path / "many.sgf", 9), write_games(tmp_path / "few.sgf", 5, seed=2)
    shards = ("train network --shards-only --scorer none --out", tmp_path / "shards")
    tengen(*shards, many)
    said = f"tengen: {tmp_path / 'shards'}: holds shards already; name another folder"
    assert tengen.mistake(*shards, few) == said
    place = ("--out", tmp_path / "m.safetensors", "--run", tmp_path / "run")
    train = ("train network --scorer none --steps 1 --batch 4", TINY, *place)
    assert tengen.json(*train, many)["games"] == 9
    assert "games 0" in tengen.mistake(*train, few, "--resume")
    rmtree(tmp_path / "run")
    assert tengen.json(*train, few)["games"] == 5


def test_what_cannot_be_learned_from_is_refused_before_a_run_begins(
    tengen: Tengen, tmp_path: Path
) -> None:
    need("torch")
    folder, none = tmp_path / "shards", tmp_path / "none"
    games = write_games(tmp_path / "games.sgf", 5)
    tengen("train network --shards-only --scorer none", games, "--out", folder)
    none.mkdir()
    place = ("--out", tmp_path / "m.safetensors", "--run", tmp_path / "run")
    train = ("train network --steps 1 --batch 4", TINY, *place)
    assert tengen.mistake(*train, none) == f"tengen: no game to learn from in {none}"
    assert "another shape than design tiny" in tengen.mistake(*train, folder, "--start zero-9x9")
    assert "'--seed'" in tengen.mistake(*train, folder, "--seed", "9" * 20)
    tengen(*train, folder)


def test_export(tengen: Tengen, tmp_path: Path) -> None:
    need("onnx")
    untrained(DESIGNS["tiny"]).save(tmp_path / "m.safetensors")
    tengen("models export", tmp_path / "m.safetensors", tmp_path / "m.onnx")
    assert (tmp_path / "m.onnx").stat().st_size > 1000


def test_networks_are_averaged(tengen: Tengen, tmp_path: Path) -> None:
    one, other, out = (tmp_path / f"{name}.safetensors" for name in ("one", "other", "mean"))
    networks = [untrained(DESIGNS["tiny"]), untrained(DESIGNS["tiny"])]
    for i, (network, path) in enumerate(zip(networks, (one, other), strict=True)):
        network.weights_ = {name: w + i for name, w in network.weights_.items()}
        network.save(path)
    tengen("models average", one, other, "--out", out)
    assert tengen.err == f"wrote {out}\n"
    made = DeepNetwork.load(out)
    for name, weights in networks[0].weights_.items():
        np.testing.assert_allclose(made.weights_[name], weights + 0.5, rtol=1e-6, atol=1e-6)
    assert DeepNetwork.average(networks[:1]).weights_.keys() == made.weights_.keys()
    said = tengen.mistake("models average", one, "tengen-small --out", out)
    assert said == "tengen: network 2 of 2 has another design"


@pytest.mark.parametrize(
    "words",
    ["train network GAMES --out GAMES", "train network GAMES --start MODEL --out MODEL",
     "models export MODEL MODEL", "models average MODEL tengen-small --out MODEL",
     "train move-prediction GAMES --out GAMES"],
)  # fmt: skip
def test_nothing_that_is_read_is_written_over(words: str, tengen: Tengen, tmp_path: Path) -> None:
    places = {"GAMES": tmp_path / "games.sgf", "MODEL": tmp_path / "m.safetensors"}
    places["GAMES"].write_text("(;SZ[9];B[ee])")
    untrained(DESIGNS["tiny"]).save(places["MODEL"])
    before = [place.read_bytes() for place in places.values()]
    said = tengen.mistake(*(places.get(word, word) for word in words.split()))
    assert "is what is read; write to another name" in said
    assert [place.read_bytes() for place in places.values()] == before
