"""Write the measurements in the cards of the shipped models; `--check` only compares.

`docs/results/cards.toml` says what stands in each card. `--measure` first runs the commands whose
output is not in `docs/results/data/cards.jsonl`; they need the games in `$TENGEN_GAMES`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from tengen.lab.decisions import Estimate
from tengen.lab.evidence import find_evidence
from tengen.models import Card, Measurement, load_model, read_card, save_model
from tengen.models.store import SHIPPED
from tengen.statistics import wilson

RESULTS = Path(__file__).parents[1] / "docs" / "results"
OUTPUTS = RESULTS / "data" / "cards.jsonl"


def listed() -> list[dict[str, str]]:
    """Return what stands in the cards."""
    entries: list[dict[str, str]] = _toml("cards.toml")["measurement"]
    return entries


def outputs() -> dict[str, dict[str, Any]]:
    """Return the recorded output of each command."""
    lines = OUTPUTS.read_text(encoding="utf-8").splitlines() if OUTPUTS.exists() else []
    return {line["command"]: line["output"] for line in map(json.loads, lines)}


def measure() -> None:
    """Run the commands that have no output yet."""
    known = outputs()
    wanted = dict.fromkeys(entry["command"] for entry in listed() if "command" in entry)
    for command in wanted:
        if command not in known:
            print(command, flush=True)
            words = os.path.expandvars(command).split()
            done = subprocess.run([*words, "--json"], stdout=subprocess.PIPE, check=True)
            with OUTPUTS.open("a", encoding="utf-8") as file:
                line = {"command": command, "output": json.loads(done.stdout)}
                file.write(json.dumps(line) + "\n")


def measurements(model: str) -> list[Measurement]:
    """Return what the records say of a model."""
    found = (_measurement(entry) for entry in listed() if entry["model"] == model)
    return [each for each in found if each is not None]


def _measurement(entry: dict[str, str]) -> Measurement | None:
    """Return a measurement, or None if it is not recorded."""
    if "rows" in entry:
        return _from_rows(entry)
    return _from_output(entry) if "command" in entry else _from_match(entry)


def _from_output(entry: dict[str, str]) -> Measurement | None:
    output = outputs().get(entry["command"])
    if output is None:
        return None
    key = entry["key"]
    interval = output.get("interval" if key == "win_rate" else f"{key}_interval")
    return _entry(entry["what"], output[key], interval, output["games"], entry["command"])


def _from_rows(entry: dict[str, str]) -> Measurement | None:
    games = find_evidence(RESULTS / "data", entry["rows"])
    if games is None:
        return None
    key, all_of = entry["key"], "decided" if entry["key"] == "winner" else "moves"
    share = Estimate.ratio(games[key], games[all_of])
    return _entry(entry["what"], share.mean, share.interval, len(games), games.run.command)


def _from_match(entry: dict[str, str]) -> Measurement:
    named = {key: entry[key] for key in ("part", "player", "opponent", "board") if key in entry}
    (match,) = (each for each in _toml("matches.toml")["match"] if named.items() <= each.items())
    won, games = match["won"], match["games"]
    what = f"{entry['what']} against {entry['opponent']}"
    return _entry(what, won / games, wilson(won, games), games, entry["how"])


def _entry(
    what: str, value: float, interval: tuple[float, float] | None, count: int, how: str
) -> Measurement:
    """Return a measurement with four digits, which the same rows give on every machine."""
    ends = None if interval is None else (round(interval[0], 4), round(interval[1], 4))
    return Measurement(what=what, value=round(value, 4), interval=ends, count=count, how=how)


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((RESULTS / name).read_text(encoding="utf-8"))


def current(card: Card) -> bool:
    """Tell whether a card says what the records say."""
    return card.results == measurements(card.name)


def main() -> int:
    """Write or check all cards; return the exit status."""
    if "--measure" in sys.argv:
        measure()
    stale = [path for path in sorted(SHIPPED.glob("*.safetensors")) if not current(read_card(path))]
    for path in stale:
        if "--check" not in sys.argv:
            tensors, card = load_model(path)
            results = measurements(card.name)
            save_model(path, tensors, card.model_copy(update={"results": results}))
        print(path, "is not what the records say" if "--check" in sys.argv else "written")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
