"""The bytes and planes tell of every point what a slow look at the board tells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tengen.board import EMPTY, Board, index_of, point_at
from tengen.board.coordinates import elements, permutation
from tengen.board.playouts import play_random
from tengen.network import layers
from tengen.network.inputs_kernels import HISTORY

NAMES = layers.PLANES


def planes_by_hand(board: Board) -> dict[str, np.ndarray]:
    """Ask the board itself, point by point; ladders apart."""
    found = {name: np.zeros((board.rows, board.cols)) for name in NAMES}
    legal = board.legal_mask()
    for index in range(board.rows * board.cols):
        row, col = divmod(index, board.cols)
        point = (row, col)
        found["board"][row, col] = 1
        if board[point] != EMPTY:
            own = int(board[point]) == board.turn
            found["own stone" if own else "enemy stone"][row, col] = 1
            liberties = board.liberties(point)
            if liberties <= 3:
                name = ("one liberty", "two liberties", "three liberties")[liberties - 1]
                found[name][row, col] = 1
        elif not legal[index]:
            found["may not be played"][row, col] = 1
        else:
            before = board.copy()
            before.play(point)
            taken = int((before.grid() == 0).sum()) > int((board.grid() == 0).sum()) - 1
            found["takes stones"][row, col] = taken
            liberties = before.liberties(point)
            if liberties in (1, 2) and not taken:
                name = ("one liberty after", "two liberties after")[liberties - 1]
                found[name][row, col] = 1
    return found


@pytest.mark.parametrize(("rows", "cols", "plies"), [(5, 5, 14), (7, 6, 25), (9, 9, 60)])
def test_planes_tell_what_the_board_tells(rows: int, cols: int, plies: int) -> None:
    for seed in range(4):
        board = play_random(Board(rows, cols, rules="japanese"), plies, np.random.default_rng(seed))
        planes = layers.pack_boards([board]).planes()[0]
        slow = planes_by_hand(board)
        for name in NAMES[: len(layers.POINT_PLANES)]:
            if "ladder" in name or name == "ko":
                continue
            seen = planes[NAMES.index(name)]
            if name.endswith("after"):  # what a capture adds further off is not counted
                seen = seen * (1 - slow["takes stones"])
            assert np.array_equal(seen, slow[name]), name


def test_whole_board_facts_and_history() -> None:
    board = Board(9, komi=7.0, rules="japanese")
    for vertex in ("C3", "D4", "E5"):
        board.play(vertex)
    planes = layers.pack_boards([board]).planes()[0]
    assert planes[NAMES.index("komi for the side to move")].mean() == pytest.approx(0.7)
    assert planes[NAMES.index("territory is counted")].min() == 1
    last = planes[NAMES.index("move 1 ago")]
    assert last.sum() == 1 and last[4, 4] == 1
    assert planes[NAMES.index("move 4 ago")].sum() == 0
    board.play("pass")
    planes = layers.pack_boards([board]).planes()[0]
    assert planes[NAMES.index("the last move was a pass")].min() == 1
    assert planes[NAMES.index("move 1 ago")].sum() == 0
    assert planes[NAMES.index("move 2 ago")][4, 4] == 1


def test_ladder_and_ko_are_explained() -> None:
    board = Board(9)
    for vertex in ("D5", "E5", "E6", "A1", "F4", "A3"):  # White's E5 has two liberties, D4 runs
        board.play(vertex)
    planes = layers.pack_boards([board]).planes()[0]
    assert planes[NAMES.index("two liberties")][4, 4] == 1
    lost = planes[NAMES.index("lost in a ladder")]
    catches = planes[NAMES.index("catches in a ladder")]
    assert lost[4, 4] == 1 and catches.sum() >= 1
    without = layers.pack_boards([board], ladders=False).planes()[0]
    assert without[NAMES.index("lost in a ladder")].sum() == 0
    board = Board(5)
    for vertex in ("B3", "C3", "A2", "D2", "B1", "C1", "C2", "B2"):  # White takes a ko at C2
        board.play(vertex)
    planes = layers.pack_boards([board]).planes()[0]
    assert planes[NAMES.index("ko")].sum() == 1 and planes[NAMES.index("ko")][3, 2] == 1


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from([(5, 5), (7, 7), (6, 9), (9, 9)]), st.integers(0, 60))
def test_planes_turn_with_the_board(seed: int, shape: tuple[int, int], plies: int) -> None:
    rows, cols = shape
    board = play_random(Board(rows, cols), plies, np.random.default_rng(seed))
    codes = layers.pack_boards([board]).codes[0]
    for element in elements(rows, cols)[1:]:
        turned = Board(rows, cols)
        moves = permutation(rows, cols, element)
        for _, point in board.moves:
            turned.push(point_at(int(moves[index_of(point, rows, cols)]), rows, cols))
        assert np.array_equal(layers.pack_boards([turned]).codes[0][moves[:-1]], codes)


def test_parts_keep_their_order() -> None:
    boards = [play_random(Board(5), n, np.random.default_rng(n)) for n in range(6)]
    whole = layers.pack_boards(boards)
    assert len(whole.part(slice(2, 4))) == 2
    assert np.array_equal(whole.part(slice(2, 4)).planes(), whole.planes()[2:4])
    assert whole.history.shape == (6, HISTORY)
