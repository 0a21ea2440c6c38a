"""The benchmark of points lost: what it asks, how it reads answers, what it says of two files."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tengen.errors import TengenError

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "points_lost.py"
GAME = "(;SZ[9]KM[5.5];B[ee];W[ce];B[gc];W[gg];B[cc];W[cg];B[eg];W[ge])"


@pytest.fixture(scope="module")
def script(load_benchmark: Callable[[str], ModuleType]) -> ModuleType:
    return load_benchmark("points_lost")


def answers(path: Path, games: dict[str, list[float]]) -> Path:
    lines = [
        {
            "id": game,
            "turnNumber": turn,
            "rootInfo": {"scoreLead": lead, "currentPlayer": "BW"[turn % 2]},
            "moveInfos": [{"order": 1, "scoreLead": 0}, {"order": 0, "scoreLead": 2 * lead}],
        }
        for game, leads in games.items()
        for turn, lead in enumerate(leads)
    ]
    text = "\n".join(map(json.dumps, reversed(lines)))
    path.write_text(f"started\n{text}\n" + json.dumps({"id": "g", "error": "no"}))
    return path


def test_a_move_loses_what_its_player_sees(script: ModuleType, tmp_path: Path) -> None:
    found = script.losses(answers(tmp_path / "a", {"g": [1.0, -2.0, -5.0, -4.0]}))
    assert found == {"g": {0: 3.0, 1: -3.0, 2: -1.0}}


def test_the_lead_may_be_that_of_the_first_move(script: ModuleType, tmp_path: Path) -> None:
    path = answers(tmp_path / "a", {"g": [1.0, -2.0, -5.0, -4.0]})
    assert script.losses(path, first=True) == {"g": {0: 6.0, 1: -6.0, 2: -2.0}}
    path.write_text(path.read_text().replace("moveInfos", "nothing"))
    with pytest.raises(TengenError, match="has no answer"):
        script.losses(path, first=True)


def test_two_files(script: ModuleType, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    games = {f"g{n}": rng.normal(size=30).cumsum().tolist() for n in range(6)}
    other = {name: (np.array(v) + rng.normal(size=30)).tolist() for name, v in games.items()}
    one, two = answers(tmp_path / "a", games), answers(tmp_path / "b", other)
    same = script.compare(one, one)
    assert same["spearman"] == pytest.approx(1) and same["moves"] == 6 * 29
    near = script.compare(one, two)
    assert 0.2 < near["interval"][0] < near["spearman"] < near["interval"][1] < 0.9
    with pytest.raises(TengenError, match="0 moves in common"):
        script.compare(one, answers(tmp_path / "c", {"another": [1.0, 2.0]}))
    empty = tmp_path / "empty"
    empty.write_text("nothing\n")
    with pytest.raises(TengenError, match="empty: has no answer"):
        script.compare(one, empty)


def test_what_is_asked(tmp_path: Path) -> None:
    games = tmp_path / "games.sgf"
    games.write_text(GAME * 2)
    command = [sys.executable, str(SCRIPT), "ask", str(games), "--moves", "3", "--games", "1"]
    command += ["--seconds", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    [query] = map(json.loads, done.stdout.splitlines())
    assert len(query["moves"]) == 8 and query["komi"] == 5.5 and query["initialPlayer"] == "B"
    assert query["rules"] == "chinese"
    assert 4 <= len(query["analyzeTurns"]) <= 6 and query["overrideSettings"]["maxTime"] == 2.0
    other = [*command, "--rules", "japanese"]
    again = subprocess.run(other, capture_output=True, text=True, check=True, timeout=600)
    assert json.loads(again.stdout) == {**query, "rules": "japanese"}
    missing = subprocess.run(
        [*command[:3], str(tmp_path / "none.sgf")], capture_output=True, text=True, timeout=600
    )
    assert missing.returncode == 1 and "none.sgf" in missing.stderr
    (tmp_path / "noise.sgf").write_text("noise")
    noise = subprocess.run(
        [*command[:3], str(tmp_path / "noise.sgf")], capture_output=True, text=True, timeout=120
    )
    assert noise.returncode == 1 and "noise.sgf: byte 0" in noise.stderr
