"""What the board promises people: names, errors, setups, drawings."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tengen.board import (
    BLACK,
    PASS,
    RESIGN,
    WHITE,
    Board,
    IllegalMoveError,
    Rules,
    format_gtp,
    format_sgf,
    index_of,
    parse_gtp,
    parse_sgf,
    playouts,
    point_at,
    row_col,
)
from tengen.board.drawing import format_ascii, parse_ascii, star_points
from tengen.board.shapes import SHAPES, shape_table
from tengen.board.symmetry import compose, elements, inverse, permutation, transform
from tengen.errors import TengenError

# One row a case: moves as "B D4 W C3 ...", the picture they lead to, the ko point, prisoners.
GAMES = [
    ("capture in the corner", "B A2 W A1 B B1", "... / X.. / .X.", None, (1, 0)),
    ("ko", "B B3 W C3 B A2 W D2 B B1 W C1 B C2 W B2", ".XO. / XO.O / .XO. ", "C2", (0, 1)),
]


@pytest.mark.parametrize(("name", "moves", "picture", "ko", "prisoners"), GAMES)
def test_games_as_pictures(
    name: str, moves: str, picture: str, ko: str | None, prisoners: tuple[int, int]
) -> None:
    rows = parse_ascii(picture.replace("/", "\n"))
    board = Board(*rows.shape, rules="japanese", moves=moves)
    assert (board.grid() == rows).all(), str(board)
    assert (format_gtp(board.ko, *rows.shape) if board.ko else None) == ko
    assert board.prisoners == prisoners


def test_every_place_of_every_size_has_one_name_in_each_system() -> None:
    for size in range(2, 26):
        for index in range(size * size + 1):
            point = point_at(index, size, size)
            assert index_of(point, size, size) == index
            assert parse_gtp(format_gtp(point, size, size), size, size) == point
            assert parse_sgf(format_sgf(point, size, size), size, size) == point
            if point != PASS:
                assert row_col(point, size) == divmod(index, size)


@pytest.mark.parametrize("vertex", ["", "I5", "A0", "A10", "K1", "5A", "A²", "A-1", "pas"])
def test_bad_vertices_are_refused(vertex: str) -> None:
    with pytest.raises(TengenError, match="no vertex of a 9x9 board"):
        parse_gtp(vertex, 9, 9)


@pytest.mark.parametrize("text", ["a", "zz", "aA", "aaa", "j1"])
def test_bad_sgf_points_are_refused(text: str) -> None:
    with pytest.raises(TengenError, match="no SGF point of a 9x9 board"):
        parse_sgf(text, 9, 9)


def test_tt_is_a_pass_up_to_nineteen_only() -> None:
    assert parse_sgf("tt", 19, 19) == PASS
    assert parse_sgf("tt", 20, 20) != PASS


def test_illegal_moves_say_why_and_change_nothing() -> None:
    board = Board(3, rules="japanese", moves="B B1 W C2 B A2")
    cases = {"B1": "the point is taken", "A1": "it would be suicide"}
    for vertex, why in cases.items():
        before = repr(board)
        with pytest.raises(IllegalMoveError, match=why):
            board.play(vertex, WHITE)
        assert repr(board) == before
    with pytest.raises(IllegalMoveError, match="no vertex"):
        board.play("J9")
    with pytest.raises(IllegalMoveError, match="the plain number 3 names no move"):
        board.play(3)
    with pytest.raises(IllegalMoveError, match="no move to undo"):
        Board(3).undo()


def test_ko_and_superko_messages() -> None:
    moves = "B B3 W C3 B A2 W D2 B B1 W C1 B C2 W B2"
    with pytest.raises(IllegalMoveError, match="retake the ko at once"):
        Board(3, 4, rules="japanese", moves=moves).play("C2")
    with pytest.raises(IllegalMoveError, match="retake the ko at once"):
        Board(3, 4, rules="cgos", moves=moves).play("C2")


def test_non_alternating_play_may_fill_the_ko() -> None:
    board = Board(3, 4, rules="japanese", moves="B B3 W C3 B A2 W D2 B B1 W C1 B C2 W B2")
    board.play("C2", WHITE)
    assert board["C2"] == WHITE


def test_repr_rebuilds_the_board() -> None:
    board = Board.from_ascii(".X.\nX.O\n...", to_play=WHITE, komi=0.5, rules="aga")
    board.play("C3")
    board.play(PASS)
    assert eval(repr(board)) == board
    assert Board(9) != Board(9, komi=1)


def test_setup_refuses_stones_without_liberties_and_doubles() -> None:
    with pytest.raises(TengenError, match="White stone on A1 has no liberty"):
        Board.from_ascii("...\nX..\nOX.")
    with pytest.raises(TengenError, match="two stones on C3"):
        Board(9).set_stones(black=["C3"], white=["c3"])
    with pytest.raises(TengenError, match="not between 2x2 and 25x25"):
        Board(1)
    with pytest.raises(TengenError, match="komi nan"):
        Board(9, komi=float("nan"))


@pytest.mark.parametrize(("size", "most"), [(19, 9), (13, 9), (9, 9), (8, 4), (6, 0)])
def test_handicap(size: int, most: int) -> None:
    for stones in range(2, most + 1):
        board = Board(size, rules="chinese")
        points = board.place_handicap(stones)
        assert len(set(points)) == stones and board.turn == WHITE
        assert board.area_score() == size * size - 7.5 - stones
    with pytest.raises(TengenError, match="fixed handicap"):
        Board(size).place_handicap(most + 1)


def test_legal_moves_is_a_view() -> None:
    board = Board(3, moves="B B1 W C2 B A2")
    assert (
        "A1" not in board.legal_moves
        and "C3" in board.legal_moves
        and "Q9" not in board.legal_moves
    )
    assert len(board.legal_moves) == len(list(board.legal_moves)) == 6
    assert PASS in board.legal_moves
    assert "pass" in repr(board.legal_moves)


def test_hashes_are_the_same_in_every_version() -> None:
    assert Board(9).hash == 0
    assert Board(9, moves="B E5").hash == 0x3D73E02778C2F6AB
    assert Board(9, moves="B E5 W C3").hash == Board(9, moves="W C3 B E5").hash


def test_rules_presets_and_their_mistakes() -> None:
    assert Rules.preset("Japanese").ko == "simple" and Rules.preset("NZ").suicide
    assert Rules.preset("Tromp-Taylor").ko == "positional"
    assert Rules().with_(ko="simple").ko == "simple"
    with pytest.raises(TengenError, match="no rules called 'chess'"):
        Rules.preset("chess")
    with pytest.raises(TengenError, match="ko rule"):
        Rules(ko="none")  # type: ignore[arg-type]


@given(st.integers(0, 7), st.integers(0, 7))
def test_symmetries_form_a_group(a: int, b: int) -> None:
    grid = np.arange(25).reshape(5, 5)
    assert (transform(transform(grid, a), b) == transform(grid, compose(a, b))).all()
    assert compose(a, inverse(a)) == 0
    moved = np.empty(26, int)
    moved[permutation(5, 5, a)] = np.arange(26)
    assert (moved[:25].reshape(5, 5) == transform(grid, a)).all()


def test_symmetries_are_eight_and_four() -> None:
    assert len({permutation(4, 4, e).tobytes() for e in elements(4, 4)}) == 8
    assert len({permutation(3, 5, e).tobytes() for e in elements(3, 5)}) == 4


def test_pictures_come_back() -> None:
    grid = Board(4, 5, moves="B A1 W E4").grid()
    assert (parse_ascii(format_ascii(grid)) == grid).all()
    assert (parse_ascii(format_ascii(grid, coordinates=False)) == grid).all()
    with pytest.raises(TengenError, match="line 2 of the picture has 'Q'"):
        parse_ascii("...\n.Q.")
    with pytest.raises(TengenError, match="line 2 of the picture has 2 points"):
        parse_ascii("...\n..")


def test_svg_is_well_formed_and_shows_every_stone() -> None:
    board = Board(9, moves="B C3 W G7 B E5")
    text = board.svg(marks={"A9": "<a>"}, ownership=np.linspace(-1, 1, 81), dead=[(2, 2)])
    root = ElementTree.fromstring(text)
    circles = [c for c in root.iter() if c.tag.endswith("circle")]
    assert len(circles) == 3 + len(star_points(9, 9)) + 2  # stones, dots, the ring, the label


def test_star_points_are_those_of_wooden_boards() -> None:
    assert [len(star_points(n, n)) for n in (5, 9, 13, 19)] == [1, 5, 5, 9]
    assert set(star_points(9, 9)) == {(2, 2), (2, 6), (4, 4), (6, 2), (6, 6)}


def test_playouts_do_not_depend_on_threads_and_favour_the_stronger() -> None:
    board = Board(7, komi=0.5, moves="B D4 W pass B D3 W pass B D5 W pass")
    for kind in ("light", "heavy"):
        one = playouts(board, 200, seed=4, kind=kind, threads=1)
        many = playouts(board, 200, seed=4, kind=kind)
        assert (one.scores == many.scores).all() and (one.ownership == many.ownership).all()
        assert one.win_rate > 0.7 and one.mean_score > 5
        assert not (playouts(board, 200, seed=5, kind=kind, threads=1).scores == one.scores).all()


def test_playout_scores_and_ownership_agree() -> None:
    result = playouts(Board(5, komi=0), 300, seed=1, kind="heavy")
    assert result.ownership.sum() == pytest.approx(result.mean_score)


def test_shapes_are_colour_blind_and_symmetric() -> None:
    table = shape_table()
    assert 500 < table.sum() < 20000 and len(SHAPES) == 13
    hane = sum(c << (2 * i) for i, c in enumerate((1, 2, 1, 0, 0, 0, 0, 0)))
    swapped = sum(c << (2 * i) for i, c in enumerate((2, 1, 2, 0, 0, 0, 0, 0)))
    assert table[hane] and table[swapped] and not table[0]


def test_resignation_is_no_point() -> None:
    with pytest.raises(IllegalMoveError):
        Board(9).play(RESIGN)
    assert Board(9).turn == BLACK
