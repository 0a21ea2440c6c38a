"""Choose moves of the simplest players: any legal point, or the one that gives most liberties.

Works on the layout of `board.kernels`; `allowed` is the row-major mask of moves that the caller
permits (superko is the caller's). Generators are arrays of one word, see `board.random_kernels`.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.kernels import copy_state, in_atari, near, place
from tengen.board.layout_kernels import (
    BORDER,
    COLOUR,
    COLS,
    EMPTY,
    HEAD,
    NEXT,
    PASS,
    ROWS,
    SCALARS,
    SIZE,
)
from tengen.board.random_kernels import below
from tengen.jit import kernel

# How `maxlib_move` averages liberties.
BY_BLOCK, BY_STONE = 0, 1


@kernel
def is_own_eye(s, p, colour):
    """Tell whether the empty point `p` is a one-point eye of `colour` that is not plainly false.

    All neighbours are its stones, none of their blocks is in atari, and the enemy holds at most one
    diagonal (none at the edge).
    """
    width = s[SCALARS, COLS] + 1
    for k in range(4):
        q = near(p, k, width)
        c = s[COLOUR, q]
        if c != BORDER and (c != colour or in_atari(s, s[HEAD, q])):
            return False
    bad = 0
    edge = 0
    for k in range(4):
        q = p + (width if k < 2 else -width) + (1 if k % 2 == 0 else -1)
        c = s[COLOUR, q]
        if c == BORDER:
            edge = 1
        elif c == 3 - colour:
            bad += 1
    return bad + edge < 2


@kernel
def random_move(s, colour, fill_eyes, allowed, rng):
    """Return a uniformly random permitted point, own eyes only if `fill_eyes`; or PASS."""
    cols = s[SCALARS, COLS]
    cells = s[SCALARS, ROWS] * cols
    chosen = PASS
    count = 0
    for i in range(cells):
        if allowed[i]:
            p = (i // cols + 1) * (cols + 1) + i % cols + 1
            if fill_eyes or not is_own_eye(s, p, colour):
                count += 1
                if below(rng, count) == 0:
                    chosen = p
    return chosen


@kernel
def liberty_balance(s, colour, weighting, stamp):
    """Return the mean liberties of `colour`'s blocks minus the mean of the enemy's.

    With BY_STONE every stone counts its block's liberties, so that large blocks weigh more. A side
    without stones has mean zero. `stamp` is room for one number a point.
    """
    width = s[SCALARS, COLS] + 1
    n = s.shape[1]
    stamp[:] = 0
    total_own = total_enemy = 0.0
    count_own = count_enemy = 0
    for p in range(n):
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
        times = s[SIZE, p] if weighting == BY_STONE else 1
        if c == colour:
            total_own += liberties * times
            count_own += times
        else:
            total_enemy += liberties * times
            count_enemy += times
    return total_own / max(count_own, 1) - total_enemy / max(count_enemy, 1)


@kernel
def maxlib_move(s, colour, weighting, allowed, rng):
    """Return the permitted move after which `liberty_balance` is largest, ties at random; or PASS.

    Own eyes are left out.
    """
    cols = s[SCALARS, COLS]
    trial = np.empty_like(s)
    stamp = np.empty(s.shape[1], np.int64)
    chosen = PASS
    best = -1e9
    ties = 0
    for i in range(s[SCALARS, ROWS] * cols):
        if not allowed[i]:
            continue
        p = (i // cols + 1) * (cols + 1) + i % cols + 1
        if is_own_eye(s, p, colour):
            continue
        copy_state(s, trial)
        place(trial, p, colour)
        value = liberty_balance(trial, colour, weighting, stamp)
        if value > best + 1e-9:
            best, chosen, ties = value, p, 1
        elif value > best - 1e-9:
            ties += 1
            if below(rng, ties) == 0:
                chosen = p
    return chosen
