"""How commands talk: faults are told up to a number, results once, a closed input is named."""

from __future__ import annotations

import json
import sys

import pytest

from tengen.cli.options import Position
from tengen.cli.printing import emit_result, standard_input, tell_faults
from tengen.errors import TengenError
from tengen.lab.content import Result, Table

Out = pytest.CaptureFixture[str]


def test_the_first_twenty_faults_are_told_and_the_rest_counted(capsys: Out) -> None:
    tell_faults([f"game {i} is torn" for i in range(1025)])
    told = capsys.readouterr()
    lines = told.err.splitlines()
    assert told.out == "" and len(lines) == 21
    assert lines[19] == "game 19 is torn" and lines[20] == "and 1,005 more"
    tell_faults(["one"])
    assert capsys.readouterr().err == "one\n"
    tell_faults(["one"] * 30, quiet=True)
    assert capsys.readouterr().err == ""


def test_a_closed_standard_input_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(TengenError, match="standard input is closed"):
        standard_input()


def test_a_result_is_one_json_value_or_its_tables(capsys: Out) -> None:
    result = Result(tables=[Table("wins", ["who"], [["A"]])], data={"who": "A"})
    emit_result(result, json=True)
    assert json.loads(capsys.readouterr().out) == {"who": "A"}
    emit_result(result, json=True, value=[1])
    assert json.loads(capsys.readouterr().out) == [1]
    emit_result(result, json=False)
    assert "wins" in capsys.readouterr().out


def test_a_position_is_the_one_before_its_move(tmp_path) -> None:
    path = tmp_path / "two.sgf"
    path.write_text("(;SZ[5];B[aa];W[bb])(;SZ[5];B[cc];W[dd];B[ee])")
    record, board, number = Position(file=str(path), game=2, move=2).read()
    assert (len(record.moves), len(board.moves), number) == (3, 1, 2)
    _, board, number = Position(file=str(path)).read()
    assert (len(board.moves), number) == (2, 3)
