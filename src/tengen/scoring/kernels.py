"""Number connected regions, play finished positions out, and make blocks' status consistent.

Except in `connect`, a position is a bordered line of colours. Neither the ko nor the side to move
matters: half of the playouts begin with Black, half with White.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.arrays import BoolArray, FloatArray, Int8Array, Int32Array, IntArray
from tengen.board.kernels import copy_row, number_alike, point_of, seed_stream
from tengen.board.playout_kernels import (
    V_RNG,
    V_SIZE,
    U,
    final_score,
    heavy_playout,
    light_playout,
    load_line,
)
from tengen.jit import kernel


@kernel(makes_arrays=True)
def connect(kind: Int8Array, number: IntArray) -> int:
    """Number the connected regions of equal kind in a grid by first point; return how many.

    Points of a negative kind get -1.
    """
    rows, cols = kind.shape
    width = cols + 1
    n = (rows + 2) * width + 1
    line, numbers, stack = np.empty(n, np.int8), np.empty(n, np.int64), np.empty(n, np.int64)
    for p in range(n):
        row, col = p // width - 1, p % width - 1
        line[p] = kind[row, col] if 0 <= row < rows and col >= 0 else -1
    count = number_alike(line, width, numbers, stack)
    for row in range(rows):
        for col in range(cols):
            number[row, col] = numbers[point_of(row, col, cols)]
    return count


@kernel(makes_arrays=True)
def find_common(a: BoolArray, b: BoolArray, out: BoolArray) -> None:
    """Set out[i, j] where the sets a[i] and b[j] intersect."""
    items = np.empty(a.shape[1], np.int64)
    for i in range(a.shape[0]):
        n = 0
        for k in range(a.shape[1]):
            if a[i, k]:
                items[n] = k
                n += 1
        for j in range(b.shape[0]):
            for t in range(n):
                if b[j, items[t]]:
                    out[i, j] = True
                    break


@kernel
def add_up(masks: BoolArray, colours: IntArray, values: FloatArray, out: FloatArray) -> None:
    """Add to out[i] the values[colours[i], j] of all j that are in the set masks[i]."""
    for i in range(masks.shape[0]):
        for j in range(masks.shape[1]):
            if masks[i, j]:
                for k in range(values.shape[2]):
                    out[i, k] += values[colours[i], j, k]


@kernel(makes_arrays=True)
def finish(
    line: IntArray, rows: int, cols: int, light: int, heavy: int, seed: int, shapes: BoolArray,
    ownership: Int32Array,
) -> bool:  # fmt: skip
    """Run `light` and `heavy` playouts with each side to move first.

    ownership[kind * 2 + mover] (kind 0 light, 1 heavy; mover 0 Black, 1 White) gets +1 for Black's
    and -1 for White's points, row-major. Returns False, adding nothing, if a block has no liberty.
    """
    n = line.shape[0]
    width = U((cols + 1) * 8)
    b, b0 = np.zeros(n * 8, np.uint64), np.zeros(n * 8, np.uint64)
    empty, empty0 = np.zeros(n, np.uint64), np.zeros(n, np.uint64)
    v, v0 = np.zeros(V_SIZE, np.uint64), np.zeros(V_SIZE, np.uint64)
    limit = 3 * rows * cols
    trace = np.zeros(limit + 1, np.uint64)
    rng = np.empty(1, np.uint64)
    if not load_line(line, cols, b0, empty0, v0):
        return False
    for kind in range(2):
        for mover in range(2):
            for i in range(heavy if kind == 1 else light):
                copy_row(b0, b)
                copy_row(empty0, empty)
                copy_row(v0, v)
                seed_stream(rng, seed + mover, i)
                v[V_RNG] = rng[0]
                colour = U(mover + 1)
                if kind == 1:
                    heavy_playout(b, empty, v, colour, width, limit, trace, shapes)
                else:
                    light_playout(b, empty, v, colour, width, limit, trace)
                final_score(b, rows, cols, ownership[kind * 2 + mover])
    return True


@kernel
def _count_once(x: int, seen: IntArray, mark: int) -> bool:
    """Mark part `x` as seen; return whether it was not seen before under this mark."""
    if seen[x] == mark:
        return False
    seen[x] = mark
    return True


@kernel(makes_arrays=True)
def settle(
    line: IntArray, width: int, part: IntArray, count: int, logit: FloatArray, alive: BoolArray
) -> int:
    """Make the living blocks consistent at the least cost in logits; return the number of changes.

    Two rules hold afterwards. Of two touching enemy blocks at least one is alive. The area that a
    dead block and its dead neighbours leave empty touches no living block of its own colour:
    otherwise either the block lives too, or its friends die with it.
    """
    n = line.shape[0]
    changes = 0
    kind = np.empty(n, np.int8)
    field = np.empty(n, np.int64)
    stack = np.empty(n, np.int64)
    seen = np.zeros(count, np.int64)
    mark = 0
    for turn in range(4 * count + 4):
        changed = False
        for p in range(n):
            if line[p] != 1 and line[p] != 2:
                continue
            for q in (p + 1, p + width):
                if line[q] == 3 - line[p] and not alive[part[p]] and not alive[part[q]]:
                    x = part[p] if logit[part[p]] >= logit[part[q]] else part[q]
                    alive[x] = True
                    changes += 1
                    changed = True
        for p in range(n):
            kind[p] = -1 if line[p] == 3 or (line[p] != 0 and alive[part[p]]) else 0
        for number in range(number_alike(kind, width, field, stack)):
            for colour in (1, 2):
                mark += 1
                revive, kill = 0.0, 0.0
                any_dead, any_friend = False, False
                for p in range(n):
                    if field[p] != number:
                        continue
                    if line[p] == colour and _count_once(part[p], seen, mark):
                        any_dead = True
                        revive += max(-logit[part[p]], 0.0)
                    for q in (p + 1, p - 1, p + width, p - width):
                        if line[q] == colour and alive[part[q]]:
                            if _count_once(part[q], seen, mark):
                                any_friend = True
                                kill += max(logit[part[q]], 0.0)
                if not (any_dead and any_friend):
                    continue
                for p in range(n):
                    if field[p] != number:
                        continue
                    # After enough turns only dead blocks may change, so that the loop ends.
                    if revive <= kill or turn > count:
                        if line[p] == colour and not alive[part[p]]:
                            alive[part[p]] = True
                            changes += 1
                    else:
                        for q in (p + 1, p - 1, p + width, p - width):
                            if line[q] == colour and alive[part[q]]:
                                alive[part[q]] = False
                                changes += 1
                changed = True
                break
            if changed:
                break
        if not changed:
            break
    return changes
