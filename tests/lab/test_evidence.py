"""Raw rows on disk: what is written is read again, and damage is one clear error."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tengen.errors import TengenError
from tengen.lab.evidence import ROWS, RUN, Evidence, read_evidence, record_of, write_evidence

GAMES = [
    {"seed": 1, "black": "a, b", "score": 0.5},
    {"seed": 1, "black": "c", "score": -3.0},
    {"seed": 2, "black": "a, b", "score": 1e-7},
]


def stored(folder: Path) -> Evidence:
    run = record_of("tengen lab X", [1, 2], {"games": 3}, seconds=1.26, cpu_seconds=2.0)
    write_evidence(folder, GAMES, run)
    return read_evidence(folder)


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    found = stored(tmp_path)
    rows = zip(*(found[name].tolist() for name in GAMES[0]), strict=True)
    assert [dict(zip(GAMES[0], row, strict=True)) for row in rows] == GAMES
    assert found.run.rows == len(found) == 3 and found.run.seeds == [1, 2]
    assert [(seed, len(part)) for seed, part in found.groups("seed")] == [(1, 2), (2, 1)]
    assert found.where(seed=1, black="c")["score"].tolist() == [-3.0]


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    stored(tmp_path / "a"), stored(tmp_path / "b")
    assert (tmp_path / "a" / ROWS).read_bytes() == (tmp_path / "b" / ROWS).read_bytes()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=16), min_size=1))
def test_numbers_survive(tmp_path_factory: pytest.TempPathFactory, numbers: list[float]) -> None:
    folder = tmp_path_factory.mktemp("rows")
    run = record_of("", [], {}, seconds=0, cpu_seconds=0)
    write_evidence(folder, ({"x": x} for x in numbers), run)
    assert read_evidence(folder)["x"].tolist() == pytest.approx(numbers, rel=1e-9)


def test_damage_is_one_clear_error(tmp_path: Path) -> None:
    stored(tmp_path)
    packed = (tmp_path / ROWS).read_bytes()
    lines = gzip.decompress(packed).splitlines(keepends=True)
    for broken in (packed[:-9], b"", gzip.compress(b"".join(lines[:-1])), gzip.compress(b"\xff")):
        (tmp_path / ROWS).write_bytes(broken)
        with pytest.raises(TengenError, match=ROWS):
            read_evidence(tmp_path)
    (tmp_path / ROWS).write_bytes(packed)
    about = json.loads((tmp_path / RUN).read_text())
    for wrong in ("", "[]", json.dumps({**about, "rows": 4}), json.dumps({**about, "seeds": "x"})):
        (tmp_path / RUN).write_text(wrong)
        with pytest.raises(TengenError, match=str(tmp_path)):
            read_evidence(tmp_path)
    with pytest.raises(TengenError, match="no such file"):
        read_evidence(tmp_path / "nowhere")
