"""Hashed patterns against a slow reference that hashes from scratch."""

from __future__ import annotations

import numpy as np
import pytest
from prediction_games import pattern_hashes, rings_of

from tengen.board import BLACK, WHITE, Board
from tengen.board.kernels import is_legal, new_state
from tengen.learners.move_prediction import pattern_kernels
from tengen.learners.move_prediction.model import base_keys, hash_tables
from tengen.learners.move_prediction.pattern_kernels import REACH, RING_LIMITS, RINGS, SPAN
from tengen.learners.move_prediction.settings import TEMPLATES


def turned(o: int, dr: int, dc: int) -> tuple[int, int]:
    """The eight symmetries, written another way than in the kernels."""
    r, c = (dc, dr) if o >= 4 else (dr, dc)
    return (-r if o % 2 else r), (-c if o // 2 % 2 else c)


def slow_hashes(grid: np.ndarray, row: int, col: int, mover: int) -> list[int]:
    """Hash every template at a point by going through all its offsets."""
    keys = base_keys()
    rows, cols = grid.shape
    result = []
    for limit in RING_LIMITS:
        variants = []
        for o in range(8):
            h = 0
            for dr in range(-REACH, REACH + 1):
                for dc in range(-REACH, REACH + 1):
                    d = abs(dr) + abs(dc) + max(abs(dr), abs(dc))
                    if d == 0 or d > limit:
                        continue
                    r, c = row + dr, col + dc
                    if not (0 <= r < rows and 0 <= c < cols):
                        state = 2
                    elif grid[r, c] == 0:
                        continue
                    else:
                        state = 0 if grid[r, c] == mover else 1
                    tr, tc = turned(o, dr, dc)
                    h ^= int(keys[(tr + REACH) * SPAN + tc + REACH, state])
            variants.append(h)
        result.append(min(variants))
    return result


def random_game(rows: int, cols: int, plies: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Play at random; return the position and its incremental rings."""
    rng = np.random.default_rng(seed)
    empty, keys, ring_of = hash_tables(rows, cols)
    state, rings = new_state(rows, cols), empty.copy()
    before = np.zeros(state.shape[1], np.int64)
    colour = BLACK
    for _ in range(plies):
        points = [
            p for p in range(state.shape[1]) if state[0, p] == 0 and is_legal(state, p, colour)
        ]
        point = int(rng.choice(points)) if points else 0
        pattern_kernels.play_with_rings(state, rings, keys, ring_of, before, point, colour)
        colour = 3 - colour
    return state, rings


@pytest.mark.parametrize(("rows", "cols", "plies"), [(5, 5, 60), (9, 7, 70), (19, 19, 120)])
def test_incremental_hashes_are_those_from_scratch(rows: int, cols: int, plies: int) -> None:
    state, rings = random_game(rows, cols, plies, seed=rows)
    points = np.add.outer(np.arange(1, rows + 1) * (cols + 1), np.arange(1, cols + 1))
    grid = state[0][points]
    rng = np.random.default_rng(1)
    for _ in range(3):
        row, col = int(rng.integers(rows)), int(rng.integers(cols))
        for mover in (BLACK, WHITE):
            expected = slow_hashes(grid, row, col, mover)
            assert pattern_hashes(rings, row * cols + col, mover).tolist() == expected


def test_captures_leave_the_hashes_exact() -> None:
    # Small boards are full of captures and of suicides that are refused.
    empty, keys, ring_of = hash_tables(4, 4)
    for seed in range(20):
        state, rings = random_game(4, 4, 50, seed)
        fresh = empty.copy()
        pattern_kernels.rings_of_state(state, fresh, empty, keys, ring_of)
        assert np.array_equal(fresh, rings)


def test_symmetric_boards_share_their_hashes() -> None:
    rng = np.random.default_rng(3)
    grid = rng.choice(3, size=(9, 9), p=[0.6, 0.2, 0.2]).astype(np.int8)
    grid[4, 4] = 0
    empty, keys, ring_of = hash_tables(9, 9)
    seen = set()
    for swap in (False, True):
        for turns in range(4):
            for mirror in (False, True):
                picture = np.rot90(grid, turns)
                picture = picture[:, ::-1] if mirror else picture
                if swap:
                    picture = np.array([0, 2, 1])[picture]
                rings = empty.copy()
                for row, col in np.argwhere(picture):
                    point, colour = (int(row) + 1) * 10 + int(col) + 1, int(picture[row, col])
                    pattern_kernels.toggle_stone(rings, keys, ring_of, 9, 9, point, colour)
                seen.add(tuple(pattern_hashes(rings, 40, WHITE if swap else BLACK).tolist()))
    assert len(seen) == 1
    assert len(set(next(iter(seen)))) == RINGS


def test_colours_matter_to_the_side_to_move() -> None:
    rings = rings_of(Board(9, moves="B E6"))
    assert pattern_hashes(rings, 40, BLACK)[0] != pattern_hashes(rings, 40, WHITE)[0]


def test_template_sizes_are_the_published_ones() -> None:
    ring_of = hash_tables(9, 9)[2]
    sizes = [1 + np.count_nonzero((ring_of >= 0) & (ring_of <= r)) for r in range(RINGS - 1)]
    assert sizes == [5, 9, 13, 21, 29, 37, 49, 61, 73, 105, 141]
    assert [sizes[ring] for ring in TEMPLATES[:-1]] == [5, 9, 13, 21, 37, 61, 105]


def test_every_orientation_of_a_key_is_there_once() -> None:
    base = base_keys()
    assert base.shape == (SPAN * SPAN, 3) and len(np.unique(base)) == base.size
    keys = hash_tables(9, 9)[1]
    for orientation in range(8):
        assert sorted(keys[:, 0, orientation]) == sorted(base[:, 0])
    corner = keys[0, 0]  # at the far end of a diagonal: four images, two orientations each
    assert len(set(corner.tolist())) == 4


def test_counting_stops_before_the_table_is_full() -> None:
    table, counts, used = np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(1, np.int64)
    keys = np.array([1, 2, 1, 0, 3, 4, 5, 6], np.int64)
    done = pattern_kernels.add_counts(table, counts, used, keys, np.ones(8, np.int64))
    assert used[0] == 4 and done == 6  # 60 % of eight; key 0 is none
    assert counts[table == 1] == 2
