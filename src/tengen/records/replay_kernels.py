"""Replay games in bulk on the board's kernels."""

# mypy: ignore-errors
from __future__ import annotations

from tengen.board.kernels import (
    COLS,
    ROWS,
    SCALARS,
    SUICIDE,
    clear,
    is_legal,
    new_state,
    play_move,
)
from tengen.jit import kernel


@kernel
def replay_games(moves, colours, offsets, rows, cols, suicide, wanted, refused):
    """Replay every wanted game under simple ko; `refused` gets the index of a refused move or -1.

    Returns the number of moves played. Does not know setup stones.
    """
    played = 0
    s = new_state(19, 19)
    for game in range(rows.shape[0]):
        refused[game] = -1
        if not wanted[game]:
            continue
        if s[SCALARS, ROWS] != rows[game] or s[SCALARS, COLS] != cols[game]:
            s = new_state(rows[game], cols[game])
        else:
            clear(s, rows[game], cols[game])
        s[SCALARS, SUICIDE] = 1 if suicide[game] else 0
        for i in range(offsets[game], offsets[game + 1]):
            point, colour = int(moves[i]), int(colours[i])
            if not is_legal(s, point, colour):
                refused[game] = i - offsets[game]
                break
            play_move(s, point, colour)
            played += 1
    return played
