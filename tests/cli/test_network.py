"""The network on the command line, from games to a model and its figures."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from shutil import rmtree

import numpy as np
import pytest
from tests.learners.network.network_games import write_games
from tests.needs import need

from tengen.cli import run
from tengen.learners.network import DESIGNS, DeepNetwork, read_shards
from tengen.learners.network.learner import untrained

SHARDS = ["train", "network", "--shards-only"]


def test_shards_train_evaluate_info(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    need("torch")
    games = write_games(tmp_path / "games.sgf", 110)
    folder, model = tmp_path / "shards", tmp_path / "m.safetensors"
    assert (
        run(
            [
                "train",
                "network",
                "--shards-only",
                str(games),
                "--out",
                str(folder),
                "--scorer",
                "none",
                "--json",
            ]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)["games"] == 110
    train = ["train", "network", str(folder), "--design", "tiny", "--steps", "4", "--batch", "8",
             "--device", "cpu", "--out", str(model), "--run", str(tmp_path / "run"),
             "--quiet"]  # fmt: skip
    assert run(train) == 0
    assert run(train) == 1, "a folder with a run is refused"
    assert "resume" in capsys.readouterr().err
    assert run([*train, "--resume"]) == 0
    other = write_games(tmp_path / "other.sgf", 101, seed=2)
    assert run(["train", "network", str(other), *train[3:], "--scorer", "none", "--resume"]) == 1
    assert "games 0" in capsys.readouterr().err
    asked = ["--model", str(model), "--json", "--quiet"]
    assert run(["evaluate", "network", str(games), "--scorer", "none", *asked]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["games"] == 110 and told["score_error"] is None
    assert run(["models", "show", str(model), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["equivariance_error"] < 1e-3 and told["channels"] == 16


def test_shards_of_other_games_are_neither_mixed_nor_taken_for_these(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need("torch")
    many, few = write_games(tmp_path / "many.sgf", 9), write_games(tmp_path / "few.sgf", 5, seed=2)
    shards = ["--out", str(tmp_path / "shards"), "--scorer", "none"]
    assert run([*SHARDS, str(many), *shards]) == 0
    capsys.readouterr()
    assert run([*SHARDS, str(few), *shards]) == 1
    assert capsys.readouterr().err == (
        f"tengen: {tmp_path / 'shards'}: holds shards already; name another folder\n"
    )
    train = ["--design", "tiny", "--steps", "1", "--batch", "4", "--device", "cpu", "--scorer",
             "none", "--out", str(tmp_path / "m.safetensors"), "--run", str(tmp_path / "run"),
             "--json", "--quiet"]  # fmt: skip
    assert run(["train", "network", str(many), *train]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == 9
    assert run(["train", "network", str(few), *train, "--resume"]) == 1
    assert "games 0" in capsys.readouterr().err
    rmtree(tmp_path / "run")
    assert run(["train", "network", str(few), *train]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == 5


def test_what_cannot_be_learned_from_is_refused_before_a_run_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need("torch")
    games = write_games(tmp_path / "games.sgf", 5)
    folder = tmp_path / "shards"
    assert (
        run(
            [
                "train",
                "network",
                "--shards-only",
                str(games),
                "--out",
                str(folder),
                "--scorer",
                "none",
            ]
        )
        == 0
    )
    (shard,) = read_shards([folder])
    none = {each.name: getattr(shard, each.name)[:0] for each in fields(shard)[2:]}
    (tmp_path / "none").mkdir()
    replace(shard, **none).save(tmp_path / "none" / "5x5-00000.safetensors")
    train = ["--design", "tiny", "--steps", "1", "--batch", "4", "--device", "cpu", "--quiet",
             "--out", str(tmp_path / "m.safetensors"), "--run", str(tmp_path / "run")]  # fmt: skip
    capsys.readouterr()
    assert run(["train", "network", str(tmp_path / "none"), *train]) == 1
    assert capsys.readouterr().err == f"tengen: no game to learn from in {tmp_path / 'none'}\n"
    assert run(["train", "network", str(folder), *train, "--start", "zero-9x9"]) == 1
    assert "another shape than design tiny" in capsys.readouterr().err
    assert run(["train", "network", str(folder), *train, "--seed", "9" * 20]) == 1
    assert "'--seed'" in capsys.readouterr().err
    assert run(["train", "network", str(folder), *train]) == 0


def test_export(tmp_path: Path) -> None:
    need("onnx")
    untrained(DESIGNS["tiny"]).save(tmp_path / "m.safetensors")
    out = tmp_path / "m.onnx"
    assert run(["models", "export", str(tmp_path / "m.safetensors"), str(out)]) == 0
    assert out.stat().st_size > 1000


def test_networks_are_averaged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other, out = (tmp_path / f"{name}.safetensors" for name in ("one", "other", "mean"))
    networks = [untrained(DESIGNS["tiny"]), untrained(DESIGNS["tiny"])]
    for i, (network, path) in enumerate(zip(networks, (one, other), strict=True)):
        network.weights_ = {name: w + i for name, w in network.weights_.items()}
        network.save(path)
    assert run(["models", "average", str(one), str(other), "--out", str(out)]) == 0
    made = DeepNetwork.load(out)
    for name, weights in networks[0].weights_.items():
        np.testing.assert_allclose(made.weights_[name], weights + 0.5, rtol=1e-6, atol=1e-6)
    assert DeepNetwork.average(networks[:1]).weights_.keys() == made.weights_.keys()
    assert run(["models", "average", str(one), "tengen-small", "--out", str(out)]) == 1
    said = capsys.readouterr().err.splitlines()
    assert said == [f"wrote {out}", "tengen: network 2 of 2 has another design"]


def test_a_model_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "show", "nothing-like-it"]) == 1
    assert "nothing-like-it" in capsys.readouterr().err


def test_nothing_that_is_read_is_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    games, model = tmp_path / "games.sgf", tmp_path / "m.safetensors"
    games.write_text("(;SZ[9];B[ee])")
    untrained(DESIGNS["tiny"]).save(model)
    before = games.read_bytes(), model.read_bytes()
    for words in (
        ["train", "network", str(games), "--out", str(games)],
        ["train", "network", str(games), "--start", str(model), "--out", str(model)],
        ["models", "export", str(model), str(model)],
        ["models", "average", str(model), "tengen-small", "--out", str(model)],
        ["train", "move-prediction", str(games), "--out", str(games)],
    ):
        assert run(words) == 1
        assert "is what is read; write to another name" in capsys.readouterr().err
    assert (games.read_bytes(), model.read_bytes()) == before
