"""Use every kernel of the players once, so that Numba compiles and caches it."""

from __future__ import annotations

import numpy as np

from tengen.board import Board
from tengen.game.endgame import cleanup_move
from tengen.players.expert import BuiltinExpert
from tengen.players.simple import finish_score
from tengen.players.spec import make_player


def warm_up() -> None:
    """Let every built-in player that needs no model play a move."""
    board = Board(5, moves="B C3 W C2 B B2 W D3")
    rng = np.random.default_rng(0)
    for spec in ("random", "maxlib", "static", "mcts:playouts=4"):
        make_player(spec).choose(board, rng)
    finish_score(board)
    cleanup_move(board, np.ones(25))
    BuiltinExpert(playouts=4).finish([board], [1])
