"""The page holds what the rows say, escapes it, needs no network, and is the same twice."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from markupsafe import escape

from tengen.board import Board
from tengen.lab.decisions import Estimate
from tengen.lab.drawing import COLOURS, INK, draw
from tengen.lab.evidence import read_evidence, record_of, runs_in, write_evidence
from tengen.lab.papers import Claim, Paper, PaperSetting, papers
from tengen.lab.rendering import Page, Section, Source, report_page, write_page
from tengen.lab.report import PaperReport, claim_result, gain_answer
from tengen.lab.result import Bars, Dot, Dots, Picture, Plot, Series, Table, line
from tengen.lab.steps import Step

LINE = line("one", [1, 2], [3, 4], [(2, 4), (3, 5)])
PLOTS = {
    "lines": Plot("F <2>", "games", "wins", [LINE, LINE], rules={"paper": 3.0}),
    "logarithmic": Plot("L", "batches", "error", [line("a", range(50), range(1, 51))], log=True),
    "bars": Bars("B", "%", ["x", "y"], [Series("here", [1, -2], [[0, 2], [-3, 0]])]),
    "one bar": Bars("B", "%", ["x"], [Series("here", [1], [[1, 2]])]),
    "dots": Dots("D", "Elo", [Dot("a", 1.0, 0.0, 2.0), Dot("b", 0.0, 0.0, 0.0)]),
}


CLAIM = Claim("c", "Table <1>", "that's it", 0.75, no_effect=0.5, unit="%", headline=True)
PAPER = Paper(
    package="p", folder=Path("a_paper"), title="A paper", full_title="About <b>", authors="A, B",
    year=2000, venue="Here", bibtex="", line="It learns.", cost="Days.", quick="Only `a` sketch.",
    claims={"c": CLAIM}, settings=[PaperSetting("komi", "none", "5.5", "so")],
    questions={"q": "Does it?"}, more={},
)  # fmt: skip


def report_of(values: list[float], folder: Path) -> PaperReport:
    run = record_of("tengen lab a", [1], {}, seconds=1, cpu_seconds=1)
    write_evidence(folder / "curve", [{"value": value} for value in values], run)
    found = read_evidence(folder / "curve")
    return PaperReport(
        [claim_result(CLAIM, Estimate.of(values), found, full=False)],
        [Table("T <1>", ["a", "b"], [["x", 1]], note="n", shade=[[None, 0.5]])],
        [*PLOTS.values(), Picture("P", Board(5).svg())],
        [gain_answer(PAPER, "q", Estimate.of(values), found)],
    )


def page_of(folder: Path) -> str:
    """Return a page with a run of a few values beside recorded ones."""
    few, many = folder / "few", folder / "many"
    here = Source(report_of([0.7, 0.8], few), runs_in(few))
    recorded = Source(report_of([0.73, 0.76, 0.74, 0.77], many), runs_in(many))
    missing = Step("other", "a_paper", "Another", lambda context: [], "tengen lab other")
    section = Section(PAPER, recorded, here, [missing])
    page = Page([section], "tengen lab --seed 3", ["this run", "recorded"], "", "1 s", "", False)
    return write_page(folder / "report.html", page).read_text()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return page_of(tmp_path_factory.mktemp("page"))


def test_the_page_is_well_formed_and_needs_no_network(page: str) -> None:
    plain = re.sub("<!doctype html>|<meta[^>]*>", "", page)
    root = ElementTree.fromstring(plain.replace("&nbsp;", " "))
    links = ("src", "href", "{http://www.w3.org/1999/xlink}href")
    addresses = [each.get(name) for each in root.iter() for name in links if each.get(name)]
    assert addresses and all(address.startswith("#") for address in addresses)
    assert not re.search(r"@import|url\(\s*['\"]?http|fetch\(", page)


def test_the_page_holds_everything_and_escapes_text(page: str) -> None:
    texts = ("T &lt;1&gt;", "About &lt;b&gt;", "that&#39;s it", "F &lt;2&gt;", "tengen lab other")
    for text in (*texts, "<code>a</code>", "Table &lt;1&gt;", "tengen lab --seed 3", "5.5"):
        assert text in page


def test_a_run_and_the_recorded_rows_have_verdicts_of_their_own(page: str) -> None:
    assert '75.0 % [11, 139] <span class="badge undecided">' in page
    assert '75.0 % [72, 78] <span class="badge agrees">' in page


def test_the_same_results_give_the_same_page(page: str, tmp_path: Path) -> None:
    assert page_of(tmp_path) == page


def test_a_folder_of_rows_is_a_page_of_its_own(tmp_path: Path) -> None:
    found = {name: PaperReport() for name in papers()}
    page = write_page(tmp_path / "report.html", report_page(tmp_path, found)).read_text()
    for paper in papers().values():
        assert str(escape(paper.full_title)) in page


@pytest.mark.parametrize("name", PLOTS)
def test_plots_are_well_formed_and_leave_colours_to_the_page(name: str) -> None:
    text = draw(PLOTS[name])
    assert ElementTree.fromstring(text).tag.endswith("svg")
    assert f"var(--c1, {COLOURS[0]})" in text and f"var(--soft, {INK})" in text
    assert not re.search(rf"(?<!, ){INK}", text)
    assert 'width="' not in text.partition(">")[0]
