"""A full disk leaves old files whole and ends in one line; a tournament and a training go on."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Tengen

from tengen.cli import run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")

# No file may grow beyond so many bytes: what the system answers then is what it answers when the
# disk is full, but for its number.
LIMITED = """
import resource, sys
most = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
from tengen.cli import run
sys.exit(run(sys.argv[2:]))
"""
GAME = "(;SZ[9]KM[7.5]RE[B+3];" + ";".join(
    f"{'BW'[i % 2]}[{x}{y}]" for i, (x, y) in enumerate((x, y) for x in "abcdef" for y in "abcdefg")
)
GAME += ";B[];W[])"


def on_a_full_disk(most: int, *words: object) -> str:
    """Run a command that may write files up to a size; return the one line with which it fails."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(most), *map(str, words)],
        capture_output=True,
        text=True,
        # Python does not notice that half a module's bytecode was written, and others read it.
        env={**os.environ, "TENGEN_QUIET": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 1 and done.stderr.startswith("tengen: "), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("arena") / "m.sqlite"
    words = ["arena", "match", "random", "maxlib", "--size", "5", "--games", "6", "--quiet"]
    assert run([*words, "--out", str(path)]) == 0
    return path


def test_an_export_leaves_the_old_file(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_text("old")
    on_a_full_disk(300, "arena", "export", results, "--out", out)
    assert (out.read_text(), os.listdir(tmp_path)) == ("old", [out.name])


def test_a_database_is_copied_whole_or_not_at_all(
    results: Path, tmp_path: Path, tengen: Tengen
) -> None:
    out = tmp_path / "out.sqlite"
    on_a_full_disk(9000, "arena", "export", results, "--out", out)
    assert os.listdir(tmp_path) == []
    tengen("arena export", results, "--out", out)
    assert os.listdir(tmp_path) == [out.name]
    with sqlite3.connect(out) as copy:
        assert copy.execute("SELECT COUNT(*) FROM games").fetchone() == (6,)
    copy.close()


@pytest.mark.parametrize(
    "words",
    [
        ("games", "convert", "GAMES", "--out", "OUT"),
        ("review", "GAMES", "--out", "OUT", "--quick", "--quiet"),
    ],
    ids=lambda words: words[0],
)
def test_what_is_made_of_games_leaves_the_old_file(words: tuple[str, ...], tmp_path: Path) -> None:
    games, out = tmp_path / "games.sgf", tmp_path / "out.sgf"
    games.write_text(GAME * 3)
    out.write_text("old")
    places = {"GAMES": games, "OUT": out}
    on_a_full_disk(400, *(places.get(word, word) for word in words))
    assert out.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["games.sgf", "out.sgf"]


def test_a_tournament_goes_on_when_there_is_room_again(tmp_path: Path, tengen: Tengen) -> None:
    def games(path: Path) -> list[tuple[object, ...]]:
        with sqlite3.connect(path) as connection:
            found = connection.execute("SELECT a, b, number, moves, result FROM games").fetchall()
        connection.close()
        return sorted(found)

    words = "arena match random random:fill_eyes=no --size 7 --games 40 --quiet --out"
    calm, wild = tmp_path / "calm.sqlite", tmp_path / "wild.sqlite"
    tengen(words, calm)
    assert str(wild) in on_a_full_disk(120_000, *words.split(), wild)
    kept = games(wild)
    assert 0 < len(kept) < 40
    tengen(words, wild)
    assert set(kept) <= set(games(wild))
    assert games(wild) == games(calm)


def test_a_training_goes_on_when_there_is_room_again(tmp_path: Path, tengen: Tengen) -> None:
    few = "--size 5 --generations 3 --population 4 --moves 3"
    words = f"train opening-evolution {few} --seed 3 --quiet --out"
    calm, wild = tmp_path / "calm", tmp_path / "wild"
    tengen(words, calm)
    on_a_full_disk(2000, *words.split(), wild)
    tengen(words, wild, "--resume")
    assert (wild / "model.safetensors").read_bytes() == (calm / "model.safetensors").read_bytes()
    assert (wild / "metrics.jsonl").read_bytes() == (calm / "metrics.jsonl").read_bytes()
