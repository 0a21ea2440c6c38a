"""Answers: opinions of models, corners, pictures."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from tengen.board import Board
from tengen.explorer import Answer, NextMove, Openings, build, explore, picture
from tengen.explorer.answers import cells
from tengen.models import registry as asking
from tengen.models.registry import Opinions, opinions_on

GAMES = """
(;SZ[9]RE[B+R];B[gc];W[ge];B[cg];W[ee])(;SZ[9]RE[W+R];B[cc];W[cg];B[ec];W[ce])
(;SZ[9]RE[W+R];B[cc];W[gg];B[ec];W[tt])(;SZ[9];W[cc];B[ee];W[ce])
"""


@pytest.fixture
def openings(tmp_path: Path) -> Openings:
    (tmp_path / "g.sgf").write_text(GAMES)
    return build([tmp_path / "g.sgf"], tmp_path / "g.openings")


class Even:
    """A policy that finds all moves alike, and an evaluator that counts stones."""

    def priors(self, board: Board) -> np.ndarray:
        return np.full(board.rows * board.cols + 1, 1 / (board.rows * board.cols + 1))

    def values(self, boards: list[Board]) -> np.ndarray:
        return np.array([float((board.grid() != 0).sum()) for board in boards])


def test_opinions_are_of_all_points_that_count_together(openings: Openings) -> None:
    answer = explore(
        openings, Board(9), policies={"network": Even()}, evaluators={"opening": Even()}
    )
    [first] = answer.moves
    assert (first.name, len(first.points), first.count, first.share) == ("G7", 4, 4, 1.0)
    assert first.opinions == {"network": pytest.approx(4 / 82), "opening": 1.0}
    told = answer.to_dict()
    assert told["games"] == told["collection"] == 4
    assert told["moves"][0]["network"] == pytest.approx(4 / 82)
    assert explore(openings, Board(9)).to_dict()["moves"][0]["network"] is None
    assert sorted(told["moves"][0]["same"]) == ["C3", "C7", "G3"]


def test_a_corner_knows_the_answers_there_and_elsewhere(openings: Openings) -> None:
    board = Board(9, moves="B G7")
    answer = explore(openings, board, corner=True, policies={"network": Even()})
    # Every first stone in a corner was answered outside it; seven corners were begun.
    assert (answer.corner, answer.games, answer.elsewhere) == ("top right", 0, 7)
    assert answer.moves == ()
    empty = explore(openings, Board(9), corner=True, policies={"network": Even()})
    assert (empty.games, empty.elsewhere) == (7, 0)
    [first] = empty.moves
    assert (first.count, first.opinions["network"]) == (7, pytest.approx(1 / 16))
    other = explore(openings, Board(9, moves="B pass"), corner=True)
    assert other.games == 7


def test_a_limit_cuts_moves_and_not_counts(openings: Openings) -> None:
    board = Board(9, moves="B G7")
    whole, cut = explore(openings, board), explore(openings, board, limit=1)
    assert len(whole.moves) > 1
    assert (len(cut.moves), cut.games) == (1, whole.games)
    assert cut.moves[0] == whole.moves[0]


def test_the_picture_is_svg_with_every_move(openings: Openings) -> None:
    for corner in (False, True):
        answer = explore(openings, Board(9), corner=corner, policies={"network": Even()})
        drawn = picture(answer)
        ElementTree.fromstring(drawn)
        assert "Black to play" in drawn
        assert ">a</text>" in drawn
        assert "G7" in drawn
    assert "a" in answer.ascii()
    assert isinstance(answer, Answer)
    nowhere = explore(openings, Board(9, moves="B A1"))
    ElementTree.fromstring(picture(nowhere))


def test_numbers_for_people() -> None:
    point = Board(9).point("G7")
    move = NextMove(
        (point,), 1234, 0.5, 0, 0, "", "", ("g.sgf", 1), {"network": 0.25, "opening": -3.14}
    )
    told = cells(move, ["network", "opening"])
    assert told == ["G7", "1,234", "50.0 %", "", "25.0 %", "-3.1"]


def test_models_are_asked_where_they_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str] = []
    there = {"td-best-9x9", "tengen-judge", "tengen-large"}
    monkeypatch.setattr(asking, "has_model", lambda name: name in there)
    monkeypatch.setattr(asking, "load_policy", lambda name, shared: found.append(name) or Even())
    monkeypatch.setattr(asking, "load_evaluator", lambda name, shared: found.append(name) or Even())
    asked = opinions_on(9, 9)
    assert isinstance(asked, Opinions)
    assert found == ["tengen-judge", "td-best-9x9"]
    assert asked.names == {"network": "tengen-judge", "opening": "td-best-9x9"}
    assert opinions_on(19, 19).names == {"network": "tengen-large"}
    assert opinions_on(4, 4).names == {}
