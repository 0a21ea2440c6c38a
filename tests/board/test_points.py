"""One coordinate system for people: what names a place, and what is refused."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tengen.board import PASS, PLANES, RESIGN, BatchBoard, Board, Point, point_at, random_point
from tengen.board.coordinates import indices_of, places, point_from, points_at
from tengen.errors import IllegalMoveError, TengenError

SIZES = st.tuples(st.integers(2, 25), st.integers(2, 25))


@given(SIZES, st.data())
def test_all_names_of_a_place_agree(size, data) -> None:
    rows, cols = size
    row, col = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, cols - 1))
    board = Board(rows, cols)
    point = board.point((row, col))
    assert (point.row, point.col, point.index) == (row, col, row * cols + col)
    assert board.point(point.name) is point and board.answer(int(point)) is point
    assert Point(str(point), rows, cols) is point and places(rows, cols)[point] is point
    assert pickle.loads(pickle.dumps(point)) is point and copy.deepcopy(point) is point
    assert eval(repr(point)) is point and int(point) == point_at(point.index, rows, cols)


def test_pass_and_resignation_have_no_place() -> None:
    assert (int(PASS), int(RESIGN), str(PASS), repr(RESIGN)) == (0, -1, "pass", "RESIGN")
    assert pickle.loads(pickle.dumps(PASS)) is PASS and copy.deepcopy(RESIGN) is RESIGN
    for nowhere in (PASS, RESIGN):
        with pytest.raises(TengenError, match="no place on a board"):
            _ = nowhere.index
    with pytest.raises(TengenError, match="no raw point"):
        point_from(3, 3, 3)


@pytest.mark.parametrize(
    ("move", "told"),
    [
        (41, "the plain number 41 names no move"),
        (np.int64(41), "the plain number 41 names no move"),
        (0, "the plain number 0 names no move"),
        (True, "True names no move"),
        (4.0, "4.0 names no move"),
        (None, "None names no move"),
        ((4, 9), r"\(4, 9\) is not on the 9x9 board"),
        ((-1, 0), "is not on the 9x9 board"),
        ((1, 2, 3), r"\(1, 2, 3\) names no move"),
        ("Z9", "'Z9' is no vertex of a 9x9 board"),
        ("resign", "resign is no place"),
        (Point("F5", 13), "F5 of a 13x13 board is no place of this 9x9 board"),
    ],
)
def test_what_names_no_place_is_refused_everywhere(move, told) -> None:
    board = Board(9)
    for ask in (board.play, board.is_legal, board.point, board.block, board.__getitem__):
        with pytest.raises(IllegalMoveError, match=told):
            ask(move)
    if move is not None:  # which leaves a game of a batch alone
        with pytest.raises(IllegalMoveError, match=f"game 1: .*{told}"):
            BatchBoard(2, 9).play(["A1", move])
    assert not board.moves


def test_legal_moves_do_not_take_numbers() -> None:
    legal = Board(9, moves="B F5").legal_moves
    assert "A1" in legal and (0, 0) in legal and "F5" not in legal and "Z9" not in legal
    with pytest.raises(IllegalMoveError, match="plain number"):
        assert 41 in legal
    assert all(isinstance(point, Point) for point in legal) and PASS in list(legal)


def test_answers_of_players_may_be_raw() -> None:
    board = Board(9)
    assert board.answer(np.int64(41)) == board.answer("A6") == Point("A6", 9)
    assert board.answer(-1) is board.answer("resign") is RESIGN
    for wrong in (10, 1000, "K10", 1.5, None):
        with pytest.raises(IllegalMoveError):
            board.answer(wrong)  # type: ignore[arg-type]


def test_a_batch_is_many_boards() -> None:
    rng = np.random.default_rng(1)
    batch, boards = BatchBoard(6, 5, 6, komi=0.5), [Board(5, 6, komi=0.5) for _ in range(6)]
    assert len(batch) == 6 and batch.last_moves == [None] * 6
    for _ in range(40):
        moves = [None if rng.random() < 0.1 else random_point(board, rng) for board in boards]
        batch.play(moves)
        for board, move in zip(boards, moves, strict=True):
            if move is not None:
                board.play(move)
    assert batch.last_moves == [board.last_move for board in boards]
    for game, board in enumerate(boards):
        twin = batch[game]
        assert (twin.grid() == board.grid()).all() and twin.turn == board.turn
        assert (twin.legal_mask() == board.legal_mask()).all() and twin.ko == board.ko
        assert (twin.prisoners, twin.hash, twin.komi) == (board.prisoners, board.hash, 0.5)
        before = twin.legal_mask()
        twin.play(random_point(twin, rng))
        twin.undo()
        assert (twin.legal_mask() == before).all()  # the past is still known
        assert (batch.grids()[game] == board.grid()).all()  # and the batch was left alone
    assert len(list(batch)) == 6
    with pytest.raises(IndexError):
        batch[6]


def test_planes_are_what_the_side_to_move_sees() -> None:
    batch = BatchBoard(2, 5)
    batch.play(["C3", None])
    batch.play(["D3", PASS])
    planes = dict(zip(PLANES, batch.planes().transpose(1, 0, 2, 3), strict=True))
    board = batch[0]
    assert (planes["own"][0] == (board.grid() == 1)).all()
    assert (planes["enemy"][0] == (board.grid() == 2)).all()
    assert planes["empty"][0].sum() == 23 and planes["black"][:, 0, 0].tolist() == [1, 0]
    assert planes["last"][0].ravel().nonzero()[0].tolist() == [Point("D3", 5).index]
    assert not planes["last"][1].any()
    assert (planes["legal"][0].ravel() == board.legal_mask()[:-1]).all()
    assert (batch.planes()[0] == board.planes()).all()
    other = dict(zip(PLANES, board.planes(2), strict=True))
    assert (other["own"] == planes["enemy"][0]).all() and not other["legal"].any()


def test_arrays_for_a_batch_hold_indices() -> None:
    batch = BatchBoard(2, 9)
    batch.play(np.array([41, 81]))
    assert [str(move) for move in batch.last_moves] == ["F5", "pass"]
    with pytest.raises(IllegalMoveError, match="F5 in game 0 is illegal"):
        batch.play(np.array([41, -1]))
    with pytest.raises(IllegalMoveError, match="move 82 of game 1"):
        batch.play(np.array([0, 82]))
    with pytest.raises(TengenError, match="not float64"):
        batch.play(np.zeros(2))


@given(SIZES)
def test_many_points_and_their_indices_are_one_another_s_inverse(size) -> None:
    rows, cols = size
    indices = np.arange(rows * cols + 1)
    points = points_at(indices, rows, cols)
    assert (indices_of(points, rows, cols) == indices).all()
    assert points[-1] == PASS and len(set(points.tolist())) == len(points)
    for index in (0, rows * cols - 1, rows * cols):
        assert points[index] == point_at(index, rows, cols)
