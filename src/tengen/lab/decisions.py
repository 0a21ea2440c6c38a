"""The rule that compares our measurement with a paper's figure; fixed before the runs it judges.

A measurement is one value per independent unit: a training with its own seed, or a game between
players that were not trained on it; never successive snapshots of one training or the points of
one tournament. Intervals are at 95 %.

| word | when |
|---|---|
| agrees | the interval contains the paper's figure and excludes the figure of no effect |
| better, worse | the interval lies beyond, or short of, the paper's figure and excludes no effect |
| refuted | at the paper's scale, and with a power of 80 % or more to see the paper's effect, the |
| | interval excludes the paper's figure and contains or lies beyond no effect |
| undecided | anything else |

Where a table has several claims, an effect must also stand by Holm's rule among them. A figure
without an opposite, such as a number of weights, has no figure of no effect: it agrees, or is
better or worse. A rate on games that are not the paper's, or a time on another processor, is
undecided, however precise it is: those games may be easier. (This clause alone is younger than
the runs of move prediction that it judges; it takes verdicts away and gives none.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from tengen.extras import import_extra
from tengen.statistics import Interval, mean_interval, wilson

AGREES, BETTER, WORSE = "agrees", "better", "worse"
REFUTED, UNDECIDED = "refuted", "undecided"
VERDICTS = (AGREES, BETTER, WORSE, REFUTED, UNDECIDED)
ENOUGH_POWER = 0.8
_LEVEL = 0.05


@dataclass(frozen=True)
class Estimate:
    """A mean over independent units, its 95 % interval, and the standard deviation of a unit."""

    mean: float
    interval: Interval | None
    units: int
    spread: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Estimate:
        """Estimate a mean from one value per unit; fewer than two give no interval."""
        spread = float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
        return cls(float(np.mean(values)), mean_interval(values), len(values), spread)

    @classmethod
    def shares(cls, values: Sequence[float]) -> Estimate:
        """Estimate a mean share from one share per unit; its interval ends at 0 and 1."""
        return cls.of(values).as_share()

    @classmethod
    def rate(cls, successes: float, trials: int) -> Estimate:
        """Estimate a share from independent trials, by Wilson's interval; a draw is half a success.

        >>> Estimate.rate(8, 10).units
        10
        """
        if not trials:
            return cls(math.nan, None, 0, math.nan)
        share = successes / trials
        spread = math.sqrt(share * (1 - share)) if 0 < share < 1 else 0.5 / math.sqrt(trials)
        return cls(share, wilson(successes, trials), trials, spread)

    @classmethod
    def ratio(cls, numerators: ArrayLike, denominators: ArrayLike) -> Estimate:
        """Estimate a ratio of sums, such as hits per move, from one pair per unit, such as a game.

        The interval is Student's over the units' residuals (the delta method).

        >>> Estimate.ratio([3, 4, 5], [10, 10, 10]).mean
        0.4
        """
        above, below = np.asarray(numerators, np.float64), np.asarray(denominators, np.float64)
        if not below.sum():
            return cls(math.nan, None, 0, math.nan)
        share = float(above.sum() / below.sum())
        residuals = (above - share * below) / below.mean() + share
        spread = float(np.std(residuals, ddof=1)) if len(below) > 1 else math.nan
        return cls(share, mean_interval(residuals.tolist()), len(below), spread)

    @classmethod
    def exact(cls, value: float, units: int = 1) -> Estimate:
        """Return a number without chance, such as a count of weights."""
        return cls(float(value), (float(value), float(value)), units, 0.0)

    def as_share(self) -> Estimate:
        """Return it with an interval that ends at 0 and 1."""
        if self.interval is None:
            return self
        return replace(self, interval=(max(self.interval[0], 0.0), min(self.interval[1], 1.0)))

    def p_value(self, null: float) -> float | None:
        """Return the two-sided p-value of Student's test against a mean; None if it has none."""
        if self.units < 2 or math.isnan(self.spread):
            return None
        if self.spread == 0:
            return 1.0 if self.mean == null else 0.0
        stats = import_extra("scipy.stats", "lab")
        t = abs(self.mean - null) / self.spread * math.sqrt(self.units)
        return float(2 * stats.t.sf(t, self.units - 1))

    def power(self, effect: float) -> float:
        """Return the chance that a two-sided t-test of so many such units finds an effect.

        >>> round(Estimate(0.0, None, 5, 1.0).power(2.0), 2)
        0.91
        """
        if self.units < 2 or math.isnan(self.spread):
            return 0.0
        if self.spread == 0:
            return 1.0 if effect else 0.0
        stats = import_extra("scipy.stats", "lab")
        # Beyond 20 the power is 1, but SciPy has no number for it.
        shift = min(abs(effect) / self.spread * math.sqrt(self.units), 20.0)
        edge = stats.t.ppf(1 - _LEVEL / 2, self.units - 1)
        return float(stats.nct.sf(edge, self.units - 1, shift))


def decide(
    paper: float,
    ours: Estimate,
    *,
    no_effect: float | None,
    full: bool,
    aim: int = 1,
    significant: bool = True,
) -> str:
    """Return one of `VERDICTS`; `full` says whether ours is the paper's experiment at its scale.

    With `aim` -1 a smaller figure is the better one. `significant` says whether the effect stands
    by Holm's rule among the claims of a table.

    >>> decide(0.75, Estimate(0.8, (0.7, 0.9), 5, 0.08), no_effect=0.5, full=True)
    'agrees'
    >>> decide(0.75, Estimate(0.6, (0.4, 0.8), 5, 0.16), no_effect=0.5, full=True)
    'undecided'
    """
    if ours.interval is None:
        return UNDECIDED
    low, high = ours.interval
    contains = low <= paper <= high
    if no_effect is not None and paper != no_effect:
        towards = 1.0 if paper > no_effect else -1.0
        shown = (low - no_effect) * towards > 0 and (high - no_effect) * towards > 0
        if not (shown and significant):
            strong = ours.power(paper - no_effect) >= ENOUGH_POWER
            return REFUTED if full and strong and not contains and not shown else UNDECIDED
    if contains:
        return AGREES
    return BETTER if (ours.mean - paper) * aim > 0 else WORSE
