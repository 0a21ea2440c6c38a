"""The shipped opening players load, keep the contracts and win by their openings."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.board import Board
from tengen.contracts import check_evaluator, sample_boards
from tengen.learners.opening_td import OpeningTD, PlayoutJudge, play_match
from tengen.models import read_card
from tengen.players.spec import make_player

NAMES = ("td-abcde-9x9", "td-best-9x9")


@pytest.mark.parametrize("name", NAMES)
def test_shipped_models_beat_random(name: str) -> None:
    learner = OpeningTD.load(name)
    check_evaluator(learner, boards=sample_boards(3, [(9, 9)]))
    assert read_card(name).results
    match = play_match(learner, "random", PlayoutJudge(16), games=40, seed=8)
    assert match.rate.win_rate > 0.75
    assert len(set(map(tuple, match.openings))) == 40


def test_the_opening_player_hands_over() -> None:
    player = make_player("opening:model=td-best-9x9,then=random")
    board = Board(9, komi=5.5)
    rng = np.random.default_rng(1)
    for _ in range(24):
        board.play(player.choose(board, rng))
    assert len(board.moves) == 24
    first = Board(9, komi=5.5)
    assert player.choose(first, rng) in first.legal_moves
