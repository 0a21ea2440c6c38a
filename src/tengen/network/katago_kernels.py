"""Encode positions as the inputs of KataGo's networks (version 7 of its features).

Two bytes per point hold every spatial feature except the last moves and earlier ladders:

    0-1  0 empty, 1 own stone, 2 opponent's stone
    2-3  liberties of the block, 0 where there are more than 3
    4    forbidden by ko
    5    the block is captured in a ladder
    6    playing here captures an opponent's block of two liberties in a ladder
    7-8  owner under area scoring: 0 neither side, 1 own, 2 opponent
    9    a stone may be played here
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from tengen.arrays import Arrays, BoolArray, Int16Array, IntArray
from tengen.board.kernels import (
    give_turn,
    is_legal,
    near,
    new_state,
    play_move,
    point_of,
)
from tengen.board.layout_kernels import (
    BLACK,
    BORDER,
    COLOUR,
    COLS,
    EMPTY,
    HEAD,
    KO,
    ROWS,
    SCALARS,
    TURN,
)
from tengen.board.tactics_kernels import (
    MAX_READS,
    _liberties,
    _take_back,
    _try,
    benson,
    read_blocks,
    read_ladder,
    safety_scratch,
)
from tengen.jit import kernel
from tengen.network.inputs_kernels import begin_game, is_open

LIBERTIES = 2
KO_BIT, LADDER_BIT, CATCHES_BIT = 16, 32, 64
AREA = 7
LEGAL_BIT = 512
_LADDER_BUDGET = 25_000  # positions that KataGo reads per ladder before it gives up
_CHANGED = 2  # row of the scratch where `_try` keeps captured stones


@kernel
def _area_of(
    line: IntArray, width: int, colour: int, alive: IntArray, result: IntArray, region: IntArray,
    stack: IntArray,
) -> None:  # fmt: skip
    """Mark what `colour` owns; KataGo's rules for regions that are not proven alive."""
    benson(line, width, colour, alive)
    any_stone = False
    for p in range(line.shape[0]):
        region[p] = 0
        if line[p] == colour:
            any_stone = True
            if alive[p] == 1:
                result[p] = colour
    if not any_stone:
        return
    for start in range(line.shape[0]):
        if line[start] != EMPTY or region[start] != 0:
            continue
        # Flood the region of points that are not of this colour.
        region[start] = 1
        stack[0] = start
        size = 1
        i = 0
        internal = 0
        contains_opponent = False
        safe = True
        while i < size:
            x = stack[i]
            i += 1
            if line[x] != EMPTY:
                contains_opponent = True
            touches = False
            for k in range(4):
                q = near(x, k, width)
                if line[q] == colour:
                    touches = True
                    if alive[q] != 1:
                        safe = False
                elif line[q] != BORDER and region[q] == 0:
                    region[q] = 1
                    stack[size] = q
                    size += 1
            if not touches:
                internal += 1
        if safe and (internal <= 1 or not contains_opponent):
            for i in range(size):
                result[stack[i]] = colour
        elif not contains_opponent:
            for i in range(size):
                if result[stack[i]] == EMPTY:
                    result[stack[i]] = colour


@kernel(makes_arrays=True)
def owners(line: IntArray, width: int, result: IntArray) -> None:
    """Write the owner of every point under area scoring to `result`, EMPTY for neither side."""
    n = line.shape[0]
    alive = np.zeros(n, np.int64)
    region, stack = np.zeros(n, np.int64), np.empty(n, np.int64)
    for p in range(n):
        result[p] = EMPTY
    _area_of(line, width, BLACK, alive, result, region, stack)
    _area_of(line, width, 3 - BLACK, alive, result, region, stack)
    for p in range(n):
        if result[p] == EMPTY and line[p] != BORDER:
            result[p] = line[p]


@kernel(makes_arrays=True)
def _ladders(
    s: IntArray, mover: int, start: IntArray, count: IntArray, libs: IntArray, captured: IntArray,
    catches: IntArray,
) -> None:  # fmt: skip
    """Mark heads of blocks that are captured in a ladder, and the mover's moves that begin one."""
    line = s[COLOUR].copy()
    width = s[SCALARS, COLS] + 1
    scratch = safety_scratch(s.shape[1])
    reads = np.zeros(1, np.int64)
    found = np.empty(3, np.int64)
    for p in range(s.shape[1]):
        colour = line[p]
        if colour == EMPTY or colour == BORDER or s[HEAD, p] != p or count[p] > 2:
            continue
        if count[p] == 1:
            reads[0] = MAX_READS - _LADDER_BUDGET
            captured[p] = (
                read_ladder(line, p, width, np.bool_(False), np.int64(0), reads, scratch) == 0
            )
            continue
        for k in range(2):
            move = libs[start[p] + k]
            if move == s[SCALARS, KO]:
                continue
            after = _try(line, move, 3 - colour, width, 0, scratch, found)
            if after < 0:
                continue
            if _liberties(line, p, width, 2, scratch, found) == 1:
                # The reader writes captured stones from the start of its row: save ours.
                kept = scratch[_CHANGED, :after].copy()
                reads[0] = MAX_READS - _LADDER_BUDGET
                if read_ladder(line, p, width, np.bool_(False), np.int64(0), reads, scratch) == 0:
                    captured[p] = 1
                    if colour != mover:
                        catches[move] = 1
                scratch[_CHANGED, :after] = kept
            _take_back(line, move, 3 - colour, scratch[_CHANGED], 0, after)


@kernel(makes_arrays=True)
def encode_for_teacher(s: IntArray, mover: int, area: bool, out: Int16Array) -> None:
    """Write the two bytes per point, row by row from the top left; owners only if `area`."""
    n = s.shape[1]
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    start, count = np.zeros(n, np.int64), np.zeros(n, np.int64)
    libs, stamp = np.empty(4 * n, np.int64), np.empty(n, np.int64)
    captured, catches = np.zeros(n, np.int64), np.zeros(n, np.int64)
    owner = np.zeros(n, np.int64)
    read_blocks(s, start, count, libs, stamp)
    _ladders(s, mover, start, count, libs, captured, catches)
    if area:
        owners(s[COLOUR], cols + 1, owner)
    for row in range(rows):
        for col in range(cols):
            p = point_of(row, col, cols)
            c = s[COLOUR, p]
            code = 0
            if c == EMPTY:
                if p == s[SCALARS, KO]:
                    code |= KO_BIT
                if catches[p]:
                    code |= CATCHES_BIT
                if is_legal(s, p, mover):
                    code |= LEGAL_BIT
            else:
                head = s[HEAD, p]
                code = 1 if c == mover else 2
                if count[head] <= 3:
                    code |= count[head] << LIBERTIES
                if captured[head]:
                    code |= LADDER_BIT
            if owner[p] != EMPTY:
                code |= (1 if owner[p] == mover else 2) << AREA
            out[row * cols + col] = code


@kernel(makes_arrays=True)
def encode_games_for_teacher(
    games: Arrays, areas: BoolArray, first: int, last: int, rows: int, cols: int, codes: Int16Array
) -> int:
    """Write the position before every move of games `first` to `last`, as `encode_games` does."""
    moves, colours, offsets, setup, setup_colours, setup_offsets = games
    s = new_state(rows, cols)
    for g in range(first, last):
        begin_game(s, setup, setup_colours, setup_offsets[g], setup_offsets[g + 1])
        for i in range(offsets[g], offsets[g + 1]):
            p, colour = np.int64(moves[i]), np.int64(colours[i])
            give_turn(s, colour)
            if not is_open(s, p):
                return g
            encode_for_teacher(s, colour, areas[g], codes[i - offsets[first]])
            play_move(s, p, colour)
    return -1


@kernel
def encode_states(
    states: IntArray, areas: BoolArray, first: int, last: int, codes: Int16Array
) -> None:
    """Write the two bytes per point of states `first` to `last`, each for its side to move."""
    for i in range(first, last):
        encode_for_teacher(states[i], states[i, SCALARS, TURN], areas[i], codes[i])


@kernel
def play_states(states: IntArray, moves: IntArray, first: int, last: int) -> None:
    """Play one move, a point of the bordered board, in each of the states `first` to `last`."""
    for i in range(first, last):
        play_move(states[i], moves[i], states[i, SCALARS, TURN])
