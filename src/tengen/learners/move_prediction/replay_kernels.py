"""Replay games by the rules to find those with illegal moves; learn nothing."""

# mypy: ignore-errors

from __future__ import annotations

from tengen.board.kernels import SCALARS, TURN, clear, is_legal, new_state, play_move
from tengen.jit import kernel


@kernel
def mark_legal(points, colours, offsets, rows, cols, out):
    """Set out[g] to whether all moves of game g are legal by simple ko and the suicide rule.

    All games are of one size and begin on the empty board. A point off the board is illegal.
    """
    s = new_state(rows, cols)
    width = cols + 1
    for g in range(offsets.shape[0] - 1):
        clear(s, rows, cols)
        out[g] = True
        for k in range(offsets[g], offsets[g + 1]):
            p, colour = int(points[k]), int(colours[k])
            s[SCALARS, TURN] = colour
            inside = p == 0 or (width < p < (rows + 1) * width and p % width != 0)
            if not inside or not is_legal(s, p, colour):
                out[g] = False
                break
            play_move(s, p, colour)
