"""Read all ladders of a position, the same way however the board lies; judge no move.

Reading is cut off after so many positions, and how far it comes by then depends on the order in
which moves are tried. So the board is turned to one of its eight views first, always the same one
for mirror images and for swapped colours.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from tengen.board.layout_kernels import BORDER, COLOUR, COLS, EMPTY, HEAD, NEXT, ROWS, SCALARS, SIZE
from tengen.board.safety_kernels import MAX_READS, read_ladder, safety_scratch
from tengen.jit import inner_kernel, kernel

# What a ladder says of a move; two numbers each: blocks of one or two stones, and larger ones.
_RUNS_IN_VAIN, _RUNS, _SAVES_FROM_LADDER, CATCHES, ATARI_IN_VAIN = 0, 1, 2, 3, 4
_TAKES_LOST, _TAKES_RUNNER, _BLOCKS_LADDER = 5, 6, 7
_LADDER_READS = 200  # positions one ladder may cost


@kernel
def read_blocks(s, start, count, libs, stamp):
    """List the liberties of every block: libs[start[head] : start[head] + count[head]]."""
    width = s[SCALARS, COLS] + 1
    total = 0
    stamp[:] = 0
    for p in range(s.shape[1]):
        c = s[COLOUR, p]
        if c == EMPTY or c == BORDER or s[HEAD, p] != p:
            continue
        start[p] = total
        x = p
        while True:
            for k in range(4):
                q = x + (1 if k == 0 else -1 if k == 1 else width if k == 2 else -width)
                if s[COLOUR, q] == EMPTY and stamp[q] != p:
                    stamp[q] = p
                    libs[total] = q
                    total += 1
            x = s[NEXT, x]
            if x == p:
                break
        count[p] = total - start[p]


@inner_kernel
def _seen_from(symmetry, i, rows, cols):
    """Return the point of the board that lies at row-major place `i` of one of its views.

    Bits of `symmetry`: rows upside down, columns mirrored, rows for columns (square boards only).
    """
    row, col = i // cols, i % cols
    if symmetry & 4:
        row, col = col, row
    if symmetry & 1:
        row = rows - 1 - row
    if symmetry & 2:
        col = cols - 1 - col
    return (row + 1) * (cols + 1) + col + 1


@inner_kernel
def _chosen_view(s, mover):
    """Return the view whose stones come first: empty, then the mover's, then the other's.

    A board that is its own mirror image has several such views, all alike. Boards that are not
    square have four views.
    """
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    best = 0
    for symmetry in range(1, 8 if rows == cols else 4):
        for i in range(rows * cols):
            a = s[COLOUR, _seen_from(best, i, rows, cols)]
            b = s[COLOUR, _seen_from(symmetry, i, rows, cols)]
            if a != b:
                if b == EMPTY or (b == mover and a != EMPTY):
                    best = symmetry
                break
    return best


@kernel
def read_ladders(s, mover, start, count, libs, said, stones):
    """Read the ladders of all blocks with one or two liberties.

    Bit 2 k + size of said[p] tells that k holds of playing p; stones[head] is 1 to 4: lost in a
    ladder, escapes from atari, can be caught in one, can not be caught.
    """
    any_short = False
    for p in range(s.shape[1]):
        if s[COLOUR, p] != EMPTY and s[COLOUR, p] != BORDER and count[s[HEAD, p]] <= 2:
            any_short = True
            break
    if not any_short:
        return
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    width = cols + 1
    view = _chosen_view(s, mover)
    line = np.full(s.shape[1], BORDER, np.int64)
    back = np.zeros(s.shape[1], np.int64)
    for i in range(rows * cols):
        p = (i // cols + 1) * width + i % cols + 1
        back[p] = _seen_from(view, i, rows, cols)
        line[p] = s[COLOUR, back[p]]
    scratch = safety_scratch(s.shape[1])
    reads = np.zeros(1, np.int64)
    for p in range(s.shape[1]):
        colour = line[p]
        if colour == EMPTY or colour == BORDER:
            continue
        head = s[HEAD, back[p]]
        if count[head] > 2 or stones[head] > 0:
            continue
        large = 1 if s[SIZE, head] > 2 else 0
        first = libs[start[head]]
        reads[0] = MAX_READS - _LADDER_READS
        if count[head] == 1:
            way = back[read_ladder(line, p, width, False, 0, reads, scratch)]
            stones[head] = 2 if way > 0 else 1
            if colour == mover:
                said[first] |= 1 << (2 * (_RUNS if way == first else _RUNS_IN_VAIN) + large)
            else:
                said[first] |= 1 << (2 * (_TAKES_RUNNER if way > 0 else _TAKES_LOST) + large)
            continue
        # Two liberties: both ataris are read, the second by forbidding the first.
        second = libs[start[head] + 1]
        one = read_ladder(line, p, width, True, 0, reads, scratch)
        other = 0
        if one > 0:
            reads[0] = MAX_READS - _LADDER_READS
            other = read_ladder(line, p, width, True, one, reads, scratch)
        stones[head] = 3 if one > 0 else 4
        for k in range(2):
            q = first if k == 0 else second
            works = q == back[one] or q == back[other]
            if colour != mover:
                said[q] |= 1 << (2 * (CATCHES if works else ATARI_IN_VAIN) + large)
            elif one > 0:
                said[q] |= 1 << (2 * (_BLOCKS_LADDER if works else _SAVES_FROM_LADDER) + large)
