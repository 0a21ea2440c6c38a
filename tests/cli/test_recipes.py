"""The command `games build` as a user types it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from tests.cli.conftest import Tengen

from tengen.records.recipes import recipe_names

GAME = "(;GM[1]FF[4]SZ[9]PB[Ann]KM[5.5]RE[B+2];B[ee];W[cc];B[])\n"
LINE = b"(;GM[1]FF[4]CA[UTF-8]SZ[9]KM[5.5]RE[B+2];B[ee];W[cc];B[])\n"


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    (tmp_path / "clone").mkdir()
    (tmp_path / "clone" / "a.sgf").write_text(GAME)
    path = tmp_path / "small.toml"
    path.write_text(
        'title = "One game"\nrepository = "somebody/games"\nsources = ["a.sgf"]\n'
        f'[[files]]\nname = "small.sgf"\nsha256 = "{hashlib.sha256(LINE).hexdigest()}"\n'
    )
    return path


def test_build(tmp_path: Path, recipe: Path, tengen: Tengen) -> None:
    words = ("games build", recipe, "--source", tmp_path / "clone", "--out", tmp_path / "out")
    [value] = tengen.json(*words)
    assert value == {
        "file": str(tmp_path / "out" / "small.sgf"),
        "games": 1,
        "sha256": hashlib.sha256(LINE).hexdigest(),
        "checked": True,
    }
    assert (tmp_path / "out" / "small.sgf").read_bytes() == LINE
    assert value["sha256"] in tengen(*words)


def test_a_recipe_without_a_sum_is_unchecked(tmp_path: Path, recipe: Path, tengen: Tengen) -> None:
    recipe.write_text(recipe.read_text().rpartition("sha256")[0])
    words = ("games build", recipe, "--source", tmp_path / "clone", "--out", tmp_path / "out")
    [value] = tengen.json(*words)
    assert not value["checked"] and "no SHA-256" in tengen.err


def test_mistakes(tmp_path: Path, recipe: Path, tengen: Tengen) -> None:
    rest = ("--source", tmp_path / "clone", "--out", tmp_path / "out")
    message = tengen.mistake("games build chess", *rest)
    assert all(name in message for name in recipe_names())
    assert "none.toml" in tengen.mistake("games build", tmp_path / "none.toml", *rest)
    assert "kgs6d: not in" in tengen.mistake("games build kgs6d", *rest)
    (tmp_path / "clone" / "a.sgf").write_text(GAME.replace("cc", "dd"))
    assert "small.sgf: SHA-256" in tengen.mistake("games build", recipe, *rest)
    assert not (tmp_path / "out").exists()
