"""Turn games of experts into boards to rank: the one the expert chose and others; learn nothing.

A board is what a network of categories by liberties sees after a move, one input number a point,
from the mover's view: his stones are the white ones. Nothing else of the past is told.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.board.kernels import clear, is_legal, new_state, play_move
from tengen.board.layout_kernels import BLACK, COLOUR, COLS, EMPTY, PASS, ROWS, SCALARS, TURN
from tengen.board.random_kernels import below, seed_stream
from tengen.board.safety_kernels import eye_colour
from tengen.jit import kernel
from tengen.learners.symmetry_network.candidate_kernels import changes
from tengen.learners.symmetry_network.evaluation_kernels import (
    COUNT,
    EMPTY_POINT,
    categorise,
    make_view,
    make_work,
)


@kernel
def from_mover(x, mover):
    """Return an input number with the colours exchanged if Black is the mover."""
    if mover == BLACK and x < EMPTY_POINT:
        return x + 6 if x < 6 else x - 6
    return x


@kernel
def _write_before(s, view, work, cats, me, out):
    """Sort the blocks of a position by liberties; write its inputs as `me` sees them, row-major."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    categorise(s, view, work, cats)
    for i in range(rows * cols):
        out[i] = from_mover(view.x[(i // cols + 1) * (cols + 1) + i % cols + 1], me)


@kernel
def _write_after(s, view, work, cats, p, me, before, out):
    """Write the inputs after `me` plays the legal point p; the position must be sorted."""
    width = s[SCALARS, COLS] + 1
    n, _ = changes(s, view, work, cats, p, me)
    out[:] = before
    for i in range(n):
        q = work.cells[i]
        at = (q // width - 1) * (width - 1) + q % width - 1
        out[at] = from_mover(work.news[i], me)


@kernel
def _others(s, chosen, me, every, points):
    """List the legal points but the chosen one, own eyes only if `every`; return how many."""
    rows, cols = s[SCALARS, ROWS], s[SCALARS, COLS]
    n = 0
    for i in range(rows * cols):
        p = (i // cols + 1) * (cols + 1) + i % cols + 1
        if p == chosen or s[COLOUR, p] != EMPTY or not is_legal(s, p, me):
            continue
        if every or eye_colour(s, p) != me:
            points[n] = p
            n += 1
    return n


@kernel
def choices(
    moves, colours, offsets, games, rows, cols, draws, every, cats, seed, first, boards, counts
):
    """Draw positions from games and write the boards after the expert's move and after others.

    Of each of `games`, `draws` plies are drawn with replacement, game i by stream first + i of the
    seed, and take one place each in boards (places, 1 + others, points), the expert's first.
    counts[place] is how many boards were written: none if the expert passed or if the record
    breaks off; fewer than there is room for where there are no more moves. `every` includes moves
    that fill own eyes. Stones set up before the first move are not known here.
    """
    s = new_state(rows, cols)
    n = s.shape[1]
    view, work = make_view(n), make_work(n, cols + 1)
    work.lz[:, :] = COUNT
    rng = np.zeros(1, np.uint64)
    plies = np.zeros(draws, np.int64)
    points = np.zeros(n, np.int64)
    before = np.zeros(rows * cols, np.uint8)
    room = boards.shape[1]
    for i in range(games.shape[0]):
        begin, end = offsets[games[i]], offsets[games[i] + 1]
        seed_stream(rng, seed, first + i)
        for k in range(draws):
            plies[k] = begin + below(rng, max(end - begin, 1))
        plies.sort()
        clear(s, rows, cols)
        k = 0
        for ply in range(begin, end):
            p, me = np.int64(moves[ply]), np.int64(colours[ply])
            s[SCALARS, TURN] = me
            if not is_legal(s, p, me):
                break
            while k < draws and plies[k] == ply:
                place = i * draws + k
                k += 1
                counts[place] = 0
                if p == PASS:
                    continue
                _write_before(s, view, work, cats, me, before)
                _write_after(s, view, work, cats, p, me, before, boards[place, 0])
                total = _others(s, p, me, every, points)
                taken = min(total, room - 1)
                for j in range(taken):
                    m = j + below(rng, total - j)
                    points[j], points[m] = points[m], points[j]
                    _write_after(s, view, work, cats, points[j], me, before, boards[place, j + 1])
                counts[place] = 1 + taken
            if k == draws:
                break
            play_move(s, p, me)
        while k < draws:
            counts[i * draws + k] = 0
            k += 1
