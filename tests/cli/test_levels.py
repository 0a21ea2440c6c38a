"""Levels on the command line: what they are worth, what makes a game of two of them even."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Tengen

from tengen.arena import placing
from tengen.arena.placing import advise
from tengen.players.tengen import LEVELS


@pytest.fixture
def ratings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Level 1 to 5 on 19x19 and nothing else, 250 Elo apart."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    rated = [
        {"player": f"tengen:level={n}", "size": "19x19", "elo": 750.0 + 250 * n, "games": 20,
         "interval": [700.0, 800.0]}
        for n in range(1, 6)
    ]  # fmt: skip
    monkeypatch.setattr(placing, "recorded", lambda path=tmp_path: rated)


def test_the_table_of_levels(ratings: None, tengen: Tengen) -> None:
    levels = tengen.json("players tengen")["levels"]
    assert [one["level"] for one in levels] == list(LEVELS)
    assert levels[0]["ratings"]["19x19"]["rank"] == "17 kyu" and levels[9]["ratings"] == {}
    out = " ".join(tengen("players tengen").split())
    assert "1000 (700" in out and "not rated" in out and "searches at full" in out


@pytest.mark.parametrize(
    ("mine", "side", "stones"), [("1", "black", 5), ("3", "black", 0), ("5", "white", 5)]
)
def test_a_fair_game(
    ratings: None,
    monkeypatch: pytest.MonkeyPatch,
    tengen: Tengen,
    mine: str,
    side: str,
    stones: int,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("quit\n"))
    game = tengen.json("play --size 19 --player tengen:level=3 --seed 1 --my-level", mine)
    assert (game["colour"], game["handicap"]) == (side, stones)
    assert game["komi"] == (0.5 if stones else 7.5)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("--player static --my-level 3", "static has no level"),
        ("--my-level 3", "has no level"),
        ("--player tengen:level=3 --my-level 2 --handicap 4", "leave --handicap"),
        ("--player tengen:level=3 --my-level 9", "level 9 is not rated on 19x19"),
        ("--player tengen:level=3 --my-level -1", "no level -1"),
    ],
)
def test_no_fair_game(ratings: None, tengen: Tengen, words: str, why: str) -> None:
    assert why in tengen.mistake("play --size 19", words)


def test_shipped_levels_are_rated_in_order_on_9x9() -> None:
    found = placing.level_ratings("9x9")
    assert set(found) >= {1, 2, 3, 4, 5, 6}
    elos = [found[level]["elo"] for level in sorted(found)]
    assert elos == sorted(elos)
    assert advise(1, 6, 9).stones > 1
