"""Decide when to pass and when to resign, for every player that does not search that itself.

Under area scoring the count is Tromp-Taylor's: what stands on the board is alive. A side that is
ahead as it stands may pass; one that is ahead only without the enemy's dead stones captures them
first. Who owns what is read from heavy playouts, and from unconditional life (Benson). Under
territory scoring dead stones come off by themselves, so that a settled board is passed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tengen.arrays import BoolArray, FloatArray
from tengen.board import (
    BLACK,
    EMPTY,
    PASS,
    RESIGN,
    WHITE,
    Board,
    Point,
    index_of,
    playouts,
    point_at,
)
from tengen.board.safety import unconditional
from tengen.board.simple_kernels import is_own_eye
from tengen.contracts import Status, Verdict
from tengen.gtp.judging import is_sound, shared_judge

_PLAYOUTS = 64
"""Playouts behind every judgement here; about 5 ms on 9x9."""

_SETTLED = 0.8
"""Ownership beyond which a point or a block counts as decided."""

_HOPELESS = 0.02
"""Win rate of playouts below which a player that may resign does."""


@dataclass(frozen=True)
class Judgement:
    """What playouts say of a position: ownership (row-major, Black +1), mean score, win rate."""

    ownership: FloatArray
    score: float
    win_rate: float


def judge(board: Board, n: int = _PLAYOUTS) -> Judgement:
    """Run playouts from the position; the same position gets the same judgement.

    What is unconditionally alive is known, whatever the playouts say.
    """
    result = playouts(board, n, seed=board.hash >> 1, kind="heavy", threads=1)
    ownership, grid = result.ownership.copy(), board.grid()
    for colour, owner in ((BLACK, 1.0), (WHITE, -1.0)):
        safe = unconditional(grid, colour)
        ownership[(safe.stones | safe.points).ravel()] = owner
    return Judgement(ownership, result.mean_score, result.win_rate)


def score_as_it_stands(board: Board, judgement: Judgement | None = None) -> float:
    """Return Black's score, komi included, if the game were counted now.

    Area: every stone alive, as Tromp and Taylor count. Territory: with a judgement's dead stones
    taken off.
    """
    if board.rules.scoring == "area":
        return board.area_score()
    judgement = judgement or judge(board)
    grid = board.grid().ravel()
    own = np.sign(judgement.ownership) * (np.abs(judgement.ownership) > 0.3)
    black, white = board.prisoners
    dead_white = int(((grid == 2) & (own > 0)).sum())
    dead_black = int(((grid == 1) & (own < 0)).sum())
    black += dead_white + int(((grid != 1) & (own > 0)).sum())
    white += dead_black + int(((grid != 2) & (own < 0)).sum())
    return black - white - board.komi


def can_pass_and_win(board: Board) -> bool:
    """Tell whether passing after the enemy's pass ends a game that is over, and wins it."""
    if board.last_move != PASS or not board.moves or board.moves[-1][0] == board.turn:
        return False
    score = score_as_it_stands(board)
    ahead = score > 0 if board.turn == BLACK else score < 0
    return ahead and is_over(board)


def is_over(board: Board) -> bool:
    """Tell whether no move gains a point any more, by the judge that everybody asks."""
    return shared_judge().over(board) is not None


def cleanup_move(board: Board, judgement: Judgement | None = None) -> int:
    """Return a move that captures or closes in on dead enemy stones; PASS when there is none.

    Never fills a liberty that leaves the own block in atari without capturing.
    """
    judgement = judgement or judge(board)
    side = 1.0 if board.turn == BLACK else -1.0
    best, best_value = PASS, 0.0
    for block in board.blocks():
        if block.colour == board.turn:
            continue
        cells = [index_of(p, board.rows, board.cols) for p in block.stones]
        if side * float(judgement.ownership[cells].mean()) < _SETTLED:
            continue
        for p in block.liberties:
            value = len(block.stones) + 10.0 / len(block.liberties)
            if value > best_value and is_sound(board, p, board.turn):
                best, best_value = p, value
    return best


def only_the_count_is_left(board: Board) -> bool:
    """Tell whether a game under territory rules is over, so that playing on would cost points."""
    if board.rules.scoring != "territory" or not is_late(board):
        return False
    if board.last_move != PASS and points_left(board):
        return False
    return is_over(board)


def should_resign(board: Board, judgement: Judgement | None = None) -> bool:
    """Tell whether the side to move has next to no chance left, after a fair part of the game."""
    if not is_late(board):
        return False
    judgement = judgement or judge(board)
    rate = judgement.win_rate if board.turn == BLACK else 1 - judgement.win_rate
    return rate < _HOPELESS


def sensible(board: Board, move: int, *, resign: bool = False) -> Point:
    """Return `move`, or a better idea at the end: pass and win, clean up, resign.

    A player that wants to pass although it is behind as it stands captures dead stones first.
    """
    if can_pass_and_win(board):
        return PASS
    late = move == PASS or is_late(board)
    if resign and late and should_resign(board):
        return RESIGN
    if move == PASS and board.rules.scoring == "area":
        score = board.area_score() * (1 if board.turn == BLACK else -1)
        return PASS if score > 0 else board.answer(cleanup_move(board))
    if move != PASS and only_the_count_is_left(board):
        return PASS
    return board.answer(move)


def candidates(board: Board) -> list[int]:
    """List the legal points that fill no own eye of the side to move, in row-major order."""
    mask = board.legal_mask()[:-1]
    points = (point_at(int(i), board.rows, board.cols) for i in np.flatnonzero(mask))
    return [p for p in points if not is_own_eye(board.state, p, board.turn)]


def points_left(board: Board) -> bool:
    """Tell whether an empty point touches both colours, so that a stone there gains by area."""
    return bool(touch_both(board).any())


def sound_points(board: Board, wanted: BoolArray) -> list[int]:
    """List the marked points that can be played without harm."""
    points = (point_at(int(i), board.rows, board.cols) for i in np.flatnonzero(wanted))
    return [point for point in points if is_sound(board, point, board.turn)]


def finishing_move(board: Board, verdict: Verdict) -> Point:
    """Return what is left in a finished game: a pass, or dead stones' capture before."""
    score = board.area_score() * (1 if board.turn == BLACK else -1)
    if board.rules.scoring != "area" or score > 0:
        return PASS
    side = np.zeros(board.rows * board.cols)
    for block in verdict.blocks:
        owner = 1.0 if (block.colour == BLACK) == (block.status is not Status.DEAD) else -1.0
        side[[index_of(p, board.rows, board.cols) for p in block.stones]] = owner
    return board.answer(cleanup_move(board, Judgement(side, 0.0, 0.5)))


def is_late(board: Board) -> bool:
    """Tell whether a fair part of the game is played, so that it may be over."""
    return len(board.moves) * 3 >= board.rows * board.cols


def touch_both(board: Board) -> BoolArray:
    """Mark the empty points that touch both colours."""
    grid = np.pad(board.grid(), 1, constant_values=3)
    near = [grid[:-2, 1:-1], grid[2:, 1:-1], grid[1:-1, :-2], grid[1:-1, 2:]]
    touches = [np.any([n == c for n in near], axis=0) for c in (1, 2)]
    return np.asarray((grid[1:-1, 1:-1] == EMPTY) & touches[0] & touches[1], np.bool_)
