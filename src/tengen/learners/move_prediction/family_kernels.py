"""Hash patterns of six families at a point and look them up; know no other features.

A family is a way of looking at the stones on the nested templates: the stones alone, with the
liberties of the eight points around, with the place of the last move or of one's own last move,
with both, or around the last move itself. A dictionary key is the canonical hash with the salt of
its family and ring.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from tengen.board.layout_kernels import BORDER, COLOUR, COLS, EMPTY, HEAD, ROWS, SCALARS
from tengen.jit import hot_kernel, inner_kernel
from tengen.learners.move_prediction.pattern_kernels import (
    ORIENTATIONS,
    RINGS,
    canonical,
    lookup,
    offset_index,
)

# Families of patterns: a dictionary key is the canonical hash xor the salt of (family, ring).
PLAIN, WITH_LIBERTIES, WITH_LAST, WITH_BOTH, WITH_OWN_LAST, AT_LAST = 0, 1, 2, 3, 4, 5
FAMILIES = 6
# Marks: keys besides the stones': last move, own last move, liberty classes 1 to 3.
_MARK_LAST, _MARK_OWN_LAST, _MARK_LIBERTY = 0, 1, 2
MARKS = 5
_NEAR_LAST = 12  # patterns with the last move: as far as this distance


@hot_kernel
def salt(family, ring):
    """Return the word that tells the patterns of one family and ring from the others."""
    z = np.uint64(family * RINGS + ring + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64(z ^ (z >> np.uint64(27)))


@inner_kernel
def distance(dr, dc):
    """Return |dr| + |dc| + max(|dr|, |dc|)."""
    a, b = abs(dr), abs(dc)
    return a + b + max(a, b)


@inner_kernel
def _begin_pattern(s, marks, count, recent, i, family, acc):
    """Put a family's marks (moves, liberties) into the eight hashes; False if there is none."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    row, col = i // cols, i % cols
    for o in range(ORIENTATIONS):
        acc[o] = 0
    if family == WITH_LAST or family == WITH_BOTH or family == WITH_OWN_LAST:
        other = recent[1] if family == WITH_OWN_LAST else recent[0]
        if other <= 0:
            return False
        dr, dc = other // (cols + 1) - 1 - row, other % (cols + 1) - 1 - col
        if distance(dr, dc) > _NEAR_LAST:
            return False
        k = offset_index(dr, dc)
        m = _MARK_OWN_LAST if family == WITH_OWN_LAST else _MARK_LAST
        for o in range(ORIENTATIONS):
            acc[o] ^= marks[k, m, o]
    if family == WITH_LIBERTIES or family == WITH_BOTH:
        for dr in range(-1, 2):
            for dc in range(-1, 2):
                r, c = row + dr, col + dc
                if r < 0 or c < 0 or r >= rows or c >= cols or (dr == 0 and dc == 0):
                    continue
                q = (r + 1) * (cols + 1) + c + 1
                if s[COLOUR, q] != EMPTY:
                    n = count[s[HEAD, q]]
                    if n <= 3:
                        k = offset_index(dr, dc)
                        for o in range(ORIENTATIONS):
                            acc[o] ^= marks[k, _MARK_LIBERTY + n - 1, o]
    return True


@inner_kernel
def _top_ring(family):
    """Return the largest ring that a family uses."""
    if family == PLAIN:
        return RINGS - 1
    if family == WITH_LIBERTIES:
        return 4
    return 3 if family == WITH_BOTH else 7


@inner_kernel
def _uses_ring(family, ring):
    """Tell whether the family has patterns of this ring: with history, every other one."""
    if ring == 0:
        return False
    if family == WITH_LAST or family == WITH_OWN_LAST or family == AT_LAST:
        return ring == 1 or ring == 3 or ring == 5 or ring == 7
    return True


@inner_kernel
def pattern_keys(s, rings, marks, count, recent, mover, i, family, acc, out):
    """Write the dictionary keys of one family at the row-major point `i`, 0 where there is none."""
    for ring in range(RINGS):
        out[ring] = 0
    if not _begin_pattern(s, marks, count, recent, i, family, acc):
        return
    for ring in range(_top_ring(family) + 1):
        for o in range(ORIENTATIONS):
            acc[o] ^= rings[mover - 1, i, ring, o]
        if _uses_ring(family, ring):
            key = canonical(acc) ^ salt(family, ring)
            out[ring] = key if key != 0 else 1


@inner_kernel
def find_patterns(
    s, rings, marks, table, values, count, recent, mover, family, points, n, feats, widths
):
    """Append the known patterns of one family at n points to their features.

    Patterns are nested: a larger one is known only where the smaller is, so the first miss ends it.
    """
    cols = s[SCALARS, COLS]
    width = cols + 1
    top = _top_ring(family)
    salts = np.zeros(RINGS, np.int64)
    for ring in range(top + 1):
        if _uses_ring(family, ring):
            salts[ring] = salt(family, ring)
    acc = np.empty(ORIENTATIONS, np.int64)
    with_liberties = family == WITH_LIBERTIES or family == WITH_BOTH
    mark = -1
    other_row = other_col = 0
    if family == WITH_LAST or family == WITH_BOTH or family == WITH_OWN_LAST:
        other = recent[1] if family == WITH_OWN_LAST else recent[0]
        if other <= 0:
            return
        other_row, other_col = other // width - 1, other % width - 1
        mark = _MARK_OWN_LAST if family == WITH_OWN_LAST else _MARK_LAST
    mine = rings[mover - 1]
    for m in range(n):
        p = points[m]
        row = p // width - 1
        col = p - (row + 1) * width - 1
        if mark >= 0:
            dr, dc = other_row - row, other_col - col
            if distance(dr, dc) > _NEAR_LAST:
                continue
            k = offset_index(dr, dc)
            for o in range(ORIENTATIONS):
                acc[o] = marks[k, mark, o]
        else:
            for o in range(ORIENTATIONS):
                acc[o] = 0
        if with_liberties:
            for dr in range(-1, 2):
                for dc in range(-1, 2):
                    q = p + dr * width + dc
                    c = s[COLOUR, q]
                    if c == EMPTY or c == BORDER:
                        continue
                    liberties = count[s[HEAD, q]]
                    if liberties <= 3:
                        k = offset_index(dr, dc)
                        for o in range(ORIENTATIONS):
                            acc[o] ^= marks[k, _MARK_LIBERTY + liberties - 1, o]
        i = row * cols + col
        w = widths[m]
        for ring in range(top + 1):
            for o in range(ORIENTATIONS):
                acc[o] ^= mine[i, ring, o]
            if salts[ring] != 0:
                key = canonical(acc) ^ salts[ring]
                number = lookup(table, values, key if key != 0 else 1)
                if number < 0:
                    break
                feats[m, w] = number
                w += 1
        widths[m] = w
