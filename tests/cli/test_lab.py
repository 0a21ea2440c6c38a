"""`tengen lab` says what it will not do, runs what it is told, and goes on after an interrupt."""

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


def test_unknown_steps_are_named_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "--only", "nonsense"]) == 1
    said = capsys.readouterr().err
    assert "'nonsense'" in said and "symmetry-network" in said


def test_quick_and_full_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "--quick", "--full"]) == 1
    assert "not both" in capsys.readouterr().err


def test_full_names_the_file_it_misses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--out", str(tmp_path / "out"), "--only", "move-prediction"]
    assert run(["lab", "--full", *options]) == 1
    assert "tom9d-train.sgf: this step needs --collection DIR" in capsys.readouterr().err
    assert run(["lab", "--full", "--collection", str(tmp_path), *options]) == 1
    assert f"{tmp_path / 'tom9d-train.sgf'}: no such file" in capsys.readouterr().err
    assert run(["lab", "--full", "--collection", str(tmp_path / "nowhere"), *options]) == 1
    assert "nowhere: no such folder" in capsys.readouterr().err


def test_one_step_makes_a_page_that_names_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--only", "shipped-ladder", "--out", str(tmp_path), "--json", "--seed", "9"]
    assert run(["lab", *options]) == 0
    output = capsys.readouterr()
    value = json.loads(output.out)
    assert value["steps"] == ["shipped-ladder"] and "ladder" in value["left"]
    page = Path(value["report"]).read_text()
    assert "gnugo-10" in page and "--only opening-td" in page
    assert Path(value["results"]).is_file()
    assert "[1/1] The ladder (shipped-ladder): begins" in output.err
    # Again: nothing to do, and the same page.
    assert run(["lab", *options]) == 0
    assert "1 of 1 steps were there already" in capsys.readouterr().err
    assert Path(value["report"]).read_text() == page


@pytest.mark.slow
@pytest.mark.parametrize(("sign", "status"), [(signal.SIGINT, 3), (signal.SIGTERM, 143)])
def test_an_interrupt_says_how_to_go_on(tmp_path: Path, sign: signal.Signals, status: int) -> None:
    command = [sys.executable, "-c", "from tengen.cli import main; main()"]
    command += ["lab", "--only", "symmetry-network"]
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
    assert "the same command goes on where it stopped" in said
