"""The laboratory runs each step once, goes on after a kill, and makes a page of what there is."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tengen.errors import TengenError
from tengen.lab.plots import draw
from tengen.lab.report import PARTS, write_report
from tengen.lab.steps import Context, Result, Step, results, run_steps

CALLS: list[str] = []


def good(context: Context) -> Result:
    CALLS.append("good")
    table = {"title": "T <1>", "columns": ["a", "b"], "rows": [["x", 1]], "note": "n"}
    line = {"name": "one", "x": [1, 2], "y": [3, 4], "low": [2, 3], "high": [4, 5]}
    figure = {"title": "F", "x": "games", "y": "wins", "lines": [line, line]}
    return {"tables": [table], "figures": [figure], "verdict": "agrees", "seed": context.seed}


def broken(context: Context) -> Result:
    CALLS.append("broken")
    raise KeyboardInterrupt


STEPS = [Step("good", "board", "Good", good), Step("broken", "player", "Broken", broken)]


def context(folder: Path, seed: int = 3) -> Context:
    return Context(folder, seed, 1, lambda text: None)


def test_finished_steps_are_kept_and_not_run_again(tmp_path: Path) -> None:
    CALLS.clear()
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            run_steps(STEPS, context(tmp_path))
    assert CALLS == ["good", "broken", "broken"]
    assert results(tmp_path)["good"]["result"]["seed"] == 3


def test_another_seed_is_refused(tmp_path: Path) -> None:
    run_steps(STEPS[:1], context(tmp_path))
    with pytest.raises(TengenError, match="holds a run with seed = 3"):
        run_steps(STEPS[:1], context(tmp_path, seed=4))


def test_damaged_results_are_named(tmp_path: Path) -> None:
    run_steps(STEPS[:1], context(tmp_path))
    (tmp_path / "steps" / "good.json").write_text("{")
    with pytest.raises(TengenError, match=r"good\.json: is no result of a step"):
        results(tmp_path)


def test_the_page_holds_every_part_and_escapes_text(tmp_path: Path) -> None:
    done = run_steps(STEPS[:1], context(tmp_path))
    page = write_report(tmp_path, STEPS, done).read_text()
    for title, _ in PARTS.values():
        assert title in page
    assert "T &lt;1&gt;" in page and "agrees" in page and "Broken: not run." in page
    assert page == write_report(tmp_path, STEPS, done).read_text()
    assert "http://" not in page.replace("http://www.w3.org", "").replace(
        "http://purl.org", ""
    ).replace("http://creativecommons.org", "")


def test_plots_are_well_formed_svg() -> None:
    line = {"name": "a", "x": list(range(50)), "y": list(range(50))}
    text = draw({"title": "t", "lines": [line]})
    assert ElementTree.fromstring(text).tag.endswith("svg")
