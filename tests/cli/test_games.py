"""The commands `games stat`, `check` and `convert` as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tengen.cli import run

GOOD = "(;GM[1]FF[4]SZ[9]KM[5.5]RE[B+2];B[ee];W[cc];B[])\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.sgf").write_text(GOOD + "(;SZ[9];B[zz])\n" + GOOD)
    (tmp_path / "b.sgf").write_text("(;SZ[13]RE[W+R];B[aa];W[aa]")
    return tmp_path


def test_stat(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["games", "stat", str(folder), "--json"]) == 0
    out, err = capsys.readouterr()
    value = json.loads(out)
    assert (value["games"], value["damaged"], value["moves"]) == (3, 1, 8)
    assert value["sizes"] == {"9x9": 2, "13x13": 1}
    assert value["results"] == {"B+Score": 2, "W+R": 1}
    assert "a.sgf: game 2, byte 56: move 1, B 'zz'" in err
    assert "(repaired)" in err


def test_stat_for_people(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["games", "stat", str(folder), "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert "9x9 2, 13x13 1" in out
    assert err == ""


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"", "empty"), (b"\xff\x00 noise", "no SGF game"), (b"(;SZ[9];B[zz])", "zz")],
)
def test_nothing_to_read_is_the_users_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes, reason: str
) -> None:
    (tmp_path / "x.sgf").write_bytes(data)
    for command in ("stat", "check"):
        assert run(["games", command, str(tmp_path / "x.sgf")]) == 1
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("tengen: ")
        assert err.count("\n") == 1
        assert reason in err


def test_a_missing_file_is_the_users_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["games", "stat", "no/such/file.sgf"]) == 1
    assert "no/such/file.sgf" in capsys.readouterr().err


def test_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["games", "check", str(folder), "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert (value["games"], value["damaged"], value["refused"]) == (3, 1, 1)
    [refusal] = value["refusals"]
    assert (refusal["file"], refusal["game"], refusal["move"]) == (str(folder / "b.sgf"), 1, 2)
    assert run(["games", "check", str(folder), "--strict"]) == 1
    assert "refused │ 1" in capsys.readouterr().out


def test_convert(folder: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    out = folder / "out.sgf"
    assert run(["games", "convert", str(folder / "a.sgf"), "--out", str(out), "--unique"]) == 0
    assert out.read_text() == GOOD
    capsysbinary.readouterr()
    assert run(["games", "convert", str(folder / "b.sgf"), "--out", "-"]) == 0
    assert capsysbinary.readouterr().out == b"(;SZ[13]RE[W+R];B[aa];W[aa])\n"
    assert run(["games", "convert", str(out), "--out", "games.doc"]) == 1


@pytest.mark.parametrize("out", ["a.sgf", "b.sgf", "./sub/../a.sgf", "sub/", "./"])
def test_convert_refuses_to_write_over_what_it_reads(
    folder: Path, capsys: pytest.CaptureFixture[str], out: str
) -> None:
    (folder / "sub").mkdir()
    before = {name.name: name.read_bytes() for name in folder.glob("*.sgf")}
    # The folder reads all of them; the file reads itself.
    inputs = [str(folder), str(folder / "a.sgf")] if "a.sgf" in out else [str(folder)]
    for name in inputs:
        assert run(["games", "convert", name, "--out", f"{folder}/{out}"]) == 1
        err = capsys.readouterr().err
        assert err.count("\n") == 1 and "read" in err
    assert {name.name: name.read_bytes() for name in folder.glob("*.sgf")} == before


def test_a_failed_conversion_keeps_the_old_file(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tengen.records import GameRecord

    out = folder / "out.sgf"
    out.write_text("old")

    def full(*_: object, **__: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(GameRecord, "utf8_sgf", full)
    assert run(["games", "convert", str(folder / "a.sgf"), "--out", str(out)]) == 1
    assert capsys.readouterr().err == f"tengen: {out}: No space left on device\n"
    assert out.read_text() == "old"


def test_a_conversion_of_no_game_keeps_the_old_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game = tmp_path / "game.sgf"
    game.write_text("(;SZ[9];B[ee])")
    for suffix, options, reason in (
        ("sgf", ["--size", "19"], "no game on 19x19 to write"),
        ("npz", ["--size", "19"], "no game on 19x19 to write"),
        ("txt", [], "no game to write (19x19, no stones set up)"),
    ):
        out = tmp_path / f"old.{suffix}"
        out.write_text("old")
        assert run(["games", "convert", str(game), "--out", str(out), *options]) == 1
        assert capsys.readouterr().err == f"tengen: {game}: {reason}\n"
        assert out.read_text() == "old"


def test_empty_names_and_used_folders_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    game = tmp_path / "game.sgf"
    game.write_text("(;SZ[9];B[ee])")
    for words in (["convert", str(game), "--out", ""], ["stat", ""]):
        assert run(["games", *words]) == 1
        assert "is empty" in capsys.readouterr().err
    assert run(["games", "convert", str(game), "--out", "many/"]) == 0
    assert run(["games", "convert", str(game), "--out", "many/"]) == 1
    assert "has numbered games already" in capsys.readouterr().err
