"""`tengen life`: the survival of blocks as table, picture and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from tengen.board import BLACK, Board
from tengen.cli import run
from tengen.review.survival import BlockSurvival, Survival, default_models, survival

Out = pytest.CaptureFixture[str]
# Two walls, a white stone behind Black's, then a move more.
GAME = "(;SZ[5]AB[ca][cb][cc][cd][ce]AW[da][db][dc][dd][de][aa];B[bb];W[ea])"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "game.sgf"
    path.write_text(GAME)
    return path


def test_chances_are_shares_of_what_a_block_owns() -> None:
    class Known:
        def ownership(self, board: Board) -> Any:
            owner = np.full(25, 0.5)
            owner[:2] = -1.0, 1.0
            return owner

        def values(self, boards: Any) -> Any:
            return np.zeros(len(boards))

    board = Board.from_ascii("X X . . .\n. . . . .\n. . O . .\n. . . . .\n. . . . .")
    found = survival(board, {"known": Known()})
    assert [(block.name, block.chances["known"]) for block in found.blocks] == [
        ("C3", 0.25),
        ("A5", 0.5),
    ]
    assert found.svg().count('opacity="0.45"') == 1  # the white stone is faint
    assert survival(Board(5), {"known": Known()}).blocks == ()


def test_table_picture_and_json(file: Path, tmp_path: Path, capsys: Out) -> None:
    picture = tmp_path / "life.svg"
    assert run(["life", str(file), "--out", str(picture)]) == 0
    text, errors = capsys.readouterr()
    assert "chance to live" in text and "life" in text and str(picture) in errors
    ElementTree.fromstring(picture.read_text())
    assert run(["life", str(file), "--move", "1", "--json", "--model", "life"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["models"] == ["life"] and value["move"] == 1
    lone = next(block for block in value["blocks"] if block["block"] == "A5")
    wall = next(block for block in value["blocks"] if block["block"].startswith("C"))
    assert lone["colour"] == "white" and len(wall["stones"]) == 5
    assert 0 <= lone["chances"]["life"] < 0.5 < wall["chances"]["life"] <= 1


def test_mistakes(file: Path, capsys: Out) -> None:
    for options, reason in (
        (["--model", "predictor-small"], "does not say who will own what"),
        (["--model", "nobody"], "nobody"),
        (["--out", str(file)], "is what is read"),
        (["--move", "9"], "9"),
    ):
        assert run(["life", str(file), *options]) == 1
        assert reason in capsys.readouterr().err
    assert file.read_text() == GAME


def test_one_board_is_drawn_per_model() -> None:
    board = Board.from_ascii("X . O\n. . .\n. . .")
    block = BlockSurvival((board.point("A3"),), BLACK, {"life": 0.25, "other": 1.0})
    assert block.to_dict()["block"] == block.name == "A3" and block.to_dict()["colour"] == "black"
    drawing = Survival(board, (block,), ("life", "other")).svg()
    assert drawing.count(">life<") == 1 == drawing.count(">other<")
    assert "25" in drawing and drawing.rstrip().endswith("</svg>")


def test_default_models_give_ownership() -> None:
    models = default_models(9, 9)
    assert models and all(len(model.ownership(Board(9))) == 81 for model in models.values())
