"""The report follows from the rows, and says undecided where they cannot tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tengen.lab.evidence import record_of, write_evidence
from tengen.lab.report import PaperReport
from tengen.papers.symmetry_network.report import elo_of, report

PAPERS = {"games": 860_000, "rate": 5e-6, "board": 9}
SMALL = PAPERS | {"games": 3_000}


def reported(
    folder: Path,
    name: str,
    rows: Iterable[Mapping[str, Any]],
    settings: Mapping[str, Any] = PAPERS,
) -> PaperReport:
    """Return the report of one experiment's rows."""
    write_evidence(folder / name, rows, record_of("", [], settings, seconds=1, cpu_seconds=1))
    return report(folder)


def verdicts(found: PaperReport) -> dict[str, str]:
    return {each.claim.id.removeprefix("blair."): each.verdict for each in found.claims}


def tournament(rising: list[bool], steps: int = 6) -> list[dict[str, Any]]:
    """Return tournaments in which the later snapshot always wins, or always the earlier."""
    return [
        {"seed": seed, "a": a, "b": b, "game": game, "score": -5.5 if up else 5.5}
        for seed, up in enumerate(rising)
        for a, b in combinations(range(0, steps * 20_000, 20_000), 2)
        for game in range(10)
    ]


@pytest.mark.parametrize(
    ("rising", "settings", "verdict"),
    [
        ([True] * 3, PAPERS, "undecided"),  # three coins may well fall alike
        ([True] * 8, PAPERS, "agrees"),
        ([True] * 5 + [False] * 5, PAPERS, "refuted"),
        ([True] * 5 + [False] * 5, SMALL, "undecided"),
    ],
)
def test_trainings_not_games_decide_whether_strength_rises(
    rising: list[bool], settings: dict[str, Any], verdict: str, tmp_path: Path
) -> None:
    found = reported(tmp_path, "symmetry-network", tournament(rising), settings)
    assert verdicts(found)["figure1.rises"] == verdict
    assert found.claims[0].ours.units == len(rising)


def test_where_the_best_snapshot_is_says_little(tmp_path: Path) -> None:
    # Its place in a few trainings, all over the range.
    rows = tournament([True, False, True, False])
    found = reported(tmp_path, "symmetry-network", rows)
    assert verdicts(found)["figure1.best"] == "undecided"
    short = reported(tmp_path, "symmetry-network", rows, SMALL)
    assert "figure1.best" not in verdicts(short)
    assert short.questions[0].text.endswith("(trainings of 3,000 games)")


def designs(shares: list[float], design: str = "liberties") -> list[dict[str, Any]]:
    """Return matches of a design against the paper's, won to these shares of 100 games."""
    return [
        {
            "design": design, "seed": seed, "opponent": "paper", "game": game,
            "score": 1 if game < 100 * share else -1,
        }
        for seed, share in enumerate(shares)
        for game in range(100)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("shares", "verdict", "answer"),
    [
        ([0.7] * 2, "undecided", "no, the opposite"),  # too few trainings for a sign
        ([0.3] * 8, "agrees", "yes"),
        ([0.7] * 10, "refuted", "no, the opposite"),
        ([0.1, 0.9, 0.2, 0.7], "undecided", "undecided"),
    ],
)
def test_liberties(shares: list[float], verdict: str, answer: str, tmp_path: Path) -> None:
    found = reported(tmp_path, "symmetry-designs", designs(shares))
    assert verdicts(found)["liberties"] == verdict
    assert found.questions[0].text.startswith(f"{answer}:")


def test_one_training_answers_no_question(tmp_path: Path) -> None:
    found = reported(tmp_path, "symmetry-designs", designs([0.9], "colours"))
    assert [each.text.split(":")[0] for each in found.questions] == ["undecided"]
    assert found.claims == []


def test_a_rating_needs_no_verdict(tmp_path: Path) -> None:
    rows = [
        {"seed": s, "board": 9, "rung": "x", "elo": 700.0, "wins": 10, "losses": 10, "draws": 0}
        for s in (0, 1)
    ]
    found = reported(tmp_path, "symmetry-rating", rows)
    assert found.claims == [] and found.questions[0].id == "blair.cgos.9x9"
    ours = found.questions[0].ours
    assert ours is not None and ours.mean == pytest.approx(700, abs=1) and ours.units == 2
    # Of one network only its games are independent.
    alone = reported(tmp_path, "symmetry-rating", rows[:1], {**PAPERS, "model": "isn-9x9"})
    ours = alone.questions[0].ours
    assert ours is not None and ours.interval is not None and ours.units == 20
    assert 100 < ours.interval[1] - ours.mean < 200 and "isn-9x9 alone" in alone.questions[0].text


def test_elo() -> None:
    assert elo_of([0.0, 400.0], [5.0, 5.0], [10.0, 10.0]) == pytest.approx(200, abs=5)
    assert 700 < elo_of([500.0], [10.0], [10.0]) < 1500  # finite without a loss
    assert elo_of([500.0], [9.0], [10.0]) > elo_of([500.0], [6.0], [10.0])


def test_look_ahead_and_evolution(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"seed": s, "depth": 5, "game": g, "score": 1, "plies": 80, "seconds": 4.0}
        for s in range(3)
        for g in range(10)
    ]
    found = reported(tmp_path, "symmetry-search", rows, {**PAPERS, "width": 4})
    assert found.questions[0].text.startswith("yes: +50.0 %")
    assert [row[:1] for row in found.tables[0].rows] == [[5]]
    rows = [
        {
            "method": method, "seed": seed, "games": games, "game": game,
            # TD falls by two fifths every second snapshot; evolution never does.
            "score": 1 if method == "evolution" or games % 40 or game < 60 + seed else -1,
        }
        for method in ("evolution", "td")
        for seed in range(4)
        for games in (20, 40, 60, 80)
        for game in range(100)
    ]  # fmt: skip
    found = reported(tmp_path, "symmetry-evolution", rows)
    answers = {each.id: each.text.split(":")[0] for each in found.questions}
    assert answers["blair.evolution"] == answers["blair.evolution.strength"] == "yes"


def test_an_empty_folder_gives_an_empty_report(tmp_path: Path) -> None:
    found = report(tmp_path)
    assert not (found.claims or found.tables or found.questions)
