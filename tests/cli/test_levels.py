"""Levels on the command line: what they are worth, what makes a game of two of them even."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tengen.arena import placing
from tengen.arena.placing import LevelRating, advise
from tengen.cli import run
from tengen.players.tengen import LEVELS

Out = pytest.CaptureFixture[str]


@pytest.fixture
def ratings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Level 1 to 5 on 19x19 and nothing else, 250 Elo apart."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    rated = {n: LevelRating(n, 750.0 + 250 * n, (700.0, 800.0), 20) for n in range(1, 6)}

    def known(size: str, path: Path = tmp_path) -> dict[int, LevelRating]:
        return rated if size == "19x19" else {}

    monkeypatch.setattr(placing, "level_ratings", known)


def told(capsys: Out, *words: str) -> Any:
    assert run([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_table_of_levels(ratings: None, capsys: Out) -> None:
    levels = told(capsys, "players", "tengen")["levels"]
    assert [one["level"] for one in levels] == list(LEVELS)
    assert levels[0]["ratings"]["19x19"]["rank"] == "17 kyu" and levels[9]["ratings"] == {}
    assert run(["players", "tengen"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "1000 (700" in out and "not rated" in out and "searches at full" in out


def test_advice_between_two_levels(ratings: None, capsys: Out) -> None:
    advice = told(capsys, "players", "--between", "4", "2")
    assert (advice["weaker"], advice["stronger"]) == (2, 4)
    assert [board["is"] for board in advice["boards"]] == [
        "not rated",
        "not rated",
        "5 stones, komi 0.5",
    ]
    assert run(["players", "--between", "2", "4"]) == 0
    assert "5 stones, komi 0.5" in capsys.readouterr().out
    assert run(["players", "--between", "2", "44"]) == 1
    assert "no level 44" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("mine", "side", "stones"), [("1", "black", 5), ("3", "black", 0), ("5", "white", 5)]
)
def test_a_fair_game(
    ratings: None, monkeypatch: pytest.MonkeyPatch, capsys: Out, mine: str, side: str, stones: int
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("quit\n"))
    game = told(
        capsys, "play", "--size", "19", "--player", "tengen:level=3", "--my-level", mine,
        "--seed", "1",
    )  # fmt: skip
    assert (game["colour"], game["handicap"]) == (side, stones)
    assert game["komi"] == (0.5 if stones else 7.5)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--player", "static", "--my-level", "3"], "static has no level"),
        (["--my-level", "3"], "has no level"),
        (["--player", "tengen:level=3", "--my-level", "2", "--handicap", "4"], "leave --handicap"),
        (["--player", "tengen:level=3", "--my-level", "9"], "level 9 is not rated on 19x19"),
        (["--player", "tengen:level=3", "--my-level", "-1"], "no level -1"),
    ],
)
def test_no_fair_game(ratings: None, capsys: Out, words: list[str], why: str) -> None:
    assert run(["play", "--size", "19", *words]) == 1
    err = capsys.readouterr().err
    assert why in err and len(err.splitlines()) == 1


def test_shipped_levels_are_rated_in_order_on_9x9() -> None:
    found = placing.level_ratings("9x9")
    assert set(found) >= {1, 2, 3, 4, 5, 6}
    elos = [found[level].elo for level in sorted(found)]
    assert elos == sorted(elos)
    assert advise(1, 6, 9).stones > 1
