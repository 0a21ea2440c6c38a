"""Set a figure of a paper beside ours and say in one word how they compare; measure nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict, Unpack

AGREES, BETTER, WORSE, REFUTED = "agrees", "better", "worse", "refuted"
UNMEASURED = "not measured at this scale"
WORDS = (AGREES, BETTER, WORSE, REFUTED, UNMEASURED)

_Interval = Sequence[float]


@dataclass(frozen=True)
class Comparison:
    """A figure or a claim of a paper beside ours, as the report shows it; see `compare`."""

    where: str
    """The table, figure or section of the paper."""
    what: str
    paper: str
    ours: str
    verdict: str
    """One of `WORDS`."""
    why: str


class Judging(TypedDict, total=False):
    """What `verdict` may be told besides the figures."""

    paper_interval: _Interval | None
    aim: int
    full: bool
    holds: bool | None


def verdict(
    paper: float | None,
    ours: float | None,
    interval: _Interval | None = None,
    *,
    paper_interval: _Interval | None = None,
    aim: int = 1,
    full: bool = True,
    holds: bool | None = None,
) -> str:
    """Return one of `WORDS`.

    Parameters
    ----------
    paper, ours
        The two figures; without ours nothing was measured.
    interval, paper_interval
        Their 95 % intervals; a figure without one is taken as exact.
    aim
        +1 where more is better, -1 where less is, 0 where another figure refutes the paper's.
    full
        Whether ours was measured at the paper's scale. A smaller run that falls short of the paper,
        or differs from it, says nothing against it.
    holds
        For a claim that is no number: whether what we found bears it out.

    >>> verdict(0.75, 0.97, (0.95, 0.99)), verdict(714, 714, aim=0), verdict(2310, 2478, aim=0)
    ('better', 'agrees', 'refuted')
    >>> verdict(0.75, 0.60, (0.5, 0.7), full=False)
    'not measured at this scale'
    """
    if holds is not None:
        word = AGREES if holds else REFUTED
    elif ours is None or paper is None:
        return UNMEASURED
    else:
        slack = math.hypot(_half(ours, paper, interval), _half(paper, ours, paper_interval))
        gap = ours - paper
        if abs(gap) <= slack + 1e-12:
            word = AGREES
        elif aim == 0:
            word = REFUTED
        else:
            word = BETTER if gap * aim > 0 else WORSE
    return UNMEASURED if not full and word in (WORSE, REFUTED) else word


def above(interval: _Interval, level: float = 0.5) -> bool | None:
    """Tell whether a claim "more than `level`" holds: None where the interval leaves it open.

    >>> above((0.6, 0.8)), above((0.1, 0.4)), above((0.4, 0.8))
    (True, False, None)
    """
    if interval[0] > level:
        return True
    return False if interval[1] < level else None


def _half(value: float, towards: float, interval: _Interval | None) -> float:
    """Return the length of the interval's arm that points towards the other figure."""
    if interval is None:
        return 0.0
    return max(interval[1] - value if towards > value else value - interval[0], 0.0)


def compare(
    where: str,
    what: str,
    paper: float | None,
    ours: float | None,
    interval: _Interval | None = None,
    *,
    why: str,
    unit: str = "",
    paper_text: str = "",
    our_text: str = "",
    **judging: Unpack[Judging],
) -> Comparison:
    """Set a figure of a paper beside ours.

    `unit` is `%` for fractions shown as percentages; the texts replace the figures where words say
    more; the rest goes to `verdict`.
    """
    return Comparison(
        where,
        what,
        paper=paper_text or show(paper, None, unit),
        ours=our_text or show(ours, interval, unit),
        verdict=verdict(paper, ours, interval, **judging),
        why=why,
    )


def show(value: float | None, interval: _Interval | None = None, unit: str = "") -> str:
    """Write a figure with its interval.

    >>> show(0.5, (0.4, 0.6), "%"), show(714.0), show(None), show(6.02e9)
    ('50.0 % [40, 60]', '714', '', '6.0e9')
    """
    if value is None:
        return ""
    if unit == "%":
        text = f"{100 * value:.1f} %"
        if interval is None:
            return text
        digits = 0 if interval[1] - interval[0] > 0.03 else 1
        return f"{text} [{100 * interval[0]:.{digits}f}, {100 * interval[1]:.{digits}f}]"
    text = number(value)
    if interval is not None:
        text += f" [{number(interval[0])}, {number(interval[1])}]"
    return f"{text} {unit}".rstrip()


def number(value: float) -> str:
    """Write a number shortly.

    >>> [number(v) for v in (0.034, 3.14159, 86.0, 12345.6, -58583120.0)]
    ['0.034', '3.14', '86', '12,346', '-5.9e7']
    """
    if value != 0 and abs(value) >= 1e7:
        power = math.floor(math.log10(abs(value)))
        return f"{value / 10**power:.1f}e{power}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if value == int(value):
        return f"{int(value)}"
    return f"{value:.3g}"
