"""Replay games in bulk on the board's kernels."""

from __future__ import annotations

from tengen.board import kernels as board
from tengen.jit import kernel


@kernel
def replay_games(moves, colours, offsets, rows, cols, suicide, wanted, refused):
    """Replay every wanted game under simple ko; `refused` gets the index of a refused move or -1.

    Returns the number of moves played. Does not know setup stones.
    """
    played = 0
    s = board.new_state(19, 19)
    for game in range(rows.shape[0]):
        refused[game] = -1
        if not wanted[game]:
            continue
        if s[board.SCALARS, board.ROWS] != rows[game] or s[board.SCALARS, board.COLS] != cols[game]:
            s = board.new_state(rows[game], cols[game])
        else:
            board.clear(s, rows[game], cols[game])
        s[board.SCALARS, board.SUICIDE] = 1 if suicide[game] else 0
        for i in range(offsets[game], offsets[game + 1]):
            point, colour = moves[i], colours[i]
            if not board.is_legal(s, point, colour):
                refused[game] = i - offsets[game]
                break
            board.play_move(s, point, colour)
            played += 1
    return played
