"""The pages show what the recorded rows and databases say."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "write_tables.py"
SPEC = importlib.util.spec_from_file_location("write_tables", SCRIPT)
assert SPEC is not None and SPEC.loader is not None
write_tables = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(write_tables)
PAGES = [page for page in write_tables.PAGES if "<!-- rows " in page.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_shows_what_the_rows_say(page: Path) -> None:
    text, links = page.read_text(encoding="utf-8"), write_tables.links_from(page)
    assert write_tables.written(text, links) == text, "run python scripts/write_tables.py"


def test_what_is_not_in_the_rows_is_replaced() -> None:
    page = "a\n<!-- rows opening-evolution claims -->\n| typed |\n<!-- end -->\nb\n"
    written = write_tables.written(page)
    assert "typed" not in written and "Table I" in written
    assert written.startswith("a\n") and written.endswith("<!-- end -->\nb\n")


TYPED = re.compile(
    r"\[-?[\d.]+, -?[\d.]+\]"  # an interval
    r"|\d ± ?\d"
    r"|^\|.*\d ?%"  # a rate in a table
    r"|^\|.*\b\d+ of \d+\b",
    re.M,
)
MEASURED = [
    ROOT / "README.md",
    *(ROOT / "docs" / name for name in ("index.md", "models.md", "results.md")),
    *sorted((ROOT / "docs" / "results").glob("*.md")),
    *sorted((ROOT / "docs" / "papers").glob("*.md")),
]


def typed(page: str) -> list[str]:
    """Return what looks like a figure of an experiment and stands outside of written parts."""
    return [found[0] for found in TYPED.finditer(write_tables.PART.sub("", page))]


@pytest.mark.parametrize("page", MEASURED, ids=lambda page: page.name)
def test_no_figure_is_typed(page: Path) -> None:
    assert not typed(page.read_text(encoding="utf-8"))


def test_the_check_finds_typed_figures() -> None:
    rows = "<!-- rows paper claims -->\n| 30 % [20, 40] |\n<!-- end -->\n"
    assert not typed(f"of 95 %\n{rows}")
    for figure in ("30 % [20, 40]", "| a | 30 % |", "| 3 of 40 |", "0.3 ± 0.1"):
        assert len(typed(rows + figure)) == 1


def test_there_are_such_pages() -> None:
    assert {"README.md", "opening-evolution.md"} <= {page.name for page in PAGES}


MATCHES = tomllib.loads((ROOT / "docs" / "results" / "matches.toml").read_text(encoding="utf-8"))
RECORDED = [match for match in MATCHES["match"] if "file" in match]


@pytest.mark.parametrize("match", RECORDED, ids=lambda match: match["file"])
def test_a_match_is_counted_from_its_games(match: dict[str, Any]) -> None:
    path = ROOT / "docs" / "results" / "data" / "matches" / f"{match['file']}.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        winners = [(row["a"], row["winner"]) for row in csv.DictReader(file)]
    won = sum(0.5 if not winner else float(winner == player) for player, winner in winners)
    assert (won, len(winners)) == (match["won"], match["games"])
