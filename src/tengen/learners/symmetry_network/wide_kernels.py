"""Follow what candidate moves change through stacks of any width and depth, layer by layer.

Many candidates are followed side by side. The cells that a candidate changes are listed once, with
the candidate's number; the list only grows from layer to layer. Between two layers the differences
of all listed cells are multiplied with the weights at once, outside (`wide`); the kernels here
list, add up and count. Blocks are sorted by liberties alone; boards are seen by their mover.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.layout_kernels import BORDER, COLOUR, COLS, ROWS, SCALARS
from tengen.jit import hot_kernel, kernel
from tengen.learners.symmetry_network.candidate_kernels import changes
from tengen.learners.symmetry_network.evaluation_kernels import (
    COUNT,
    EMPTY_POINT,
    HALF,
    OFF_BOARD,
    OUT,
    READS,
    categorise,
    tanh_all,
)
from tengen.learners.symmetry_network.imitation_kernels import from_mover


@kernel
def see(s, view, work, cats, me, x):
    """Sort the blocks of a position and write its inputs from the view of `me`, bordered."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    work.lz[:, :] = COUNT
    categorise(s, view, work, cats)
    x[:] = OFF_BOARD
    for row in range(rows):
        for p in range((row + 1) * (cols + 1) + 1, (row + 1) * (cols + 1) + 1 + cols):
            x[p] = from_mover(view.x[p], me)


@kernel
def look_up_all(s, x, offset, table, bias, net):
    """Write the net inputs that the inputs give every cell; the border's stay as they are."""
    inputs = table.shape[0] // 9
    for p in range(s.shape[1]):
        if s[COLOUR, p] == BORDER:
            continue
        net[p] = bias
        for nu in range(9):
            row = nu * inputs + x[p + offset[nu]]
            for j in range(net.shape[1]):
                net[p, j] += table[row, j]


@kernel
def gather_all(s, offset, product, bias, net):
    """Add to every cell's net inputs what its nine neighbours give; product (N, 9 * width)."""
    width = net.shape[1]
    for p in range(s.shape[1]):
        if s[COLOUR, p] == BORDER:
            continue
        for j in range(width):
            net[p, j] += bias[j]
        for nu in range(9):
            q = p + offset[nu]
            for j in range(width):
                net[p, j] += product[q, nu * width + j]


@kernel
def units_of(s, net, count, units):
    """Write tanh of the first `count` net inputs of every cell; zero on the border."""
    for p in range(s.shape[1]):
        for j in range(count):
            units[p, j] = 0 if s[COLOUR, p] == BORDER else net[p, j]
    tanh_all(units.reshape(-1), units.size)


@kernel
def _state_of(x):
    """Return what stands on a point by its input: nothing, the opponent's stone, the mover's."""
    return 2 if x < 6 else 1 if x < EMPTY_POINT else 0


@hot_kernel
def _worth(net, row, x, worth, reads):
    """Return the value of a vertex from the net inputs of its outputs."""
    c = _state_of(x)
    for i in range(3):
        reads[i] = HALF * net[row, READS[c, i]]
    tanh_all(reads, 3)
    value = worth[c, 8]
    for i in range(3):
        value += worth[c, READS[c, i]] * (HALF + HALF * reads[i])
    return value


@kernel
def worth_all(s, x, net, worth, values):
    """Write the value of every vertex; return their sum."""
    reads = np.zeros(3, np.float32)
    total = 0.0
    for p in range(s.shape[1]):
        if s[COLOUR, p] != BORDER:
            values[p] = _worth(net, p, x[p], worth, reads)
            total += values[p]
    return total


@kernel
def list_first(
    s, view, work, cats, me, points, x, table, base, xs, slot, cells, owners, net, captured
):
    """List the cells that see a changed input, candidate by candidate, with their net inputs.

    base (N, width) are the net inputs before the move, net those after it, one row a listed cell.
    xs (candidates, N) become the inputs after each move. Returns how many cells are listed.
    """
    inputs, width = table.shape[0] // 9, base.shape[1]
    offset = work.offset
    n = 0
    for c in range(points.shape[0]):
        xs[c] = x
        slot[c] = -1
        many, captured[c] = changes(s, view, work, cats, points[c], me)
        for i in range(many):
            q = work.cells[i]
            new = from_mover(work.news[i], me)
            xs[c, q] = new
            for nu in range(9):
                t = q - offset[nu]
                if s[COLOUR, t] == BORDER:
                    continue
                a = slot[c, t]
                if a < 0:  # the same in `list_next`: a kernel for both takes twice the time
                    a = n
                    n += 1
                    slot[c, t] = a
                    cells[a] = t
                    owners[a] = c
                    net[a] = base[t]
                high, low = nu * inputs + new, nu * inputs + x[q]
                for j in range(width):
                    net[a, j] += table[high, j] - table[low, j]
    return n


@kernel
def differences(cells, n, net, count, units, out):
    """Write by how much the units of listed cells differ from those before the move."""
    for a in range(n):
        for j in range(count):
            out[a, j] = net[a, j]
    tanh_all(out[:n].reshape(-1), n * count)
    for a in range(n):
        t = cells[a]
        for j in range(count):
            out[a, j] -= units[t, j]


@kernel
def list_next(s, offset, slot, cells, owners, n, product, base, net):
    """Pass differences on to all neighbours, listing those that are new; return how many are.

    product (n, 9 * width) is what each listed cell gives its neighbours; base and net as in
    `list_first`, for the next layer.
    """
    width = base.shape[1]
    for a in range(n):
        net[a] = base[cells[a]]
    total = n
    for a in range(n):
        t, c = cells[a], owners[a]
        for nu in range(9):
            q = t - offset[nu]
            if s[COLOUR, q] == BORDER:
                continue
            b = slot[c, q]
            if b < 0:
                b = total
                total += 1
                slot[c, q] = b
                cells[b] = q
                owners[b] = c
                net[b] = base[q]
            for j in range(width):
                net[b, j] += product[a, nu * width + j]
    return total


@kernel
def gains(cells, owners, n, direct, old, net, xs, worth, values, out):
    """Add to out[candidate] by how much its listed vertices are worth more than before.

    The first rows of `net` lack what the changed inputs give the outputs directly: `direct`
    (listed first, OUT), to be compared with `old` (N, OUT).
    """
    reads = np.zeros(3, np.float32)
    for a in range(direct.shape[0]):
        for k in range(OUT):
            net[a, k] += direct[a, k] - old[cells[a], k]
    for a in range(n):
        q, c = cells[a], owners[a]
        out[c] += _worth(net, a, xs[c, q], worth, reads) - values[q]
