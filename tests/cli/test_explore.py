"""The command `explore` as a user types it."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from tests.cli.conftest import Tengen

GAMES = "(;SZ[9]RE[B+R]DT[2001];B[gc];W[cg];B[ee])(;SZ[9]RE[W+R]DT[2003];B[cc];W[gg];B[ee])\n"


@pytest.fixture
def games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "games.sgf").write_text(GAMES)
    return tmp_path / "games.sgf"


def test_json_text_and_picture(games: Path, tengen: Tengen) -> None:
    out = games.parent / "picture.svg"
    value = tengen.json("explore --no-models --moves G7,C3", games, "--out", out)
    assert "index of 2 games" in tengen.err
    assert out.read_text().startswith("<svg")
    assert (value["games"], value["collection"], value["to_play"]) == (2, 2, "black")
    [move] = value["moves"]
    assert (move["move"], move["count"], move["share"], move["wins_black"]) == ("E5", 2, 1.0, 1)
    assert (move["network"], move["opening"], move["first"]) == (None, None, "2001")
    sheet = games.parent / "moves.csv"
    tengen("explore --no-models --moves G7,C3", games, "--csv", sheet)
    [line] = csv.DictReader(sheet.read_text().splitlines())
    assert (line["move"], line["count"], line["example_game"]) == ("E5", "2", "2")
    printed = tengen("explore --no-models --moves", Path("G7 C3"), games)
    assert tengen.err == ""  # the index was there
    assert "Black to play: 2 games" in printed and "2001-2003" in printed
    for where in ("--moves A1", "--moves G7 --corner"):
        assert "none of 2 games was here" in tengen("explore --no-models", where, games)


def test_changed_games_make_the_index_anew(games: Path, tengen: Tengen) -> None:
    index = games.parent / "mine.openings"
    tengen("explore --no-models", games, "--index", index)
    games.write_text(GAMES * 2 + "(;SZ[9];B[zz])")
    assert tengen.json("explore --no-models", games, "--index", index)["games"] == 4
    assert "have changed" in tengen.err and "zz" in tengen.err
    assert tengen.json("explore --no-models", index)["games"] == 4


def test_a_damaged_index_in_the_cache_is_made_anew(games: Path, tengen: Tengen) -> None:
    tengen("explore --no-models", games)
    [index] = (games.parent / "cache").rglob("*.openings")
    whole = index.read_bytes()
    for length in (0, 100, len(whole) // 2):
        index.write_bytes(whole[:length])
        assert tengen.json("explore --no-models", games)["games"] == 2
        assert "is damaged" in tengen.err and index.read_bytes() == whole


def test_a_foreign_index_is_refused_and_kept(games: Path, tengen: Tengen) -> None:
    index, other = games.parent / "mine.openings", games.parent / "other.sgf"
    for place in (index, other):
        place.write_text("something else")
    refused = f"tengen: {index}: not an index of openings"
    assert tengen.mistake("explore --no-models", games, "--index", index) == refused
    assert tengen.mistake("explore --no-models", index) == refused
    assert index.read_text() == "something else"
    rebuild = ("explore --no-models --rebuild", games, "--index")
    tengen(*rebuild, index)
    tengen.mistake(*rebuild, other)
    tengen.mistake(*rebuild, index, "--out", index)
    assert other.read_text() == "something else"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--moves G7,G7", "--moves, move 2"),
        ("--moves Z9", "--moves, move 1"),
        ("--size big", "big: not a board size"),
        ("--size 9x", "9x: not a board size"),
        ("--size 99", "99x99"),
        ("--moves G7,C3 --corner", "several corners"),
    ],
)
def test_mistakes_are_one_line(games: Path, tengen: Tengen, options: str, reason: str) -> None:
    assert reason in tengen.mistake("explore --no-models --quiet", games, options)


def test_missing_games(games: Path, tengen: Tengen) -> None:
    assert "none.sgf" in tengen.mistake("explore", games.parent / "none.sgf")


@pytest.mark.parametrize("option", ["--index", "--out"])
def test_the_games_themselves_are_never_written_over(
    games: Path, tengen: Tengen, option: str
) -> None:
    said = tengen.mistake("explore --no-models --rebuild", games, option, games)
    assert "games.sgf" in said and games.read_text() == GAMES
