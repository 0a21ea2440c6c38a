"""Ranks and handicaps: the anchor, the ends of the scale, boards, levels that were not rated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tengen.arena.ranks import advise, fair_handicap, level_ratings, rank_of
from tengen.errors import SpecError


@pytest.mark.parametrize(
    ("elo", "rank"),
    [
        (1800, "9 kyu"),
        (1849, "9 kyu"),
        (1851, "8 kyu"),
        (2600, "1 kyu"),
        (2700, "1 dan"),
        (3500, "9 dan"),
        (9000, "9 dan"),
        (-300, "30 kyu"),
        (-2000, "30 kyu"),
    ],
)
def test_ranks(elo: float, rank: str) -> None:
    assert rank_of(elo) == rank


@pytest.mark.parametrize(
    ("apart", "lines", "words"),
    [
        (0, 19, "even"),
        (40, 19, "even"),
        (100, 19, "no stones, komi 0.5"),
        (-200, 19, "2 stones, komi 0.5"),
        (600, 19, "6 stones, komi 0.5"),
        (5000, 19, "9 stones, komi 0.5"),
        (600, 13, "3 stones, komi 0.5"),
        (600, 9, "no stones, komi 0.5"),
    ],
)
def test_a_stone_is_worth_more_on_a_small_board(apart: float, lines: int, words: str) -> None:
    assert str(fair_handicap(1000, 1000 + apart, lines * lines)) == words


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    def entry(level: int, elo: float, size: str) -> dict[str, object]:
        interval = [elo - 50, elo + 50]
        name = f"tengen:level={level}"
        return {"player": name, "size": size, "elo": elo, "interval": interval, "games": 10}

    path = tmp_path / "ratings.json"
    rows = [entry(1, 500.0, "9x9"), entry(2, 1410.0, "9x9"), entry(2, 1300.0, "19x19")]
    path.write_text(json.dumps([*rows, {**entry(3, 1.0, "9x9"), "player": "static"}]))
    return path


def test_levels_that_were_rated(ratings: Path) -> None:
    found = level_ratings("9x9", ratings)
    assert list(found) == [1, 2] and found[2].rank == "13 kyu" and found[2].games == 10
    assert found[1].interval == (450.0, 550.0)
    assert level_ratings("13x13", ratings) == {}


def test_advice_between_levels(ratings: Path) -> None:
    assert str(advise(1, 2, 9, ratings)) == "2 stones, komi 0.5"
    with pytest.raises(SpecError, match="level 1 is not rated on 19x19"):
        advise(1, 2, 19, ratings)
    with pytest.raises(SpecError, match="no level 77"):
        advise(1, 77, 9, ratings)
