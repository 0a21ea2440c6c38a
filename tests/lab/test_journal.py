"""Finished work is noted line by line, done once, and survives a torn line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tengen.errors import TengenError
from tengen.lab.content import Line, Picture, Plot, Result, table
from tengen.lab.journal import Journal, Row
from tengen.lab.written import write_result


def double(number: int) -> Row:
    return {"twice": 2 * number}


def test_jobs_are_done_once_and_come_back_in_order(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "deep" / "work.jsonl")
    told: list[tuple[int, int]] = []
    first = journal.complete({"b": 2, "a": 1}, double, tell=lambda *shares: told.append(shares))
    assert first == [{"key": "b", "twice": 4}, {"key": "a", "twice": 2}]
    assert told == [(1, 2), (2, 2)]
    again = journal.complete({"a": 1, "c": 3, "b": 2}, double, tell=lambda *s: told.append(s))
    assert [row["twice"] for row in again] == [2, 6, 4] and told[2:] == [(3, 3)]
    assert [row["key"] for row in journal.rows()] == ["b", "a", "c"]
    assert Journal(None).complete({"a": 1}, double) == [{"key": "a", "twice": 2}]


def test_a_torn_line_is_dropped_and_a_damaged_one_named(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "work.jsonl")
    journal.complete({"a": 1, "b": 2}, double)
    whole = journal.path and journal.path.read_text()
    assert journal.path and whole
    journal.path.write_text(whole[:-5])
    assert journal.complete({"a": 1, "b": 2}, double)[1]["twice"] == 4
    assert journal.path.read_text() == whole
    for damage in ("nonsense\n", '["no", "row"]\n', '{"twice": 1}\n'):
        journal.path.write_text(damage + whole)
        with pytest.raises(TengenError, match="is damaged"):
            journal.rows()


def test_a_result_is_written_as_numbers_tables_and_figures(tmp_path: Path) -> None:
    figure = Plot("Figure 4: wins", "games", "wins", [Line("a", [0, 1], [0.5, 0.6])])
    result = Result(
        tables=[table("Table 1", ["a", "b"], [[1, "x|y"]], note="A note.")],
        figures=[figure, Picture("Drawn", "<svg></svg>")],
        data={"value": 1.5},
    )
    write_result(tmp_path, result)
    assert json.loads((tmp_path / "result.json").read_text()) == {"value": 1.5}
    assert "| 1 | x\\|y |" in (tmp_path / "tables.md").read_text()
    assert "<svg" in (tmp_path / "figure-4-wins.svg").read_text()
    assert (tmp_path / "drawn.svg").read_text() == "<svg></svg>"
