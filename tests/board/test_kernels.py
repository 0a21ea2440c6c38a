"""The board's kernels, called as the board calls them, against the slow board and by definition."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from tengen.board import BLACK, EMPTY, PASS, WHITE, BatchBoard, Board, Rules, play_random
from tengen.board import kernels as k
from tengen.board import layout_kernels as layout
from tengen.board import playout_kernels as fast
from tengen.board.counting_kernels import (
    BLACK_FALSE_EYE,
    BLACK_OPEN,
    BLACK_SEKI_POINT,
    BLACK_SEKI_STONE,
    BLACK_STONE,
    BLACK_TERRITORY,
    DAME,
    MAX_CELLS,
    WHITE_FALSE_EYE,
    WHITE_OPEN,
    WHITE_SEKI_POINT,
    WHITE_SEKI_STONE,
    WHITE_STONE,
    WHITE_TERRITORY,
    careful_kinds,
    plain_kinds,
    territory_margin,
)
from tengen.board.kernels import (
    TRUSTED,
    batch_masks,
    batch_play,
    batch_scores,
    number_alike,
    replay_games,
)
from tengen.board.playout_kernels import liberties_after, run_chunk
from tengen.board.playouts import shape_table
from tengen.board.rules import KO_NUMBERS, PRESETS, HandicapBonus, KoRule, Scoring
from tengen.board.simple_kernels import BY_BLOCK, maxlib_move, random_move
from tengen.board.symmetry import N_SYMMETRIES
from tengen.board.tactics_kernels import (
    MAX_READS,
    atari_mask,
    eye_map,
    read_ladder,
    real_eye_owner,
    safety_scratch,
)

sys.path.insert(0, str(Path(__file__).parent))
from reference import ReferenceBoard

SEKI = """
    . X O O . X .
    X X O X X X .
    O O O X O O O
    X X X X O . .
    . . . X O . .
"""


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


# ----- Layouts and tables of numbers -----


def test_every_field_of_a_state_has_a_row_of_its_own() -> None:
    rows = (
        *(layout.COLOUR, layout.HEAD, layout.NEXT, layout.SIZE, layout.PLIB, layout.PSUM),
        *(layout.PSQ, layout.BHASH, layout.EMPTIES, layout.EPOS, layout.SCALARS),
    )
    assert sorted(rows) == list(range(layout.FIELDS))
    numbers = (
        *(layout.ROWS, layout.COLS, layout.TURN, layout.KO, layout.N_EMPTY),
        *(layout.PRISONERS_B, layout.PRISONERS_W, layout.HASH, layout.PLIES),
        *(layout.PASSES, layout.LAST, layout.LAST2, layout.SUICIDE),
    )
    assert sorted(numbers) == list(range(len(numbers)))
    assert len(numbers) <= plain(k.n_points)(2, 2)  # they fit the smallest board's row
    assert plain(k.n_points)(layout.MAX_SIZE, layout.MAX_SIZE) == layout.MAX_POINTS


def test_every_word_of_a_fast_record_has_a_place_of_its_own() -> None:
    words = (fast.HEAD_, fast.NEXT_, fast.SIZE_, fast.PLIB_, fast.PSUM_, fast.PSQ_, fast.EPOS_)
    assert sorted(map(int, words)) == list(range(1, int(fast.RECORD)))
    numbers = (fast.V_EMPTY, fast.V_KO, fast.V_RNG, fast.V_LAST, fast.V_LAST2)
    assert len(set(map(int, numbers))) == 5 and max(map(int, numbers)) < fast.V_SIZE
    assert [fast.U0, fast.U1, fast.U2, fast.U3] == [fast.U(i) for i in range(4)]


def test_what_a_point_counts_for_has_a_number_of_its_own() -> None:
    kinds = (
        *(BLACK_TERRITORY, WHITE_TERRITORY, BLACK_STONE, WHITE_STONE),
        *(BLACK_SEKI_STONE, WHITE_SEKI_STONE, BLACK_SEKI_POINT, WHITE_SEKI_POINT),
        *(BLACK_FALSE_EYE, WHITE_FALSE_EYE, BLACK_OPEN, WHITE_OPEN, DAME),
    )
    assert list(kinds) == list(range(1, 14))


def test_each_rule_that_can_be_named_is_known() -> None:
    assert set(get_args(KoRule)) == set(KO_NUMBERS)
    assert (k.KO_SIMPLE, k.KO_POSITIONAL) == (KO_NUMBERS["simple"], KO_NUMBERS["positional"])
    assert TRUSTED not in KO_NUMBERS.values()
    for name, rules in PRESETS.items():
        assert Rules.preset(name) == rules
        assert rules.scoring in get_args(Scoring)
        assert rules.handicap_bonus in get_args(HandicapBonus)


def test_eyes_of_more_cells_than_a_mask_has_bits_are_not_read() -> None:
    assert 0 < MAX_CELLS <= 62  # a mask is an int64, and its sign is no cell


# ----- Stones -----


@pytest.mark.parametrize("seed", range(4))
def test_a_state_gives_its_stones_and_their_liberties_back(seed: int) -> None:
    board, slow = middle_game(seed)
    grid = np.empty(42, np.int8)
    k.to_grid(board.state, grid)
    for place, colour in slow.stones.items():
        assert grid[place[0] * 7 + place[1]] == colour
        liberties = len(slow.block(slow.stones, place)[1])
        for limit in (1, 3, 16):
            seen = int(k.count_liberties(board.state, raw(board, place), limit))
            assert seen == liberties or min(seen, liberties) >= limit
    assert np.count_nonzero(grid) == len(slow.stones)


@pytest.mark.parametrize("ko", KO_NUMBERS)
def test_one_move_and_all_moves_are_allowed_alike(ko: str) -> None:
    board = play_random(Board(5, rules=Rules(ko=ko)), 40, np.random.default_rng(2))  # type: ignore[arg-type]
    mask = np.empty(26, np.bool_)
    table, number = board._table, KO_NUMBERS[ko]
    k.allowed_mask(board.state, table, number, board.turn, mask)
    assert mask.tolist() == [
        bool(k.is_allowed(board.state, table, number, point, board.turn))
        for point in (*(raw(board, (r, c)) for r in range(5) for c in range(5)), PASS)
    ]
    assert mask[-1] and not mask.all()


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


def test_connected_points_of_one_kind_get_one_number() -> None:
    width, border = 4, -1
    kind = np.full(21, border, np.int8)
    for row, line in enumerate(((0, 0, 1), (1, 0, 1), (1, 1, 0))):
        kind[5 + 4 * row : 8 + 4 * row] = line
    number, stack = np.empty(21, np.int32), np.empty(21, np.int32)
    assert plain(number_alike)(kind, width, number, stack) == 4
    rows = [number[5 + 4 * row : 8 + 4 * row].tolist() for row in range(3)]
    assert rows == [[0, 0, 1], [2, 0, 1], [2, 2, 3]]
    assert (number[kind == border] == -1).all()


# ----- Many games -----


def test_a_batch_plays_as_its_boards_would() -> None:
    batch, boards = BatchBoard(3, 4), [Board(4) for _ in range(3)]
    states, tables = batch.states, batch._tables
    for index in ([0, 5, -1], [1, 5, 16]):
        refused = np.empty(3, np.bool_)
        batch_play(states, tables, batch._ko_rule, np.array(index), refused)
        for board, i, no in zip(boards, index, refused, strict=True):
            move = PASS if i == 16 else (i // 4, i % 4)
            assert no == (i >= 0 and not board.is_legal(move))
            if i >= 0 and not no:
                board.play(move)
    masks, scores = np.empty((3, 17), np.bool_), np.empty(3, np.int64)
    batch_masks(states, tables, batch._ko_rule, masks)
    batch_scores(states, scores)
    for board, mask, score in zip(boards, masks, scores, strict=True):
        assert (mask == board.legal_mask()).all()
        assert score == board.area_score() + board.komi


def test_games_are_replayed_up_to_the_first_refused_move() -> None:
    board = Board(3, moves="B A3 W B3 B B2 W C2")  # A3 = 5, B3 = 6, B2 = 10, C2 = 11
    points = [int(point) for _, point in board.moves]
    moves = np.array([*points, *points[:2], points[0], points[2]], np.int16)
    colours = np.array([1, 2] * 4, np.int8)
    offsets, sides = np.array([0, 4, 8]), np.array([3, 3])
    nothing, none = np.empty(0, np.int16), np.zeros(3, np.int64)
    ends, grids = np.empty((2, 3), np.int64), np.zeros((2, 3, 3), np.int8)
    rest = (nothing, np.empty(0, np.int8), none)
    simple = KO_NUMBERS["simple"]
    played = replay_games(moves, colours, offsets, sides, sides, *rest, simple, 1.0, ends, grids)
    assert played == 6 and ends[:, 0].tolist() == [-1, 2]
    assert (grids[0] == board.grid()).all()
    trusted = replay_games(moves, colours, offsets, sides, sides, *rest, TRUSTED, 1.0, ends, grids)
    assert trusted == 7 and ends[:, 0].tolist() == [-1, -1]


# ----- Counting -----


def test_territory_is_what_one_colour_alone_touches() -> None:
    grid = Board.from_ascii(". X . O .\n. X . O .\n. X . O .").grid()
    dead, kinds = np.zeros((3, 5), np.bool_), np.empty((3, 5), np.int8)
    for count in (plain_kinds, careful_kinds):
        count(grid, dead, kinds)
        assert (kinds == BLACK_TERRITORY).sum() == 3 and (kinds == WHITE_TERRITORY).sum() == 3
        assert (kinds[:, 2] == DAME).all()
    dead[:, 3:] = grid[:, 3:] == WHITE
    for careful in (False, True):
        assert territory_margin(grid, dead, careful, kinds) == 12 + 3  # points and dead stones


def test_only_careful_counting_sees_seki() -> None:
    grid = Board.from_ascii(SEKI).grid()
    dead, kinds = np.zeros(grid.shape, np.bool_), np.empty(grid.shape, np.int8)
    plain_kinds(grid, dead, kinds)
    assert not np.isin(kinds, (BLACK_SEKI_STONE, WHITE_SEKI_STONE)).any()
    careful_kinds(grid, dead, kinds)
    assert np.isin(kinds, (BLACK_SEKI_STONE, WHITE_SEKI_STONE)).any()


# ----- Safety -----


def test_eyes_atari_and_ladders_of_one_line() -> None:
    board = Board.from_ascii(
        """
        . X . X O .
        X X X O . O
        . . . . O .
        . O O . . .
        . O X O . .
        . . . . . .
        """
    )
    line, width = board.state[layout.COLOUR].copy(), 7
    eyes, single = np.empty(len(line), np.int64), np.empty(len(line), np.int8)
    eye_map(line, width, eyes)
    assert eyes[raw(board, (0, 0))] == BLACK == real_eye_owner(line, raw(board, (0, 0)), width)
    assert eyes[raw(board, (1, 4))] == WHITE
    assert eyes[raw(board, (0, 2))] == -BLACK  # an enemy stone on a diagonal at the edge
    assert real_eye_owner(line, raw(board, (0, 2)), width) == EMPTY
    scratch = safety_scratch(len(line))
    atari_mask(line, width, scratch, single)
    slow = ReferenceBoard(6, 6, "simple", False)
    slow.stones = {(int(r), int(c)): int(board.grid()[r, c]) for r, c in np.argwhere(board.grid())}
    for place in slow.stones:
        lonely = len(slow.block(slow.stones, place)[1]) == 1
        assert bool(single[raw(board, place)]) == lonely
    chased = raw(board, (4, 2))
    reads = np.zeros(1, np.int64)
    taken = read_ladder(line, chased, width, True, 0, reads, scratch)
    assert taken == raw(board, (5, 2)) and reads[0] <= MAX_READS
    assert (line == board.state[layout.COLOUR]).all()


# ----- Chance -----


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


def test_there_are_as_many_symmetries_as_a_square_has() -> None:
    corner = np.zeros((3, 3), np.int8)
    corner[0, 1] = corner[0, 0] = 1
    turned = {np.rot90(side, i).tobytes() for side in (corner, corner.T) for i in range(4)}
    assert len(turned) == N_SYMMETRIES
