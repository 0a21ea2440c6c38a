"""The board's kernels, called as the board calls them, against the slow board and by definition."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.board import BLACK, EMPTY, PASS, Board, play_random
from tengen.board import kernels as k
from tengen.board import playout_kernels as fast
from tengen.board.playout_kernels import liberties_after, run_chunk
from tengen.board.playouts import shape_table
from tengen.board.rules import KO_NUMBERS
from tengen.board.tactics_kernels import BY_BLOCK, maxlib_move, random_move

sys.path.insert(0, str(Path(__file__).parent))
from reference import ReferenceBoard


def middle_game(seed: int, rows: int = 6, cols: int = 7) -> tuple[Board, ReferenceBoard]:
    """Return one random position on the fast board and on the slow one."""
    board = play_random(Board(rows, cols), rows * cols, np.random.default_rng(seed))
    slow = ReferenceBoard(rows, cols, "simple", False)
    slow.stones = {
        (int(r), int(c)): int(board.grid()[r, c]) for r, c in np.argwhere(board.grid() != EMPTY)
    }
    return board, slow


def plain(kernel: Any) -> Any:
    """Return the Python function of a kernel that only kernels may call."""
    return inspect.unwrap(kernel)


def raw(board: Board, place: tuple[int, int]) -> int:
    return (place[0] + 1) * (board.cols + 1) + place[1] + 1


def test_a_larger_table_remembers_what_a_smaller_one_did() -> None:
    keys = [int(k.history_key(h, 1, KO_NUMBERS["positional"])) for h in (7, -3, 0, 2**40)]
    assert 0 not in keys and len(set(keys)) == 4
    by_turn = [int(k.history_key(7, turn, KO_NUMBERS["situational"])) for turn in (1, 2)]
    assert by_turn[0] != by_turn[1]
    table, larger = np.zeros(8, np.int64), np.zeros(32, np.int64)
    for key in keys:
        k.remember(table, key)
    k.regrow(table, larger)
    assert sorted(larger[larger != 0]) == sorted(keys)


def fast_of(board: Board) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.uint64]:
    points = board.state.shape[1]
    b, empty = np.zeros(points * 8, np.uint64), np.zeros(points, np.uint64)
    v = np.zeros(fast.V_SIZE, np.uint64)
    plain(fast.load)(board.state, b, empty, v)
    return b, empty, v, np.uint64((board.cols + 1) * 8)


@pytest.mark.parametrize("seed", range(3))
def test_the_fast_board_knows_liberties_and_eyes(seed: int) -> None:
    board, slow = middle_game(seed)
    b, _, _, width = fast_of(board)
    colour = board.turn
    for row in range(6):
        for col in range(7):
            if (row, col) in slow.stones:
                continue
            p = np.uint64(8 * raw(board, (row, col)))
            stones, taken, lost = slow.after((row, col), colour)
            after = 0 if lost else len(slow.block(stones, (row, col))[1])
            expected = 2 if taken else min(after, 2)
            assert liberties_after(b, p, np.uint64(colour), width) == expected
            if fast.is_playable(b, p, np.uint64(colour), width):
                assert not lost
            elif not lost:  # an own eye
                assert all(slow.stones[q] == colour for q in slow.neighbours((row, col)))


def test_playouts_of_a_chunk_do_not_depend_on_how_it_is_cut() -> None:
    board, shapes = Board(5, moves="B C3 W C2"), shape_table()
    for heavy in (False, True):
        whole, parts = np.zeros(6), np.zeros(6)
        owned, owned_in_parts = np.zeros(25), np.zeros(25)
        plies = run_chunk(board.state, shapes, heavy, 0, 6, 9, 100, whole, owned)
        cut = run_chunk(board.state, shapes, heavy, 0, 2, 9, 100, parts, owned_in_parts)
        cut += run_chunk(board.state, shapes, heavy, 2, 4, 9, 100, parts, owned_in_parts)
        assert plies == cut > 60
        assert (whole == parts).all() and (owned == owned_in_parts).all()
        assert len(set(whole)) > 1


def test_simple_moves_are_allowed_ones_and_leave_own_eyes() -> None:
    board = Board.from_ascii(". X . O / X X O O / . X O . / X X O O".replace("/", "\n"))
    mask = board.legal_mask()
    found = set()
    for seed in range(30):
        rng = np.array([seed], np.uint64)
        found.add(int(random_move(board.state, BLACK, False, mask, rng)))
    assert found == {raw(board, (0, 2))}  # all else of Black's is an eye, or is White's
    best = int(maxlib_move(board.state, BLACK, BY_BLOCK, mask, np.array([1], np.uint64)))
    assert best == raw(board, (0, 2))
    mask[:] = False
    assert random_move(board.state, BLACK, False, mask, np.array([1], np.uint64)) == PASS
