"""Trainings and evaluations run from the command line and continue after a stop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tengen.cli import run
from tengen.papers.opening_td import OpeningTD

SMALL = ["--size", "5", "--plies", "6", "--hidden", "3", "--expert", "playouts:1", "--quiet"]


def command(first: str | Path, *arguments: str | Path) -> int:
    return run([str(first), "opening-td", *map(str, arguments)])


def answer(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Any:
    assert command(*arguments, "--json", "--quiet") == 0
    return json.loads(capsys.readouterr().out)


def test_train_and_evaluate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    options = [*SMALL, "--games", "4", "--curve-every", "2", "--curve-games", "2"]
    value = answer(capsys, "train", *options, "--out", folder)
    assert [point["games"] for point in value["curve"]] == [0, 2, 4]
    assert (folder / "config.toml").is_file() and (folder / "metrics.jsonl").is_file()
    found = answer(
        capsys, "evaluate", "--model", value["model"], "--games", "3", "--expert", "playouts:1"
    )
    assert set(found) >= {"games", "opponent", "expert", "win_rate", "interval", "mean_score"}
    assert found["games"] == 3 and found["opponent"] == "random"


def test_several_players_are_trained_side_by_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [*SMALL, "--games", "2", "--curve-games", "0", "--features", "A", "--features", "AE"]
    found = answer(capsys, "train", *options, "--out", tmp_path)
    assert [row["features"] for row in found] == ["A", "AE"]
    assert all(OpeningTD.load(row["model"]).games_ == 2 for row in found)
    assert command("train", "--features", "AX", "--out", tmp_path / "b") == 1
    assert "features 'AX' are not" in capsys.readouterr().err
