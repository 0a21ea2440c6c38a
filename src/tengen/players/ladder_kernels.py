"""Read liberties and ladders on one line of play; a small reader made for speed.

`w` is integer scratch (WORK_ROWS, N): what is known of blocks at their heads, and stamps. `t` is
scratch for a position like `s`.
"""

# mypy: ignore-errors
from __future__ import annotations

from tengen.board.kernels import in_atari, is_legal, near, place
from tengen.board.layout_kernels import BORDER, COLOUR, EMPTY, HEAD, KO, NEXT, PLIB, PSUM, SCALARS
from tengen.jit import inner_kernel, kernel

# Rows of the integer scratch.
LIBERTIES, LIB1, LIB2, _STAMP = 0, 1, 2, 3
WORK_ROWS = 4

_MANY = 6
"""Liberties are counted no further than this."""


@inner_kernel
def copy_state(s, t):
    """Copy a position; a plain loop, because slices of two dimensions compile slowly."""
    for i in range(s.shape[0]):
        for j in range(s.shape[1]):
            t[i, j] = s[i, j]


@inner_kernel
def _next_stamp(w):
    """Return a number that the row STAMP does not hold yet (kept at point 0, a border)."""
    w[_STAMP, 0] += 1
    return w[_STAMP, 0]


@kernel
def count_block(s, w, head, width):
    """Return the liberties of a block up to MANY; remember the first two."""
    if s[PLIB, head] == 0:
        return 0
    mark = _next_stamp(w)
    count = 0
    x = head
    while True:
        for k in range(4):
            q = near(x, k, width)
            if s[COLOUR, q] == EMPTY and w[_STAMP, q] != mark:
                w[_STAMP, q] = mark
                if count == 0:
                    w[LIB1, head] = q
                elif count == 1:
                    w[LIB2, head] = q
                count += 1
                if count >= _MANY:
                    return count
        x = s[NEXT, x]
        if x == head:
            return count


@inner_kernel
def liberties_after(s, w, p, colour, width):
    """Return the liberties up to MANY that `colour` has at `p` after playing it.

    Taken enemy blocks count their stones next to `p` only: a lower bound, exact from 0 to 1.
    """
    mark = _next_stamp(w)
    w[_STAMP, p] = mark
    count = 0
    for k in range(4):
        q = near(p, k, width)
        c = s[COLOUR, q]
        if c == EMPTY:
            if w[_STAMP, q] != mark:
                w[_STAMP, q] = mark
                count += 1
        elif c == colour:
            head = s[HEAD, q]
            x = head
            while True:
                for j in range(4):
                    z = near(x, j, width)
                    if s[COLOUR, z] == EMPTY and w[_STAMP, z] != mark:
                        w[_STAMP, z] = mark
                        count += 1
                if count >= _MANY:
                    return count
                x = s[NEXT, x]
                if x == head:
                    break
        elif c != BORDER and in_atari(s, s[HEAD, q]):
            count += 1
    return count


@inner_kernel
def touches_atari(s, head, width):
    """Return the last liberty of an enemy block in atari next to this block, or 0."""
    enemy = 3 - s[COLOUR, head]
    x = head
    while True:
        for k in range(4):
            q = near(x, k, width)
            if s[COLOUR, q] == enemy:
                h = s[HEAD, q]
                if in_atari(s, h):
                    return s[PSUM, h] // s[PLIB, h]
        x = s[NEXT, x]
        if x == head:
            return 0


@inner_kernel
def _hunt(t, w, p, width):
    """Tell whether the block at `p`, in atari with its owner to move, is caught; changes `t`.

    A plain ladder reader: the owner extends, the hunter plays the liberty with the larger way out.
    If the owner can take a block next to it, the hunt counts as failed.
    """
    owner = t[COLOUR, p]
    for _ in range(100):
        head = t[HEAD, p]
        if touches_atari(t, head, width) != 0:
            return False
        out = t[PSUM, head] // t[PLIB, head]
        after = liberties_after(t, w, out, owner, width)
        if after >= 3:
            return False
        if after <= 1:
            return True
        place(t, out, owner)
        head = t[HEAD, p]
        if touches_atari(t, head, width) != 0 or count_block(t, w, head, width) != 2:
            return False
        if not _chase(t, w, p, owner, width):
            return False
    return False


@inner_kernel
def _chase(t, w, p, owner, width):
    """Play the better of the last two liberties against the block at `p`; tell whether in atari.

    That is where the owner would gain more liberties, unless the hunter cannot play there.
    """
    hunter = 3 - owner
    head = t[HEAD, p]
    one, two = w[LIB1, head], w[LIB2, head]
    a = liberties_after(t, w, one, owner, width)
    b = liberties_after(t, w, two, owner, width)
    first = one if a >= b else two
    if not _can_chase(t, w, first, hunter, width):
        first = one + two - first
        if not _can_chase(t, w, first, hunter, width):
            return False
    place(t, first, hunter)
    return t[COLOUR, p] == owner and in_atari(t, t[HEAD, p])


@inner_kernel
def _can_chase(t, w, p, hunter, width):
    """Tell whether the hunter may play `p` without being in atari there at once."""
    return (
        p != t[SCALARS, KO]
        and is_legal(t, p, hunter)
        and liberties_after(t, w, p, hunter, width) >= 2
    )


@kernel
def catches(s, t, w, head, lib, width):
    """Tell whether the enemy, playing `lib` of its two liberties, catches the block."""
    owner = s[COLOUR, head]
    hunter = 3 - owner
    other = w[LIB1, head] + w[LIB2, head] - lib
    if not is_legal(s, lib, hunter):
        return False
    # Quick ways out: room at the other liberty, or a hunter who stands in atari himself.
    room = 0
    for k in range(4):
        q = near(other, k, width)
        c = s[COLOUR, q]
        if q != lib and c == EMPTY:
            room += 1
        elif c == owner and s[HEAD, q] != head and w[LIBERTIES, s[HEAD, q]] >= 4:
            return False
    if room >= 3:
        return False
    one, two = w[LIB1, head], w[LIB2, head]
    copy_state(s, t)
    if place(t, lib, hunter) == 0 and in_atari(t, t[HEAD, lib]):
        return False
    w[LIB1, head], w[LIB2, head] = one, two
    if t[COLOUR, head] != owner or not in_atari(t, t[HEAD, head]):
        return False
    caught = _hunt(t, w, head, width)
    w[LIB1, head], w[LIB2, head] = one, two
    return caught


@kernel
def escapes(s, t, w, head, width):
    """Tell whether the owner of a block in atari can save it by extending."""
    out = s[PSUM, head] // s[PLIB, head]
    owner = s[COLOUR, head]
    if not is_legal(s, out, owner):
        return False
    after = liberties_after(s, w, out, owner, width)
    if after >= 3:
        return True
    if after <= 1:
        return False
    copy_state(s, t)
    place(t, out, owner)
    if count_block(t, w, t[HEAD, head], width) != 2:
        return True
    return not _chase(t, w, head, owner, width) or not _hunt(t, w, head, width)
