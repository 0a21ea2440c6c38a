"""Write the tables of the papers' pages anew from the recorded rows; `--check` only compares.

A page names what it takes: everything from `<!-- rows PAPER NAME -->` to `<!-- end -->` is
replaced, where NAME is `claims`, `questions` or the key of a table.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from tengen.lab.report import CLAIM_COLUMNS, PaperReport, claim_row

PAGES = Path(__file__).parents[1] / "docs"
_PART = re.compile(r"(<!-- rows (\w+) ([\w-]+) -->\n).*?(<!-- end -->)", re.S)


def written(text: str) -> str:
    """Return a page with its parts from rows written anew."""
    return _PART.sub(lambda found: found[1] + _part(found[2], found[3]) + found[4], text)


def _part(paper: str, name: str) -> str:
    module = importlib.import_module(f"tengen.papers.{paper}.report")
    found: PaperReport = module.report(Path(module.__file__).with_name("data"))
    if name == "claims":
        return _table(CLAIM_COLUMNS, [claim_row(claim) for claim in found.claims])
    if name == "questions":
        rows = [[q["question"], q["answer"], f"{q['units']} trainings"] for q in found.questions]
        return _table(["question", "answer", "independent"], rows)
    [table] = [table for table in found.tables if table.key == name]
    return _table(table.columns, table.rows) + (f"\n{table.note}\n" if table.note else "")


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def main() -> int:
    """Write or check all pages; return the exit status."""
    stale = []
    for page in sorted(PAGES.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if (new := written(text)) != text:
            stale.append(page)
            if "--check" not in sys.argv:
                page.write_text(new, encoding="utf-8")
    for page in stale:
        print(page, "is not what the rows say" if "--check" in sys.argv else "written")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
