"""Evaluate the paper's shape of network fast: one hidden layer of 12 units, 14 inputs, 7 outputs.

Points are those of the bordered board, so every cell finds its nine neighbours by adding an offset,
and hidden units on the border stay zero. Because inputs are one-hot, a product with them is a table
look-up.

The hot loops run over one row of an array, from zero, and write to one array while reading few
others: that is what lets the compiler use whole vectors. Sums over liberties are kept in whole
numbers (units of 2**-20), so that a category does not depend on the order of a sum. All values are
from White's view, without komi.
"""

# mypy: ignore-errors
from __future__ import annotations

from collections import namedtuple

import numpy as np

from tengen.board.layout_kernels import BLACK, COLOUR, COLS, EMPTY, HEAD, NEXT, ROWS, SCALARS, WHITE
from tengen.jit import hot_kernel, inner_kernel, kernel

HIDDEN = 12
OUT = 8  # seven outputs and one that is always zero, so that rows are whole vectors
CELL = 24  # net inputs of a cell: 12 hidden, 4 unused, 8 outputs
FIRST_OUT = 16  # where the outputs begin among them
REACH = 9 * OUT  # what a hidden cell adds to: the outputs of nine neighbours
_ONE = 1 << 20
COUNT = 1 << 40  # sums over liberties carry their number above this bit
EMPTY_POINT, OFF_BOARD = 12, 13

# Weights in float32: table (9 * inputs, CELL) what an input adds to a neighbour's net inputs; bias
# (CELL); oh, flat (HIDDEN, 9, OUT), what a hidden unit adds to its neighbours' outputs. Further
# layers, none in the paper's network: deep (layers, 9, HIDDEN, HIDDEN) from the units below, inner
# (layers, HIDDEN) their biases, and again (layers) 1 if the inputs are added once more, as in a
# recurrent step.
Net = namedtuple("Net", "table bias oh deep inner again")

# A side that judges: nets, the weights for positions in which White has just moved and those for
# Black (the same twice if the network is not told); cats, how blocks are sorted; table, what a
# vertex is worth; prize, the reward per captured stone; beta, how moves are drawn (see `duel`).
Side = namedtuple("Side", "nets cats table prize beta")

# A position as the network sees it (one per network and game), all over bordered points: x inputs;
# net (N, CELL) net inputs; h (N, HIDDEN) hidden units; out (N, OUT) outputs; value of a vertex;
# sz, sa at heads: sums over liberties; cat at heads: category.
View = namedtuple("View", "x net h out value sz sa cat")

# Scratch space: lz, la (3, N) what a liberty counts for a colour (filled from a view's outputs; for
# stones: what they would leave behind); offsets to the nine neighbours; stamps and compact buffers
# of `candidate`.
Work = namedtuple(
    "Work", "lz la offset stamp slot listed rows tanhs reads cells news spread count field"
)

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


@kernel
def make_view(n):
    """Allocate a view for a board of n bordered points."""
    return View(
        np.full(n, OFF_BOARD, np.int64),
        np.zeros((n, CELL), np.float32),
        np.zeros((n, HIDDEN), np.float32),
        np.zeros((n, OUT), np.float32),
        np.zeros(n, np.float32),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
    )


@kernel
def make_work(n, width):
    """Allocate scratch space for a board of n bordered points in rows of `width`."""
    return Work(
        np.zeros((3, n), np.int64),
        np.zeros((3, n), np.int64),
        # The paper's order: O E N W S NE NW SW SE.
        np.array([0, 1, -width, -1, width, 1 - width, -1 - width, width - 1, width + 1], np.int64),
        np.zeros((4, n), np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros((n, CELL), np.float32),
        np.zeros((n, HIDDEN), np.float32),
        np.zeros(n * 3, np.float32),
        np.zeros(2 * n, np.int64),
        np.zeros(2 * n, np.int64),
        np.zeros(REACH, np.float32),
        np.zeros(4, np.int64),
        np.zeros((n, HIDDEN), np.float32),
    )


@hot_kernel
def tanh_all(values, n):
    """Replace the first n numbers of a flat array by their tanh."""
    for i in range(n):
        v = min(max(values[i], -_NINE), _NINE)
        u = v * v
        top = (((_P4 * u + _P3) * u + _P2) * u + _P1) * u + _P0
        low = (((_Q4 * u + _Q3) * u + _Q2) * u + _Q1) * u + UNIT
        values[i] = v * top / low


@hot_kernel
def category(sz, sa, cats):
    """Return a block's category, from 0 for C1, from the sums over its liberties."""
    libs = sz >> 40
    if cats[0] == 0:
        q = sz - (libs << 40) - sa
        if sa >= cats[2]:
            return 5
        if sa >= cats[1]:
            return 3 if q < cats[3] else 4
        return 0 if q < cats[3] else 1 if q < cats[4] else 2
    if cats[0] == 1:
        return min(libs, 6) - 1
    if cats[0] == 3:
        if sa >= cats[2]:
            return 5
        if libs <= 2:
            return libs - 1
        return 4 if sa >= cats[1] else 2 if libs == 3 else 3
    if cats[0] == 4:
        if sa >= cats[2]:
            return 10 if libs <= 3 else 11
        if sa >= cats[1]:
            return 5 + min(libs, 4)
        return min(libs, 6) - 1
    return 0


@kernel
def symbol(kind, colour):
    """Return the input of a stone; the numbers beyond six categories follow the paper's 14."""
    if kind < 6:
        return kind + (6 if colour == BLACK else 0)
    return kind + (14 if colour == BLACK else 8)


@inner_kernel
def weigh_liberties(s, out, work):
    """Fill what each point counts as a liberty, from a position's outputs, for the next one.

    A stone's entry is what it leaves behind if captured: its survival becomes territory.
    """
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    lz, la = work.lz, work.la
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


@kernel
def categorise(s, view, work, cats):
    """Set every block's sums and category from `work`'s liberties, and with them the inputs."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    width = cols + 1
    stamp, count = work.stamp[0], work.count
    for row in range(rows):
        for col in range(cols):
            p = (row + 1) * width + col + 1
            c = s[COLOUR, p]
            if c == EMPTY:
                view.x[p] = EMPTY_POINT
                continue
            if s[HEAD, p] != p:
                continue
            count[0] += 1
            mark = count[0]
            sz = sa = 0
            x = p
            while True:
                for k in range(4):
                    q = x + (1 if k == 0 else -1 if k == 1 else width if k == 2 else -width)
                    if s[COLOUR, q] == EMPTY and stamp[q] != mark:
                        stamp[q] = mark
                        sz += work.lz[c, q]
                        sa += work.la[c, q]
                x = s[NEXT, x]
                if x == p:
                    break
            view.sz[p] = sz
            view.sa[p] = sa
            kind = category(sz, sa, cats)
            view.cat[p] = kind
            sort = symbol(kind, c)
            while True:
                view.x[x] = sort
                x = s[NEXT, x]
                if x == p:
                    break


@hot_kernel
def _look_up(net, x, offset, p, out, row):
    """Write to out[row] the net inputs that the nine inputs around p give its cell."""
    t = net.table
    n = t.shape[0] // 9
    i0, i1, i2 = x[p], n + x[p + offset[1]], 2 * n + x[p + offset[2]]
    i3, i4, i5 = 3 * n + x[p + offset[3]], 4 * n + x[p + offset[4]], 5 * n + x[p + offset[5]]
    i6, i7, i8 = 6 * n + x[p + offset[6]], 7 * n + x[p + offset[7]], 8 * n + x[p + offset[8]]
    # Two loops: the compiler gives up on one that would need more than eight overlap checks.
    for j in range(CELL):
        out[row, j] = net.bias[j] + t[i0, j] + t[i1, j] + t[i2, j] + t[i3, j] + t[i4, j]
    for j in range(CELL):
        out[row, j] += t[i5, j] + t[i6, j] + t[i7, j] + t[i8, j]


@hot_kernel
def spread(net, h, row, out):
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
def first_units(net, x, offset, rows, cols, a, h):
    """Compute the net inputs a (N, CELL) that a board's inputs give, and the first hidden units."""
    for row in range(rows):
        start = (row + 1) * (cols + 1) + 1
        for p in range(start, start + cols):
            _look_up(net, x, offset, p, a, p)
            for j in range(HIDDEN):
                h[p, j] = a[p, j]
        tanh_all(h[start : start + cols].reshape(-1), cols * HIDDEN)


@inner_kernel
def ascend(net, k, first, below, above, offset, rows, cols):
    """Compute the units of further layer k from those below; `first` holds the first net inputs."""
    width = cols + 1
    w = net.deep
    for row in range(rows):
        start = (row + 1) * width + 1
        for p in range(start, start + cols):
            for j in range(HIDDEN):
                above[p, j] = net.inner[k, j]
            if net.again[k]:
                for j in range(HIDDEN):
                    above[p, j] += first[p, j]
            for nu in range(9):
                q = p + offset[nu]
                for i in range(HIDDEN):
                    v = below[q, i]
                    for j in range(HIDDEN):
                        above[p, j] += v * w[k, nu, i, j]
        tanh_all(above[start : start + cols].reshape(-1), cols * HIDDEN)


@kernel
def evaluate(s, net, view, work, table):
    """Evaluate a view's inputs: hidden units, outputs, vertex values; return the board's value."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    width = cols + 1
    a, h, out = view.net, view.h, view.out
    first_units(net, view.x, work.offset, rows, cols, a, h)
    for k in range(net.deep.shape[0]):
        for p in range(h.shape[0]):
            for j in range(HIDDEN):
                work.field[p, j] = h[p, j]
        ascend(net, k, a, work.field, h, work.offset, rows, cols)
    # Every hidden cell adds to the outputs of its nine neighbours.
    for row in range(rows):
        start = (row + 1) * width + 1
        for p in range(start, start + cols):
            spread(net, h, p, work.spread)
            for nu in range(9):
                q = p - work.offset[nu]
                for k in range(OUT):
                    a[q, FIRST_OUT + k] += work.spread[nu * OUT + k]
    total = 0.0
    for row in range(rows):
        start = (row + 1) * width + 1
        for p in range(start, start + cols):
            for k in range(OUT):
                out[p, k] = HALF * a[p, FIRST_OUT + k]
        tanh_all(out[start : start + cols].reshape(-1), cols * OUT)
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
