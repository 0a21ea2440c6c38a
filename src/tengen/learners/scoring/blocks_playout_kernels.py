"""Play finished positions out and say who ends up on every point; know nothing of blocks' features.

A position is a bordered line of colours. Neither the ko nor the side to move enters: half of the
playouts begin with Black, half with White, so that a pass changes nothing.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.fast_kernels import (
    EPOS_,
    HEAD_,
    NEXT_,
    PLIB_,
    PSQ_,
    PSUM_,
    RECORD,
    SIZE_,
    U0,
    U1,
    V_EMPTY,
    V_KO,
    V_LAST,
    V_LAST2,
    V_RNG,
    V_SIZE,
    U,
    final_score,
    light_playout,
)
from tengen.board.heavy_kernels import heavy_playout
from tengen.board.random_kernels import seed_stream
from tengen.jit import inner_kernel, kernel


@inner_kernel
def _load_line(line, rows, cols, b, empty, v):
    """Copy a bordered line into the fast layout; return whether every block has a liberty."""
    n = line.shape[0]
    width = cols + 1
    b[:] = U0
    seen = np.zeros(n, np.bool_)
    stack = np.empty(n, np.int64)
    count = U0
    sound = True
    for p in range(n):
        b[U(p) * RECORD] = U(line[p])
    for start in range(n):
        colour = line[start]
        if colour == 0:
            o = U(start) * RECORD
            empty[count] = o
            b[o + EPOS_] = count
            count += U1
        if colour == 0 or colour == 3 or seen[start]:
            continue
        head = U(start) * RECORD
        seen[start] = True
        stack[0] = start
        top = 1
        last = head
        size, libs, total, squares = U0, U0, U0, U0
        while top > 0:
            top -= 1
            p = stack[top]
            o = U(p) * RECORD
            size += U1
            b[o + HEAD_] = head
            b[last + NEXT_] = o
            last = o
            for q in (p + 1, p - 1, p + width, p - width):
                if line[q] == 0:
                    z = U(q) * RECORD
                    libs += U1
                    total += z
                    squares += z * z
                elif line[q] == colour and not seen[q]:
                    seen[q] = True
                    stack[top] = q
                    top += 1
        b[last + NEXT_] = head
        b[head + SIZE_] = size
        b[head + PLIB_] = libs
        b[head + PSUM_] = total
        b[head + PSQ_] = squares
        if libs == U0:
            sound = False
    v[V_EMPTY] = count
    v[V_KO] = U0
    v[V_LAST] = U0
    v[V_LAST2] = U0
    return sound


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
    if not _load_line(line, rows, cols, b0, empty0, v0):
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
