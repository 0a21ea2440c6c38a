"""The command `explore` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tengen.cli import run

GAMES = "(;SZ[9]RE[B+R]DT[2001];B[gc];W[cg];B[ee])(;SZ[9]RE[W+R]DT[2003];B[cc];W[gg];B[ee])\n"


@pytest.fixture
def games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "games.sgf").write_text(GAMES)
    return tmp_path / "games.sgf"


def test_json_text_and_picture(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = games.parent / "picture.svg"
    asked = ["explore", str(games), "--moves", "G7 C3", "--no-models"]
    assert run([*asked, "--json", "--out", str(out)]) == 0
    printed, told = capsys.readouterr()
    assert "index of 2 games" in told
    assert out.read_text().startswith("<svg")
    value = json.loads(printed)
    assert (value["games"], value["collection"], value["to_play"]) == (2, 2, "black")
    [move] = value["moves"]
    assert (move["move"], move["count"], move["share"], move["wins_black"]) == ("E5", 2, 1.0, 1)
    assert (move["network"], move["opening"], move["first"]) == (None, None, "2001")
    assert run(asked) == 0
    printed, told = capsys.readouterr()
    assert told == ""  # the index was there
    assert "Black to play: 2 games" in printed
    assert "2001-2003" in printed
    assert run([*asked[:2], "--moves", "A1", "--no-models"]) == 0
    assert "none of 2 games was here" in capsys.readouterr().out
    assert run([*asked[:2], "--moves", "G7", "--corner", "--no-models"]) == 0
    assert "none of 2 games was here" in capsys.readouterr().out


def test_changed_games_make_the_index_anew(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index = games.parent / "mine.openings"
    asked = ["explore", str(games), "--index", str(index), "--no-models", "--json"]
    assert run(asked) == 0
    games.write_text(GAMES * 2 + "(;SZ[9];B[zz])")
    assert run(asked) == 0
    printed, told = capsys.readouterr()
    assert json.loads(printed.splitlines()[-1])["games"] == 4
    assert "have changed" in told
    assert "zz" in told
    assert run(["explore", str(index), "--no-models", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == 4


def test_a_foreign_index_is_refused_and_kept(
    games: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = games.parent / "mine.openings"
    index.write_text("something else")
    for asked in ([str(games), "--index", str(index)], [str(index)]):
        assert run(["explore", *asked, "--no-models"]) == 1
        out, err = capsys.readouterr()
        assert (out, err) == ("", f"tengen: {index}: not an index of openings\n")
    assert index.read_text() == "something else"
    asked = ["explore", str(games), "--index", str(index), "--no-models", "--rebuild"]
    assert run(asked) == 0
    other = games.parent / "other.sgf"
    other.write_text("something else")
    assert run(["explore", str(games), "--index", str(other), "--no-models", "--rebuild"]) == 1
    assert run([*asked, "--out", str(index)]) == 1
    assert other.read_text() == "something else"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--moves", "G7 G7"], "--moves, move 2"),
        (["--moves", "Z9"], "--moves, move 1"),
        (["--size", "big"], "big: not a board size"),
        (["--size", "9x"], "9x: not a board size"),
        (["--size", "99"], "99x99"),
        (["--moves", "G7 C3", "--corner"], "several corners"),
    ],
)
def test_mistakes_are_one_line(
    games: Path, capsys: pytest.CaptureFixture[str], options: list[str], reason: str
) -> None:
    assert run(["explore", str(games), "--no-models", "--quiet", *options]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tengen: ")
    assert err.count("\n") == 1
    assert reason in err


def test_missing_games(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explore", str(games.parent / "none.sgf")]) == 1
    assert "none.sgf" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--index", "--out"])
def test_the_games_themselves_are_never_written_over(
    games: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    asked = ["explore", str(games), option, str(games), "--no-models", "--rebuild"]
    assert run(asked) == 1
    assert "games.sgf" in capsys.readouterr().err
    assert games.read_text() == GAMES
