"""Play games from which a network may learn: after some move the rule player plays both sides.

The first part of a game is played by the rule player, for liberties, or by the network itself, with
random moves strewn in, so that many sorts of positions come about; it is not learned from. Then one
move is tried, at random or the network's choice, and the rule player plays on for both sides: what
becomes of every point tells what that move was worth.
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
from tengen.board.simple_kernels import BY_BLOCK, maxlib_move, random_move, simple_mask
from tengen.jit import kernel
from tengen.learners.symmetry_network.evaluation_kernels import make_view, make_work
from tengen.learners.symmetry_network.game_kernels import draw_move, rate_moves, settle
from tengen.learners.symmetry_network.opponent_kernels import spare_eyes
from tengen.players.static_kernels import DEFAULT_WEIGHTS, new_work, static_move


@kernel
def taught_game(
    rows,
    cols,
    shapes,
    seed,
    index,
    explore,
    playouts,
    nets,
    cats,
    table,
    capture,
    share,
    moves,
    classes,
):
    """Play game `index` of `seed`; fill moves and final classes; return (first, plies).

    `first` is the position after the move that is tried. A share `explore` of the moves before is
    random. With probability `share` the network (`nets` and so on, as in its own kernels) plays a
    side before that, and chooses the move that is tried, instead of chance: so it learns what its
    own favourites are worth.
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
    # Who plays each colour before: the rule player, for liberties, or the network.
    sides = np.empty(3, np.int64)
    for colour in (BLACK, WHITE):
        sides[colour] = 2 if uniform(rng) < share else below(rng, 2)
    own = uniform(rng) < share
    now, base, work = make_view(n), make_view(n), make_work(n, cols + 1)
    points, values = np.zeros(n + 1, np.int64), np.zeros(n + 1)
    seen = np.zeros(1024, np.int64)
    limit = moves.shape[0]
    plies = 0
    passes = 0
    while plies < limit and passes < 2:
        me = s[SCALARS, TURN]
        simple_mask(s, me, allowed)
        strewn = plies < first and uniform(rng) < explore
        if strewn or (plies == first and not own):
            p = random_move(s, me, False, allowed, rng)
        elif plies == first or (plies < first and sides[me] == 2):
            settle(s, nets[plies % 2], cats, table, now, work, 3)
            net = nets[(plies + 1) % 2]
            m = rate_moves(s, seen, net, cats, table, capture, now, base, work, points, values)
            m = spare_eyes(s, me, points, values, m)
            p = points[draw_move(values, m, 1e9, me, rng)]
        elif plies < first and sides[me] == 1:
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
