"""The fast board agrees with the slow reference on random games of all sizes and rules."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.needs import need

from tengen.board import BLACK, PASS, BatchBoard, Board, Rules, index_of
from tengen.board import kernels as k

sys.path.insert(0, str(Path(__file__).parent))
from reference import ReferenceBoard

KO_RULES = ("simple", "positional", "situational")


def play_random_game(
    rows: int, cols: int, ko: str, suicide: bool, rng: np.random.Generator, plies: int
) -> None:
    """Play one game on both boards and compare everything after every ply."""
    rules = Rules(ko=ko, suicide=suicide)  # type: ignore[arg-type]
    board = Board(rows, cols, rules=rules)
    slow = ReferenceBoard(rows, cols, ko, suicide)
    for _ in range(plies):
        if rng.random() < 0.05:  # a pass that nobody recorded
            board.turn, slow.before = 3 - board.turn, None
        colour = board.turn
        mask = board.legal_mask()
        expected = [slow.is_legal((i // cols, i % cols), colour) for i in range(rows * cols)]
        assert mask[:-1].tolist() == expected, repr(board)
        assert mask[-1]
        # Mostly stones; a rare pass so that games go on and kos come back.
        choices = np.flatnonzero(mask[:-1])
        if len(choices) == 0 or rng.random() < 0.02:
            board.play(PASS)
            slow.play(None, colour)
        else:
            index = int(rng.choice(choices))
            board.play((index // cols, index % cols))
            slow.play((index // cols, index % cols), colour)
        grid = board.grid()
        assert {
            (r, c): int(grid[r, c]) for r, c in zip(*np.nonzero(grid), strict=True)
        } == slow.stones
        assert board.prisoners == (slow.prisoners[1], slow.prisoners[2])
    assert k.area_score(board.state) == slow.area()
    for block in board.blocks():
        row_col = [divmod(index_of(p, rows, cols), cols) for p in block.stones]
        members, liberties = slow.block(slow.stones, row_col[0])
        assert members == set(row_col)
        assert liberties == {divmod(index_of(p, rows, cols), cols) for p in block.liberties}


def sweep(games: int, seed: int) -> None:
    """Spread games over sizes and rules; most are small, for there captures and kos abound."""
    rng = np.random.default_rng(seed)
    for game in range(games):
        large = game % 25 == 24
        low, high = (10, 26) if large else (2, 8)
        rows = int(rng.integers(low, high))
        cols = rows if rng.random() < 0.5 else int(rng.integers(low, high))
        plies = 40 if large else 4 * rows * cols
        play_random_game(rows, cols, KO_RULES[game % 3], game % 2 == 0, rng, plies)


def test_random_games_of_all_sizes_and_rules() -> None:
    sweep(120, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 20))
def test_many_random_games_of_all_sizes_and_rules(seed: int) -> None:
    sweep(400, seed)


@settings(max_examples=60)
@given(
    rows=st.integers(2, 6),
    cols=st.integers(2, 6),
    ko=st.sampled_from(KO_RULES),
    suicide=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_small_game(rows: int, cols: int, ko: str, suicide: bool, seed: int) -> None:
    play_random_game(rows, cols, ko, suicide, np.random.default_rng(seed), 3 * rows * cols)


def test_batch_agrees_with_single_boards() -> None:
    rng = np.random.default_rng(5)
    batch = BatchBoard(20, 5, 6, rules="tromp_taylor")
    boards = [Board(5, 6, rules="tromp_taylor") for _ in range(20)]
    for ply in range(80):
        masks = batch.legal_masks()
        moves = np.full(20, -1)
        for g, board in enumerate(boards):
            assert (masks[g] == board.legal_mask()).all()
            if not board.is_over and (g + ply) % 7:
                moves[g] = rng.choice(np.flatnonzero(masks[g]))
                board.play(PASS if moves[g] == 30 else (moves[g] // 6, moves[g] % 6))
        batch.play(moves)
    assert (batch.grids() == np.array([board.grid() for board in boards])).all()
    assert batch.area_scores().tolist() == [board.area_score() for board in boards]
    assert batch.over.tolist() == [board.is_over for board in boards]
    batch.reset(np.array([3]))
    assert not batch.grids()[3].any() and batch.turns[3] == BLACK


@pytest.mark.slow
@pytest.mark.parametrize("size", [9, 19])
def test_openspiel_agrees_on_random_games(size: int) -> None:
    pyspiel = need("pyspiel")
    # OpenSpiel refuses suicide and simple ko; a game ends as a draw when a position repeats.
    rng = np.random.default_rng(7)
    game = pyspiel.load_game(f"go(board_size={size},komi=7.5)")
    for _ in range(500):
        state, board = game.new_initial_state(), Board(size, rules=Rules(ko="simple"), komi=7.5)
        while not state.is_terminal():
            legal = state.legal_actions()
            # OpenSpiel counts rows from the bottom.
            ours = [
                (size - 1 - i // size) * size + i % size if i < size * size else i
                for i in np.flatnonzero(board.legal_mask())
            ]
            assert sorted(ours) == sorted(legal), repr(board)
            action = int(rng.choice(legal))
            state.apply_action(action)
            if action == size * size:
                board.play(PASS)
            else:
                row, col = size - 1 - action // size, action % size
                board.play((row, col))
        if board.is_over:
            assert (board.area_score() > 0) == (state.returns()[0] > 0)
