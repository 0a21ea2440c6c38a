"""Value a candidate move by what it changes, for the paper's shape of network.

A move changes few inputs: its stone, stones taken, blocks whose category moves. `candidate`
re-evaluates only the cells that see a change and returns the change of the whole board's value.
"""

# mypy: ignore-errors
from __future__ import annotations

from tengen.board.kernels import in_atari
from tengen.board.layout_kernels import (
    BLACK,
    BORDER,
    COLOUR,
    COLS,
    EMPTY,
    HEAD,
    NEXT,
    SCALARS,
    WHITE,
)
from tengen.jit import hot_kernel, inner_kernel, kernel
from tengen.learners.symmetry_network.evaluation_kernels import (
    CELL,
    EMPTY_POINT,
    FIRST_OUT,
    HALF,
    HIDDEN,
    OUT,
    READS,
    category,
    spread,
    symbol,
    tanh_all,
)


@kernel
def _change(s, work, n, first, sort):
    """Add all stones of the block at `first` to the list of changed inputs."""
    x = first
    while True:
        work.cells[n] = x
        work.news[n] = sort
        n += 1
        x = s[NEXT, x]
        if x == first:
            return n


@inner_kernel
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
                n = _change(s, work, n, head, symbol(kind, enemy))
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
    sort = symbol(kind, me)
    work.cells[n] = p
    work.news[n] = sort
    n += 1
    if friends == 1:
        if kind != view.cat[first]:
            n = _change(s, work, n, first, sort)
    elif friends > 1:
        count[2] += 1
        for k in range(4):
            q = p + (1 if k == 0 else -1 if k == 1 else width if k == 2 else -width)
            if s[COLOUR, q] == me:
                head = s[HEAD, q]
                if work.stamp[3, head] != count[2]:
                    work.stamp[3, head] = count[2]
                    if kind != view.cat[head]:
                        n = _change(s, work, n, head, sort)
    if captured > 0:
        n = _relieve(s, view, work, cats, n, captured, me, mark)
    return n, captured


@hot_kernel
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


@hot_kernel
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
                n = _change(s, work, n, head, symbol(kind, me))
    return n


@inner_kernel
def candidate(s, net, view, work, cats, table, p, me):
    """Return (change of the board's value, stones captured) if `me` plays the legal point p.

    `view` must hold the position as it is, categorised with `work`'s liberties and evaluated.
    """
    n, captured = changes(s, view, work, cats, p, me)
    mark = work.count[1]
    base = mark << 10  # slots carry the mark, so that they need no clearing
    slot, listed, rows, offset = work.slot, work.listed, work.rows, work.offset
    inputs = net.table.shape[0] // 9
    n_h = 0
    for i in range(n):
        q = work.cells[i]
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
            new = nu * inputs + work.news[i]
            old = nu * inputs + view.x[q]
            for j in range(CELL):
                rows[a, j] += net.table[new, j] - net.table[old, j]
    for a in range(n_h):
        for j in range(HIDDEN):
            work.tanhs[a, j] = rows[a, j]
    tanh_all(work.tanhs.reshape(-1), n_h * HIDDEN)
    # The outputs see the differences of the hidden units.
    n_o = n_h
    for a in range(n_h):
        t = listed[a]
        for j in range(HIDDEN):
            work.tanhs[a, j] -= view.h[t, j]
        spread(net, work.tanhs, a, work.spread)
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
                rows[b, FIRST_OUT + k] += work.spread[nu * OUT + k]
    return _gain(s, view, work, table, n_o, p, me, mark), captured


@hot_kernel
def _gain(s, view, work, table, n_o, p, me, mark):
    """Return how much the values of the listed output cells differ from those of the view."""
    gone, reads = work.stamp[1], work.reads
    for b in range(n_o):
        q = work.listed[b]
        c = me if q == p else EMPTY if gone[q] == mark else s[COLOUR, q]
        for i in range(3):
            reads[b * 3 + i] = HALF * work.rows[b, FIRST_OUT + READS[c, i]]
    tanh_all(reads, n_o * 3)
    gain = 0.0
    for b in range(n_o):
        q = work.listed[b]
        c = me if q == p else EMPTY if gone[q] == mark else s[COLOUR, q]
        v = table[c, 8] - view.value[q]
        for i in range(3):
            v += table[c, READS[c, i]] * (HALF + HALF * reads[b * 3 + i])
        gain += v
    return gain
