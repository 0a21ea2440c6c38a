"""Run the kernels of each package once on small inputs, for `tengen compile`.

Imports are inside the functions, so that one package can be compiled without the others. They
return the same whether or not kernels are compiled.
"""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tengen.records.arrays import GameBatch

_GAME = "B C3 W C2 B B2 W D3"


def _board() -> list[Any]:
    from tengen.board import BatchBoard, Board, kernels, playouts
    from tengen.board.counting import unconditional

    board = Board(5, moves=_GAME)
    board.blocks()
    board.undo()
    kernels.regrow(board.history, np.zeros_like(board.history))  # what a long game needs
    batch = BatchBoard(2, 5)
    batch.play(np.array([0, 1]))
    found = [board.legal_mask(), board.area_score(), *unconditional(board.grid(), 1)]
    scores = playouts(board, 2, kind="heavy").scores
    return [*found, scores, batch.legal_masks(), batch.area_scores()]


def _records() -> list[Any]:
    from tengen.records.corpus import Unseen, replay_refusals

    arrays = _batch().arrays
    return [Unseen()(arrays), arrays.moves, list(map(str, replay_refusals(arrays)))]


def _explorer() -> list[Any]:
    from tengen.explorer.index import Building

    building = Building()
    building.add(_batch())
    return list(building.finish(1).values())


def _batch() -> GameBatch:
    from tengen.records import arrays

    [batch] = arrays.read_in_bulk(io.BytesIO(b"(;SZ[9]AB[aa];W[ee];B[])"), "warming", print)
    return batch


def _players() -> list[Any]:
    from tengen.board import Board
    from tengen.game.endgame import cleanup_move
    from tengen.players.evaluators import BuiltinExpert
    from tengen.players.simple import finish_score
    from tengen.players.spec import make_player

    board = Board(5, moves=_GAME)
    rng = np.random.default_rng(0)
    specs = ("random", "maxlib", "static", "mcts:playouts=4")
    moves = [int(make_player(spec).choose(board, rng)) for spec in specs]
    finished = BuiltinExpert(playouts=4).finish([board], [1])
    return [*moves, finish_score(board), cleanup_move(board, np.ones(25)), finished]


def _symmetry_network() -> list[Any]:
    from tengen.board import Board
    from tengen.papers.symmetry_network.learner import SymmetryNetwork, play_games
    from tengen.papers.symmetry_network.settings import SymmetrySettings

    settings = SymmetrySettings(games=4, linear_games=2, batch=2, size=5)
    network = SymmetryNetwork(settings=settings).fit()
    values = network.values([Board(5)]), network.move_values(Board(5))
    return [network.free_, *values, *play_games(network, "random", games=1, size=5)]


def _move_prediction() -> list[Any]:
    from tengen.board import Board, play_random
    from tengen.papers.move_prediction.learner import MovePredictor
    from tengen.papers.move_prediction.settings import PredictionSettings
    from tengen.records.arrays import from_records
    from tengen.records.corpus import replay_all
    from tengen.records.record import GameRecord

    boards = [play_random(Board(5), 12, np.random.default_rng(seed)) for seed in range(2)]
    games = from_records([GameRecord(5, 5, moves=board.moves) for board in boards])
    predictor = MovePredictor(settings=PredictionSettings(minimum=1, top=2)).fit(games)
    priors = predictor.priors(Board(5, moves=_GAME))
    return [replay_all(games), predictor.evaluate(games).loss, priors]


def _opening_evolution() -> list[Any]:
    from tengen.board import Board
    from tengen.papers.opening_evolution.networks import Dense, Shared, Spatial

    board, found = Board(5, moves="B C3 W C2"), []
    for shape in (Dense(5, 5), Spatial(5, 5), Shared(5, 5), Spatial(5, 5, plies=2)):
        weights = np.sin(np.arange(shape.n_weights) * 1.7)
        found += [*shape.move_values(weights, board)[0], shape.value(weights, board, 1)]
    return found


def _network() -> list[Any]:
    from tengen.board import BLACK, Board
    from tengen.network.inputs_kernels import encode_games
    from tengen.network.learner import untrained
    from tengen.network.settings import Design

    network = untrained(Design(fields=1, blocks=3, head_fields=1, value_hidden=2))
    priors = network.priors(Board(5, moves="B C3"))
    moves, colours = np.zeros(1, np.int16), np.full(1, BLACK, np.int8)
    offsets, none = np.array([0, 1]), np.zeros(0, np.int16)
    codes = np.empty((1, 25), np.uint8)
    encode_games(
        moves, colours, offsets, none, none.astype(np.int8), np.zeros(2, np.int64),
        np.ones(1, np.bool_), 0, 1, 5, 5, codes,
    )  # fmt: skip
    return [priors, codes]


def _opening_td() -> list[Any]:
    from tengen.board import Board
    from tengen.papers.opening_td.learner import OpeningTD, dense_inputs, play_match
    from tengen.papers.opening_td.settings import TDSettings

    settings = TDSettings(rows=5, plies=4, games=2, hidden=3)
    expert: Any = SimpleNamespace(finish=lambda boards, seeds: np.zeros(len(boards)))
    learner = OpeningTD(settings=settings).fit(expert)
    board, scores = Board(5), play_match(learner, "random", expert, games=2, seed=1).scores
    inputs = dense_inputs(board, settings, friend=1, komi=5.5)
    return [scores, int(learner.best_move(board)), learner.values([board]), inputs]


def _scoring() -> list[Any]:
    from tengen.scoring.features import describe
    from tengen.scoring.judgement import judge

    grid = np.array([[0, 1, 2], [1, 1, 2], [0, 1, 2]], np.int8)
    described = describe(grid)
    return [described.features, judge(described, np.linspace(-1, 1, len(described.bond))).alive]


# Each compiles the kernels of one package, or loads them from the cache: the board first, because
# all others contain its kernels, then those that take longest.
STEPS = (
    _board, _symmetry_network, _scoring, _network, _opening_td, _move_prediction, _players,
    _records, _explorer, _opening_evolution,
)  # fmt: skip
