"""CONTRIBUTING.md: its layers are those that are checked, its walks name files that exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
WALKS = TEXT.split("## A way through the code")[1].split("\n## ")[0].split("\n**")[1:]


def test_the_drawing_has_the_layers_in_their_order() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(c["layers"] for c in contracts if c["type"] == "layers")
    drawing = re.search(r"(?:^    .*\n)+", TEXT.split("## Where things are")[1], re.M)
    assert drawing is not None
    drawn = re.findall(r"^    (\w+(?:\.py)?(?:  \w+\.py)?) {2,}", drawing[0], re.M)
    names = [name.removesuffix(".py") for line in drawn for name in line.split()]
    assert [f"tengen.{name}" for name in names] == layers


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.split("**")[0])
def test_a_walk_names_as_many_files_as_it_says(walk: str) -> None:
    [said] = map(int, re.findall(r"(\d+) files:", walk))
    rows = [line.split("|")[2] for line in walk.splitlines() if line.startswith("| ")][1:]
    files = re.findall(r"`([\w/]+\.py)`", "".join(rows))
    assert len(set(files)) == len(files) == said
    assert all((ROOT / "src" / "tengen" / file).exists() for file in files)
