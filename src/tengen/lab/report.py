"""The report of the papers, computed from their recorded rows; it plays no game.

A paper's folder has a module `report` with `report(data)`, which reads `data/EXPERIMENT` and
returns what it found there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tengen.lab.decisions import Estimate, decide
from tengen.lab.evidence import Evidence
from tengen.lab.result import Figure, Table


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


Reporter = Callable[[Path], PaperReport]


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


def report_json(reporters: Mapping[str, tuple[Reporter, Path]]) -> dict[str, Any]:
    """Return the report of several papers as plain data; see `tengen lab report --json`."""
    begin, claims, questions = time.monotonic(), [], []
    for paper, (reporter, data) in reporters.items():
        found = reporter(data)
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
    seconds = round(time.monotonic() - begin, 2)
    return {"claims": claims, "questions": questions, "seconds": seconds}
