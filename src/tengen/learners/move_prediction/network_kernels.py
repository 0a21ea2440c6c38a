"""Score moves by a small network over summed feature vectors, and learn it by gradient steps.

Every feature f has a weight w[f] and a vector E[f] of DIM numbers. Every point p of the board has
features F_p (a legal move's, a stone's), and the position has shared ones S:

    a_0(p) = relu(sum of E over F_p and S)
    a_l(p) = a_(l-1)(p) + relu([a(p), sum of a over edge neighbours, over corner neighbours] W_l
                               + (mean of a over the board) V_l + b_l)       l = 1 .. LAYERS
    logit(p) = sum of w over F_p + u . a_LAYERS(p)

Probabilities are the softmax of the logits over the legal moves. Neighbours enter as sums, so the
result does not change when the board is turned or mirrored. Nothing here knows what a feature
means.

Activations are arrays over the bordered board with zeros on the border; only the rows LO to HI of
it, which hold all points, are computed. Matrix products are cut into pieces so small that the BLAS
library stays on one thread.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from tengen.board.layout_kernels import BORDER, COLOUR, COLS, ROWS, SCALARS
from tengen.jit import hot_kernel, inner_kernel, kernel

DIM = 32  # length of a feature's vector and width of the network
SEEN = 3 * DIM  # what a layer sees of a point: itself, edge neighbours, corner neighbours
LAYERS = 3
_LAYER_SIZE = SEEN * DIM + DIM * DIM + DIM  # W, V and b of one layer
DENSE_SIZE = LAYERS * _LAYER_SIZE + DIM  # all layers and u
_PIECE = 64  # rows of a matrix product at once


@inner_kernel
def _add_features(feats, widths, points, n, shared, n_shared, E, x):
    """Set x[p] to the sum of the feature vectors of p for the n listed points."""
    base = np.zeros(DIM, np.float32)
    for k in range(n_shared):
        f = shared[k]
        for j in range(DIM):
            base[j] += E[f, j]
    for m in range(n):
        p = points[m]
        row = x[p]
        for j in range(DIM):
            row[j] = base[j]
        for k in range(widths[m]):
            f = np.uintp(feats[m, k])
            for j in range(DIM):
                row[j] += E[f, j]


@inner_kernel
def _multiply(X, lo, hi, W, Y):
    """Set Y[lo:hi] = X[lo:hi] W, in pieces."""
    for first in range(lo, hi, _PIECE):
        last = min(first + _PIECE, hi)
        np.dot(X[first:last], W, Y[first:last])


@kernel
def _add_two(x, low, high, out, at, n):
    """Set n numbers of the flat `out` from `at` to the sum of two stretches of the flat `x`."""
    a, b, c = x[low : low + n], x[high : high + n], out[at : at + n]
    for i in range(n):
        c[i] = a[i] + b[i]


@hot_kernel
def _add_four(x, y, step, lo, n, out):
    """Set out[i] = x[i] + y[i - step] + y[i + step] for n numbers from `lo` of flat arrays."""
    a, b, c, d = (
        x[lo : lo + n],
        y[lo - step : lo - step + n],
        y[lo + step : lo + step + n],
        out[lo:],
    )
    for i in range(n):
        d[i] = a[i] + b[i] + c[i]


@inner_kernel
def _look_around(a, rows, cols, side, edge, corner):
    """Sum over neighbours of all points: `edge` over the nearest, `corner` over the diagonals.

    All arrays are (N, DIM) with zeros on the border of `a`; `side` is room for left plus right.
    """
    width = cols + 1
    flat, flat_side = a.reshape(-1), side.reshape(-1)
    first, n = DIM, (a.shape[0] - 2) * DIM
    _add_two(flat, 0, 2 * DIM, flat_side, first, n)
    lo, n = (width + 1) * DIM, (rows * width - 1) * DIM
    _add_four(flat_side, flat, width * DIM, lo, n, edge.reshape(-1))
    _add_two(flat_side, lo - width * DIM, lo + width * DIM, corner.reshape(-1), lo, n)


@inner_kernel
def _layer_weights(dense, layer):
    """Return W (self, edge, corner), V and b of a layer as views."""
    o = layer * _LAYER_SIZE
    W = dense[o : o + SEEN * DIM].reshape(3, DIM, DIM)
    o += SEEN * DIM
    V = dense[o : o + DIM * DIM].reshape(DIM, DIM)
    return W, V, dense[o + DIM * DIM : o + DIM * DIM + DIM]


@kernel
def _column_sums(a, lo, hi, out):
    """Set `out` to the sum of the rows lo to hi of `a`."""
    out[:] = 0
    part = a[lo:hi]
    for p in range(part.shape[0]):
        for j in range(DIM):
            out[j] += part[p, j]


@kernel
def _rectify(y, ye, yc, shift, a, after, lo, hi):
    """Set y to relu(y + ye + yc + shift) and `after` to a + y for the points lo to hi."""
    y, ye, yc, a, after = y[lo:hi], ye[lo:hi], yc[lo:hi], a[lo:hi], after[lo:hi]
    for p in range(y.shape[0]):
        for j in range(DIM):
            t = y[p, j] + ye[p, j] + yc[p, j] + shift[j]
            t = t if t > 0 else np.float32(0.0)
            y[p, j] = t
            after[p, j] = a[p, j] + t


@kernel
def _gate(da, y):
    """Set y to da where y is positive, else to 0; flat arrays."""
    for i in range(y.shape[0]):
        y[i] = da[i] if y[i] > 0 else np.float32(0.0)


@hot_kernel
def _add_back(da, d0, d1, d2, back, lo, hi):
    """Add d0 + d1 + d2 + back to da for the points lo to hi."""
    da, d0, d1, d2 = da[lo:hi], d0[lo:hi], d1[lo:hi], d2[lo:hi]
    for p in range(da.shape[0]):
        for j in range(DIM):
            da[p, j] += d0[p, j] + d1[p, j] + d2[p, j] + back[j]


@kernel
def forward(
    s, feats, widths, points, n, n_moves, shared, n_shared, w, E, dense, acts, Y, room, logits
):
    """Compute all activations and the logits of the first n_moves of the n listed points.

    acts is (LAYERS + 1, N, DIM); Y (LAYERS, N, DIM) keeps what `backward_dense` needs; `room` is
    (5, N, DIM) to work in. Border rows of `acts` must be zero before the call, and stay so.
    """
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    width = cols + 1
    lo, hi = width + 1, (rows + 1) * width
    area = np.float32(rows * cols)
    a = acts[0]
    _add_features(feats, widths, points, n, shared, n_shared, E, a)
    flat = a.reshape(-1)
    for i in range(flat.shape[0]):
        t = flat[i]
        flat[i] = t if t > 0 else np.float32(0.0)
    mean = np.empty(DIM, np.float32)
    shift = np.empty(DIM, np.float32)
    for layer in range(LAYERS):
        W, V, b = _layer_weights(dense, layer)
        a, after, y = acts[layer], acts[layer + 1], Y[layer]
        _look_around(a, rows, cols, room[0], room[1], room[2])
        _multiply(a, lo, hi, W[0], y)
        _multiply(room[1], lo, hi, W[1], room[3])
        _multiply(room[2], lo, hi, W[2], room[4])
        _column_sums(a, lo, hi, mean)
        for k in range(DIM):
            shift[k] = b[k]
        for j in range(DIM):
            t = mean[j] / area
            for k in range(DIM):
                shift[k] += t * V[j, k]
        _rectify(y, room[3], room[4], shift, a, after, lo, hi)
        for p in range(lo, hi):
            if s[COLOUR, p] == BORDER:
                after[p] = 0
                y[p] = 0
    u = dense[LAYERS * _LAYER_SIZE :]
    a = acts[LAYERS]
    for m in range(n_moves):
        z = np.float32(0.0)
        for k in range(widths[m]):
            z += w[feats[m, k]]
        p = points[m]
        # Four sums side by side: one long sum would wait for each addition.
        z0 = z1 = z2 = z3 = np.float32(0.0)
        for j in range(0, DIM, 4):
            z0 += u[j] * a[p, j]
            z1 += u[j + 1] * a[p, j + 1]
            z2 += u[j + 2] * a[p, j + 2]
            z3 += u[j + 3] * a[p, j + 3]
        logits[m] = z + ((z0 + z1) + (z2 + z3))


@kernel
def softmax(logits, n, out):
    """Turn n logits into probabilities."""
    top = logits[0]
    for m in range(1, n):
        top = max(top, logits[m])
    total = 0.0
    for m in range(n):
        out[m] = np.exp(logits[m] - top)
        total += out[m]
    for m in range(n):
        out[m] /= total


@kernel
def _slot(f, slots, touched, n_touched, G):
    """Return the row of the gradient buffer for feature f, making one if needed."""
    i = slots[f]
    if i < 0:
        i = n_touched[0]
        slots[f] = i
        touched[i] = f
        n_touched[0] += 1
        for j in range(DIM + 1):
            G[i, j] = 0
    return i


@kernel
def _add_product(A, B, lo, hi, part, out):
    """Add A[lo:hi] transposed times B[lo:hi] to `out`, in pieces."""
    for first in range(lo, hi, _PIECE):
        last = min(first + _PIECE, hi)
        np.dot(A[first:last].T, B[first:last], part)
        for i in range(DIM):
            for j in range(DIM):
                out[i, j] += part[i, j]


@kernel
def backward_dense(s, probs, target, points, n_moves, dense, grad, acts, Y, room, da):
    """Add the gradient of -log probs[target] by the network's weights to `grad`.

    Leaves in `da` (N, DIM) the gradient by a_0, before its relu. Spoils Y and `room` (5, N, DIM).
    """
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    width = cols + 1
    lo, hi = width + 1, (rows + 1) * width
    area = np.float32(rows * cols)
    u, du = dense[LAYERS * _LAYER_SIZE :], grad[LAYERS * _LAYER_SIZE :]
    da[:] = 0
    for m in range(n_moves):
        p = points[m]
        g = np.float32(probs[m])
        if m == target:
            g -= np.float32(1.0)
        for j in range(DIM):
            du[j] += g * acts[LAYERS, p, j]
            da[p, j] = g * u[j]
    part = np.empty((DIM, DIM), np.float32)
    total = np.empty(DIM, np.float32)
    mean = np.empty(DIM, np.float32)
    back = np.empty(DIM, np.float32)
    for layer in range(LAYERS - 1, -1, -1):
        W, V, _b = _layer_weights(dense, layer)
        dW, dV, db = _layer_weights(grad, layer)
        # Y[layer] becomes the gradient by what goes into the relu. Neighbourhood is mutual, so the
        # sums over neighbours are their own transposes.
        dy, a = Y[layer], acts[layer]
        _column_sums(a, lo, hi, mean)
        _gate(da.reshape(-1), dy.reshape(-1))
        _column_sums(dy, lo, hi, total)
        for j in range(DIM):
            db[j] += total[j]
            back[j] = 0
            for k in range(DIM):
                dV[j, k] += mean[j] / area * total[k]
                back[j] += V[j, k] * total[k] / area
        _look_around(dy, rows, cols, room[0], room[1], room[2])
        _add_product(a, dy, lo, hi, part, dW[0])
        _add_product(a, room[1], lo, hi, part, dW[1])
        _add_product(a, room[2], lo, hi, part, dW[2])
        _multiply(dy, lo, hi, np.ascontiguousarray(W[0].T), room[0])
        _multiply(room[1], lo, hi, np.ascontiguousarray(W[1].T), room[3])
        _multiply(room[2], lo, hi, np.ascontiguousarray(W[2].T), room[4])
        _add_back(da, room[0], room[3], room[4], back, lo, hi)
    a, d = acts[0].reshape(-1), da.reshape(-1)
    for i in range(d.shape[0]):
        if a[i] <= 0:
            d[i] = 0


@kernel
def backward_features(
    feats, widths, points, n, n_moves, shared, n_shared, probs, target, da, floor,
    slots, touched, n_touched, G,
):  # fmt: skip
    """Add the gradient by the features' weights and vectors to the buffer G.

    Points whose gradient is everywhere below `floor` are left out of it.
    """
    dx = np.zeros(DIM, np.float32)
    for m in range(n):
        g = np.float32(0.0)
        if m < n_moves:
            g = np.float32(probs[m])
            if m == target:
                g -= np.float32(1.0)
        p = points[m]
        top = abs(g)
        for j in range(DIM):
            dx[j] += da[p, j]
            top = max(top, abs(da[p, j]))
        if top < floor:
            continue
        row = da[p]
        for k in range(widths[m]):
            f = np.uintp(feats[m, k])
            i = slots[f]
            if i < 0:
                i = _slot(f, slots, touched, n_touched, G)
            G[np.uintp(i), DIM] += g
            for j in range(DIM):
                G[np.uintp(i), j] += row[j]
    for k in range(n_shared):
        i = _slot(shared[k], slots, touched, n_touched, G)
        for j in range(DIM):
            G[i, j] += dx[j]


@inner_kernel
def step_features(slots, touched, n_touched, G, w, E, w_sq, E_sq, rate_w, rate_E):
    """Take one Adagrad step for the features touched (one accumulator per vector)."""
    for i in range(n_touched[0]):
        f = touched[i]
        slots[f] = -1
        g = G[i, DIM]
        if g != 0:
            w_sq[f] += g * g
            w[f] -= rate_w * g / np.sqrt(w_sq[f])
        q = np.float32(0.0)
        for j in range(DIM):
            q += G[i, j] * G[i, j]
        if q > 0:
            E_sq[f] += q / DIM
            r = np.float32(rate_E / np.sqrt(E_sq[f]))
            for j in range(DIM):
                E[f, j] -= r * G[i, j]
    n_touched[0] = 0


@inner_kernel
def step_dense(x, g, first, second, rate, t):
    """Take one Adam step for a flat array of weights and clear its gradient."""
    c1 = np.float32(rate / (1.0 - 0.9**t))
    c2 = np.float32(1.0 / (1.0 - 0.999**t))
    small = np.float32(1e-8)
    for i in range(x.shape[0]):
        first[i] = np.float32(0.9) * first[i] + np.float32(0.1) * g[i]
        second[i] = np.float32(0.999) * second[i] + np.float32(0.001) * g[i] * g[i]
        x[i] -= c1 * first[i] / (np.sqrt(second[i] * c2) + small)
        g[i] = 0


@kernel
def rank_credit(logits, n, target, tops, hits):
    """Add to hits[k] the share of credit for `target` being among the best tops[k]; ties share."""
    better = equal = 0
    t = logits[target]
    for m in range(n):
        if logits[m] > t:
            better += 1
        elif logits[m] == t:
            equal += 1
    for k in range(tops.shape[0]):
        room = tops[k] - better
        if room >= equal:
            hits[k] += 1.0
        elif room > 0:
            hits[k] += room / equal
