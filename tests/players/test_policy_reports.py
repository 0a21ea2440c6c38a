"""Players that follow a policy say which moves it likes, in reports and in words."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.board import PASS, Board, index_of, parse_gtp
from tengen.contracts import Analyser, Explainer
from tengen.players.simple import GreedyPlayer, SamplePlayer


class Taste:
    """Like points more the later they come, with a great liking for the centre."""

    def priors(self, board: Board) -> np.ndarray:
        weights = np.arange(1.0, board.rows * board.cols + 2)
        weights[12] = 1000.0
        weights[~board.legal_mask()] = 0
        return weights / weights.sum()


class Nothing:
    """Judge every position as even."""

    def values(self, boards: list[Board]) -> np.ndarray:
        return np.zeros(len(boards))


@pytest.mark.parametrize(
    "player",
    [SamplePlayer(model=Taste(), temperature=0), GreedyPlayer(policy=Taste())],
    ids=["sample", "greedy"],
)
def test_the_likeliest_moves_are_reported_best_first(player: SamplePlayer) -> None:
    assert isinstance(player, Analyser) and isinstance(player, Explainer)
    board = Board(5)
    reports = list(player.analyse(board, np.random.default_rng(0)))
    assert len(reports) == 1
    found = reports[0].candidates
    assert len(found) == 20
    centre = parse_gtp("C3", 5, 5)
    assert found[0].move == reports[0].choice == centre
    chances = [candidate.prior for candidate in found]
    assert chances == sorted(chances, reverse=True)
    # The pass has no share: 1 to 25 without the centre's 13, and the centre's 1000.
    assert found[0].prior == pytest.approx(1000 / (25 * 13 - 13 + 1000))
    assert found[0].visits == round(10_000 * found[0].prior)
    words = player.explain(board, centre)
    assert words.startswith("C3: number 1 of the policy, 76.2")
    assert player.explain(board, PASS) == ""


def test_without_a_policy_the_choice_alone_is_reported() -> None:
    player = GreedyPlayer(model=Nothing())
    board = Board(5)
    (report,) = player.analyse(board, np.random.default_rng(0))
    assert [candidate.move for candidate in report.candidates] == [report.choice]
    assert 0 <= index_of(report.choice, 5, 5) < 25
    assert player.explain(board, report.choice) == ""
