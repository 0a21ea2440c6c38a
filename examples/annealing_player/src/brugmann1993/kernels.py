"""Random games in the order of the moves' values, and the values of all moves as first."""

# mypy: ignore-errors
from __future__ import annotations

import math

import numpy as np

from tengen.board.kernels import area_score, copy_state, is_legal, play_move, seed_stream, uniform
from tengen.board.layout_kernels import BLACK, COLOUR, COLS, EMPTY, PASS, ROWS, SCALARS, TURN, WHITE
from tengen.board.tactics_kernels import is_own_eye
from tengen.jit import kernel


@kernel(makes_arrays=True)
def simulate(root, games, heat, seed, totals, counts):
    """Play games from a position; add each to the values of all moves made in it.

    `totals` and `counts` have a row per colour and a column per point: the sum of scores, from that
    colour's view, and the number of the games in which it was the first to play there. Both sides
    follow the order of their values, disturbed by noise that falls from `heat` points to nothing.
    """
    rows, cols = root[SCALARS, ROWS], root[SCALARS, COLS]
    points = np.empty(rows * cols, np.int64)
    for i in range(len(points)):
        points[i] = (i // cols + 1) * (cols + 1) + i % cols + 1
    s, rng = np.empty_like(root), np.zeros(1, np.uint64)
    order, first = np.empty((3, len(points)), np.int64), np.empty(root.shape[1], np.int64)
    keys = np.empty(len(points))
    for game in range(games):
        seed_stream(rng, seed, game)
        temperature = heat * (1 - game / games)
        for colour in (BLACK, WHITE):
            for i in range(len(points)):
                p, noise = points[i], -math.log(-math.log(uniform(rng) + 1e-12) + 1e-12)
                value = totals[colour, p] / max(counts[colour, p], 1)
                keys[i] = -value - temperature * noise
            order[colour] = points[np.argsort(keys)]
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
        for p in points:
            colour = first[p]
            if colour != EMPTY:
                counts[colour, p] += 1
                totals[colour, p] += score if colour == BLACK else -score
