"""Evaluate a position, and all moves of a position, with the network of 12 hidden units.

Points are those of the bordered board, so every cell finds its nine neighbours by adding an offset,
and hidden units on the border stay zero. Because inputs are one-hot, a product with them is a table
look-up. A move changes few inputs: its stone, captured stones, blocks whose category changes.
`candidate` re-evaluates only the cells that these reach.

The hot loops run over one row of an array, from zero, and write to one array while reading few
others, which lets the compiler use whole vectors. Sums over liberties are integers (in units of
2**-20), so that a category does not depend on the order of a sum. All values are White's, without
komi.
"""

# mypy: ignore-errors
from __future__ import annotations

from collections import namedtuple

import numpy as np

from tengen.board.kernels import in_atari, near
from tengen.board.layout_kernels import (
    BLACK,
    BORDER,
    COLOUR,
    COLS,
    EMPTY,
    HEAD,
    NEXT,
    ROWS,
    SCALARS,
    WHITE,
)
from tengen.jit import hot_kernel, inner_kernel, kernel

# The same numbers as in `network`, which does not import kernels.
INPUTS = 14
EMPTY_POINT, OFF_BOARD = 12, 13
BY_LIBERTIES = 1

HIDDEN = 12
OUT = 8  # seven outputs and one that is always zero, so that rows are whole vectors
CELL = 24  # net inputs of a cell: 12 hidden, 4 unused, 8 outputs
FIRST_OUT = 16  # where the outputs begin among them
REACH = 9 * OUT  # what a hidden cell adds to: the outputs of nine neighbours
_ONE = 1 << 20
COUNT = 1 << 40  # sums over liberties carry their number above this bit

# Weights in float32: table (9 * INPUTS, CELL) what an input adds to a neighbour's net inputs; bias
# (CELL); oh, flat (HIDDEN, 9, OUT), what a hidden unit adds to its neighbours' outputs.
Net = namedtuple("Net", "table bias oh")

# A side of a game: its net; cats, how blocks are sorted; table, the value of a vertex; prize, the
# reward per captured stone; beta, how moves are drawn (see `duel`).
Side = namedtuple("Side", "net cats table prize beta")

# A position as a network evaluates it, arrays over bordered points: at (4, N) inputs (X) and, at
# the heads of blocks, sums over liberties (SZ, SA) and the category (CAT); net (N, CELL) net
# inputs; h (N, HIDDEN) hidden units; out (N, OUT) outputs; value of a vertex.
View = namedtuple("View", "at net h out value")
X, SZ, SA, CAT = range(4)

# Scratch space: liberty (2, 3, N) what a liberty adds to a colour's sums SZ and SA (from a view's
# outputs; for stones: what they would leave behind); offsets to the nine neighbours; mark (6, N)
# four stamps, the SLOT of a cell and the LISTED cells; count of the stamps; change (2, 2 N) cells
# and their new inputs; compact buffers of `candidate`.
Work = namedtuple("Work", "liberty offset mark count change rows tanhs buffer")
SLOT, LISTED = 4, 5

# What a side needs during a game: two views, see `game_kernels`; the moves and their values.
Room = namedtuple("Room", "now base work points values")

# tanh(x) = x P(x^2) / Q(x^2) on [-9, 9], fitted for this project; largest error in float32 4e-7.
_P0, _P1, _P2, _P3, _P4 = (
    np.float32(v)
    for v in (
        0.9999999064140208,
        0.1337321229847176,
        0.003486598754743192,
        2.0472088666587086e-05,
        1.31845451373147e-08,
    )
)
_Q1, _Q2, _Q3, _Q4 = (
    np.float32(v)
    for v in (
        0.46706509184443884,
        0.025842044585243272,
        0.00032714121284078843,
        7.702802681198123e-07,
    )
)
_NINE, UNIT, HALF, ZERO = np.float32(9), np.float32(1), np.float32(0.5), np.float32(0)

# The outputs read in each state (empty, black, white); 7 is the one that is always zero.
READS = np.array([[0, 3, 4], [2, 6, 7], [1, 5, 7]])


@hot_kernel
def _tanh_all(values, n):
    """Replace the first n numbers of a flat array by their tanh."""
    for i in range(n):
        v = min(max(values[i], -_NINE), _NINE)
        u = v * v
        top = (((_P4 * u + _P3) * u + _P2) * u + _P1) * u + _P0
        low = (((_Q4 * u + _Q3) * u + _Q2) * u + _Q1) * u + UNIT
        values[i] = v * top / low


@hot_kernel
def _category(sz, sa, cats):
    """Return a block's category, 0 for C1, from the sums over its liberties."""
    liberties = sz >> 40
    if cats[0] == BY_LIBERTIES:
        return min(liberties, 6) - 1
    openings = sz - (liberties << 40) - sa
    if sa >= cats[2]:
        return 5
    if sa >= cats[1]:
        return 3 if openings < cats[3] else 4
    return 0 if openings < cats[3] else 1 if openings < cats[4] else 2


@kernel
def _symbol(kind, colour):
    """Return the input number of a stone whose block has this category."""
    return kind + (6 if colour == BLACK else 0)


@inner_kernel
def weigh_liberties(s, out, work):
    """Fill what each point counts as a liberty in the next position, from this one's outputs.

    A stone's entry is what it leaves behind if captured: its survival becomes territory.
    """
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    lz, la = work.liberty[0], work.liberty[1]
    for row in range(rows):
        for col in range(cols):
            p = (row + 1) * (cols + 1) + col + 1
            c = s[COLOUR, p]
            z = np.int64(out[p, 0 if c == EMPTY else 1 if c == WHITE else 2] * np.float32(_ONE))
            lz[WHITE, p] = COUNT + z
            lz[BLACK, p] = COUNT + _ONE - z
            la[WHITE, p] = la[BLACK, p] = 0
            if c != WHITE:
                la[WHITE, p] = np.int64(out[p, 3 if c == EMPTY else 6] * np.float32(_ONE))
            if c != BLACK:
                la[BLACK, p] = np.int64(out[p, 4 if c == EMPTY else 5] * np.float32(_ONE))


@inner_kernel
def categorise(s, view, work, cats):
    """Set every block's sums and category from the liberties in `work`, and all inputs."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    width = cols + 1
    lz, la = work.liberty[0], work.liberty[1]
    stamp, count = work.mark[0], work.count
    for row in range(rows):
        for col in range(cols):
            p = (row + 1) * width + col + 1
            c = s[COLOUR, p]
            if c == EMPTY:
                view.at[X, p] = EMPTY_POINT
                continue
            if s[HEAD, p] != p:
                continue
            count[0] += 1
            mark = count[0]
            sz = sa = 0
            x = p
            while True:
                for k in range(4):
                    q = near(x, k, width)
                    if s[COLOUR, q] == EMPTY and stamp[q] != mark:
                        stamp[q] = mark
                        sz += lz[c, q]
                        sa += la[c, q]
                x = s[NEXT, x]
                if x == p:
                    break
            view.at[SZ, p] = sz
            view.at[SA, p] = sa
            kind = _category(sz, sa, cats)
            view.at[CAT, p] = kind
            sort = _symbol(kind, c)
            while True:
                view.at[X, x] = sort
                x = s[NEXT, x]
                if x == p:
                    break


@hot_kernel
def _spread(net, h, row, out):
    """Write what the hidden units h[row] add to the outputs of all nine neighbours."""
    w = net.oh
    h0, h1, h2, h3 = h[row, 0], h[row, 1], h[row, 2], h[row, 3]
    h4, h5, h6, h7 = h[row, 4], h[row, 5], h[row, 6], h[row, 7]
    h8, h9, ha, hb = h[row, 8], h[row, 9], h[row, 10], h[row, 11]
    for k in range(REACH):
        a = h0 * w[k] + h1 * w[72 + k] + h2 * w[144 + k] + h3 * w[216 + k]
        b = h4 * w[288 + k] + h5 * w[360 + k] + h6 * w[432 + k] + h7 * w[504 + k]
        c = h8 * w[576 + k] + h9 * w[648 + k] + ha * w[720 + k] + hb * w[792 + k]
        out[k] = a + b + c


@inner_kernel
def hidden_units(net, x, offset, rows, cols, a, h):
    """Compute the net inputs a (N, CELL) of a board's cells and its hidden units h (N, HIDDEN)."""
    t, n = net.table, INPUTS
    for row in range(rows):
        start = (row + 1) * (cols + 1) + 1
        for p in range(start, start + cols):
            i0, i1, i2 = x[p], n + x[p + offset[1]], 2 * n + x[p + offset[2]]
            i3, i4 = 3 * n + x[p + offset[3]], 4 * n + x[p + offset[4]]
            i5, i6 = 5 * n + x[p + offset[5]], 6 * n + x[p + offset[6]]
            i7, i8 = 7 * n + x[p + offset[7]], 8 * n + x[p + offset[8]]
            # Two loops: the compiler gives up on one that needs more than eight overlap checks.
            for j in range(CELL):
                a[p, j] = net.bias[j] + t[i0, j] + t[i1, j] + t[i2, j] + t[i3, j] + t[i4, j]
            for j in range(CELL):
                a[p, j] += t[i5, j] + t[i6, j] + t[i7, j] + t[i8, j]
            for j in range(HIDDEN):
                h[p, j] = a[p, j]
        _tanh_all(h[start : start + cols].reshape(-1), cols * HIDDEN)


@inner_kernel
def evaluate(s, side, view, work):
    """Evaluate a view's inputs: hidden units, outputs, vertex values; return the board's value."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    width = cols + 1
    net, table = side.net, side.table
    a, h, out = view.net, view.h, view.out
    hidden_units(net, view.at[X], work.offset, rows, cols, a, h)
    # Every hidden cell adds to the outputs of its nine neighbours.
    for row in range(rows):
        start = (row + 1) * width + 1
        for p in range(start, start + cols):
            _spread(net, h, p, work.buffer)
            for nu in range(9):
                q = p - work.offset[nu]
                for k in range(OUT):
                    a[q, FIRST_OUT + k] += work.buffer[nu * OUT + k]
    total = 0.0
    for row in range(rows):
        start = (row + 1) * width + 1
        for p in range(start, start + cols):
            for k in range(OUT):
                out[p, k] = HALF * a[p, FIRST_OUT + k]
        _tanh_all(out[start : start + cols].reshape(-1), cols * OUT)
        for p in range(start, start + cols):
            for k in range(OUT):
                out[p, k] = HALF + HALF * out[p, k]
            c = s[COLOUR, p]
            v = table[c, 8]
            for k in range(3):
                v += table[c, READS[c, k]] * out[p, READS[c, k]]
            view.value[p] = v
            total += v
    return total


# ----- Moves -----


@kernel
def _change(s, work, n, first, sort):
    """Add all stones of the block at `first` to the list of changed inputs."""
    x = first
    while True:
        work.change[0, n] = x
        work.change[1, n] = sort
        n += 1
        x = s[NEXT, x]
        if x == first:
            return n


@inner_kernel
def _changes(s, view, work, cats, p, me):
    """List the inputs that change when `me` plays p; return (how many, stones captured).

    Captured stones come first in the list. p must be legal.
    """
    width = s[SCALARS, COLS] + 1
    enemy = 3 - me
    gone, done, count = work.mark[1], work.mark[2], work.count
    count[1] += 1
    mark = count[1]
    lz, la = work.liberty[0], work.liberty[1]
    n = 0
    for k in range(4):
        q = near(p, k, width)
        if s[COLOUR, q] == enemy and done[s[HEAD, q]] != mark and in_atari(s, s[HEAD, q]):
            done[s[HEAD, q]] = mark
            n = _change(s, work, n, s[HEAD, q], EMPTY_POINT)
    captured = n
    for i in range(captured):
        gone[work.change[0, i]] = mark
    # Enemy blocks that stay lose the liberty p.
    for k in range(4):
        q = near(p, k, width)
        head = s[HEAD, q]
        if s[COLOUR, q] == enemy and done[head] != mark:
            done[head] = mark
            sz, sa = view.at[SZ, head] - lz[enemy, p], view.at[SA, head] - la[enemy, p]
            kind = _category(sz, sa, cats)
            if kind != view.at[CAT, head]:
                n = _change(s, work, n, head, _symbol(kind, enemy))
    # The block of the new stone.
    sz, sa = _walk(s, work, p, me, mark)
    kind = _category(sz, sa, cats)
    sort = _symbol(kind, me)
    work.change[0, n], work.change[1, n] = p, sort
    n += 1
    for k in range(4):
        q = near(p, k, width)
        head = s[HEAD, q]
        if s[COLOUR, q] == me and done[head] != mark:
            done[head] = mark
            if kind != view.at[CAT, head]:
                n = _change(s, work, n, head, sort)
    if captured > 0:
        n = _relieve(s, view, work, cats, n, captured, me, mark)
    return n, captured


@inner_kernel
def _walk(s, work, p, me, mark):
    """Sum over the liberties of the block that a stone at p makes, captured points included."""
    width = s[SCALARS, COLS] + 1
    lz, la = work.liberty[0], work.liberty[1]
    stamp, gone, count = work.mark[0], work.mark[1], work.count
    count[0] += 1
    here = count[0]
    count[2] += 1
    sz = sa = 0
    stamp[p] = here
    for k in range(5):
        if k == 4:
            start = p
        else:
            start = near(p, k, width)
            if s[COLOUR, start] != me or work.mark[3, s[HEAD, start]] == count[2]:
                continue
            work.mark[3, s[HEAD, start]] = count[2]
        x = start
        while True:
            for m in range(4):
                q = near(x, m, width)
                if (s[COLOUR, q] == EMPTY or gone[q] == mark) and stamp[q] != here:
                    stamp[q] = here
                    sz += lz[me, q]
                    sa += la[me, q]
            if start == p:
                break
            x = s[NEXT, x]
            if x == start:
                break
    return sz, sa


@inner_kernel
def _relieve(s, view, work, cats, n, captured, me, mark):
    """Give own blocks that touch captured stones, but not the new stone, their new liberties."""
    width = s[SCALARS, COLS] + 1
    lz, la = work.liberty[0], work.liberty[1]
    done = work.mark[2]
    for i in range(captured):
        for k in range(4):
            q = near(work.change[0, i], k, width)
            if s[COLOUR, q] != me or done[s[HEAD, q]] == mark:
                continue
            head = s[HEAD, q]
            done[head] = mark
            sz, sa = view.at[SZ, head], view.at[SA, head]
            for j in range(captured):
                z = work.change[0, j]
                for m in range(4):
                    r = near(z, m, width)
                    if s[COLOUR, r] == me and s[HEAD, r] == head:
                        sz += lz[me, z]
                        sa += la[me, z]
                        break
            kind = _category(sz, sa, cats)
            if kind != view.at[CAT, head]:
                n = _change(s, work, n, head, _symbol(kind, me))
    return n


@inner_kernel
def candidate(s, side, view, work, p, me):
    """Return (change of the board's value, stones captured) if `me` plays the legal point p.

    `view` must hold the position as it is, categorised with `work`'s liberties and evaluated.
    """
    n, captured = _changes(s, view, work, side.cats, p, me)
    net, mark = side.net, work.count[1]
    base = mark << 10  # slots carry the mark, so that they need no clearing
    slot, listed, rows, offset = work.mark[SLOT], work.mark[LISTED], work.rows, work.offset
    n_h = 0
    for i in range(n):
        q = work.change[0, i]
        for nu in range(9):
            t = q - offset[nu]
            if s[COLOUR, t] == BORDER:
                continue
            a = slot[t] - base
            if a < 0:
                a = n_h
                n_h += 1
                slot[t] = base + a
                listed[a] = t
                for j in range(CELL):
                    rows[a, j] = view.net[t, j]
            new = nu * INPUTS + work.change[1, i]
            old = nu * INPUTS + view.at[X, q]
            for j in range(CELL):
                rows[a, j] += net.table[new, j] - net.table[old, j]
    for a in range(n_h):
        for j in range(HIDDEN):
            work.tanhs[a, j] = rows[a, j]
    _tanh_all(work.tanhs.reshape(-1), n_h * HIDDEN)
    # Add what the changes of the hidden units change in the outputs.
    n_o = n_h
    for a in range(n_h):
        t = listed[a]
        for j in range(HIDDEN):
            work.tanhs[a, j] -= view.h[t, j]
        _spread(net, work.tanhs, a, work.buffer)
        for nu in range(9):
            q = t - offset[nu]
            if s[COLOUR, q] == BORDER:
                continue
            b = slot[q] - base
            if b < 0:
                b = n_o
                n_o += 1
                slot[q] = base + b
                listed[b] = q
                for k in range(OUT):
                    rows[b, FIRST_OUT + k] = view.net[q, FIRST_OUT + k]
            for k in range(OUT):
                rows[b, FIRST_OUT + k] += work.buffer[nu * OUT + k]
    return _gain(s, view, work, side.table, n_o, p, me, mark), captured


@inner_kernel
def _gain(s, view, work, table, n_o, p, me, mark):
    """Return how much the values of the listed output cells differ from those of the view."""
    gone, reads = work.mark[1], work.buffer
    for b in range(n_o):
        q = work.mark[LISTED, b]
        c = me if q == p else EMPTY if gone[q] == mark else s[COLOUR, q]
        for i in range(3):
            reads[b * 3 + i] = HALF * work.rows[b, FIRST_OUT + READS[c, i]]
    _tanh_all(reads, n_o * 3)
    gain = 0.0
    for b in range(n_o):
        q = work.mark[LISTED, b]
        c = me if q == p else EMPTY if gone[q] == mark else s[COLOUR, q]
        v = table[c, 8] - view.value[q]
        for i in range(3):
            v += table[c, READS[c, i]] * (HALF + HALF * reads[b * 3 + i])
        gain += v
    return gain
