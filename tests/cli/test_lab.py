"""`tengen lab` runs named experiments, reports mistakes and continues after an interrupt."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tengen.cli import run


def test_unknown_experiments_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "nonsense"]) == 1
    said = capsys.readouterr().err
    assert "'nonsense'" in said and "symmetry-network" in said


def test_settings_need_one_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "--set", "games=3"]) == 1
    assert "one named experiment" in capsys.readouterr().err
    assert run(["lab", "opening-td", "--set", "game=3"]) == 1
    assert "opening-td has no setting 'game=3'; it has games=1000" in capsys.readouterr().err
    assert run(["lab", "opening-evolution-dense"]) == 1
    assert "run it with --full" in capsys.readouterr().err


def test_experiments_are_listed_with_their_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "--list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["opening-td"]["games"] == 1000 and "opening-evolution-dense" not in found
    assert run(["lab", "--list", "--full", "--json"]) == 0
    assert "opening-evolution-dense" in json.loads(capsys.readouterr().out)


def test_full_names_the_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["move-prediction", "--full", "--out", str(tmp_path / "out")]
    assert run(["lab", *options]) == 1
    assert "tom9d-train.sgf: this step needs the folder" in capsys.readouterr().err
    assert run(["lab", *options, "--collection", str(tmp_path)]) == 1
    assert f"{tmp_path / 'tom9d-train.sgf'}: no such file" in capsys.readouterr().err
    assert run(["lab", *options, "--collection", str(tmp_path / "nowhere")]) == 1
    assert "nowhere: no such folder" in capsys.readouterr().err


def test_one_step_makes_a_page_that_names_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["from-nothing", "--out", str(tmp_path), "--json", "--seed", "9"]
    assert run(["lab", *options]) == 0
    output = capsys.readouterr()
    value = json.loads(output.out)
    assert value["steps"] == ["from-nothing"] and "players" in value["left"]
    page = Path(value["report"]).read_text()
    assert "six blocks" in page and "tengen lab opening-td" in page
    assert Path(value["results"]).is_file()
    assert "[1/1] What the papers would have seen (from-nothing): begins" in output.err
    # Again: nothing to do, and the same page.
    assert run(["lab", *options]) == 0
    assert "1 of 1 steps are already finished" in capsys.readouterr().err
    assert Path(value["report"]).read_text() == page


@pytest.mark.slow
@pytest.mark.parametrize(("sign", "status"), [(signal.SIGINT, 3), (signal.SIGTERM, 143)])
def test_an_interrupt_says_how_to_go_on(tmp_path: Path, sign: signal.Signals, status: int) -> None:
    command = [sys.executable, "-c", "from tengen.cli import main; main()"]
    command += ["lab", "symmetry-network"]
    command += ["--out", str(tmp_path), "--workers", "1"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    job = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    metrics = tmp_path / "symmetry-network" / "metrics.jsonl"
    deadline = time.monotonic() + 300
    while not metrics.is_file() and time.monotonic() < deadline:
        time.sleep(0.2)
    job.send_signal(sign)
    _, said = job.communicate(timeout=60)
    assert job.returncode == status
    assert "the same command continues" in said
