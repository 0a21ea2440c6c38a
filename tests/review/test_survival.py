"""Survival of blocks, and `tengen predict --ownership` that shows it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from tengen.board import Board
from tengen.cli import run
from tengen.scoring.judging import draw_survival, survival

Out = pytest.CaptureFixture[str]
# Two walls, a white stone behind Black's, then a move more.
GAME = "(;SZ[5]AB[ca][cb][cc][cd][ce]AW[da][db][dc][dd][de][aa];B[bb];W[ea])"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "game.sgf"
    path.write_text(GAME)
    return path


def test_the_chance_is_the_share_that_a_block_owns() -> None:
    owner = np.full(25, 0.5)
    owner[:2] = -1.0, 1.0
    board = Board.from_ascii("X X . . .\n. . . . .\n. . O . .\n. . . . .\n. . . . .")
    found = survival(board, owner)
    assert [(str(block.stones[0]), block.chance) for block in found] == [("C3", 0.25), ("A5", 0.5)]
    assert found[0].to_dict() == {"colour": "white", "stones": ["C3"], "survival": 0.25}
    drawing = draw_survival(board, found)
    assert drawing.count('opacity="0.45"') == 1  # the white stone is faint
    assert ">25<" in drawing
    assert survival(Board(5), owner) == []


def test_table_picture_and_json(file: Path, tmp_path: Path, capsys: Out) -> None:
    picture = tmp_path / "survival.svg"
    assert run(["predict", str(file), "--ownership", "--out", str(picture)]) == 0
    text, errors = capsys.readouterr()
    assert "Survival" in text and "Black's chance" in text and str(picture) in errors
    ElementTree.fromstring(picture.read_text())
    options = ["--move", "1", "--json", "--model", "tengen-small"]
    assert run(["predict", str(file), "--ownership", *options]) == 0
    value = json.loads(capsys.readouterr().out)
    assert (value["model"], value["move"]) == ("tengen-small", 1)
    assert 0 <= value["win_probability"] <= 1 and isinstance(value["score"], float)
    assert np.shape(value["ownership"]) == (5, 5)
    assert sorted(len(group["stones"]) for group in value["groups"]) == [1, 5, 5]
    assert all(0 <= group["survival"] <= 1 for group in value["groups"])
    wall = next(g for g in value["groups"] if len(g["stones"]) == 5 and g["colour"] == "white")
    owned = [value["ownership"][row][3] for row in range(5)]
    assert wall["survival"] == pytest.approx((1 - np.mean(owned)) / 2)


def test_mistakes(file: Path, tmp_path: Path, capsys: Out) -> None:
    for options, reason in (
        (["--ownership", "--model", "isn-9x9"], "isn-9x9"),
        (["--ownership", "--model", "nobody"], "nobody"),
        (["--ownership", "--out", str(file)], "is what is read"),
        (["--out", str(tmp_path / "x.svg")], "--out needs --ownership"),
        (["--move", "9"], "9"),
    ):
        assert run(["predict", str(file), *options]) == 1
        assert reason in capsys.readouterr().err
    assert file.read_text() == GAME
