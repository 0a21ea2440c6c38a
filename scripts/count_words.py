"""Count the words of the README and of every page of the site; say whether there are too many.

Generated pages (the reference of the API, the commands, the model cards) and tables written from
rows are not counted.
"""

from __future__ import annotations

import re
from pathlib import Path

LIMIT = 34_000
ROOT = Path(__file__).parents[1]


def count_words() -> dict[str, int]:
    """Return the words of each page, by its path."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return {page.relative_to(ROOT).as_posix(): len(_written(page).split()) for page in pages}


def _written(page: Path) -> str:
    """Return the text of a page without the tables that `write_tables.py` puts into it."""
    return re.sub(r"<!-- rows .*?<!-- end -->", "", page.read_text(encoding="utf-8"), flags=re.S)


if __name__ == "__main__":
    counts = count_words()
    for name, words in sorted(counts.items(), key=lambda item: -item[1]):
        print(f"{words:6,} {name}")
    total = sum(counts.values())
    print(f"{total:6,} words on {len(counts)} pages; the limit is {LIMIT:,}")
    print("above the limit" if total > LIMIT else "within the limit")
