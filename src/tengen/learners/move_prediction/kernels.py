"""Offer the predictor to other kernels: priors of a position without Python in between.

A search that runs inside Numba keeps one `workspace` per thread and calls `priors_kernel` for a
position:

    model = predictor.arrays(rows, cols)            # Python: a tuple of arrays, read-only
    room = workspace(rows, cols)                    # a tuple of arrays, written to; one per thread
    n = priors_kernel(s, recent, model, room, points, priors)

`recent` holds the last RECENT (8) moves, latest first, 0 for a pass, -1 where there was none.
points[:n] are the legal points under simple ko (no superko, no pass) and priors[:n] their
probabilities, which sum to 1. Hashes are computed from scratch; a loop that follows one game keeps
them with `play_with_rings` and calls `priors_with_rings`, which is cheaper.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from tengen.board.kernels import n_points
from tengen.board.layout_kernels import BORDER, COLOUR, COLS, EMPTY, N_EMPTY, ROWS, SCALARS
from tengen.jit import inner_kernel, kernel
from tengen.learners.move_prediction.feature_kernels import GLOBAL_WIDTH, WIDTH, move_features
from tengen.learners.move_prediction.network_kernels import DIM, LAYERS, forward, softmax
from tengen.learners.move_prediction.pattern_kernels import (
    ORIENTATIONS,
    OWN,
    REACH,
    RINGS,
    SPAN,
)


@kernel
def workspace(rows, cols):
    """Return the arrays that `priors_kernel` works in, for boards of this size."""
    n = n_points(rows, cols)
    area = rows * cols
    return (
        np.zeros((2, area, RINGS, ORIENTATIONS), np.int64),
        np.zeros((area, WIDTH), np.int32),
        np.zeros(area, np.int64),
        np.zeros(GLOBAL_WIDTH, np.int32),
        np.zeros((LAYERS + 1, n, DIM), np.float32),
        np.zeros((LAYERS, n, DIM), np.float32),
        np.zeros((5, n, DIM), np.float32),
        np.zeros(area, np.float32),
    )


# With more stones than this no whole board is known, and only the rings within _WINDOW lines count.
OPENING_STONES = 60
_WINDOW = 7


@kernel
def _rings_for(s, mover, rings, empty, keys, ring_of):
    """Fill the rings of one side to move from scratch.

    After the opening the last ring, the rest of the board, is left as on the empty board: no
    dictionary knows such a position, so no lookup can tell the difference.
    """
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    width = cols + 1
    mine, start = rings[mover - 1], empty[mover - 1]
    mine[:] = start
    whole = rows * cols - s[SCALARS, N_EMPTY] <= OPENING_STONES
    reach = REACH if whole else _WINDOW
    top = RINGS if whole else RINGS - 1
    for p in range(s.shape[1]):
        colour = s[COLOUR, p]
        if colour == EMPTY or colour == BORDER:
            continue
        kind = OWN if colour == mover else 1 - OWN
        row = p // width - 1
        col = p - (row + 1) * width - 1
        for r in range(max(0, row - reach), min(rows, row + reach + 1)):
            base = (row - r + REACH) * SPAN + col + REACH
            for c in range(max(0, col - reach), min(cols, col + reach + 1)):
                k = base - c
                ring = ring_of[k]
                if 0 <= ring < top:
                    i = r * cols + c
                    for o in range(ORIENTATIONS):
                        mine[i, ring, o] ^= keys[k, kind, o]


@inner_kernel
def logits_with_rings(s, rings, recent, model, room, points):
    """Compute the logits of all legal points for the side to move, given up-to-date rings.

    Returns (legal moves, points with features, shared features); logits, features and activations
    are left in `room`, where a training finds what its way back needs.
    """
    _empty, _keys, _ring_of, marks, table, values, w, E, dense, flags = model
    _rings, feats, widths, shared, acts, Y, work, logits = room
    n_moves, n, n_shared = move_features(
        s, rings, marks, table, values, recent, flags[0] == 1, points, feats, widths, shared
    )
    if n_moves > 0:
        forward(
            s, feats, widths, points, n, n_moves, shared, n_shared, w, E, dense, acts, Y, work,
            logits,
        )  # fmt: skip
    return n_moves, n, n_shared


@kernel
def priors_with_rings(s, rings, recent, model, room, points, priors):
    """Fill points and priors of the side to move, given up-to-date rings; return how many."""
    n_moves, _n, _n_shared = logits_with_rings(s, rings, recent, model, room, points)
    if n_moves > 0:
        softmax(room[7], n_moves, priors)
    return n_moves


@kernel
def priors_kernel(s, recent, model, room, points, priors):
    """Fill points and priors of the side to move from the position alone; return how many.

    `points` (int64) and `priors` (float64) need rows * cols entries.
    """
    rings = room[0]
    _rings_for(s, s[SCALARS, 2], rings, model[0], model[1], model[2])
    return priors_with_rings(s, rings, recent, model, room, points, priors)
