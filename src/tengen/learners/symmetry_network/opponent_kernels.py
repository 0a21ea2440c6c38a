"""Choose moves for opponents that do not learn: at random, or for liberties; know no network.

The same players stand, for every use but training, in `tengen.players`, which learners may not
import.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.kernels import (
    BORDER,
    COLOUR,
    COLS,
    EMPTIES,
    EMPTY,
    HEAD,
    KO_POSITIONAL,
    N_EMPTY,
    NEXT,
    PASS,
    SCALARS,
    in_atari,
    is_allowed,
    near,
    place,
)
from tengen.board.random_kernels import below, mix, uniform
from tengen.jit import kernel


@kernel
def liberty_side(rng, share):
    """Return which colour plays for liberties in a game, 0 for none; leaves the generator alone."""
    coin = mix(rng[0] ^ np.uint64(0xD1B54A32D192ED03))
    if np.float64(coin >> np.uint64(11)) * (1.0 / 9007199254740992.0) < share:
        return 1 + np.int64(coin & np.uint64(1))
    return 0


@kernel
def is_eye(s, p, colour):
    """Tell whether the empty point p is a one-point eye of `colour` that is not plainly false."""
    width = s[SCALARS, COLS] + 1
    for k in range(4):
        q = near(p, k, width)
        c = s[COLOUR, q]
        if c != BORDER and (c != colour or in_atari(s, s[HEAD, q])):
            return False
    bad = edge = 0
    for k in range(4):
        q = p + (width if k < 2 else -width) + (1 if k % 2 == 0 else -1)
        if s[COLOUR, q] == BORDER:
            edge = 1
        elif s[COLOUR, q] == 3 - colour:
            bad += 1
    return bad + edge < 2


@kernel
def spare_eyes(s, me, points, values, n):
    """Drop moves that fill an own eye, and the pass if another is left; return how many are left.

    As the greedy player: under area scoring a point more never costs anything.
    """
    m = 0
    for i in range(n):
        if points[i] != PASS and not is_eye(s, points[i], me):
            points[m] = points[i]
            values[m] = values[i]
            m += 1
    if m == 0:
        points[0] = PASS
        m = 1
    return m


@kernel
def balance(s, colour, stamp):
    """Return the mean liberties of `colour`'s blocks minus the mean of the enemy's."""
    width = s[SCALARS, COLS] + 1
    stamp[:] = 0
    own = enemy = owns = enemies = 0
    for p in range(s.shape[1]):
        c = s[COLOUR, p]
        if c == EMPTY or c == BORDER or s[HEAD, p] != p:
            continue
        liberties = 0
        x = p
        while True:
            for k in range(4):
                q = near(x, k, width)
                if s[COLOUR, q] == EMPTY and stamp[q] != p:
                    stamp[q] = p
                    liberties += 1
            x = s[NEXT, x]
            if x == p:
                break
        if c == colour:
            own += liberties
            owns += 1
        else:
            enemy += liberties
            enemies += 1
    return own / max(owns, 1) - enemy / max(enemies, 1)


@kernel
def most_liberties(s, seen, me, rng):
    """Return the allowed move with the best balance of liberties, ties at random; or PASS.

    Own eyes are left alone.
    """
    trial = np.empty_like(s)
    stamp = np.empty(s.shape[1], np.int64)
    chosen = PASS
    best = -1e9
    ties = 0
    for p in range(s.shape[1]):
        if s[COLOUR, p] != EMPTY or is_eye(s, p, me):
            continue
        if not is_allowed(s, seen, KO_POSITIONAL, p, me):
            continue
        trial[:, :] = s
        place(trial, p, me)
        value = balance(trial, me, stamp)
        if value > best + 1e-9:
            best, chosen, ties = value, p, 1
        elif value > best - 1e-9:
            ties += 1
            if below(rng, ties) == 0:
                chosen = p
    return chosen


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
