"""The papers' pages show what the recorded rows say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "write_tables.py"
SPEC = importlib.util.spec_from_file_location("write_tables", SCRIPT)
assert SPEC is not None and SPEC.loader is not None
write_tables = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(write_tables)
PAGES = [page for page in write_tables.PAGES.rglob("*.md") if "<!-- rows " in page.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_shows_what_the_rows_say(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert write_tables.written(text) == text, "run python scripts/write_tables.py"
    other = text.replace("| undecided |", "| agrees |")
    assert other != text and write_tables.written(other) == text


def test_there_are_such_pages() -> None:
    assert PAGES
