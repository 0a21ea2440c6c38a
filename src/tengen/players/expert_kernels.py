"""Judge openings by many short variations of the rule player, each finished by heavy playouts.

One verdict runs `variations`; each starts from the position, lets the rule player play `lead` plies
for both sides with a little noise on its values, and finishes `playouts` times by heavy playouts.
What they say of each point is added up, bent towards certainty, and summed to a score. Everything
follows from (position, seed). States are arrays of `board.kernels`; komi is the caller's.
"""

# mypy: ignore-errors
from __future__ import annotations

import math

import numpy as np

from tengen.board.kernels import play_move
from tengen.board.layout_kernels import COLS, EMPTIES, N_EMPTY, PASS, ROWS, SCALARS, TURN
from tengen.board.playout_kernels import run_chunk
from tengen.board.random_kernels import mix, seed_stream, uniform
from tengen.jit import inner_kernel, kernel
from tengen.players.ladder_kernels import copy_state
from tengen.players.static_kernels import VALUE, W_PASS, new_work, static_values

# Settings of a verdict, a float64 array.
_E_VARIATIONS, _E_LEAD, _E_PLAYOUTS, _E_NOISE, _E_BEND = 0, 1, 2, 3, 4
SETTINGS = 5


@inner_kernel
def _noisy_static_move(s, weights, shapes, noise, rng, t, w, f):
    """Return a move drawn from a softmax of the rule player's values at temperature `noise`."""
    static_values(s, s[SCALARS, TURN], weights, shapes, t, w, f)
    best = weights[W_PASS]
    chosen = PASS
    for i in range(s[SCALARS, N_EMPTY]):
        p = s[EMPTIES, i]
        v = f[VALUE, p]
        if v > -500.0:
            # Gumbel noise makes the largest a draw from the softmax.
            v -= noise * math.log(-math.log(uniform(rng) + 1e-300) + 1e-300)
            if v > best:
                best, chosen = v, p
    return chosen


@inner_kernel
def _verdict(s0, weights, shapes, settings, seed, ownership):
    """Fill `ownership` (row-major, Black +1 to White -1, bent) and return its sum."""
    cells = s0[SCALARS, ROWS] * s0[SCALARS, COLS]
    s = np.empty_like(s0)
    t = np.empty_like(s0)
    w, f = new_work(s0.shape[1])
    rng = np.zeros(1, np.uint64)
    playouts = np.int64(settings[_E_PLAYOUTS])
    scores = np.zeros(playouts, np.int32)
    counts = np.zeros(cells, np.int32)
    variations = np.int64(settings[_E_VARIATIONS])
    for i in range(variations):
        seed_stream(rng, seed, i)
        copy_state(s0, s)
        # Half of the variations have no lead: what playouts and the rule player get wrong differs.
        for _ in range(np.int64(settings[_E_LEAD]) if i % 2 == 1 else 0):
            p = _noisy_static_move(s, weights, shapes, settings[_E_NOISE], rng, t, w, f)
            if p == PASS:
                break
            play_move(s, p, s[SCALARS, TURN])
        stream = np.int64(mix(rng[0]) >> np.uint64(1))
        run_chunk(s, shapes, True, 0, playouts, stream, 3 * cells, scores, counts)
    total = variations * playouts
    score = 0.0
    bend = settings[_E_BEND]
    for i in range(cells):
        ownership[i] = math.tanh(bend * counts[i] / total) / math.tanh(bend)
        score += ownership[i]
    return score


@kernel
def verdicts(states, weights, shapes, settings, seeds, scores, ownership):
    """Judge positions (games, FIELDS, N) one after the other; fill scores and ownership.

    Holds no GIL: callers may run shares of the games on threads of their own.
    """
    for g in range(states.shape[0]):
        scores[g] = _verdict(states[g], weights, shapes, settings, seeds[g], ownership[g])
