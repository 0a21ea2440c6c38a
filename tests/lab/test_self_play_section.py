"""The recorded trainings from nothing: shown on the page, and told by the documentation alike."""

from __future__ import annotations

from pathlib import Path

from tengen.lab.sections.self_play import PAGE, learned, story
from tengen.lab.steps import Context
from tengen.statistics import wilson

ROOT = Path(__file__).parents[2]


def test_the_documentation_says_the_same() -> None:
    page = (ROOT / PAGE).read_text()
    for row in learned():
        assert row.command in page and f"| {row.weights:,} | {row.games:,} |" in page
        for won in (row.one_ply, row.first_choice, row.against_static):
            if won is not None:
                low, high = wilson(*won)
                cell = f"{won[0]} of {won[1]} [{100 * low:.0f}, {100 * high:.0f}]"
                assert f"| {cell} " in page


def test_the_page_shows_every_training(tmp_path: Path) -> None:
    found = story(Context(tmp_path, 1, 1), True)
    names = [row.network for row in learned()]
    assert [row[0] for row in found.tables[0].rows] == names
    assert [dot.name for dot in found.figures[0].rows] == names  # type: ignore[union-attr]
    assert len(found.figures[1].rows) < len(names)  # type: ignore[union-attr]
