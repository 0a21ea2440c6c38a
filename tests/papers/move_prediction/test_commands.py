"""The commands, called in this process on small games."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import numpy as np
import pytest
from prediction_games import tasteful_game

from tengen.cli import run
from tengen.models import load_model
from tengen.records.corpus import write_sgf


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("games")
    write_sgf([tasteful_game(7, 7, 40, seed) for seed in range(12)], place / "train.sgf")
    write_sgf([tasteful_game(7, 7, 40, 100 + seed) for seed in range(3)], place / "test.sgf")
    with open(place / "train.sgf", "ab") as file:
        file.write(b"(;GM[1]SZ[7];B[aa];W[zz9];B[\n")
    return place


def said(capsys, arguments: list[str], status: int = 0):
    assert run(arguments) == status, capsys.readouterr().err
    return capsys.readouterr()


def test_train_evaluate_and_predict(folder, capsys, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    train = ["train", "move-prediction", "train.sgf", "--size", "7", "--top", "5"]
    out = said(capsys, [*train, "--out", "small.safetensors", "--json"])
    result = json.loads(out.out)
    assert result["games"] == 12 and result["features"] > 10
    assert "damaged" in out.err
    measure = ["evaluate", "move-prediction", "test.sgf", "--size", "7", "--json"]
    summary = json.loads(said(capsys, [*measure, "--model", "small.safetensors"]).out)
    keys = {"games", "positions", "top1", "top5", "top10", "top20", "log_loss", "seconds"}
    assert keys <= set(summary)
    assert summary["games"] == 3 and summary["positions"] == 120
    assert 0 < summary["top1"] <= summary["top5"] <= summary["top20"] <= 1
    show = ["predict", "test.sgf", "--game", "2", "--move", "12", "--model", "small.safetensors"]
    told = json.loads(said(capsys, [*show, "--json", "--top", "3"]).out)
    assert told["move"] == 12 and told["to_play"] == "white" and len(told["moves"]) == 3
    chances = [item["probability"] for item in told["moves"]]
    assert chances == sorted(chances, reverse=True)
    text = said(capsys, show).out
    assert "move 12, white to play" in text and "%" in text


def test_runs_are_not_mixed_up(folder, capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    train = ["train", "move-prediction", str(folder / "train.sgf"), "--size", "7", "--quiet"]
    train += ["--games", "4", "--out", "model.safetensors"]
    said(capsys, train)
    first = (tmp_path / "model.safetensors").read_bytes()
    kept = sorted(tmp_path.glob("runs/model/checkpoints/*"))
    again = said(capsys, [*train, "--seed", "2"], status=1).err
    assert "runs/model: holds a run; resume it" in again
    others = [str(folder / "test.sgf") if word.endswith("train.sgf") else word for word in train]
    assert "begun with other games" in said(capsys, [*others, "--resume"], status=1).err
    asked = said(capsys, [*train, "--resume", "--minimum", "7"], status=1).err
    assert "minimum" in asked and "7 asked" in asked
    assert sorted(tmp_path.glob("runs/model/checkpoints/*")) == kept
    # What was said at the beginning need not be said again.
    resumed = ["train", "move-prediction", str(folder / "train.sgf"), "--size", "7", "--quiet"]
    said(capsys, [*resumed, "--out", "model.safetensors", "--resume"])
    assert (tmp_path / "model.safetensors").read_bytes() == first


@pytest.mark.slow
def test_a_killed_training_goes_on_to_the_same_model(folder, tmp_path) -> None:
    write_sgf([tasteful_game(7, 7, 40, seed) for seed in range(700)], tmp_path / "many.sgf")
    command = [sys.executable, "-c", "from tengen.cli import main; main()"]
    command += ["train", "move-prediction", "many.sgf", "--size", "7", "--passes", "9"]
    subprocess.run([*command, "--out", "whole.safetensors"], cwd=tmp_path, check=True)
    again = [*command, "--out", "killed.safetensors", "--run", "run"]
    with subprocess.Popen(again, cwd=tmp_path) as process:
        deadline = time.monotonic() + 300
        while not list(tmp_path.glob("run/checkpoints/*.safetensors")):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        process.kill()
    assert not (tmp_path / "killed.safetensors").exists()
    subprocess.run([*again, "--resume"], cwd=tmp_path, check=True)
    whole, resumed = (
        load_model(tmp_path / f"{name}.safetensors")[0] for name in ("whole", "killed")
    )
    assert all(np.array_equal(whole[name], resumed[name]) for name in whole)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "move-prediction", "test.sgf", "--model", "nothing"], "nothing"),
        (["train", "move-prediction", "test.sgf", "--size", "13", "--out", "x.safetensors"],
         "no games of size 13"),
        (["lab", "move-prediction", "--set", "tops=20,many"], "tops=20,many is not"),
        (["predict", "test.sgf", "--move", "400", "--model", "small.safetensors"], "no move 400"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(folder, capsys, monkeypatch, arguments, message) -> None:
    monkeypatch.chdir(folder)
    out = said(capsys, arguments, status=1)
    assert message in out.err
    assert "Traceback" not in out.err
