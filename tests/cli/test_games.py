"""The commands `games stat`, `check` and `convert` as a user types them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Tengen

from tengen.cli import run

GOOD = "(;GM[1]FF[4]SZ[9]KM[5.5]RE[B+2];B[ee];W[cc];B[])\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.sgf").write_text(GOOD + "(;SZ[9];B[zz])\n" + GOOD)
    (tmp_path / "b.sgf").write_text("(;SZ[13]RE[W+R];B[aa];W[aa]")
    return tmp_path


def test_stat(folder: Path, tengen: Tengen) -> None:
    value = tengen.json("games stat", folder)
    assert (value["games"], value["damaged"], value["moves"]) == (3, 1, 8)
    assert value["sizes"] == {"9x9": 2, "13x13": 1}
    assert value["results"] == {"B+Score": 2, "W+R": 1}
    assert "a.sgf: game 2, byte 56: move 1, B 'zz'" in tengen.err
    assert "(repaired)" in tengen.err
    assert "9x9 2, 13x13 1" in tengen("games stat --quiet", folder) and tengen.err == ""


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"", "empty"), (b"\xff\x00 noise", "no SGF game"), (b"(;SZ[9];B[zz])", "zz")],
)
def test_nothing_to_read_is_the_users_mistake(
    tmp_path: Path, tengen: Tengen, data: bytes, reason: str
) -> None:
    (tmp_path / "x.sgf").write_bytes(data)
    for command in ("stat", "check"):
        assert reason in tengen.mistake("games", command, tmp_path / "x.sgf")
        assert "none.sgf" in tengen.mistake("games", command, tmp_path / "none.sgf")


def test_check(folder: Path, tengen: Tengen) -> None:
    value = tengen.json("games check", folder)
    assert (value["games"], value["damaged"], value["refused"]) == (3, 1, 1)
    [refusal] = value["refusals"]
    assert (refusal["file"], refusal["game"], refusal["move"]) == (str(folder / "b.sgf"), 1, 2)
    assert "refused │ 1" in tengen("games check --strict", folder, status=1)


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
    folder: Path, tengen: Tengen, out: str
) -> None:
    (folder / "sub").mkdir()
    before = {name.name: name.read_bytes() for name in folder.glob("*.sgf")}
    # The folder reads all of them; the file reads itself.
    for name in (folder, folder / "a.sgf")[: 2 if "a.sgf" in out else 1]:
        assert "read" in tengen.mistake("games convert", name, f"--out {folder}/{out}")
    assert {name.name: name.read_bytes() for name in folder.glob("*.sgf")} == before


def test_a_conversion_of_no_game_keeps_the_old_file(tmp_path: Path, tengen: Tengen) -> None:
    game, out = tmp_path / "game.sgf", tmp_path / "old.sgf"
    game.write_text("(;SZ[9];B[ee])")
    out.write_text("old")
    said = tengen.mistake("games convert", game, "--out", out, "--size 19")
    assert said == f"tengen: {game}: no game on 19x19 to write"
    assert out.read_text() == "old"


def test_empty_names_and_used_folders_are_refused(
    tmp_path: Path, tengen: Tengen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    game = tmp_path / "game.sgf"
    game.write_text("(;SZ[9];B[ee])")
    assert run(["games", "convert", str(game), "--out", ""]) == 1
    assert run(["games", "stat", ""]) == 1
    assert tengen.capsys.readouterr().err.count("is empty") == 2
    tengen("games convert", game, "--out many/")
    said = tengen.mistake("games convert", game, "--out many/")
    assert "has numbered games already" in said
