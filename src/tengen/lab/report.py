"""The report of the papers, computed from rows of experiments; it plays no game.

A paper's folder has a module `report` with `report(data)`, which reads `data/EXPERIMENT` and
returns what it found there. The same code shows the rows of a quick run and the recorded ones.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from tengen.extensions import ExtensionError
from tengen.lab.decisions import UNDECIDED, Estimate, decide
from tengen.lab.evidence import Evidence
from tengen.lab.formatting import show, show_estimate
from tengen.lab.papers import Claim, Paper, data_folder, papers
from tengen.lab.result import Figure, Plot, Table, line
from tengen.statistics import holm


@dataclass(frozen=True)
class ClaimResult:
    """A claim of a paper beside our measurement."""

    claim: Claim
    ours: Estimate
    independent: str  # what the units of the estimate are, as "training"
    full: bool  # whether it is the paper's experiment at its scale
    rows: int
    data: str  # the folder the figure was computed from
    significant: bool = True  # whether the effect stands by Holm's rule among its table's claims

    @property
    def verdict(self) -> str:
        """One of `decisions.VERDICTS`."""
        if not self.claim.comparable:
            return UNDECIDED
        return decide(
            self.claim.figure, self.ours, no_effect=self.claim.no_effect, full=self.full,
            aim=self.claim.aim, significant=self.significant,
        )  # fmt: skip

    @property
    def power(self) -> float | None:
        """The chance to see the paper's effect; None if there is no figure of no effect."""
        null = self.claim.no_effect
        return None if null is None else self.ours.power(self.claim.figure - null)


@dataclass(frozen=True)
class Answer:
    """What the rows say about an open question."""

    id: str
    question: str
    text: str
    ours: Estimate | None
    independent: str
    rows: int
    data: str


@dataclass(frozen=True)
class PaperReport:
    """What one paper's rows say; Holm's rule is applied to the claims of each table."""

    claims: Sequence[ClaimResult] = ()
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = field(default=(), repr=False)
    questions: Sequence[Answer] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "claims", _with_holm(self.claims))

    def table(self, key: str) -> Table | None:
        """Return a table by its key."""
        return next((table for table in self.tables if table.key == key), None)


def _with_holm(claims: Sequence[ClaimResult]) -> list[ClaimResult]:
    """Mark the claims whose effect stands among those of the same table."""
    found: dict[str, ClaimResult] = {}
    by_place = sorted(claims, key=_place)
    for _, same in groupby(by_place, key=_place):
        group = list(same)
        nulls = [each.claim.no_effect for each in group]
        tests = [
            None if null is None else each.ours.p_value(null)
            for each, null in zip(group, nulls, strict=True)
        ]
        for each, null, stands in zip(group, nulls, holm(tests), strict=True):
            found[each.claim.id] = replace(each, significant=null is None or stands)
    return [found[each.claim.id] for each in claims]


def _place(result: ClaimResult) -> str:
    return result.claim.where


def claim_result(
    claim: Claim,
    ours: Estimate,
    evidence: Evidence,
    *,
    full: bool,
    independent: str = "training",
) -> ClaimResult:
    """Compare a claim with an estimate from rows."""
    return ClaimResult(claim, ours, independent, bool(full), len(evidence), str(evidence.folder))


def answer(
    paper: Paper,
    id: str,
    text: str,
    evidence: Evidence,
    ours: Estimate | None = None,
    *,
    independent: str = "training",
) -> Answer:
    """Answer an open question of a paper in words."""
    question = paper.questions[id]
    return Answer(id, question, text, ours, independent, len(evidence), str(evidence.folder))


def gain_answer(
    paper: Paper,
    id: str,
    ours: Estimate,
    evidence: Evidence,
    *,
    unit: str = "",
    independent: str = "training",
) -> Answer:
    """Answer a question whether something gains: yes, no (it loses) or undecided."""
    low, high = ours.interval or (math.nan, math.nan)
    word = "yes" if low > 0 else "no, the opposite" if high < 0 else "undecided"
    sign = "+" if ours.mean > 0 else ""
    text = f"{word}: {sign}{show_estimate(ours, unit)}"
    return answer(paper, id, text, evidence, ours, independent=independent)


# ----- As words -----

CLAIM_COLUMNS = ("claim", "paper", "here", "independent", "power", "verdict")
QUESTION_COLUMNS = ("question", "answer", "independent")


def claim_row(result: ClaimResult) -> list[str]:
    """Return a claim as words under `CLAIM_COLUMNS`."""
    claim, power = result.claim, result.power
    return [
        f"{claim.where}: {claim.what}",
        show(claim.figure, None, claim.unit),
        show_estimate(result.ours, claim.unit),
        claim_units(result),
        "" if power is None else f"{power:.0%}",
        result.verdict + ("" if result.full else " (smaller run)"),
    ]


def claim_units(result: ClaimResult) -> str:
    """Return how many independent units a result has."""
    return _units(result.ours.units, result.independent)


def question_row(found: Answer) -> list[str]:
    """Return an answer as words under `QUESTION_COLUMNS`."""
    units = "" if found.ours is None else _units(found.ours.units, found.independent)
    return [found.question, found.text, units]


def _units(count: int, name: str) -> str:
    return f"{count:,} {name}{'' if count == 1 else 's'}"


# ----- Claims without rows -----


def not_recorded(paper: Paper, found: PaperReport) -> list[Claim]:
    """Return the claims that the rows say nothing about, or not at the paper's scale."""
    known = {each.claim.id for each in found.claims}
    return [claim for claim in paper.claims.values() if claim.id not in known]


def not_recorded_line(paper: Paper, found: PaperReport) -> str:
    """Return the same as words: how many claims of which tables; empty if there are none."""
    places = Counter(claim.where for claim in not_recorded(paper, found))
    named = [f"{place} ({_units(count, 'claim')})" for place, count in places.items()]
    return f"Not recorded yet at the paper's scale: {', '.join(named)}." if named else ""


# ----- All papers -----


def report_of(paper: Paper, data: Path) -> PaperReport:
    """Return what the rows below a folder say; experiments without rows are left out."""
    found: PaperReport = paper.module("report").report(data)
    return found


def learning_plot(title: str, x: str, curves: Mapping[int, Mapping[int, float]]) -> Plot:
    """Return the shares that the first training won, beside the mean of all, for `learning`."""
    shown, *_ = curves.values()
    ours = [Estimate.shares([curve[at] for curve in curves.values()]) for at in shown]
    ends = [each.interval for each in ours if each.interval is not None]
    band = ends if len(ends) == len(ours) else None
    lines = [line("this training", list(shown), list(shown.values()))]
    if len(curves) > 1:
        name = f"mean of {len(curves)} trainings"
        lines.append(line(name, list(shown), [each.mean for each in ours], band))
    return Plot(title, x, "won", lines, bottom=0.0, top=1.0)


def learning_of(paper: Paper, data: Path) -> Plot | None:
    """Return how the training went whose snapshots a paper shows, if its report has `learning`."""
    learning = getattr(paper.module("report"), "learning", None)
    found: Plot | None = None if learning is None else learning(data)
    return found


def read_reports(data: Path | None = None) -> dict[str, PaperReport]:
    """Return what the rows of each paper say; by default the recorded rows.

    `data` has one folder per paper, named and laid out like the paper's `data`.
    """
    found: dict[str, PaperReport] = {}
    for name, paper in papers().items():
        try:
            found[name] = report_of(paper, data_folder(paper, data))
        except ExtensionError as failure:
            warnings.warn(str(failure), stacklevel=2)
    return found


def as_json(reports: Mapping[str, PaperReport]) -> dict[str, Any]:
    """Return the reports of several papers as plain data."""
    claims = [
        {
            "id": each.claim.id, "paper": paper, "where": each.claim.where,
            "what": each.claim.what, "figure": each.claim.figure, **_estimate(each.ours),
            "independent": each.independent, "power": each.power, "full": each.full,
            "verdict": each.verdict, "rows": each.rows, "data": each.data,
        }
        for paper, found in reports.items()
        for each in found.claims
    ]  # fmt: skip
    questions = [
        {
            "id": each.id, "paper": paper, "question": each.question, "answer": each.text,
            **_estimate(each.ours), "independent": each.independent, "rows": each.rows,
            "data": each.data,
        }
        for paper, found in reports.items()
        for each in found.questions
    ]  # fmt: skip
    missing = [
        {
            "id": each.id, "paper": name, "where": each.where, "what": each.what,
            "figure": each.figure,
        }
        for name, found in reports.items()
        if name in papers()
        for each in not_recorded(papers()[name], found)
    ]  # fmt: skip
    return {"claims": claims, "questions": questions, "not_recorded": missing}


def _estimate(ours: Estimate | None) -> dict[str, Any]:
    """Return an estimate as plain data."""
    if ours is None or math.isnan(ours.mean):
        return {"ours": None, "interval": None, "units": 0}
    interval = None if ours.interval is None else list(ours.interval)
    return {"ours": ours.mean, "interval": interval, "units": ours.units}
