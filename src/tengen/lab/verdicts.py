"""Compare claims of the papers with our measurements and decide the verdicts.

`compare` compares a claim with a measurement of this run; `beside` adds those of recorded runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from pydantic import TypeAdapter

from tengen.lab.papers import all_claims, papers
from tengen.models import list_models
from tengen.models.store import Measurement
from tengen.statistics import wilson

AGREES, BETTER, WORSE, REFUTED = "agrees", "better", "worse", "refuted"
UNMEASURED = "not measured at this scale"
WORDS = (AGREES, BETTER, WORSE, REFUTED, UNMEASURED)

_Interval = Sequence[float]


@dataclass(frozen=True)
class Comparison:
    """A claim of a paper and our measurement, as the report shows them."""

    claim: str  # its id in `papers.all_claims`
    where: str
    what: str
    paper: str
    ours: str  # what this run found; empty if it did not measure the claim
    verdict: str  # one of `WORDS`
    why: str
    recorded: str = ""  # what a recorded run found; empty if there is none
    by_record: bool = False  # whether the verdict is the recorded run's


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
    """Return one of `WORDS` for two figures with their 95 % intervals (None for exact figures).

    For `aim` see `papers.Claim`. Without `full` (a run smaller than the paper's) the verdict is
    never against the paper. `holds` says whether our result supports a claim that is not a number.

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
    """Return whether "more than `level`" holds; None if the interval contains the level.

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
    claim: str,
    ours: float | None = None,
    interval: _Interval | None = None,
    *,
    why: str = "",
    detail: str = "",
    text: str = "",
    full: bool = True,
    holds: bool | None = None,
) -> Comparison:
    """Compare a claim with our measurement; `text` is shown instead of the figure.

    `detail` says which of several measurements of the claim this is; for the rest see `verdict`.
    """
    about = all_claims()[claim]
    paper, games = about.figure, about.games
    spread = wilson(paper * games, games) if paper is not None and games else None
    return Comparison(
        claim,
        about.where,
        f"{about.what}: {detail}" if detail else about.what,
        paper=about.text or show(paper, None, about.unit),
        ours=text or show(ours, interval, about.unit),
        verdict=verdict(
            paper, ours, interval, paper_interval=spread, aim=about.aim, full=full, holds=holds
        ),
        why=why or about.why,
    )


# ----- Recorded runs -----


@dataclass(frozen=True)
class RecordedFigure:
    """A figure measured by a recorded run."""

    claim: str  # id of the claim that it answers
    text: str  # how the documentation writes it
    why: str
    ours: float | None = None  # in the unit of the claim: percentages are written as such
    interval: tuple[float, float] | None = None
    holds: bool | None = None  # for a claim that is not a number, as in `verdict`
    said: str = ""  # what the report shows where words say more than the number

    def comparison(self) -> Comparison:
        """Compare it with the paper's figure."""
        scale = 100.0 if all_claims()[self.claim].unit == "%" else 1.0
        row = compare(
            self.claim,
            None if self.ours is None else self.ours / scale,
            None if self.interval is None else [end / scale for end in self.interval],
            why=self.why,
            text=self.said,
            holds=self.holds,
        )
        return replace(row, ours="", recorded=row.ours, by_record=True)


@dataclass(frozen=True)
class RecordedRun:
    """A large run: how it was made, and what it found."""

    command: str
    date: str
    seeds: str
    games: str
    page: str  # of the documentation, where it is described
    figures: Sequence[RecordedFigure]


@cache
def recorded_runs(part: str) -> tuple[RecordedRun, ...]:
    """Return the recorded runs of a part of the report, possibly none."""
    paper = papers().get(part)
    if paper is None or not paper.recorded.is_file():
        return ()
    return TypeAdapter(tuple[RecordedRun, ...]).validate_json(paper.recorded.read_bytes())


def merge_recorded(found: Iterable[Comparison], runs: Iterable[RecordedRun]) -> list[Comparison]:
    """Add the recorded figures to the comparisons of this run, then the remaining records."""
    records = {figure.claim: figure.comparison() for run in runs for figure in run.figures}
    rows = []
    for row in found:
        record = records.get(row.claim)
        if record is not None:
            row = replace(row, recorded=record.recorded)
            if row.verdict == UNMEASURED:  # the record decides where this run could not
                row = replace(row, verdict=record.verdict, why=record.why, by_record=True)
        rows.append(row)
    seen = {row.claim for row in rows}
    return rows + [record for claim, record in records.items() if claim not in seen]


def card_results(name: str) -> list[Measurement]:
    """Return the measurements on a shipped model's card; nothing if there is no such model."""
    cards = (info.card for info in list_models() if info.name == name)
    return [measured for card in cards if card is not None for measured in card.results]


# ----- Figures as text -----


def show(value: float | None, interval: _Interval | None = None, unit: str = "") -> str:
    """Format a figure with its interval.

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


def percent(rate: float, interval: _Interval | None = None) -> str:
    """Format a rate with its interval."""
    return show(rate, interval, "%")


def number(value: float) -> str:
    """Format a number in few characters.

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
