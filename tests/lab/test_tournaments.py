"""Tournaments become tables and plots; recorded self-play agrees with the documentation."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from tengen.lab import tournaments as lab
from tengen.lab.steps import LabContext, NoSettings
from tengen.statistics import wilson

ROOT = Path(__file__).parents[2]


def test_a_tournament_becomes_tables_and_a_plot(tmp_path: Path) -> None:
    players = {"a": {"spec": "maxlib", "elo": 0.0}, "b": {"spec": "random"}}
    settings = {"kind": "round-robin", "games": 2, "size": 5, "seed": 1, "players": players}
    told: list[tuple[int, int]] = []
    report = lambda done, total: told.append((done, total))  # noqa: E731
    results = lab.play(tmp_path / "t.sqlite", settings, workers=1, report=report)
    assert told[-1] == (2, 2)
    table = lab.standings(results, "S")
    assert {row[0] for row in table.rows} == {"a", "b"} and "anchor" in str(table.rows)
    cross = lab.cross_table(results)
    assert cross.columns == ["", *(row[0] for row in table.rows)]
    assert cross.shade is not None and cross.shade[0][0] is None
    assert [dot.name for dot in lab.elo_plot(results).rows] == [row[0] for row in table.rows]
    # Called again, it plays nothing.
    assert lab.standings(lab.play(tmp_path / "t.sqlite", settings, workers=1), "S") == table


def test_void_games_are_not_counted() -> None:
    told: list[tuple[int, int]] = []
    counter = lab._Counter(lambda done, of: told.append((done, of)))
    counter.begin(4, 1)
    for void in (False, True):
        counter.finished(SimpleNamespace(is_void=void))  # type: ignore[arg-type]
    assert told == [(1, 4), (2, 4), (2, 4)]


def test_the_documentation_says_the_same() -> None:
    page = (ROOT / lab.SELF_PLAY_PAGE).read_text()
    for row in lab.self_play_networks():
        assert row.command in page and f"| {row.weights:,} | {row.games:,} |" in page
        for won in (row.one_ply, row.first_choice, row.against_static):
            if won is not None:
                low, high = wilson(*won)
                cell = f"{won[0]} of {won[1]} [{100 * low:.0f}, {100 * high:.0f}]"
                assert f"| {cell} " in page


def test_the_page_shows_every_training(tmp_path: Path) -> None:
    found = lab.from_nothing(LabContext(tmp_path, 1, 1), NoSettings())
    names = [row.network for row in lab.self_play_networks()]
    assert [row[0] for row in found.tables[0].rows] == names
    assert [dot.name for dot in found.figures[0].rows] == names  # type: ignore[union-attr]
    assert len(found.figures[1].rows) < len(names)  # type: ignore[union-attr]
