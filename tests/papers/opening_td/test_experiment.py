"""Trainings and evaluations run from the command line and continue after a stop."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.cli import run
from tengen.models import Run, load_model
from tengen.papers.opening_td import OpeningTD, TDSettings

SMALL = ["--size", "5", "--plies", "6", "--hidden", "3", "--expert", "playouts:1", "--quiet"]

START = "import sys; from tengen.cli import run; sys.exit(run(sys.argv[1:]))"


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


def test_a_run_is_not_mixed_up_with_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["train", *SMALL, "--games", "4", "--curve-games", "0", "--out", tmp_path]
    assert command(*options) == 0
    before = (tmp_path / "model.safetensors").read_bytes()
    for more, reason in (
        ([], "holds a run; resume it"),
        (["--resume", "--alpha", "0.1"], "alpha 0.5 there, 0.1 asked"),
        (["--resume", "--expert", "playouts:2"], "expert playouts:1 there, playouts:2 asked"),
    ):
        capsys.readouterr()
        assert command(*options, *more) == 1
        assert reason in capsys.readouterr().err
    settings = TDSettings(rows=5)
    with Run.open(tmp_path / "busy", OpeningTD.kind, settings):
        assert command("train", "--size", "5", "--out", tmp_path / "busy", "--resume") == 1
    assert "in use by another process" in capsys.readouterr().err
    assert (tmp_path / "model.safetensors").read_bytes() == before


def test_resume_takes_what_is_not_said_from_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [*SMALL, "--games", "4", "--curve-games", "0", "--alpha", "0.25"]
    first = answer(capsys, "train", *options, "--out", tmp_path)
    assert answer(capsys, "train", "--resume", "--out", tmp_path) == first


def test_a_finished_training_writes_a_lost_model_again(tmp_path: Path) -> None:
    options = ["train", *SMALL, "--games", "4", "--curve-games", "0", "--out", tmp_path]
    assert command(*options) == 0
    model = tmp_path / "model.safetensors"
    whole = model.read_bytes()
    model.write_bytes(b"")
    assert command(*options, "--resume") == 0
    assert model.read_bytes() == whole


@pytest.mark.slow
def test_a_training_killed_outright_ends_the_same(tmp_path: Path) -> None:
    options = [
        sys.executable, "-c", START, "train", "opening-td", *SMALL, "--games", "1500",
        "--curve-every", "500", "--curve-games", "4",
    ]  # fmt: skip
    subprocess.run([*options, "--out", tmp_path / "whole"], check=True, capture_output=True)
    killed = subprocess.Popen(
        [*options, "--out", tmp_path / "killed"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    folder = tmp_path / "killed" / "checkpoints"
    deadline = time.monotonic() + 120
    while not list(folder.glob("*.safetensors")) and time.monotonic() < deadline:
        time.sleep(0.01)
    killed.kill()
    assert killed.wait() == -signal.SIGKILL
    assert not (tmp_path / "killed" / "model.safetensors").exists()
    again = [*options[:5], "--resume", "--quiet", "--out", tmp_path / "killed"]
    subprocess.run(again, check=True, capture_output=True)
    a, b = (load_model(tmp_path / name / "model.safetensors")[0] for name in ("whole", "killed"))
    assert all(np.array_equal(a[key], b[key]) for key in a)
