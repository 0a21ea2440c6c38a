"""Sabaki's own GTP controller drives the engine in a real process."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.needs import need

HERE = Path(__file__).parent


def test_sabakis_controller_drives_the_engine() -> None:
    need("@sabaki/gtp")
    engine = [sys.executable, "-c", "from tengen.cli import main; main()"]
    done = subprocess.run(
        ["node", "drive_sabaki.js", *engine, "gtp", "--player", "random", "--seed", "1"],
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    out = json.loads(done.stdout)
    name, _, protocol, commands = out["greetings"]
    assert (name, protocol) == ("Tengen", "2")
    assert {"kata-analyze", "undo", "set_free_handicap"} <= set(commands.split())
    assert out["komi"] == "5.5"
    assert re.fullmatch(r"[A-HJ][1-9]|pass", out["genmove"])
    # Two handicap stones and two white ones are left after the undo.
    assert (out["board"].count("X"), out["board"].count("O")) == (2, 2)
    head, first, *_ = out["analysis"]
    assert head == "="
    assert re.match(r"info move \S+ visits \d+ winrate 0\.\d+", first)
    reports = [line for line in out["reports"] if line]
    assert reports[0] == "=" and reports[1].startswith("info move ")
    assert reports[-1] == f"play {reports[-2].split()[2]}"
    assert "G" in out["rectangle"] and out["rectangle"].count("X") == 1
    assert out["refusal"] == "Board size is not supported by engine"
    assert out["unknown"] is True
