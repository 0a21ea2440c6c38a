"""The rank of a player from the probabilities of the moves."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tengen.reviews.strength import (
    LEAST_GAMES,
    Line,
    deviation,
    estimate,
    estimates,
    lines,
    rank_at,
    scale_of,
)

LINE = Line("9x9", -1.5, 0.1, 0.0, 0.01, 1.0, -10.0, 5.0)
KNOWN = {"9x9": LINE}
ROWS = Path(__file__).parents[2] / "docs" / "results" / "ranks.csv"


def games(scale: float, count: int = LEAST_GAMES, moves: int = 20) -> list[list[float]]:
    return [[math.exp(LINE.start + LINE.slope * scale)] * moves for _ in range(count)]


@pytest.mark.parametrize(("rank", "scale"), [("9k", -9), ("1k", -1), ("1d", 0), ("7d", 6)])
def test_ranks_are_numbers(rank: str, scale: int) -> None:
    assert scale_of(rank) == scale and rank_at(scale) == rank
    assert math.isnan(scale_of("1p")) and math.isnan(scale_of("?"))


@pytest.mark.parametrize("rank", ["9k", "4k", "1d", "4d"])
def test_a_rank_lies_in_the_middle_of_its_interval(rank: str) -> None:
    found = estimate("9x9", games(scale_of(rank)), KNOWN)
    assert (found.rank, found.beyond, found.reason) == (rank, "", "")
    assert scale_of(found.low) < scale_of(rank) < scale_of(found.high)
    assert found.moves == 200 and rank in str(found)


def test_more_games_narrow_the_interval() -> None:
    few, many = (estimate("9x9", games(-3, count), KNOWN) for count in (10, 100))
    assert scale_of(few.low) < scale_of(many.low) <= scale_of(many.high) < scale_of(few.high)
    assert deviation(LINE, 20, 400) < deviation(LINE, 10, 400) < deviation(LINE, 10, 200)


def test_it_says_when_it_cannot() -> None:
    few = estimate("9x9", games(-3, LEAST_GAMES - 1), KNOWN)
    other = estimate("13x13", games(-3), KNOWN)
    blind = estimate("9x9", [[None]] * LEAST_GAMES, KNOWN)
    reasons = {found.reason for found in (few, other, blind)}
    assert "" not in reasons and len(reasons) == 3
    assert {found.rank for found in (few, other, blind)} == {""}


def test_beyond_the_known_ranks_it_names_the_last() -> None:
    weak, strong = estimate("9x9", games(-14), KNOWN), estimate("9x9", games(9), KNOWN)
    assert (weak.rank, weak.beyond) == ("10k", "weaker")
    assert (strong.rank, strong.beyond) == ("6d", "stronger")


def test_each_board_by_itself() -> None:
    sides = [("9x9", [0.2] * 20)] * LEAST_GAMES + [("13x13", [0.2] * 20)]
    found = estimates(sides)
    assert [(each.board, each.games) for each in found] == [("13x13", 1), ("9x9", LEAST_GAMES)]


def test_the_coefficients_follow_from_the_rows(
    load_benchmark: Callable[[str], ModuleType],
) -> None:
    ranks = load_benchmark("player_ranks")
    fitted = ranks.fit_all(ranks.read_rows([ROWS]))
    assert {line["board"]: Line(**line) for line in fitted["lines"]} == lines()
    for test in fitted["tests"]:
        assert test["inside"] >= 0.8 * test["players"] > 0


def test_a_fit_finds_the_line_that_made_the_games(
    load_benchmark: Callable[[str], ModuleType],
) -> None:
    ranks, rng = load_benchmark("player_ranks"), np.random.default_rng(1)
    sides = []
    for number in range(3000):
        game = rng.normal(0, math.sqrt(LINE.game))
        for scale in rng.integers(-9, 5, 2):
            values = LINE.start + LINE.slope * scale + game + rng.normal(0, 1, 20)
            sums = float(values.sum()), float((values**2).sum())
            sides.append(ranks.Side(("made", number), float(scale), 20, *sums))
    found = ranks.fit("9x9", sides)
    assert found.slope == pytest.approx(LINE.slope, rel=0.1)
    assert found.start == pytest.approx(LINE.start, abs=0.03)
    assert found.move == pytest.approx(LINE.move, rel=0.05)
    assert found.player + found.game == pytest.approx(LINE.game, abs=0.005)
