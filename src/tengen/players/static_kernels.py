"""Value every move by one-ply rules, like programs of the 1990s; only ladders are searched.

The value of a move, in points, is a sum of: blocks it takes, saves, or catches in a ladder;
ataris; liberties it gives to weak own blocks and takes from weak enemy blocks; cuts and
connections; 3x3 shapes near the last move; the influence it gains; and its line. Influence is a
diffusion from the stones (weak blocks radiate less) that stones of either colour block; the gain of
a move is the diffusion of the doubt around it, which is the first derivative of the expected area.

`w` (int64) and `f` (float64) are scratch, made by `new_work`.
"""

# mypy: ignore-errors
from __future__ import annotations

import math

import numpy as np

from tengen.arrays import BoolArray, FloatArray, IntArray, UInt64Array
from tengen.board.kernels import (
    copy_state,
    is_legal,
    mix,
    near,
    play_move,
    point_of,
    seed_stream,
    uniform,
)
from tengen.board.layout_kernels import (
    BORDER,
    COLOUR,
    COLS,
    EMPTIES,
    EMPTY,
    HASH,
    HEAD,
    LAST,
    N_EMPTY,
    PASS,
    ROWS,
    SCALARS,
    SIZE,
    TURN,
)
from tengen.board.playout_kernels import run_chunk
from tengen.board.tactics_kernels import (
    LIB1,
    LIB2,
    LIBERTIES,
    WORK_ROWS,
    catches,
    count_block,
    is_own_eye,
    liberties_after,
    touches_atari,
    way_out,
)
from tengen.jit import kernel

# Weights in points, or as shares of a block's worth, which is two points per stone. Found by an
# evolution strategy (CMA) in games against earlier weights and maxlib, on 9x9 and 13x13.
_W_CAPTURE = 1.14  # share of a block's worth for taking one that could escape
_W_DEAD = 0.07  # the same for one that could not
_W_SAVE = 1.56  # for saving an own block in atari
_W_CATCH = 0.54  # for catching a block of two liberties in a ladder
_W_DEFEND = 0.5  # for saving an own block from such a ladder
_W_ATARI = 0.03  # for each enemy block put into atari
_W_EXTEND = 0.43  # for each liberty given to an own block of three or less
_W_SQUEEZE = 0.05  # for each liberty below five of an enemy block that loses one
_W_CUT = 1.26  # for a point between two enemy blocks
_W_CONNECT = 0.76  # for joining two own blocks where the enemy is near
_W_SHAPE = 2.22  # for a known 3x3 shape next to the last move
_W_SHAPE_FAR = 1.95  # the same elsewhere
_W_OWN_DIAGONAL = 0.38  # for each own block touched only diagonally
_W_ENEMY_DIAGONAL = 1.12
_W_DOUBT = 8.24  # for each unit of doubt around
_W_OWN_SWAY = -0.64  # for playing where own influence dominates
_W_ENEMY_SWAY = 0.24
_W_SEAM = 1.7  # for a point between the colours
_W_THROW = -2.09  # for a lone stone put into atari
_W_ROOM2 = -0.81  # for two liberties after the move
_W_ROOM3 = -0.39
_W_OWN_JUMP = 0.17  # for each own stone one jump away
_W_ENEMY_JUMP = 0.82
_W_OWN_KNIGHT = -0.05  # for each own stone a knight's move away
_W_ENEMY_KNIGHT = 0.0
_W_EMPTIES = 0.4  # for each empty neighbour
_W_OWN_INSIDE = -0.41  # where own influence is firm and no enemy near
_W_ENEMY_INSIDE = -0.7
_W_NEAR = (0.49, -0.19, 0.84, 0.26, 0.33, -0.15)  # by distance to the last move, nearest first
_W_LINE = (-3.71, -0.73, 0.28, -0.24, -0.07)  # by line, without an adjacent stone
_W_LINE_TOUCH = (-0.63, -0.53, -0.2, 0.08, 0.05)  # by line, with an adjacent stone
W_PASS = -0.09  # value of a pass
_W_SHARP = 1.18  # how fast influence turns into certainty
_W_WEAK = 0.55  # how much a block of two liberties radiates

# Rows of the float scratch.
_TACTICS, _INFLUENCE, _DOUBT, _BUFFER, VALUE = 0, 1, 2, 3, 4
_FLOAT_ROWS = 5

_COUNTING = 16  # playouts that decide which stones are dead when a game is finished


@kernel(makes_arrays=True)
def new_work(n: int) -> tuple[IntArray, FloatArray]:
    """Return the integer and the float scratch for boards of `n` points."""
    return np.zeros((WORK_ROWS, n), np.int64), np.zeros((_FLOAT_ROWS, n), np.float64)


@kernel
def _read_blocks(s: IntArray, w: IntArray, f: FloatArray, colour: int, width: int) -> None:
    """Count all blocks' liberties; write the values of saving and catching to TACTICS."""
    n = s.shape[1]
    f[_TACTICS, :] = 0.0
    for p in range(width, n - width):
        c = s[COLOUR, p]
        if (c == 1 or c == 2) and s[HEAD, p] == p:
            w[LIBERTIES, p] = count_block(s, w, p, width)
    for p in range(width, n - width):
        c = s[COLOUR, p]
        if (c != 1 and c != 2) or s[HEAD, p] != p or w[LIBERTIES, p] > 2:
            continue
        worth = 2.0 * s[SIZE, p]
        one, two = w[LIB1, p], w[LIB2, p]
        if w[LIBERTIES, p] == 1:
            way = way_out(s, w, p, width)
            if c == colour:
                if way != 0:
                    f[_TACTICS, way] += _W_SAVE * worth
                taking = touches_atari(s, p, width)
                if taking != 0 and taking != way:
                    f[_TACTICS, taking] += _W_SAVE * worth
            else:
                share = _W_CAPTURE if way != 0 else _W_DEAD
                f[_TACTICS, one] += share * worth
        elif c == colour:
            if catches(s, w, p, one, two, width) or catches(s, w, p, two, one, width):
                for i in range(2):
                    lib = one if i == 0 else two
                    if is_legal(s, lib, colour):
                        after = liberties_after(s, w, lib, colour, width)
                        if after >= 3:
                            f[_TACTICS, lib] += _W_DEFEND * worth
        else:
            if catches(s, w, p, one, two, width):
                f[_TACTICS, one] += _W_CATCH * worth
            if catches(s, w, p, two, one, width):
                f[_TACTICS, two] += _W_CATCH * worth


@kernel
def _influence(s: IntArray, w: IntArray, f: FloatArray, colour: int, width: int) -> None:
    """Write the influence on each point (INFLUENCE, own positive) and its doubt (DOUBT)."""
    n = s.shape[1]
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    sharp = _W_SHARP
    a, b = _INFLUENCE, _BUFFER
    for p in range(n):
        c = s[COLOUR, p]
        value = 0.0
        if c == 1 or c == 2:
            libs = w[LIBERTIES, s[HEAD, p]]
            value = 1.0 if libs > 2 else _W_WEAK if libs == 2 else 0.25 * _W_WEAK
            if c != colour:
                value = -value
        f[_INFLUENCE, p] = value
        f[_BUFFER, p] = value
    for _ in range(4):
        for row in range(rows):
            start = point_of(row, 0, cols)
            for p in range(start, start + cols):
                if s[COLOUR, p] == EMPTY:
                    total = f[a, p - 1] + f[a, p + 1] + f[a, p - width] + f[a, p + width]
                    f[b, p] = 0.1 * f[a, p] + 0.28 * total
        a, b = b, a
    # Four rounds end in _INFLUENCE again. Doubt is the slope of certainty there.
    for p in range(n):
        f[_DOUBT, p] = 0.0
        f[_BUFFER, p] = 0.0
    for row in range(rows):
        start = point_of(row, 0, cols)
        for p in range(start, start + cols):
            x = sharp * f[_INFLUENCE, p]
            doubt = 1.0 / (1.0 + x * x)
            if s[COLOUR, p] != EMPTY:
                doubt = 0.3 * doubt
            f[_DOUBT, p] = doubt
    for i in range(2):
        a, b = (_DOUBT, _BUFFER) if i == 0 else (_BUFFER, _DOUBT)
        for row in range(rows):
            start = point_of(row, 0, cols)
            for p in range(start, start + cols):
                total = f[a, p - 1] + f[a, p + 1] + f[a, p - width] + f[a, p + width]
                f[b, p] = 0.4 * f[a, p] + 0.15 * total


@kernel
def _shape(s: IntArray, p: int, width: int) -> int:
    """Return the number of the 3x3 neighbourhood, as `playouts.shape_table` counts them."""
    code = s[COLOUR, p - width - 1] | s[COLOUR, p - width] << 2 | s[COLOUR, p - width + 1] << 4
    code |= s[COLOUR, p - 1] << 6 | s[COLOUR, p + 1] << 8
    code |= s[COLOUR, p + width - 1] << 10 | s[COLOUR, p + width] << 12
    return code | s[COLOUR, p + width + 1] << 14


@kernel
def _place_value(s: IntArray, p: int, colour: int, contact: bool, width: int) -> float:
    """Return the value of the location: line, distance to the last move, stones a jump away."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    row = p // width
    col = p - row * width
    line = min(min(row, rows + 1 - row), min(col, cols + 1 - col), 5) - 1
    value = _W_LINE_TOUCH[line] if contact else _W_LINE[line]
    last = s[SCALARS, LAST]
    if last > 0:
        other = last // width
        down = abs(row - other)
        across = abs(col - (last - other * width))
        gap = down + across + max(down, across)
        value += _W_NEAR[gap - 2 if gap <= 5 else 4 if gap <= 7 else 5]
    for k in range(4):
        q = near(p, k, width)
        if s[COLOUR, q] != EMPTY:
            continue
        step = q - p
        c = s[COLOUR, q + step]
        if c != EMPTY and c != BORDER:
            value += _W_OWN_JUMP if c == colour else _W_ENEMY_JUMP
        aside = width if abs(step) == 1 else 1
        for sign in (-1, 1):
            c = s[COLOUR, q + step + sign * aside]
            if c != EMPTY and c != BORDER:
                value += _W_OWN_KNIGHT if c == colour else _W_ENEMY_KNIGHT
    return value


@kernel
def _value(
    s: IntArray, w: IntArray, f: FloatArray, p: int, colour: int, shapes: BoolArray, width: int
) -> float:
    """Return the value of the empty, legal point `p`; -inf if it is never played."""
    enemy = 3 - colour
    value = f[_TACTICS, p]
    a = b = c2 = -1
    ea = eb = ec = -1
    own_blocks = enemy_blocks = empties = 0
    captures = False
    own_size = 0
    least = 99
    for k in range(4):
        q = near(p, k, width)
        c = s[COLOUR, q]
        if c == EMPTY:
            empties += 1
        elif c != BORDER:
            h = s[HEAD, q]
            libs = w[LIBERTIES, h]
            if c == colour:
                if h != a and h != b and h != c2:
                    c2, b, a = b, a, h
                    own_blocks += 1
                    own_size += s[SIZE, h]
                    least = min(least, libs)
            elif h != ea and h != eb and h != ec:
                ec, eb, ea = eb, ea, h
                enemy_blocks += 1
                if libs == 1:
                    captures = True
                elif libs == 2:
                    value += _W_ATARI
                if libs <= 4:
                    value += _W_SQUEEZE * (5 - libs)
    if own_blocks > 0 and enemy_blocks == 0 and empties == 0 and is_own_eye(s, p, colour):
        return -np.inf
    # Liberties after the move, exact where they may be few.
    room = empties
    if room < 4 and (own_blocks > 0 or captures or room < 2):
        room = liberties_after(s, w, p, colour, width)
    if room <= 1 and not captures:
        if own_size >= 1:
            return -1000.0
        value += _W_THROW
    elif room == 2:
        value += _W_ROOM2
    elif room == 3:
        value += _W_ROOM3
    if own_blocks > 0 and least <= 3:
        value += _W_EXTEND * min(max(room - least, -1), 3)
    diagonal_own = diagonal_enemy = 0
    for k in range(4):
        q = p + (width if k < 2 else -width) + (1 if k % 2 == 0 else -1)
        c = s[COLOUR, q]
        if c == colour:
            h = s[HEAD, q]
            if h != a and h != b and h != c2:
                diagonal_own += 1
        elif c == enemy:
            h = s[HEAD, q]
            if h != ea and h != eb and h != ec:
                diagonal_enemy += 1
    value += _W_OWN_DIAGONAL * diagonal_own + _W_ENEMY_DIAGONAL * diagonal_enemy
    if enemy_blocks >= 2 or (enemy_blocks == 1 and diagonal_enemy >= 1 and own_blocks >= 1):
        value += _W_CUT * (1.0 if enemy_blocks >= 2 else 0.5)
    if own_blocks >= 2 and (enemy_blocks > 0 or diagonal_enemy > 0):
        value += _W_CONNECT
    if enemy_blocks > 0 and (own_blocks > 0 or diagonal_own > 0):
        value += _W_SEAM
    if own_blocks + diagonal_own + enemy_blocks + diagonal_enemy >= 2:
        if shapes[_shape(s, p, width)]:
            gap = abs(p - s[SCALARS, LAST])
            beside = gap == 1 or (width - 1 <= gap and gap <= width + 1)
            value += _W_SHAPE if beside else _W_SHAPE_FAR
    # Area: doubt resolved, and whose influence dominates.
    sway = f[_INFLUENCE, p]
    value += _W_DOUBT * f[_DOUBT, p] + _W_EMPTIES * empties
    value += _W_OWN_SWAY * max(sway, 0.0) + _W_ENEMY_SWAY * max(-sway, 0.0)
    if sway > 0.45 and enemy_blocks + diagonal_enemy == 0:
        value += _W_OWN_INSIDE
    elif sway < -0.45 and own_blocks + diagonal_own == 0:
        value += _W_ENEMY_INSIDE
    contact = own_blocks + enemy_blocks > 0
    return value + _place_value(s, p, colour, contact, width)


@kernel
def static_values(s: IntArray, colour: int, shapes: BoolArray, w: IntArray, f: FloatArray) -> None:
    """Fill the row VALUE of `f` with the value of each legal point, -inf elsewhere."""
    width = s[SCALARS, COLS] + 1
    f[VALUE, :] = -np.inf
    _read_blocks(s, w, f, colour, width)
    _influence(s, w, f, colour, width)
    for i in range(s[SCALARS, N_EMPTY]):
        p = s[EMPTIES, i]
        if is_legal(s, p, colour):
            f[VALUE, p] = _value(s, w, f, p, colour, shapes, width)


@kernel
def _static_move(s: IntArray, colour: int, shapes: BoolArray, w: IntArray, f: FloatArray) -> int:
    """Return the move of the highest VALUE, the first in point order among equals; or PASS."""
    static_values(s, colour, shapes, w, f)
    best = W_PASS
    chosen = PASS
    for i in range(s[SCALARS, N_EMPTY]):
        p = s[EMPTIES, i]
        v = f[VALUE, p]
        if v > best or (v == best and chosen != PASS and p < chosen):
            best, chosen = v, p
    return chosen


@kernel(makes_arrays=True)
def finish_static(s: IntArray, shapes: BoolArray) -> int:
    """Play both sides to the end in `s` and return Black's area minus White's.

    Dead stones are found by `_COUNTING` heavy playouts, seeded by the position.
    """
    w, f = new_work(s.shape[1])
    cells = s[SCALARS, ROWS] * s[SCALARS, COLS]
    passes = plies = 0
    while passes < 2 and plies < 2 * cells:
        colour = s[SCALARS, TURN]
        p = _static_move(s, colour, shapes, w, f)
        play_move(s, p, colour)
        passes = passes + 1 if p == PASS else 0
        plies += 1
    scores = np.zeros(_COUNTING, np.int32)
    ownership = np.zeros(cells, np.int32)
    run_chunk(
        s,
        shapes,
        np.bool_(True),
        np.int64(0),
        np.int64(_COUNTING),
        s[SCALARS, HASH],
        3 * cells,
        scores,
        ownership,
    )
    score = 0
    for i in range(cells):
        score += 1 if ownership[i] > 0 else -1 if ownership[i] < 0 else 0
    return score


# ----- Expert: scores by many short variations of the static player -----
#
# One score runs `variations`; each starts from the position, lets the static player play some plies
# for both sides with a little noise on its values, and finishes `playouts` times by heavy playouts.
# The ownership of each point is averaged, bent towards certainty, and summed.

_LEAD = 8  # plies of the static player before playouts take over, in every other variation
_NOISE = 1.0  # temperature of those plies, in points
_BEND = 2.0  # how strongly the share of playouts that own a point is bent towards certainty


@kernel
def _noisy_static_move(
    s: IntArray, shapes: BoolArray, rng: UInt64Array, w: IntArray, f: FloatArray
) -> int:
    """Return a move drawn from a softmax of the static player's values at temperature `_NOISE`."""
    static_values(s, s[SCALARS, TURN], shapes, w, f)
    best = W_PASS
    chosen = PASS
    for i in range(s[SCALARS, N_EMPTY]):
        p = s[EMPTIES, i]
        v = f[VALUE, p]
        if v > -500.0:
            # Gumbel noise makes the largest a draw from the softmax.
            v -= _NOISE * math.log(-math.log(uniform(rng) + 1e-300) + 1e-300)
            if v > best:
                best, chosen = v, p
    return chosen


@kernel(makes_arrays=True)
def verdict(s0: IntArray, shapes: BoolArray, variations: int, playouts: int, seed: int) -> float:
    """Return the expected score of a position for Black, komi not included."""
    cells = s0[SCALARS, ROWS] * s0[SCALARS, COLS]
    s = np.empty_like(s0)
    w, f = new_work(s0.shape[1])
    rng = np.zeros(1, np.uint64)
    scores = np.zeros(playouts, np.int32)
    counts = np.zeros(cells, np.int32)
    for i in range(variations):
        seed_stream(rng, seed, i)
        copy_state(s0, s)
        # Half of the variations have no lead, since playouts and the static player err differently.
        for _ in range(_LEAD if i % 2 == 1 else 0):
            p = _noisy_static_move(s, shapes, rng, w, f)
            if p == PASS:
                break
            play_move(s, p, s[SCALARS, TURN])
        stream = np.int64(mix(rng[0]) >> np.uint64(1))
        run_chunk(
            s, shapes, np.bool_(True), np.int64(0), playouts, stream, 3 * cells, scores, counts
        )
    total = variations * playouts
    score = 0.0
    for i in range(cells):
        score += math.tanh(_BEND * counts[i] / total) / math.tanh(_BEND)
    return score
