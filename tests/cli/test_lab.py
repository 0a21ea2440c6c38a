"""`tengen lab` runs named experiments, reports mistakes and continues after an interrupt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.conftest import Tengen

from tengen.lab.decisions import VERDICTS


def test_mistakes_are_named(tengen: Tengen) -> None:
    said = tengen.mistake("lab nonsense")
    assert "'nonsense'" in said and "symmetry-network" in said
    assert "one named experiment" in tengen.mistake("lab --set games=3")
    said = tengen.mistake("lab opening-td --set game=3")
    assert "opening-td has no setting 'game=3'; it has games=" in said
    assert "run it with --full" in tengen.mistake("lab opening-evolution-spatial")


def test_experiments_are_listed_with_their_settings(tengen: Tengen) -> None:
    found = tengen.json("lab --list")
    full = tengen.json("lab --list --full")
    assert found["opening-td"]["games"] < full["opening-td"]["games"]
    assert "opening-evolution-spatial" in full and "opening-evolution-spatial" not in found
    assert f"games={found['opening-td']['games']}" in tengen("lab --list")


def test_full_names_the_missing_file(tmp_path: Path, tengen: Tengen) -> None:
    lab = ("lab move-prediction --full --out", tmp_path / "out")
    assert "tom9d-train.sgf: this step needs the folder" in tengen.mistake(*lab)
    said = tengen.mistake(*lab, "--collection", tmp_path)
    assert f"{tmp_path / 'tom9d-train.sgf'}: no such file" in said
    said = tengen.mistake(*lab, "--collection", tmp_path / "nowhere")
    assert "nowhere: no such folder" in said


def test_one_step_makes_a_page_that_names_the_others(tmp_path: Path, tengen: Tengen) -> None:
    lab = ("lab symmetry-weights --seed 9 --out", tmp_path)
    value = tengen.json(*lab)
    assert value["steps"] == ["symmetry-weights"] and "opening-td" in value["left"]
    assert all(Path(claim["data"]).is_relative_to(tmp_path) for claim in value["claims"])
    page = Path(value["report"]).read_text()
    assert "tengen lab opening-td" in page
    assert "(symmetry-weights): begins" in tengen.err
    # Its rows can be reported like the recorded ones.
    again = tengen.json("lab report --data", Path(value["data"]))
    assert again["claims"] == value["claims"]


def test_recorded_rows_are_reported(tmp_path: Path, tengen: Tengen) -> None:
    found = tengen.json("lab report --out", tmp_path)
    assert {"claims", "questions", "seconds"} <= set(found) and found["claims"]
    papers = {claim["paper"] for claim in found["claims"]}
    assert len(papers) == 5
    for claim in found["claims"]:
        assert claim["verdict"] in VERDICTS and claim["rows"] > 0 and Path(claim["data"]).is_dir()
    assert (tmp_path / "report.html").is_file() and (tmp_path / "report.json").is_file()
    said = tengen.mistake("lab report --data", tmp_path / "nowhere")
    assert "nowhere: no such folder" in said


@pytest.mark.slow
@pytest.mark.parametrize(("sign", "status"), [(signal.SIGINT, 3), (signal.SIGTERM, 143)])
def test_an_interrupt_says_how_to_go_on(tmp_path: Path, sign: signal.Signals, status: int) -> None:
    command = [sys.executable, "-c", "from tengen.cli import main; main()"]
    command += ["lab", "symmetry-network", "--out", str(tmp_path), "--workers", "1"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    job = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    metrics = tmp_path / "symmetry-trainings"
    deadline = time.monotonic() + 300
    while not any(metrics.glob("*/metrics.jsonl")) and time.monotonic() < deadline:
        time.sleep(0.2)
    job.send_signal(sign)
    _, said = job.communicate(timeout=60)
    assert job.returncode == status
    assert "the same command continues" in said
