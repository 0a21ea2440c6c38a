"""`tengen gtp` ends cleanly after quit, although a thread still waits for input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def test_quit_with_the_input_still_open_ends_cleanly() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", "from tengen.cli import main; main()", "gtp", "--player", "random"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None
    assert process.stderr is not None
    with process.stdin, process.stdout, process.stderr:
        process.stdin.write(b"name\nquit\n")
        process.stdin.flush()
        assert process.wait(240) == 0
        assert process.stderr.read() == b""
        assert b"Tengen" in process.stdout.read()


@pytest.mark.parametrize(
    "spec", ["gtp:touch made", "GTP :touch made", "mcts:policy=python:made.py:Made", "python:a:B"]
)
def test_a_safe_engine_starts_no_programs(spec: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from tengen.cli import main; main()", "gtp", "--safe"]
    done = subprocess.run(
        [*command, "--player", spec], cwd=tmp_path, input=b"", capture_output=True, timeout=99
    )
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    lines = f"tengen-param player {spec}\ngenmove b\nquit\n".encode()
    done = subprocess.run(
        [*command, "--player", "random"],
        cwd=tmp_path,
        input=lines,
        capture_output=True,
        timeout=240,
    )
    assert done.stdout.startswith(b"? ") and b"safe mode" in done.stdout
    assert not list(tmp_path.iterdir())
