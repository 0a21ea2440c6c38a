"""Choose playout moves with a little sense: captures, rescues, shapes near the last move.

The policy, in this order: answer the last move (capture its block if it is in atari, rescue own
blocks it put in atari), play a known 3x3 shape next to it, else a random move that does not put an
own block into atari for nothing. Works on the layout of `fast_kernels`.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.fast_kernels import (
    HEAD_,
    NEXT_,
    PLIB_,
    PSQ_,
    PSUM_,
    RECORD,
    U0,
    U1,
    U2,
    U3,
    V_EMPTY,
    V_KO,
    V_LAST,
    V_LAST2,
    U,
    atari,
    draw_below,
    is_playable,
    near,
    put,
    set_aside,
)
from tengen.jit import hot_kernel, inner_kernel, kernel

_MAX_CANDIDATES = 32


@inner_kernel
def _around(p, i, width):
    """Return neighbour number i (0 to 7, reading order from the top left) of a point."""
    if i < 3:
        q = p - width
    elif i < 5:
        return p - RECORD if i == 3 else p + RECORD
    else:
        q = p + width
    column = i % 5
    return q - RECORD if column == 0 else q if column == 1 else q + RECORD


@hot_kernel
def shape_index(b, p, colour, width):
    """Return the number of the 3x3 neighbourhood of `p` as `colour` sees it (own 1, enemy 2, edge
    3).

    Two bits a neighbour, in reading order from the top left, the centre left out.
    """
    code = U0
    for i in range(8):
        q = _around(p, i, width)
        c = b[q]
        if colour == U2 and (c == U1 or c == U2):
            c = U3 - c
        code |= c << U(2 * i)
    return code


@hot_kernel
def liberties_after(b, p, colour, width):
    """Return 0, 1 or 2 (meaning two or more): the liberties `colour` has at `p` after playing it.

    A capture counts as two. Exact up to that: pseudo-liberty sums without `p` tell one from more.
    """
    enemy = U3 - colour
    only = U0
    for k in range(4):
        q = near(p, k, width)
        c = b[q]
        if c == U0:
            if only != U0 and only != q:
                return 2
            only = q
        elif c == colour:
            h = b[q + HEAD_]
            times = U0
            for j in range(4):
                z = near(p, j, width)
                if b[z] == colour and b[z + HEAD_] == h:
                    times += U1
            n = b[h + PLIB_] - times
            if n > U0:
                a = b[h + PSUM_] - times * p
                if a * a != n * (b[h + PSQ_] - times * p * p):
                    return 2
                point = a // n
                if only != U0 and only != point:
                    return 2
                only = point
        elif c == enemy and atari(b, b[q + HEAD_]):
            return 2
    return 0 if only == U0 else 1


@kernel
def _answers(b, last, colour, width, out):
    """Collect captures of the last block and rescues of own blocks it put in atari; return how
    many.
    """
    count = 0
    enemy = U3 - colour
    if b[last] == enemy and atari(b, b[last + HEAD_]):
        h = b[last + HEAD_]
        out[count] = b[h + PSUM_] // b[h + PLIB_]
        count += 1
    for k in range(4):
        q = near(last, k, width)
        if b[q] == colour and atari(b, b[q + HEAD_]):
            h = b[q + HEAD_]
            exit_ = b[h + PSUM_] // b[h + PLIB_]
            if liberties_after(b, exit_, colour, width) >= 2 and count < _MAX_CANDIDATES:
                out[count] = exit_
                count += 1
            # Or capture a block next to the one in danger.
            x = h
            while True:
                for j in range(4):
                    z = near(x, j, width)
                    if b[z] == enemy and count < _MAX_CANDIDATES:
                        g = b[z + HEAD_]
                        if atari(b, g):
                            out[count] = b[g + PSUM_] // b[g + PLIB_]
                            count += 1
                x = b[x + NEXT_]
                if x == h:
                    break
    return count


@kernel
def _shapes_near(b, v, last, colour, width, shapes, out):
    """Collect the empty points around the last move where a known shape stands; return how many."""
    count = 0
    for i in range(8):
        q = _around(last, i, width)
        if b[q] == U0 and q != v[V_KO] and shapes[shape_index(b, q, U1, width)]:
            if is_playable(b, q, colour, width) and liberties_after(b, q, colour, width) >= 2:
                out[count] = q
                count += 1
    return count


@kernel
def _careful_random(b, empty, v, colour, width):
    """Play a random move that is no own eye and no needless self-atari; else any; else pass."""
    left = v[V_EMPTY]
    spare = U0
    while left > U0:
        i = draw_below(v, left)
        p = empty[i]
        if p != v[V_KO] and is_playable(b, p, colour, width):
            if liberties_after(b, p, colour, width) >= 2:
                put(b, empty, v, p, colour, width)
                return True
            spare = p
        left = set_aside(b, empty, i, left)
    if spare != U0:
        put(b, empty, v, spare, colour, width)
        return True
    v[V_KO] = U0
    v[V_LAST2] = v[V_LAST]
    v[V_LAST] = U0
    return False


@inner_kernel
def _heavy_move(b, empty, v, colour, width, shapes, out):
    """Play one move of the policy; return whether there was one (else it was a pass)."""
    last = v[V_LAST]
    if last != U0:
        count = _answers(b, last, colour, width, out)
        if count > 0:
            p = out[draw_below(v, U(count))]
            if b[p] == U0 and p != v[V_KO] and is_playable(b, p, colour, width):
                put(b, empty, v, p, colour, width)
                return True
        count = _shapes_near(b, v, last, colour, width, shapes, out)
        if count > 0:
            put(b, empty, v, out[draw_below(v, U(count))], colour, width)
            return True
    return _careful_random(b, empty, v, colour, width)


@inner_kernel
def heavy_playout(b, empty, v, colour, width, limit, trace, shapes):
    """Play by the policy until both sides pass or `limit` plies; return plies played."""
    passes = 0
    plies = 0
    out = np.zeros(_MAX_CANDIDATES, np.uint64)
    while passes < 2 and plies < limit:
        if _heavy_move(b, empty, v, colour, width, shapes, out):
            passes = 0
        else:
            passes += 1
        trace[U(plies)] = v[V_LAST]
        colour = U3 - colour
        plies += 1
    return plies
