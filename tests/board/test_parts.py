"""The board's smaller parts, each by its own name: setups, views, planes, drawings, counts."""

from __future__ import annotations

import copy
from collections.abc import Callable
from xml.etree import ElementTree

import numpy as np
import pytest

from tengen.board import (
    BLACK,
    PASS,
    WHITE,
    BatchBoard,
    Board,
    LegalMoves,
    PlayoutResult,
    Rules,
    handicap_points,
    playouts,
)
from tengen.board.colours import COLOUR_NAMES
from tengen.board.coordinates import GTP_LETTERS, point_of_move
from tengen.board.counting import count_board, count_by_rules
from tengen.board.drawing import Mark, format_svg, panels
from tengen.board.planes import PLANES, stack_planes
from tengen.board.safety import Safe, unconditional
from tengen.board.setups import refuse_dead_blocks
from tengen.errors import IllegalMoveError, TengenError


def test_a_move_is_named_in_three_ways_and_a_number_in_none() -> None:
    point = point_of_move("B5", 5, 5)
    assert point_of_move((0, 1), 5, 5) == point == point_of_move(point, 5, 5)
    assert point_of_move("pass", 5, 5) == PASS
    with pytest.raises(IllegalMoveError):
        point_of_move(7, 5, 5)  # type: ignore[arg-type]


def test_columns_have_letters_without_i_and_colours_have_names() -> None:
    assert len(set(GTP_LETTERS)) == len(GTP_LETTERS) >= 25 and "I" not in GTP_LETTERS.upper()
    assert str(Board(25).point((24, 24))) == f"{GTP_LETTERS[24].upper()}1"
    assert COLOUR_NAMES == {BLACK: "Black", WHITE: "White"}


def test_what_cannot_be_lost_is_stones_and_the_points_of_their_eyes() -> None:
    safe = unconditional(
        Board.from_ascii(". X . X .\nX X X X X\n. . . . .\n. . . . .").grid(), BLACK
    )
    assert isinstance(safe, Safe)
    assert (safe.stones.sum(), safe.points.sum()) == (7, 3)


def test_handicap_stones_lie_on_their_usual_points() -> None:
    assert [str(point) for point in handicap_points(9, 9, 2)] == ["C3", "G7"]
    assert "E5" in map(str, handicap_points(9, 9, 5))
    assert "E5" not in map(str, handicap_points(9, 9, 6))
    with pytest.raises(TengenError, match="no fixed handicap of 5 stones on 8x8"):
        handicap_points(8, 8, 5)


def test_a_setup_with_a_stone_that_cannot_breathe_is_refused() -> None:
    grid = np.array([[1, 2, 0], [2, 0, 0], [0, 0, 0]], np.int8)
    with pytest.raises(TengenError, match="the Black stone on A3 has no liberty"):
        refuse_dead_blocks(grid)
    grid[0, 0] = 0
    refuse_dead_blocks(grid)


def test_legal_moves_are_a_view_of_the_board() -> None:
    board = Board(3)
    moves = LegalMoves(board, WHITE)
    assert len(moves) == 10 and "B2" in moves
    board.play("B2")
    assert len(moves) == 9 and "B2" not in moves and "Z9" not in moves


def test_a_position_of_kernels_becomes_a_board_that_goes_on() -> None:
    board = Board(5, moves="B C3 W C4 B D4")
    twin = Board.of_state(board.state, board._table, rules=board.rules, komi=1.5)
    assert (twin.grid() == board.grid()).all() and twin.turn == WHITE and twin.komi == 1.5
    assert twin.last_move == board.last_move and not twin.moves
    twin.play("D3")
    assert board["D3"] == 0  # a copy
    with pytest.raises(IllegalMoveError, match="no move to undo"):
        Board.of_state(board.state, board._table, rules=board.rules).undo()


def test_planes_show_each_side_its_own() -> None:
    board = Board(3, moves="B A3 W C1")
    for colour, own in ((BLACK, (0, 0)), (WHITE, (2, 2))):
        seen = stack_planes(
            board.grid()[None],
            np.array([colour]),
            np.array([int(board.last_move or 0)]),
            board.legal_mask()[None],
        )[0]
        plane = dict(zip(PLANES, seen, strict=True))
        assert np.argwhere(plane["own"]).tolist() == [list(own)]
        assert np.argwhere(plane["last"]).tolist() == [[2, 2]]
        assert plane["black"].all() == (colour == BLACK)
        assert plane["own"].sum() + plane["enemy"].sum() + plane["empty"].sum() == 9


def test_a_drawing_has_each_stone_label_shade_and_ring_once() -> None:
    grid = np.zeros((5, 5), np.int8)
    grid[0, 0], grid[4, 4] = BLACK, WHITE
    shades = np.zeros(25)
    shades[7] = -0.5
    plain = format_svg(grid, coordinates=False)
    assert plain.count('r="11.3"') == 2 and "<text" not in plain
    drawn = format_svg(grid, last=24, marks={3: "a<b"}, ownership=shades, dead=[0])
    assert drawn.count('opacity="0.45"') == 1 and drawn.count("a&lt;b") == 1
    assert drawn.count('opacity="0.40"') == 1 and drawn.count('stroke="#d2401f"') == 1
    assert drawn.count(">A</text>") == 2


def test_heat_and_weighted_marks() -> None:
    heat = np.full(25, np.nan)
    heat[[3, 4, 5]] = 1.0, 0.5, 0.0
    marks = {7: Mark("a", 1.0), 8: Mark("b", 0.0), 9: "c"}
    drawn = format_svg(np.zeros((5, 5), np.int8), heat=heat, marks=marks, coordinates=False)
    assert [drawn.count(f'opacity="{share}"') for share in ("0.90", "0.45")] == [1, 1]
    assert drawn.count("rgb(21,101,192)") == 1 and drawn.count("<text") == 3


def test_pictures_stand_side_by_side_with_titles() -> None:
    one = format_svg(np.zeros((3, 3), np.int8))
    found = ElementTree.fromstring(panels([("<a>", one), ("b", one), ("c", one)], columns=2))
    inner = [part for part in found if part.tag.endswith("svg")]
    assert len({part.get("x") for part in inner}) == 2 == len({part.get("y") for part in inner})
    assert [part.text for part in found if part.tag.endswith("text")] == ["<a>", "b", "c"]


def test_a_position_is_counted_as_its_rules_say() -> None:
    board = Board.from_ascii(
        """
        . X O .
        . X O .
        . X O .
        """,
        rules=Rules.preset("chinese"),
        komi=0.5,
    )
    board.handicap = 2
    assert count_board(board, None).score == -2.5
    japanese = Rules.preset("japanese")
    assert count_board(board, None, japanese).score == -0.5
    taken = count_by_rules(board.grid(), None, japanese, prisoners=(2, 0), handicap=2)
    assert (taken.scoring, taken.score) == ("territory", 2.0)
    assert count_by_rules(board.grid(), None, board.rules, handicap=2).scoring == "area"


def test_playouts_tell_the_mean_and_the_chances() -> None:
    result = PlayoutResult(np.array([3.0, 0.0, -1.0, 2.0]), np.zeros(9))
    assert (result.mean_score, result.win_rate) == (1.0, 0.625)
    assert isinstance(playouts(Board(3), 4, threads=1), PlayoutResult)


def test_a_game_goes_on_from_its_own_past_alone() -> None:
    earlier = Board(5, komi=0.5, moves="B C3 W C2")
    later = earlier.copy()
    later.play("D2")
    assert later.continues(earlier) and earlier.continues(earlier)
    assert not earlier.continues(later)
    assert not Board(5, komi=0.5, moves="B C3 W D2 B C2").continues(earlier)
    assert not Board(5, komi=1.5, moves="B C3 W C2").continues(earlier)
    assert not Board(7, komi=0.5, moves="B C3 W C2").continues(earlier)


def test_copies_share_nothing() -> None:
    board, batch = Board(5), BatchBoard(2, 5)
    for twin in (copy.copy(board), copy.deepcopy(board), board.copy()):
        twin.play("C3")
    for twins in (copy.copy(batch), copy.deepcopy(batch), batch.copy()):
        twins.play(["C3", "C3"])
        assert twins.plies.tolist() == [1, 1]
    assert board.moves == [] and batch.plies.tolist() == [0, 0]


def test_what_no_board_can_be_made_of_is_told() -> None:
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: Board(9.0), "whole numbers"),  # type: ignore[arg-type]
        (lambda: Board("9"), "whole numbers"),  # type: ignore[arg-type]
        (lambda: Board(9, moves="X E5"), "a colour, B or W"),
        (lambda: Board(9, moves="B E5 W"), "a colour, B or W"),
        (lambda: playouts(Board(5), 3, kind="haevy"), "light, heavy"),  # type: ignore[arg-type]
        (lambda: playouts(Board(5), -1), "-1 playouts"),
        (lambda: handicap_points(5, 5, 2), "there: none"),
    ]
    for make, reason in wrong:
        with pytest.raises(TengenError, match=reason):
            make()
