"""The rule of the verdicts, with cases in which the data cannot tell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tengen.lab.decisions import (
    AGREES,
    BETTER,
    REFUTED,
    UNDECIDED,
    VERDICTS,
    WORSE,
    Estimate,
    decide,
)
from tengen.statistics import wilson


def word(values: list[float], paper: float = 0.75, no_effect: float | None = 0.5, **how) -> str:  # type: ignore[no-untyped-def]
    return decide(paper, Estimate.of(values), no_effect=no_effect, **{"full": True, **how})


def test_every_word_has_its_case() -> None:
    assert word([0.73, 0.76, 0.74, 0.77]) == AGREES
    assert word([0.90, 0.91, 0.92, 0.91]) == BETTER
    assert word([0.60, 0.61, 0.62, 0.61]) == WORSE  # an effect, but a smaller one
    assert word([0.50, 0.49, 0.51, 0.50]) == REFUTED
    assert word([0.30, 0.29, 0.31, 0.30]) == REFUTED  # the opposite


@pytest.mark.parametrize(
    ("values", "full"),
    [
        ([0.9], True),  # one training has no interval
        ([0.4, 0.9, 0.6, 0.7], True),  # too wide to tell 0.75 from 0.5
        ([0.2, 0.8], True),
        ([0.50, 0.49, 0.51, 0.50], False),  # none found, but not at the paper's scale
    ],
)
def test_what_the_data_cannot_tell_is_undecided(values: list[float], full: bool) -> None:
    assert word(values, full=full) == UNDECIDED


def test_a_figure_without_an_opposite_is_met_or_missed() -> None:
    assert word([33.0, 33.4, 33.8], paper=33.9, no_effect=None) == AGREES
    assert word([35.0, 35.1, 35.2], paper=33.9, no_effect=None) == BETTER
    assert word([1.0, 1.1, 1.2], paper=2.0, no_effect=None, aim=-1) == BETTER


def test_a_paper_that_found_no_effect_agrees_with_none() -> None:
    assert word([0.48, 0.51, 0.49, 0.53], paper=0.5) == AGREES
    assert word([0.60, 0.61, 0.62, 0.61], paper=0.5) == BETTER


def test_successive_snapshots_cannot_stand_in_for_trainings() -> None:
    # Twenty snapshots of two trainings are two values, not forty.
    assert Estimate.of([0.9, 0.7]).units == 2 and word([0.9, 0.7]) == UNDECIDED


@given(st.lists(st.floats(-1, 2), min_size=2, max_size=9), st.booleans())
def test_the_rule_is_the_same_from_both_sides(values: list[float], full: bool) -> None:
    mirrored = decide(0.25, Estimate.of([1 - v for v in values]), no_effect=0.5, full=full, aim=-1)
    assert word(values, full=full) == mirrored
    assert mirrored in VERDICTS


def test_power_is_the_share_of_samples_that_find_the_effect() -> None:
    from scipy import stats

    rng = np.random.default_rng(1)
    samples = rng.normal(0.8, 1.0, (4000, 12))
    found = float((stats.ttest_1samp(samples, 0, axis=1).pvalue < 0.05).mean())
    assert Estimate(0.0, None, 12, 1.0).power(0.8) == pytest.approx(found, abs=0.03)
    assert Estimate.of([1.0]).power(5.0) == 0.0


def test_rates_and_ratios_have_units() -> None:
    rate = Estimate.rate(30, 40)
    assert rate.mean == 0.75 and rate.units == 40 and rate.interval == wilson(30, 40)
    assert Estimate.rate(0, 0).interval is None
    # Games of equal length: the ratio is the mean of the games' shares.
    ratio, mean = Estimate.ratio([3, 4, 8], [10, 10, 10]), Estimate.of([0.3, 0.4, 0.8])
    assert ratio.mean == pytest.approx(mean.mean) and ratio.interval == pytest.approx(mean.interval)
    # A long game counts more.
    assert Estimate.ratio([1, 90], [10, 100]).mean == pytest.approx(91 / 110)


def test_an_exact_figure_agrees_or_not() -> None:
    same, other = Estimate.exact(714), Estimate.exact(715)
    assert decide(714, same, no_effect=None, full=True) == AGREES
    assert decide(714, other, no_effect=None, full=True) == BETTER


def test_an_effect_that_is_not_significant_is_undecided() -> None:
    ours = Estimate.of([0.73, 0.76, 0.74, 0.77])
    assert decide(0.75, ours, no_effect=0.5, full=True) == AGREES
    assert decide(0.75, ours, no_effect=0.5, full=True, significant=False) == UNDECIDED


def test_p_values_are_those_of_students_test() -> None:
    from scipy import stats

    values = [0.55, 0.76, 0.95, 0.62]
    expected = stats.ttest_1samp(values, 0.5).pvalue
    assert Estimate.of(values).p_value(0.5) == pytest.approx(expected)
    assert Estimate.of([1.0]).p_value(0.5) is None
