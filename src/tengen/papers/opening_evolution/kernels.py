"""Choose moves with evolved networks, recomputing only what a stone changes.

Inputs are +1 for own stones, -1 for enemy stones, 0 for empty points, row by row. The caller
chooses among equal values and checks superko.
"""

# mypy: ignore-errors
from __future__ import annotations

import math

import numpy as np

from tengen.arrays import BoolArray, FloatArray, IntArray
from tengen.board.kernels import (
    copy_row,
    copy_state,
    in_atari,
    index_of,
    is_legal,
    near,
    play_move,
    point_at,
)
from tengen.board.layout_kernels import COLOUR, COLS, EMPTY, HEAD, NEXT, PASS, ROWS, SCALARS, TURN
from tengen.jit import kernel

NO_VALUE = -2.0  # below every value a network can give


@kernel
def _read_inputs(s: IntArray, colour: int, x: FloatArray) -> None:
    """Fill `x` with the inputs of a network playing `colour`."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    for i in range(rows * cols):
        c = s[COLOUR, point_at(i, cols)]
        x[i] = 0.0 if c == EMPTY else 1.0 if c == colour else -1.0


@kernel
def _changes(s: IntArray, p: int, colour: int, where: IntArray, how: FloatArray, me: int) -> int:
    """List the inputs that change when `colour` plays the legal point `p`, from `me`'s view.

    Writes indices and differences for the stone and its captures (no suicide); returns how many.
    """
    cols = s[SCALARS, COLS]
    where[0] = index_of(p, cols)
    how[0] = 1.0 if colour == me else -1.0
    count = 1
    enemy = 3 - colour
    width = cols + 1
    for k in range(4):
        q = near(p, k, width)
        if s[COLOUR, q] != enemy or not in_atari(s, s[HEAD, q]):
            continue
        head = s[HEAD, q]
        known = False
        for j in range(k):
            z = near(p, j, width)
            if s[COLOUR, z] == enemy and s[HEAD, z] == head:
                known = True
        if known:
            continue
        x = head
        while True:
            where[count] = index_of(x, cols)
            how[count] = 1.0 if enemy != me else -1.0
            count += 1
            x = s[NEXT, x]
            if x == head:
                break
    return count


@kernel
def _bend(values: FloatArray, n: int) -> None:
    """Replace the first `n` values by their tanh, to within 1e-13, in vector registers.

    exp(2x) is the 256th power of exp(x / 128), whose series is short; tanh(19) is 1.
    """
    for i in range(n):
        x = min(max(values[i], -19.0), 19.0) / 128.0
        e = 1.0 / 5040 + x * (1.0 / 40320)
        e = 1.0 / 120 + x * (1.0 / 720 + x * e)
        e = 1.0 / 6 + x * (1.0 / 24 + x * e)
        e = 1.0 + x * (1.0 + x * (0.5 + x * e))
        for _ in range(8):
            e *= e
        values[i] = (e - 1.0) / (e + 1.0)


@kernel
def _output(hidden: FloatArray, w2: FloatArray) -> float:
    """Apply tanh to hidden sums in place; return the output. `w2` ends with the bias.

    Four sums in parallel avoid a chain of dependent additions.
    """
    n = hidden.shape[0]
    _bend(hidden, n)
    a = b = c = d = 0.0
    for i in range(n // 4):
        h = 4 * i
        a += w2[h] * hidden[h]
        b += w2[h + 1] * hidden[h + 1]
        c += w2[h + 2] * hidden[h + 2]
        d += w2[h + 3] * hidden[h + 3]
    for h in range(n - n % 4, n):
        a += w2[h] * hidden[h]
    return math.tanh(w2[n] + a + b + c + d)


@kernel
def _dense_sums(x: FloatArray, w1: FloatArray, out: FloatArray) -> None:
    """Fill `out` with the hidden sums of inputs `x`; the last row of `w1` is the bias."""
    n = x.shape[0]
    for h in range(out.shape[0]):
        out[h] = w1[n, h]
    for i in range(n):
        if x[i] != 0.0:
            for h in range(out.shape[0]):
                out[h] += x[i] * w1[i, h]


@kernel
def _candidate(s: IntArray, i: int, me: int, free: bool, where: IntArray, how: FloatArray) -> int:
    """List the inputs that change when `me` plays cell `i`; return how many, 0 if it is illegal.

    With `free` illegal points are candidates too, as if a stone stood there.
    """
    p = point_at(i, s[SCALARS, COLS])
    if is_legal(s, p, me):
        return _changes(s, p, me, where, how, me)
    if not free:
        return 0
    where[0], how[0] = i, 1.0
    return 1


@kernel
def _add_rows(
    w1: FloatArray, where: IntArray, how: FloatArray, count: int, base: FloatArray, out: FloatArray
) -> None:
    """Write to `out` the hidden sums `base`, updated for the listed input changes."""
    units = base.shape[0]
    row, step = where[0], how[0]
    for h in range(units):
        out[h] = base[h] + step * w1[row, h]
    for i in range(1, count):
        row, step = where[i], how[i]
        for h in range(units):
            out[h] += step * w1[row, h]


# ----- The spatial network: one unit per window -----


@kernel
def _read_windows(
    x: FloatArray, weights: tuple[FloatArray, FloatArray, FloatArray],
    windows: tuple[IntArray, IntArray], cover: tuple[IntArray, IntArray], sums: FloatArray,
    bent: FloatArray, base: FloatArray,
) -> None:  # fmt: skip
    """Fill the windows' sums, their tanh, and the second layer's sums for inputs `x`.

    Window u covers sizes[u] x sizes[u] points; its weights start at offsets[u], its bias is last.
    """
    w0, w1, _ = weights
    sizes, offsets = windows
    over, places = cover
    for u in range(sums.shape[0]):
        sums[u] = w0[offsets[u] + sizes[u] * sizes[u]]
    for i in range(x.shape[0]):
        if x[i] == 0.0:
            continue
        for j in range(over.shape[1]):
            u = over[i, j]
            if u < 0:
                break
            sums[u] += x[i] * w0[places[i, j]]
    copy_row(sums, bent)
    _bend(bent, bent.shape[0])
    _dense_sums(bent, w1, base)


@kernel
def _touch(
    w0: FloatArray, cover: tuple[IntArray, IntArray], where: IntArray, how: FloatArray, count: int,
    sums: FloatArray, slot: IntArray, touched: IntArray, fresh: FloatArray,
) -> int:  # fmt: skip
    """List the windows that the listed inputs touch, with their new sums; return how many.

    `slot` holds each window's place in the list; between calls it is -1 everywhere.
    """
    over, places = cover
    n = 0
    for i in range(count):
        cell = where[i]
        for j in range(over.shape[1]):
            u = over[cell, j]
            if u < 0:
                break
            if slot[u] < 0:
                slot[u], touched[n], fresh[n] = n, u, sums[u]
                n += 1
            fresh[slot[u]] += how[i] * w0[places[cell, j]]
    for k in range(n):
        slot[touched[k]] = -1
    return n


@kernel
def _carry(
    w1: FloatArray, touched: IntArray, fresh: FloatArray, n: int, bent: FloatArray,
    base: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Write to `out` the second layer's sums for `n` windows with `fresh` sums; overwrite those."""
    _bend(fresh, n)
    for k in range(n):
        fresh[k] -= bent[touched[k]]
    copy_row(base, out)
    # Four windows per pass: `out` is loaded and stored a quarter as often.
    for k in range(0, n - 3, 4):
        a, b, c, d = touched[k], touched[k + 1], touched[k + 2], touched[k + 3]
        p, q, r, t = fresh[k], fresh[k + 1], fresh[k + 2], fresh[k + 3]
        for h in range(out.shape[0]):
            out[h] += p * w1[a, h] + q * w1[b, h] + r * w1[c, h] + t * w1[d, h]
    for k in range(n - n % 4, n):
        for h in range(out.shape[0]):
            out[h] += fresh[k] * w1[touched[k], h]


# ----- Choosing a move, with either network -----


@kernel
def _order(values: FloatArray, sign: float, out: IntArray) -> None:
    """Write the indices that sort sign * value in ascending order; the sort is stable."""
    for i in range(values.shape[0]):
        j = i
        while j > 0 and sign * values[i] < sign * values[out[j - 1]]:
            out[j] = out[j - 1]
            j -= 1
        out[j] = i


@kernel
def _value_after(
    weights: tuple[FloatArray, FloatArray, FloatArray], cover: tuple[IntArray, IntArray],
    where: IntArray, how: FloatArray, count: int, node: tuple[FloatArray, FloatArray, FloatArray],
    work: FloatArray, scratch: tuple[IntArray, IntArray, FloatArray],
) -> float:  # fmt: skip
    """Return the value of `node` after the listed inputs changed."""
    sums, bent, base = node
    if sums.shape[0] == 0:
        _add_rows(weights[1], where, how, count, base, work)
    else:
        slot, touched, fresh = scratch
        n = _touch(weights[0], cover, where, how, count, sums, slot, touched, fresh)
        _carry(weights[1], touched, fresh, n, bent, base, work)
    return _output(work, weights[2])


@kernel
def _descend(
    weights: tuple[FloatArray, FloatArray, FloatArray], cover: tuple[IntArray, IntArray],
    where: IntArray, how: FloatArray, count: int, node: tuple[FloatArray, FloatArray, FloatArray],
    child: tuple[FloatArray, FloatArray, FloatArray],
    scratch: tuple[IntArray, IntArray, FloatArray],
) -> None:  # fmt: skip
    """Write to `child` the sums of `node` after the listed inputs changed."""
    sums, bent, base = node
    sums2, bent2, base2 = child
    if sums.shape[0] == 0:
        _add_rows(weights[1], where, how, count, base, base2)
        return
    slot, touched, fresh = scratch
    n = _touch(weights[0], cover, where, how, count, sums, slot, touched, fresh)
    copy_row(sums, sums2)
    copy_row(bent, bent2)
    for k in range(n):
        sums2[touched[k]] = fresh[k]
    _carry(weights[1], touched, fresh, n, bent, base, base2)
    for k in range(n):
        bent2[touched[k]] += fresh[k]


@kernel(makes_arrays=True)
def move_values(
    s: IntArray, weights: tuple[FloatArray, FloatArray, FloatArray],
    windows: tuple[IntArray, IntArray], cover: tuple[IntArray, IntArray], free: bool, plies: int,
    among: BoolArray, first: FloatArray,
) -> int:  # fmt: skip
    """Write to `first` the value of each move `among` the points, NO_VALUE elsewhere.

    Return the index of the best, the first of equals in the order of the search.

    `weights` are the windows' weights, the layer above and the output; `windows` what
    `_read_windows` takes; cover[0][cell] lists the windows over a cell (-1 after the last) and
    cover[1] the place of its weight in each. A dense network has no windows. With two `plies` the
    value is the least after every legal reply or a pass; a move that cannot be better than one
    before it may have an upper bound instead, which is at most that one's value.
    """
    me = s[SCALARS, TURN]
    cols = s[SCALARS, COLS]
    cells = s[SCALARS, ROWS] * cols
    units, hidden = windows[0].shape[0], weights[1].shape[1]
    x, work = np.empty(cells), np.empty(hidden)
    node = np.empty(units), np.empty(units), np.empty(hidden)
    child = np.empty(units), np.empty(units), np.empty(hidden)
    scratch = np.full(units, -1, np.int64), np.empty(units, np.int64), np.empty(units)
    where, how = np.empty(cells + 1, np.int64), np.empty(cells + 1)
    _read_inputs(s, me, x)
    if units == 0:
        _dense_sums(x, weights[1], node[2])
    else:
        _read_windows(x, weights, windows, cover, *node)
    second = np.zeros(cells)
    for i in range(cells):
        count = _candidate(s, i, me, free, where, how) if among[i] else 0
        first[i] = NO_VALUE
        if count > 0:
            first[i] = _value_after(weights, cover, where, how, count, node, work, scratch)
        if plies > 1:
            where[0], how[0] = i, -1.0
            second[i] = _value_after(weights, cover, where, how, 1, node, work, scratch)
    if plies < 2:
        return np.argmax(first)
    # The most promising moves and replies first, so that alpha-beta cuts early.
    order, replies = np.empty(cells, np.int64), np.empty(cells, np.int64)
    _order(first, -1.0, order)
    _order(second, 1.0, replies)
    t = np.empty_like(s)
    best, chosen, killer = NO_VALUE, 0, -1
    for i in order:
        if first[i] == NO_VALUE:
            break
        count = _candidate(s, i, me, free, where, how)
        _descend(weights, cover, where, how, count, node, child, scratch)
        p = point_at(i, cols)
        copy_state(s, t)
        play_move(t, p if is_legal(s, p, me) else PASS, me)  # an illegal choice is a pass
        worst, reply = first[i], -1  # the enemy may pass
        for k in range(-1, cells):
            cell = killer if k < 0 else replies[k]
            if worst <= best:
                break
            if cell < 0 or (k >= 0 and cell == killer):
                continue
            p = point_at(cell, cols)
            if not is_legal(t, p, 3 - me):
                continue
            count = _changes(t, p, 3 - me, where, how, me)
            value = _value_after(weights, cover, where, how, count, child, work, scratch)
            if value < worst:
                worst, reply = value, cell
        first[i] = worst
        if worst > best:
            best, chosen = worst, i
        elif reply >= 0:
            killer = reply
    return chosen
