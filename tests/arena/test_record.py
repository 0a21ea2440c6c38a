"""Ratings of shipped players are kept in one readable file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tengen.arena.placing import Placing, record, recorded
from tengen.errors import SpecError


def test_a_new_rating_takes_the_place_of_the_old(tmp_path: Path) -> None:
    path = tmp_path / "ratings.json"
    assert recorded(path) == []
    record(Placing("static", 100.0, (50.0, 150.0)), "9", 1, path)
    record(Placing("maxlib", 900.0, (850.0, 950.0)), "9", 1, path)
    record(Placing("static", 120.0, (60.0, 160.0)), "9", 2, path)
    record(Placing("static", 1.0, (0.0, 2.0)), "13", 2, path)
    found = [(e["size"], e["player"], e["elo"]) for e in recorded(path)]
    assert found == [("13x13", "static", 1.0), ("9x9", "maxlib", 900.0), ("9x9", "static", 120.0)]


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ratings.json"
    path.write_text('[{"player": "x"}]')
    with pytest.raises(SpecError, match=r"ratings\.json"):
        recorded(path)
