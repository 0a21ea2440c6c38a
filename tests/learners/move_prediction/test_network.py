"""The network's gradient, and the symmetries of what it says."""

from __future__ import annotations

import numpy as np
import pytest
from prediction_games import tasteful_game

from tengen.board import Board, tactics_kernels
from tengen.learners.move_prediction import (
    FullSettings,
    MovePredictor,
    feature_kernels,
    training_kernels,
)
from tengen.learners.move_prediction import network_kernels as net
from tengen.learners.move_prediction.dictionary import count_patterns
from tengen.learners.move_prediction.model import FullModel
from tengen.records.arrays import from_records

SIZE = 7


def small_model(seed: int = 1, absolute: bool = False) -> FullModel:
    games = from_records([tasteful_game(SIZE, SIZE, 40, k) for k in range(4)])
    keys, _ = count_patterns(games, SIZE, SIZE).chosen(2)
    model = FullModel.new(keys, absolute=absolute, seed=seed)
    rng = np.random.default_rng(seed)
    model.weights[:] = rng.standard_normal(len(model.weights)) * 0.3
    model.vectors[:] = rng.standard_normal(model.vectors.shape) * 0.2
    model.dense[:] = rng.standard_normal(len(model.dense)) * 0.1
    return model


def predictor_of(model: FullModel) -> MovePredictor:
    return MovePredictor.of(model, FullSettings(anywhere=True), [])


def board_after(record, symmetry: int = 0, swap: bool = False) -> Board:
    """Replay a game turned by one of eight symmetries, with colours swapped or not."""
    board = Board(SIZE)
    for colour, point in record.moves:
        row, col = divmod(point, SIZE + 1)
        row, col = place(row - 1, col - 1, symmetry)
        board.play((row, col), 3 - colour if swap else colour)
    return board


def place(row: int, col: int, symmetry: int) -> tuple[int, int]:
    if symmetry >= 4:
        row, col = col, row
    if symmetry % 2:
        row = SIZE - 1 - row
    if symmetry // 2 % 2:
        col = SIZE - 1 - col
    return row, col


def test_priors_keep_the_eight_symmetries_and_the_swap_of_colours() -> None:
    predictor = predictor_of(small_model())
    record = tasteful_game(SIZE, SIZE, 23, seed=9)
    priors = predictor.priors(board_after(record))
    assert priors[:-1].max() > 2 * priors[:-1][priors[:-1] > 0].min()
    for swap in (False, True):
        for symmetry in range(8):
            other = predictor.priors(board_after(record, symmetry, swap))
            for row in range(SIZE):
                for col in range(SIZE):
                    r, c = place(row, col, symmetry)
                    assert other[r * SIZE + c] == pytest.approx(
                        priors[row * SIZE + col], rel=2e-4, abs=1e-7
                    )


def test_the_gradient_is_the_slope_of_the_loss() -> None:
    model = small_model()
    record = tasteful_game(SIZE, SIZE, 21, seed=4)
    board = board_after(record)
    case = Case(model, board)
    loss = case.loss()
    grad, feature_grad = case.gradient()
    assert loss > 0
    step = 1e-3
    rng = np.random.default_rng(0)
    tried = [int(i) for i in rng.choice(len(model.dense), 25, replace=False)]
    for i in [*tried, len(model.dense) - 1]:
        slope = case.slope(model.dense, i, step)
        assert grad[i] == pytest.approx(slope, abs=2e-3 + 0.02 * abs(slope))
    for f, row in list(feature_grad.items())[::9]:
        slope = case.slope(model.weights, f, step)
        assert row[net.DIM] == pytest.approx(slope, abs=2e-3 + 0.02 * abs(slope))
        slope = case.slope(model.vectors, (f, 5), step)
        assert row[5] == pytest.approx(slope, abs=2e-3 + 0.02 * abs(slope))


class Case:
    """One position with everything the kernels need."""

    def __init__(self, model: FullModel, board: Board) -> None:
        from tengen.learners.move_prediction import patterns
        from tengen.learners.move_prediction.model import recent_moves
        from tengen.learners.move_prediction.tables import Tables

        self.model, self.s = model, board.state
        tables = Tables.of(SIZE, SIZE)
        n = self.s.shape[1]
        area = SIZE * SIZE
        rings = patterns.PatternHasher.of(board).rings
        self.points = np.zeros(area, np.int64)
        self.feats = np.zeros((area, feature_kernels.WIDTH), np.int32)
        self.widths = np.zeros(area, np.int64)
        self.shared = np.zeros(feature_kernels.GLOBAL_WIDTH, np.int32)
        self.n_moves, self.n, self.n_shared = feature_kernels.move_features(
            self.s, rings, tables.marks, model.dictionary.table, model.dictionary.values,
            recent_moves(board), model.absolute, self.points, self.feats, self.widths, self.shared,
        )  # fmt: skip
        self.acts = np.zeros((net.LAYERS + 1, n, net.DIM), np.float32)
        self.Y = np.zeros((net.LAYERS, n, net.DIM), np.float32)
        self.work = np.zeros((5, n, net.DIM), np.float32)
        self.logits = np.zeros(area, np.float32)
        self.probs = np.zeros(area)
        self.target = 3

    def loss(self) -> float:
        m = self.model
        net.forward(
            self.s, self.feats, self.widths, self.points, self.n, self.n_moves, self.shared,
            self.n_shared, m.weights, m.vectors, m.dense, self.acts, self.Y, self.work, self.logits,
        )  # fmt: skip
        net.softmax(self.logits, self.n_moves, self.probs)
        return -float(np.log(self.probs[self.target]))

    def slope(self, array: np.ndarray, index, step: float) -> float:
        old = array[index]
        array[index] = old + step
        rise = self.loss()
        array[index] = old - step
        fall = self.loss()
        array[index] = old
        return (rise - fall) / (2 * step)

    def gradient(self):
        m = self.model
        self.loss()
        grad = np.zeros_like(m.dense)
        da = np.zeros((self.s.shape[1], net.DIM), np.float32)
        net.backward_dense(
            self.s, self.probs, self.target, self.points, self.n_moves, m.dense, grad, self.acts,
            self.Y, self.work, da,
        )  # fmt: skip
        slots = np.full(len(m.weights), -1, np.int64)
        touched = np.zeros(5000, np.int64)
        count = np.zeros(1, np.int64)
        buffer = np.zeros((5000, net.DIM + 1), np.float32)
        net.backward_features(
            self.feats, self.widths, self.points, self.n, self.n_moves, self.shared, self.n_shared,
            self.probs, self.target, da, 0.0, slots, touched, count, buffer,
        )  # fmt: skip
        return grad, {int(touched[i]): buffer[i] for i in range(int(count[0]))}


def test_ties_share_credit() -> None:
    hits = np.zeros(3)
    logits = np.array([1.0, 2.0, 1.0, 1.0, 0.0], np.float32)
    net.rank_credit(logits, 5, 2, np.array([1, 2, 3]), hits)
    assert hits.tolist() == [0.0, pytest.approx(1 / 3), pytest.approx(2 / 3)]


def test_features_fit_their_room() -> None:
    case = Case(small_model(), board_after(tasteful_game(SIZE, SIZE, 30, seed=2)))
    assert 0 < case.n_moves <= case.n == SIZE * SIZE
    assert case.widths[: case.n].max() < feature_kernels.WIDTH
    assert case.n_shared < feature_kernels.GLOBAL_WIDTH
    for m in range(case.n):
        row = case.feats[m, : case.widths[m]]
        assert np.all((row >= 0) & (row < len(case.model.weights)))
        assert len(set(row.tolist())) == len(row)


def test_dictionary_does_not_depend_on_workers() -> None:
    games = from_records([tasteful_game(SIZE, SIZE, 30, k) for k in range(3)])
    one = count_patterns(games, SIZE, SIZE).chosen(1)
    out = np.zeros((len(games.moves), feature_kernels.FAMILIES * 12), np.int64)
    assert len(one[0]) > 100
    assert one[1].sum() <= out.size
    assert training_kernels.RECENT == 8


def test_features_do_not_depend_on_how_the_board_lies() -> None:
    model = small_model()

    def named(record, symmetry: int, swap: bool) -> dict[tuple[int, int], list[int]]:
        case = Case(model, board_after(record, symmetry, swap))
        where = {int(p): k for k, p in enumerate(case.points[: case.n])}
        found = {}
        for row in range(SIZE):
            for col in range(SIZE):
                r, c = place(row, col, symmetry)
                k = where[(r + 1) * (SIZE + 1) + c + 1]
                found[row, col] = sorted(case.feats[k, : case.widths[k]].tolist())
        return found

    for seed in range(20):
        record = tasteful_game(SIZE, SIZE, 20 + seed, seed=50 + seed)
        plain = named(record, 0, False)
        for symmetry in range(8):
            for swap in (False, True):
                assert named(record, symmetry, swap) == plain, (seed, symmetry, swap)


def test_ladders_are_read_for_both_sides() -> None:
    from tengen.board.tactics_kernels import read_blocks

    # White's stone at E5 has two liberties; Black catches it from F5, not from E6.
    open_board = """
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . X . . . . .
        . . . X O . . . .
        . . . . X X . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
    """
    broken = open_board.replace(". . . . . . . . .", ". . . . . . O . .", 2)

    def read(picture: str, mover: int):
        s = Board.from_ascii(picture, to_play=mover).state
        n = s.shape[1]
        start, count = np.zeros(n, np.int64), np.zeros(n, np.int64)
        libs, stamp = np.zeros(4 * n, np.int64), np.zeros(n, np.int64)
        said, stones = np.zeros(n, np.int64), np.zeros(n, np.int64)
        read_blocks(s, start, count, libs, stamp)
        tactics_kernels.read_ladders(s, mover, start, count, libs, said, stones)
        return said, stones

    stone, up, right = 5 * 10 + 5, 4 * 10 + 5, 5 * 10 + 6
    said, stones = read(open_board, 1)
    assert stones[stone] == 3
    caught = [p for p in (up, right) if said[p] >> (2 * tactics_kernels.CATCHES) & 1]
    assert caught
    said, stones = read(open_board, 2)
    assert said[up] and said[right]
    said, stones = read(broken, 1)
    assert stones[stone] == 4
    assert said[up] >> (2 * tactics_kernels.ATARI_IN_VAIN) & 1
    assert said[right] >> (2 * tactics_kernels.ATARI_IN_VAIN) & 1
