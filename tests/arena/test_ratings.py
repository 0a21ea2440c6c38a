"""Ratings on data whose truth is known."""

from __future__ import annotations

import choix
import numpy as np
import pytest
from scipy.stats import beta

from tengen.arena.ratings import (
    ALPHA,
    ELO_PER_NAT,
    PairScore,
    Sprt,
    expected_score,
    fit_elo,
    likelihood_of_superiority,
    rate,
)

TRUTH = {"a": 0.0, "b": 150.0, "c": 300.0, "d": 500.0, "e": 600.0}


def play(games: int, seed: int, pairs=None) -> list[PairScore]:
    """Draw a tournament from the true ratings."""
    rng = np.random.default_rng(seed)
    names = list(TRUTH)
    pairs = pairs or [(x, y) for i, x in enumerate(names) for y in names[i + 1 :]]
    scores = []
    for x, y in pairs:
        wins = int(rng.binomial(games, expected_score(TRUTH[x] - TRUTH[y])))
        scores.append(PairScore(x, y, wins, games - wins))
    return scores


def test_known_ratings_are_found() -> None:
    ratings = {r.name: r for r in rate(play(2000, 1), anchors={"a": 0.0}, resamples=100)}
    for name, elo in TRUTH.items():
        assert ratings[name].elo == pytest.approx(elo, abs=25)
    assert ratings["a"].elo == ratings["a"].low == ratings["a"].high == 0
    assert ratings["a"].anchored


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    hits = total = 0
    neighbours = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")]
    for seed in range(50):
        for rating in rate(play(60, seed, neighbours), anchors={"c": 300.0}, resamples=100):
            if rating.name != "c":
                hits += rating.low <= TRUTH[rating.name] <= rating.high
                total += 1
    assert 0.90 <= hits / total <= 0.99


def test_anchors_shift_the_scale() -> None:
    scores = play(200, 2)
    plain = {r.name: r.elo for r in rate(scores, resamples=0)}
    assert sum(plain.values()) == pytest.approx(0, abs=1e-6)
    one = {r.name: r.elo for r in rate(scores, anchors={"e": 1800}, resamples=0)}
    assert one["e"] == pytest.approx(1800)
    assert one["e"] - one["a"] == pytest.approx(plain["e"] - plain["a"])
    two = {r.name: r.elo for r in rate(scores, anchors={"e": 1800, "a": 0, "no": 9}, resamples=0)}
    assert two["e"] + two["a"] == pytest.approx(1800)


def test_the_fit_agrees_with_choix() -> None:
    rng = np.random.default_rng(0)
    wins = rng.integers(0, 12, (6, 6)).astype(float)
    np.fill_diagonal(wins, 0)
    data = [(i, j) for i in range(6) for j in range(6) for _ in range(int(wins[i, j]))]
    theirs = choix.opt_pairwise(6, data, alpha=ALPHA, tol=1e-8)
    assert fit_elo(wins) == pytest.approx(ELO_PER_NAT * (theirs - theirs.mean()), abs=0.1)


def test_unbeaten_player_has_a_finite_rating_and_stays_on_top() -> None:
    scores = [PairScore("top", "mid", 20, 0), PairScore("mid", "low", 12, 8)]
    ratings = rate(scores, resamples=50)
    assert [r.name for r in ratings] == ["top", "mid", "low"]
    assert 400 < ratings[0].elo - ratings[1].elo < 2000
    assert ratings[0].low < ratings[0].elo


def test_one_that_never_won_does_not_move_the_others() -> None:
    even = [PairScore("x", "y", 50, 50), PairScore("y", "z", 50, 50), PairScore("x", "z", 50, 50)]
    lost = [PairScore(name, "loser", 20, 0) for name in "xyz"]
    for rating in rate([*even, *lost], resamples=200):
        if rating.name != "loser":
            assert rating.low < rating.elo - 10
            assert rating.high > rating.elo + 10
            assert rating.high - rating.low < 150


def test_draws_are_half_wins() -> None:
    drawn = rate([PairScore("x", "y", 0, 0, 10)], resamples=0)
    assert drawn[0].elo == pytest.approx(0, abs=1e-6)
    mixed = {r.name: r.elo for r in rate([PairScore("x", "y", 4, 0, 4)], resamples=0)}
    plain = {r.name: r.elo for r in rate([PairScore("x", "y", 6, 2)], resamples=0)}
    assert mixed == pytest.approx(plain, abs=0.01)


def test_no_games() -> None:
    assert rate([]) == []
    assert rate([PairScore("x", "y", 0, 0)], resamples=5)[0].elo == 0


def test_superiority() -> None:
    assert likelihood_of_superiority(7, 3) == pytest.approx(float(beta.sf(0.5, 8, 4)))
    assert likelihood_of_superiority(3, 7) == pytest.approx(1 - likelihood_of_superiority(7, 3))


def test_sequential_test_keeps_its_error_rates() -> None:
    test = Sprt(0, 100)
    rng = np.random.default_rng(4)
    answers = {}
    for truth in (0, 100):
        wrong = 0
        for _ in range(300):
            points = (rng.random(3000) < expected_score(truth)).astype(float)
            verdict = test.verdict(points)
            assert verdict.answer != "undecided"
            wrong += verdict.answer != ("elo0" if truth == 0 else "elo1")
        answers[truth] = wrong / 300
    assert max(answers.values()) <= 0.08


def test_sequential_test_stops_at_the_first_decision() -> None:
    test = Sprt(0, 200)
    verdict = test.verdict([1.0] * 50 + [0.0] * 500)
    assert verdict.answer == "elo1"
    assert verdict.games < 50
    assert test.llr(verdict.games, 0) == pytest.approx(verdict.llr)
    assert test.verdict([]).answer == "undecided"
