"""Play games from which a network may learn: after a random move the rule player plays both sides.

The first part of a game is played by the rule player or for liberties, with random moves strewn in,
so that many sorts of positions come about; it is not learned from. Then follow one random move and
the rule player for both sides: what becomes of every point tells what that move was worth.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.kernels import (
    BLACK,
    COLOUR,
    COLS,
    HASH,
    PASS,
    ROWS,
    SCALARS,
    TURN,
    WHITE,
    new_state,
    play_move,
)
from tengen.board.playout_kernels import run_chunk
from tengen.board.random_kernels import below, seed_stream, uniform
from tengen.jit import kernel
from tengen.players.simple_kernels import BY_BLOCK, maxlib_move, random_move, simple_mask
from tengen.players.static_kernels import DEFAULT_WEIGHTS, new_work, static_move


@kernel
def taught_game(rows, cols, shapes, seed, index, explore, playouts, moves, classes):
    """Play game `index` of `seed`; fill moves and final classes; return (first, plies).

    `first` is the position after the random move. A share `explore` of the moves before is random.
    Classes come from the owners in heavy playouts, as `symmetry_network.rewards.CLASSES` numbers
    them: a stone in the other's hands will be captured and leave a point.
    """
    s = new_state(rows, cols)
    n = s.shape[1]
    rng = np.zeros(1, np.uint64)
    seed_stream(rng, seed, index)
    t = np.empty_like(s)
    w, f = new_work(n)
    allowed = np.empty(rows * cols + 1, np.bool_)
    first = below(rng, 3 * rows * cols // 4)
    liberties = below(rng, 4)  # bit by colour: who plays for liberties before the random move
    limit = moves.shape[0]
    plies = 0
    passes = 0
    while plies < limit and passes < 2:
        me = s[SCALARS, TURN]
        simple_mask(s, me, allowed)
        if plies == first or (plies < first and uniform(rng) < explore):
            p = random_move(s, me, False, allowed, rng)
        elif plies < first and (liberties >> (me - 1)) & 1:
            p = maxlib_move(s, me, BY_BLOCK, allowed, rng)
        else:
            p = static_move(s, me, DEFAULT_WEIGHTS, shapes, t, w, f)
        play_move(s, p, me)
        moves[plies] = p
        passes = passes + 1 if p == PASS else 0
        plies += 1
    settle_classes(s, shapes, playouts, classes)
    return min(first + 1, plies), plies


@kernel
def settle_classes(s, shapes, playouts, classes):
    """Write the class in which every vertex ends, by who owns it in most playouts."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    scores = np.zeros(playouts, np.int32)
    ownership = np.zeros(rows * cols, np.int32)
    run_chunk(s, shapes, True, 0, playouts, s[SCALARS, HASH], 3 * rows * cols, scores, ownership)
    classes[:] = -1
    for i in range(rows * cols):
        p = (i // cols + 1) * (cols + 1) + i % cols + 1
        c = s[COLOUR, p]
        if ownership[i] > 0:
            classes[p] = 3 if c == BLACK else 4
        elif ownership[i] < 0:
            classes[p] = 1 if c == WHITE else 0
        else:
            classes[p] = 2
