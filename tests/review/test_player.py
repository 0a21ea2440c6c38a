"""One player over many reviewed games: the page, the problems, the rank over time."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tengen.board import Board, random_point
from tengen.cli import run
from tengen.players import make_player
from tengen.records import read_games
from tengen.records.from_board import sgf_of_board
from tengen.reviews.player import ranks_over_time
from tengen.reviews.strength import LEAST_GAMES
from tengen.web.positions import packed
from tengen.web.problems import problems_of_upload
from tengen.web.workers import Context


def careless(seed: int) -> str:
    """A game in which Black, whose name is not plain, plays anywhere."""
    board, player, rng = Board(9, komi=6.5), make_player("static"), np.random.default_rng(seed)
    while len(board.moves) < 30:
        board.play(random_point(board, rng))
        board.play(player.choose(board, rng))
    return sgf_of_board(board).replace("(;", f"(;PB[Ann <b>]PW[W{seed}]DT[2026-01-0{seed}]", 1)


def test_the_worst_positions_of_a_player(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "games.sgf").write_text(careless(1) + careless(2))
    out = tmp_path / "out"
    words = ["review", str(tmp_path / "games.sgf"), "--quick", "--out", str(out)]
    assert run([*words, "--player-name", "Ann <b>"]) == 0
    rows = [
        (row["points_lost"], row["move"], row["best"])
        for path in sorted((out / "games").glob("*.json"))
        for row in json.loads(path.read_text())["rows"]
        if row["colour"] == "black" and row["verdict"] == "mistake"
    ]
    rows.sort(key=lambda row: -row[0])
    page = (out / "player.html").read_text()
    assert "<b>" not in page.split("<h1>")[1].split("</h1>")[0]
    assert page.count("<figure>") == min(len(rows), 20) > 3
    problems = list(read_games(out / "player.sgf"))
    assert len(problems) == page.count("<figure>")
    data = (out / "player.sgf").read_bytes()
    found = problems_of_upload(
        packed(data, "player.sgf"), Context(lambda part: None, lambda: False)
    )
    assert [one["answers"] for one in found["problems"]] == [
        [best] for _, _, best in rows[: len(problems)] if best != "pass"
    ]
    assert run([*words, "--resume", "--player-name", "Nobody"]) == 1
    assert "'Nobody'" in capsys.readouterr().err


def test_a_name_needs_several_games(tmp_path: Path) -> None:
    (tmp_path / "game.sgf").write_text("(;SZ[9];B[ee])")
    assert run(["review", str(tmp_path / "game.sgf"), "--player-name", "Ann"]) == 1


def test_ranks_over_time_follow_the_dates() -> None:
    games = [(f"2026-01-{day:02}", "9x9", [0.3 if day > 10 else 0.01] * 30) for day in range(1, 21)]
    found = ranks_over_time([*reversed(games), ("2026-02-01", "7x7", [0.5])])
    assert [one["date"] for one in found] == [game[0] for game in games[LEAST_GAMES - 1 :]]
    assert {one["board"] for one in found} == {"9x9"}
    assert (found[0]["beyond"], found[-1]["beyond"]) == ("weaker", "stronger")
