"""CONTRIBUTING and the laboratory's guide name folders, files, functions and steps that exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import tengen
from tengen.lab.catalogue import steps
from tengen.lab.steps import FULL

ROOT = Path(__file__).parents[2]
SOURCE = Path(tengen.__file__).parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text()


def test_every_layer_has_a_row_in_order() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    named = re.findall(r"(?m)^\| `(\w+)/` \|", PAGE)
    assert named == [layer.removeprefix("tengen.") for layer in reversed(layers)]


def test_files_and_functions_on_the_ways_exist() -> None:
    ways = PAGE.partition("## Three ways")[2].partition("## Habits")[0]
    found = re.findall(r"`([\w/]+\.py)`(?: `(\w+)`)?", ways)
    assert len(found) >= 15
    for file, name in found:
        text = (SOURCE / file).read_text()
        pattern = rf"(?m)^\s*(?:(?:async )?def|class) {name}\b|^{name}\b"
        assert not name or re.search(pattern, text), f"{file}: {name}"


def test_tests_without_the_jit_are_named() -> None:
    files = {path.name for path in (ROOT / "tests").rglob("test*without_jit.py")}
    assert files <= set(re.findall(r"`(\w+\.py)`", PAGE))


def test_the_guide_lists_every_step_of_the_whole_laboratory() -> None:
    text = (ROOT / "docs" / "guide" / "laboratory.md").read_text()
    rows = re.findall(r"(?m)^\| ([a-z, -]+) \| .* \|.*\|$", text)
    named = [name for row in rows for name in row.split(", ") if name != "step"]
    assert sorted(named) == sorted(step.name for step in steps(FULL))
