"""`tengen gtp` ends cleanly after quit, although a thread still waits for input."""

from __future__ import annotations

import subprocess
import sys


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
        assert process.wait(60) == 0
        assert process.stderr.read() == b""
        assert b"Tengen" in process.stdout.read()
