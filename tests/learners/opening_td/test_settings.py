"""What follows from an opening player's settings: schedules, units, sizes, terms of a match."""

from __future__ import annotations

import pytest

from tengen.board import BLACK
from tengen.errors import SpecError, TengenError
from tengen.learners.opening_td import (
    SELF,
    OpeningMatch,
    OpeningTD,
    PlayoutJudge,
    TDSettings,
    opening_board,
    play_match,
)
from tengen.learners.opening_td.settings import DEFAULTS


def test_the_defaults_are_the_papers_player() -> None:
    assert OpeningTD().settings is DEFAULTS and DEFAULTS.opponent == SELF
    assert (DEFAULTS.name, DEFAULTS.shape, DEFAULTS.opening_plies) == ("ABCDE binary", (9, 9), 20)
    assert TDSettings(rows=13).opening_plies == 42 and TDSettings(rows=3, cols=2).shape == (3, 2)


def test_rate_and_exploration_change_over_the_games() -> None:
    settings = TDSettings(games=101, alpha=0.5, alpha_end=0.05, explore=0.3, explore_end=0.1)
    assert [settings.rate(g) for g in (0, 50, 100)] == pytest.approx([0.5, 0.025**0.5, 0.05])
    assert [settings.exploration(g) for g in (0, 50, 100)] == pytest.approx([0.3, 0.2, 0.1])
    assert TDSettings(games=101).rate(100) == 0.5


def test_the_largest_score_depends_on_the_board() -> None:
    assert DEFAULTS.largest == 90 and TDSettings(rows=5, komi=0.0).largest == 30


def test_settings_that_do_not_fit_each_other_are_refused() -> None:
    with pytest.raises(SpecError, match="6 random plies in an opening of 6"):
        TDSettings(rows=5, random_plies=6)
    with pytest.raises(SpecError, match="temperature is 0"):
        TDSettings(temperature=0.0)
    with pytest.raises(TengenError, match="'BA' are not A followed"):
        TDSettings(features="BA")


def test_openings_become_boards_and_matches_need_terms() -> None:
    terms = TDSettings(rows=5, komi=3.5)
    board = opening_board([7, 8], terms)
    assert (board.rows, board.komi, board.turn, len(board.moves)) == (5, 3.5, BLACK, 2)
    match = OpeningMatch([3.0, -1.0], [[1, 2], [1, 2]])
    assert match.duplicates == 1 and match.rate.win_rate == 0.5
    with pytest.raises(TengenError, match="needs terms"):
        play_match("random", "random", PlayoutJudge(1), games=2, seed=1)
