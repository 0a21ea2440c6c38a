"""A tournament of the laboratory is played once and becomes tables and a plot."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from tengen.lab.tournaments import _Counter, cross_table, elo_plot, play, standings


def test_a_tournament_becomes_tables_and_a_plot(tmp_path: Path) -> None:
    settings = {
        "kind": "round-robin",
        "games": 2,
        "size": 5,
        "seed": 1,
        "players": {"a": {"spec": "maxlib", "elo": 0.0}, "b": {"spec": "random"}},
    }
    told: list[tuple[int, int]] = []
    tell = lambda done, of: told.append((done, of))  # noqa: E731
    results = play(tmp_path / "t.sqlite", settings, workers=1, tell=tell)
    assert told[-1] == (2, 2)
    table = standings(results, "S")
    assert {row[0] for row in table.rows} == {"a", "b"} and "anchor" in str(table.rows)
    cross = cross_table(results, "C")
    assert cross.columns == ["", *(row[0] for row in table.rows)]
    assert cross.shade is not None and cross.shade[0][0] is None
    assert [dot.name for dot in elo_plot(results, "E").rows] == [row[0] for row in table.rows]
    # Called again, it plays nothing.
    assert standings(play(tmp_path / "t.sqlite", settings, workers=1), "S") == table


def test_void_games_are_not_counted() -> None:
    told: list[tuple[int, int]] = []
    counter = _Counter(lambda done, of: told.append((done, of)))
    counter.begin(4, 1)
    for void in (False, True):
        counter.finished(SimpleNamespace(is_void=void))  # type: ignore[arg-type]
    assert told == [(1, 4), (2, 4), (2, 4)]
