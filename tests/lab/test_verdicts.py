"""Verdicts, recorded runs, and the papers' own figures."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tengen.lab.papers import all_claims, papers
from tengen.lab.verdicts import (
    AGREES,
    BETTER,
    REFUTED,
    UNMEASURED,
    WORDS,
    WORSE,
    Comparison,
    RecordedFigure,
    RecordedRun,
    card_results,
    compare,
    merge_recorded,
    recorded_runs,
    show,
    verdict,
)

ROOT = Path(__file__).parents[2]
RUNS = [pytest.param(run, id=f"{part}-{i}") for part in papers()
        for i, run in enumerate(recorded_runs(part))]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "options", "word"),
    [
        ((0.75, 0.80, (0.70, 0.88)), {}, AGREES),
        ((0.75, 0.97, (0.95, 0.99)), {}, BETTER),
        ((0.75, 0.60, (0.55, 0.65)), {}, WORSE),
        ((0.75, 0.60, (0.55, 0.65)), {"full": False}, UNMEASURED),
        ((0.75, 0.97, (0.95, 0.99)), {"full": False}, BETTER),
        ((10.0, 5.0, (4.0, 6.0)), {"aim": -1}, BETTER),
        ((10.0, 5.0, (4.0, 6.0)), {"aim": 0}, REFUTED),
        ((10.0, 5.0, (4.0, 6.0)), {"aim": 0, "full": False}, UNMEASURED),
        # The gap of 0.05 is within the root of the squared arms, 0.04 and 0.04.
        ((0.75, 0.80, (0.76, 0.84)), {"paper_interval": (0.71, 0.79)}, AGREES),
        ((0.75, 0.80, (0.76, 0.84)), {}, BETTER),
        ((None, 0.5), {}, UNMEASURED),
        ((0.5, None), {}, UNMEASURED),
        ((None, None), {"holds": True}, AGREES),
        ((None, None), {"holds": False}, REFUTED),
        ((None, None), {"holds": False, "full": False}, UNMEASURED),
        ((714, 714), {"aim": 0}, AGREES),
    ],
)
def test_words(arguments: tuple[float, ...], options: dict[str, object], word: str) -> None:
    assert verdict(*arguments, **options) == word  # type: ignore[arg-type]


def test_comparisons_have_both_figures_and_a_reason() -> None:
    row = compare("huang.table1.scalar.ADE", 0.70, (0.65, 0.75), detail="here", why="because")
    assert row == Comparison(
        "huang.table1.scalar.ADE", "Table 1", "ADE, scalar, over all opponents: here",
        paper="56.0 %", ours="70.0 % [65, 75]", verdict=REFUTED, why="because",
    )  # fmt: skip
    # The games behind the paper's figure give it an interval.
    assert compare("huang.table1.scalar.ADE", 0.57, why="").verdict == AGREES


def test_narrow_intervals_keep_their_digits() -> None:
    assert show(0.45, (0.447, 0.453), "%") == "45.0 % [44.7, 45.3]"


# ----- Recorded runs -----


def plain(text: str) -> str:
    """Return text with single spaces, so that line breaks do not matter."""
    return " ".join(text.split())


def test_every_paper_has_recorded_runs() -> None:
    assert len(papers()) == 5 and all(recorded_runs(part) for part in papers())
    assert recorded_runs("players") == ()


@pytest.mark.parametrize("run", RUNS)
def test_the_documentation_says_the_same(run: RecordedRun) -> None:
    page = plain((ROOT / run.page).read_text())
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", run.date) and run.seeds and run.games
    assert run.command.startswith("tengen ") and plain(run.command) in page
    for figure in run.figures:
        assert plain(figure.text) in page, figure.text
        said = [
            float(n.replace(",", "")) for n in re.findall(r"-?\d[\d,]*\.?\d*(?:e\d+)?", figure.text)
        ]
        for value in (figure.ours, *(figure.interval or ())):
            assert value is None or value in said, (figure.text, value)
        if figure.ours is None:
            # Words: all of their numbers stand on the page.
            for number in re.findall(r"\d[\d,]*\.?\d*", figure.said):
                assert number.rstrip(".,") in page, number


@pytest.mark.parametrize("run", RUNS)
def test_every_recorded_figure_has_a_verdict(run: RecordedRun) -> None:
    for figure in run.figures:
        row = figure.comparison()
        assert row.verdict in WORDS and row.verdict != UNMEASURED
        assert row.paper and row.recorded and row.by_record and row.why


def test_a_claim_is_recorded_once() -> None:
    claims = Counter(
        f.claim for part in papers() for run in recorded_runs(part) for f in run.figures
    )
    assert set(claims.values()) == {1} and set(claims) <= set(all_claims())


def recorded(*figures: RecordedFigure) -> list[RecordedRun]:
    return [RecordedRun("tengen lab", "2026-11-15", "1", "some", "page.md", figures)]


def test_a_recorded_figure_decides_what_this_run_cannot() -> None:
    runs = recorded(
        RecordedFigure("huang.table1.scalar.order", "t", "why then", holds=False, said="no"),
        RecordedFigure("huang.table5.ABCDE", "t", "then", ours=54, interval=(35, 74)),
        RecordedFigure("huang.figure4.scalar", "t", "alone", ours=95, interval=(88, 100)),
    )
    small = compare("huang.table1.scalar.order", text="small", why="too small")
    own = compare("huang.table5.ABCDE", 0.9, (0.88, 0.92), why="now")
    first, second, third = merge_recorded([small, own], runs)
    assert (first.verdict, first.why, first.ours, first.recorded) == (
        REFUTED, "why then", "small", "no"
    )  # fmt: skip
    assert first.by_record and not second.by_record
    # A verdict of this run stands, with the recorded figure beside it.
    assert (second.verdict, second.why, second.recorded) == (REFUTED, "now", "54.0 % [35, 74]")
    # Records of other claims follow.
    assert (third.claim, third.ours, third.verdict) == ("huang.figure4.scalar", "", BETTER)


def test_cards_of_shipped_models_have_measurements() -> None:
    assert any(got.what.startswith("exact score") for got in card_results("scorer"))
    assert card_results("no-such-model") == []


# ----- The papers' figures -----


def test_claims_have_a_figure_or_a_text() -> None:
    assert {claim.split(".")[0] for claim in all_claims()} == {
        "huang", "burzillo", "werf", "blair", "araki", "kendall"
    }  # fmt: skip
    for claim in all_claims().values():
        assert claim.where and claim.what and (claim.figure is not None or claim.text)
    assert all_claims()["huang.table4.binary.B"].figure == -0.05
    assert all_claims()["burzillo.largest"].figure == 58_583_120.0


def test_round_robins_average_one_half_and_points_count_the_games() -> None:
    for table in ("huang.table1.scalar", "huang.table3.binary"):
        shares = list(papers()["opening-td"].figures(table).values())
        assert len(shares) == 16 and abs(np.mean(shares) - 0.5) < 0.005
    # Every game gives one point, and a draw one more.
    tables = papers()["opening-evolution"].more["tables"]
    assert 0 <= sum(tables["dense"]["points"]) - 21 * 40 // 2 == 28
    assert sum(tables["spatial"]["points"]) - 7 * 12 // 2 == 3


def test_re_ranking_never_changes_ranks_beyond_its_candidates() -> None:
    paper = papers()["move-prediction"]
    for n in (20, 40, 60, 80):
        shares = paper.figures(f"araki.table2.{n}")
        assert len(shares) == 7
        for rank, share in shares.items():
            assert int(rank) <= n or share == paper.figures("araki.table2.20")[rank]
