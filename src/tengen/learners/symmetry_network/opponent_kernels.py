"""Choose moves for opponents that do not learn, under positional superko; know no network."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.kernels import (
    BORDER,
    COLOUR,
    COLS,
    EMPTIES,
    KO_POSITIONAL,
    N_EMPTY,
    PASS,
    ROWS,
    SCALARS,
    allowed_mask,
    is_allowed,
    near,
)
from tengen.board.random_kernels import mix, uniform
from tengen.board.simple_kernels import BY_BLOCK, is_own_eye, maxlib_move
from tengen.jit import kernel


@kernel
def liberty_side(rng, share):
    """Return which colour plays for liberties in a game, 0 for none; leaves the generator alone."""
    coin = mix(rng[0] ^ np.uint64(0xD1B54A32D192ED03))
    if np.float64(coin >> np.uint64(11)) * (1.0 / 9007199254740992.0) < share:
        return 1 + np.int64(coin & np.uint64(1))
    return 0


@kernel
def spare_eyes(s, me, points, values, n):
    """Drop moves that fill an own eye, and the pass if another is left; return how many are left.

    As the greedy player: under area scoring a point more never costs anything.
    """
    m = 0
    for i in range(n):
        if points[i] != PASS and not is_own_eye(s, points[i], me):
            points[m] = points[i]
            values[m] = values[i]
            m += 1
    if m == 0:
        points[0] = PASS
        m = 1
    return m


@kernel
def most_liberties(s, seen, me, rng):
    """Return the allowed move with the best balance of liberties, ties at random; or PASS."""
    allowed = np.empty(s[SCALARS, ROWS] * s[SCALARS, COLS] + 1, np.bool_)
    allowed_mask(s, seen, KO_POSITIONAL, me, allowed)
    return maxlib_move(s, me, BY_BLOCK, allowed, rng)


@kernel
def random_move(s, seen, me, rng, points):
    """Draw a random allowed move that does not fill an own eye; pass if there is none."""
    width = s[SCALARS, COLS] + 1
    n = 0
    for i in range(s[SCALARS, N_EMPTY]):
        p = s[EMPTIES, i]
        inside = True
        for k in range(4):
            q = near(p, k, width)
            inside = inside and (s[COLOUR, q] == me or s[COLOUR, q] == BORDER)
        if not inside and is_allowed(s, seen, KO_POSITIONAL, p, me):
            points[n] = p
            n += 1
    if n == 0:
        return PASS
    return points[min(np.int64(uniform(rng) * n), n - 1)]
