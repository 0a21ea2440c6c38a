"""Replay whole collections of games on one board; check every move or trust them all."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.kernels import (
    COLOUR,
    EMPTY,
    HASH,
    KO_SIMPLE,
    PASS,
    SCALARS,
    TURN,
    clear,
    history_key,
    is_allowed,
    new_state,
    place,
    play_move,
    remember,
)
from tengen.jit import kernel


@kernel
def replay_games(
    moves, colours, offsets, rows, cols, setup, setup_colours, setup_offsets, ko_rule, refused
):
    """Play every game move by move and return the moves played.

    Game g owns moves[offsets[g]:offsets[g + 1]] and likewise its setup stones. refused[g] becomes
    the number of the first refused move of the game (from 0), or -1 when all were allowed; a
    refused move ends its game.
    """
    s = new_state(rows[0], cols[0]) if rows.shape[0] > 0 else new_state(2, 2)
    table = np.zeros(2, np.int64)
    played = 0
    for g in range(offsets.shape[0] - 1):
        if s.shape[1] != (rows[g] + 2) * (cols[g] + 1) + 1:
            s = new_state(rows[g], cols[g])
        clear(s, rows[g], cols[g])
        length = offsets[g + 1] - offsets[g]
        if ko_rule != KO_SIMPLE:
            size = 2
            while size < 2 * length + 4:
                size *= 2
            if table.shape[0] < size:
                table = np.zeros(size, np.int64)
            table[:] = 0
        for i in range(setup_offsets[g], setup_offsets[g + 1]):
            place(s, np.int64(setup[i]), np.int64(setup_colours[i]))
        refused[g] = -1
        if ko_rule != KO_SIMPLE:
            remember(table, history_key(s[SCALARS, HASH], s[SCALARS, TURN], ko_rule))
        for i in range(offsets[g], offsets[g + 1]):
            p, colour = np.int64(moves[i]), np.int64(colours[i])
            bad = p < 0 or p >= s.shape[1] or (p != PASS and s[COLOUR, p] != EMPTY)
            if bad or not is_allowed(s, table, ko_rule, p, colour):
                refused[g] = i - offsets[g]
                break
            play_move(s, p, colour)
            if ko_rule != KO_SIMPLE:
                remember(table, history_key(s[SCALARS, HASH], s[SCALARS, TURN], ko_rule))
            played += 1
    return played
