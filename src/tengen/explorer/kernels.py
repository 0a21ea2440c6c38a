"""Follow games over their first plies and note every position, folded by symmetry.

A position is the stones as the side to move sees them (its own, the other's), turned so that its
key is the least of all symmetries. A note is one number: which game, which part of the board (whole
or one of four corners), who won, and the turned move. Kernels check no arguments.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.arrays import Arrays, Int32Array, IntArray
from tengen.board.kernels import ZOBRIST, clear, is_legal, new_state, place, play_move
from tengen.board.layout_kernels import BLACK, COLOUR, EMPTY, PASS, WHITE
from tengen.jit import kernel

ELSEWHERE = 1023  # the answer to a move in a corner was outside it; above every point
NOWHERE = 4  # the corner of points that are in none
_GAME, _PART, _OUTCOME = 16, 12, 10  # where a note's fields begin; the move is below them
COUNT, WINS, LOSSES, FIRST_DATE, LAST_DATE, EXAMPLE, MOVE = 0, 1, 2, 3, 4, 5, 6
COLUMNS = 7


@kernel(makes_arrays=True)
def trace_games(
    games: Arrays, tables: Arrays, first_game: int, plies: int, keys: IntArray, notes: IntArray,
    refused: IntArray,
) -> int:  # fmt: skip
    """Write a key and a note for every position before the first `plies` moves; return how many.

    All games have one shape; for its tables see `index.Geometry`. refused[g] becomes the number
    (from 0) of the first move that the rules forbid, where a game ends, or -1.
    """
    moves, colours, offsets, winners, setup, setup_colours, setup_offsets = games
    shape, turned, corners, into, salts = tables
    s = new_state(np.int64(shape[0]), np.int64(shape[1]))
    everywhere = np.arange(turned.shape[0])
    whole = np.zeros((2, turned.shape[0]), np.int64)
    local = np.zeros((4, 2, into.shape[1]), np.int64)
    filled = np.zeros(4, np.int64)
    n = 0
    for g in range(offsets.shape[0] - 1):
        clear(s, np.int64(shape[0]), np.int64(shape[1]))
        for i in range(setup_offsets[g], setup_offsets[g + 1]):
            if s[COLOUR, setup[i]] == EMPTY:
                place(s, np.int64(setup[i]), np.int64(setup_colours[i]))
        _recount(s, turned, corners, into, whole, local, filled)
        refused[g] = -1
        before = NOWHERE
        for i in range(offsets[g], min(offsets[g + 1], offsets[g] + plies)):
            p, colour = np.int64(moves[i]), np.int64(colours[i])
            if p < 0 or p >= s.shape[1] or not is_legal(s, p, colour):
                refused[g] = i - offsets[g]
                break
            won = 0 if winners[g] == EMPTY else (1 if winners[g] == colour else 2)
            note = (first_game + g) << _GAME | won << _OUTCOME
            key, turned_move = _fold(whole[colour - 1], turned, everywhere, p)
            keys[n], notes[n] = key ^ salts[0], note | turned_move
            n += 1
            q = corners[p]
            if before != NOWHERE and before != q and filled[before] > 0:
                key, _ = _fold(local[before, colour - 1], turned, into[before], PASS)
                keys[n], notes[n] = key ^ salts[1], note | (before + 1) << _PART | ELSEWHERE
                n += 1
            if q != NOWHERE:
                key, turned_move = _fold(local[q, colour - 1], turned, into[q], p)
                keys[n], notes[n] = key ^ salts[1], note | (q + 1) << _PART | turned_move
                n += 1
            taken = play_move(s, p, colour)
            if taken > 0:
                _recount(s, turned, corners, into, whole, local, filled)
            elif p != PASS:
                _add(p, colour, turned, corners, into, whole, local, filled)
            before = q
    return n


@kernel
def _add(
    p: int, colour: int, turned: IntArray, corners: IntArray, into: IntArray, whole: IntArray,
    local: IntArray, filled: IntArray,
) -> None:  # fmt: skip
    """Add one stone to the keys of the board and of its corner, from the view of each side."""
    q = corners[p]
    for side in range(2):
        seen = 1 if colour == side + 1 else 2
        for t in range(turned.shape[0]):
            whole[side, t] ^= ZOBRIST[seen, turned[t, p]]
        if q != NOWHERE:
            for j in range(into.shape[1]):
                local[q, side, j] ^= ZOBRIST[seen, turned[into[q, j], p]]
    if q != NOWHERE:
        filled[q] += 1


@kernel
def _recount(
    s: IntArray, turned: IntArray, corners: IntArray, into: IntArray, whole: IntArray,
    local: IntArray, filled: IntArray,
) -> None:  # fmt: skip
    """Recompute all keys from the stones on the board."""
    for side in range(2):
        for t in range(whole.shape[1]):
            whole[side, t] = 0
        for q in range(4):
            for j in range(local.shape[2]):
                local[q, side, j] = 0
    for q in range(4):
        filled[q] = 0
    for p in range(s.shape[1]):
        colour = s[COLOUR, p]
        if colour == BLACK or colour == WHITE:
            _add(p, colour, turned, corners, into, whole, local, filled)


@kernel
def _fold(hashes: IntArray, turned: IntArray, turns: IntArray, p: int) -> tuple[int, int]:
    """Return the least hash, and the least point that symmetries with this hash map a move to."""
    best, move = hashes[0], turned[turns[0], p]
    for j in range(1, hashes.shape[0]):
        if hashes[j] < best:
            best, move = hashes[j], turned[turns[j], p]
        elif hashes[j] == best:
            move = min(move, turned[turns[j], p])
    return best, move


@kernel(makes_arrays=True)
def count_moves(
    keys: IntArray, notes: IntArray, order: IntArray, dates: Int32Array, least: int,
    found: IntArray, starts: IntArray, rows: Int32Array,
) -> tuple[int, int]:  # fmt: skip
    """Sum up the notes of each position; return how many positions and rows were written.

    `order` sorts `keys`, stably: a position's notes come game by game, and a game counts once in
    each part of the board. Positions with fewer than `least` such counts are left out.
    """
    slot = np.full(1024, -1, np.int64)
    last_game = np.empty((2, 5), np.int64)  # elsewhere or not, part of the board
    n_found = n_rows = 0
    i = 0
    while i < order.shape[0]:
        key = keys[order[i]]
        end = i + 1
        while end < order.shape[0] and keys[order[end]] == key:
            end += 1
        if end - i >= least:
            begin, games = n_rows, 0
            for part in range(5):
                last_game[0, part] = last_game[1, part] = -1
            for j in range(i, end):
                note = notes[order[j]]
                game, part = note >> _GAME, (note >> _PART) & 7
                move = note & 1023
                away = 1 if move == ELSEWHERE else 0
                if last_game[away, part] == game:
                    continue
                last_game[away, part] = game
                games += 1
                k = slot[move]
                if k < 0:
                    k = slot[move] = n_rows
                    for column in range(COLUMNS):
                        rows[k, column] = 0
                    rows[k, MOVE] = move
                    n_rows += 1
                won = (note >> _OUTCOME) & 3
                rows[k, COUNT] += 1
                rows[k, WINS] += won == 1
                rows[k, LOSSES] += won == 2
                date = dates[game]
                if date > 0 and (rows[k, FIRST_DATE] == 0 or date < rows[k, FIRST_DATE]):
                    rows[k, FIRST_DATE] = date
                if rows[k, COUNT] == 1 or date >= rows[k, LAST_DATE]:
                    rows[k, LAST_DATE] = date
                    rows[k, EXAMPLE] = game
            for k in range(begin, n_rows):
                slot[rows[k, MOVE]] = -1
            if games >= least:
                found[n_found] = key
                starts[n_found] = begin
                n_found += 1
            else:
                n_rows = begin
        i = end
    starts[n_found] = n_rows
    return n_found, n_rows
