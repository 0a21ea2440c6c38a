"""Apply the rules to many boards, one after the other; threads take shares of them outside."""

# mypy: ignore-errors
from __future__ import annotations

from tengen.board.kernels import (
    allowed_mask,
    area_score,
    history_key,
    is_allowed,
    play_move,
    remember,
)
from tengen.board.layout_kernels import COLS, HASH, PASS, ROWS, SCALARS, TURN
from tengen.jit import kernel


@kernel
def batch_masks(states, tables, ko_rule, out):
    """Fill `out[g]` with the legal moves of every game's side to move."""
    for g in range(states.shape[0]):
        s = states[g]
        allowed_mask(s, tables[g], ko_rule, s[SCALARS, TURN], out[g])


@kernel
def batch_play(states, tables, ko_rule, indices, refused):
    """Play one row-major index a game (-1: leave the game alone); mark refused moves."""
    for g in range(states.shape[0]):
        s = states[g]
        index = indices[g]
        refused[g] = False
        if index >= 0:
            cols = s[SCALARS, COLS]
            p = PASS
            if index < s[SCALARS, ROWS] * cols:
                p = (index // cols + 1) * (cols + 1) + index % cols + 1
            colour = s[SCALARS, TURN]
            if is_allowed(s, tables[g], ko_rule, p, colour):
                play_move(s, p, colour)
                remember(tables[g], history_key(s[SCALARS, HASH], s[SCALARS, TURN], ko_rule))
            else:
                refused[g] = True


@kernel
def batch_scores(states, out):
    """Fill `out` with every game's Tromp-Taylor area difference, komi not included."""
    for g in range(states.shape[0]):
        out[g] = area_score(states[g])
