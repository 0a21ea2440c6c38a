"""What the board promises people: names, errors, setups, drawings."""

from __future__ import annotations

import copy
import itertools
import pickle
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tengen.board import (
    BLACK,
    PASS,
    PLANES,
    RESIGN,
    WHITE,
    BatchBoard,
    Board,
    IllegalMoveError,
    Point,
    Rules,
    format_gtp,
    handicap_points,
    parse_gtp,
    parse_sgf,
    play_random,
    play_to_end,
    playouts,
    point_at,
    random_point,
    row_col,
)
from tengen.board.coordinates import (
    compose,
    indices_of,
    inverse,
    permutation,
    places,
    point_from,
    points_at,
    transform,
)
from tengen.board.drawing import format_ascii, parse_ascii, star_points
from tengen.errors import TengenError
from tengen.records import GameRecord

KO = "B B3 W C3 B A2 W D2 B B1 W C1 B C2 W B2"


@pytest.mark.parametrize(
    ("moves", "picture", "ko", "prisoners"),
    [
        ("B A2 W A1 B B1", "... / X.. / .X.", None, (1, 0)),
        (KO, ".XO. / XO.O / .XO. ", "C2", (0, 1)),
    ],
)
def test_games_as_pictures(
    moves: str, picture: str, ko: str | None, prisoners: tuple[int, int]
) -> None:
    rows = parse_ascii(picture.replace("/", "\n"))
    board = Board(*rows.shape, rules="japanese", moves=moves)
    assert (board.grid() == rows).all(), str(board)
    assert (format_gtp(board.ko, *rows.shape) if board.ko else None) == ko
    assert board.prisoners == prisoners


@pytest.mark.parametrize("vertex", ["", "I5", "A0", "A10", "K1", "5A", "A²", "A-1", "pas"])
def test_bad_vertices_are_refused(vertex: str) -> None:
    with pytest.raises(TengenError, match="no vertex of a 9x9 board"):
        parse_gtp(vertex, 9, 9)


@pytest.mark.parametrize("text", ["a", "zz", "aA", "aaa", "j1"])
def test_bad_sgf_points_are_refused(text: str) -> None:
    with pytest.raises(TengenError, match="no SGF point of a 9x9 board"):
        parse_sgf(text, 9, 9)


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


def test_a_ko_is_not_retaken_at_once_but_may_be_filled() -> None:
    for rules in ("japanese", "cgos"):
        board = Board(3, 4, rules=rules, moves=KO)
        with pytest.raises(IllegalMoveError, match="retake the ko at once"):
            board.play("C2")
    board.turn = WHITE  # as by a pass
    assert board.ko is None
    board.play("C2")
    assert board["C2"] == WHITE


def test_repr_rebuilds_the_board() -> None:
    board = Board.from_ascii(".X.\nX.O\n...", to_play=WHITE, komi=0.5, rules="aga")
    board.play("C3")
    board.play(PASS)
    assert repr(eval(repr(board))) == repr(board)
    assert repr(Board(9)) != repr(Board(9, komi=1))


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


def test_hashes_are_the_same_in_every_version() -> None:
    assert Board(9).hash == 0
    assert Board(9, moves="B E5").hash == 0x3D73E02778C2F6AB
    assert Board(9, moves="B E5 W C3").hash == Board(9, moves="W C3 B E5").hash


def test_rules_presets_and_their_mistakes() -> None:
    assert Rules.preset("Japanese").ko == "simple" and Rules.preset("NZ").suicide
    assert Rules.preset("Tromp-Taylor").ko == "positional"
    assert Rules().with_(ko="simple").ko == "simple"
    for name in ("chess", "koSIMPLE", "koSIMPLEscoreAREAtaxNONEsui2"):
        with pytest.raises(TengenError, match=f"no rules called '{name}'"):
            Rules.preset(name)
    choices = ("simple", "positional", "situational"), (False, True), ("area", "territory")
    for fields in itertools.product(*choices, ("none", "n", "n-1")):
        rules = Rules(*fields)  # type: ignore[arg-type]
        assert Rules.preset(rules.name).with_(komi=rules.komi) == rules
    with pytest.raises(TengenError, match="ko 'none'"):
        Rules(ko="none")  # type: ignore[arg-type]


@given(st.integers(0, 7), st.integers(0, 7))
def test_symmetries_form_a_group(a: int, b: int) -> None:
    grid = np.arange(25).reshape(5, 5)
    assert (transform(transform(grid, a), b) == transform(grid, compose(a, b))).all()
    assert compose(a, inverse(a)) == 0
    moved = np.empty(26, int)
    moved[permutation(5, 5, a)] = np.arange(26)
    assert (moved[:25].reshape(5, 5) == transform(grid, a)).all()


def test_pictures_come_back() -> None:
    grid = Board(4, 5, moves="B A1 W E4").grid()
    assert (parse_ascii(format_ascii(grid)) == grid).all()
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


def test_handicap_stones_lie_on_their_usual_points() -> None:
    assert [str(point) for point in handicap_points(9, 9, 2)] == ["C3", "G7"]
    centre = ["E5" in map(str, handicap_points(9, 9, stones)) for stones in range(2, 10)]
    assert centre == [stones in (5, 7, 9) for stones in range(2, 10)]


def test_a_position_of_kernels_becomes_a_board_that_goes_on() -> None:
    board = Board(5, moves="B C3 W C4 B D4")
    twin = Board.of_state(board.state, board.history, rules=board.rules, komi=1.5)
    assert (twin.grid() == board.grid()).all() and twin.turn == WHITE and twin.komi == 1.5
    assert twin.last_move == board.last_move and not twin.moves
    twin.play("D3")
    assert board["D3"] == 0  # a copy
    with pytest.raises(IllegalMoveError, match="no move to undo"):
        Board.of_state(board.state, board.history, rules=board.rules).undo()


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


def test_bad_arguments_get_a_clear_error() -> None:
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: Board(9.0), "whole numbers"),  # type: ignore[arg-type]
        (lambda: Board("9"), "whole numbers"),  # type: ignore[arg-type]
        (lambda: Board(9, moves="X E5"), "a colour, B or W"),
        (lambda: Board(9, moves="B E5 W"), "a colour, B or W"),
        (lambda: Board(9, moves=5), "moves 5"),  # type: ignore[arg-type]
        (lambda: Board(9, rules=None), "rules None"),  # type: ignore[arg-type]
        (lambda: Board(9, setup=5), "setup 5"),  # type: ignore[arg-type]
        (lambda: Board(9, komi="much"), "komi 'much'"),  # type: ignore[arg-type]
        (lambda: Board(9, handicap=-1), "handicap -1"),
        (lambda: Board(9, handicap=9.5), "handicap 9.5"),  # type: ignore[arg-type]
        (lambda: Board(9, handicap="2"), "handicap '2'"),  # type: ignore[arg-type]
        (lambda: Board(9, to_play=3), "3 is no colour"),
        (lambda: Board(9).place_handicap("2"), "'2' stones"),  # type: ignore[arg-type]
        (lambda: Board(9).play("E5", True), "True is no colour"),
        (lambda: Board(9).is_legal("E5", 7), "7 is no colour"),
        (lambda: Board(9).legal_mask(0), "0 is no colour"),
        (lambda: Board(9).push(41, 3), "3 is no colour"),
        (lambda: setattr(Board(9), "turn", 7), "7 is no colour"),
        (lambda: Board(9).play("E5", "black"), "'black' is no colour"),
        (lambda: BatchBoard(2, 9, max_plies=-1), "max_plies -1"),
        (lambda: BatchBoard(-2, 9), "games -2"),
        (lambda: BatchBoard(2, 9.5), "whole numbers"),  # type: ignore[arg-type]
        (lambda: BatchBoard(2, 9, rules=None), "rules None"),  # type: ignore[arg-type]
        (lambda: playouts(Board(5), 3, kind="haevy"), "light, heavy"),  # type: ignore[arg-type]
        (lambda: playouts(Board(5), -1), "-1 playouts"),
        (lambda: handicap_points(5, 5, 2), "there: none"),
    ]
    for make, reason in wrong:
        with pytest.raises(TengenError, match=reason):
            make()


def test_sides_are_given_as_letters_too() -> None:
    letters, numbers = Board(9, to_play="W"), Board(9, to_play=WHITE)
    letters.play("E5", "b")
    numbers.play("E5", BLACK)
    assert letters == numbers and letters.moves == numbers.moves
    letters.turn = "B"
    assert letters.turn == BLACK and letters.is_legal("D5", "W") and not letters.is_legal("E5", "W")
    assert GameRecord(9, 9, moves=[("B", "E5")]).moves == letters.moves  # type: ignore[list-item]


@pytest.mark.parametrize("raw", [-1, 1, 10_000, 41])
def test_a_pushed_move_needs_an_empty_point(raw: int) -> None:
    board = Board(9)
    board.push(41)
    before = board.state.copy()
    with pytest.raises(IllegalMoveError, match="is not empty"):
        board.push(raw)
    assert (board.state == before).all() and len(board.moves) == 1


def in_full(board: Board) -> tuple[bytes, list[int], str]:
    """Return everything a game holds: position, remembered positions, moves."""
    table = board.history
    return board.state.tobytes(), sorted(table[table != 0].tolist()), repr(board)


@pytest.mark.parametrize("rules", ["cgos", "japanese", "new_zealand"])
def test_undo_returns_to_every_earlier_position(rules: str) -> None:
    rng = np.random.default_rng(3)
    board = Board(5, rules=rules)
    before: list[tuple[bytes, list[int], str]] = []
    for _ in range(40):
        for _ in range(int(rng.integers(1, 40))):
            before.append(in_full(board))
            board.push(random_point(board, rng) if rng.random() < 0.9 else PASS)
        for _ in range(int(rng.integers(1, 30))):
            if before:
                assert board.copy().undo() == board.undo()
                assert in_full(board) == before.pop()
    assert len(before) > 100


def test_boards_are_keys_by_position() -> None:
    one, two = Board(9, moves="B C3 W D3 B E5"), Board(9, komi=0.5, moves="B E5 W D3 B C3")
    seen = {one: "one", two.copy(): "two"}
    assert seen == {one: "two"} and seen[two] == "two" and one.key == two.key
    two.turn = BLACK
    assert two not in seen and two != one
    assert Board(9) != Board(9, 13) and Board(9) != "a board"
    assert Board(3, 4, moves=KO) != Board.from_grid(Board(3, 4, moves=KO).grid())


SHARED = """
import sys, threading
import numpy as np
from tengen.board import Board, playouts, random_point
from tengen.errors import TengenError

sys.setswitchinterval(1e-6)
board = Board(9, rules="japanese")
random_point(board, np.random.default_rng(0))

def use(seed):
    rng = np.random.default_rng(seed)
    for _ in range(60):
        try:
            board.play(random_point(board, rng))
            board.push(random_point(board, rng))
            playouts(board, 2, threads=1)
            board.area_score(), board.blocks(), board.legal_mask(), board.copy(), hash(board)
            if rng.random() < 0.7:
                board.undo()
        except (TengenError, IndexError):
            pass

threads = [threading.Thread(target=use, args=[seed]) for seed in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_a_board_shared_by_threads_does_not_crash() -> None:
    done = subprocess.run([sys.executable, "-c", SHARED], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_random_plies_end_where_points_do() -> None:
    rng = np.random.default_rng(1)
    board = play_random(Board(9), 30, rng)
    assert len(board.moves) == 30 and PASS not in [point for _, point in board.moves]
    full = Board.from_ascii(".X\nXX")
    assert random_point(full, rng) == PASS and not play_random(full, 5, rng).moves


def test_random_points_are_uniform() -> None:
    rng = np.random.default_rng(2)
    found = [random_point(Board(2), rng) for _ in range(400)]
    assert all(60 < found.count(point) < 140 for point in set(found)) and len(set(found)) == 4


def test_a_game_ends_by_passes_resignation_or_length() -> None:
    assert len(play_to_end(Board(3), lambda _: PASS).moves) == 2
    assert not play_to_end(Board(3), lambda _: RESIGN).moves
    rng = np.random.default_rng(3)
    assert len(play_to_end(Board(3), lambda b: random_point(b, rng), limit=5).moves) <= 5
    over = play_to_end(Board(3), lambda _: PASS)
    assert len(play_to_end(over, lambda b: random_point(b, rng)).moves) == 2


SIZES = st.tuples(st.integers(2, 25), st.integers(2, 25))


@given(SIZES, st.data())
def test_all_names_of_a_place_agree(size, data) -> None:
    rows, cols = size
    row, col = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, cols - 1))
    board = Board(rows, cols)
    point = board.point((row, col))
    assert (point.row, point.col, point.index) == (row, col, row * cols + col)
    assert board.point(point.name) is point and board.to_point(int(point)) is point
    assert Point(str(point), rows, cols) is point and places(rows, cols)[point] is point
    assert parse_gtp(point.name.lower(), rows, cols) is point
    assert parse_sgf(point.sgf, rows, cols) is point and row_col(point, cols) == (row, col)
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


def test_legal_moves_are_a_view_that_takes_no_numbers() -> None:
    few = Board(3, moves="B B1 W C2 B A2").legal_moves
    assert len(few) == len(list(few)) == 6 and "A1" not in few and "pass" in repr(few)
    legal = Board(9, moves="B F5").legal_moves
    assert "A1" in legal and (0, 0) in legal and "F5" not in legal and "Z9" not in legal
    with pytest.raises(IllegalMoveError, match="plain number"):
        assert 41 in legal
    assert all(isinstance(point, Point) for point in legal) and PASS in list(legal)


def test_answers_of_players_may_be_raw() -> None:
    board = Board(9)
    assert board.to_point(np.int64(41)) == board.to_point("A6") == Point("A6", 9)
    assert board.to_point(-1) is board.to_point("resign") is RESIGN
    for wrong in (10, 1000, "K10", 1.5, None):
        with pytest.raises(IllegalMoveError):
            board.to_point(wrong)  # type: ignore[arg-type]


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


@pytest.mark.parametrize(
    "make",
    [
        lambda: Board(9, komi=10**400),
        lambda: Board(9, komi=10**5000),
        lambda: Rules(suicide="no"),  # type: ignore[arg-type]
        lambda: Board(9).svg(heat=[1, 2, 3]),
        lambda: Board(9).svg(ownership=np.zeros((9, 9))),
        lambda: Board.from_grid(np.zeros((3, 3))),  # type: ignore[arg-type]
        lambda: Board.from_grid(np.zeros((3, 3), np.bool_)),  # type: ignore[arg-type]
        lambda: Board.from_grid(np.array([0, 1, 2], np.int8)),
        lambda: Board.from_grid(np.array([[0, -1], [1, 2]], np.int8)),
        lambda: Board.from_grid(np.array([[0, 3], [1, 2]], np.int8)),
    ],
)
def test_values_without_sense_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(TengenError):
        make()
