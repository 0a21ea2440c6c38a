"""The commands, called in this process on small games."""

from __future__ import annotations

import json

import pytest
from prediction_games import tasteful_game

from tengen.cli import run
from tengen.records.writer import write_sgf


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
    train = ["move-prediction", "train", "train.sgf", "--size", "7", "--minimum", "3", "--anywhere"]
    out = said(capsys, [*train, "--out", "small.safetensors", "--json"])
    result = json.loads(out.out)
    assert result["recipe"] == "full" and result["features"] > 1000
    assert "damaged" in out.err
    measure = ["move-prediction", "evaluate", "test.sgf", "--size", "7", "--json"]
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


def test_the_papers_recipe_and_its_tables(folder, capsys, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    paper = ["move-prediction", "train", "train.sgf", "--size", "7", "--recipe", "paper"]
    said(capsys, [*paper, "--top", "5", "--out", "paper.safetensors", "--quiet"])
    measure = ["move-prediction", "evaluate", "test.sgf", "--size", "7", "--json"]
    summary = json.loads(said(capsys, [*measure, "--model", "paper.safetensors"]).out)
    assert summary["top5"] > 0.1
    table = ["move-prediction", "experiment", "train.sgf", "--test", "test.sgf", "--size", "7"]
    table += ["--games", "8", "--json", "--quiet"]
    rows = json.loads(said(capsys, [*table, "--table", "reranked", "--values", "0,5,10"]).out)
    assert [row["top"] for row in rows] == [0, 5, 10]
    # What is re-ranked stays within its rank.
    assert rows[1]["top40"] == pytest.approx(rows[2]["top40"], abs=0.03)
    rows = json.loads(said(capsys, [*table, "--table", "widths", "--values", "0,0.9"]).out)
    assert rows[1]["width"] == 0.9 and rows[1]["paper"] == 0.2824
    rows = json.loads(said(capsys, [*table, "--table", "sizes", "--values", "4,8"]).out)
    assert [row["games"] for row in rows] == [4, 8]
    rows = json.loads(said(capsys, [*table, "--table", "history", "--values", "0,3"]).out)
    assert rows[0]["top1"] != rows[1]["top1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["move-prediction", "evaluate", "test.sgf", "--model", "nothing"], "nothing"),
        (["move-prediction", "experiment", "train.sgf", "--test", "test.sgf", "--size", "7",
          "--table", "five"], "--table 'five'"),
        (["move-prediction", "train", "test.sgf", "--size", "13", "--out", "x.safetensors"],
         "no games of size 13"),
        (["predict", "test.sgf", "--move", "400", "--model", "paper.safetensors"], "no move 400"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(folder, capsys, monkeypatch, arguments, message) -> None:
    monkeypatch.chdir(folder)
    out = said(capsys, arguments, status=1)
    assert message in out.err
    assert "Traceback" not in out.err
