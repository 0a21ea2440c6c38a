"""Keep what attacks saw in a file, and the table of the page made of it; runs no attack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from seen import Seen

RESULTS = Path(__file__).parents[2] / "docs" / "results"
DATA, PAGE = RESULTS / "robustness.json", RESULTS / "robustness.md"
BEGIN, END = "<!-- written by tests/robustness/attack.py -->", "<!-- up to here -->"


def note(seen: Seen) -> None:
    """Write what was seen into the file and the page."""
    rows = {row["attack"]: row for row in read()}
    rows[seen.attack] = seen.value()
    DATA.write_text(json.dumps(list(rows.values()), indent=1) + "\n")
    before, rest = PAGE.read_text().split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(list(rows.values()))}\n{END}{after}")


def read() -> list[dict[str, Any]]:
    """Return what was seen so far."""
    return json.loads(DATA.read_text()) if DATA.exists() else []


def table(rows: list[dict[str, Any]]) -> str:
    """Return the table: attack, how many, result, date."""
    lines = ["| attack | how many | result | slowest answer | largest process | seed | date |"]
    lines.append("|---|---|---|---|---|---|---|")
    disturbing = ("kill", "full disk")
    for row in sorted(rows, key=lambda row: str(row["attack"]).startswith(disturbing)):
        well = "as undisturbed" if row["attack"].startswith(disturbing) else "no fault"
        result = f"faults: {len(row['faults'])}" if row["faults"] else well
        slowest = f"{row['slowest']:.2f} s" if row["slowest"] else ""
        peak = f"{row['peak']:.0f} MB" if row["peak"] else ""
        if row.get("blocked"):
            slowest += f", event loop blocked for {row['blocked']:.2f} s at most"
        name = row["attack"] + (f" ({row['note']})" if row["note"] else "")
        tried = f"{row['tried']:,}"
        if row["tried"] < row.get("asked", 0):
            tried += f" of {row['asked']:,}"
        cells = [name, tried, result, slowest, peak, row["seed"], row["date"]]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"
