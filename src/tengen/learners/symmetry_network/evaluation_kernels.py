"""Evaluate the paper's shape of network fast: one hidden layer of 12 units, 14 inputs, 7 outputs.

Points are those of the bordered board, so every cell finds its nine neighbours by adding an offset, and
hidden units on the border stay zero. Because inputs are one-hot, a product with them is a table look-up.
A candidate move changes few inputs: its stone, stones taken, blocks whose category moves. `candidate`
re-evaluates only the cells that see a change and returns the value of the whole board.

Sums over liberties are kept in whole numbers (units of 2**-20), so that a category does not
depend on the order of a sum. All values are from White's view, without komi.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from tengen.board.kernels import (
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
    in_atari,
)
from tengen.jit import kernel

HIDDEN = 12
OUT = 8  # seven outputs and one that is always zero, so that rows are whole vectors
ONE = 1 << 20
EMPTY_POINT, OFF_BOARD = 12, 13

# Weights in float32: hi (9, 14, 12), bh (12), oi (9, 14, 8), oh (12, 9 * 8), bo (8).
Net = namedtuple("Net", "hi bh oi oh bo")

# A position as the network sees it (one per network and game), all over bordered points:
#   x inputs; ah, h (N, 12) net inputs and values of hidden units; ao (N, 8) net inputs of outputs;
#   out (N, 8) outputs; value (N) worth of a vertex; sz, sa at heads: sums over liberties; cat at heads.
View = namedtuple("View", "x ah h ao out value sz sa cat")

# Scratch space: lz, la (3, N) what a liberty counts for a colour (filled from a view's outputs, for stones
# too: what they would leave behind); stamps and compact buffers of `candidate`.
Work = namedtuple("Work", "lz la stamp slot_h slot_o list_h list_o bh bo bs cells news t72 count")

# tanh(x) = x P(x^2) / Q(x^2) on [-9, 9], fitted for this project; largest error in float32 4e-7.
P0, P1, P2, P3, P4 = (
    np.float32(v)
    for v in (
        0.9999999064140208,
        0.1337321229847176,
        0.003486598754743192,
        2.0472088666587086e-05,
        1.31845451373147e-08,
    )
)
Q1, Q2, Q3, Q4 = (
    np.float32(v)
    for v in (
        0.46706509184443884,
        0.025842044585243272,
        0.00032714121284078843,
        7.702802681198123e-07,
    )
)
NINE, UNIT, HALF, ZERO = np.float32(9), np.float32(1), np.float32(0.5), np.float32(0)

# The outputs read in each state (empty, black, white); 7 is the one that is always zero.
READS = np.array([[0, 3, 4], [2, 6, 7], [1, 5, 7]])


@kernel
def make_view(n):
    """Allocate a view for a board of n bordered points."""
    f = np.float32
    return View(
        np.full(n, OFF_BOARD, np.int64),
        np.zeros((n, HIDDEN), f),
        np.zeros((n, HIDDEN), f),
        np.zeros((n, OUT), f),
        np.zeros((n, OUT), f),
        np.zeros(n, f),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
    )


@kernel
def make_work(n):
    """Allocate scratch space for a board of n bordered points."""
    i, f = np.int64, np.float32
    return Work(
        np.zeros((3, n), i),
        np.zeros((3, n), i),
        np.zeros((4, n), i),
        np.zeros(n, i),
        np.zeros(n, i),
        np.zeros(n, i),
        np.zeros(n, i),
        np.zeros((n, HIDDEN), f),
        np.zeros((n, OUT), f),
        np.zeros((n, 3), f),
        np.zeros(2 * n, i),
        np.zeros(2 * n, i),
        np.zeros(9 * OUT, f),
        np.zeros(4, i),
    )


@kernel
def offset(nu, width):
    """Return the step on the bordered board for the paper's order O E N W S NE NW SW SE."""
    if nu == 0:
        return 0
    if nu == 1:
        return 1
    if nu == 2:
        return -width
    if nu == 3:
        return -1
    if nu == 4:
        return width
    if nu == 5:
        return 1 - width
    if nu == 6:
        return -1 - width
    if nu == 7:
        return width - 1
    return width + 1


@kernel
def tanh_all(values, n):
    """Replace the first n numbers of a flat array by their tanh."""
    for i in range(n):
        v = min(max(values[i], -NINE), NINE)
        u = v * v
        top = (((P4 * u + P3) * u + P2) * u + P1) * u + P0
        low = (((Q4 * u + Q3) * u + Q2) * u + Q1) * u + UNIT
        values[i] = v * top / low


@kernel
def category(sz, sa, cats):
    """Return 0 to 5 for C1 to C6 from the sums over a block's liberties."""
    if cats[0] == 0:
        q = sz - sa
        if sa >= cats[2]:
            return 5
        if sa >= cats[1]:
            return 3 if q < cats[3] else 4
        return 0 if q < cats[3] else 1 if q < cats[4] else 2
    if cats[0] == 1:
        return min(sz >> 20, 6) - 1
    return 0


@kernel
def weigh_liberties(s, out, work, cats):
    """Fill what each point counts as a liberty, from the outputs of the position before the next move.

    A stone's entry is what it leaves behind if captured: its own survival becomes the likelihood of territory.
    """
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    lz, la = work.lz, work.la
    for row in range(rows):
        for col in range(cols):
            p = (row + 1) * (cols + 1) + col + 1
            c = s[COLOUR, p]
            if cats[0] != 0:
                lz[BLACK, p] = lz[WHITE, p] = ONE
                continue
            z = np.int64(out[p, 0 if c == EMPTY else 1 if c == WHITE else 2] * np.float32(ONE))
            lz[WHITE, p] = z
            lz[BLACK, p] = ONE - z
            la[WHITE, p] = la[BLACK, p] = 0
            if c != WHITE:
                la[WHITE, p] = np.int64(out[p, 3 if c == EMPTY else 6] * np.float32(ONE))
            if c != BLACK:
                la[BLACK, p] = np.int64(out[p, 4 if c == EMPTY else 5] * np.float32(ONE))


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
            symbol = kind + (6 if c == BLACK else 0)
            while True:
                view.x[x] = symbol
                x = s[NEXT, x]
                if x == p:
                    break


@kernel
def evaluate(s, net, view, work, table):
    """Evaluate the inputs of a view: hidden units, outputs, vertex values; return the board's value."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    width = cols + 1
    x, ah, h, ao = view.x, view.ah, view.h, view.ao
    # Look-ups: hidden units and the direct part of the outputs.
    for row in range(rows):
        for col in range(cols):
            p = (row + 1) * width + col + 1
            for j in range(HIDDEN):
                ah[p, j] = net.bh[j]
            for k in range(OUT):
                ao[p, k] = net.bo[k]
            for nu in range(9):
                i = x[p + offset(nu, width)]
                for j in range(HIDDEN):
                    ah[p, j] += net.hi[nu, i, j]
                for k in range(OUT):
                    ao[p, k] += net.oi[nu, i, k]
    for row in range(rows):
        start = (row + 1) * width + 1
        for p in range(start, start + cols):
            for j in range(HIDDEN):
                h[p, j] = ah[p, j]
        tanh_all(h[start : start + cols].reshape(-1), cols * HIDDEN)
    # Every hidden cell adds to the outputs of its nine neighbours.
    for row in range(rows):
        for col in range(cols):
            p = (row + 1) * width + col + 1
            spread(net, h, p, work.t72)
            for nu in range(9):
                q = p - offset(nu, width)
                for k in range(OUT):
                    ao[q, k] += work.t72[nu * OUT + k]
    total = 0.0
    for row in range(rows):
        start = (row + 1) * width + 1
        for p in range(start, start + cols):
            for k in range(OUT):
                view.out[p, k] = HALF * ao[p, k]
        tanh_all(view.out[start : start + cols].reshape(-1), cols * OUT)
        for p in range(start, start + cols):
            for k in range(OUT):
                view.out[p, k] = HALF + HALF * view.out[p, k]
            c = s[COLOUR, p]
            v = table[c, 8]
            for k in range(7):
                v += table[c, k] * view.out[p, k]
            view.value[p] = v
            total += v
    return total


@kernel
def spread(net, h, p, t72):
    """Write what the hidden units h[p] add to the outputs of all nine neighbours."""
    for k in range(9 * OUT):
        t72[k] = ZERO
    for j in range(HIDDEN):
        v = h[p, j]
        for k in range(9 * OUT):
            t72[k] += v * net.oh[j, k]


@kernel
def _change(s, work, n, first, symbol):
    """Add all stones of the block at `first` to the list of changed inputs."""
    x = first
    while True:
        work.cells[n] = x
        work.news[n] = symbol
        n += 1
        x = s[NEXT, x]
        if x == first:
            return n


@kernel
def changes(s, view, work, cats, p, me):
    """List the inputs that change when `me` plays p; return (how many, stones captured).

    Captured stones come first in the list. The rules are not asked: p must be legal.
    """
    width = s[SCALARS, COLS] + 1
    enemy = 3 - me
    gone, done, count = work.stamp[1], work.stamp[2], work.count
    count[1] += 1
    mark = count[1]
    lz, la = work.lz, work.la
    n = 0
    for k in range(4):
        q = p + (1 if k == 0 else -1 if k == 1 else width if k == 2 else -width)
        if s[COLOUR, q] == enemy and done[s[HEAD, q]] != mark and in_atari(s, s[HEAD, q]):
            done[s[HEAD, q]] = mark
            n = _change(s, work, n, s[HEAD, q], EMPTY_POINT)
    captured = n
    for i in range(captured):
        gone[work.cells[i]] = mark
    # Enemy blocks that stay lose the liberty p.
    first = 0
    friends = 0
    for k in range(4):
        q = p + (1 if k == 0 else -1 if k == 1 else width if k == 2 else -width)
        c = s[COLOUR, q]
        if c != BLACK and c != WHITE:
            continue
        head = s[HEAD, q]
        if done[head] == mark:
            continue
        done[head] = mark
        if c == enemy:
            kind = category(view.sz[head] - lz[enemy, p], view.sa[head] - la[enemy, p], cats)
            if kind != view.cat[head]:
                n = _change(s, work, n, head, kind + (6 if enemy == BLACK else 0))
        else:
            friends += 1
            first = head
    # The block of the new stone.
    sz = sa = 0
    if friends == 0 or (friends == 1 and captured == 0):
        if friends == 1:
            sz = view.sz[first] - lz[me, p]
            sa = view.sa[first] - la[me, p]
        for k in range(4):
            q = p + (1 if k == 0 else -1 if k == 1 else width if k == 2 else -width)
            if gone[q] == mark or s[COLOUR, q] == EMPTY:
                new = True
                if friends == 1:
                    for m in range(4):
                        r = q + (1 if m == 0 else -1 if m == 1 else width if m == 2 else -width)
                        if s[COLOUR, r] == me and s[HEAD, r] == first:
                            new = False
                if new:
                    sz += lz[me, q]
                    sa += la[me, q]
    else:
        sz, sa = _walk(s, work, p, me, mark)
    kind = category(sz, sa, cats)
    symbol = kind + (6 if me == BLACK else 0)
    work.cells[n] = p
    work.news[n] = symbol
    n += 1
    if friends == 1:
        if kind != view.cat[first]:
            n = _change(s, work, n, first, symbol)
    elif friends > 1:
        count[2] += 1
        for k in range(4):
            q = p + (1 if k == 0 else -1 if k == 1 else width if k == 2 else -width)
            if s[COLOUR, q] == me:
                head = s[HEAD, q]
                if work.stamp[3, head] != count[2]:
                    work.stamp[3, head] = count[2]
                    if kind != view.cat[head]:
                        n = _change(s, work, n, head, symbol)
    if captured > 0:
        n = _relieve(s, view, work, cats, n, captured, me, mark)
    return n, captured


@kernel
def _walk(s, work, p, me, mark):
    """Sum over the liberties of the block that a stone at p makes, captured points included."""
    width = s[SCALARS, COLS] + 1
    stamp, gone, count = work.stamp[0], work.stamp[1], work.count
    count[0] += 1
    here = count[0]
    count[2] += 1
    sz = sa = 0
    stamp[p] = here
    for k in range(5):
        if k == 4:
            start = p
        else:
            start = p + (1 if k == 0 else -1 if k == 1 else width if k == 2 else -width)
            if s[COLOUR, start] != me or work.stamp[3, s[HEAD, start]] == count[2]:
                continue
            work.stamp[3, s[HEAD, start]] = count[2]
        x = start
        while True:
            for m in range(4):
                q = x + (1 if m == 0 else -1 if m == 1 else width if m == 2 else -width)
                if (s[COLOUR, q] == EMPTY or gone[q] == mark) and stamp[q] != here:
                    stamp[q] = here
                    sz += work.lz[me, q]
                    sa += work.la[me, q]
            if start == p:
                break
            x = s[NEXT, x]
            if x == start:
                break
    return sz, sa


@kernel
def _relieve(s, view, work, cats, n, captured, me, mark):
    """Give own blocks that touch captured stones, but not the new stone, their new liberties."""
    width = s[SCALARS, COLS] + 1
    done = work.stamp[2]
    for i in range(captured):
        for k in range(4):
            q = work.cells[i] + (1 if k == 0 else -1 if k == 1 else width if k == 2 else -width)
            if s[COLOUR, q] != me or done[s[HEAD, q]] == mark:
                continue
            head = s[HEAD, q]
            done[head] = mark
            sz, sa = view.sz[head], view.sa[head]
            for j in range(captured):
                z = work.cells[j]
                for m in range(4):
                    r = z + (1 if m == 0 else -1 if m == 1 else width if m == 2 else -width)
                    if s[COLOUR, r] == me and s[HEAD, r] == head:
                        sz += work.lz[me, z]
                        sa += work.la[me, z]
                        break
            kind = category(sz, sa, cats)
            if kind != view.cat[head]:
                n = _change(s, work, n, head, kind + (6 if me == BLACK else 0))
    return n


@kernel
def candidate(s, net, view, work, cats, table, p, me):
    """Return (change of the board's value, stones captured) if `me` plays the legal point p.

    `view` must hold the position as it is, categorised with `work`'s liberties and evaluated.
    """
    n, captured = changes(s, view, work, cats, p, me)
    width = s[SCALARS, COLS] + 1
    mark = work.count[1]
    seen_h, seen_o = work.slot_h, work.slot_o
    n_h = n_o = 0
    base = mark << 10  # slots carry the mark, so that they need no clearing
    for i in range(n):
        q = work.cells[i]
        old, new = view.x[q], work.news[i]
        for nu in range(9):
            t = q - offset(nu, width)
            if s[COLOUR, t] == BORDER:
                continue
            a = seen_h[t] - base
            if a < 0:
                a = n_h
                n_h += 1
                seen_h[t] = base + a
                work.list_h[a] = t
                for j in range(HIDDEN):
                    work.bh[a, j] = view.ah[t, j]
            for j in range(HIDDEN):
                work.bh[a, j] += net.hi[nu, new, j] - net.hi[nu, old, j]
            b = seen_o[t] - base
            if b < 0:
                b = n_o
                n_o += 1
                seen_o[t] = base + b
                work.list_o[b] = t
                for k in range(OUT):
                    work.bo[b, k] = view.ao[t, k]
            for k in range(OUT):
                work.bo[b, k] += net.oi[nu, new, k] - net.oi[nu, old, k]
    tanh_all(work.bh.reshape(-1), n_h * HIDDEN)
    for a in range(n_h):
        t = work.list_h[a]
        for j in range(HIDDEN):
            work.bh[a, j] -= view.h[t, j]
        spread(net, work.bh, a, work.t72)
        for nu in range(9):
            q = t - offset(nu, width)
            if s[COLOUR, q] == BORDER:
                continue
            b = seen_o[q] - base
            if b < 0:
                b = n_o
                n_o += 1
                seen_o[q] = base + b
                work.list_o[b] = q
                for k in range(OUT):
                    work.bo[b, k] = view.ao[q, k]
            for k in range(OUT):
                work.bo[b, k] += work.t72[nu * OUT + k]
    return _gain(s, view, work, table, n_o, p, me, mark), captured


@kernel
def _gain(s, view, work, table, n_o, p, me, mark):
    """Return how much the values of the listed output cells differ from those of the view."""
    gone = work.stamp[1]
    for b in range(n_o):
        q = work.list_o[b]
        c = me if q == p else EMPTY if gone[q] == mark else s[COLOUR, q]
        for i in range(3):
            work.bs[b, i] = HALF * work.bo[b, READS[c, i]]
    tanh_all(work.bs.reshape(-1), n_o * 3)
    gain = 0.0
    for b in range(n_o):
        q = work.list_o[b]
        c = me if q == p else EMPTY if gone[q] == mark else s[COLOUR, q]
        v = table[c, 8] - view.value[q]
        for i in range(3):
            v += table[c, READS[c, i]] * (HALF + HALF * work.bs[b, i])
        gain += v
    return gain
