"""Playouts of a position (mean score, win rate, ownership), and playing games to the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product
from threading import Lock
from typing import Literal, get_args

import numpy as np

from tengen.arrays import BoolArray, FloatArray
from tengen.board import kernels
from tengen.board.board import Board
from tengen.board.coordinates import PASS, RESIGN, Point, point_at, transform
from tengen.board.playout_kernels import run_chunk
from tengen.errors import TengenError
from tengen.parallel import share

Kind = Literal["light", "heavy"]

_SHARE = 32  # fewest playouts that are worth another thread


@dataclass(frozen=True)
class PlayoutResult:
    """The results of playouts from one position, from Black's view."""

    scores: FloatArray
    """Final score of each playout, komi included; > 0 means Black won."""
    ownership: FloatArray
    """Row-major, +1 where Black owned the point every time, -1 where White did."""

    @property
    def mean_score(self) -> float:
        """Expected final score for Black."""
        return float(self.scores.mean())

    @property
    def win_rate(self) -> float:
        """Share of playouts that Black won, draws counting half."""
        return float((self.scores > 0).mean() + 0.5 * (self.scores == 0).mean())


def playouts(
    board: Board, n: int = 1000, *, seed: int = 0, kind: Kind = "light", threads: int | None = None
) -> PlayoutResult:
    """Run `n` playouts from the board's position; the same seed gives the same result everywhere.

    Light ones play uniformly random moves that fill no own eye; heavy ones capture, rescue and play
    shapes. Superko is ignored. With threads=1 it runs on the calling thread, else on all cores.

    >>> playouts(Board(9), 64, seed=1).ownership.shape
    (81,)
    """
    if kind not in get_args(Kind) or n < 0:
        raise TengenError(f"{n} playouts of kind {kind!r}: there are {', '.join(get_args(Kind))}")
    scores = np.zeros(n, np.int32)
    ownership = np.zeros(board.rows * board.cols, np.int32)
    limit = 3 * board.rows * board.cols
    adding = Lock()
    state = kernels.copied(board.state)  # another thread may play on the board

    def run(first: int, last: int) -> None:
        part = np.zeros_like(ownership)
        heavy, count = kind == "heavy", last - first
        run_chunk(state, shape_table(), heavy, first, count, seed, limit, scores, part)
        with adding:
            ownership[:] += part

    if threads == 1:
        run(0, n)
    else:
        share(run, n, least=_SHARE)
    return PlayoutResult(scores.astype(np.float64) - board.white_bonus, ownership / max(n, 1))


# ----- The shapes of heavy playouts -----


SHAPES = (
    # Hane: around a stone, thin, and the turn.
    "XOX/.../???",
    "XO./.../?.?",
    "XO?/X../x.?",
    ".O./X../...",
    # Cuts: open, peeped at, from both sides, at a knight's move.
    "XO?/O.o/?o?",
    "XO?/O.X/???",
    "?X?/O.O/ooo",
    "OX?/o.O/???",
    # The edge: chase, block a cut, block a connection, stretch down, cut.
    "X.?/O.?/---",
    "OX?/X.O/---",
    "?X?/x.O/---",
    "?XO/x.x/---",
    "?OX/X.O/---",
)

# Which colours (0 empty, 1 X, 2 O, 3 edge) a character of a picture allows.
_ALLOWS: dict[str, tuple[int, ...]] = {"X": (1,), "O": (2,), ".": (0,), "-": (3,)}
_ALLOWS |= {"x": (0, 2, 3), "o": (0, 1, 3), "?": (0, 1, 2, 3)}


@cache
def shape_table() -> BoolArray:
    """Return whether each 3x3 neighbourhood (`playout_kernels.shape_index`) is a shape."""
    table = np.zeros(1 << 16, np.bool_)
    for picture in SHAPES:
        cells = np.array([list(row) for row in picture.split("/")])
        for element in range(8):
            turned = transform(cells, element)
            around = [turned[i // 3, i % 3] for i in range(9) if i != 4]
            for colours in product(*(_ALLOWS[str(mark)] for mark in around)):
                code = sum(c << (2 * i) for i, c in enumerate(colours))
                swapped = sum(
                    (3 - c if c in (1, 2) else c) << (2 * i) for i, c in enumerate(colours)
                )
                table[code] = table[swapped] = True
    table.setflags(write=False)
    return table


# ----- Playing on -----


def random_point(board: Board, rng: np.random.Generator) -> Point:
    """Return a uniformly random legal point, own eyes included; a pass if there is none."""
    points = np.flatnonzero(board.legal_mask()[:-1])
    if not len(points):
        return PASS
    return board.to_point(point_at(int(rng.choice(points)), board.rows, board.cols))


def play_random(board: Board, plies: int, rng: np.random.Generator) -> Board:
    """Play `plies` random plies on this board (in place) and return it; fewer if points run out."""
    for _ in range(plies):
        move = random_point(board, rng)
        if move == PASS:
            break
        board.push(move)
    return board


def play_to_end(board: Board, choose: Callable[[Board], int], *, limit: int | None = None) -> Board:
    """Play on (in place) until two passes, a resignation or the limit; return the board.

    `limit` is a number of further plies, three times the board's points by default.
    """
    for _ in range(3 * board.rows * board.cols if limit is None else limit):
        if board.is_over:
            break
        move = choose(board)
        if move == RESIGN:
            break
        board.push(move)
    return board
