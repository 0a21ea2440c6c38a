"""The report follows from the rows: small made-up rows whose verdicts are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tengen.lab.evidence import record_of, write_evidence
from tengen.lab.report import PaperReport
from tengen.papers.scoring_failure.report import PAPER, report

Rows = list[dict[str, Any]]


def write(data: Path, name: str, rows: Iterable[Mapping[str, Any]], **settings: Any) -> None:
    run = record_of("tengen lab", [0], settings, seconds=1.0, cpu_seconds=1.0)
    write_evidence(data / name, rows, run)


def trained(version: str, seed: int, typical: float, exact: int = 0, games: int = 500) -> Rows:
    """Return the rows of one training."""
    common = {"version": version, "games": games, "seed": seed}
    blocks = {"dead_right": 5, "dead_wrong": 5, "alive_right": 80, "alive_wrong": 10}
    numbers = {"error": typical, "typical": typical, "largest": 2 * typical, "komi_error": 9.5}
    return [
        {**common, "part": part, "tested": tested, "exact": exact, "winner": 0, "counted": exact,
         **numbers, **blocks}
        for part, tested in (("training", games), ("held out", 200))
    ]  # fmt: skip


def verdicts(found: PaperReport) -> dict[str, str]:
    return {each.claim.id: each.verdict for each in found.claims}


def failure(data: Path, seeds: int = 5, made: int = 0, **typical: float) -> PaperReport:
    sizes = {"program": 1.5e7, "rpnc": 3e5, "rpnc_sign": 90.0, **typical}
    rows = [
        row
        for version, size in sizes.items()
        for seed in range(seeds)
        for row in trained(version.replace("_", "-"), seed, size * (1 + 0.2 * (seed - 2)))
    ]
    write(data, "scoring-failure", rows, made=made)
    return report(data)


def test_nothing_follows_from_no_rows(tmp_path: Path) -> None:
    found = report(tmp_path)
    assert not [*found.claims, *found.tables, *found.figures, *found.questions]


def test_verdicts_on_the_failure(tmp_path: Path) -> None:
    found = verdicts(failure(tmp_path))
    assert found["burzillo.exact.500"] == "agrees" and "burzillo.exact.5000" not in found
    assert found["burzillo.typical"] == "agrees"
    assert found["burzillo.typical.written"] == "better"  # smaller than the paper's, and huge
    assert found["burzillo.reasons"] == "refuted"


def test_one_training_decides_nothing(tmp_path: Path) -> None:
    assert set(verdicts(failure(tmp_path, seeds=1)).values()) == {"undecided"}


def test_games_of_our_own_refute_nothing(tmp_path: Path) -> None:
    found = failure(tmp_path, made=90)
    assert verdicts(found)["burzillo.reasons"] == "undecided"
    assert not any(each.full for each in found.claims)


def test_another_row_gives_another_figure(tmp_path: Path) -> None:
    first = verdicts(failure(tmp_path / "a"))["burzillo.reasons"]
    second = verdicts(failure(tmp_path / "b", rpnc_sign=1.5e7))["burzillo.reasons"]
    assert (first, second) == ("refuted", "agrees")


def test_the_question_of_the_second_classifier(tmp_path: Path) -> None:
    rows = [
        row
        for seed in range(4)
        for row in trained("rpnc", seed, 1e6) + trained("gdxnc", seed, 50.0, exact=20 + seed)
    ]
    write(tmp_path, "scoring-failure", rows, made=0)
    [gdxnc] = [each for each in report(tmp_path).questions if each.id == "burzillo.gdxnc"]
    assert gdxnc.text.startswith("yes") and gdxnc.ours is not None
    assert gdxnc.ours.mean == pytest.approx(21.5 / 500)


def scored(file: str, scorer: str, right: int, games: int) -> Rows:
    return [
        {"file": file, "count": "plain", "scorer": scorer, "game": game, "recorded": 3.5,
         "margin": "" if game == games - 1 else 3.5 if game < right else 4.5, "safe": 1}
        for game in range(games)
    ]  # fmt: skip


def test_a_scorer_is_judged_by_games_and_a_failure_is_wrong(tmp_path: Path) -> None:
    nine = "ogs-scored-9x9-dev"
    rows = scored("kgs", "shipped", 190, 200) + scored(nine, "shipped", 190, 200)
    write(tmp_path, "scoring", rows, made=0)
    found = report(tmp_path)
    [claim] = found.claims
    assert claim.independent == "game" and claim.verdict == "worse"
    assert claim.ours.mean == pytest.approx(0.95) and claim.ours.units == 200
    table = found.table(f"scorers-{nine}")
    assert table is not None and table.rows[0][0] == "shipped"


def grown(first: int, seed: int, held_right: int) -> dict[str, Any]:
    return {
        "first": first, "flips": 0, "seed": seed, "rounds": 3, "games": 1000, "labelled": 900,
        "blocks": 5000, "wrong": 50, "held_out": 100, "held_right": held_right, "nine": 0,
        "nine_right": 0,
    }  # fmt: skip


@pytest.mark.parametrize(("gain", "word"), [(10, "yes"), (0, "undecided"), (-10, "no")])
def test_dependence_on_the_labelled_games(tmp_path: Path, gain: int, word: str) -> None:
    rows = [
        grown(first, seed, 80 + seed % 2 * (first == 5) + gain * (first == 80))
        for first in (5, 20, 80)
        for seed in range(5)
    ]
    write(tmp_path, "scoring-bootstrap", rows, made=0)
    answers = {each.id: each.text for each in report(tmp_path).questions}
    assert answers["burzillo.bootstrap.first"].startswith(word)
    assert answers["burzillo.bootstrap"].startswith("90.0 %")
    assert answers["burzillo.bootstrap.wrong"].startswith("1.0 %")


def test_every_version_and_claim_has_words() -> None:
    from tengen.papers.scoring_failure.network import VERSIONS

    assert set(PAPER.more["versions"]) == set(VERSIONS)
