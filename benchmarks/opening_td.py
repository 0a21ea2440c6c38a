"""Show that learning openings costs time by games and by active inputs, not by all inputs.

    python benchmarks/opening_td.py

Four figures: (1) training games against seconds; (2) one learning step on the same 20 stones with
163 to 11,553 inputs, beside the dense step in NumPy; (3) one step against the number of stones;
(4) rating all moves by what each changes, beside reading a position from scratch. Kernels are
called from a kernel, so that the price of entering one from Python is not counted.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tengen.board import Board, random_point
from tengen.board.coordinates import row_col
from tengen.papers.opening_td import OpeningTD, TDSettings
from tengen.papers.opening_td.kernels import Net, after_ply, evaluate, learn, rate_moves
from tengen.papers.opening_td.learner import dense_inputs


@njit
def learn_often(memory, ply, goal, net, layout, scratch, times):  # type: ignore[no-untyped-def]
    for _ in range(times):
        learn(memory, ply, goal, net, layout, scratch, 1e-12, 0.0)


@njit
def rate_often(state, net, tables, layout, scratch, none, times):  # type: ignore[no-untyped-def]
    count = 0
    for _ in range(times):
        count = rate_moves(state, net, 5.5, tables, layout, none, 0, scratch)
    return count


@njit
def evaluate_often(state, net, tables, layout, scratch, times):  # type: ignore[no-untyped-def]
    for _ in range(times):
        evaluate(state, 1, 5.5, net, tables, layout, scratch, scratch.index, scratch.value)


class Even:
    """An expert that costs nothing."""

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> NDArray[np.float64]:
        return np.zeros(len(boards))


def seconds(work: Callable[[], object], repeat: int, best_of: int = 5) -> float:
    """Return the least CPU time of one call."""
    work()
    times = []
    for _ in range(best_of):
        begin = time.process_time()
        for _ in range(repeat):
            work()
        times.append((time.process_time() - begin) / repeat)
    return min(times)


def by_games() -> list[dict[str, float]]:
    """Time trainings of several lengths."""
    rows = []
    for games in (50, 100, 200, 400):
        learner = OpeningTD(settings=TDSettings(games=games)).draw()
        learner.one_game(Even())
        begin = time.process_time()
        for _ in range(games - 1):
            learner.one_game(Even())
        spent = time.process_time() - begin
        rows.append({"games": games, "seconds": spent, "ms_per_game": 1000 * spent / (games - 1)})
    return rows


def prepared(learner: OpeningTD, stones: int) -> Board:
    """Play random stones into the learner's memory; the last position is ready to learn from."""
    rng = np.random.default_rng(1)
    tables, layout, scratch, memory = learner.kernel_arrays
    board = Board(*learner.settings.shape, komi=5.5)
    for ply in range(stones):
        # The same stones in the middle of every board.
        while True:
            move = random_point(board, rng)
            row, col = row_col(move, board.cols)
            if abs(row - board.rows // 2) <= 4 and abs(col - board.cols // 2) <= 4:
                break
        memory.side[ply] = board.turn
        board.push(move)
        after_ply(board.state, ply, memory, 5.5, learner.net_, tables, layout, scratch, 0.0, 0.0)
    return board


def dense_step(net: Net, x: NDArray[np.float64], goal: float) -> None:
    """Take a learning step with dense products, in NumPy."""
    activity = 1 / (1 + np.exp(-(x @ net.w1 + net.b1)))
    output = 1 / (1 + np.exp(-(activity @ net.w2 + net.b2)))
    at_output = (goal - output) * output * (1 - output)
    at_hidden = (net.w2 @ at_output) * activity * (1 - activity)
    slopes = np.outer(x, at_hidden), at_hidden, np.outer(activity, at_output), at_output
    for weights, slope in zip(net, slopes, strict=True):
        weights += 1e-12 * slope


def learning_step(features: str, encoding: str, size: int, stones: int) -> dict[str, object]:
    """Time one sparse and one dense learning step on the same position."""
    settings = TDSettings(features=features, encoding=encoding, rows=size, plies=stones)
    learner = OpeningTD(settings=settings).draw()
    board = prepared(learner, stones)
    _, layout, scratch, memory = learner.kernel_arrays
    goal = 0.5
    work = (memory, stones - 1, goal, learner.net_, layout, scratch)
    sparse = seconds(lambda: learn_often(*work, 300), 1) / 300
    x = dense_inputs(board, settings, friend=int(memory.side[stones - 1]), komi=5.5)

    dense = seconds(partial(dense_step, learner.net_, x, goal), 20)
    return {
        "features": features, "encoding": encoding, "size": size, "stones": stones,
        "inputs": len(x), "active": int(np.count_nonzero(x)),
        "sparse_us": 1e6 * sparse, "dense_us": 1e6 * dense,
    }  # fmt: skip


def rating() -> list[dict[str, object]]:
    """Time the rating of all moves of a position, by changes and from scratch."""
    rows: list[dict[str, object]] = []
    for encoding in ("scalar", "binary"):
        for stones in (4, 10, 18):
            learner = OpeningTD(settings=TDSettings(encoding=encoding, plies=stones)).draw()
            board = prepared(learner, stones)
            tables, layout, scratch, _ = learner.kernel_arrays
            none = np.zeros(1, np.int64)

            work = (board.state, learner.net_, tables, layout, scratch)
            moves = rate_often(*work, none, 1)
            change = seconds(partial(rate_often, *work, none, 50), 1) / 50 / moves
            from_scratch = seconds(partial(evaluate_often, *work, 300), 1) / 300
            rows.append(
                {
                    "encoding": encoding, "stones": stones, "moves": moves,
                    "us_a_move_by_change": 1e6 * change,
                    "us_a_position_from_scratch": 1e6 * from_scratch,
                }
            )  # fmt: skip
    return rows


def main() -> None:
    """Print all figures as JSON lines."""
    for row in by_games():
        print(json.dumps({"what": "training games", **row}))
    for features, encoding, size in (
        ("A", "scalar", 9), ("ABCDE", "scalar", 9), ("ABCDE", "binary", 9), ("ACDE", "binary", 9),
        ("A", "scalar", 19), ("ACDE", "binary", 19), ("ABCDE", "binary", 19),
    ):  # fmt: skip
        print(json.dumps({"what": "one step", **learning_step(features, encoding, size, 20)}))
    for stones in (10, 20, 30, 40):
        print(json.dumps({"what": "stones", **learning_step("ACDE", "binary", 9, stones)}))
    for line in rating():
        print(json.dumps({"what": "rating moves", **line}))


if __name__ == "__main__":
    main()
