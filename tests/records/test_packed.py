"""Games packed for workers come out as they went in, with where they came from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tengen.errors import RecordError
from tengen.records.corpus import PackedGame, packed_games


def test_games_travel_with_their_places(tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_text("(;SZ[5];B[aa])(;SZ[5];B[bb];W[cc])")
    (tmp_path / "b.sgf").write_text("(;SZ[7];B[dd])")
    faults: list[str] = []
    games = list(packed_games([str(tmp_path)], faults.append))
    assert all(isinstance(game, PackedGame) for game in games) and not faults
    assert [(game.number, Path(game.file).name, game.game) for game in games] == [
        (1, "a.sgf", 1),
        (2, "a.sgf", 2),
        (3, "b.sgf", 1),
    ]
    records = [game.record() for game in games]
    assert [len(record.moves) for record in records] == [1, 2, 1]
    assert (records[1].file, records[1].game) == (games[1].file, 2)


def test_a_file_among_others_is_told_and_a_single_one_raises(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.sgf", tmp_path / "bad.sgf"
    good.write_text("(;SZ[5];B[aa])")
    bad.write_text("no game")
    faults: list[str] = []
    assert len(list(packed_games([str(bad), str(good)], faults.append))) == 1
    assert len(faults) == 1 and "bad.sgf" in faults[0]
    with pytest.raises(RecordError):
        list(packed_games([str(bad)], faults.append))
