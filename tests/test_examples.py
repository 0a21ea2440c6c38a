"""The examples of the gallery run as they stand."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from tests.needs import need

from tengen import Board
from tengen.records.from_board import sgf_of_board

EXAMPLES = Path(__file__).parents[1] / "examples"
# Arguments, what is printed, and the extras that are needed.
RUNS = {
    "analyse_position": ("", r"30 visits\n.*line\n +[A-J]\d", ()),
    "collection_statistics": ("{games}", r"12 games, 0 damaged, 12 between dan players", ()),
    "environment": ("", r"reward -?1.0, score -?\d", ("pettingzoo",)),
    "experiment": ("", r"\d % \[\d+, \d+\], verdict: (agrees|better)", ()),
    "network_positions": ("{games}", r"before move 40: Black wins \d+%", ()),
    "opening_tree": ("{games}", r"(\w\d \d+,? ?)+\n", ()),
    "own_player": ("random", r"corners - random: \d - \d", ()),
    "random_games": ("", r"Black wins \d\d.\d% of 1000 games", ()),
    "review_game": ("{games}", r"points lost per move", ()),
    "score_games": ("{games}", r"game 12: [BW]\+", ()),
    "tournament": ("", r"static +\d+.\d% Elo", ()),
    "train_agent": ("10", r"update 10: wins \d+%", ("pettingzoo", "torch")),
    "train_on_games": ("{games}", r"likeliest first move: index \d+", ()),
}


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("games") / "games.sgf"
    rng, texts = np.random.default_rng(5), []
    for _ in range(12):
        board = Board(9)
        while len(board.moves) < 40:
            points = [point for point in board.legal_moves if point]
            board.play(points[rng.integers(len(points))])
        texts.append(sgf_of_board(board).replace("(;", "(;BR[3d]WR[2d]DT[2020-01-02]RE[B+R]", 1))
    path.write_text("".join(texts), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", RUNS)
def test_an_example(name, games, tmp_path, monkeypatch, capsys) -> None:
    arguments, printed, extras = RUNS[name]
    for extra in extras:
        need(extra)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.argv", [name, *arguments.format(games=games).split()])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert re.search(printed, capsys.readouterr().out)


def test_every_example_is_short_and_run() -> None:
    lines = {
        path.stem: sum(bool(line.strip()) for line in path.read_text(encoding="utf-8").splitlines())
        for path in EXAMPLES.glob("*.py")
    }
    assert set(lines) == set(RUNS)
    assert max(lines.values()) <= 30 and sorted(lines.values())[-2] <= 15, lines
