"""What large runs gave ships as data, agrees with the documentation, and decides what is open."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tengen.errors import TengenError
from tengen.lab.content import Result
from tengen.lab.page import gather
from tengen.lab.papers import PAPERS
from tengen.lab.recorded import (
    FOLDER,
    Recorded,
    Run,
    card_results,
    papers_figure,
    recorded_runs,
)
from tengen.lab.steps import Context, Step, run_steps
from tengen.lab.verdicts import REFUTED, UNMEASURED, WORDS, compare

ROOT = Path(__file__).parents[2]
RUNS = [pytest.param(run, id=f"{part}-{i}") for part in PAPERS
        for i, run in enumerate(recorded_runs(part))]  # fmt: skip
OPEN = {
    "opening-td": [
        ("Table 1", "ABCDE, scalar, over all opponents"),
        ("Table 2", "gain of D, scalar"),
        ("Table 3", "ABCDE, binary, over all opponents"),
        ("Table 4", "gain of E, binary"),
        ("Table 5", "ABCDE: binary over scalar"),
    ],
    "scoring": [("van der Werf 2004", "9x9 positions scored right: learned here from 120 scores")],
    "symmetry-network": [("Figure 1", "best snapshot")],
    "move-prediction": [("Table I", "best width factor"),
                        ("Table II", "re-ranking 20 candidates helps the first choice")],
    "opening-evolution": [("Conclusion", "40 generations improve the opening")],
}  # fmt: skip
"""Claims that the small laboratory is too small for."""


def plain(text: str) -> str:
    """Return text with single spaces, so that line breaks do not matter."""
    return " ".join(text.split())


def test_every_paper_has_recorded_runs_and_no_file_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(PAPERS)
    assert all(recorded_runs(part) for part in PAPERS)
    assert recorded_runs("ground") == ()


@pytest.mark.parametrize("run", RUNS)
def test_a_run_says_how_it_was_made(run: Run) -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", run.date) and run.seeds and run.games
    assert run.command.startswith("tengen ")
    assert plain(run.command) in plain((ROOT / run.page).read_text())


@pytest.mark.parametrize("run", RUNS)
def test_the_documentation_says_the_same_numbers(run: Run) -> None:
    page = plain((ROOT / run.page).read_text())
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
def test_every_recorded_figure_has_a_verdict(run: Run) -> None:
    for figure in run.figures:
        row = figure.comparison()
        assert row.verdict in WORDS and row.verdict != UNMEASURED
        assert row.paper and row.ours and row.why


def test_figures_of_papers_are_found_by_their_path() -> None:
    assert papers_figure("TD_GAINS.binary.B") == -0.05
    assert papers_figure("SCORING_LARGEST") == 58_583_120.0
    with pytest.raises((KeyError, AttributeError)):
        papers_figure("TD_WINS.scalar.Z")


@pytest.mark.parametrize("part", OPEN)
def test_recorded_figures_decide_what_the_small_run_cannot(part: str, tmp_path: Path) -> None:
    open_rows = [
        compare(where, what, None, None, paper_text="p", our_text="small", why="too small")
        for where, what in OPEN[part]
    ]
    step = Step("step", part, "Step", lambda _: Result(comparisons=open_rows))
    page = gather(tmp_path, [step], run_steps([step], Context(tmp_path, 1, 1)))
    section = next(section for section in page.sections if section.key == part)
    assert section.open == []
    for row, (where, what) in zip(section.comparisons, OPEN[part], strict=False):
        assert (row.where, row.what, row.ours) == (where, what, "small")
        assert row.by_record and row.recorded


def test_a_verdict_of_this_run_stands_and_records_that_answer_nothing_follow() -> None:
    figure = Recorded(
        "Table 1", "a claim", "t", "why then", matches=("a cl*",), holds=False, said="no"
    )
    found = compare("Table 1", "a claim", None, None, holds=True, our_text="yes", why="why now")
    assert figure.answers(found)
    assert not figure.answers(compare("Table 2", "a claim", None, None, why=""))
    assert figure.comparison().verdict == REFUTED


def test_a_damaged_result_is_named() -> None:
    with pytest.raises(TengenError, match="there: is no result"):
        Result.from_json({"tables": [{"title": 3}]}, "there")


def test_cards_of_shipped_models_tell_what_was_measured() -> None:
    assert any(got.what.startswith("exact score") for got in card_results("scorer"))
    assert card_results("no-such-model") == []
