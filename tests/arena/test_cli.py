"""`tengen arena`: one JSON value, agreed keys, exit statuses, files."""

from __future__ import annotations

import csv
import json
from typing import Any

import pytest

from tengen.cli import run
from tengen.records import loads

KEYS = {"a", "b", "games", "wins_a", "wins_b", "draws", "win_rate_a", "interval"}
KEYS |= {"duplicates", "faults"}
CONFIG = """
kind = "ladder"
games = 8
size = 5
seed = 1
[players.random]
spec = "random"
[players.maxlib]
spec = "maxlib"
elo = 500
[players.stone]
spec = "maxlib:average=stone"
"""


def call(capsys, *arguments: object) -> tuple[int, str, str]:
    status = run([str(argument) for argument in ("arena", *arguments)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def value(capsys, *arguments: object) -> Any:
    status, out, err = call(capsys, *arguments, "--json")
    assert status == 0, err
    assert out.count("\n") == 1
    return json.loads(out)


def test_match_has_the_agreed_keys(capsys) -> None:
    found = value(capsys, "match", "maxlib", "random", "--games", 8, "--size", 5, "--seed", 3)
    assert set(found) >= KEYS
    assert (found["a"], found["b"], found["games"]) == ("maxlib", "random", 8)
    assert found["wins_a"] + found["wins_b"] + found["draws"] == 8
    assert found["win_rate_a"] == (found["wins_a"] + found["draws"] / 2) / 8
    assert found["interval"][0] <= found["win_rate_a"] <= found["interval"][1]
    assert found["a_black"]["games"] == found["a_white"]["games"] == 4
    again = value(capsys, "match", "maxlib", "random", "--games", 8, "--size", 5, "--seed", 3)
    assert again == found


def test_match_for_people_and_on_a_rectangle(capsys) -> None:
    status, out, _ = call(
        capsys, "match", "maxlib", "random", "--games", 2, "--size", "5x6", "--openings", "none"
    )
    assert status == 0
    assert "maxlib - random:" in out
    assert "95 %" in out


def test_match_resumes_and_ends_early(capsys, tmp_path) -> None:
    out = tmp_path / "m.sqlite"
    common = ["match", "maxlib", "random", "--size", 5, "--out", out]
    assert value(capsys, *common, "--games", 4)["games"] == 4
    assert value(capsys, *common, "--games", 6, "--resume")["games"] == 6
    tested = value(capsys, *common, "--games", 400, "--sprt", "-100,300")
    assert tested["sprt"]["answer"] == "elo1"
    assert tested["games"] < 400
    assert value(capsys, *common, "--games", 400, "--sprt", "-100,300") == tested
    assert value(capsys, *common, "--games", 2, "--sprt", "-100,300")["left"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["match", "maxlib", "nobody"], "nobody"),
        (["match", "maxlib", "random", "--size", "x"], "x: not a board size"),
        (["match", "maxlib", "random", "--size", "1"], "conditions.rows"),
        (["match", "maxlib", "random", "--rules", "chess"], "chess"),
        (["match", "maxlib", "random", "--judge", "me"], "judge"),
        (["match", "maxlib", "random", "--openings", "no.sgf"], "no.sgf"),
        (["match", "maxlib", "random", "--resume"], "nothing to resume"),
        (["match", "maxlib", "random", "--komi", "nan"], "komi"),
        (["match", "maxlib", "random", "--out", "."], "is a folder"),
        (["run", "no.toml"], "no.toml"),
        (["show", "no.sqlite"], "no.sqlite"),
        (["rate", "maxlib", "--size", "7"], "no ladder for 7x7"),
        (["match", "maxlib"], "Missing argument"),
    ],
)
def test_mistakes_are_one_line_and_status_1(capsys, arguments, message) -> None:
    status, out, err = call(capsys, *arguments)
    assert (status, out) == (1, "")
    assert message in err
    assert "Traceback" not in err


def test_run_show_export_and_rate(capsys, tmp_path) -> None:
    config = tmp_path / "t.toml"
    config.write_text(CONFIG)
    found = value(capsys, "run", config)
    database = tmp_path / "t.sqlite"
    assert found["games"] + found["duplicates"] == 16
    assert {s["player"]: s["anchored"] for s in found["standings"]} == {
        "random": False,
        "maxlib": True,
        "stone": False,
    }
    assert value(capsys, "show", database) == found
    assert value(capsys, "run", config) == found
    status, out, _ = call(capsys, "show", database)
    assert status == 0
    assert "500*" in out
    _check_exports(capsys, tmp_path, database)
    _check_rate(capsys, tmp_path, database)


def _check_exports(capsys, tmp_path, database) -> None:
    for kind in ("csv", "json", "html", "sgf"):
        status, _, err = call(capsys, "export", database, "--out", tmp_path / f"t.{kind}")
        assert status == 0, err
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    games = json.loads((tmp_path / "t.json").read_text())["games"]
    records = loads((tmp_path / "t.sgf").read_bytes())
    assert len(rows) == len(games) == len(records) == 16
    for row, game, record in zip(rows, games, records, strict=True):
        root = record.properties
        assert row["result"] == game["result"] == root["RE"][0]
        winner = row["black"] if row["result"].startswith("B") else row["white"]
        assert row["winner"] == game["winner"] == winner
        assert (root["PB"][0], root["PW"][0]) == (row["black"], row["white"])
        assert (row["black"] == row["a"]) == (int(row["number"]) % 2 == 0)
    page = (tmp_path / "t.html").read_text()
    assert "Cross table" in page
    assert "maxlib:average=stone" in page
    assert call(capsys, "export", database, "--out", tmp_path / "t.pdf")[0] == 1
    status, _, err = call(capsys, "export", database, "--out", database)
    assert (status, err) == (1, f"tengen: {database}: is what is read; write to another name\n")
    assert call(capsys, "export", database, "--out", tmp_path / "copy.sqlite")[0] == 0
    assert value(capsys, "show", tmp_path / "copy.sqlite") == value(capsys, "show", database)


def _check_rate(capsys, tmp_path, ladder) -> None:
    common = ["rate", "maxlib", "--database", ladder, "--games", 12]
    placed = value(capsys, *common, "--out", tmp_path / "placed.sqlite")
    assert placed["games"] <= 12
    low, high = placed["interval"]
    assert low <= placed["elo"] <= high
    assert {rung["player"] for rung in placed["rungs"]} <= {"random", "maxlib", "stone"}
    # The games kept are not played again and do not change who is chosen.
    assert value(capsys, *common, "--out", tmp_path / "placed.sqlite") == placed
    assert call(capsys, *common, "--games", 4)[0] == 0
