"""Hashed patterns against a slow reference that hashes from scratch."""

from __future__ import annotations

import numpy as np
import pytest
from prediction_games import pattern_hashes, rings_of

from tengen.board import BLACK, WHITE, Board
from tengen.board.kernels import is_legal, new_state
from tengen.papers.move_prediction import kernels
from tengen.papers.move_prediction.kernels import REACH, RING_LIMITS, RINGS, SPAN
from tengen.papers.move_prediction.model import hash_tables
from tengen.papers.move_prediction.settings import TEMPLATES


def turned(o: int, dr: int, dc: int) -> tuple[int, int]:
    """The eight symmetries, written another way than in the kernels."""
    r, c = (dc, dr) if o >= 4 else (dr, dc)
    return (-r if o % 2 else r), (-c if o // 2 % 2 else c)


def slow_hashes(grid: np.ndarray, row: int, col: int, mover: int) -> list[int]:
    """Hash every template at a point by going through all its offsets."""
    keys = hash_tables(*grid.shape)[1][:, :, 0]
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
        kernels.play_with_rings(state, rings, keys, ring_of, before, point, colour)
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
        kernels.rings_of_state(state, fresh, empty, keys, ring_of)
        assert np.array_equal(fresh, rings)


def test_colours_matter_to_the_side_to_move() -> None:
    rings = rings_of(Board(9, moves="B E6"))
    assert pattern_hashes(rings, 40, BLACK)[0] != pattern_hashes(rings, 40, WHITE)[0]


def test_template_sizes_are_the_published_ones() -> None:
    ring_of = hash_tables(9, 9)[2]
    sizes = [1 + np.count_nonzero((ring_of >= 0) & (ring_of <= r)) for r in range(RINGS - 1)]
    assert sizes == [5, 9, 13, 21, 29, 37, 49, 61, 73, 105, 141]
    assert [sizes[ring] for ring in TEMPLATES[:-1]] == [5, 9, 13, 21, 37, 61, 105]
