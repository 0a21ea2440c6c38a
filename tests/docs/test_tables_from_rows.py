"""The pages show what the recorded rows and databases say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "write_tables.py"
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


def test_there_are_such_pages() -> None:
    assert {"README.md", "opening-evolution.md"} <= {page.name for page in PAGES}
