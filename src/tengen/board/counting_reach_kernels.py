"""Lay a counted board out and say which colour reaches which empty point; knows no eyes.

A colour walks from its stones over empty points. A gate, a point between two enemy stones in a
line or between one and the edge, it can step onto but not pass: the enemy answers beyond it.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.flood_kernels import number_alike
from tengen.jit import inner_kernel

EMPTY, BLACK, WHITE, BORDER = 0, 1, 2, 3


@inner_kernel
def lay_out(grid, dead, board, fallen):
    """Copy the grid with a border into `board`, the dead as empty and in `fallen`."""
    rows, cols = grid.shape
    width = cols + 1
    board[:] = BORDER
    fallen[:] = EMPTY
    for r in range(rows):
        for c in range(cols):
            p = (r + 1) * width + c + 1
            if dead[r, c]:
                board[p] = EMPTY
                fallen[p] = grid[r, c]
            else:
                board[p] = grid[r, c]


@inner_kernel
def flood_empty(board, width, region_of, touches, stack):
    """Number the empty regions; add to `touches` bit 1 for Black beside one, bit 2 for White."""
    n = len(board)
    kind = np.empty(n, np.int8)
    for p in range(n):
        kind[p] = 0 if board[p] == EMPTY else -1
    count = number_alike(kind, width, region_of, stack)
    for p in range(n):
        if board[p] == EMPTY:
            for q in (p - width, p - 1, p + 1, p + width):
                if board[q] == BLACK or board[q] == WHITE:
                    touches[region_of[p]] |= board[q]
    return count


@inner_kernel
def _is_gate(board, p, width, colour):
    """Tell whether `colour` or the edge stands on two opposite sides of p, not twice the edge."""
    up, down, left, right = board[p - width], board[p + width], board[p - 1], board[p + 1]
    if (up == colour and (down == colour or down == BORDER)) or (up == BORDER and down == colour):
        return True
    return (left == colour and (right == colour or right == BORDER)) or (
        left == BORDER and right == colour
    )


@inner_kernel
def _gate_holds(board, fallen, width, entry, gate, beyond, colour):
    """Tell whether the owner of a gate stops `colour` from going on from it to `beyond`.

    The answer is a stone beyond the gate. There is no room for it where a fallen stone of the
    intruder lies, and alone it does not hold where the intruder stands at the gate already.
    """
    if fallen[beyond] == colour:
        return False
    if board[entry] != colour and fallen[gate] != colour:
        return True
    foe = 3 - colour
    return (
        board[beyond - width] == foe
        or board[beyond + width] == foe
        or board[beyond - 1] == foe
        or board[beyond + 1] == foe
    )


@inner_kernel
def mark_reach(board, fallen, width, colour, reach, stack):
    """Set in `reach` the empty points that `colour` can walk to past no gate of the enemy."""
    n = len(board)
    foe = 3 - colour
    top = 0
    for p in range(n):
        if board[p] != EMPTY:
            continue
        if (
            board[p - width] == colour
            or board[p + width] == colour
            or board[p - 1] == colour
            or board[p + 1] == colour
        ):
            reach[p] |= colour
            stack[top] = p
            top += 1
    while top:
        top -= 1
        p = stack[top]
        gate = _is_gate(board, p, width, foe)
        for q in (p - width, p - 1, p + 1, p + width):
            if board[q] != EMPTY or reach[q] & colour:
                continue
            if gate and _gate_holds(board, fallen, width, 2 * p - q, p, q, colour):
                continue
            reach[q] |= colour
            stack[top] = q
            top += 1


@inner_kernel
def is_barred(board, fallen, width, p, colour):
    """Tell whether p is a gate of the enemy that stops `colour` both ways."""
    if not _is_gate(board, p, width, 3 - colour):
        return False
    for q in (p - width, p - 1, p + 1, p + width):
        if board[q] == EMPTY:
            entry = 2 * p - q
            if (board[entry] == EMPTY or board[entry] == colour) and not _gate_holds(
                board, fallen, width, entry, p, q, colour
            ):
                return False
    return True
