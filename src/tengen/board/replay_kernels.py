"""Replay whole collections of games on one board; check every move or trust them all.

The one place where games become positions without anything being learned on the way. Learners
that look at every position of a game have loops of their own.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.kernels import (
    KO_SIMPLE,
    clear,
    history_key,
    is_allowed,
    new_state,
    place,
    play_move,
    remember,
)
from tengen.board.layout_kernels import (
    COLOUR,
    EMPTY,
    HASH,
    PASS,
    PRISONERS_B,
    PRISONERS_W,
    SCALARS,
    TURN,
)
from tengen.jit import kernel

TRUSTED = -1
"""In place of a ko rule: every move is played, and one that has no empty point is left out."""


@kernel
def replay_games(
    moves, colours, offsets, rows, cols, setup, setup_colours, setup_offsets, ko_rule, share,
    ends, grids,
):  # fmt: skip
    """Play `share` of every game's moves and return how many moves were played.

    Game g owns moves[offsets[g]:offsets[g + 1]] and likewise its setup stones. ends[g] becomes the
    number of the game's first refused move (from 0; -1 when all were allowed), with which it ends,
    and the stones taken by Black and by White. `grids`, unless empty, gets the last positions,
    rows x columns at the top left of each.
    """
    s = new_state(rows[0], cols[0]) if rows.shape[0] > 0 else new_state(2, 2)
    table = np.zeros(2, np.int64)
    superko = ko_rule > KO_SIMPLE
    played = 0
    for g in range(offsets.shape[0] - 1):
        if s.shape[1] != (rows[g] + 2) * (cols[g] + 1) + 1:
            s = new_state(rows[g], cols[g])
        clear(s, rows[g], cols[g])
        length = np.int64((offsets[g + 1] - offsets[g]) * share)
        if superko:
            size = 2
            while size < 2 * length + 4:
                size *= 2
            if table.shape[0] < size:
                table = np.zeros(size, np.int64)
            table[:] = 0
        for i in range(setup_offsets[g], setup_offsets[g + 1]):
            place(s, np.int64(setup[i]), np.int64(setup_colours[i]))
        refused = -1
        if superko:
            remember(table, history_key(s[SCALARS, HASH], s[SCALARS, TURN], ko_rule))
        for i in range(offsets[g], offsets[g] + length):
            p, colour = np.int64(moves[i]), np.int64(colours[i])
            bad = p < 0 or p >= s.shape[1] or (p != PASS and s[COLOUR, p] != EMPTY)
            if bad and ko_rule == TRUSTED:
                continue
            if bad or (ko_rule != TRUSTED and not is_allowed(s, table, ko_rule, p, colour)):
                refused = i - offsets[g]
                break
            play_move(s, p, colour)
            if superko:
                remember(table, history_key(s[SCALARS, HASH], s[SCALARS, TURN], ko_rule))
            played += 1
        ends[g, 0] = refused
        ends[g, 1] = s[SCALARS, PRISONERS_B]
        ends[g, 2] = s[SCALARS, PRISONERS_W]
        if grids.shape[0] > 0:
            for r in range(rows[g]):
                for c in range(cols[g]):
                    grids[g, r, c] = s[COLOUR, (r + 1) * (cols[g] + 1) + c + 1]
    return played
