"""The keys of `--json` that other programs rely on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tengen.cli import run

RATES = {"games", "positions", "top1", "top5", "top10", "log_loss"}
COUNT = {"black", "white", "result"}
REVIEWED = {"number", "move", "points_lost", "best", "winrate", "score"}
SCORED = {"games", "exact", "within1", "winner", "safe", "exact_when_safe", "seconds_per_game"}
NETWORK = {"winner", "score_error", "ownership", "calibration", "milliseconds_per_position"}

# Command -> its keys; a nested table stands for the mapping, or for each entry of the list, there.
COMMANDS: dict[str, Any] = {
    "evaluate network {game} --model tengen-small --every 20": RATES | NETWORK,
    "evaluate move-prediction {large}": RATES | {"top20", "seconds"},
    "evaluate scoring {game} --count plain": SCORED,
    "evaluate symmetry-network --size 5 --games 2": {"games", "win_rate", "interval"},
    "models show tengen-small": {"free_parameters", "equivariance_error", "name", "results"},
    "score {game}": [{"file": 0, "game": 0, "result": 0, "territory": COUNT, "area": COUNT,
                      "dead": 0, "seki": 0, "safe": 0}],
    "predict {game} --move 20 --ownership --model tengen-small": {
        "moves": [{"move", "probability"}], "win_probability": 0, "score": 0, "ownership": 0,
        "groups": [{"stones", "survival"}]},
    "review {game} --quick --out {out}": [
        {"file": 0, "game": 0, "moves": [REVIEWED], "summary": 0, "seconds": 0}],
    "explore {game} --index {index}": {
        "games": 0, "moves": [{"move", "count", "share", "wins_black", "network"}]},
}  # fmt: skip


def game(size: int) -> str:
    """Return the record of a finished game: two walls."""
    letters = "abcdefghijklmnopqrs"[:size]
    black, white = letters[size // 2], letters[size // 2 + 1]
    moves = "".join(f";B[{black}{row}];W[{white}{row}]" for row in letters)
    score = size * (size // 2 + 1) - size * (size - size // 2 - 1) - 7.5
    result = f"B+{score:g}" if score > 0 else f"W+{-score:g}"
    return f"(;FF[4]GM[1]SZ[{size}]KM[7.5]RU[Chinese]RE[{result}]{moves};B[];W[])"


def check(value: Any, keys: Any) -> None:
    if isinstance(keys, list):
        assert isinstance(value, list) and value
        for entry in value:
            check(entry, keys[0])
    elif keys:
        assert set(value) >= set(keys), set(keys) - set(value)
        for key, below in keys.items() if isinstance(keys, dict) else ():
            check(value[key], below)


@pytest.mark.parametrize("command", COMMANDS)
def test_other_programs_find_their_keys(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"game": tmp_path / "game.sgf", "large": tmp_path / "large.sgf"}
    for name, size in (("game", 9), ("large", 19)):
        places[name].write_text(game(size))
    places |= {"out": tmp_path / "review.sgf", "index": tmp_path / "games.index"}
    words = [word.format(**places) for word in command.split()]
    assert run([*words, "--json"]) == 0
    check(json.loads(capsys.readouterr().out), COMMANDS[command])
