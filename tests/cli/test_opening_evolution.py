"""Openings by evolution on the command line: one JSON value, clear mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.needs import need

from tengen.cli import run
from tengen.learners.opening_evolution import KIND, EvolutionSettings
from tengen.models import Run

SMALL = ["--size", "5", "--moves", "4", "--generations", "4", "--population", "4"]


def tengen(first: str, *arguments: str) -> int:
    """Run `train opening-evolution` and its like."""
    return run([first, "opening-evolution", *arguments])


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert tengen(*arguments, "--json", "--quiet") == 0
    return json.loads(capsys.readouterr().out)


def train(capsys: pytest.CaptureFixture[str], out: Path, *more: str) -> Any:
    found = answer(capsys, "train", *SMALL, "--snapshot-every", "2", "--out", str(out), *more)
    assert Path(found["model"]).is_file()
    return found


@pytest.mark.parametrize(
    "options",
    [
        ["--network", "spatial", "--plies", "2"],
        ["--network", "shared", "--strategy", "cma", "--starts", "2", "--random-plies", "2"],
        ["--network", "tiled", "--hall-every", "1", "--starts", "2"],
        ["--illegal-passes", "--colours", "black", "--remember", "--opponent", "maxlib + random"],
    ],
)
def test_training_takes_all_that_the_paper_planned(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: list[str]
) -> None:
    settings = train(capsys, tmp_path, *options)["settings"]
    assert settings["generations"] == 4
    assert settings["network"] == (options[1] if options[0] == "--network" else "dense")
    assert settings["free"] == ("--illegal-passes" in options)


def test_a_run_is_not_mixed_up_with_another(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    train(capsys, tmp_path / "oe", "--seed", "1", "--generations", "40")
    states = sorted((tmp_path / "oe").rglob("*.safetensors"))
    kept = [path.read_bytes() for path in states]
    again = ["train", *SMALL, "--snapshot-every", "2", "--out", str(tmp_path / "oe")]
    for more, reason in (
        (["--seed", "2", "--generations", "20"], "holds a run; resume it"),
        (["--seed", "2", "--resume"], "seed 1 there, 2 asked"),
        (["--seed", "1", "--resume", "--expert", "random"], "expert static there, random asked"),
    ):
        assert tengen(*again, *more, "--quiet") == 1
        assert reason in capsys.readouterr().err
    assert run(["train", "opening-td", "--out", str(tmp_path / "oe"), "--resume"]) == 1
    assert "opening-evolution" in capsys.readouterr().err
    with Run.open(tmp_path / "busy", KIND, EvolutionSettings()):
        busy = ["train", "--resume", "--out", str(tmp_path / "busy")]
        assert tengen(*busy) == 1
    assert "in use by another process" in capsys.readouterr().err
    assert [path.read_bytes() for path in states] == kept
    # More generations of the same run are welcome, without saying its settings again.
    longer = ["train", "--resume", "--generations", "42", "--out", str(tmp_path / "oe")]
    assert answer(capsys, *longer)["settings"]["seed"] == 1


def test_models_are_evaluated_and_runs_compared(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    model = train(capsys, tmp_path / "a")["model"]
    train(capsys, tmp_path / "b", "--seed", "1")
    found = answer(capsys, "evaluate", "--model", model, "--games", "10")
    assert found["games"] == 10 and 0 <= found["win_rate"] <= 1 and found["opponent"] == "random"
    found = answer(capsys, "evaluate", "--model", model, "--games", "10", "--player", "static")
    assert found["model"] == "static"
    rival = str(tmp_path / "a" / "snapshots" / "000000000.safetensors")
    found = answer(capsys, "evaluate", "--model", model, "--games", "10", "--rival", rival)
    assert found["opponent"] == rival
    runs = f"runs={tmp_path / 'a'},{tmp_path / 'b'}"
    words = ["lab", "opening-evolution-dense", "--full", "--out", str(tmp_path / "lab"), "--quiet"]
    for text in (runs, "every=2", "games=4", "starts=1"):
        words += ["--set", text]
    assert run([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["data"]["opening-evolution-dense"]
    assert [row["generation"] for row in found["runs"][1]["rows"]] == [0, 2, 4]
    assert found["over_seeds"]["runs"] == 2
    assert run(words) == 0
    assert "Over 2 seeds" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "--network", "deep"], "network is 'deep'"),
        (["evaluate", "--opponent", "nobody"], "nobody"),
    ],
)
def test_mistakes_are_named(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert tengen(*arguments) == 1
    assert message in capsys.readouterr().err


def test_gnugo_can_be_the_opponent_and_the_finisher(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    need("gnugo")
    engine = "gtp:gnugo --mode gtp --level 0 --chinese-rules"
    options = ["--generations", "1", "--population", "2", "--opponent", engine]
    model = train(capsys, tmp_path, *options)["model"]
    found = answer(capsys, "evaluate", "--model", model, "--games", "2", "--expert", engine)
    assert found["games"] == 2
