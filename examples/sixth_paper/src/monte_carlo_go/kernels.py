"""Play random games in the order of the moves' values, and value all moves as first."""

# mypy: ignore-errors
from __future__ import annotations

import math

import numpy as np

from tengen.board.kernels import area_score, copy_state, is_legal, play_move, seed_stream, uniform
from tengen.board.layout_kernels import BLACK, COLOUR, COLS, EMPTY, PASS, ROWS, SCALARS, TURN, WHITE
from tengen.board.tactics_kernels import is_own_eye
from tengen.jit import kernel


@kernel(makes_arrays=True)
def _new_order(totals, counts, points, colour, temperature, rng, order):
    """Order the points of a colour by value; each falls n places back with chance exp(-n/T)."""
    played = max(counts[colour].sum(), 1)
    usual = totals[colour].sum() / played  # the value of a move that was never played
    keys = np.empty(len(points))
    for i, p in enumerate(points):
        value = totals[colour, p] / counts[colour, p] if counts[colour, p] else usual
        keys[i] = -value - 1e-6 * uniform(rng)  # equals in random order
    ranked = points[np.argsort(keys)]
    for i in range(len(points)):
        keys[i] = i - temperature * math.log(uniform(rng) + 1e-12)
    order[:] = ranked[np.argsort(keys)]


@kernel(makes_arrays=True)
def simulate(root, games, heat, cooling, seed, totals, counts):
    """Play games from a position; add each to the values of all moves made in it.

    `totals` and `counts` have a row per colour and a column per point: the sum of scores, from that
    colour's view, and the number of the games in which it was the first to play there. The
    temperature falls from `heat` to 0, or stays. Returns the mean score for Black.
    """
    rows, cols = root[SCALARS, ROWS], root[SCALARS, COLS]
    points = np.empty(rows * cols, np.int64)
    for i in range(len(points)):
        points[i] = (i // cols + 1) * (cols + 1) + i % cols + 1
    s, rng = np.empty_like(root), np.zeros(1, np.uint64)
    order, first = np.empty((3, len(points)), np.int64), np.empty(root.shape[1], np.int64)
    mean = 0.0
    for game in range(games):
        seed_stream(rng, seed, game)
        temperature = heat * (1 - game / games) if cooling else heat
        for colour in (BLACK, WHITE):
            _new_order(totals, counts, points, colour, temperature, rng, order[colour])
        copy_state(root, s)
        first[:] = EMPTY
        passes = 0
        for _ in range(3 * len(points)):
            colour, move = s[SCALARS, TURN], PASS
            for p in order[colour]:
                if (
                    s[COLOUR, p] == EMPTY
                    and is_legal(s, p, colour)
                    and not is_own_eye(s, p, colour)
                ):
                    move = p
                    break
            if move != PASS and first[move] == EMPTY:
                first[move] = colour
            play_move(s, move, colour)
            passes = passes + 1 if move == PASS else 0
            if passes == 2:
                break
        score = area_score(s)
        mean += score / games
        for p in points:
            colour = first[p]
            if colour != EMPTY:
                counts[colour, p] += 1
                totals[colour, p] += score if colour == BLACK else -score
    return mean
