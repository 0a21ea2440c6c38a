"""Play finished positions out and say who ends up on every point; know nothing of blocks' features.

A position is a bordered line of colours. Neither the ko nor the side to move enters: half of the
playouts begin with Black, half with White, so that a pass changes nothing.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.playout_kernels import (
    V_RNG,
    V_SIZE,
    U,
    final_score,
    heavy_playout,
    light_playout,
    load_line,
)
from tengen.board.random_kernels import seed_stream
from tengen.jit import kernel


@kernel
def finish(line, rows, cols, light, heavy, seed, shapes, ownership):
    """Run `light` and `heavy` playouts with each side to move first.

    Adds to ownership[kind * 2 + mover] (kind 0 light, 1 heavy; mover 0 Black, 1 White) +1 for
    Black's and -1 for White's points, row-major. Leaves it alone if a block has no liberty.
    """
    n = line.shape[0]
    width = U((cols + 1) * 8)
    b, b0 = np.zeros(n * 8, np.uint64), np.zeros(n * 8, np.uint64)
    empty, empty0 = np.zeros(n, np.uint64), np.zeros(n, np.uint64)
    v, v0 = np.zeros(V_SIZE, np.uint64), np.zeros(V_SIZE, np.uint64)
    limit = 3 * rows * cols
    trace = np.zeros(limit + 1, np.uint64)
    rng = np.empty(1, np.uint64)
    if not load_line(line, cols, b0, empty0, v0):
        return False
    for kind in range(2):
        for mover in range(2):
            for i in range(heavy if kind == 1 else light):
                b[:] = b0
                empty[:] = empty0
                v[:] = v0
                seed_stream(rng, seed + mover, i)
                v[V_RNG] = rng[0]
                colour = U(mover + 1)
                if kind == 1:
                    heavy_playout(b, empty, v, colour, width, limit, trace, shapes)
                else:
                    light_playout(b, empty, v, colour, width, limit, trace)
                final_score(b, rows, cols, ownership[kind * 2 + mover])
    return True
