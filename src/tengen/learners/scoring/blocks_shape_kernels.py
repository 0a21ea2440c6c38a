"""Describe the room beside every block and the ladders it stands in; judge nothing.

An area is a connected set of points that do not hold a colour; it is fully accessible to a block
that touches all its empty points. Split points (van der Werf) hold an area together in their own
three by three window: whoever plays there may divide it into two.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.safety_kernels import MAX_READS, liberties, read_ladder, safety_scratch
from tengen.jit import kernel
from tengen.learners.scoring.blocks_context_kernels import first_points, flood_other

SPLITS = 8
LADDERS = 4
READS = 200
"""Positions that one ladder may cost; a longer one counts as not caught."""


@kernel
def is_split_point(area, p, width):
    """Tell whether the neighbours of p in its area are apart in the window round p, without p."""
    here = area[p]
    sides = 0
    links = 0
    for i in range(4):
        # Going round: one side, the corner after it, the next side.
        if i == 0:
            side, corner, following = p - width, p - width + 1, p + 1
        elif i == 1:
            side, corner, following = p + 1, p + width + 1, p + width
        elif i == 2:
            side, corner, following = p + width, p + width - 1, p - 1
        else:
            side, corner, following = p - 1, p - width - 1, p - width
        if area[side] == here:
            sides += 1
            links += area[corner] == here and area[following] == here
    # Four links close a ring: still one piece.
    return sides - links >= 2


@kernel
def mark_splits(line, width, area, split):
    """Mark the empty split points of all areas."""
    for p in range(line.shape[0]):
        split[p] = line[p] == 0 and area[p] >= 0 and is_split_point(area, p, width)


@kernel
def describe_room(line, width, part, x, area, split, points, splits, touched, touched_splits, f):
    """Write what block x has beside it; `touched` and `touched_splits` are scratch, kept zero."""
    for p in range(line.shape[0]):
        if line[p] == 0 and (
            part[p + 1] == x or part[p - 1] == x or part[p + width] == x or part[p - width] == x
        ):
            touched[area[p]] += 1
            touched_splits[area[p]] += split[p]
    for a in range(touched.shape[0]):
        if touched[a] == 0:
            continue
        if touched[a] == points[a]:
            f[0] += 1
            f[1] += points[a]
            f[2] += splits[a]
        else:
            f[3] += 1
            f[4] += touched[a]
            f[5] += points[a] - touched[a]
            f[6] += splits[a] - touched_splits[a]
        touched[a] = 0
        touched_splits[a] = 0


@kernel
def describe_splits(line, rows, cols, part, colour_of, count, out):
    """Write SPLITS features of every block about the areas beside it, empty points alone counted.

    Fully accessible areas: how many, points, split points. Others: how many, points the block
    touches, points it does not (the interior), split points of that. Last: the split points of the
    area the block itself walks in.
    """
    width = cols + 1
    n = line.shape[0]
    stack = np.empty(n, np.int64)
    area = np.empty((3, n), np.int64)
    split = np.zeros((3, n), np.bool_)
    points, splits = np.zeros((3, n)), np.zeros((3, n))
    for colour in (1, 2):
        flood_other(line, width, colour, area[colour], stack)
        mark_splits(line, width, area[colour], split[colour])
        for p in range(n):
            if line[p] == 0:
                points[colour, area[colour, p]] += 1
                splits[colour, area[colour, p]] += split[colour, p]
    first = first_points(part, count)
    touched, touched_splits = np.zeros(n), np.zeros(n)
    for x in range(count):
        for i in range(SPLITS):
            out[x, i] = 0.0
        colour = colour_of[x]
        if colour == 0:
            continue
        describe_room(line, width, part, x, area[colour], split[colour], points[colour],
                      splits[colour], touched, touched_splits, out[x])  # fmt: skip
        out[x, 7] = splits[3 - colour, area[3 - colour, first[x]]]


@kernel
def describe_ladders(line, rows, cols, part, colour_of, count, out):
    """Write LADDERS features of every block of one or two liberties, zeros for the others.

    Caught if the enemy begins; lost even if its owner begins; in atari but escaping; not caught
    with two liberties. `line` is changed while reading and restored.
    """
    width = cols + 1
    scratch = safety_scratch(line.shape[0])
    libs = np.empty(3, np.int64)
    reads = np.zeros(1, np.int64)
    first = first_points(part, count)
    for x in range(count):
        for i in range(LADDERS):
            out[x, i] = 0.0
        if colour_of[x] == 0:
            continue
        p = first[x]
        free = liberties(line, p, width, 3, scratch, libs)
        if free < 1 or free > 2:
            continue
        reads[0] = MAX_READS - READS
        caught = read_ladder(line, p, width, True, 0, reads, scratch) != 0
        out[x, 0] = caught
        if free == 1:
            reads[0] = MAX_READS - READS
            escapes = read_ladder(line, p, width, False, 0, reads, scratch) != 0
            out[x, 1] = not escapes
            out[x, 2] = escapes
        else:
            out[x, 3] = not caught
