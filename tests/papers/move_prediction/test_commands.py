"""The commands, called in this process on small games."""

from __future__ import annotations

import json

import pytest
from prediction_games import tasteful_game

from tengen.cli import run
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
