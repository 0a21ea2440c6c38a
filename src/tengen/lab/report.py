"""The report of the papers, computed from their recorded rows; it plays no game.

A paper's folder has a module `report` with `report(data)`, which reads `data/EXPERIMENT` and
returns what it found there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tengen.lab.decisions import Estimate, decide
from tengen.lab.evidence import Evidence
from tengen.lab.papers import papers
from tengen.lab.result import Figure, Table
from tengen.lab.verdicts import show


@dataclass(frozen=True)
class ClaimResult:
    """A claim of a paper beside our measurement."""

    id: str
    where: str  # the paper's table, figure or section
    what: str
    figure: float
    ours: Estimate
    unit_of_analysis: str  # what is independent, as "training"
    verdict: str
    power: float | None  # chance to see the paper's effect; None if there is no figure of no effect
    rows: int
    data: str  # the folder the figure was computed from


@dataclass(frozen=True)
class PaperReport:
    """What one paper's rows say."""

    claims: Sequence[ClaimResult] = ()
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = field(default=(), repr=False)
    questions: Sequence[Mapping[str, Any]] = ()  # id, answer and data of each open question


def claim_result(
    id: str,
    where: str,
    what: str,
    figure: float,
    values: Sequence[float],
    evidence: Evidence,
    *,
    no_effect: float | None,
    full: bool,
    unit: str = "training",
) -> ClaimResult:
    """Judge a claim by one value of ours per independent unit."""
    ours = Estimate.of(values)
    power = None if no_effect is None else ours.power(figure - no_effect)
    verdict = decide(figure, ours, no_effect=no_effect, full=full)
    return ClaimResult(
        id, where, what, figure, ours, unit, verdict, power, len(evidence), str(evidence.folder)
    )


CLAIM_COLUMNS = ("claim", "paper", "here", "independent", "power", "verdict")


def claim_row(claim: ClaimResult) -> list[str]:
    """Return a claim as words under `CLAIM_COLUMNS`."""
    ours = show(claim.ours.mean, claim.ours.interval)
    power = "" if claim.power is None else f"{claim.power:.0%}"
    units = f"{claim.ours.units} {claim.unit_of_analysis}s"
    return [f"{claim.where}: {claim.what}", show(claim.figure), ours, units, power, claim.verdict]


def read_reports(data: Path | None = None) -> dict[str, PaperReport]:
    """Return what the rows of each paper say that has a `report`; by default the recorded rows.

    `data` has one folder per paper, named and laid out like the paper's `data`.
    """
    found: dict[str, PaperReport] = {}
    for name, paper in papers().items():
        if find_spec(f"{paper.package}.report") is not None:
            folder = paper.folder / "data" if data is None else data / paper.folder.name
            found[name] = import_module(f"{paper.package}.report").report(folder)
    return found


def as_json(reports: Mapping[str, PaperReport]) -> dict[str, Any]:
    """Return the reports of several papers as plain data."""
    claims, questions = [], []
    for paper, found in reports.items():
        for claim in found.claims:
            claims.append(
                {
                    "id": claim.id, "paper": paper, "where": claim.where, "what": claim.what,
                    "figure": claim.figure, "ours": claim.ours.mean,
                    "interval": None if claim.ours.interval is None else [*claim.ours.interval],
                    "units": claim.ours.units, "unit": claim.unit_of_analysis,
                    "power": claim.power, "verdict": claim.verdict, "rows": claim.rows,
                    "data": claim.data,
                }
            )  # fmt: skip
        questions += [{"paper": paper, **question} for question in found.questions]
    return {"claims": claims, "questions": questions}
