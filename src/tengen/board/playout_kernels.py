"""Light and heavy playouts, on a second board layout made for speed.

The position is one flat uint64 array `b` with a record of eight words per point, 64 bytes, a cache
line: colour, head, next, size, pseudo-liberties (number, sum, sum of squares) and the place in the
list of empty points. A point is named by the offset of its record, so that `b[p + HEAD_]` needs no
multiplication, and everything is unsigned, so that Numba leaves out its test for negative indices;
that alone doubles the speed of the plain layout in `kernels`. Numbers must stay uint64 throughout:
a bare Python literal would turn them into floats, so constants have names.

`v` holds what changes during a playout: V_EMPTY empty points, V_KO, V_RNG, V_LAST, V_LAST2.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.arrays import BoolArray, Int32Array, IntArray, UInt64Array
from tengen.board.kernels import copy_row, mix, point_of, seed_stream
from tengen.board.layout_kernels import COLOUR, COLS, KO, LAST, LAST2, ROWS, SCALARS, TURN
from tengen.jit import kernel

U = np.uint64
U0, U1, U2, U3 = U(0), U(1), U(2), U(3)
RECORD = U(8)
HEAD_, NEXT_, SIZE_, PLIB_, PSUM_, PSQ_, EPOS_ = U(1), U(2), U(3), U(4), U(5), U(6), U(7)
V_EMPTY, V_KO, V_RNG, V_LAST, V_LAST2 = U(0), U(1), U(2), U(3), U(4)
V_SIZE = 8
_GOLDEN = U(0x9E3779B97F4A7C15)
_32 = U(32)


@kernel
def near(p: int, k: int, width: int) -> int:
    """Return neighbour number k (0 to 3: east, west, south, north) of a point."""
    return p + RECORD if k == 0 else p - RECORD if k == 1 else p + width if k == 2 else p - width


@kernel
def _diagonal(p: int, k: int, width: int) -> int:
    """Return diagonal neighbour number k (0 to 3) of a point."""
    q = p + width if k < 2 else p - width
    return q + RECORD if k % 2 == 0 else q - RECORD


@kernel
def load(s: IntArray, b: UInt64Array, empty: UInt64Array, v: UInt64Array) -> None:
    """Copy the position `s` of `kernels` into the fast layout."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    n = s.shape[1]
    for p in range(n):
        o = U(p) * RECORD
        b[o] = U(s[0, p])
        for field in range(1, 7):
            b[o + U(field)] = U(0)
    count = U0
    for row in range(rows):
        for col in range(cols):
            p = point_of(row, col, cols)
            o = U(p) * RECORD
            if s[COLOUR, p] == 0:
                empty[count] = o
                b[o + EPOS_] = count
                count += U1
            else:
                b[o + HEAD_] = U(s[1, p]) * RECORD
                b[o + NEXT_] = U(s[2, p]) * RECORD
                if s[1, p] == p:
                    b[o + SIZE_] = U(s[3, p])
                    b[o + PLIB_] = U(s[4, p])
                    b[o + PSUM_] = U(s[5, p]) * RECORD
                    b[o + PSQ_] = U(s[6, p]) * RECORD * RECORD
    v[V_EMPTY] = count
    v[V_KO] = U(s[SCALARS, KO]) * RECORD
    v[V_LAST] = U(max(s[SCALARS, LAST], 0)) * RECORD
    v[V_LAST2] = U(max(s[SCALARS, LAST2], 0)) * RECORD


@kernel(makes_arrays=True)
def load_line(
    line: IntArray, cols: int, b: UInt64Array, empty: UInt64Array, v: UInt64Array
) -> bool:
    """Load a bordered line of colours; return whether all blocks have liberties."""
    n = line.shape[0]
    width = cols + 1
    b[:] = U0
    seen = np.zeros(n, np.bool_)
    stack = np.empty(n, np.int64)
    count = U0
    sound = True
    for p in range(n):
        b[U(p) * RECORD] = U(line[p])
    for start in range(n):
        colour = line[start]
        if colour == 0:
            o = U(start) * RECORD
            empty[count] = o
            b[o + EPOS_] = count
            count += U1
        if colour == 0 or colour == 3 or seen[start]:
            continue
        head = U(start) * RECORD
        seen[start] = True
        stack[0] = start
        top = 1
        last = head
        size, libs, total, squares = U0, U0, U0, U0
        while top > 0:
            top -= 1
            p = stack[top]
            o = U(p) * RECORD
            size += U1
            b[o + HEAD_] = head
            b[last + NEXT_] = o
            last = o
            for q in (p + 1, p - 1, p + width, p - width):
                if line[q] == 0:
                    z = U(q) * RECORD
                    libs += U1
                    total += z
                    squares += z * z
                elif line[q] == colour and not seen[q]:
                    seen[q] = True
                    stack[top] = q
                    top += 1
        b[last + NEXT_] = head
        b[head + SIZE_], b[head + PLIB_] = size, libs
        b[head + PSUM_], b[head + PSQ_] = total, squares
        if libs == U0:
            sound = False
    v[V_EMPTY] = count
    v[V_KO] = v[V_LAST] = v[V_LAST2] = U0
    return sound


@kernel
def draw_below(v: UInt64Array, n: int) -> int:
    """Return a random offset from 0 to n - 1."""
    v[V_RNG] += _GOLDEN
    return ((mix(v[V_RNG]) >> _32) * n) >> _32


@kernel
def atari(b: UInt64Array, head: int) -> bool:
    """Return whether the block has exactly one liberty."""
    return b[head + PSUM_] * b[head + PSUM_] == b[head + PLIB_] * b[head + PSQ_]


@kernel
def is_playable(b: UInt64Array, p: int, colour: int, width: int) -> bool:
    """Return whether `colour` may play the empty point `p` and it is no eye of its own; no ko."""
    e, w, s, n = b[p + RECORD], b[p - RECORD], b[p + width], b[p - width]
    if (e == U0) | (w == U0) | (s == U0) | (n == U0):
        return True
    # Without branches, which the processor could not predict: the move joins an own block
    # with another liberty, or captures an enemy block in atari.
    enemy = U3 - colour
    good = False
    for k in range(4):
        q = near(p, k, width)
        c = b[q]
        good |= (c != U3) & (atari(b, b[q + HEAD_]) != (c == colour))
    if good & (e != enemy) & (w != enemy) & (s != enemy) & (n != enemy):
        # Surrounded by own stones: an eye unless the enemy holds two diagonals (one at the edge).
        bad = 0
        edge = 0
        for k in range(4):
            c = b[_diagonal(p, k, width)]
            edge |= c == U3
            bad += c == enemy
        return bad + edge >= 2
    return good


@kernel
def _put_stone(
    b: UInt64Array, empty: UInt64Array, count: int, p: int, colour: int, width: int
) -> tuple[int, int]:
    """Play a legal stone where `count` points are empty; return the new count and the ko point."""
    enemy = U3 - colour
    count -= U1
    moved = empty[count]
    place = b[p + EPOS_]
    empty[place] = moved
    b[moved + EPOS_] = place
    b[p] = colour
    b[p + HEAD_] = p
    b[p + NEXT_] = p
    b[p + SIZE_] = U1
    # Empty and border points have record 0 as their head, so that taking a pseudo-liberty from
    # every neighbour needs no branch; what record 0 collects is meaningless.
    square = p * p
    libs, total, squares = U0, U0, U0
    own = False
    struck = False
    for k in range(4):
        q = near(p, k, width)
        c = b[q]
        h = b[q + HEAD_]
        left = b[h + PLIB_] - U1
        b[h + PLIB_] = left
        b[h + PSUM_] -= p
        b[h + PSQ_] -= square
        free = U(c == U0)
        libs += free
        total += free * q
        squares += free * q * q
        own |= c == colour
        struck |= (c == enemy) & (left == U0)
    b[p + PLIB_] = libs
    b[p + PSUM_] = total
    b[p + PSQ_] = squares
    if own:
        head = p
        for k in range(4):
            q = near(p, k, width)
            h = b[q + HEAD_]
            if b[q] == colour and h != head:
                head = _join(b, head, h)
    if not struck:
        return count, U0
    captured_point = U0
    before = count
    for k in range(4):
        q = near(p, k, width)
        if b[q] == enemy and b[b[q + HEAD_] + PLIB_] == U0:
            captured_point = q
            count = _lift(b, empty, count, b[q + HEAD_], width)
    if count - before == U1 and not own and libs == U0:
        return count, captured_point
    return count, U0


@kernel
def _join(b: UInt64Array, x: int, y: int) -> int:
    """Merge two blocks, the smaller into the larger; return the head."""
    large, small = x, y
    if b[large + SIZE_] < b[small + SIZE_]:
        large, small = y, x
    b[large + SIZE_] += b[small + SIZE_]
    b[large + PLIB_] += b[small + PLIB_]
    b[large + PSUM_] += b[small + PSUM_]
    b[large + PSQ_] += b[small + PSQ_]
    x = small
    while True:
        b[x + HEAD_] = large
        x = b[x + NEXT_]
        if x == small:
            break
    after = b[large + NEXT_]
    b[large + NEXT_] = b[small + NEXT_]
    b[small + NEXT_] = after
    return large


@kernel
def _lift(b: UInt64Array, empty: UInt64Array, count: int, head: int, width: int) -> int:
    """Take a block off the board; return the new number of empty points."""
    x = head
    while True:
        following = b[x + NEXT_]
        b[x] = U0
        b[x + HEAD_] = U0
        empty[count] = x
        b[x + EPOS_] = count
        count += U1
        square = x * x
        for j in range(4):
            h = b[near(x, j, width) + HEAD_]
            b[h + PLIB_] += U1
            b[h + PSUM_] += x
            b[h + PSQ_] += square
        x = following
        if x == head:
            return count


@kernel
def put(
    b: UInt64Array, empty: UInt64Array, v: UInt64Array, p: int, colour: int, width: int
) -> None:
    """Play a legal stone and keep `v` up to date."""
    v[V_EMPTY], v[V_KO] = _put_stone(b, empty, v[V_EMPTY], p, colour, width)
    v[V_LAST2] = v[V_LAST]
    v[V_LAST] = p


@kernel
def set_aside(b: UInt64Array, empty: UInt64Array, i: int, left: int) -> int:
    """Swap a refused candidate out of the first `left` empty points; return how many are left."""
    p = empty[i]
    left -= U1
    last = empty[left]
    empty[left] = p
    b[p + EPOS_] = left
    empty[i] = last
    b[last + EPOS_] = i
    return left


@kernel
def light_playout(
    b: UInt64Array, empty: UInt64Array, v: UInt64Array, colour: int, width: int, limit: int,
    trace: UInt64Array,
) -> int:  # fmt: skip
    """Play uniformly random moves until both sides pass or `limit` plies; return plies played.

    Refused candidates are swapped out of the draw. `trace` receives the moves (0 for a pass). State
    is kept in local variables: after a store to one array the compiler reloads the others.
    """
    count, ko, rng = v[V_EMPTY], v[V_KO], v[V_RNG]
    passes = 0
    plies = 0
    while passes < 2 and plies < limit:
        left = count
        passes += 1
        move = U0
        while left > U0:
            rng += _GOLDEN
            i = ((mix(rng) >> _32) * left) >> _32
            p = empty[i]
            if p != ko and is_playable(b, p, colour, width):
                count, ko = _put_stone(b, empty, count, p, colour, width)
                move = p
                passes = 0
                break
            left = set_aside(b, empty, i, left)
        if move == U0:
            ko = U0
        trace[U(plies)] = move
        colour = U3 - colour
        plies += 1
    v[V_RNG] = rng
    return plies


@kernel
def final_score(b: UInt64Array, rows: int, cols: int, ownership: Int32Array) -> int:
    """Return Black's points minus White's at a playout's end and add each point to `ownership`."""
    score = 0
    width = U(cols + 1) * RECORD
    for row in range(rows):
        for col in range(cols):
            p = U(point_of(row, col, cols)) * RECORD
            c = b[p]
            if c == U0:
                mask = U0
                for k in range(4):
                    q = near(p, k, width)
                    if b[q] != U3:
                        mask |= b[q]
                c = mask
            if c == U1:
                score += 1
                ownership[row * cols + col] += 1
            elif c == U2:
                score -= 1
                ownership[row * cols + col] -= 1
    return score


# ----- Heavy playouts: captures, rescues and shapes near the last move -----


_MAX_CANDIDATES = 32


@kernel
def _around(p: int, i: int, width: int) -> int:
    """Return neighbour number i (0 to 7, reading order from the top left) of a point."""
    if i < 3:
        q = p - width
    elif i < 5:
        return p - RECORD if i == 3 else p + RECORD
    else:
        q = p + width
    column = i % 5
    return q - RECORD if column == 0 else q if column == 1 else q + RECORD


@kernel
def shape_index(b: UInt64Array, p: int, width: int) -> int:
    """Return the number of the 3x3 neighbourhood of `p`, two bits each in reading order."""
    code = U0
    for i in range(8):
        code |= b[_around(p, i, width)] << U(2 * i)
    return code


@kernel
def liberties_after(b: UInt64Array, p: int, colour: int, width: int) -> int:
    """Return the liberties at `p` after `colour` plays it, at most 2; a capture counts as 2."""
    enemy = U3 - colour
    only = U0
    for k in range(4):
        q = near(p, k, width)
        c = b[q]
        if c == U0:
            if only != U0 and only != q:
                return 2
            only = q
        elif c == colour:
            h = b[q + HEAD_]
            times = U0
            for j in range(4):
                z = near(p, j, width)
                if b[z] == colour and b[z + HEAD_] == h:
                    times += U1
            n = b[h + PLIB_] - times
            if n > U0:
                a = b[h + PSUM_] - times * p
                if a * a != n * (b[h + PSQ_] - times * p * p):
                    return 2
                point = a // n
                if only != U0 and only != point:
                    return 2
                only = point
        elif c == enemy and atari(b, b[q + HEAD_]):
            return 2
    return 0 if only == U0 else 1


@kernel
def _answers(b: UInt64Array, last: int, colour: int, width: int, out: UInt64Array) -> int:
    """Collect captures of the last block and rescues of blocks it put in atari; return how many."""
    count = 0
    enemy = U3 - colour
    if b[last] == enemy and atari(b, b[last + HEAD_]):
        h = b[last + HEAD_]
        out[count] = b[h + PSUM_] // b[h + PLIB_]
        count += 1
    for k in range(4):
        q = near(last, k, width)
        if b[q] == colour and atari(b, b[q + HEAD_]):
            h = b[q + HEAD_]
            exit_ = b[h + PSUM_] // b[h + PLIB_]
            if liberties_after(b, exit_, colour, width) >= 2 and count < _MAX_CANDIDATES:
                out[count] = exit_
                count += 1
            # Or capture a block next to the one in danger.
            x = h
            while True:
                for j in range(4):
                    z = near(x, j, width)
                    if b[z] == enemy and count < _MAX_CANDIDATES:
                        g = b[z + HEAD_]
                        if atari(b, g):
                            out[count] = b[g + PSUM_] // b[g + PLIB_]
                            count += 1
                x = b[x + NEXT_]
                if x == h:
                    break
    return count


@kernel
def _shapes_near(
    b: UInt64Array, v: UInt64Array, last: int, colour: int, width: int, shapes: BoolArray,
    out: UInt64Array,
) -> int:  # fmt: skip
    """Collect the empty points around the last move that match a known shape; return how many."""
    count = 0
    for i in range(8):
        q = _around(last, i, width)
        if b[q] == U0 and q != v[V_KO] and shapes[shape_index(b, q, width)]:
            if is_playable(b, q, colour, width) and liberties_after(b, q, colour, width) >= 2:
                out[count] = q
                count += 1
    return count


@kernel
def _careful_random(
    b: UInt64Array, empty: UInt64Array, v: UInt64Array, colour: int, width: int
) -> bool:
    """Play a random move that is no own eye and no needless self-atari; else any; else pass."""
    left = v[V_EMPTY]
    spare = U0
    while left > U0:
        i = draw_below(v, left)
        p = empty[i]
        if p != v[V_KO] and is_playable(b, p, colour, width):
            if liberties_after(b, p, colour, width) >= 2:
                put(b, empty, v, p, colour, width)
                return True
            spare = p
        left = set_aside(b, empty, i, left)
    if spare != U0:
        put(b, empty, v, spare, colour, width)
        return True
    v[V_KO] = U0
    v[V_LAST2] = v[V_LAST]
    v[V_LAST] = U0
    return False


@kernel
def _heavy_move(
    b: UInt64Array, empty: UInt64Array, v: UInt64Array, colour: int, width: int, shapes: BoolArray,
    out: UInt64Array,
) -> bool:  # fmt: skip
    """Play one move of the policy; return whether there was one (else it was a pass)."""
    last = v[V_LAST]
    if last != U0:
        count = _answers(b, last, colour, width, out)
        if count > 0:
            p = out[draw_below(v, U(count))]
            if b[p] == U0 and p != v[V_KO] and is_playable(b, p, colour, width):
                put(b, empty, v, p, colour, width)
                return True
        count = _shapes_near(b, v, last, colour, width, shapes, out)
        if count > 0:
            put(b, empty, v, out[draw_below(v, U(count))], colour, width)
            return True
    return _careful_random(b, empty, v, colour, width)


@kernel(makes_arrays=True)
def heavy_playout(
    b: UInt64Array, empty: UInt64Array, v: UInt64Array, colour: int, width: int, limit: int,
    trace: UInt64Array, shapes: BoolArray,
) -> int:  # fmt: skip
    """Play by the policy until both sides pass or `limit` plies; return plies played."""
    passes = 0
    plies = 0
    out = np.zeros(_MAX_CANDIDATES, np.uint64)
    while passes < 2 and plies < limit:
        if _heavy_move(b, empty, v, colour, width, shapes, out):
            passes = 0
        else:
            passes += 1
        trace[U(plies)] = v[V_LAST]
        colour = U3 - colour
        plies += 1
    return plies


# ----- Many playouts of one position -----


@kernel(makes_arrays=True)
def run_chunk(
    s: IntArray, shapes: BoolArray, heavy: bool, first: int, count: int, seed: int, limit: int,
    scores: Int32Array, ownership: Int32Array,
) -> int:  # fmt: skip
    """Run `count` playouts from number `first` on, each with its own stream; return the plies."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    width = U((cols + 1) * 8)
    points = s.shape[1]
    b, b0 = np.zeros(points * 8, np.uint64), np.zeros(points * 8, np.uint64)
    empty, empty0 = np.zeros(points, np.uint64), np.zeros(points, np.uint64)
    v, v0 = np.zeros(V_SIZE, np.uint64), np.zeros(V_SIZE, np.uint64)
    trace = np.zeros(limit + 1, np.uint64)
    rng = np.empty(1, np.uint64)
    plies = 0
    load(s, b0, empty0, v0)
    for i in range(first, first + count):
        copy_row(b0, b)
        copy_row(empty0, empty)
        copy_row(v0, v)
        seed_stream(rng, seed, i)
        v[V_RNG] = rng[0]
        colour = U(s[SCALARS, TURN])
        if heavy:
            plies += heavy_playout(b, empty, v, colour, width, limit, trace, shapes)
        else:
            plies += light_playout(b, empty, v, colour, width, limit, trace)
        scores[i] = final_score(b, rows, cols, ownership)
    return plies
