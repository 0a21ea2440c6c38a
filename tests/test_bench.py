"""Every kind of work that `tengen bench` measures can be done; reading beats sgfmill by far."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.needs import need

from tengen.bench import CONTESTS, compare, measure, sample_games
from tengen.cli import run
from tengen.errors import TengenError

GAMES = sample_games(8, 60)


@pytest.fixture
def games(tmp_path: Path) -> Path:
    (tmp_path / "games.sgf").write_bytes(GAMES)
    return tmp_path / "games.sgf"


@pytest.mark.parametrize("name", CONTESTS)
def test_our_side_does_something(name: str, games: Path) -> None:
    work = CONTESTS[name].ours(games)
    assert work() > 0


def test_sample_games_are_one_a_line_and_follow_from_the_seed() -> None:
    assert len(GAMES.splitlines()) == 8
    assert GAMES == sample_games(8, 60) != sample_games(8, 60, seed=2)


def test_a_missing_peer_leaves_the_ratio_empty(
    games: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sgfmill", None)
    found = measure(CONTESTS["replay"], games, rounds=1, seconds=0.01)
    assert (found.peer, found.ratio) == (None, None)
    assert found.peer_name == "sgfmill (pip install 'tengen-go[bench]')" and found.ours > 0


def test_network_is_compared_with_onnx_runtime(games: Path) -> None:
    need("onnx")
    need("onnxruntime")
    found = measure(CONTESTS["network-19x19"], games, rounds=1, seconds=0.2)
    assert found.peer is not None and found.ratio == pytest.approx(found.ours / found.peer, abs=0.1)
    assert (found.peer_name, found.unit) == ("ONNX Runtime", "positions/s")


def test_the_command(capsys: pytest.CaptureFixture[str], games: Path) -> None:
    words = ["bench", "--only", "sgf-read", "--json", "--quiet"]
    assert run([*words, "--collection", str(games)]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert list(row) == ["name", "unit", "ours", "peer", "peer_name", "ratio"]
    assert row["name"] == "sgf-read" and row["ours"] > 0


def test_games_of_any_shape_are_measured(tmp_path: Path) -> None:
    wide = tmp_path / "wide.sgf"
    wide.write_text(
        "(;SZ[19]\nC[two\nlines]\n;B[aa]\n;W[bb])\n\n(;SZ[19];B[cc]\n(;W[dd])(;W[ee]))\n"
    )
    (found,) = compare(["sgf-read"], wide)
    assert found.ours > 0
    wide.write_text("no game")
    with pytest.raises(TengenError, match=r"wide\.sgf: no game"):
        list(compare(["sgf-read"], wide))


def test_unknown_work_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "--only", "dancing"]) == 1
    assert "no benchmark 'dancing'" in capsys.readouterr().err
