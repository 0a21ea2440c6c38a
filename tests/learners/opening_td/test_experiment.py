"""Trainings, evaluations and the experiment run from the command line and go on after a stop."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tengen.cli import run
from tengen.lab import opening_td as lab
from tengen.lab import opening_td_tables as tables
from tengen.lab import opening_td_variants as variants
from tengen.models import load_model

SMALL = ["--size", "5", "--plies", "6", "--hidden", "3", "--expert", "playouts:1", "--quiet"]


def command(*arguments: str | Path) -> int:
    return run(["opening-td", *map(str, arguments)])


def test_train_and_evaluate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    options = [*SMALL, "--games", "4", "--curve-every", "2", "--curve-games", "2", "--json"]
    assert command("train", *options, "--out", folder) == 0
    value = json.loads(capsys.readouterr().out)
    assert [point["games"] for point in value["curve"]] == [0, 2, 4]
    assert (folder / "config.toml").is_file() and (folder / "metrics.jsonl").is_file()
    assert command("evaluate", "--model", value["model"], "--games", "3", *SMALL[6:], "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) >= {"games", "opponent", "expert", "win_rate", "interval", "mean_score"}
    assert found["games"] == 3 and found["opponent"] == "random"
    assert command("train", *options, "--out", folder) == 1
    assert "--resume" in capsys.readouterr().err


def test_a_stopped_training_ends_the_same(tmp_path: Path) -> None:
    settings = {"rows": 5, "plies": 6, "hidden": 3, "games": 8, "explore": 0.5}
    models = []
    for name, stops in (("whole", [None]), ("parts", [3, None])):
        for until in stops:
            job = lab.TrainJob(
                str(tmp_path / name), settings, "playouts:1", curve_every=2, curve_games=2,
                checkpoint_every=3, until=until,
            )  # fmt: skip
            curve = lab.train(job)
        assert [p["games"] for p in curve] == [0, 2, 4, 6, 8]
        models.append(load_model(tmp_path / name / "model.safetensors")[0])
    assert all(np.array_equal(models[0][key], models[1][key]) for key in models[0])


def test_the_experiment_goes_on_and_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        "experiment", "--games", "2", "--pair-games", "2", "--expert", "playouts:1", "--quiet",
        "--features", "A", "--features", "AE", "--out", tmp_path, "--judge", "playouts:2",
        "--judge-games", "4", "--json",
    ]  # fmt: skip
    assert command(*arguments) == 0
    first = json.loads(capsys.readouterr().out)
    before = (tmp_path / "seed-0" / "matches.jsonl").read_text()
    assert command(*arguments) == 0
    assert json.loads(capsys.readouterr().out) == first
    assert (tmp_path / "seed-0" / "matches.jsonl").read_text() == before
    for encoding in ("scalar", "binary"):
        shares = [e["value"] for e in first["wins"][encoding].values()]
        assert sum(shares) == pytest.approx(1)
    assert first["second_expert"]["openings"] == 4
    assert "| A |" in (tmp_path / "tables.md").read_text()


def test_gains_follow_the_papers_own_tables() -> None:
    """Table 2 is a mean of ratios and Table 4 a mean of differences: the paper's numbers say so."""
    plan = lab.Plan(Path("unused"))
    for encoding, measure in (("scalar", "relative"), ("binary", "points")):
        shares = {f: [w / 100] for f, w in tables.PAPER_WINS[encoding].items()}
        gains = tables._gains(plan, shares, tables.PAPER_GAINS[encoding])
        for feature, paper in tables.PAPER_GAINS[encoding].items():
            assert 100 * gains[feature][measure]["value"] == pytest.approx(paper, abs=0.75), feature


def test_variants_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = variants.VariantPlan(
        tmp_path, (0, 1), 2, "playouts:1", 2, ("paper", "lambda 0.6"),
        (("rows", 5), ("plies", 6), ("hidden", 3)),
    )  # fmt: skip
    value = variants.run(plan)
    assert set(value["variants"]["lambda 0.6"]) == {"random", "maxlib", "paper"}
    assert value["variants"]["paper"]["random"]["seeds"] == 2
    assert variants.run(plan) == value
    assert len(variants.sheets(value)[0][2]) == 2
    assert command("experiment", "--variants", "--only", "nonsense") == 1
    assert "nonsense" in capsys.readouterr().err
