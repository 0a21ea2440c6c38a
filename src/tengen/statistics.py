"""Intervals, rank correlations, trends and tests.

A share is given as two counts, successes and trials (a draw is half a success); an interval is
(low, high) at 95 %; p-values are two-sided. Trends
and tests need SciPy, from the extra `lab`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from tengen.extras import import_extra

Interval: TypeAlias = tuple[float, float]
_NORMAL = 1.959963984540054  # standard deviations that hold 95 % of a normal distribution

# ----- Shares -----


def wilson(successes: float, trials: float) -> Interval:
    """Return Wilson's interval of a share; (0, 1) without trials."""
    if trials <= 0:
        return 0.0, 1.0
    share, spread = successes / trials, _NORMAL * _NORMAL / trials
    centre = share + spread / 2
    half = _NORMAL * math.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    low = 0.0 if successes == 0 else max(0.0, (centre - half) / (1 + spread))
    high = 1.0 if successes == trials else min(1.0, (centre + half) / (1 + spread))
    return low, high


@dataclass(frozen=True)
class Rate:
    """The result of one side over some games; draws count half."""

    games: int
    win_rate: float
    interval: Interval
    mean_score: float

    @classmethod
    def of(cls, scores: ArrayLike) -> Rate:
        """Return the rate from a side's scores; a win rate of 0.5 without games."""
        found = np.asarray(scores, np.float64)
        if not len(found):
            return cls(0, 0.5, wilson(0, 0), 0.0)
        wins = float((found > 0).sum() + 0.5 * (found == 0).sum())
        return cls(len(found), wins / len(found), wilson(wins, len(found)), float(found.mean()))

    @classmethod
    def pooled(cls, rates: Iterable[Rate]) -> Rate:
        """Combine several rates into one over all their games."""
        each = list(rates)
        games = sum(rate.games for rate in each)
        if not games:
            return cls.of([])
        wins = sum(rate.games * rate.win_rate for rate in each)
        score = sum(rate.games * rate.mean_score for rate in each) / games
        return cls(games, wins / games, wilson(wins, games), score)


def confidence(logits: ArrayLike, happened: ArrayLike) -> float:
    """Return the factor, from 1/2 to 2, that makes scaled logits best predict what happened."""
    right = np.where(np.asarray(happened, dtype=bool), 1.0, -1.0) * np.asarray(logits, dtype=float)

    def falls(factor: float) -> bool:
        """Return whether a larger factor predicts better; the surprise is convex."""
        return float((right * np.exp(-np.logaddexp(0.0, factor * right))).sum()) > 0

    return _crossing(falls, 0.5, 2.0)


def _crossing(below: Callable[[float], bool], low: float, high: float) -> float:
    """Return where a condition that holds for small numbers ends."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return (low + high) / 2


# ----- Several measurements of one number -----


def mean_interval(values: Sequence[float]) -> Interval | None:
    """Return Student's interval of a mean; None for fewer than two values."""
    if len(values) < 2:
        return None
    freedom = len(values) - 1
    quantile = _crossing(lambda t: _student(t, freedom) < 0.95, 0.0, 16.0)
    mean, half = float(np.mean(values)), quantile * float(np.std(values, ddof=1))
    half /= math.sqrt(len(values))
    return mean - half, mean + half


def ratio_interval(parts: Sequence[float], wholes: Sequence[float]) -> Interval | None:
    """Return the interval of sum(parts) / sum(wholes) over independent units; None for one.

    Parts are not negative and neither is the interval: it is Student's on a logarithmic scale.

    >>> low, high = ratio_interval([10.0, 30.0, 5.0, 40.0, 15.0], [10.0] * 5)
    >>> 0 < low < 2 < high
    True
    """
    if len(parts) < 2:
        return None
    counts, whole = np.asarray(parts, np.float64), np.asarray(wholes, np.float64)
    ratio = float(counts.sum() / whole.sum())
    if ratio == 0:
        return 0.0, 0.0
    freedom = len(parts) - 1
    quantile = _crossing(lambda t: _student(t, freedom) < 0.95, 0.0, 16.0)
    residues = counts - ratio * whole
    error = math.sqrt(float(residues @ residues) * len(parts) / freedom) / float(whole.sum())
    factor = math.exp(quantile * error / ratio)
    return ratio / factor, ratio * factor


def _student(t: float, freedom: int) -> float:
    """Return the probability that Student's t is within +-t (Abramowitz and Stegun 26.7.3, 4)."""
    angle = math.atan(t / math.sqrt(freedom))
    square, odd = math.cos(angle) ** 2, freedom % 2
    term = total = math.cos(angle) if odd else 1.0
    for i in range(2 + odd, freedom - 1, 2):
        term *= square * (i - 1) / i
        total += term
    if not odd:
        return math.sin(angle) * total
    return 2 / math.pi * (angle + (math.sin(angle) * total if freedom > 1 else 0.0))


def holm(p_values: Sequence[float | None], level: float = 0.05) -> list[bool]:
    """Return which of several p-values are significant by Holm's rule; None means not tested."""
    stands = [False] * len(p_values)
    tested = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    for place, (p, i) in enumerate(tested):
        if p > level / (len(tested) - place):
            break
        stands[i] = True
    return stands


# ----- Two numbers together -----


@dataclass(frozen=True)
class Ranks:
    """A rank correlation and its p-value."""

    r: float
    p: float


def spearman(a: ArrayLike, b: ArrayLike) -> Ranks | None:
    """Return Spearman's rank correlation; None where one side does not vary.

    The p-value is Student's; with fewer than three pairs it is 1.
    """
    first, second = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    stats = import_extra("scipy.stats", "lab")

    r = float(np.corrcoef(stats.rankdata(first), stats.rankdata(second))[0, 1])
    return Ranks(r, _correlation_test(r, len(first) - 2))


@dataclass(frozen=True)
class Trend:
    """A straight line through values, with the p-value of its slope."""

    slope: float
    r: float
    p: float

    @classmethod
    def through(cls, x: Sequence[float], y: Sequence[float]) -> Trend:
        """Fit one line by least squares."""
        return cls.common([(x, y)])

    @classmethod
    def common(cls, runs: Iterable[tuple[Sequence[float], Sequence[float]]]) -> Trend:
        """Fit one slope through the values (x, y) of several runs, each with its own intercept.

        Constant values have slope 0 and p = 1, and a line through two points has p = 1.
        """
        found = [(np.asarray(x, np.float64), np.asarray(y, np.float64)) for x, y in runs]
        if any(all(np.ptp(run[i]) == 0 for run in found) for i in (0, 1)):
            return cls(0.0, 0.0, 1.0)
        every_x, every_y = (np.concatenate([r[i] - r[i].mean() for r in found]) for i in (0, 1))
        slope = float(every_x @ every_y / (every_x @ every_x))
        r = slope * math.sqrt(float(every_x @ every_x) / float(every_y @ every_y))
        return cls(slope, r, _correlation_test(r, len(every_x) - len(found) - 1))


def _correlation_test(r: float, freedom: int) -> float:
    """Return the p-value of correlation `r` against zero, with `freedom` degrees of freedom."""
    if freedom <= 0:
        return 1.0
    if abs(r) >= 1 - 1e-15:
        return 0.0
    stats = import_extra("scipy.stats", "lab")

    t = r * math.sqrt(freedom / (1 - r * r))
    return float(2 * stats.t.sf(abs(t), freedom))
