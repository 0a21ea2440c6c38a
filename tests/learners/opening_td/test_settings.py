"""What follows from an opening player's settings: schedules, units, sizes, terms of a match."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.board import BLACK, Board
from tengen.errors import SpecError, TengenError
from tengen.learners.opening_td import (
    SELF,
    OpeningMatch,
    OpeningTD,
    OwnershipExpert,
    PlayoutJudge,
    TDSettings,
    opening_board,
    play_match,
)
from tengen.learners.opening_td.features import FeatureSet, geometry, most_active
from tengen.learners.opening_td.matches import RANDOM_NAME
from tengen.learners.opening_td.model import Desk, OpeningModel
from tengen.learners.opening_td.network import (
    CLIP,
    largest_score,
    make_memory,
    make_room,
    output_to_score,
    score_to_output,
)
from tengen.learners.opening_td.settings import DEFAULTS
from tengen.players import make_expert


def test_the_defaults_are_the_papers_player() -> None:
    assert OpeningTD().settings is DEFAULTS and DEFAULTS.opponent == SELF
    assert (DEFAULTS.name, DEFAULTS.shape, DEFAULTS.opening_plies) == ("ABCDE binary", (9, 9), 20)
    assert TDSettings(rows=13).opening_plies == 42 and TDSettings(rows=3, cols=2).shape == (3, 2)


def test_rate_and_exploration_change_over_the_games() -> None:
    settings = TDSettings(games=101, alpha=0.5, alpha_end=0.05, explore=0.3, explore_end=0.1)
    assert [settings.rate(g) for g in (0, 50, 100)] == pytest.approx([0.5, 0.025**0.5, 0.05])
    assert [settings.exploration(g) for g in (0, 50, 100)] == pytest.approx([0.3, 0.2, 0.1])
    assert TDSettings(games=101).rate(100) == 0.5


def test_scores_and_outputs_are_two_units_of_one_thing() -> None:
    assert largest_score(9, 9, 5.5) == 90 and TDSettings(rows=5, komi=0.0).largest == 30
    assert output_to_score(score_to_output(12.5, 90), 90) == pytest.approx(12.5)
    assert score_to_output(-1000, 90) == CLIP and score_to_output(1000, 90) == 1 - CLIP
    temperatures = [
        TDSettings(target=t).temperature_in_outputs for t in ("score", "win", "ownership")
    ]
    assert temperatures == pytest.approx([1 / 180, 1 / 100, 1 / 162])


def test_settings_that_do_not_fit_each_other_are_refused() -> None:
    with pytest.raises(SpecError, match="6 random plies in an opening of 6"):
        TDSettings(rows=5, random_plies=6)
    with pytest.raises(SpecError, match="temperature is 0"):
        TDSettings(temperature=0.0)
    with pytest.raises(TengenError, match="'BA' are not A followed"):
        TDSettings(features="BA")


def test_the_desk_has_room_for_every_active_input() -> None:
    settings = TDSettings(rows=4, hidden=3, target="ownership")
    model = OpeningModel(settings=settings).draw()
    desk = model.desk()
    assert isinstance(desk, Desk) and desk is model.desk()
    most = most_active(settings.chosen, 4, 4)
    assert most == 1 + 16 * 6 and len(desk.room.index) == most
    sizes = (FeatureSet("A"), 4, 4, 3, 1)
    assert len(make_room(*sizes).index) == 1 + 16 * 2
    assert make_memory(*sizes, 5).activity.shape == (5, 3)
    # The neighbours of a corner of 4x4 are its cells 1 and 4.
    assert geometry(4, 4).beside[0, 0] == (1 << 1) | (1 << 4)
    outputs = model.outputs_of(Board(4))
    assert outputs.shape == (16,) and (outputs > 0).all() and (outputs < 1).all()


def test_openings_become_boards_and_matches_need_terms() -> None:
    terms = TDSettings(rows=5, komi=3.5)
    board = opening_board([7, 8], terms)
    assert (board.rows, board.komi, board.turn, len(board.moves)) == (5, 3.5, BLACK, 2)
    match = OpeningMatch([3.0, -1.0], [[1, 2], [1, 2]])
    assert match.duplicates == 1 and match.rate.win_rate == 0.5
    with pytest.raises(TengenError, match="needs terms"):
        play_match(RANDOM_NAME, RANDOM_NAME, PlayoutJudge(1), games=2, seed=1)


def test_experts_that_say_who_owns_what() -> None:
    assert isinstance(PlayoutJudge(1), OwnershipExpert)
    assert isinstance(make_expert("builtin"), OwnershipExpert)
    owners = PlayoutJudge(2).finish_ownership([Board(4)], [1])
    assert owners.shape == (1, 16) and np.abs(owners).max() <= 1
