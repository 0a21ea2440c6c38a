"""Evolved networks: sizes as in the paper, incremental sums against the plain forward pass."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.board import BLACK, PASS, Board, Rules
from tengen.board.coordinates import transform
from tengen.errors import ModelError
from tengen.papers.opening_evolution.networks import Dense, Shape, Shared, Spatial, Tiled

BOARDS = 6


def some_board(rng: np.random.Generator, size: int, plies: int) -> Board:
    board = Board(size, rules=Rules(ko="simple"))
    for _ in range(plies):
        board.push(int(rng.choice(list(board.legal_moves)[:-1] or [PASS])))
    return board


def plain_dense(shape: Dense, weights: np.ndarray, board: Board, me: int) -> float:
    """The forward pass by its definition."""
    grid = board.grid().ravel()
    x = np.where(grid == 0, 0.0, np.where(grid == me, 1.0, -1.0))
    _, w1, w2 = shape.cut(weights)
    hidden = np.tanh(np.append(x, 1.0) @ w1)
    return float(np.tanh(np.append(hidden, 1.0) @ w2))


def plain_spatial(shape: Spatial, weights: np.ndarray, board: Board, me: int) -> float:
    grid = board.grid()
    x = np.where(grid == 0, 0.0, np.where(grid == me, 1.0, -1.0))
    w0, w1, w2 = shape.cut(weights)
    units = []
    for start, m, place in shape.windows:
        r, c = divmod(int(start), shape.cols)
        kernel = w0[place : place + m * m].reshape(m, m)
        units.append(np.tanh((x[r : r + m, c : c + m] * kernel).sum() + w0[place + m * m]))
    hidden = np.tanh(np.append(units, 1.0) @ w1)
    return float(np.tanh(np.append(hidden, 1.0) @ w2))


def test_sizes_are_the_papers() -> None:
    assert Dense().hidden == 55 and Dense().n_weights == 9_350 + 56
    full = Spatial()
    assert len(full.windows) == 286 and full.hidden == 95
    assert full.n_weights == 36_063 + 286 + 95 + 1
    assert len(Spatial(9, 9).windows) == 84 and Spatial(9, 9).hidden == 28
    assert Shared().n_weights == 158
    # Four more kernels of 3x3 and 5x5 with their places; one 7x7 window and six plain units.
    assert Tiled().n_weights == 10 + 1 + 10 + 6 * (28 + 2) + 1


@pytest.mark.parametrize("size", [5, 9])
def test_values_agree_with_the_plain_forward_pass(size: int) -> None:
    rng = np.random.default_rng(1)
    dense, spatial = Dense(size, size), Spatial(size, size)
    for _ in range(BOARDS):
        board = some_board(rng, size, 12)
        for me in (1, 2):
            w = rng.normal(0, 0.5, dense.n_weights)
            assert dense.value(w, board, me) == pytest.approx(plain_dense(dense, w, board, me))
            w = rng.normal(0, 0.5, spatial.n_weights)
            assert spatial.value(w, board, me) == pytest.approx(
                plain_spatial(spatial, w, board, me)
            )


def slow_minimax(shape: Shape, weights: np.ndarray, board: Board, plies: int) -> dict[int, float]:
    """Value every legal move by playing everything out on real boards."""
    me = board.turn
    values = {}
    for move in list(board.legal_moves)[:-1]:
        after = board.copy()
        after.push(move)
        replies = [PASS, *list(after.legal_moves)[:-1]] if plies == 2 else [PASS]
        values[move] = np.inf
        for reply in replies:
            twin = after.copy()
            twin.push(reply)
            values[move] = min(values[move], shape.value(weights, twin, me))
    return values


@pytest.mark.parametrize("plies", [1, 2])
@pytest.mark.parametrize(("kind", "size"), [(Dense, 4), (Spatial, 5)])
def test_search_finds_the_best_move_captures_included(
    kind: type[Shape], size: int, plies: int
) -> None:
    rng = np.random.default_rng(plies)
    for _ in range(BOARDS):
        # A crowded little board, so that moves and replies capture.
        board = some_board(rng, size, 22 if size == 4 else 30)
        shape = kind(size, size, plies=plies)
        weights = rng.normal(0, 0.3, shape.n_weights)
        values = slow_minimax(shape, weights, board, plies)
        chosen, _ = shape.choose(weights, board, rng)
        if not values:
            assert chosen == PASS
        else:
            assert values[chosen] == pytest.approx(max(values.values()), abs=1e-12)


@pytest.mark.parametrize("plies", [1, 2])
def test_chance_chooses_evenly_among_equal_values_and_only_among_them(plies: int) -> None:
    rng = np.random.default_rng(plies)
    shape = Dense(4, 4, plies=plies)
    for scale in (0.0, 30.0):  # constant outputs; outputs of which many are exactly 1 or -1
        weights = rng.normal(0, scale, shape.n_weights) if scale else np.zeros(shape.n_weights)
        board = Board(4, moves="B A1 W B2 B D3")
        values = slow_minimax(shape, weights, board, plies)
        best = {move for move, value in values.items() if value == max(values.values())}
        drawn = [shape.choose(weights, board, rng) for _ in range(60 * len(best))]
        counts = [sum(move == chosen for chosen, _ in drawn) for move in best]
        assert sum(counts) == len(drawn) and min(counts) > 25 and max(counts) < 100
        assert all(chance for _, chance in drawn) or len(best) == 1


def test_free_choice_may_be_illegal() -> None:
    board = Board(5, moves="B C3")
    weights = np.zeros(Dense(5, 5).n_weights)
    shape = Dense(5, 5, plies=1, free=True)
    _, w1, w2 = shape.cut(weights)
    w1[12, 0] = w2[0] = 1.0  # one unit that likes a stone in the centre, which is taken
    rng = np.random.default_rng(0)
    assert shape.choose(weights, board, rng) == (board.point("C3"), False)
    legal, by_chance = Dense(5, 5, plies=1).choose(weights, board, rng)
    assert board.is_legal(board.to_point(legal)) and by_chance


@pytest.mark.parametrize("shape", [Shared(7, 7), Tiled(7, 7)])
def test_shared_weights_know_no_orientation(shape: Shape) -> None:
    rng = np.random.default_rng(4)
    weights = rng.normal(0, 0.5, shape.n_weights)
    board = some_board(rng, 7, 15)
    values = [
        shape.value(weights, Board.from_grid(transform(board.grid(), element)), BLACK)  # type: ignore[arg-type]
        for element in range(8)
    ]
    assert np.ptp(values) < 1e-12


@pytest.mark.parametrize("shape", [Shared(5, 5), Tiled(5, 5)])
def test_few_weights_unfold_into_a_plain_network(shape: Shape) -> None:
    weights = np.random.default_rng(5).normal(0, 0.5, shape.n_weights)
    plain, full = shape.unfold(weights)
    assert full.shape == (plain.n_weights,)
    assert set(weights) <= set(full) <= {0.0, *weights}
    assert plain.unfold(full)[1] is full


def test_wrong_number_of_weights_is_refused() -> None:
    with pytest.raises(ModelError, match="has 9406 weights"):
        Dense().choose(np.zeros(5), Board(13), np.random.default_rng(0))
