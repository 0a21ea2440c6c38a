"""Encode positions as one byte per point, seen from the side to move, and play moves in them.

The byte holds all that the network reads of a point besides the last moves. Its bits:

    0-1  0 empty, 1 own stone, 2 enemy stone
    stones:  2-3  liberties of the block less one, at most 3
             4    the block is lost in a ladder, or would be if its enemy moved
    empty:   2-3  liberties of an own stone played here, at most 3; 0 where none may be played
             4    the move takes stones
             5    the move catches a block in a ladder
             6    forbidden by ko

A liberty that a stone gains by taking stones is counted only where it touches the stone itself.
Stones and ko can be read back from the bytes, so self-play stores positions only in this form.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from tengen.arrays import Arrays, BoolArray, Int8Array, Int16Array, Int32Array, IntArray, UInt8Array
from tengen.board.kernels import (
    area_score,
    clear,
    give_turn,
    is_legal,
    near,
    new_state,
    place,
    play_move,
    point_at,
    point_of,
)
from tengen.board.layout_kernels import COLOUR, COLS, EMPTY, HEAD, KO, PASS, ROWS, SCALARS, TURN
from tengen.board.tactics_kernels import CATCHES, read_blocks, read_ladders
from tengen.jit import kernel

OWN, ENEMY = 1, 2
LIBERTIES = 2  # first of two bits
LADDER = 16  # stones
TAKES = 16  # empty points
CATCHES_BIT = 32
KO_BIT = 64
HISTORY = 5  # how many of the last moves the network reads
NOWHERE = -1  # place of a pass, or of a move that was never played, in a history
# Columns of a position's facts: the side to move, consecutive passes, plies, Black's lead.
SIDE, PASSES, PLY, SCORE = 0, 1, 2, 3
FACTS = 4


@kernel
def _liberties_after(
    s: IntArray, p: int, mover: int, start: IntArray, count: IntArray, libs: IntArray,
    found: IntArray,
) -> int:  # fmt: skip
    """Return the liberties (at most 3) of a stone of `mover` at the legal point `p`."""
    width = s[SCALARS, COLS] + 1
    n = 0
    for k in range(4):
        q = near(p, k, width)
        c = s[COLOUR, q]
        if c == EMPTY or (c == 3 - mover and count[s[HEAD, q]] == 1):
            n += 1
            found[n - 1] = q
            if n == 3:
                return 3
    for k in range(4):
        q = near(p, k, width)
        if s[COLOUR, q] != mover:
            continue
        head = s[HEAD, q]
        for i in range(start[head], start[head] + count[head]):
            known = libs[i] == p
            for j in range(n):
                known = known or found[j] == libs[i]
            if not known:
                found[n] = libs[i]
                n += 1
                if n == 3:
                    return 3
    return n


@kernel
def _empty_point(
    s: IntArray, p: int, mover: int, start: IntArray, count: IntArray, libs: IntArray,
    ladder_flags: IntArray, found: IntArray,
) -> int:  # fmt: skip
    """Return the byte of an empty point."""
    if not is_legal(s, p, mover):
        return KO_BIT if p == s[SCALARS, KO] else 0
    code = _liberties_after(s, p, mover, start, count, libs, found) << LIBERTIES
    width = s[SCALARS, COLS] + 1
    for k in range(4):
        q = near(p, k, width)
        if s[COLOUR, q] == 3 - mover and count[s[HEAD, q]] == 1:
            code |= TAKES
    if ladder_flags[p] >> (2 * CATCHES) & 3:
        code |= CATCHES_BIT
    return code


@kernel(makes_arrays=True)
def encode(s: IntArray, mover: int, ladders: bool, out: UInt8Array) -> None:
    """Write the bytes of a position for `mover`, row by row from the top left, to `out`."""
    n = s.shape[1]
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    start, count = np.zeros(n, np.int64), np.zeros(n, np.int64)
    libs, stamp = np.empty(4 * n, np.int64), np.empty(n, np.int64)
    ladder_flags, lost = np.zeros(n, np.int64), np.zeros(n, np.int64)
    found = np.empty(4, np.int64)
    read_blocks(s, start, count, libs, stamp)
    if ladders:
        read_ladders(s, mover, start, count, libs, ladder_flags, lost)
    for row in range(rows):
        for col in range(cols):
            p = point_of(row, col, cols)
            c = s[COLOUR, p]
            if c == EMPTY:
                code = _empty_point(s, p, mover, start, count, libs, ladder_flags, found)
            else:
                head = s[HEAD, p]
                code = OWN if c == mover else ENEMY
                code |= (min(count[head], 4) - 1) << LIBERTIES
                if lost[head] == 1 or lost[head] == 3:
                    code |= LADDER
            out[row * cols + col] = code


@kernel
def begin_game(
    s: IntArray, setup: Int16Array, setup_colours: Int8Array, first: int, last: int
) -> None:
    """Empty the board and set up the stones numbered `first` to `last`."""
    clear(s, s[SCALARS, ROWS], s[SCALARS, COLS])
    for i in range(first, last):
        place(s, np.int64(setup[i]), np.int64(setup_colours[i]))


@kernel
def is_open(s: IntArray, p: int) -> bool:
    """Return whether `p` is a pass or an empty point."""
    return p == PASS or (0 < p and p < s.shape[1] and s[COLOUR, p] == EMPTY)


@kernel(makes_arrays=True)
def encode_games(
    games: Arrays, ladders: BoolArray, first: int, last: int, rows: int, cols: int,
    codes: UInt8Array,
) -> int:  # fmt: skip
    """Write the position before each move of games `first` to `last`; return a bad game or -1.

    `games` has the moves, colours and offsets of all games, and the same of their setup.
    """
    moves, colours, offsets, setup, setup_colours, setup_offsets = games
    s = new_state(rows, cols)
    for g in range(first, last):
        begin_game(s, setup, setup_colours, setup_offsets[g], setup_offsets[g + 1])
        for i in range(offsets[g], offsets[g + 1]):
            p, colour = np.int64(moves[i]), np.int64(colours[i])
            give_turn(s, colour)
            if not is_open(s, p):
                return g
            encode(s, colour, ladders[g], codes[i - offsets[first]])
            play_move(s, p, colour)
    return -1


# ----- Games of self-play -----


@kernel
def _set_up(s: IntArray, codes: UInt8Array, turn: int, lines: int) -> None:
    """Make the state of a position from its bytes."""
    clear(s, lines, lines)
    ko = 0
    for index in range(lines * lines):
        p = point_at(index, lines)
        stone = codes[index] & 3
        if stone != 0:
            place(s, p, turn if stone == OWN else 3 - turn)
        elif codes[index] & KO_BIT:
            ko = p
    s[SCALARS, TURN] = turn
    s[SCALARS, KO] = ko


@kernel(makes_arrays=True)
def play_moves(
    codes: UInt8Array, history: Int16Array, facts: Int32Array, source: IntArray, moves: IntArray,
    target: IntArray, lines: int,
) -> None:  # fmt: skip
    """Play a legal move in every game, from its source slot to its target slot."""
    s = new_state(lines, lines)
    for g in range(source.shape[0]):
        a, b, move = source[g], target[g], moves[g]
        turn = np.int64(facts[a, SIDE])
        _set_up(s, codes[a], turn, lines)
        passes = facts[a, PASSES] + 1
        p = PASS
        if move < lines * lines:
            p = point_at(move, lines)
            passes = 0
        play_move(s, p, turn)
        encode(s, 3 - turn, False, codes[b])
        facts[b, SIDE], facts[b, PASSES], facts[b, PLY] = 3 - turn, passes, facts[a, PLY] + 1
        facts[b, SCORE] = area_score(s)
        for i in range(HISTORY - 1, 0, -1):
            history[b, i] = history[a, i - 1]
        history[b, 0] = -1 if p == PASS else move
