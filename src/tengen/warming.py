"""What `tengen compile` runs: every kernel of each package once, on something small.

One function per package, in the order in which they are compiled: the board first, because all
build on it, then those that take longest. Imports are inside, so that one package can be compiled
without the others.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tengen.arrays import FloatArray
    from tengen.board import Board
    from tengen.records.arrays import GameBatch

_GAME = "B C3 W C2 B B2 W D3"


def _board() -> None:
    from tengen.board import BatchBoard, Board, kernels, playouts
    from tengen.board.counting import unconditional

    board = Board(5, moves=_GAME)
    board.legal_mask()
    board.blocks()
    board.undo()
    board.area_score()
    unconditional(board.grid(), 1)
    kernels.regrow(board._table, np.zeros_like(board._table))  # what a long game needs
    playouts(board, 2, kind="heavy")
    batch = BatchBoard(2, 5)
    batch.legal_masks()
    batch.play(np.array([0, 1]))
    batch.area_scores()


def _records() -> None:
    from tengen.records.corpus import Unseen, replay_refusals

    batch = _batch()
    Unseen()(batch.arrays)
    replay_refusals(batch.arrays)


def _explorer() -> None:
    from tengen.explorer.index import Building

    building = Building()
    building.add(_batch())
    building.finish(1)


def _batch() -> GameBatch:
    from tengen.records import arrays

    [batch] = arrays.read_in_bulk(io.BytesIO(b"(;SZ[9]AB[aa];W[ee];B[])"), "warming", print)
    return batch


def _players() -> None:
    from tengen.board import Board
    from tengen.game.endgame import cleanup_move
    from tengen.players.evaluators import BuiltinExpert
    from tengen.players.simple import finish_score
    from tengen.players.spec import make_player

    board = Board(5, moves=_GAME)
    rng = np.random.default_rng(0)
    for spec in ("random", "maxlib", "static", "mcts:playouts=4"):
        make_player(spec).choose(board, rng)
    finish_score(board)
    cleanup_move(board, np.ones(25))
    BuiltinExpert(playouts=4).finish([board], [1])


def _symmetry_network() -> None:
    from tengen.board import Board
    from tengen.learners.symmetry_network.learner import SymmetryNetwork, play_games
    from tengen.learners.symmetry_network.settings import SymmetrySettings

    settings = SymmetrySettings(games=4, linear_games=2, batch=2, size=5)
    network = SymmetryNetwork(settings=settings).fit()
    network.values([Board(5)])
    network.move_values(Board(5))
    play_games(network, "random", games=1, size=5)


def _move_prediction() -> None:
    from tengen.board import Board, play_random
    from tengen.learners.move_prediction.learner import MovePredictor
    from tengen.learners.move_prediction.settings import PredictionSettings
    from tengen.records.arrays import from_records
    from tengen.records.corpus import replay_all
    from tengen.records.record import GameRecord

    boards = [play_random(Board(5), 12, np.random.default_rng(seed)) for seed in range(2)]
    games = from_records([GameRecord(5, 5, moves=board.moves) for board in boards])
    replay_all(games)
    predictor = MovePredictor(settings=PredictionSettings(minimum=1, top=2)).fit(games)
    predictor.evaluate(games)
    predictor.priors(Board(5, moves=_GAME))


def _opening_evolution() -> None:
    from tengen.board import Board
    from tengen.learners.opening_evolution.networks import Dense, Shared, Spatial

    board = Board(5, moves="B C3 W C2")
    for shape in (Dense(5, 5), Spatial(5, 5), Shared(5, 5), Spatial(5, 5, plies=2)):
        weights = np.linspace(-0.3, 0.3, shape.n_weights)
        shape.move(weights, board)
        shape.value(weights, board, 1)


def _network() -> None:
    from tengen.board import BLACK, Board
    from tengen.learners.network.inputs_kernels import encode_games
    from tengen.learners.network.learner import untrained
    from tengen.learners.network.settings import Design

    network = untrained(Design(fields=1, blocks=3, head_fields=1, value_hidden=2))
    network.priors(Board(5, moves="B C3"))
    moves, colours = np.zeros(1, np.int16), np.full(1, BLACK, np.int8)
    offsets, none = np.array([0, 1]), np.zeros(0, np.int16)
    codes = np.empty((1, 25), np.uint8)
    encode_games(
        moves, colours, offsets, none, none.astype(np.int8), np.zeros(2, np.int64),
        np.ones(1, np.bool_), 0, 1, 5, 5, codes,
    )  # fmt: skip


def _opening_td() -> None:
    from tengen.board import Board
    from tengen.learners.opening_td.learner import OpeningTD, dense_inputs, play_match
    from tengen.learners.opening_td.settings import TDSettings

    settings = TDSettings(rows=5, plies=4, games=2, hidden=3)
    learner = OpeningTD(settings=settings).fit(_Nobody())
    play_match(learner, "random", _Nobody(), games=2, seed=1)
    board = Board(5)
    learner.best_move(board)
    learner.values([board])
    dense_inputs(board, settings, friend=1, komi=5.5)


class _Nobody:
    """An expert that scores every opening 0."""

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> FloatArray:
        return np.zeros(len(boards))


def _scoring() -> None:
    from tengen.learners.scoring.features import describe
    from tengen.learners.scoring.judgement import judge

    grid = np.array([[0, 1, 2], [1, 1, 2], [0, 1, 2]], np.int8)
    described = describe(grid)
    judge(described, np.zeros(len(described.bond)))


STEPS: dict[str, Callable[[], Any]] = {
    "tengen.board": _board,
    "tengen.learners.symmetry_network": _symmetry_network,
    "tengen.learners.scoring": _scoring,
    "tengen.learners.network": _network,
    "tengen.learners.opening_td": _opening_td,
    "tengen.learners.move_prediction": _move_prediction,
    "tengen.players": _players,
    "tengen.records": _records,
    "tengen.explorer": _explorer,
    "tengen.learners.opening_evolution": _opening_evolution,
}
"""Packages and what uses their kernels."""


def warm_up(package: str) -> None:
    """Compile the kernels of one package, or load them from the cache."""
    STEPS[package]()
