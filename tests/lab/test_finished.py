"""Finished games for the laboratory repeat themselves and carry their true score."""

from __future__ import annotations

from tengen.lab.finished import make_games
from tengen.learners.scoring.settled_games import label


def test_games_repeat_themselves_and_carry_their_true_score() -> None:
    steps: list[tuple[int, int]] = []
    games = make_games(3, 5, seed=2, tell=lambda done, of: steps.append((done, of)))
    assert steps == [(1, 3), (2, 3), (3, 3)]
    assert games and [g.sgf() for g in games] == [g.sgf() for g in make_games(3, 5, seed=2)]
    [labelled] = label(games)
    assert labelled.table.exact(labelled.alive).all()
