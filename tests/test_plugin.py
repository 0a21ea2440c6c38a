"""A distribution of its own adds a player, without a line changed here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1] / "examples" / "annealing_player"


def installed(folder: Path) -> dict[str, str]:
    """Lay the distribution out as pip does; return the environment that finds it."""
    package = folder / "brugmann1993"
    package.symlink_to(ROOT / "src" / "brugmann1993")
    about = folder / "brugmann1993-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: brugmann1993\nVersion: 1.0\n")
    [group] = [
        part
        for part in (ROOT / "pyproject.toml").read_text().split("\n\n")
        if part.startswith("[project.entry-points")
    ]
    name, line = group.splitlines()
    entry = f"[{name.split('.', 2)[2].strip(']').strip(chr(34))}]\n{line.replace(chr(34), '')}\n"
    (about / "entry_points.txt").write_text(entry)
    return os.environ | {"PYTHONPATH": str(folder)}


def tengen(*words: str, env: dict[str, str]) -> str:
    command = [sys.executable, "-m", "tengen", *words]
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout


def test_it_is_listed_and_plays_in_the_arena(tmp_path: Path) -> None:
    env = installed(tmp_path)
    listed = json.loads(tengen("players", "--json", env=env))
    assert [row["name"] for row in listed].count("annealing") == 1
    told = tengen(
        "arena", "match", "annealing:games=60", "random", "--size", "5", "--games", "4",
        "--json", env=env,
    )  # fmt: skip
    match = json.loads(told)
    assert match["games"] == 4 and match["faults"] == 0


def test_a_saved_game_does_not_start_it(tmp_path: Path) -> None:
    env = installed(tmp_path)
    for spec in ("annealing:games=1", "opening:model=td-best-9x9,then=Annealing"):
        game = tmp_path / "game.sgf"
        about = json.dumps({"player": spec, "human": 1, "seed": 1, "clock": None})
        game.write_text(f"(;GM[1]SZ[9]XT[{about}];B[ee])")
        command = [sys.executable, "-m", "tengen", "play", "--resume", "--out", str(game)]
        done = subprocess.run(command, env=env, input="", capture_output=True, text=True)
        assert done.returncode == 1 and "--player" in done.stderr


def test_the_middle_is_worth_more_than_the_corner(monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "src"))
    from brugmann1993.player import AnnealingPlayer, move_values

    from tengen import Board

    board = Board(5)
    values = move_values(board, 400, 5.0, 1)
    assert values[board.point("C3")] > values[board.point("A1")]
    board = Board(5, moves="B B1 W A1 B E5 W E1 B D5 W D1")  # White's corner stone is in atari
    choices = [
        AnnealingPlayer(games=300).choose(board, np.random.default_rng(seed)) for seed in range(3)
    ]
    assert all(board.is_legal(choice) for choice in choices)
