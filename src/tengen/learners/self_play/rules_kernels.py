"""Play moves on positions that are kept as bytes, by the board's own kernels; know no network."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from tengen.board.kernels import area_score, clear, near, new_state, place, play_move
from tengen.board.layout_kernels import BLACK, COLOUR, EMPTY, KO, PASS, SCALARS, TURN, WHITE
from tengen.jit import kernel
from tengen.learners.network.inputs_kernels import HISTORY, KO_BIT, OWN, encode

SIDE, PASSES, PLY, SCORE = 0, 1, 2, 3
"""Columns of the facts of a position: the side to move, passes just made, plies, Black's lead."""
FACTS = 4


@kernel
def _set_up(s, codes, turn, lines):
    """Make the state of a position from its bytes."""
    clear(s, lines, lines)
    ko = 0
    for index in range(lines * lines):
        p = (index // lines + 1) * (lines + 1) + index % lines + 1
        stone = codes[index] & 3
        if stone != 0:
            place(s, p, turn if stone == OWN else 3 - turn)
        elif codes[index] & KO_BIT:
            ko = p
    s[SCALARS, TURN] = turn
    s[SCALARS, KO] = ko


@kernel
def play_moves(codes, history, facts, source, moves, target, lines):
    """Play a legal move a game, from its source slot to its target slot."""
    s = new_state(lines, lines)
    for g in range(source.shape[0]):
        a, b, move = source[g], target[g], moves[g]
        turn = np.int64(facts[a, SIDE])
        _set_up(s, codes[a], turn, lines)
        passes = facts[a, PASSES] + 1
        p = PASS
        if move < lines * lines:
            p = (move // lines + 1) * (lines + 1) + move % lines + 1
            passes = 0
        play_move(s, p, turn)
        encode(s, 3 - turn, False, codes[b])
        facts[b, SIDE], facts[b, PASSES], facts[b, PLY] = 3 - turn, passes, facts[a, PLY] + 1
        facts[b, SCORE] = area_score(s)
        for i in range(HISTORY - 1, 0, -1):
            history[b, i] = history[a, i - 1]
        history[b, 0] = -1 if p == PASS else move


@kernel
def write_owners(codes, slots, owners, lines):
    """Say who owns every point: 1 the side to move, -1 the other, 0 nobody."""
    s = new_state(lines, lines)
    reach = np.empty(s.shape[1], np.int64)
    stack = np.empty(s.shape[1], np.int64)
    for g in range(slots.shape[0]):
        _set_up(s, codes[slots[g]], BLACK, lines)  # as if the side to move were Black
        reach[:] = 0
        for colour in (BLACK, WHITE):
            top = 0
            for p in range(s.shape[1]):
                if s[COLOUR, p] == colour:
                    reach[p] = colour
                    stack[top] = p
                    top += 1
            while top > 0:
                top -= 1
                x = stack[top]
                for k in range(4):
                    q = near(x, k, lines + 1)
                    if s[COLOUR, q] == EMPTY and reach[q] & colour == 0:
                        reach[q] |= colour
                        stack[top] = q
                        top += 1
        for index in range(lines * lines):
            p = (index // lines + 1) * (lines + 1) + index % lines + 1
            owners[g, index] = 1 if reach[p] == BLACK else -1 if reach[p] == WHITE else 0
