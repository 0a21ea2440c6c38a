"""Hashed patterns against a slow reference that hashes from scratch."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.board import BLACK, WHITE, Board
from tengen.board.kernels import is_legal
from tengen.learners.move_prediction import patterns
from tengen.learners.move_prediction.pattern_kernels import REACH, RING_LIMITS, RINGS, SPAN
from tengen.learners.move_prediction.settings import PAPER_TEMPLATES


def turned(o: int, dr: int, dc: int) -> tuple[int, int]:
    """The eight symmetries, written another way than in the kernels."""
    r, c = (dc, dr) if o >= 4 else (dr, dc)
    return (-r if o % 2 else r), (-c if o // 2 % 2 else c)


def slow_hashes(grid: np.ndarray, row: int, col: int, mover: int) -> list[int]:
    """Hash every template at a point by going through all its offsets."""
    keys = patterns.base_keys()
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


def random_game(rows: int, cols: int, plies: int, seed: int) -> patterns.PatternHasher:
    rng = np.random.default_rng(seed)
    hasher = patterns.PatternHasher(rows, cols)
    colour = BLACK
    for _ in range(plies):
        points = [
            p
            for p in range(hasher.state.shape[1])
            if hasher.state[0, p] == 0 and is_legal(hasher.state, p, colour)
        ]
        point = int(rng.choice(points)) if points else 0
        hasher.play(point, colour)
        colour = 3 - colour
    return hasher


def grid_at(hasher: patterns.PatternHasher, rows: int, cols: int) -> np.ndarray:
    grid = np.zeros((rows, cols), np.int64)
    for row in range(rows):
        for col in range(cols):
            grid[row, col] = hasher.state[0, (row + 1) * (cols + 1) + col + 1]
    return grid


@pytest.mark.parametrize(("rows", "cols", "plies"), [(5, 5, 60), (9, 7, 70), (19, 19, 120)])
def test_incremental_hashes_are_those_from_scratch(rows: int, cols: int, plies: int) -> None:
    hasher = random_game(rows, cols, plies, seed=rows)
    grid = grid_at(hasher, rows, cols)
    rng = np.random.default_rng(1)
    for _ in range(3):
        row, col = int(rng.integers(rows)), int(rng.integers(cols))
        for mover in (BLACK, WHITE):
            expected = slow_hashes(grid, row, col, mover)
            assert hasher.hashes(row, col, mover).tolist() == expected


def test_captures_leave_the_hashes_exact() -> None:
    # Small boards are full of captures and of suicides that are refused.
    for seed in range(20):
        hasher = random_game(4, 4, 50, seed)
        fresh = patterns.empty_rings(4, 4).copy()
        patterns.kernels.rings_of_state(
            hasher.state,
            fresh,
            patterns.empty_rings(4, 4),
            patterns.hash_keys(),
            patterns.ring_of(),
        )
        assert np.array_equal(fresh, hasher.rings)


def test_symmetric_boards_share_their_hashes() -> None:
    rng = np.random.default_rng(3)
    grid = rng.choice(3, size=(9, 9), p=[0.6, 0.2, 0.2]).astype(np.int8)
    grid[4, 4] = 0
    seen = set()
    for swap in (False, True):
        for turns in range(4):
            for mirror in (False, True):
                picture = np.rot90(grid, turns)
                picture = picture[:, ::-1] if mirror else picture
                if swap:
                    picture = np.array([0, 2, 1])[picture]
                hasher = patterns.PatternHasher(9)
                for row, col in np.argwhere(picture):
                    point = (int(row) + 1) * 10 + int(col) + 1
                    patterns.kernels.toggle_stone(
                        hasher.rings, patterns.hash_keys(), patterns.ring_of(), 9, 9, point,
                        int(picture[row, col]),
                    )  # fmt: skip
                seen.add(tuple(hasher.hashes(4, 4, WHITE if swap else BLACK).tolist()))
    assert len(seen) == 1
    assert len(set(next(iter(seen)))) == RINGS


def test_colours_matter_to_the_side_to_move() -> None:
    hasher = patterns.PatternHasher(9)
    hasher.play(4 * 10 + 5, BLACK)
    assert hasher.hashes(4, 4, BLACK)[0] != hasher.hashes(4, 4, WHITE)[0]


def test_hasher_of_a_board_is_that_of_its_moves() -> None:
    board = Board(7)
    hasher = patterns.PatternHasher(7)
    for vertex in ("C3", "D4", "E5", "B2"):
        colour = board.turn
        board.play(vertex)
        hasher.play(board.moves[-1][1], colour)
    assert np.array_equal(patterns.PatternHasher.of(board).rings, hasher.rings)


def test_template_sizes_are_the_published_ones() -> None:
    sizes = [patterns.template_size(ring) for ring in range(RINGS - 1)]
    assert sizes == [5, 9, 13, 21, 29, 37, 49, 61, 73, 105, 141]
    assert [patterns.template_size(r) for r in PAPER_TEMPLATES[:-1]] == [
        5, 9, 13, 21, 37, 61, 105,
    ]  # fmt: skip
