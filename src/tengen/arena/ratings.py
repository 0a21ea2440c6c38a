"""Ratings and tests from counts of wins.

Ratings are Bradley-Terry strengths on the Elo scale: 400 points are odds of 10 to 1. A small
Gaussian prior (`ALPHA`) keeps them finite when a player won all games. Draws count half a win for
each side. Intervals are at 95 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tengen.arrays import FloatArray

ELO_PER_NAT = 400.0 / math.log(10.0)  # Elo points of one unit of log odds
ALPHA = 1e-3  # the prior costs ALPHA x strength^2 nats, strength in nats around the mean
_RESAMPLES = 400  # resampled tournaments behind an interval


@dataclass(frozen=True)
class PairScore:
    """The score of two players against each other; `wins` are the first one's."""

    first: str
    second: str
    wins: int
    losses: int
    draws: int = 0

    @property
    def games(self) -> int:
        """Games that count."""
        return self.wins + self.losses + self.draws


@dataclass(frozen=True)
class Rating:
    """A player's Elo with its interval, and the games behind it."""

    name: str
    elo: float
    low: float
    high: float
    games: int
    anchored: bool = False


def win_rate(wins: float, losses: float, draws: float) -> float:
    """Return the share of points won, draws counting half; nan without games."""
    games = wins + losses + draws
    return (wins + draws / 2) / games if games else math.nan


def likelihood_of_superiority(wins: int, losses: int) -> float:
    """Return the probability that the first is stronger, given a flat prior; draws do not count."""
    n = wins + losses + 1
    term = total = 1
    for i in range(wins):  # the binomial coefficients of n up to `wins`
        term = term * (n - i) // (i + 1)
        total += term
    return float(total / 2**n)


# ----- Elo -----


def rate(
    scores: Sequence[PairScore],
    *,
    anchors: Mapping[str, float] | None = None,
    alpha: float = ALPHA,
    resamples: int = _RESAMPLES,
    seed: int = 0,
) -> list[Rating]:
    """Rate everyone on one scale, best first.

    The scale is shifted to the anchors' ratings on average, or without anchors to a mean of 0. The
    intervals come from tournaments resampled pairing by pairing. Players that no chain of games
    connects are compared by the prior alone, which is meaningless.
    """
    names = sorted({name for score in scores for name in (score.first, score.second)})
    if not names:
        return []
    index = {name: i for i, name in enumerate(names)}
    anchors = {name: elo for name, elo in (anchors or {}).items() if name in index}
    wins = _win_matrix(scores, index)
    centre = _shifted(fit_elo(wins, alpha=alpha), index, anchors)
    information = _information(wins, centre)
    rng = np.random.default_rng(seed)
    samples = np.empty((resamples, len(names)))
    for number in range(resamples):
        sample = fit_elo(_win_matrix(_resample(scores, rng), index), alpha=alpha)
        # Without anchors the sample is aligned with the estimate, weighted by information: with a
        # plain mean, one player that never won would shift all others.
        offset = 0.0 if anchors else float(np.average(centre - sample, weights=information))
        samples[number] = _shifted(sample, index, anchors) + offset
    low, high = np.quantile(samples, [0.025, 0.975], axis=0) if resamples else (centre, centre)
    ratings = [
        Rating(
            name,
            float(centre[i]),
            float(min(low[i], centre[i])),
            float(max(high[i], centre[i])),
            sum(s.games for s in scores if name in (s.first, s.second)),
            name in anchors,
        )
        for name, i in index.items()
    ]
    return sorted(ratings, key=lambda rating: (-rating.elo, rating.name))


def expected_score(difference: float) -> float:
    """Return the expected share of points of a player with this advantage in Elo.

    >>> round(expected_score(400), 3)
    0.909
    """
    return 1.0 / (1.0 + math.pow(10.0, -difference / 400.0))


def fit_elo(wins: FloatArray, *, alpha: float = ALPHA) -> FloatArray:
    """Fit Elo of mean 0 to wins (row beats column, draws as halves) by Newton's method."""
    total = wins + wins.T
    won = wins.sum(axis=1)
    strengths = np.zeros(len(wins))
    for _ in range(100):
        expected = 1.0 / (1.0 + np.exp(np.clip(strengths[None, :] - strengths[:, None], -60, 60)))
        gradient = (total * expected).sum(axis=1) - won + 2 * alpha * strengths
        weight = total * expected * (1 - expected)
        hessian = np.diag(weight.sum(axis=1) + 2 * alpha) - weight
        step = np.linalg.solve(hessian, gradient)
        # Far from the solution a full step overshoots; strengths are a few nats at most.
        step *= min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))
        strengths = strengths - step
        if float(np.abs(step).max()) < 1e-9:
            break
    elo: FloatArray = ELO_PER_NAT * (strengths - strengths.mean())
    return elo


def _information(wins: FloatArray, elo: FloatArray) -> FloatArray:
    """Return the Fisher information of each player's games about its rating."""
    expected = 1.0 / (1.0 + np.exp((elo[None, :] - elo[:, None]) / ELO_PER_NAT))
    information: FloatArray = ((wins + wins.T) * expected * (1 - expected)).sum(axis=1) + 1e-12
    return information


def _win_matrix(scores: Iterable[PairScore], index: Mapping[str, int]) -> FloatArray:
    wins = np.zeros((len(index), len(index)))
    for score in scores:
        i, j = index[score.first], index[score.second]
        wins[i, j] += score.wins + score.draws / 2
        wins[j, i] += score.losses + score.draws / 2
    return wins


def _resample(scores: Sequence[PairScore], rng: np.random.Generator) -> Iterator[PairScore]:
    """Resample a tournament of the same size from each pairing's rates."""
    for score in scores:
        if score.games:
            # Half a win for each side: a pairing of 10 to 0 could have ended otherwise.
            shares = np.array([score.wins + 0.5, score.losses + 0.5, score.draws])
            drawn = rng.multinomial(score.games, shares / shares.sum())
            yield PairScore(score.first, score.second, *map(int, drawn))


def _shifted(elo: FloatArray, index: Mapping[str, int], anchors: Mapping[str, float]) -> FloatArray:
    """Shift the scale to the anchors."""
    if not anchors:
        return elo
    offsets = [value - float(elo[index[name]]) for name, value in anchors.items()]
    return elo + sum(offsets) / len(offsets)


# ----- Sequential test of two players -----

_DECISIVE = math.log(0.95 / 0.05)


@dataclass(frozen=True)
class Sprt:
    """Wald's sequential test: is the first stronger by `elo1` or only by `elo0`?

    Either answer is wrong with probability 0.05; draws count half.
    """

    elo0: float = 0.0
    elo1: float = 50.0

    def llr(self, won: float, lost: float) -> float:
        """Return the log likelihood ratio of a result."""
        p0, p1 = expected_score(self.elo0), expected_score(self.elo1)
        return won * math.log(p1 / p0) + lost * math.log((1 - p1) / (1 - p0))

    def verdict(self, points: Sequence[float]) -> SprtVerdict:
        """Go through the first player's points game by game up to the first decision.

        Games must be in the order of the schedule: those that end early are no fair sample.
        """
        llr = 0.0
        for number, point in enumerate(points, 1):
            llr += self.llr(point, 1 - point)
            if abs(llr) >= _DECISIVE:
                return SprtVerdict("elo1" if llr > 0 else "elo0", llr, number)
        return SprtVerdict("undecided", llr, len(points))


@dataclass(frozen=True)
class SprtVerdict:
    """The result of a sequential test after some games."""

    answer: Literal["elo0", "elo1", "undecided"]
    llr: float
    games: int
