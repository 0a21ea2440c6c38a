"""The layout of a Go position in one integer array: only constants, no functions.

A position is one int64 array `s` of shape (FIELDS, N). The board is stored as a line with a border:
point(row, column) = (row + 1) * W + column + 1 with W = columns + 1, so the neighbours of p are p -
1, p + 1, p - W and p + W, and every step off the board lands on a BORDER point. One border column
serves as the right edge of one row and the left edge of the next. N = (rows + 2) * W + 1. Point 0
is always border and stands for a pass.

Each row of `s` is one field over the points, named by the constants below; the row SCALARS holds
single numbers. Blocks of stones are circular lists (NEXT) with one stone as their HEAD; the
data of a block (SIZE, pseudo-liberties, BHASH) is stored at its head. A pseudo-liberty is a pair
(stone, empty neighbour); with their number n, sum a and sum of squares b, a * a == n * b holds
exactly when all of them are the same point: the block is in atari, and a // n is its only liberty.
"""

from __future__ import annotations

EMPTY, BLACK, WHITE, BORDER = 0, 1, 2, 3
PASS = 0

# Fields: rows of a state.
COLOUR = 0  # EMPTY, BLACK, WHITE or BORDER
HEAD = 1  # of a stone: the stone that represents its block
NEXT = 2  # of a stone: the next stone of its block, in a circle
SIZE = 3  # at a head: stones in the block
PLIB = 4  # at a head: number of pseudo-liberties
PSUM = 5  # at a head: their sum
PSQ = 6  # at a head: the sum of their squares
BHASH = 7  # at a head: xor of the stones' Zobrist keys
EMPTIES = 8  # the first N_EMPTY entries list the empty points in no order
EPOS = 9  # of an empty point: its place in that list
SCALARS = 10  # single numbers, see below
FIELDS = 11

# Entries of the row SCALARS (a 2x2 board has N = 13).
ROWS, COLS, TURN, KO, N_EMPTY, PRISONERS_B, PRISONERS_W = 0, 1, 2, 3, 4, 5, 6
HASH, PLIES, PASSES, LAST, LAST2, SUICIDE = 7, 8, 9, 10, 11, 12

MAX_SIZE = 25
MAX_POINTS = (MAX_SIZE + 2) * (MAX_SIZE + 1) + 1
