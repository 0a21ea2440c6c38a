"""Networks that learn by self-play, from the rules alone; see `network` for designs and inputs.

`search` plays many games at once, `training` learns from them, `parallel_games` spreads the games.
No game of anybody else is read here, and the players that use the networks are in `players`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tengen.errors import RunError
from tengen.models.runs import read_metrics, read_run

LEARNER, CLOCK = "self-play", "clock.jsonl"


def read_clock(path: Path) -> list[dict[str, float]]:
    """Return the step of each row of a run and the seconds at which it was written."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def history(folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the rows of a run with the seconds at which they were written."""
    found = read_run(folder)
    if found is None or found.learner != LEARNER:
        raise RunError(f"{os.fspath(folder)}: holds no run of {LEARNER}")
    seconds = {row["step"]: row["seconds"] for row in read_clock(Path(folder) / CLOCK)}
    rows = read_metrics(folder)
    return [{**row, "seconds": seconds.get(row["step"], 0.0)} for row in rows]
