"""Evaluate positions and moves with the network of 12 hidden units, play games, take gradients.

Points are those of the bordered board: neighbours are offsets, and hidden units on the border stay
zero. Inputs are one-hot, so a product with them is a table look-up. A move changes few inputs;
`candidate` re-evaluates only the cells that these reach.

The hot loops run over one row of an array, from zero, and write to one array while reading few
others, which lets the compiler use whole vectors. Sums over liberties are integers (in units of
2**-20), so that no category depends on the order of a sum. All values are White's, without komi.
"""

# mypy: ignore-errors
from __future__ import annotations

from collections import namedtuple

import numpy as np

from tengen.arrays import Float32Array, FloatArray, IntArray, UInt64Array
from tengen.board.kernels import (
    KO_POSITIONAL,
    allowed_mask,
    area_score,
    fill_area,
    history_key,
    in_atari,
    is_allowed,
    near,
    play_move,
    point_of,
    remember,
    seed_stream,
    uniform,
)
from tengen.board.layout_kernels import (
    BLACK,
    BORDER,
    COLOUR,
    COLS,
    EMPTIES,
    EMPTY,
    HASH,
    HEAD,
    N_EMPTY,
    NEXT,
    PASS,
    ROWS,
    SCALARS,
    TURN,
    WHITE,
)
from tengen.board.tactics_kernels import BY_BLOCK, is_own_eye, maxlib_move
from tengen.jit import kernel
from tengen.papers.symmetry_network.network import BY_LIBERTIES, EMPTY_POINT, INPUTS

HIDDEN = 12
OUT = 8  # seven outputs and one that is always zero, so that rows are whole vectors
CELL = 24  # net inputs of a cell: 12 hidden, 4 unused, 8 outputs
FIRST_OUT = 16  # where the outputs begin among them
REACH = 9 * OUT  # what a hidden cell adds to: the outputs of nine neighbours
_ONE = 1 << 20
COUNT = 1 << 40  # sums over liberties carry their number above this bit

# Weights in float32: table (9 * INPUTS, CELL) what an input adds to a neighbour's net inputs; bias
# (CELL); oh, flat (HIDDEN, 9, OUT), what a hidden unit adds to its neighbours' outputs; hh
# (5 * HIDDEN, HIDDEN), what the previous position's hidden units add, without rows in others.
Net = namedtuple("Net", "table bias oh hh")

# A side of a game: its net; cats, how blocks are sorted; table, the value of a vertex; prize, the
# reward per captured stone; beta, how moves are drawn (see `duel`).
Side = namedtuple("Side", "net cats table prize beta")

# A position as a network evaluates it, arrays over bordered points: at (4, N) inputs (X) and, at
# the heads of blocks, sums over liberties (SZ, SA) and the category (CAT); net (N, CELL) net
# inputs; h (N, HIDDEN) hidden units; past (N, HIDDEN) those of the previous position; out (N, OUT)
# outputs; value of a vertex.
View = namedtuple("View", "at net h past out value")
X, SZ, SA, CAT = range(4)

# Scratch space: liberty (2, 3, N) what a liberty adds to a colour's sums SZ and SA (from a view's
# outputs; for stones: what they would leave behind); offsets to the nine neighbours; mark (6, N)
# four stamps, the SLOT of a cell and the LISTED cells; count of the stamps; change (2, 2 N) cells
# and their new inputs; compact buffers of `candidate`.
Work = namedtuple("Work", "liberty offset mark count change rows tanhs buffer")
SLOT, LISTED = 4, 5

# What a side needs during a game: two views, the moves and their values. `now` has categories from
# the outputs of the previous position and is learned from; `base` has the same stones sorted with
# the current outputs, to compare passes and candidate moves.
Scratch = namedtuple("Scratch", "now base work points values")

# tanh(x) = x P(x^2) / Q(x^2) on [-9, 9], fitted for this project; largest error in float32 4e-7.
_P0, _P1 = np.float32(0.9999999064140208), np.float32(0.1337321229847176)
_P2, _P3 = np.float32(0.003486598754743192), np.float32(2.0472088666587086e-05)
_P4, _Q1 = np.float32(1.31845451373147e-08), np.float32(0.46706509184443884)
_Q2, _Q3 = np.float32(0.025842044585243272), np.float32(0.00032714121284078843)
_Q4 = np.float32(7.702802681198123e-07)
_NINE, UNIT, HALF, ZERO = np.float32(9), np.float32(1), np.float32(0.5), np.float32(0)

# The outputs read in each state (empty, black, white); 7 is the one that is always zero.
READS = np.array([[0, 3, 4], [2, 6, 7], [1, 5, 7]])


@kernel
def _tanh_all(values: Float32Array, n: int) -> None:
    """Replace the first n numbers of a flat array by their tanh."""
    for i in range(n):
        v = min(max(values[i], -_NINE), _NINE)
        u = v * v
        top = (((_P4 * u + _P3) * u + _P2) * u + _P1) * u + _P0
        low = (((_Q4 * u + _Q3) * u + _Q2) * u + _Q1) * u + UNIT
        values[i] = v * top / low


@kernel
def _category(sz: int, sa: int, cats: IntArray) -> int:
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
def _symbol(kind: int, colour: int) -> int:
    """Return the input number of a stone whose block has this category."""
    return kind + (6 if colour == BLACK else 0)


@kernel
def weigh_liberties(s: IntArray, out: Float32Array, work: Work) -> None:
    """Write what each point (a stone's once captured) counts as a liberty in the next position."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    lz, la = work.liberty[0], work.liberty[1]
    for row in range(rows):
        for col in range(cols):
            p = point_of(row, col, cols)
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
def categorise(s: IntArray, view: View, work: Work, cats: IntArray) -> None:
    """Set every block's sums and category from the liberties in `work`, and all inputs."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    width = cols + 1
    lz, la = work.liberty[0], work.liberty[1]
    stamp, count = work.mark[0], work.count
    for row in range(rows):
        for col in range(cols):
            p = point_of(row, col, cols)
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
            view.at[SZ, p], view.at[SA, p] = sz, sa
            kind = _category(sz, sa, cats)
            view.at[CAT, p] = kind
            sort = _symbol(kind, c)
            while True:
                view.at[X, x] = sort
                x = s[NEXT, x]
                if x == p:
                    break


@kernel
def _spread(net: Net, h: Float32Array, row: int, out: Float32Array) -> None:
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


@kernel
def _recall(
    net: Net, past: Float32Array, offset: IntArray, rows: int, cols: int, a: Float32Array
) -> None:
    """Add what the previous position's hidden units `past` give to the net inputs a."""
    for row in range(rows):
        start = point_of(row, 0, cols)
        for p in range(start, start + cols):
            for nu in range(5):
                q = p + offset[nu]
                for i in range(HIDDEN):
                    v = past[q, i]
                    for j in range(HIDDEN):
                        a[p, j] += v * net.hh[nu * HIDDEN + i, j]


@kernel
def _keep_state(net: Net, h: Float32Array, past: Float32Array) -> None:
    """Make hidden units the past of the next position."""
    if net.hh.shape[0] > 0:
        for p in range(h.shape[0]):
            for j in range(HIDDEN):
                past[p, j] = h[p, j]


@kernel(makes_arrays=True)
def hidden_units(
    net: Net, x: IntArray, past: Float32Array, offset: IntArray, rows: int, cols: int,
    a: Float32Array, h: Float32Array,
) -> None:  # fmt: skip
    """Compute the net inputs a (N, CELL) of a board's cells and its hidden units h (N, HIDDEN)."""
    t, n = net.table, INPUTS
    for row in range(rows):
        start = point_of(row, 0, cols)
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
    if net.hh.shape[0] > 0:
        _recall(net, past, offset, rows, cols, a)
    for row in range(rows):
        start = point_of(row, 0, cols)
        for p in range(start, start + cols):
            for j in range(HIDDEN):
                h[p, j] = a[p, j]
        _tanh_all(h[start : start + cols].reshape(-1), cols * HIDDEN)


@kernel(makes_arrays=True)
def evaluate(s: IntArray, side: Side, view: View, work: Work) -> float:
    """Evaluate a view's inputs: hidden units, outputs, vertex values; return the board's value."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    net, table = side.net, side.table
    a, h, out = view.net, view.h, view.out
    hidden_units(net, view.at[X], view.past, work.offset, rows, cols, a, h)
    # Every hidden cell adds to the outputs of its nine neighbours.
    for row in range(rows):
        start = point_of(row, 0, cols)
        for p in range(start, start + cols):
            _spread(net, h, p, work.buffer)
            for nu in range(9):
                q = p - work.offset[nu]
                for k in range(OUT):
                    a[q, FIRST_OUT + k] += work.buffer[nu * OUT + k]
    total = 0.0
    for row in range(rows):
        start = point_of(row, 0, cols)
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
def _change(s: IntArray, work: Work, n: int, first: int, sort: int) -> int:
    """Add all stones of the block at `first` to the list of changed inputs."""
    x = first
    while True:
        work.change[0, n], work.change[1, n] = x, sort
        n += 1
        x = s[NEXT, x]
        if x == first:
            return n


@kernel
def _changes(
    s: IntArray, view: View, work: Work, cats: IntArray, p: int, me: int
) -> tuple[int, int]:
    """List the inputs that a legal move changes, captures first; return (inputs, captures)."""
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


@kernel
def _walk(s: IntArray, work: Work, p: int, me: int, mark: int) -> tuple[int, int]:
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


@kernel
def _relieve(
    s: IntArray, view: View, work: Work, cats: IntArray, n: int, captured: int, me: int, mark: int
) -> int:
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


@kernel(makes_arrays=True)
def candidate(
    s: IntArray, side: Side, view: View, work: Work, p: int, me: int
) -> tuple[float, int]:
    """Return (change of the value of an evaluated view, stones captured) if `me` plays p."""
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


@kernel
def _gain(
    s: IntArray, view: View, work: Work, table: Float32Array, n_o: int, p: int, me: int, mark: int
) -> float:
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


# ----- Games -----

BEST = 1e9  # the least beta with which a side always takes the best move
RANDOM, MAXLIB = -1.0, -2.0  # the betas with which a side plays at random, or for liberties


@kernel
def evaluate_afresh(s: IntArray, side: Side, scratch: Scratch, rounds: int) -> float:
    """Evaluate a position without history in `rounds` rounds from neutral outputs; fill `now`."""
    now, work = scratch.now, scratch.work
    for p in range(s.shape[1]):
        for k in range(7):
            now.out[p, k] = np.float32(0.5) if k < 3 else np.float32(0.12)
        for j in range(HIDDEN):
            now.past[p, j] = ZERO
    total = 0.0
    for i in range(rounds):
        if i > 0:
            _keep_state(side.net, now.h, now.past)
        weigh_liberties(s, now.out, work)
        categorise(s, now, work, side.cats)
        total = evaluate(s, side, now, work)
    return total


@kernel
def rate_moves(s: IntArray, seen: IntArray, side: Side, scratch: Scratch) -> int:
    """Evaluate the pass and every allowed move, given `now`; return the number of moves."""
    me = s[SCALARS, TURN]
    base, work, points, values = scratch.base, scratch.work, scratch.points, scratch.values
    weigh_liberties(s, scratch.now.out, work)
    categorise(s, base, work, side.cats)
    _keep_state(side.net, scratch.now.h, base.past)
    total = evaluate(s, side, base, work)
    points[0], values[0] = PASS, total
    n = 1
    prize = side.prize if me == WHITE else -side.prize
    # In the order of the points, so that a draw does not depend on the order of the empty list.
    for p in range(s.shape[1]):
        if s[COLOUR, p] == EMPTY and is_allowed(s, seen, KO_POSITIONAL, p, me):
            gain, captured = candidate(s, side, base, work, p, me)
            points[n] = p
            values[n] = total + gain + prize * captured
            n += 1
    return n


@kernel
def _draw_move(values: FloatArray, n: int, beta: float, me: int, rng: UInt64Array) -> int:
    """Draw the index of a move in proportion to exp(beta * value); BEST takes the first best."""
    sign = 1.0 if me == WHITE else -1.0
    best = 0
    for i in range(1, n):
        if sign * values[i] > sign * values[best]:
            best = i
    if beta >= BEST:
        return best
    total = 0.0
    for i in range(n):
        total += np.exp(beta * sign * (values[i] - values[best]))
    left = uniform(rng) * total
    for i in range(n):
        left -= np.exp(beta * sign * (values[i] - values[best]))
        if left <= 0.0:
            return i
    return best


@kernel
def _play(s: IntArray, seen: IntArray, p: int) -> None:
    """Play a move and remember the position."""
    play_move(s, p, s[SCALARS, TURN])
    remember(seen, history_key(s[SCALARS, HASH], s[SCALARS, TURN], KO_POSITIONAL))


@kernel(makes_arrays=True)
def _history(s: IntArray, limit: int) -> IntArray:
    """Return a hash table with room for every position of a game; it contains this one."""
    size = 1024
    while size < 4 * limit:
        size *= 2
    seen = np.zeros(size, np.int64)
    remember(seen, history_key(s[SCALARS, HASH], s[SCALARS, TURN], KO_POSITIONAL))
    return seen


@kernel(makes_arrays=True)
def self_play(
    s: IntArray, side: Side, scratch: Scratch, targets: Float32Array, lam: float, limit: int,
    seed: int, index: int, grads: Net,
) -> tuple[int, bool, int, float, int]:  # fmt: skip
    """Play game `index` of `seed` from `s` (changed) and add its gradient to `grads`, a Net.

    Returns (plies, whether two passes ended it, area score for Black, squared error, its terms).
    """
    n = s.shape[1]
    seen = _history(s, limit)
    rng = np.zeros(1, np.uint64)
    seed_stream(rng, seed, index)
    now, work = scratch.now, scratch.work
    xs, stones = np.empty((limit + 1, n), np.int64), np.empty((limit + 1, n), np.int64)
    outs = np.empty((limit + 1, n, OUT), np.float32)
    recurrent = side.net.hh.shape[0] > 0
    pasts = np.zeros((limit + 1 if recurrent else 0, n, HIDDEN), np.float32)
    plies = passes = 0
    while True:
        categorise(s, now, work, side.cats)
        _keep_state(side.net, now.h, now.past)  # at first no hidden units
        evaluate(s, side, now, work)
        if recurrent:
            pasts[plies] = now.past
        for p in range(n):
            xs[plies, p] = now.at[X, p]
            stones[plies, p] = s[COLOUR, p]
            for k in range(OUT):
                outs[plies, p, k] = now.out[p, k]
        if plies == limit or passes == 2:
            break
        m = rate_moves(s, seen, side, scratch)
        p = scratch.points[_draw_move(scratch.values, m, side.beta, s[SCALARS, TURN], rng)]
        _play(s, seen, p)
        passes = passes + 1 if p == PASS else 0
        plies += 1
    classes = np.empty(n, np.int64)
    final_classes(s, classes)
    played = np.int64(plies), xs, pasts, stones, outs, classes
    board = work.offset, s[SCALARS, ROWS], s[SCALARS, COLS]
    square, terms = td_gradient(side.net, targets, lam, played, board, grads)
    return plies, passes == 2, area_score(s), square, terms


@kernel(makes_arrays=True)
def duel(
    s: IntArray, black: Side, white: Side, scratch_b: Scratch, scratch_w: Scratch, openings: int,
    limit: int, seed: int, index: int,
) -> tuple[int, int]:  # fmt: skip
    """Let two sides play on from `s` (changed); return (plies, area score for Black).

    The first `openings` plies are random, the same for games 2 i and 2 i + 1. A beta of BEST takes
    the best move that fills no own eye, RANDOM and MAXLIB play at random and for liberties; others
    draw among all moves as in training.
    """
    rng = np.zeros(1, np.uint64)
    seed_stream(rng, seed ^ 0x0BE9, index // 2)
    seen = np.zeros(1, np.int64)
    for _ in range(openings):
        play_move(
            s, _random_move(s, seen, s[SCALARS, TURN], rng, scratch_b.points), s[SCALARS, TURN]
        )
    seen = _history(s, limit)
    seed_stream(rng, seed, index)
    evaluate_afresh(s, black, scratch_b, np.int64(3))
    evaluate_afresh(s, white, scratch_w, np.int64(3))
    plies = passes = 0
    while plies < limit and passes < 2:
        if s[SCALARS, TURN] == BLACK:
            p = _choose(s, seen, black, scratch_b, rng)
            weigh_liberties(s, scratch_w.now.out, scratch_w.work)
        else:
            p = _choose(s, seen, white, scratch_w, rng)
            weigh_liberties(s, scratch_b.now.out, scratch_b.work)
        _play(s, seen, p)
        passes = passes + 1 if p == PASS else 0
        plies += 1
        _look_again(s, black, scratch_b)
        _look_again(s, white, scratch_w)
    return plies, area_score(s)


@kernel
def _look_again(s: IntArray, side: Side, scratch: Scratch) -> None:
    """Evaluate the new position for a side that depends on earlier outputs or hidden units."""
    recurrent = side.net.hh.shape[0] > 0
    if side.beta >= 0.0 and (recurrent or side.cats[0] != BY_LIBERTIES):
        categorise(s, scratch.now, scratch.work, side.cats)
        _keep_state(side.net, scratch.now.h, scratch.now.past)
        evaluate(s, side, scratch.now, scratch.work)


@kernel(makes_arrays=True)
def _choose(s: IntArray, seen: IntArray, side: Side, scratch: Scratch, rng: UInt64Array) -> int:
    """Return the move of the side to play; see `duel` for its beta."""
    me = s[SCALARS, TURN]
    if side.beta == RANDOM:
        return _random_move(s, seen, me, rng, scratch.points)
    if side.beta == MAXLIB:
        allowed = np.empty(s[SCALARS, ROWS] * s[SCALARS, COLS] + 1, np.bool_)
        allowed_mask(s, seen, KO_POSITIONAL, me, allowed)
        return maxlib_move(s, me, np.int64(BY_BLOCK), allowed, rng)
    m = rate_moves(s, seen, side, scratch)
    if side.beta >= BEST:
        m = _spare_eyes(s, me, scratch.points, scratch.values, m)
    return scratch.points[_draw_move(scratch.values, m, side.beta, me, rng)]


@kernel
def _spare_eyes(s: IntArray, me: int, points: IntArray, values: FloatArray, n: int) -> int:
    """Drop moves that fill an own eye, and the pass if another is left; return how many stay."""
    m = 0
    for i in range(n):
        if points[i] != PASS and not is_own_eye(s, points[i], me):
            points[m], values[m] = points[i], values[i]
            m += 1
    if m == 0:
        points[0] = PASS
        m = 1
    return m


@kernel
def _random_move(s: IntArray, seen: IntArray, me: int, rng: UInt64Array, points: IntArray) -> int:
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


# ----- The gradient of a finished game -----

# Final classes of a vertex, in the order of `network.CLASSES`.
_WHITE_POINT, WHITE_STONE, NOBODY, BLACK_STONE, BLACK_POINT = 0, 1, 2, 3, 4


@kernel(makes_arrays=True)
def final_classes(s: IntArray, classes: IntArray) -> None:
    """Write the final class of every vertex; a region that touches one colour belongs to it."""
    n = s.shape[1]
    known, area = np.zeros(n, np.bool_), np.empty(n, np.int64)
    for p in range(n):
        c = s[COLOUR, p]
        if c == BLACK or c == WHITE:
            classes[p] = BLACK_STONE if c == BLACK else WHITE_STONE
        elif c == BORDER:
            classes[p] = -1
        elif not known[p]:
            size, touches = fill_area(s, p, known, area)
            own = _WHITE_POINT if touches == WHITE else NOBODY
            for i in range(size):
                classes[area[i]] = BLACK_POINT if touches == BLACK else own


@kernel(makes_arrays=True)
def td_gradient(
    net: Net, targets: Float32Array, lam: float,
    played: tuple[int, IntArray, Float32Array, IntArray, Float32Array, IntArray],
    board: tuple[IntArray, int, int], grads: Net,
) -> tuple[float, int]:  # fmt: skip
    """Add the TD(lambda) gradient of a finished game to `grads`, a Net of the same shapes.

    `played` has the number of plies, xs, pasts, stones, outs and the final classes; `board` the
    offsets of neighbours, rows and columns. xs, stones (plies + 1, N) and outs (plies + 1, N, 8)
    hold the inputs, colours and outputs of every position; in recurrent networks pasts (plies + 1,
    N, HIDDEN) holds the hidden units before it, and errors go back through the whole game. The
    final classes are carried back through the game as probabilities. Returns the sum of squared
    errors of the outputs that apply, and their number.
    """
    plies, xs, pasts, stones, outs, classes = played
    _offset, rows, cols = board
    n = xs.shape[1]
    aim = np.zeros((n, 5), np.float32)
    q = np.zeros(5, np.float32)
    delta = np.zeros((n, OUT), np.float32)
    a, h = np.zeros((n, CELL), np.float32), np.zeros((n, HIDDEN), np.float32)
    room = a, h, np.zeros(CELL, np.float32), np.zeros(REACH, np.float32)
    # The errors that the next position leaves at this one's hidden units, and this one at the last.
    recurrent = pasts.shape[0] > 0
    owed = np.zeros((2, n if recurrent else 0, HIDDEN), np.float32)
    nothing = np.zeros((0, HIDDEN), np.float32)
    back = np.empty((REACH, HIDDEN), np.float32)
    for k in range(REACH):
        for j in range(HIDDEN):
            back[k, j] = net.oh[j * REACH + k]
    mix, keep = np.float32(1.0 - lam), np.float32(lam)
    square, terms = 0.0, 0
    for t in range(plies, -1, -1):
        # The lambda-return in class space, then the errors of the outputs that apply.
        for row in range(rows):
            for p in range(point_of(row, 0, cols), point_of(row, cols, cols)):
                if t == plies:
                    aim[p, classes[p]] = UNIT
                elif t < plies - 1:
                    # The likelihoods of the classes that the next position's outputs imply.
                    c, q[0], q[4] = stones[t + 1, p], ZERO, ZERO
                    if c == EMPTY:
                        z, q[0], q[4] = outs[t + 1, p, 0], outs[t + 1, p, 3], outs[t + 1, p, 4]
                    elif c == WHITE:
                        z, q[4] = outs[t + 1, p, 1], outs[t + 1, p, 5]
                    else:
                        z, q[0] = outs[t + 1, p, 2], outs[t + 1, p, 6]
                    q[1], q[3] = max(z - q[0], ZERO), max(UNIT - z - q[4], ZERO)
                    total = q[0] + q[1] + q[3] + q[4]
                    for i in range(5):
                        aim[p, i] = mix * (q[i] / total) + keep * aim[p, i]
                for k in range(OUT):
                    delta[p, k] = ZERO
                c = stones[t, p]
                for i in range(3):
                    k = READS[c, i]
                    if k == 7:
                        continue
                    goal = ZERO
                    for m in range(5):
                        goal += targets[k, m] * aim[p, m]
                    d = goal - outs[t, p, k]
                    delta[p, k] = d
                    square += d * d
                    terms += 1
        due, left = owed[t % 2], owed[(t + 1) % 2]
        left[:] = ZERO
        past = pasts[t] if recurrent else nothing
        _position_gradient(net, back, xs[t], past, due, left, delta, board, room, grads)
    return square, terms


@kernel
def _position_gradient(
    net: Net, back: Float32Array, x: IntArray, past: Float32Array, due: Float32Array,
    left: Float32Array, delta: Float32Array, board: tuple[IntArray, int, int],
    room: tuple[Float32Array, Float32Array, Float32Array, Float32Array], grads: Net,
) -> None:  # fmt: skip
    """Add the gradient of one position, given the errors at the net inputs of its outputs.

    In a recurrent network hidden units also have the errors `due`; those of the previous position
    are added to `left`. `room` is scratch space.
    """
    (offset, rows, cols), (a, h, cell, d72) = board, room
    recurrent = past.shape[0] > 0
    hidden_units(net, x, past, offset, rows, cols, a, h)
    for row in range(rows):
        for p in range(point_of(row, 0, cols), point_of(row, cols, cols)):
            for j in range(CELL):
                cell[j] = ZERO
            for nu in range(9):
                q = p - offset[nu]
                for k in range(OUT):
                    d72[nu * OUT + k] = delta[q, k]
            for m in range(REACH):
                d = d72[m]
                if d != ZERO:
                    for j in range(HIDDEN):
                        cell[j] += d * back[m, j]
            if recurrent:
                for j in range(HIDDEN):
                    cell[j] += due[p, j]
            for j in range(HIDDEN):
                v = h[p, j]
                for k in range(REACH):
                    grads.oh[j * REACH + k] += v * d72[k]
                cell[j] *= UNIT - v * v
            for k in range(OUT):
                cell[FIRST_OUT + k] = delta[p, k]
            if recurrent:
                for nu in range(5):
                    q = p + offset[nu]
                    for i in range(HIDDEN):
                        v, total = past[q, i], ZERO
                        for j in range(HIDDEN):
                            grads.hh[nu * HIDDEN + i, j] += v * cell[j]
                            total += net.hh[nu * HIDDEN + i, j] * cell[j]
                        left[q, i] += total
            for j in range(CELL):
                grads.bias[j] += cell[j]
            for nu in range(9):
                i = nu * INPUTS + x[p + offset[nu]]
                for j in range(CELL):
                    grads.table[i, j] += cell[j]
