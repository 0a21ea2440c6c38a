"""Run the kernels of each package once on small inputs, for `tengen compile`.

Imports are inside the functions, so that one package can be compiled without the others. They
return the same whether or not kernels are compiled.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tengen import extensions
from tengen.commands import Learner

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
    from tengen.network.learner import untrained
    from tengen.network.settings import Design
    from tengen.players.evaluators import BuiltinExpert
    from tengen.players.network_search import SearchPlayer
    from tengen.players.simple import finish_score
    from tengen.players.spec import make_player

    board = Board(5, moves=_GAME)
    rng = np.random.default_rng(0)
    specs = ("random", "maxlib", "static", "mcts:playouts=4")
    moves = [int(make_player(spec).choose(board, rng)) for spec in specs]
    network = untrained(Design(fields=1, blocks=3, head_fields=1, value_hidden=2))
    moves.append(int(SearchPlayer(network=network, visits=4).choose(board, rng)))
    finished = BuiltinExpert(playouts=4).finish([board], [1])
    return [*moves, finish_score(board), cleanup_move(board, np.ones(25)), finished]


def steps() -> dict[str, Callable[[], list[Any]]]:
    """Return functions that each compile the kernels of one package, or load them from the cache.

    The board comes first, because all others contain its kernels.
    """
    learners = extensions.load_all(extensions.LEARNERS, Learner)
    warm = {name: each.warm for name, each in learners.items() if each.warm is not None}
    core = {"players": _players, "records": _records, "explorer": _explorer}
    return {"board": _board, **warm, **core}
