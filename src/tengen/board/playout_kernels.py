"""Run many playouts from a position and add up scores and ownership; know no policy."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.fast_kernels import V_RNG, V_SIZE, U, final_score, light_playout, load
from tengen.board.heavy_kernels import heavy_playout
from tengen.board.layout_kernels import COLS, ROWS, SCALARS, TURN
from tengen.board.random_kernels import seed_stream
from tengen.jit import kernel


@kernel
def run_chunk(s, shapes, heavy, first, count, seed, limit, scores, ownership):
    """Run playouts number `first` to `first + count - 1`, each with a random stream of its own.

    Returns the plies played.
    """
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    width = U((cols + 1) * 8)
    points = s.shape[1]
    b, b0 = np.zeros(points * 8, np.uint64), np.zeros(points * 8, np.uint64)
    empty, empty0 = np.zeros(points, np.uint64), np.zeros(points, np.uint64)
    v, v0 = np.zeros(V_SIZE, np.uint64), np.zeros(V_SIZE, np.uint64)
    trace = np.zeros(limit + 1, np.uint64)
    rng = np.empty(1, np.uint64)
    plies = 0
    load(s, b0, empty0, v0)
    for i in range(first, first + count):
        b[:] = b0
        empty[:] = empty0
        v[:] = v0
        seed_stream(rng, seed, i)
        v[V_RNG] = rng[0]
        colour = U(s[SCALARS, TURN])
        if heavy:
            plies += heavy_playout(b, empty, v, colour, width, limit, trace, shapes)
        else:
            plies += light_playout(b, empty, v, colour, width, limit, trace)
        scores[i] = final_score(b, rows, cols, ownership)
    return plies
