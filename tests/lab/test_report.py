"""Claims and answers follow from estimates; Holm's rule holds within a table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tengen.lab.decisions import AGREES, UNDECIDED, Estimate
from tengen.lab.evidence import Evidence, read_evidence, record_of, write_evidence
from tengen.lab.papers import Claim, papers
from tengen.lab.report import ClaimResult, PaperReport, as_json, claim_result, claim_row, report_of


@pytest.fixture
def rows(tmp_path: Path) -> Evidence:
    run = record_of("tengen lab a", [1, 2], {"games": 3}, seconds=1, cpu_seconds=1)
    write_evidence(tmp_path, [{"seed": 1, "wins": 3}, {"seed": 2, "wins": 4}], run)
    return read_evidence(tmp_path)


def result(rows: Evidence, id: str, where: str, values: list[float]) -> ClaimResult:
    claim = Claim(id, where, "what", 0.75, no_effect=0.5, unit="%")
    return claim_result(claim, Estimate.of(values), rows, full=True)


WEAK = [0.55, 0.76, 0.95, 0.62, 0.74, 0.86]  # p = 0.008 against 0.5


def test_an_effect_must_stand_among_those_of_its_table(rows: Evidence) -> None:
    assert PaperReport([result(rows, "a", "Table 1", WEAK)]).claims[0].verdict == AGREES
    others = [result(rows, f"b{i}", "Table 1", [0.3, 0.5, 0.7]) for i in range(9)]
    [among, *_] = PaperReport([result(rows, "a", "Table 1", WEAK), *others]).claims
    assert among.verdict == UNDECIDED
    elsewhere = [result(rows, f"c{i}", "Table 2", [0.3, 0.5, 0.7]) for i in range(9)]
    found = PaperReport([result(rows, "a", "Table 1", WEAK), *elsewhere]).claims
    assert found[0].verdict == AGREES and [each.claim.id for each in found][1] == "c0"


def test_a_rate_on_other_games_has_no_verdict(rows: Evidence) -> None:
    claim = Claim("a", "Table 1", "what", 0.3, comparable=False)
    found = claim_result(claim, Estimate.of([0.35, 0.351, 0.352]), rows, full=True)
    assert found.verdict == UNDECIDED


def test_a_claim_shows_its_units_and_its_power(rows: Evidence) -> None:
    shown = claim_row(result(rows, "a", "Table 1", WEAK))
    assert shown[0] == "Table 1: what" and shown[1] == "75.0 %"
    assert shown[3] == "6 trainings" and shown[4].endswith("%")


def test_reports_are_plain_data(rows: Evidence) -> None:
    found = as_json({"p": PaperReport([result(rows, "a", "Table 1", [0.5])])})
    [claim] = json.loads(json.dumps(found, allow_nan=False))["claims"]
    assert claim["id"] == "a" and claim["interval"] is None and claim["verdict"] == UNDECIDED
    assert (claim["rows"], claim["data"]) == (2, str(rows.folder))


def test_folders_without_rows_have_empty_reports(tmp_path: Path) -> None:
    for paper in papers().values():
        found = report_of(paper, tmp_path)
        assert not found.claims and not found.questions
