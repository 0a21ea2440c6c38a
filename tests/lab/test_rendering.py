"""The page holds what the steps gave, escapes it, needs no network, and says the same twice."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tengen.board import Board
from tengen.lab.drawing import COLOURS, INK, draw, kernel_sheet, pattern
from tengen.lab.rendering import gather, parts, write_report
from tengen.lab.result import Bars, Dot, Dots, Findings, Picture, Plot, Series, Table, line
from tengen.lab.steps import LabContext, Step, run_steps
from tengen.lab.verdicts import compare

LINE = line("one", [1, 2], [3, 4], [(2, 4), (3, 5)])
PLOTS = {
    "lines": Plot("F <2>", "games", "wins", [LINE, LINE], rules={"paper": 3.0}),
    "logarithmic": Plot("L", "batches", "error", [line("a", range(50), range(1, 51))], log=True),
    "bars": Bars("B", "%", ["x", "y"], [Series("here", [1, -2], [[0, 2], [-3, 0]])]),
    "dots": Dots("D", "Elo", [Dot("a", 1.0, 0.0, 2.0), Dot("b", 0.0, 0.0, 0.0)]),
}


def good(context: LabContext) -> Findings:
    return Findings(
        text="Some <b>text</b> by `tengen lab`.",
        points=["1. One.", "2. Two."],
        points_title="Why",
        tables=[Table("T <1>", ["a", "b"], [["x", 1]], note="n", shade=[[None, 0.5]])],
        figures=[*PLOTS.values(), Picture("P", Board(5).svg())],
        comparisons=[
            compare("huang.table5.A", 0.8, (0.7, 0.9), detail="that's it", why="so"),
            compare("huang.table5.AB", text="40 %", why="too small"),
        ],
    )


STEPS = [Step("good", "opening-td", "Good", good), Step("missing", "self-play", "Missing", good)]


def made(folder: Path) -> str:
    done = run_steps(STEPS[:1], LabContext(folder, 3, 1))
    return write_report(folder, STEPS, done).read_text()


def test_the_page_is_well_formed_and_needs_no_network(tmp_path: Path) -> None:
    page = made(tmp_path)
    # As XML but for its head and one attribute without a value.
    plain = re.sub("<!doctype html>|<meta[^>]*>", "", page).replace("<details open>", "<details>")
    root = ElementTree.fromstring(plain.replace("&nbsp;", " "))
    links = ("src", "href", "{http://www.w3.org/1999/xlink}href")
    addresses = [each.get(name) for each in root.iter() for name in links if each.get(name)]
    assert addresses and all(address.startswith("#") for address in addresses)
    assert not re.search(r"@import|url\(\s*['\"]?http|fetch\(", page)


def test_the_page_holds_everything_and_escapes_text(tmp_path: Path) -> None:
    page = made(tmp_path)
    for title, authors, _ in parts().values():
        assert title in page and authors in page
    texts = ("T &lt;1&gt;", "&lt;b&gt;text", "that&#39;s it", "F &lt;2&gt;", "tengen lab missing")
    for text in (*texts, "<code>tengen lab</code>"):
        assert text in page
    assert '"badge refuted"' in page and "1 figure not measured at this scale" in page
    assert "--seed 3" in page and "<li>One.</li>" in page


def test_the_same_results_give_the_same_page(tmp_path: Path) -> None:
    first = made(tmp_path)
    assert first == made(tmp_path)
    assert (tmp_path / "results.md").read_text().startswith("# Results")


def test_results_md_has_tables_comparisons_and_costs(tmp_path: Path) -> None:
    made(tmp_path)
    text = (tmp_path / "results.md").read_text()
    for part in (
        "## Openings by temporal differences",
        "| Table 5 | A: binary over scalar: that's it | 50.0 % | 80.0 % [70, 90] |",
        "**T <1>**",
        "| x | 1 |",
        "## Cost",
        "Seed 3; tengen ",
    ):
        assert part in text
    assert "### Missing" not in text and text.count("\n## ") >= len(parts()) - 1


def test_the_glance_counts_verdicts_by_place(tmp_path: Path) -> None:
    done = run_steps(STEPS[:1], LabContext(tmp_path, 3, 1))
    page = gather(tmp_path, STEPS, done)
    (section,) = [replace(s, runs=()) for s in page.sections if s.blocks]
    expected = [("refuted", 1), ("not measured at this scale", 1)]
    assert section.places == [("Table 5", expected)]
    assert len(section.comparisons) == 2 and not page.complete
    assert len(page.comparisons) == sum(count for _, count in page.words)
    assert page.cost[0][0] == "good" and page.cost[0][-1]
    assert section.blocks == [(STEPS[0], done["good"])]


def test_the_command_prints_text_tables_and_comparisons(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tengen.cli.lab import _print_findings

    _print_findings(good(LabContext(tmp_path, 3, 1)))
    text = capsys.readouterr().out
    for part in ("Some <b>text</b> by", "Why:", "  1. One.", "T <1>", "80.0 %", "refuted"):
        assert part in text


@pytest.mark.parametrize("name", PLOTS)
def test_plots_are_well_formed_and_leave_colours_to_the_page(name: str) -> None:
    text = draw(PLOTS[name])
    assert ElementTree.fromstring(text).tag.endswith("svg")
    assert f"var(--c1, {COLOURS[0]})" in text and f"var(--soft, {INK})" in text
    assert not re.search(rf"(?<!, ){INK}", text)
    assert 'width="' not in text.partition(">")[0]


def test_kernels_are_drawn_by_place_and_sign() -> None:
    kernels = np.zeros((2, 1, 1))
    kernels[:, 0, 0] = 1.0, -0.5
    text = kernel_sheet(kernels, [(0, 0), (1, 0)], ["T1"], ["empty"])
    root = ElementTree.fromstring(text)
    fills = [p.get("fill") for p in root.iter("{http://www.w3.org/2000/svg}path") if p.get("fill")]
    assert fills == ["var(--cold)", "var(--hot)"]
    hot = next(p for p in root.iter() if p.get("fill") == "var(--hot)")
    cold = next(p for p in root.iter() if p.get("fill") == "var(--cold)")
    # East of the centre: one cell to the right, the same height.
    (x, y), (east, level) = (
        [float(v) for v in re.match(r"M(\S+) (\d+)", p.get("d", "")).groups()]  # type: ignore[union-attr]
        for p in (hot, cold)
    )
    assert (east - x, level - y) == (5, 0)


def test_patterns_show_own_and_enemy_stones_and_the_edge() -> None:
    root = ElementTree.fromstring(pattern(["?X?", "O..", "###"]))
    circles = [c.get("fill") for c in root.iter("{http://www.w3.org/2000/svg}circle")]
    assert circles == ["#111", "#fafafa", "#c0392b"]
