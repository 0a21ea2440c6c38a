"""Hold statistics to published tables, to SciPy and to their conventions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tengen.statistics import (
    Rate,
    Trend,
    confidence,
    holm,
    mean_interval,
    spearman,
    wilson,
)


@pytest.mark.parametrize(
    ("wins", "games", "low", "high"),
    # From the table of Newcombe (1998), method 3.
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson(wins, games, low, high) -> None:
    assert wilson(wins, games) == pytest.approx((low, high), abs=5e-5)
    mirrored = wilson(games - wins, games)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=5e-5)


@given(st.integers(0, 200), st.integers(1, 200))
def test_wilson_holds_the_share(wins, games) -> None:
    wins = min(wins, games)
    low, high = wilson(wins, games)
    assert 0 <= low <= wins / games <= high <= 1 and wilson(0, 0) == (0.0, 1.0)


def test_rates_pool() -> None:
    scores = np.array([3.0, 0.0, -2.0, 1.0])
    rate = Rate.of(scores)
    assert (rate.games, rate.win_rate, rate.mean_score) == (4, 0.625, 0.5)
    assert rate.interval == wilson(2.5, 4)
    both = Rate.pooled([Rate.of(scores[:1]), Rate.of(scores[1:])])
    assert both == rate
    assert Rate.pooled([]) == Rate.of([]) and Rate.of([]).interval == (0.0, 1.0)


def test_means() -> None:
    values = [0.6, 0.62, 0.61, 0.55]
    expected = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert mean_interval(values) == pytest.approx(expected)
    assert mean_interval([1.0]) is None


def test_holm_stops_at_the_first_that_falls() -> None:
    assert holm([0.01, 0.03, 0.04, 0.005]) == [True, False, False, True]
    assert holm([]) == [] and holm([None]) == [False] and holm([0.05]) == [True]


def test_correlations_are_scipys() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=12), rng.integers(0, 5, 12)
    found, expected = spearman(x, y), stats.spearmanr(x, y)
    assert found is not None
    assert (found.r, found.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert spearman([1.0, 1.0], [0.0, 1.0]) is None
    line, theirs = Trend.through(x.tolist(), y.tolist()), stats.linregress(x, y)
    assert (line.slope, line.r, line.p) == pytest.approx(
        (theirs.slope, theirs.rvalue, theirs.pvalue)
    )


def test_trends_without_an_answer() -> None:
    assert Trend.through([1, 2, 3], [0.1, 0.1, 0.1]) == Trend(0.0, 0.0, 1.0)
    assert Trend.through([1, 2], [0.0, 1.0]).p == 1.0
    assert Trend.through([0, 1, 2], [0.0, 1.0, 2.0]).p == pytest.approx(0, abs=1e-6)


def test_one_slope_for_runs_of_different_levels() -> None:
    first, second = ([0, 1, 2], [0.0, 1.0, 2.0]), ([0, 1, 2], [10.0, 11.0, 12.5])
    both = Trend.common([first, second])
    assert both.slope == pytest.approx(1.125) and both.p < 0.01


@settings(max_examples=20)
@given(st.floats(0.6, 1.8), st.integers(0, 99))
def test_confidence_is_the_factor_of_the_logits(true: float, seed: int) -> None:
    """Outcomes drawn by logits times a factor give the factor back, and bounds hold."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 2, 4000)
    happened = rng.random(4000) < 1 / (1 + np.exp(-true * logits))
    assert confidence(logits, happened) == pytest.approx(true, abs=0.25)
    assert confidence(logits, logits > 0) == pytest.approx(2, abs=1e-3)
    assert confidence(logits, logits < 0) == pytest.approx(0.5, abs=1e-3)
