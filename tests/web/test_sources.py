"""The sources of the page: no module imports itself through others."""

import re
from graphlib import TopologicalSorter
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "web" / "src"


def test_no_module_of_the_page_is_in_a_circle() -> None:
    imports = {
        path.with_suffix(""): {
            (path.parent / found).resolve() for found in re.findall(r'"(\.\.?/[^"]+)"', text)
        }
        for path in SOURCES.rglob("*.ts*")
        if (text := path.read_text(encoding="utf-8"))
    }
    assert len(list(TopologicalSorter(imports).static_order())) >= len(imports) > 20
